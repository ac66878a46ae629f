//! Which files a kernel is made from. bisheng compiles each source for the host and for the device, and its dependency
//! files are not known to name what both have read: so the user's includes are followed here, and of PTO-ISA's headers all
//! count.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use pto_context::Context;

use super::BishengRequest;
use crate::cann::{Toolchain, open_path};

/// The sources and the user's headers that they include, directly or not.
pub(super) fn of_the_user(cx: &Context, request: &BishengRequest) -> io::Result<BTreeSet<PathBuf>> {
    let dirs: Vec<PathBuf> = request.options.include_dirs.iter().map(|dir| open_path(cx, dir)).collect();
    let mut user = UserFiles { include_dirs: &dirs, found: BTreeSet::new() };
    for source in &request.sources {
        user.file(open_path(cx, source))?;
    }
    for (_, text) in &request.generated {
        user.text(&request.out_dir, text)?;
    }
    Ok(user.found)
}

/// All of PTO-ISA's.
pub(super) fn of_pto_isa(cx: &Context, toolchain: &Toolchain) -> io::Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    all_below(&open_path(cx, &toolchain.pto_headers.path).join("pto"), &mut files)?;
    Ok(files)
}

struct UserFiles<'a> {
    include_dirs: &'a [PathBuf],
    found: BTreeSet<PathBuf>,
}

impl UserFiles<'_> {
    fn file(&mut self, path: PathBuf) -> io::Result<()> {
        if self.found.insert(path.clone()) {
            let text = fs_err::read(&path)?;
            self.text(path.parent().unwrap_or(Path::new("/")), &String::from_utf8_lossy(&text))?;
        }
        Ok(())
    }

    /// What is found neither beside the includer nor in the user's directories is CANN's or PTO-ISA's.
    fn text(&mut self, dir: &Path, text: &str) -> io::Result<()> {
        for name in includes(text) {
            let dirs = std::iter::once(dir).chain(self.include_dirs.iter().map(PathBuf::as_path));
            if let Some(path) = dirs.map(|dir| dir.join(name)).find(|path| path.is_file()) {
                self.file(path)?;
            }
        }
        Ok(())
    }
}

/// The names behind `#include`. Those in comments or behind an `#if` are taken too: a file too many costs a compile at
/// most.
fn includes(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        let end = if rest.starts_with('"') { '"' } else { '>' };
        rest.strip_prefix(['"', '<'])?.split(end).next()
    })
}

fn all_below(dir: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs_err::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            all_below(&path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_as_people_write_them() {
        let text = "#include \"a.hpp\"\n  #  include <b/c.hpp> // d\n#include MACRO\n#define X \"y\"\n#include<e>\n";
        assert_eq!(includes(text).collect::<Vec<_>>(), ["a.hpp", "b/c.hpp", "e"]);
    }

    #[test]
    fn headers_that_include_each_other_end() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs_err::write(dir.path().join(name), text).unwrap();
        file("k.cpp", "#include \"a.hpp\"\n#include <stdint.h>\n");
        file("a.hpp", "#include \"b.hpp\"\n");
        file("b.hpp", "#include \"a.hpp\"\n");
        let mut user = UserFiles { include_dirs: &[], found: BTreeSet::new() };
        user.file(dir.path().join("k.cpp")).unwrap();
        assert_eq!(user.found, ["a.hpp", "b.hpp", "k.cpp"].map(|name| dir.path().join(name)).into());
    }
}
