//! The public PyPTO, where a checkout of it is named: what a build of it would do.

mod support;

use pto_build::{Error, SourceError, plan_build};
use pto_test::pypto::Binding;
use support::Site;

#[test]
fn a_build_of_the_public_checkout_is_planned() {
    let Some(dir) = pto_test::pypto_checkout() else { return };
    let Some(site) = Site::new(Binding::Plain) else { return };
    match plan_build(&site.cx().with_var("PYPTO_SRC", &dir), &site.options()) {
        Ok(plan) => {
            assert!(plan.pto_isa.is_some(), "its runtime pins PTO-ISA");
            let whats: Vec<_> = plan.commands.iter().map(|step| step.what).collect();
            assert!(whats.ends_with(&["build", "make the runtime's wheel", "install it"]), "{whats:?}");
        }
        Err(Error::Sources(SourceError::Uninitialised { missing, .. })) => {
            assert!(missing.contains(&"runtime".to_owned()), "{missing:?}");
            pto_test::skip(&format!("`{}` has no submodules: `git submodule update --init`", dir.display()));
        }
        Err(error) => panic!("{error:?}"),
    }
}
