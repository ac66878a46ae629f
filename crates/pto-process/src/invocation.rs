//! A command as a value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::Context;

use crate::error::Error;
use crate::mask::Mask;
use crate::output::{Output, Stream};
use crate::running::Running;

/// How long a child that got TERM may take to tidy up before it gets KILL: a compiler needs some tenths of a second to
/// remove its temporary files, a person at the keyboard accepts a few seconds.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(3);

/// How many bytes of each stream are kept, half of them head and half tail. Far above the longest compiler output that
/// anyone reads, far below what hurts when several children run at once.
pub const DEFAULT_CAPTURE_LIMIT: usize = 8 << 20;

/// What the child reads from its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stdin {
    /// Nothing: a child that asks a question gets end of file, not a hang.
    #[default]
    Null,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
}

/// A program with its arguments, environment changes and limits. Equal invocations run the same way.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Invocation {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: BTreeMap<OsString, Option<OsString>>,
    pub(crate) env_clear: bool,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) stdin: Stdin,
    pub(crate) deadline: Option<Duration>,
    pub(crate) deadline_variable: Option<&'static str>,
    pub(crate) grace: Duration,
    pub(crate) capture_limit: usize,
    pub(crate) mask: Mask,
}

impl Invocation {
    /// A program: a name to look for on the child's `PATH`, or a path (relative to the [`Context`]'s directory).
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            env_clear: false,
            cwd: None,
            stdin: Stdin::Null,
            deadline: None,
            deadline_variable: None,
            grace: DEFAULT_GRACE,
            capture_limit: DEFAULT_CAPTURE_LIMIT,
            mask: Mask::default(),
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable for the child.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), Some(value.into()));
        self
    }

    /// Takes a variable away from the child.
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), None);
        self
    }

    /// Gives the child none of the [`Context`]'s variables, only those set with [`env`](Self::env), in any order.
    pub fn env_clear(mut self) -> Self {
        self.env_clear = true;
        self
    }

    /// The child's working directory; the default is the [`Context`]'s, which a relative path refers to as well.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// What the child reads.
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// How long it may run. `None`, the default, is for ever.
    pub fn deadline(mut self, deadline: impl Into<Option<Duration>>) -> Self {
        self.deadline = deadline.into();
        self.deadline_variable = None;
        self
    }

    /// The same where the user can change it: `variable` is told to whoever waits in vain.
    pub fn deadline_from(self, variable: &'static str, deadline: Duration) -> Self {
        Self { deadline_variable: Some(variable), ..self.deadline(deadline) }
    }

    /// How long after TERM it gets KILL.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How many bytes of each stream to keep.
    pub fn capture_limit(mut self, bytes: usize) -> Self {
        self.capture_limit = bytes;
        self
    }

    /// Declares a text that must not be shown to people, wherever it appears: arguments, environment, output.
    pub fn secret(mut self, secret: impl Into<String>) -> Self {
        self.mask.add(secret.into());
        self
    }

    /// Program and arguments, as the child will get them: secrets are in it.
    pub fn argv(&self) -> Vec<&OsStr> {
        std::iter::once(&self.program).chain(&self.args).map(OsString::as_os_str).collect()
    }

    /// The command as one line that can be pasted into a POSIX shell: working directory, environment changes, program
    /// and arguments; secrets masked. For people, so bytes that are no UTF-8 are shown as replacement characters.
    pub fn to_shell_line(&self) -> String {
        let mut words = Vec::new();
        if let Some(cwd) = &self.cwd {
            words.extend(["cd".to_owned(), self.quoted(cwd.as_os_str()), "&&".to_owned()]);
        }
        let removed: Vec<_> = self.env.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        if self.env_clear {
            words.extend(["env".to_owned(), "-i".to_owned()]);
        } else if !removed.is_empty() {
            words.push("env".to_owned());
            words.extend(removed.into_iter().flat_map(|name| ["-u".to_owned(), self.quoted(name)]));
        }
        for (name, value) in &self.env {
            if let Some(value) = value {
                words.push(format!("{}={}", name.to_string_lossy(), self.quoted(value)));
            }
        }
        words.extend(self.argv().into_iter().map(|arg| self.quoted(arg)));
        words.join(" ")
    }

    /// Runs it to its end and keeps what it wrote.
    ///
    /// # Errors
    /// It cannot be found, started or awaited. A child that ran and failed is no error here: see
    /// [`Output::require_success`].
    pub fn run(&self, cx: &Context) -> Result<Output, Error> {
        self.start(cx)?.wait()
    }

    /// Runs it to its end, hands on each line as it comes (without line end, masked) and keeps what it wrote as well.
    /// The closure runs on the caller's thread; while it works, a child that writes on is held up by its full pipe.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_streaming(&self, cx: &Context, on_line: impl FnMut(Stream, &str)) -> Result<Output, Error> {
        self.start(cx)?.wait_streaming(on_line)
    }

    /// Starts it and returns at once. Drop the handle to kill it.
    ///
    /// # Errors
    /// It cannot be found or started, or an interrupt has been asked for.
    pub fn start(&self, cx: &Context) -> Result<Running, Error> {
        Running::start(self, cx)
    }

    /// The environment the child will see.
    pub(crate) fn environment(&self, cx: &Context) -> BTreeMap<OsString, OsString> {
        let mut all: BTreeMap<OsString, OsString> = BTreeMap::new();
        if !self.env_clear {
            all.extend(cx.vars().map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        for (name, change) in &self.env {
            match change {
                Some(value) => all.insert(name.clone(), value.clone()),
                None => all.remove(name),
            };
        }
        all
    }

    /// The directory it will run in.
    pub(crate) fn directory(&self, cx: &Context) -> PathBuf {
        cx.cwd().join(self.cwd.as_deref().unwrap_or(Path::new("")))
    }

    pub(crate) fn program_name(&self) -> String {
        self.mask.apply(&self.program.to_string_lossy())
    }

    fn quoted(&self, word: &OsStr) -> String {
        shell_word(&self.mask.apply(&word.to_string_lossy()))
    }
}

/// A word as a POSIX shell takes it, quoted where it has to be.
pub fn shell_word(word: &str) -> String {
    // Quoting fails on a NUL byte alone, which no argument or path can hold: whoever uses it reports that.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Cow::into_owned)
}

impl std::fmt::Debug for Invocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invocation")
            .field("line", &self.to_shell_line())
            .field("deadline", &self.deadline)
            .field("deadline_variable", &self.deadline_variable)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_can_be_pasted() {
        let plain = Invocation::new("clang++").args(["-DNAME=\"a b\"", "it's.cpp", ""]);
        assert_eq!(plain.to_shell_line(), r#"clang++ '-DNAME="a b"' "it's.cpp" ''"#);
        let full = Invocation::new("make").cwd("/my dir").env("B", "2 3").env_remove("A").env("C", "");
        assert_eq!(full.to_shell_line(), "cd '/my dir' && env -u A B='2 3' C='' make");
        assert_eq!(Invocation::new("a").env_clear().env("B", "1").to_shell_line(), "env -i B=1 a");
    }

    #[test]
    fn the_line_and_debug_hide_secrets_but_argv_does_not() {
        let login = Invocation::new("login")
            .args(["--password=hunter2", "http://me:pw@host/x"])
            .env("TOKEN", "t0ken")
            .secret("hunter2")
            .secret("t0ken");
        assert_eq!(login.to_shell_line(), "TOKEN='***' login '--password=***' 'http://***@host/x'");
        assert!(!format!("{login:?}").contains("hunter2"));
        assert_eq!(login.argv()[1], "--password=hunter2");
    }

    #[test]
    fn the_environment_is_the_contexts_with_changes() {
        let cx = Context::fake("/", [("A", "1"), ("B", "2")]);
        let show = |invocation: Invocation| {
            let pairs = invocation.environment(&cx).into_iter();
            pairs.map(|(k, v)| format!("{}={}", k.display(), v.display())).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(show(Invocation::new("x").env("C", "3").env_remove("A")), "B=2 C=3");
        assert_eq!(show(Invocation::new("x").env("C", "3").env_clear()), "C=3");
    }
}
