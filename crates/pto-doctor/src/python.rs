//! What the Python on `PATH` is, and where it would take the modules from that matter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_process::Invocation;
use serde::{Deserialize, Serialize};

use crate::facts;
use crate::files;

/// Precedes each answer on a line of its own: an imported extension may print what it likes.
const MARK: &str = "ptokit-facts:";

/// Asks without importing anything, answers, then imports the one extension whose build stamp nothing else tells, and
/// answers again. An extension that crashes costs the stamp alone.
///
/// It imports as little as it can, for starting Python is what an examination waits for longest: with `importlib.util`
/// and `json` it takes 38 ms, without them 17 ms, of which 11 ms are Python's own.
///
/// `-c` puts the working directory first on the search path; a script that lies elsewhere does not, so it is taken off.
const SCRIPT: &str = r#"
import os, sys
try:
    from _json import encode_basestring_ascii as quoted
except ImportError:
    from json import dumps as quoted
if sys.path and sys.path[0] == "":
    del sys.path[0]
def find(name):
    for finder in sys.meta_path:
        spec = finder.find_spec(name, None)
        if spec is not None:
            return spec
def origin(name):
    try:
        spec = find(name)
        if spec is None:
            return None
        places = [str(place) for place in spec.submodule_search_locations or []]
    except BaseException as error:
        return {"error": "%s: %s" % (type(error).__name__, error)}
    return {"origin": spec.origin, "namespace": spec.origin is None and bool(places), "places": places}
facts = {
    "version": "%d.%d.%d" % sys.version_info[:3],
    "implementation": {"cpython": "CPython"}.get(sys.implementation.name, sys.implementation.name),
    "executable": sys.executable,
    "cwd": os.getcwd(),
    "modules": {name: origin(name) for name in ("pypto", "simpler", "ptoas", "acl")},
    "build_commit": {"state": "not-asked"},
}
def text(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{%s}" % ",".join(text(name) + ":" + text(member) for name, member in value.items())
    if isinstance(value, list):
        return "[%s]" % ",".join(text(item) for item in value)
    return quoted(str(value).encode("utf-8", "replace").decode())
def tell():
    print("\nptokit-facts:" + text(facts), flush=True)
tell()
if facts["modules"]["simpler"]:
    facts["build_commit"] = {"state": "no-extension"}
    for name in ("_task_interface", "simpler._task_interface"):
        try:
            __import__(name)
            module = sys.modules[name]
        except BaseException as error:
            if not isinstance(error, ModuleNotFoundError):
                facts["build_commit"] = {"state": "broken", "why": "%s: %s" % (type(error).__name__, error)}
            continue
        stamp = getattr(module, "__build_commit__", None)
        facts["build_commit"] = {"state": "unstamped"} if stamp is None else {
            "state": "stamped", "commit": str(stamp), "file": getattr(module, "__file__", None)}
        break
    tell()
"#;

/// What a Python says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonFacts {
    /// `3.10.12`.
    pub version: String,
    /// `CPython`.
    pub implementation: String,
    /// The interpreter.
    pub executable: String,
    /// The directory it ran in.
    pub cwd: String,
    /// Where each module would come from; `None` when it has none of that name.
    pub modules: BTreeMap<String, Option<ModuleOrigin>>,
    /// The revision that simpler's extension was built from.
    pub build_commit: BuildCommit,
}

/// Where a module would come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ModuleOrigin {
    /// Looking for it failed.
    Broken {
        /// What Python said.
        error: String,
    },
    /// It was found.
    Found {
        /// The file; `None` for a namespace package.
        origin: Option<String>,
        /// Whether it is a mere directory without `__init__.py`.
        namespace: bool,
        /// The directories of the package.
        places: Vec<String>,
    },
}

