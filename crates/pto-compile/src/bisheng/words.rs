//! Paths and texts as words of a command line.

use std::path::Path;

use pto_context::Context;

use super::BishengError;

/// A path as an argument of its own or behind a flag such as `-I`.
pub(super) fn path(path: &Path) -> Result<String, BishengError> {
    let unusable = |problem| BishengError::Unusable { what: "the path", text: path.to_string_lossy().into(), problem };
    let text = path.to_str().ok_or_else(|| unusable("is not valid UTF-8, and a plan is text"))?;
    if text.is_empty() {
        return Err(unusable("is empty"));
    }
    if text.contains('\0') {
        return Err(unusable("has a NUL byte"));
    }
    Ok(text.to_owned())
}

/// A path as an input file: one that begins with `-` would be taken for an option, one with `@` for a list of options.
pub(super) fn input(file: &Path) -> Result<String, BishengError> {
    let text = path(file)?;
    Ok(if text.starts_with(['-', '@']) { format!("./{text}") } else { text })
}

/// A flag of the user.
pub(super) fn flag(text: &str) -> Result<String, BishengError> {
    if text.contains('\0') {
        return Err(BishengError::Unusable { what: "the flag", text: text.to_owned(), problem: "has a NUL byte" });
    }
    Ok(text.to_owned())
}

/// `-Wl,-rpath,A:B`, directories made absolute: the loader resolves relative ones against wherever the program is
/// started. `-Wl` splits at commas, so a directory with a comma goes through `-Xlinker`.
pub(super) fn rpath(cx: &Context, dirs: &[&Path]) -> Result<Vec<String>, BishengError> {
    let mut list = Vec::new();
    for dir in dirs {
        let absolute = cx.cwd().join(dir);
        let text = path(&absolute)?;
        if text.contains(':') {
            return Err(BishengError::ColonInDir { dir: absolute });
        }
        list.push(text);
    }
    let list = list.join(":");
    Ok(if list.contains(',') {
        ["-Xlinker", "-rpath", "-Xlinker", &list].map(str::to_owned).into()
    } else {
        vec![format!("-Wl,-rpath,{list}")]
    })
}

/// The name of a library or program.
pub(super) fn check_name(name: &str) -> Result<(), BishengError> {
    let begins_well = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if begins_well && name.chars().all(|c| c.is_alphanumeric() || "_.+-".contains(c)) {
        return Ok(());
    }
    Err(BishengError::BadName { name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rpath_survives_commas_and_refuses_colons() {
        let cx = Context::fake("/home/user", [("A", "")]);
        assert_eq!(rpath(&cx, &[Path::new("out"), Path::new("/x")]).unwrap(), ["-Wl,-rpath,/home/user/out:/x"]);
        assert_eq!(rpath(&cx, &[Path::new("/a,b")]).unwrap(), ["-Xlinker", "-rpath", "-Xlinker", "/a,b"]);
        assert!(matches!(rpath(&cx, &[Path::new("/a:b")]), Err(BishengError::ColonInDir { .. })));
    }

    #[test]
    fn a_source_cannot_pose_as_an_option() {
        assert_eq!(input(Path::new("-o.cpp")).unwrap(), "./-o.cpp");
        assert_eq!(input(Path::new("@args")).unwrap(), "./@args");
        assert_eq!(input(Path::new("/k/-o.cpp")).unwrap(), "/k/-o.cpp");
    }

    #[test]
    fn names_that_would_become_other_options_are_refused() {
        for good in ["vec_add", "añadir", "k-1.2", "_k", "核"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", "-x", "a/b", "a b", "a,b", ".hidden", "a:b", "a\0"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
