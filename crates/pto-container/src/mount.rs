//! Mounts, in the form of the client's `--mount`.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// What is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MountKind {
    /// A path of the host.
    Bind,
    /// A volume, which Docker fills with what the image has there when it is new.
    Volume,
}

/// A mount. `--mount` and not `--volume`: a path that is not there is refused, not made, and may hold a colon.
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
    pub fn bind(source: &Path, target: impl Into<PathBuf>) -> Self {
        let source = source.display().to_string();
        Self { kind: MountKind::Bind, source, target: target.into(), readonly: false }
    }

    /// A volume.
    pub fn volume(name: impl Into<String>, target: impl Into<PathBuf>) -> Self {
        Self { kind: MountKind::Volume, source: name.into(), target: target.into(), readonly: false }
    }

    /// The same, not to be written.
    #[must_use]
    pub fn readonly(self) -> Self {
        Self { readonly: true, ..self }
    }

    /// The value of `--mount`: one line of CSV.
    pub fn option(&self) -> String {
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
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_one_field() {
        let mount = Mount::bind(Path::new("/a,b \"c\":d"), "/x").readonly();
        assert_eq!(mount.option(), r#"type=bind,"source=/a,b ""c"":d",target=/x,readonly"#);
        assert_eq!(Mount::volume("v", "/x").option(), "type=volume,source=v,target=/x");
        assert_eq!(mount.text(), "/a,b \"c\":d at /x (read-only)");
    }
}
