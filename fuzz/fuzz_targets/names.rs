#![no_main]

use libfuzzer_sys::fuzz_target;
use pto_platform::{Arch, Core, Soc, Target, identify};

fuzz_target!(|text: &str| {
    let _ = (text.parse::<Target>(), text.parse::<Arch>(), text.parse::<Core>(), Soc::by_name(text));
    identify(text);
});
