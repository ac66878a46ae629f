#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::files;

fuzz_target!(|text: &str| {
    let _ = files::parse_platform_ini(text).compare_with_table();
});
