//! What a shell has to export so that PyPTO's Python comes first, and the pinned PTOAS before CANN's.
//!
//! The result is computed from the environment that is there and does not change any more when it is applied twice: what
//! belongs in front is moved there, not added once more.

mod cann_env;
mod shell;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pto_context::places::pypto_home;
use pto_context::{Context, Event};

pub use shell::Shell;

use crate::environment::site_packages;
use crate::error::Error;
use crate::launcher::Launcher;
use crate::prefix::Prefix;

/// Variables that are lists of directories, separated by colons. All others are one value.
pub(crate) const LISTS: [&str; 9] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "CMAKE_PREFIX_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "PKG_CONFIG_PATH",
    "MANPATH",
    "ASCEND_CUSTOM_OPP_PATH",
];

/// What to activate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivationOptions {
    /// PyPTO's home; without it `PYPTO_HOME`, else `/opt/pypto`.
    pub home: Option<PathBuf>,
    /// The checkout; without it `PYPTO_SRC`, if that is set.
    pub src: Option<PathBuf>,
    /// The PTOAS installation; without it `PTOAS_ROOT`, else `ptoas` in the home.
    pub root: Option<PathBuf>,
    /// A CANN whose `set_env.sh` is to be applied as well.
    pub cann: Option<PathBuf>,
}

/// Variables and the values that they shall have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    /// By name.
    pub variables: BTreeMap<String, String>,
}

/// Computes the activation.
///
/// # Errors
/// `set_env.sh` of the CANN that was named is not there or fails.
pub fn activation(cx: &Context, options: &ActivationOptions) -> Result<Activation, Error> {
    let home = options.home.as_ref().map_or_else(|| pypto_home(cx), |home| cx.cwd().join(home));
    // A home that was named here is meant also for what is installed in it.
    let root = options.root.clone().or_else(|| options.home.as_ref().map(|_| home.join("ptoas")));
    let root = Prefix::of(cx, root.as_deref())?.root().to_path_buf();
    let src = options.src.clone().or_else(|| cx.var_os("PYPTO_SRC").map(PathBuf::from)).map(|src| cx.cwd().join(src));

    let mut front: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut variables = BTreeMap::new();
    let mut set = |name: &str, path: &Path| variables.insert(name.to_owned(), path.display().to_string());
    set("PYPTO_HOME", &home);
    set("PTOAS_ROOT", &root);
    src.iter().for_each(|src| drop(set("PYPTO_SRC", src)));
    let venv = home.join("venv");
    if venv.join("pyvenv.cfg").is_file() {
        set("VIRTUAL_ENV", &venv);
    }
    front.insert("PATH".to_owned(), path_entries(&home, &root));
    if let Some(cann) = &options.cann {
        for (name, value) in cann_env::read(cx, cann)? {
            if LISTS.contains(&name.as_str()) {
                front.entry(name).or_default().extend(entries(&value));
            } else {
                variables.insert(name, value);
            }
        }
    }
    for (name, front) in &front {
        variables.insert(name.clone(), in_front(front, &cx.var(name).unwrap_or_default()));
    }
    let own = src.map(|src| src.join("python")).filter(|dir| dir.join("pypto").is_dir());
    python_path(cx, own.as_deref(), &root, &mut variables);
    Ok(Activation { variables })
}

/// PyPTO's Python, then PTOAS, then the helpers: those that are there.
fn path_entries(home: &Path, root: &Path) -> Vec<String> {
    let is_launcher = |dir: &PathBuf| dir.join("ptoas").is_file();
    let ptoas = [root.to_path_buf()].into_iter().filter(is_launcher).chain([root.join("bin")]);
    let dirs = [home.join("venv/bin")].into_iter().chain(ptoas).chain([home.join("bin")]);
    dirs.filter(|dir| dir.is_dir()).map(|dir| dir.display().to_string()).collect()
}

