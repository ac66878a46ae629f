#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::npu_smi;

fuzz_target!(|text: &str| {
    npu_smi::parse_health(text);
});
