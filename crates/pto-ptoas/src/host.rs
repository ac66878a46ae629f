//! What the machine offers to a wheel: its C library, its C++ library.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::{dotted, highest_symbol_version};

use crate::error::Error;
use crate::python::Interpreter;
use crate::wheel_name::{LibcTag, WheelName};

/// PTOAS asks for this symbol version of libstdc++. It is independent of glibc: distributions exist with glibc 2.34 and
/// `GLIBCXX_3.4.28`, where the wheel installs and its program does not start.
const GLIBCXX: [u32; 3] = [3, 4, 29];

/// Where the loader of a distribution keeps libraries.
const DIRS: [&str; 7] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/usr/lib",
];

/// Everything that can be known before the download: each thing that does not fit has an error of its own.
///
/// # Errors
/// [`Error::Platform`], [`Error::Libc`], [`Error::Symbols`].
pub(crate) fn check(cx: &Context, wheel: &WheelName, python: &Interpreter) -> Result<(), Error> {
    check_platform(cx, wheel, python)?;
    let Some((path, found)) = symbols(cx, "libstdc++.so.6", "GLIBCXX_") else { return Ok(()) };
    if found.as_slice() >= GLIBCXX.as_slice() {
        return Ok(());
    }
    let symbol = |version: &[u32]| format!("GLIBCXX_{}", dotted(version));
    Err(Error::Symbols { library: path, needed: symbol(&GLIBCXX), found: symbol(&found) })
}

fn check_platform(cx: &Context, wheel: &WheelName, python: &Interpreter) -> Result<(), Error> {
    if wheel.is_universal() {
        return Ok(());
    }
    let machine = python.facts.machine();
    let for_machine: Vec<LibcTag> =
        wheel.platforms().flatten().filter(|(_, wanted)| *wanted == machine).map(|(libc, _)| libc).collect();
    if for_machine.is_empty() {
        let wanted = wheel.platform.join("`, `");
        return Err(Error::Platform { wheel: wheel.to_string(), wanted, found: python.facts.platform.clone() });
    }
    let glibc = symbols(cx, "libc.so.6", "GLIBC_").map(|(_, version)| version);
    let takes = |libc: &LibcTag| match *libc {
        LibcTag::Any => true,
        LibcTag::Musl(..) => python.facts.is_musl(),
        LibcTag::Glibc(major, minor) => {
            // Where no C library can be read, its version is left to the program's first start to show.
            !python.facts.is_musl() && glibc.as_ref().is_none_or(|found| found.as_slice() >= [major, minor].as_slice())
        }
    };
    if for_machine.iter().any(takes) {
        return Ok(());
    }
    let found = match glibc {
        _ if python.facts.is_musl() => "musl".to_owned(),
        Some(version) => format!("glibc {}", dotted(&version)),
        None => "another C library".to_owned(),
    };
    let wanted = for_machine.iter().map(|libc| match libc {
        LibcTag::Glibc(major, minor) => format!("glibc {major}.{minor}"),
        LibcTag::Musl(major, minor) => format!("musl {major}.{minor}"),
        LibcTag::Any => "any".to_owned(),
    });
    Err(Error::Libc { wheel: wheel.to_string(), wanted: wanted.collect::<Vec<_>>().join(" or "), found })
}

/// The library that the loader would take, and the highest version behind a prefix of its symbols.
fn symbols(cx: &Context, name: &str, prefix: &str) -> Option<(PathBuf, Vec<u32>)> {
    let from_variable = cx.var_os("LD_LIBRARY_PATH").map(|dirs| std::env::split_paths(dirs).collect::<Vec<_>>());
    let dirs = from_variable.into_iter().flatten().chain(DIRS.map(PathBuf::from));
    let path =
        dirs.filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).find(|path| cx.under_root(path).is_file())?;
    let bytes = fs_err::read(cx.under_root(&path)).ok()?;
    Some((path, highest_symbol_version(&bytes, prefix)?))
}

