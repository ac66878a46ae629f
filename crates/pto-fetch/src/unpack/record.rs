//! `RECORD`, the list of a wheel's files with their sums.

/// One line of a `RECORD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLine {
    /// The file, relative to the directory that holds the `*.dist-info`.
    pub path: String,
    /// Its sha256 as it is written there: URL-safe base64 without padding. Absent for the `RECORD` itself.
    pub sha256: Option<String>,
    /// Its size in bytes, if that is stated.
    pub size: Option<u64>,
}

/// Reads a `RECORD`: comma-separated values, a path in quotes if it has a comma or a quote in it.
pub fn record(text: &str) -> impl Iterator<Item = RecordLine> {
    text.lines().filter(|line| !line.trim().is_empty()).map(line)
}

fn line(text: &str) -> RecordLine {
    let (path, rest) = path(text);
    let (hash, size) = rest.split_once(',').unwrap_or((rest, ""));
    RecordLine {
        path,
        sha256: hash.trim().strip_prefix("sha256=").map(|hash| hash.trim_end_matches('=').to_owned()),
        size: size.trim().parse().ok(),
    }
}

fn path(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (path, rest) = text.split_once(',').unwrap_or((text, ""));
        return (path.to_owned(), rest);
    };
    let (mut path, mut rest) = (String::new(), quoted);
    // Two quotes stand for one; one ends the path.
    while let Some((part, after)) = rest.split_once('"') {
        path.push_str(part);
        match after.strip_prefix('"') {
            Some(more) => {
                path.push('"');
                rest = more;
            }
            None => return (path, after.strip_prefix(',').unwrap_or(after)),
        }
    }
    (path + rest, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_read_as_comma_separated_values() {
        let text =
            "a/b.py,sha256=AbC-_=,12\r\n\"x,\"\"y\"\".py\",sha256=q,3\na-1.dist-info/RECORD,,\n\nold.py,md5=1,\n";
        let lines: Vec<_> = record(text).map(|line| (line.path, line.sha256, line.size)).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            lines,
            [
                ("a/b.py".into(), some("AbC-_"), Some(12)),
                ("x,\"y\".py".into(), some("q"), Some(3)),
                ("a-1.dist-info/RECORD".into(), None, None),
                ("old.py".into(), None, None),
            ]
        );
    }

    proptest! {
        #[test]
        fn every_path_survives(path in "[a-z,\" /.]{1,20}") {
            let quoted = format!("\"{}\",sha256=x,1", path.replace('"', "\"\""));
            prop_assert_eq!(&line(&quoted).path, &path);
            prop_assert_eq!(line(&quoted).size, Some(1));
        }

        #[test]
        fn never_panics(text in "\\PC{0,60}") {
            let _ = record(&text).count();
        }
    }
}
