//! What the `cpu` target needs.

use pto_compile::cann::{Located, ToolchainOptions, find_headers};
use pto_context::Context;

use super::new;
use crate::check::{Check, Source};
use crate::finding::Finding;
use crate::probes::Probes;

pub(super) const CHECKS: &[Check] = &[
    new(
        "cpu-compiler",
        "CPU compiler",
        &[Source::Compiler],
        "The host's C++ compiler, chosen as a build chooses it: `CXX`, else the best of clang++ and g++ on `PATH`, else the \
         pinned compiler that is fetched on first use. A compiler that is named and cannot be used is an error, as it is in \
         a build.",
        compiler,
    ),
    new(
        "pto-isa-headers",
        "PTO-ISA headers",
        &[],
        "Which copy of `pto/pto-inst.hpp` a kernel is compiled with: `PTO_LIB_PATH`, else the one inside CANN, else the \
         pinned package that is fetched on first use. A copy that is named and is not there is an error: compiling with \
         another one would hide it.",
        headers,
    ),
];

fn compiler(cx: &Context, probes: &Probes) -> Finding {
    let Some(survey) = &probes.compilers else { return Finding::skip("the compilers were not asked") };
    let passed_over: Vec<String> = survey
        .passed_over
        .iter()
        .map(|one| format!("`{}` ({}): {}", one.compiler, one.why_tried, one.reason))
        .collect();
    match (&survey.found, cx.var("CXX")) {
        (Some(compiler), _) if passed_over.is_empty() => Finding::ok(compiler.describe()),
        (Some(compiler), _) => {
            Finding::warn(format!("{}; passed over {}", compiler.describe(), passed_over.join("; ")))
        }
        (None, Some(_)) => Finding::fail(passed_over.join("; ")).remedy("unset CXX"),
        (None, None) => match &probes.pinned.compiler {
            Some(path) => {
                Finding::ok(format!("the pinned compiler in `{}`, as `PATH` has no clang++ or g++", path.display()))
            }
            None => Finding::warn("no clang++ or g++ on `PATH`; the pinned compiler is fetched on first use")
                .remedy("sudo apt-get install clang   # or: cargo xtask quickstart"),
        },
    }
}

fn headers(cx: &Context, probes: &Probes) -> Finding {
    match find_headers(cx, &ToolchainOptions::default()) {
        Ok(Located { path, rule, .. }) => Finding::ok(format!("`{}` ({rule})", path.display())),
        Err(error) if cx.var_os("PTO_LIB_PATH").is_some() => {
            Finding::fail(error.to_string()).remedy("unset PTO_LIB_PATH")
        }
        Err(_) => match &probes.pinned.headers {
            Some(path) => Finding::ok(format!("`{}` (the pinned package)", path.display())),
            None => Finding::ok("none on this machine; the pinned package is fetched on first use"),
        },
    }
}
