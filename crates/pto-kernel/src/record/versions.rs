//! What a run was done with, as far as files and results tell.

use pto_compile::cann;
use pto_context::Context;
use pto_context::places::driver_root;
use pto_platform::Target;
use pto_platform::files::parse_driver_info;

use super::model::Versions;
use crate::run::KernelResult;

pub(super) fn versions(cx: &Context, result: &KernelResult) -> Versions {
    let build = result.build.as_ref();
    Versions {
        ptokit: env!("CARGO_PKG_VERSION").to_owned(),
        cann: cann_release(cx).filter(|_| result.target != Target::Cpu),
        driver: driver(cx).filter(|_| result.target != Target::Cpu),
        ptoas: build.and_then(|build| Some(build.assembled.first()?.ptoas.version.to_string())),
        pto_isa: build.map(|build| build.headers.display().to_string()),
        compiler: build.map(|build| build.compiler.clone()),
        host: host(),
    }
}

fn cann_release(cx: &Context) -> Option<String> {
    let root = cann::find_root(cx, None).ok()?;
    Some(cann::release(cx, &root.path)?.version)
}

fn driver(cx: &Context) -> Option<String> {
    let text = fs_err::read_to_string(cx.under_root(driver_root(cx)).join("version.info")).ok()?;
    parse_driver_info(&text).version.map(|version| version.to_string())
}

/// `Linux 6.1.0 x86_64`.
fn host() -> String {
    let system = rustix::system::uname();
    let word = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    format!("{} {} {}", word(system.sysname()), word(system.release()), word(system.machine()))
}
