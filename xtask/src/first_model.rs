//! The model to try first in the development container, once PyPTO is built. `docker/scripts/welcome.sh` names the same.

use pto_context::Context;

/// What the chips are called, the model, and its script in `pypto-lib`.
const MODELS: [(&str, &str, &str); 2] = [
    ("a5", "DeepSeek SWA", "models/deepseek_v4_1_flash/decode_swa.py"),
    ("a2a3", "Qwen3 decode", "models/qwen3_14b/decode_fwd.py"),
];

/// What to type; `None` where no `pypto-lib` is named, or nothing says which chip this is for: a guess would be run for the
/// wrong one.
pub fn first_model(cx: &Context) -> Option<String> {
    let platform = platform(cx)?;
    let (_, what, script) = MODELS.iter().find(|(name, ..)| *name == platform)?;
    let device = cx.var("PYPTO_DEVICE").unwrap_or_else(|| "0".to_owned());
    cx.var_os("PYPTO_LIB_SRC")?;
    Some(format!("a first model, {what}: cd \"$PYPTO_LIB_SRC\" && python {script} -p {platform} -d {device}"))
}

/// As `docker/scripts/platform.sh` finds it: what is said, else the tag of CANN.
fn platform(cx: &Context) -> Option<String> {
    if let Some(said) = cx.var("PYPTO_PLATFORM").filter(|said| !said.is_empty()) {
        return Some(said.to_owned());
    }
    let tag = cx.var("PYPTO_CANN_TAG")?;
    let chips = [("-950-", "a5"), ("-a3-", "a2a3"), ("-910b-", "a2a3")];
    chips.into_iter().find(|(part, _)| tag.contains(part)).map(|(_, platform)| platform.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_where_its_chip_is_known() {
        let of = |vars: &[(&str, &str)]| first_model(&Context::fake("/", vars.iter().copied()));
        let lib = ("PYPTO_LIB_SRC", "/workspace/pypto-lib");
        let a5 = of(&[lib, ("PYPTO_CANN_TAG", "9.2.0-950-ubuntu22.04-py3.10"), ("PYPTO_DEVICE", "3")]).unwrap();
        assert!(a5.starts_with("a first model, DeepSeek SWA: ") && a5.ends_with("decode_swa.py -p a5 -d 3"), "{a5}");
        let a3 = of(&[lib, ("PYPTO_PLATFORM", "a2a3"), ("PYPTO_CANN_TAG", "9.2.0-950-x")]).unwrap();
        assert!(a3.ends_with("decode_fwd.py -p a2a3 -d 0"), "{a3}");
        for unknown in [&[lib][..], &[("PYPTO_PLATFORM", "a5")], &[lib, ("PYPTO_PLATFORM", "a9")]] {
            assert_eq!(of(unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn the_shell_that_begins_names_the_same() {
        let welcome = include_str!("../../docker/scripts/welcome.sh");
        for (platform, what, script) in MODELS {
            let line = format!("{platform}) what=\"{what}\" model={script} ;;");
            assert!(welcome.contains(&line), "{line}");
        }
    }
}
