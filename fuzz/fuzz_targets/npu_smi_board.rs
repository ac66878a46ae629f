#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::npu_smi;

fuzz_target!(|text: &str| {
    for board in npu_smi::parse_board(text).entries {
        let _ = board.identity();
    }
});
