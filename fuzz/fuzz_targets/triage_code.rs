#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_doctor::triage::{Surroundings, Triager};

fuzz_target!(|word: &str| {
    let mut triager = Triager::new(Surroundings::default());
    let _ = triager.code(word);
    triager.finish();
});
