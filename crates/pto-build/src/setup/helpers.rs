//! Our own program in a home, under all its names, and what a shell sources.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pto_context::{Context, Event, Readable, write_whole};
use serde::Serialize;

use crate::error::Error;
use crate::home::Home;

/// The name of the program in `bin`. All other names are links to it, so that one rename replaces them all.
pub const PROGRAM: &str = pto_context::PROGRAM;
/// What a shell sources.
pub const ACTIVATE: &str = "pypto-activate.sh";
/// A link to it that has no name of its own yet.
pub(crate) const LINK: &str = "link";
/// How each of our scripts begins.
const FIRST_LINE: &str = "# Sets a shell up for PyPTO: source it. Written by `pypto-setup`, replaced by the next one.";
/// What an interactive shell runs in the end, where an image has it.
pub const WELCOME: &str = "pypto-welcome";
/// Inputs of the toolchain that are kept in the home, so that they can be looked at without the checkout.
const INPUTS: [&str; 2] = ["toolchain/versions.env", "build-constraints.txt"];

/// The program and the names that it has in a home.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Helpers {
    /// The program's file.
    pub program: PathBuf,
    /// Names under which it is a verb: `pypto-doctor`.
    pub names: Vec<String>,
}

/// What is done about the helpers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HelpersStep {
    /// The files that are replaced; none if all are as they should be.
    pub refresh: Vec<PathBuf>,
}

impl Helpers {
    /// Which of them are not as they should be.
    ///
    /// # Errors
    /// The program cannot be read.
    pub(crate) fn plan(&self, home: &Home, src: Option<&Path>) -> Result<HelpersStep, Error> {
        let mut refresh = Vec::new();
        if !self.is_program_there(home)? {
            refresh.push(home.bin().join(PROGRAM));
        }
        let is_link = |name: &String| fs_err::read_link(home.bin().join(name)).is_ok_and(|to| to == Path::new(PROGRAM));
        refresh.extend(self.names.iter().filter(|name| !is_link(name)).map(|name| home.bin().join(name)));
        let texts = self.texts(home, src).into_iter();
        let stale = texts.filter(|(path, text)| fs_err::read(path).ok().as_deref() != Some(text.as_slice()));
        refresh.extend(stale.map(|(path, _)| path));
        Ok(HelpersStep { refresh })
    }

    /// Replaces them, each in one step.
    pub(crate) fn refresh(
        &self,
        cx: &Context,
        home: &Home,
        src: Option<&Path>,
        step: &HelpersStep,
    ) -> Result<(), Error> {
        let bin = home.bin();
        let failed = Error::in_home("cannot refresh the helpers", &bin);
        fs_err::create_dir_all(home.bin()).map_err(&failed)?;
        let texts = self.texts(home, src);
        for path in &step.refresh {
            if path.starts_with(home.bin()) && is_foreign(path) {
                keep(cx, path).map_err(&failed)?;
            }
            if let Some((_, text)) = texts.iter().find(|(place, _)| place == path) {
                fs_err::create_dir_all(path.parent().unwrap_or(home.root())).map_err(&failed)?;
                replace_text(path, text).map_err(&failed)?;
            } else if path.file_name() == Some(PROGRAM.as_ref()) {
                replace_program(&self.program, &home.draft(PROGRAM), path).map_err(&failed)?;
            } else {
                replace_link(&home.draft(LINK), path).map_err(&failed)?;
            }
        }
        Ok(())
    }

    fn is_program_there(&self, home: &Home) -> Result<bool, Error> {
        let there = home.bin().join(PROGRAM);
        let length = |path: &Path| fs_err::metadata(path).map(|meta| meta.len()).ok();
        if there.is_symlink() || length(&there) != length(&self.program) {
            return Ok(false);
        }
        Ok(pto_fetch::sha256(&there)? == pto_fetch::sha256(&self.program)?)
    }

    /// Text files by their place.
    fn texts(&self, home: &Home, src: Option<&Path>) -> Vec<(PathBuf, Vec<u8>)> {
        let script = activation_script(home, src).into_bytes();
        let mut texts = vec![(home.bin().join(ACTIVATE), script)];
        for input in INPUTS {
            let text = src.and_then(|src| fs_err::read(src.join(input)).ok());
            let name = Path::new(input).file_name().unwrap_or_default();
            texts.extend(text.map(|text| (home.root().join("toolchain").join(name), text)));
        }
        texts
    }
}

