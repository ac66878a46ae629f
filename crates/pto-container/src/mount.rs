//! Mounts, in the form of the client's option `--mount`.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// What is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MountKind {
    /// A path of the host.
    Bind,
    /// A volume. Docker fills a new one with what the image has at its place.
    Volume,
}

/// A mount. Its option is `--mount`, not `--volume`, because that refuses a path that does not exist instead of creating it, and
/// takes paths with a colon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// What it is.
    pub kind: MountKind,
    /// Path on the host, or the volume's name.
    pub source: String,
    /// Path inside.
    pub target: PathBuf,
    /// Whether nothing may be written.
    pub readonly: bool,
}

impl Mount {
    /// A path of the host.
    pub(crate) fn bind(source: &Path, target: impl Into<PathBuf>) -> Self {
        let source = source.display().to_string();
        Self { kind: MountKind::Bind, source, target: target.into(), readonly: false }
    }

    /// A volume.
    pub(crate) fn volume(name: impl Into<String>, target: impl Into<PathBuf>) -> Self {
        Self { kind: MountKind::Volume, source: name.into(), target: target.into(), readonly: false }
    }

    /// The same, read-only.
    #[must_use]
    pub(crate) fn readonly(self) -> Self {
        Self { readonly: true, ..self }
    }

    /// The value of `--mount`: one line of CSV.
    pub(crate) fn option(&self) -> String {
        let kind = if self.kind == MountKind::Bind { "bind" } else { "volume" };
        let mut fields = vec![
            format!("type={kind}"),
            field(&format!("source={}", self.source)),
            field(&format!("target={}", self.target.display())),
        ];
        fields.extend(self.readonly.then(|| "readonly".to_owned()));
        fields.join(",")
    }

    /// For people, and for the record of a container.
    pub fn text(&self) -> String {
        let mode = if self.readonly { " (read-only)" } else { "" };
        let target = self.target.display().to_string();
        if self.source == target { format!("{target}{mode}") } else { format!("{} at {target}{mode}", self.source) }
    }
}

/// A field of CSV, quoted where it has to be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The fields of a line of CSV.
    fn fields(line: &str) -> Vec<String> {
        let (mut fields, mut quoted) = (vec![String::new()], false);
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            let field = fields.last_mut().unwrap();
            match letter {
                '"' if quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                other => field.push(other),
            }
        }
        fields
    }

    proptest! {
        #[test]
        fn a_path_is_one_field_whatever_is_in_it(source in "/[a-z,\"' :=\r\n]{0,12}", target in "/[a-z,\"]{0,8}") {
            let option = Mount::bind(Path::new(&source), &target).readonly().option();
            let expected = ["type=bind".to_owned(), format!("source={source}"), format!("target={target}"), "readonly".to_owned()];
            prop_assert_eq!(fields(&option), expected);
        }
    }

    #[test]
    fn odd_paths_are_one_field() {
        let mount = Mount::bind(Path::new("/a,b \"c\":d"), "/x").readonly();
        assert_eq!(mount.option(), r#"type=bind,"source=/a,b ""c"":d",target=/x,readonly"#);
        assert_eq!(Mount::volume("v", "/x").option(), "type=volume,source=v,target=/x");
        assert_eq!(mount.text(), "/a,b \"c\":d at /x (read-only)");
    }
}
