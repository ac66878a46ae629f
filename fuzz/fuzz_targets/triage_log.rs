#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_doctor::triage::{Surroundings, Triager};

fuzz_target!(|bytes: &[u8]| {
    let mut triager = Triager::new(Surroundings::default());
    triager.log("fuzz", bytes).expect("a slice can be read");
    serde_json::to_string(&triager.finish()).expect("an answer is a document");
});