/// The stamp of simpler's extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum BuildCommit {
    /// There is no simpler.
    NotAsked,
    /// simpler has no extension that could be imported.
    NoExtension,
    /// The extension does not load.
    Broken {
        /// What Python said.
        why: String,
    },
    /// It was built before stamps existed.
    Unstamped,
    /// It has a stamp, which is empty when it was built without git.
    Stamped {
        /// The revision.
        commit: String,
        /// The extension's file.
        #[serde(default)]
        file: Option<String>,
    },
}

/// The question.
pub(crate) fn question(cx: &Context) -> Invocation {
    let program = behind_shim(cx).unwrap_or_else(|| "python3".into());
    // -B: looking at a machine leaves no byte code behind.
    Invocation::new(program).args(["-B", "-c", SCRIPT])
}

/// The question to the interpreter of PyPTO's home, if there is one on this machine that is not the one on `PATH`.
pub(crate) fn question_to_home(cx: &Context) -> Option<Invocation> {
    let python = facts::home_python(cx);
    if files::is_tree(cx) || !python.is_file() {
        return None;
    }
    // Both are links to the Python that the environment was made with: it is their directories that tell them apart.
    let place = |program: &Path| program.parent()?.canonicalize().ok();
    let on_path = which::which_in_global("python3", cx.var_os("PATH")).ok().and_then(|mut found| found.next());
    let is_on_path = on_path.is_some_and(|found| place(&found) == place(&python));
    (!is_on_path).then(|| Invocation::new(python).args(["-B", "-c", SCRIPT]))
}

/// The interpreter behind a shim of pyenv, when its version is named plainly. The shim is a chain of a dozen shell scripts
/// that takes longer than everything else of an examination; where there is any doubt, it is asked all the same.
fn behind_shim(cx: &Context) -> Option<PathBuf> {
    let shim = which::which_in_global("python3", cx.var_os("PATH")).ok()?.next()?;
    let root = shim.parent().filter(|dir| dir.ends_with("shims"))?.parent()?;
    let local = || cx.cwd().ancestors().find_map(|dir| fs_err::read_to_string(dir.join(".python-version")).ok());
    let version =
        cx.var("PYENV_VERSION").or_else(local).or_else(|| fs_err::read_to_string(root.join("version")).ok())?;
    let version = version.trim();
    let is_plain =
        !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let python = root.join("versions").join(version).join("bin/python3");
    (is_plain && python.is_file()).then_some(python)
}

/// The last answer in what was printed.
pub(crate) fn facts(stdout: &str) -> Option<PythonFacts> {
    stdout.lines().rev().find_map(|line| serde_json::from_str(line.strip_prefix(MARK)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shim_is_passed_over_only_without_doubt() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        for file in ["shims/python3", "versions/3.11.7/bin/python3"] {
            let file = root.path().join(file);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(&file, "").unwrap();
            fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = root.path().join("shims").display().to_string();
        let behind = |version: &str| {
            behind_shim(&Context::fake(root.path(), [("PATH", path.as_str()), ("PYENV_VERSION", version)]))
        };
        let real = root.path().join("versions/3.11.7/bin/python3");
        assert_eq!(behind("3.11.7"), Some(real.clone()));
        assert_eq!((behind("3.11"), behind("system"), behind("3.11.7:3.12.0"), behind("..")), (None, None, None, None));
        fs_err::write(root.path().join("version"), "3.11.7\n").unwrap();
        assert_eq!(behind(""), Some(real));
    }

    #[test]
    fn the_last_whole_answer_counts() {
        let answer = |version: &str| {
            format!(
                "{MARK}{{\"version\":\"{version}\",\"implementation\":\"CPython\",\"executable\":\"/p\",\"cwd\":\"/\",\
                 \"modules\":{{\"acl\":null}},\"build_commit\":{{\"state\":\"unstamped\"}}}}"
            )
        };
        let text = format!("{}\nloading...\n{}\n{MARK}{{cut", answer("3.10.1"), answer("3.10.2"));
        assert_eq!(facts(&text).unwrap().version, "3.10.2");
        assert_eq!(facts("nothing"), None);
        assert!(SCRIPT.contains(MARK));
    }
}
