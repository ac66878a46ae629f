#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::docker;

fuzz_target!(|text: &str| {
    docker::parse_docker_info(text);
});