/// The free bytes for this user on the file system of the nearest directory that is there.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|path| path.exists())?;
    let stat = rustix::fs::statvfs(there).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Whether a file system has no room for even one small file. Not every program says so when it fails for that.
pub(crate) fn is_full(path: &Path) -> bool {
    const SMALL_FILE: u64 = 64 << 10;
    let no_name = rustix::fs::statvfs(path).is_ok_and(|stat| stat.f_files > 0 && stat.f_favail == 0);
    no_name || free_bytes(path).is_some_and(|free| free < SMALL_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::PythonFacts;

    const WHEEL: &str = "ptoas-0.61-cp310-cp310-manylinux_2_34_x86_64.whl";

    fn said(platform: &str, soabi: &str, libc: &str, libstdcxx: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let lib = dir.path().join("usr/lib64");
        fs_err::create_dir_all(&lib).unwrap();
        fs_err::write(lib.join("libc.so.6"), format!("\0GLIBC_2.17\0{libc}\0")).unwrap();
        fs_err::write(lib.join("libstdc++.so.6"), format!("\0GLIBCXX_3.4.9\0{libstdcxx}\0")).unwrap();
        let facts = PythonFacts {
            version: (3, 10),
            text: "3.10.1".into(),
            implementation: "cpython".into(),
            platform: platform.into(),
            soabi: soabi.into(),
        };
        let python = Interpreter { path: "python3.10".into(), facts };
        let cx = Context::fake(dir.path(), [("A", "1")]);
        check(&cx, &WheelName::parse(WHEEL).unwrap(), &python).map_or_else(|error| error.to_string(), |()| "ok".into())
    }

    #[test]
    fn each_thing_that_does_not_fit_has_its_message() {
        let (glibc, new) = ("cpython-310-x86_64-linux-gnu", "GLIBCXX_3.4.30");
        assert_eq!(said("linux-x86_64", glibc, "GLIBC_2.34", new), "ok");
        assert_eq!(
            said("linux-armv7l", glibc, "GLIBC_2.34", new),
            format!("`{WHEEL}` is for `manylinux_2_34_x86_64`, and this Python is for `linux-armv7l`")
        );
        assert_eq!(
            said("linux-x86_64", "cpython-310-x86_64-linux-musl", "GLIBC_2.34", new),
            format!("`{WHEEL}` needs glibc 2.34, and this system has musl")
        );
        assert_eq!(
            said("linux-x86_64", glibc, "GLIBC_2.28", new),
            format!("`{WHEEL}` needs glibc 2.34, and this system has glibc 2.28")
        );
        assert_eq!(
            said("linux-x86_64", glibc, "GLIBC_2.34", "GLIBCXX_3.4.28"),
            "PTOAS needs `GLIBCXX_3.4.29`, and `/usr/lib64/libstdc++.so.6` ends at `GLIBCXX_3.4.28`"
        );
    }

    #[test]
    fn the_loaders_order_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        for (lib, symbol) in [("first", "GLIBCXX_3.4.30"), ("usr/lib64", "GLIBCXX_3.4.28")] {
            fs_err::create_dir_all(dir.path().join(lib)).unwrap();
            fs_err::write(dir.path().join(lib).join("libstdc++.so.6"), format!("\0{symbol}\0")).unwrap();
        }
        let cx = Context::fake(dir.path(), [("LD_LIBRARY_PATH", ":/none:/first")]);
        assert_eq!(symbols(&cx, "libstdc++.so.6", "GLIBCXX_"), Some(("/first/libstdc++.so.6".into(), vec![3, 4, 30])));
    }

    #[test]
    fn free_space_is_that_of_the_nearest_directory() {
        let dir = tempfile::tempdir().unwrap();
        assert!(free_bytes(&dir.path().join("a/b")).unwrap() > 0);
    }
}
