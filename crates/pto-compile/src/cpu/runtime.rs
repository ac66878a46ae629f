//! The runtime that kernels are linked with, built once per compiler.

use std::path::PathBuf;

use pto_context::Context;
use pto_store::Store;

use super::diagnostics::Messages;
use super::error::CpuError;
use super::toolchain::Toolchain;
use crate::key::Key;

/// The runtime library in the store. Its name carries its key: two kernels of one process share it exactly if they were
/// built with the same one.
pub(super) fn library(cx: &Context, store: &Store, toolchain: &Toolchain) -> Result<PathBuf, CpuError> {
    let key = Key::new("runtime").with(&toolchain.identity).finish();
    let name = format!("libptocpu-{}.so", &key[..12]);
    let dir = store.entry("cpu-runtime", &key)?.get_or_build(cx, |dir| {
        let invocation = toolchain
            .compiler
            .invocation()
            .args(["-std=c++20", "-O2", "-g1", "-fPIC", "-shared", "-pthread"])
            .arg(format!("-Wl,-soname,{name}"))
            .arg(toolchain.resources.path("runtime/runtime.cpp"))
            .args(["-o".into(), dir.join(&name).into_os_string()])
            .arg("-ldl");
        let output = toolchain.compiler.run(cx, invocation)?;
        if output.success() {
            return Ok(());
        }
        let messages = Messages::of(&output).text();
        Err(CpuError::Support { what: "the CPU runtime", messages, line: output.line })
    })?;
    Ok(dir.join(name))
}
