#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::npu_smi;

fuzz_target!(|text: &str| {
    let info = npu_smi::parse_info(text);
    for device in &info.devices {
        let _ = (info.activity(device), device.identity());
    }
});