/// The checkout's own Python comes first, since its extension is built into it. Where another package of the same name
/// would be imported in place of the pinned PTOAS, that comes before it. Empty entries, which Python takes for the working
/// directory, are dropped.
fn python_path(cx: &Context, own: Option<&Path>, root: &Path, variables: &mut BTreeMap<String, String>) {
    const NAME: &str = "PYTHONPATH";
    let value = variables.get(NAME).cloned().or_else(|| cx.var(NAME));
    if value.is_none() && own.is_none() {
        return;
    }
    let value = value.unwrap_or_default();
    let ptoas: Vec<String> = match Launcher::find(root) {
        Some(_) => site_packages(root).iter().map(|dir| dir.display().to_string()).collect(),
        None => Vec::new(),
    };
    let shadows = |entry: &String| !ptoas.contains(entry) && Path::new(entry).join("ptoas").is_dir();
    let mut front: Vec<String> = own.iter().map(|dir| dir.display().to_string()).collect();
    if entries(&value).iter().any(shadows) {
        front.extend(ptoas);
    }
    let clean = in_front(&front, &value);
    if !value.is_empty() && value.split(':').any(str::is_empty) {
        let message = "`PYTHONPATH` had an empty entry, which Python takes for the working directory; it is dropped";
        cx.emit(Event::Warning { message: message.to_owned() });
    }
    variables.insert(NAME.to_owned(), clean);
}

