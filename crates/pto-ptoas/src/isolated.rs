//! Children that see nothing of the caller's Python: neither `PYTHONPATH` nor CANN's Python package, neither `uv`'s nor
//! `pip`'s configuration, none of which an installation may depend on.

use pto_context::Context;
use pto_process::Invocation;

/// What a child still gets. `LD_LIBRARY_PATH` is among them because a newer libstdc++ may be found through it alone, and
/// PTOAS will be started with it later as well.
const KEPT: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "UV_PYTHON_INSTALL_DIR",
    "PYENV_ROOT",
    "PYENV_VERSION",
];

/// The invocation with nothing but what is needed in its environment.
pub(crate) fn isolated(cx: &Context, invocation: Invocation) -> Invocation {
    let kept = KEPT.iter().filter_map(|name| Some((*name, cx.var_os(name)?.to_owned())));
    let child = kept.fold(invocation.env_clear(), |child, (name, value)| child.env(name, value));
    child.env("PYTHONNOUSERSITE", "1").env("PYTHONDONTWRITEBYTECODE", "1").env("NO_COLOR", "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_python_is_not_seen() {
        let cx = Context::fake("/", [("PATH", "/bin"), ("PYTHONPATH", "/cann:"), ("UV_INDEX_URL", "http://u:p@h/")]);
        let line = isolated(&cx, Invocation::new("python3")).to_shell_line();
        assert_eq!(line, "env -i NO_COLOR=1 PATH=/bin PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1 python3");
    }
}
