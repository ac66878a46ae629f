#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::files;

fuzz_target!(|text: &str| {
    files::parse_driver_info(text);
    files::parse_firmware_info(text);
});