/// The entries of a list, without empty ones.
pub(crate) fn entries(value: &str) -> Vec<String> {
    value.split(':').filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

/// The list with some entries in front, each once.
fn in_front(front: &[String], value: &str) -> String {
    let mut all: Vec<String> = Vec::new();
    for entry in front.iter().cloned().chain(entries(value)) {
        if !all.contains(&entry) {
            all.push(entry);
        }
    }
    all.join(":")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    use pto_context::Recorder;

    use super::*;

    /// A home with PyPTO's environment and PTOAS, and a CANN with another `ptoas` and this `set_env.sh`.
    struct World {
        dir: tempfile::TempDir,
        events: Arc<Recorder>,
    }

    impl World {
        fn new(set_env: &str) -> Self {
            let world = Self { dir: tempfile::tempdir().unwrap(), events: Arc::default() };
            world.file("home/venv/pyvenv.cfg", "");
            world.file("home/venv/bin/python", "");
            world.file("home/ptoas/bin/ptoas", "");
            world.file("home/ptoas/lib/python3.10/site-packages/ptoas/__init__.py", "");
            world.file("cann/python/site-packages/ptoas/__init__.py", "");
            world.file("cann/bin/ptoas", "");
            world.file("cann/set_env.sh", set_env);
            world
        }

        fn file(&self, name: &str, text: &str) {
            let path = self.dir.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, text).unwrap();
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }

        fn cx(&self, vars: &[(&str, &str)]) -> Context {
            Context::fake("/", vars.iter().copied()).with_events(self.events.clone())
        }

        fn options(&self, with_cann: bool) -> ActivationOptions {
            let path = |name: &str| self.dir.path().join(name);
            ActivationOptions {
                home: Some(path("home")),
                cann: with_cann.then(|| path("cann")),
                ..ActivationOptions::default()
            }
        }

        /// A value with the world's directory as `@`.
        fn value(&self, activation: &Activation, name: &str) -> String {
            let value = activation.variables.get(name).cloned().unwrap_or_default();
            value.replace(self.dir.path().to_str().unwrap(), "@")
        }

        fn warnings(&self) -> String {
            format!("{:?}", self.events.events())
        }
    }

    const SET_ENV: &str = "\
export ASCEND_HOME_PATH=$(cd \"$(dirname \"$BASH_SOURCE\")\" && pwd)
export PATH=$ASCEND_HOME_PATH/bin:$PATH
export LD_LIBRARY_PATH=$ASCEND_HOME_PATH/lib64:$LD_LIBRARY_PATH:$ASCEND_HOME_PATH/devlib
export PYTHONPATH=$ASCEND_HOME_PATH/python/site-packages:$PYTHONPATH
";

    #[test]
    fn pyptos_python_is_first_and_the_pinned_ptoas_before_canns() {
        let world = World::new(SET_ENV);
        let got = activation(&world.cx(&[("PATH", "/usr/bin:/bin")]), &world.options(true)).unwrap();
        assert_eq!(world.value(&got, "PATH"), "@/home/venv/bin:@/home/ptoas/bin:@/cann/bin:/usr/bin:/bin");
        let packages = "@/home/ptoas/lib/python3.10/site-packages:@/cann/python/site-packages";
        assert_eq!(world.value(&got, "PYTHONPATH"), packages);
        assert_eq!(world.value(&got, "LD_LIBRARY_PATH"), "@/cann/lib64");
        assert_eq!(world.value(&got, "ASCEND_HOME_PATH"), "@/cann");
        assert_eq!(world.value(&got, "PTOAS_ROOT"), "@/home/ptoas");
        assert_eq!(world.value(&got, "VIRTUAL_ENV"), "@/home/venv");
        assert!(world.warnings().contains("devlib"), "{}", world.warnings());
    }

    #[test]
    fn twice_changes_nothing_more() {
        let world = World::new(SET_ENV);
        let once =
            activation(&world.cx(&[("PATH", "/usr/bin:/bin"), ("LD_LIBRARY_PATH", "/own")]), &world.options(true));
        let once = once.unwrap();
        let vars: Vec<_> = once.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(activation(&world.cx(&vars), &world.options(true)).unwrap(), once);
        // Also where it begins with what an older shell has appended.
        let cx = world.cx(&[("PATH", "/usr/bin:/usr/bin::/bin")]);
        assert!(
            world.value(&activation(&cx, &world.options(false)).unwrap(), "PATH").ends_with("/ptoas/bin:/usr/bin:/bin")
        );
    }

    #[test]
    fn an_empty_entry_is_dropped_and_said() {
        let world = World::new("");
        let got = activation(&world.cx(&[("PYTHONPATH", "/x:")]), &world.options(false)).unwrap();
        assert_eq!(world.value(&got, "PYTHONPATH"), "/x");
        assert!(world.warnings().contains("empty entry"));
        let quiet = activation(&world.cx(&[("PATH", "/bin")]), &world.options(false)).unwrap();
        assert_eq!(quiet.variables.get("PYTHONPATH"), None);
    }

    #[test]
    fn the_checkouts_own_python_comes_first() {
        let world = World::new(SET_ENV);
        world.file("src/python/pypto/__init__.py", "");
        let options = ActivationOptions { src: Some(world.dir.path().join("src")), ..world.options(true) };
        let got = activation(&world.cx(&[("PATH", "/bin")]), &options).unwrap();
        let packages = "@/home/ptoas/lib/python3.10/site-packages:@/cann/python/site-packages";
        assert_eq!(world.value(&got, "PYTHONPATH"), format!("@/src/python:{packages}"));
        let plain = ActivationOptions { cann: None, ..options };
        assert_eq!(
            world.value(&activation(&world.cx(&[("PATH", "/bin")]), &plain).unwrap(), "PYTHONPATH"),
            "@/src/python"
        );
    }

    #[test]
    fn set_env_runs_neither_strict_nor_in_the_users_environment() {
        // Unset variables, a pipe that fails, a command that fails: what ends a strict shell.
        let strict = "export A=$UNSET_BEFORE\ngrep nothing /dev/null | cat\nfalse\nexport SEEN=${SECRET:-no}\n";
        let world = World::new(strict);
        let cx = world.cx(&[("PATH", "/usr/bin:/bin"), ("SHELLOPTS", "errexit:nounset"), ("SECRET", "yes")]);
        let got = activation(&cx, &world.options(true)).unwrap();
        assert_eq!(world.value(&got, "SEEN"), "no");
    }

    #[test]
    fn a_set_env_that_fails_or_goes_astray_is_named() {
        let said = |script: &str| {
            let world = World::new(script);
            activation(&world.cx(&[("PATH", "/usr/bin:/bin")]), &world.options(true)).unwrap_err().to_string()
        };
        assert!(said("exit 1").contains("ended its shell with code 1 and said nothing"));
        assert!(said("echo no driver >&2; exit 3").contains("code 3: no driver"));
        assert!(said("export ASCEND_HOME_PATH=.").contains("`ASCEND_HOME_PATH` is `.`"));
        let world = World::new("");
        let gone = ActivationOptions { cann: Some("/gone".into()), ..ActivationOptions::default() };
        assert!(activation(&world.cx(&[("A", "1")]), &gone).unwrap_err().to_string().contains("/gone/set_env.sh"));
    }
}
