//! Where the host ACL library lies: cargo puts it beside the programs that depend on `pto-aclsim`.

use std::path::{Path, PathBuf};

use pto_context::Context;

use crate::error::LaunchError;

// So that the dependency is there: see Cargo.toml.
use ascendcl as _;

/// Names the host ACL library when it is somewhere else.
pub const HOST_ACL_VARIABLE: &str = "PTOKIT_HOST_ACL";

const FILE: &str = "libascendcl.so";

/// Where it is, seen from a program's directory.
const PLACES: [&str; 4] = [
    "deps",    // target/debug/xtask
    ".",       // target/debug/deps/test-0123
    "../deps", // target/debug/examples/x
    "../lib",  // bin/pypto-dev of an installation
];

/// The `libascendcl.so` that plays a device on this machine, for a program at `executable`.
///
/// # Errors
/// It is nowhere; every path tried is named.
pub fn host_acl(cx: &Context, executable: &Path) -> Result<PathBuf, LaunchError> {
    let looked_at = match cx.var_os(HOST_ACL_VARIABLE) {
        // What a person names is meant: nothing else is taken in its place.
        Some(named) => vec![cx.cwd().join(named)],
        None => {
            let dir = executable.parent().unwrap_or(Path::new("/"));
            PLACES.iter().map(|place| dir.join(place).join(FILE)).collect()
        }
    };
    let found = looked_at.iter().filter(|path| path.is_file()).find_map(|path| fs_err::canonicalize(path).ok());
    found.ok_or(LaunchError::NoHostAcl { looked_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with the library in one place; the program need not be there.
    fn tree(library: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join(library);
        fs_err::create_dir_all(library.parent().unwrap()).unwrap();
        fs_err::create_dir_all(dir.path().join("target/release/examples")).unwrap();
        fs_err::create_dir_all(dir.path().join("opt/bin")).unwrap();
        fs_err::write(&library, "").unwrap();
        let library = library.canonicalize().unwrap();
        (dir, library)
    }

    fn none() -> [(&'static str, &'static str); 0] {
        []
    }

    #[test]
    fn every_place_cargo_and_an_installation_use() {
        for (program, library) in [
            ("target/release/xtask", "target/release/deps/libascendcl.so"),
            ("target/release/xtask", "target/release/libascendcl.so"),
            ("target/release/deps/cases-0123456789abcdef", "target/release/deps/libascendcl.so"),
            ("target/release/examples/run_kernel", "target/release/deps/libascendcl.so"),
            ("opt/bin/pypto-dev", "opt/lib/libascendcl.so"),
        ] {
            let (dir, library) = tree(library);
            let cx = Context::fake(dir.path(), none());
            assert_eq!(host_acl(&cx, &dir.path().join(program)).unwrap(), library, "{program}");
        }
    }

    #[test]
    fn what_the_variable_names_is_taken_or_nothing_is() {
        let (dir, library) = tree("target/release/deps/libascendcl.so");
        let program = dir.path().join("target/release/xtask");
        let named = |path: &str| host_acl(&Context::fake(dir.path(), [(HOST_ACL_VARIABLE, path)]), &program);
        assert_eq!(named("target/release/deps/libascendcl.so").unwrap(), library);
        let LaunchError::NoHostAcl { looked_at } = named("gone.so").unwrap_err() else { panic!() };
        assert_eq!(looked_at, [dir.path().join("gone.so")]);
    }

    #[test]
    fn where_it_is_not_found_every_place_is_named() {
        let error = host_acl(&Context::fake("/tree", none()), Path::new("/tree/bin/x")).unwrap_err();
        for path in ["/tree/bin/deps/libascendcl.so", "/tree/bin/../lib/libascendcl.so"] {
            assert!(error.to_string().contains(path), "{error}");
        }
        assert!(error.hint().unwrap().contains(HOST_ACL_VARIABLE));
    }

    #[test]
    fn this_very_program_has_it_beside_itself() {
        let program = std::env::current_exe().unwrap();
        assert!(host_acl(&Context::fake("/", none()), &program).is_ok());
    }
}
