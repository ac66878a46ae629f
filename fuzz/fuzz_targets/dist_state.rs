#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::files;

fuzz_target!(|text: &str| {
    files::parse_dist_state(text);
});
