//! Where the Pythons of a machine are.

use std::path::PathBuf;

use pto_context::Context;

/// Files that may be a Python of this version, or any Python 3: by its name with the version on `PATH`, then the ones that
/// `uv` and `pyenv` keep, the newest first, then plain `python3`. A shim that leads nowhere is among them as well, so each
/// has to be asked.
pub fn interpreters(cx: &Context, version: Option<(u32, u32)>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some((major, minor)) = version {
        let name = format!("python{major}.{minor}");
        found.extend(on_path(cx, &name));
        let wanted = [format!("cpython-{major}.{minor}"), format!("{major}.{minor}.")];
        for dir in kept_by_managers(cx) {
            let mut versions = names(&dir);
            versions.retain(|version| wanted.iter().any(|start| version.starts_with(start.as_str())));
            found.extend(versions.iter().rev().map(|version| dir.join(version).join("bin").join(&name)));
        }
    }
    found.extend(on_path(cx, "python3"));
    let mut seen = Vec::new();
    found.retain(|path| {
        path.is_file() && !seen.contains(path) && {
            seen.push(path.clone());
            true
        }
    });
    found
}

fn on_path(cx: &Context, name: &str) -> Vec<PathBuf> {
    which::which_in_global(name, cx.var_os("PATH")).into_iter().flatten().collect()
}

/// The directories in which managers of Python versions keep one directory per version.
fn kept_by_managers(cx: &Context) -> Vec<PathBuf> {
    let home = cx.var_os("HOME").map(PathBuf::from);
    let under_home = |sub: &str| home.as_ref().map(|home| home.join(sub));
    let uv = cx.var_os("UV_PYTHON_INSTALL_DIR").map(PathBuf::from);
    let data = cx.var_os("XDG_DATA_HOME").map(PathBuf::from).or_else(|| under_home(".local/share"));
    let pyenv = cx.var_os("PYENV_ROOT").map(PathBuf::from).or_else(|| under_home(".pyenv"));
    let dirs = [uv.or_else(|| data.map(|data| data.join("uv/python"))), pyenv.map(|root| root.join("versions"))];
    dirs.into_iter().flatten().collect()
}

fn names(dir: &PathBuf) -> Vec<String> {
    let listing = fs_err::read_dir(dir).into_iter().flatten();
    let mut names: Vec<String> = listing.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_version_comes_first_and_each_place_once() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for file in [
            "bin/python3.10",
            "bin/python3",
            "pyenv/versions/3.10.1/bin/python3.10",
            "pyenv/versions/3.10.9/bin/python3.10",
            "pyenv/versions/3.11.1/bin/python3.11",
            "uv/cpython-3.10.4-linux-x86_64-gnu/bin/python3.10",
        ] {
            fs_err::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs_err::write(at(file), "").unwrap();
            fs_err::set_permissions(at(file), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("{0}:{0}", at("bin").display());
        let vars = [("PATH", path.into()), ("PYENV_ROOT", at("pyenv")), ("UV_PYTHON_INSTALL_DIR", at("uv"))];
        let cx = Context::fake(dir.path(), vars);
        let expected = [
            "bin/python3.10",
            "uv/cpython-3.10.4-linux-x86_64-gnu/bin/python3.10",
            "pyenv/versions/3.10.9/bin/python3.10",
            "pyenv/versions/3.10.1/bin/python3.10",
            "bin/python3",
        ];
        assert_eq!(interpreters(&cx, Some((3, 10))), expected.map(at));
        assert_eq!(interpreters(&cx, None), [at("bin/python3")]);
    }
}
