#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::Version;

fuzz_target!(|text: &str| {
    let mut versions: Vec<_> = text.split_whitespace().filter_map(Version::parse).collect();
    versions.sort();
});