/// The command that sets a shell up for these paths.
pub(crate) fn activation_command(home: &Home, src: Option<&Path>) -> String {
    let word = |path: &Path| pto_process::shell_word(&path.display().to_string());
    let src = src.map(|src| format!(" PYPTO_SRC={}", word(src))).unwrap_or_default();
    format!("export PYPTO_HOME={}{src} && source {}", word(home.root()), word(&home.bin().join(ACTIVATE)))
}

/// The script: what `env` prints, asked when it is sourced, since it depends on the shell's own variables. Whether that could be
/// applied is how it ends.
fn activation_script(home: &Home, src: Option<&Path>) -> String {
    let word = |path: &Path| pto_process::shell_word(&path.display().to_string());
    let src = src.map(|src| format!("[ -n \"${{PYPTO_SRC:-}}\" ] || export PYPTO_SRC={}\n", word(src)));
    format!(
        "{FIRST_LINE}\n\
         [ -n \"${{PYPTO_HOME:-}}\" ] || export PYPTO_HOME={home}\n\
         {src}\
         _pypto_exports=\"$(\"$PYPTO_HOME/bin/{PROGRAM}\" env --cann auto 2>/dev/null)\" ||\n\
         \x20   _pypto_exports=\"$(\"$PYPTO_HOME/bin/{PROGRAM}\" env)\" || _pypto_exports=false\n\
         case $- in *i*) [ ! -x \"$PYPTO_HOME/bin/{WELCOME}\" ] || \"$PYPTO_HOME/bin/{WELCOME}\" ;; esac\n\
         eval \"$_pypto_exports\" && unset _pypto_exports\n",
        home = word(home.root()),
        src = src.unwrap_or_default(),
    )
}

/// Whether what has the name of a helper was not written by a setup: a directory, a file where we have links, another
/// script. A program under the name of ours is an older one of ours. A link is no work of anybody's.
fn is_foreign(path: &Path) -> bool {
    let Ok(meta) = path.symlink_metadata() else { return false };
    match path.file_name().and_then(|name| name.to_str()) {
        _ if meta.is_symlink() => false,
        _ if !meta.is_file() => true,
        Some(PROGRAM) => false,
        Some(ACTIVATE) => !fs_err::read(path).is_ok_and(|text| text.starts_with(FIRST_LINE.as_bytes())),
        _ => true,
    }
}

/// Gives what is in a helper's place a name that nothing has, and says so.
fn keep(cx: &Context, path: &Path) -> std::io::Result<()> {
    let named = |number: u32| {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        path.with_file_name(format!("{}.previous{number}", path.file_name().unwrap_or_default().to_string_lossy()))
    };
    let Some(kept) = (1..).map(named).find(|kept| kept.symlink_metadata().is_err()) else { return Ok(()) };
    fs_err::rename(path, &kept)?;
    let message = format!("`{}` is not from a setup; it is kept as `{}`", path.display(), kept.display());
    cx.emit(Event::Warning { message });
    Ok(())
}

fn replace_text(path: &Path, text: &[u8]) -> std::io::Result<()> {
    if path.is_symlink() {
        // Not through it: what it leads to is not ours.
        fs_err::remove_file(path)?;
    }
    write_whole(path, Readable::ByUmask, |file| std::io::Write::write_all(file, text))
}

fn replace_program(program: &Path, draft: &Path, path: &Path) -> std::io::Result<()> {
    fs_err::copy(program, draft)?;
    fs_err::set_permissions(draft, Permissions::from_mode(0o755))?;
    fs_err::File::open(draft)?.sync_all()?;
    fs_err::rename(draft, path)
}

fn replace_link(draft: &Path, path: &Path) -> std::io::Result<()> {
    let _ = std::fs::remove_file(draft);
    fs_err::os::unix::fs::symlink(PROGRAM, draft)?;
    fs_err::rename(draft, path)
}
