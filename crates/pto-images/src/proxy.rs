//! The proxy for git, and for nothing else: each client of a registry has its own.

use pto_context::Context;

/// The variable with the proxy for git, for the registries of bases and for builds. The registry that images are published in is
/// asked directly.
pub const VARIABLE: &str = "PYPTO_DOCKER_PROXY";

/// The same surroundings, with git going through `proxy` if there is one. By variables and not by arguments: those everybody on
/// the machine could read, and a proxy's address may hold a password.
pub(crate) fn for_git(cx: &Context, proxy: Option<&str>) -> Context {
    match proxy {
        Some(proxy) => cx.clone().with_var("https_proxy", proxy).with_var("http_proxy", proxy),
        None => cx.clone(),
    }
}
