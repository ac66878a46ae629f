//! Finding and loading the library.

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use pto_context::Context;

use crate::error::{AclError, Attempt, Error};
use crate::safe::DeviceRegistry;
use crate::sys::Functions;

/// The file that implements ACL.
const LIBRARY: &str = "libascendcl.so";

/// Where a CANN toolkit is installed by default, newest layout first.
const INSTALLED: [&str; 4] = [
    "/usr/local/Ascend/cann",
    "/usr/local/Ascend/latest",
    "/usr/local/Ascend/ascend-toolkit/latest",
    "/usr/local/Ascend/nnrt/latest",
];

/// The paths to try, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadPlan {
    candidates: Vec<PathBuf>,
}

impl LoadPlan {
    /// Exactly these paths. A name without a slash is looked up by the loader itself.
    pub fn new<P: Into<PathBuf>>(candidates: impl IntoIterator<Item = P>) -> Self {
        Self { candidates: candidates.into_iter().map(Into::into).collect() }
    }

    /// Where CANN keeps the library: below `ASCEND_HOME_PATH`, below `ASCEND_TOOLKIT_HOME`, where CANN is installed by
    /// default, and at last wherever the loader finds it.
    pub fn cann(cx: &Context) -> Self {
        let named = ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"];
        let homes = named.iter().filter_map(|name| cx.var_os(name)).map(|home| cx.cwd().join(home));
        let homes = homes.chain(INSTALLED.iter().map(PathBuf::from));
        let machine = format!("{}-linux/lib64", std::env::consts::ARCH);
        let mut candidates: Vec<PathBuf> = Vec::new();
        for home in homes {
            for directory in ["lib64", &machine] {
                let path = cx.under_root(home.join(directory).join(LIBRARY));
                if !candidates.contains(&path) {
                    candidates.push(path);
                }
            }
        }
        candidates.push(LIBRARY.into());
        Self { candidates }
    }

    /// The paths to try, in order.
    pub fn candidates(&self) -> &[PathBuf] {
        &self.candidates
    }
}

/// A loaded library. It stays loaded as long as the process lives: it has threads that outlive every handle.
pub struct Acl {
    functions: Functions,
    path: PathBuf,
    /// Whether `aclInit` was called, and whether it was called by us.
    pub(crate) initialized: Mutex<Option<Initialized>>,
    /// The devices that are open.
    pub(crate) devices: Mutex<DeviceRegistry>,
    /// The first failed release that nobody was told of.
    pub(crate) unreported: Mutex<Option<AclError>>,
    library: ManuallyDrop<Library>,
}

/// Who called `aclInit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Initialized {
    /// This `Acl`, which therefore calls `aclFinalize`.
    Here,
    /// Somebody else in this process.
    Elsewhere,
}

impl Acl {
    /// Loads the first candidate that the loader accepts, with `RTLD_NOW | RTLD_GLOBAL`: kernels find its symbols.
    ///
    /// # Errors
    /// [`Error::NotLoaded`] with every path tried; [`Error::MissingSymbol`] for a library that is not ACL.
    pub fn load(plan: &LoadPlan) -> Result<Arc<Self>, Error> {
        let mut attempts = Vec::new();
        for path in &plan.candidates {
            // SAFETY: loading runs the initialisers of a library that the caller chose to trust by naming it.
            match unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) } {
                Ok(library) => return Self::from_library(library, path.clone()),
                Err(error) => attempts.push(Attempt { path: path.clone(), reason: reason(&error) }),
            }
        }
        Err(Error::NotLoaded { attempts })
    }

    fn from_library(library: Library, path: PathBuf) -> Result<Arc<Self>, Error> {
        // Never closed, also when it lacks a symbol: an initialiser may have started threads.
        let library = ManuallyDrop::new(library);
        match Functions::resolve(&library) {
            Ok(functions) => Ok(Arc::new(Self {
                functions,
                path,
                initialized: Mutex::default(),
                devices: Mutex::new(HashMap::new()),
                unreported: Mutex::default(),
                library,
            })),
            Err((symbol, source)) => Err(Error::MissingSymbol { library: path, symbol, source }),
        }
    }

    /// The functions as they are.
    pub fn sys(&self) -> &Functions {
        &self.functions
    }

    /// Whether the library exports a function beyond those of ACL. One that a kernel's library exports does not count.
    pub fn exports(&self, symbol: &str) -> bool {
        // SAFETY: the symbol is only taken as an address, which is not used.
        unsafe { self.library.get::<*const std::ffi::c_void>(symbol.as_bytes()) }.is_ok()
    }

    /// The path, or the bare name, that was loaded.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl std::fmt::Debug for Acl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Acl").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The loader's own words: `libloading` wraps them.
fn reason(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    source.unwrap_or_else(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_first_and_the_loader_last() {
        let cx = Context::fake("/", [("ASCEND_HOME_PATH", "/opt/cann"), ("ASCEND_TOOLKIT_HOME", "/opt/cann")]);
        let plan = LoadPlan::cann(&cx);
        let machine = format!("/opt/cann/{}-linux/lib64/libascendcl.so", std::env::consts::ARCH);
        assert_eq!(plan.candidates()[0], Path::new("/opt/cann/lib64/libascendcl.so"));
        assert_eq!(plan.candidates()[1], Path::new(&machine));
        assert_eq!(plan.candidates()[2], Path::new("/usr/local/Ascend/cann/lib64/libascendcl.so"), "no path twice");
        assert_eq!(plan.candidates().last().unwrap(), Path::new("libascendcl.so"));
    }

    #[test]
    fn a_made_up_machine_is_searched_under_its_root() {
        let cx = Context::fake("/tree", [("ASCEND_HOME_PATH", "/opt/cann")]);
        assert_eq!(LoadPlan::cann(&cx).candidates()[0], Path::new("/tree/opt/cann/lib64/libascendcl.so"));
    }

    #[test]
    fn every_path_tried_is_reported_with_the_loaders_words() {
        let error = Acl::load(&LoadPlan::new(["/nowhere/a.so", "/nowhere/b.so"])).unwrap_err();
        let Error::NotLoaded { attempts } = error else { panic!("{error}") };
        assert_eq!(
            attempts.iter().map(|a| a.path.as_path()).collect::<Vec<_>>(),
            ["/nowhere/a.so", "/nowhere/b.so"].map(Path::new)
        );
        assert!(attempts.iter().all(|attempt| attempt.reason.contains("No such file")), "{attempts:?}");
    }

    #[test]
    fn a_library_that_is_not_acl_names_the_symbol() {
        let error = Acl::load(&LoadPlan::new(["libc.so.6"])).unwrap_err();
        assert_eq!(error.to_string(), "`libc.so.6` has no symbol `aclInit`");
    }
}
