//! What the user can say about every compile.

use std::path::PathBuf;

use pto_platform::Target;
use serde::{Deserialize, Serialize};

use super::{BishengError, words};

/// What the user can say about every compile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// `-D`, by name and value; no value defines the macro as 1. The memory macro of the target (`MEMORY_BASE`,
    /// `REGISTER_BASE`) is passed anyway and exactly once, whether it stands here or not.
    pub defines: Vec<(String, Option<String>)>,
    /// `-I`, before all others.
    pub include_dirs: Vec<PathBuf>,
    /// `-O`.
    pub opt_level: OptLevel,
    /// Debug information for source lines: `-g`.
    pub debug_info: bool,
    /// Further flags where kernel sources are compiled, after our own.
    pub device_flags: Vec<String>,
    /// Further flags where a launcher or a host program is compiled, after our own.
    pub host_flags: Vec<String>,
    /// Further flags where a library or program is linked, at the end.
    pub link_flags: Vec<String>,
}

/// How hard the compiler optimizes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptLevel {
    /// `-O0`.
    #[serde(rename = "0")]
    O0,
    /// `-O1`.
    #[serde(rename = "1")]
    O1,
    /// `-O2`, which the reference builds of PTO kernels use.
    #[default]
    #[serde(rename = "2")]
    O2,
    /// `-O3`.
    #[serde(rename = "3")]
    O3,
}

impl OptLevel {
    /// Every level.
    pub const ALL: [Self; 4] = [Self::O0, Self::O1, Self::O2, Self::O3];

    /// The compiler's flag.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::O0 => "-O0",
            Self::O1 => "-O1",
            Self::O2 => "-O2",
            Self::O3 => "-O3",
        }
    }
}

/// Options checked for one target and turned into words.
#[derive(Debug)]
pub(super) struct CheckedOptions {
    pub(super) defines: Vec<String>,
    pub(super) include_dirs: Vec<String>,
    pub(super) optimization: Vec<String>,
    pub(super) device_flags: Vec<String>,
    pub(super) host_flags: Vec<String>,
    link_flags: Vec<String>,
}

impl CheckedOptions {
    /// The user's flags for a link of objects.
    pub(super) fn link_words(&self) -> impl Iterator<Item = String> {
        self.link_flags.iter().cloned()
    }

    /// The user's flags for a link on the command line of a compile: there `-xcce` or `-xc++` holds for every file that
    /// follows, so an archive or object among the flags would be read as source.
    pub(super) fn link_words_after_sources(&self) -> impl Iterator<Item = String> {
        let names_files = self.link_flags.iter().any(|flag| !flag.starts_with('-'));
        names_files.then(|| "-xnone".to_owned()).into_iter().chain(self.link_words())
    }
}

impl CompileOptions {
    pub(super) fn checked(&self, target: Target) -> Result<CheckedOptions, BishengError> {
        // Every field by name: a new option that no command line carries does not compile.
        let Self { defines, include_dirs, opt_level, debug_info, device_flags, host_flags, link_flags } = self;
        let debug = debug_info.then_some("-g");
        Ok(CheckedOptions {
            defines: define_words(defines, target)?,
            include_dirs: include_dirs
                .iter()
                .map(|dir| Ok(format!("-I{}", words::path(dir)?)))
                .collect::<Result<_, _>>()?,
            optimization: [opt_level.flag()].into_iter().chain(debug).map(str::to_owned).collect(),
            device_flags: flag_words(device_flags, target)?,
            host_flags: flag_words(host_flags, target)?,
            link_flags: flag_words(link_flags, target)?,
        })
    }
}

/// `-DNAME=VALUE` words without the memory macro.
fn define_words(defines: &[(String, Option<String>)], target: Target) -> Result<Vec<String>, BishengError> {
    let mut words = Vec::new();
    for (name, value) in defines {
        if !is_macro_name(name) {
            return Err(BishengError::BadDefine { name: name.clone() });
        }
        if is_memory_macro(name, target)? {
            continue;
        }
        let value = value.as_ref().map_or_else(String::new, |value| format!("={value}"));
        words.push(words::flag(&format!("-D{name}{value}"))?);
    }
    Ok(words)
}

/// The user's flags without definitions of the memory macro, in any of the spellings `-DX`, `-DX=1` and `-D X`.
fn flag_words(flags: &[String], target: Target) -> Result<Vec<String>, BishengError> {
    let mut words = Vec::new();
    let mut flags = flags.iter().peekable();
    while let Some(flag) = flags.next() {
        let apart = if flag == "-D" { flags.next_if(|next| !next.starts_with('-')) } else { None };
        let defined = apart.map(String::as_str).or_else(|| flag.strip_prefix("-D")).unwrap_or_default();
        let name = defined.split(['=', '(']).next().unwrap_or_default();
        if is_memory_macro(name, target)? {
            continue;
        }
        words.push(words::flag(flag)?);
        if let Some(apart) = apart {
            words.push(words::flag(apart)?);
        }
    }
    Ok(words)
}

/// Whether this is the macro that the plan passes itself. The other generation's macro is an error: headers choose their
/// code by it, and a build with both would mix two generations.
fn is_memory_macro(name: &str, target: Target) -> Result<bool, BishengError> {
    let other = Target::ALL.into_iter().filter(|other| *other != target).filter_map(Target::memory_macro);
    match (target.memory_macro(), other.into_iter().find(|other| *other == name)) {
        (Some(expected), Some(found)) => Err(BishengError::WrongMemoryMacro { found, expected, target }),
        (own, _) => Ok(own == Some(name)),
    }
}

/// An identifier, or a function-like macro such as `F(x)`.
fn is_macro_name(name: &str) -> bool {
    let identifier = name.split('(').next().unwrap_or_default();
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    identifier.chars().all(is_word)
        && identifier.starts_with(|c: char| !c.is_ascii_digit())
        && (identifier.len() == name.len() || name.ends_with(')'))
        && !name.contains(['\n', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn the_memory_macro_is_taken_out_in_every_spelling() {
        let flags = strings(&[
            "-DMEMORY_BASE",
            "-Wall",
            "-DMEMORY_BASE=1",
            "-D",
            "MEMORY_BASE",
            "-D",
            "X=2",
            "-DMEMORY_BASES",
            "-D",
        ]);
        let kept = flag_words(&flags, Target::A2a3).unwrap();
        assert_eq!(kept, ["-Wall", "-D", "X=2", "-DMEMORY_BASES", "-D"]);
        let defines = [("MEMORY_BASE".to_owned(), Some("1".to_owned())), ("TILE".to_owned(), Some("a b".to_owned()))];
        assert_eq!(define_words(&defines, Target::A2a3).unwrap(), ["-DTILE=a b"]);
    }

    #[test]
    fn the_other_generations_macro_is_refused() {
        for target in [Target::A2a3, Target::A5] {
            let other = if target == Target::A5 { "MEMORY_BASE" } else { "REGISTER_BASE" };
            let error = flag_words(&strings(&["-D", &format!("{other}=1")]), target).unwrap_err();
            assert!(matches!(error, BishengError::WrongMemoryMacro { found, .. } if found == other), "{error}");
            assert!(define_words(&[(other.to_owned(), None)], target).is_err());
        }
    }

    #[test]
    fn macro_names() {
        for good in ["TILE", "_x1", "F(x)", "größe"] {
            assert!(is_macro_name(good), "{good}");
        }
        for bad in ["", "1X", "A=1", "A B", "-A", "F(x", "(x)", "F(x)\n"] {
            assert!(!is_macro_name(bad), "{bad}");
        }
    }
}
