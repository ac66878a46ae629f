//! Real builds: CMake, Ninja, a compiler, uv and a build backend, on the project that is shaped like PyPTO.

mod support;

use pto_build::{BuildOptions, Decision, Reason, build, plan_build};
use pto_test::pypto::Binding;
use support::Site;

#[test]
fn a_fresh_checkout_is_built_and_works() {
    let Some(site) = Site::new(Binding::Pybind11) else { return };
    let built = build(&site.cx(), &site.options()).unwrap();
    assert_eq!(built.plan.decision, Decision::Fresh { reason: Reason::NoBuild });
    assert_eq!(built.plan.generator, "Ninja");
    let [extension] = &built.artifacts[..] else { panic!("{:?}", built.artifacts) };
    assert!(extension.starts_with(site.project.checkout().join("python/pypto")), "{}", extension.display());
    assert_eq!(site.project.python("import pypto; print(pypto.answer(), pypto.version())"), "42 0.1.0");
    let head = site.project.git(&site.runtime(), &["rev-parse", "HEAD"]);
    let stamp = "import _task_interface as t; print(t.__build_commit__, t.slots, t.pto_isa, t.__file__)";
    assert_eq!(site.project.python(stamp), format!("{head} 8 1 {}", built.extension.unwrap().display()));
    assert!(!built.isa.unwrap().reused && !built.recorded_state);

    let again = build(&site.cx(), &site.options()).unwrap();
    assert_eq!(again.plan.decision, Decision::Incremental);
    assert!(again.isa.unwrap().reused);
    assert_eq!(plan_build(&site.cx(), &BuildOptions::default()).unwrap().decision, Decision::Incremental);
}
