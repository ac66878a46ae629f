//! The Python that a checkout asks for: `.python-version` and `requires-python` of `pyproject.toml`.

/// The version of `.python-version`, `3.10` or `3.10.13`: the first line that is neither blank nor a comment.
pub fn parse_python_version_file(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    is_version(line).then(|| line.to_owned())
}

/// The specifier of `requires-python` in the `[project]` table of a `pyproject.toml`, as written: `>=3.10`.
pub fn parse_requires_python(text: &str) -> Option<String> {
    let mut in_project = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_project = line == "[project]";
        } else if in_project
            && let Some(value) = line.strip_prefix("requires-python")
            && let Some(value) = value.trim_start().strip_prefix('=')
        {
            let value = value.trim();
            let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            return value[1..].split(quote).next().map(|value| value.trim().to_owned());
        }
    }
    None
}

/// The lowest version that a specifier lets in, as `3.10`: `>=3.10,<4`, `~=3.10.2`, `==3.10.*`.
pub fn lowest_python(specifier: &str) -> Option<String> {
    let clause = |clause: &str| {
        let version = [">=", "~=", "==="].iter().find_map(|operator| clause.strip_prefix(operator));
        let version = version.or_else(|| clause.strip_prefix("=="))?;
        let version = version.trim().trim_end_matches(".*");
        is_version(version).then(|| version.split('.').take(2).collect::<Vec<_>>().join("."))
    };
    specifier.split(',').map(str::trim).find_map(clause)
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_table_alone_counts() {
        let text = "[tool.x]\nrequires-python = \">=2\"\n[project]\nname = \"x\"\nrequires-python = '>=3.10' # new\n";
        assert_eq!(parse_requires_python(text).as_deref(), Some(">=3.10"));
        assert_eq!(parse_requires_python("[project]\nrequires-python-x = \"1\"\n"), None);
        assert_eq!(parse_requires_python("[project]\nrequires-python = \n"), None);
    }

    #[test]
    fn the_lowest_version_is_named_by_a_clause() {
        for (specifier, lowest) in [
            (">=3.10", Some("3.10")),
            ("<4, >= 3.9.2", Some("3.9")),
            ("~=3.11", Some("3.11")),
            ("==3.10.*", Some("3.10")),
            ("<4", None),
            (">=x", None),
        ] {
            assert_eq!(lowest_python(specifier).as_deref(), lowest, "{specifier}");
        }
        assert_eq!(parse_python_version_file("# ours\n3.10.13\n").as_deref(), Some("3.10.13"));
        assert_eq!(parse_python_version_file("pypy3.10\n"), None);
    }
}
