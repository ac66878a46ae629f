//! The model to try first in the development container, once PyPTO is built. `docker/scripts/welcome.sh` names the same.

use pto_context::Context;
use pto_doctor::devices::device_nodes;

/// What the chips are called, the model, and its script in `pypto-lib`.
const MODELS: [(&str, &str, &str); 2] = [
    ("a5", "DeepSeek SWA", "models/deepseek_v4_1_flash/decode_swa.py"),
    ("a2a3", "Qwen3 decode", "models/qwen3_14b/decode_fwd.py"),
];

/// What runs on a simulator.
const WITHOUT_NPU: &str = "examples/beginner/hello_world.py";

/// What to type; `None` where no `pypto-lib` is named, or nothing says which chip this is for: a guess would be run for the
/// wrong one.
pub fn first_model(cx: &Context) -> Option<String> {
    let platform = platform(cx)?;
    let (_, what, script) = MODELS.iter().find(|(name, ..)| *name == platform)?;
    cx.var_os("PYPTO_LIB_SRC")?;
    let in_lib = "cd \"$PYPTO_LIB_SRC\" && python";
    Some(match cx.var("PYPTO_DEVICE").or_else(|| has_npu(cx).then(|| "0".to_owned())) {
        Some(device) => format!("a first model, {what}: {in_lib} {script} -p {platform} -d {device}"),
        None => format!("there is no NPU here; on a simulator: {in_lib} {WITHOUT_NPU} -p {platform}sim"),
    })
}

fn has_npu(cx: &Context) -> bool {
    !device_nodes(cx).indices().is_empty()
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
        let a3 = [lib, ("PYPTO_PLATFORM", "a2a3"), ("PYPTO_CANN_TAG", "9.2.0-950-x")];
        let simulated = of(&a3).unwrap();
        assert!(simulated.contains("no NPU here") && simulated.ends_with("hello_world.py -p a2a3sim"), "{simulated}");
        let root = tempfile::tempdir().unwrap();
        fs_err::create_dir(root.path().join("dev")).unwrap();
        fs_err::write(root.path().join("dev/davinci5"), "").unwrap();
        let with_card = first_model(&Context::fake(root.path(), a3)).unwrap();
        assert!(with_card.ends_with("decode_fwd.py -p a2a3 -d 0"), "{with_card}");
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
        assert!(welcome.contains(&format!("python {WITHOUT_NPU} -p ${{platform}}sim")), "{welcome}");
    }
}
