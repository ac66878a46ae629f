//! The installation, from the pin to the switch.

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use pto_context::{Context, Event};
use pto_fetch::{FilePin, Http, WheelFacts};
use pto_store::{Staging, Store};
use serde::Serialize;

use crate::environment::{self, Tool};
use crate::error::Error;
use crate::host;
use crate::launcher::{Launcher, Layout};
use crate::pin::{Pin, PinSource};
use crate::prefix::Prefix;
use crate::probe;
use crate::python::{self, Interpreter};
use crate::receipt::{Receipt, Sound, examine};
use crate::wheel_name::WheelName;

/// An environment without any package.
const ENVIRONMENT_BYTES: u64 = 4 << 20;

/// What to install, and how.
#[derive(Debug, Clone, Default)]
pub struct InstallOptions {
    /// Where the pin is.
    pub pin: PinSource,
    /// Where the wheel comes from.
    pub source: Source,
    /// Where to; without it `PTOAS_ROOT`, else `ptoas` in `PYPTO_HOME`.
    pub root: Option<PathBuf>,
    /// The proxy; without it, what the environment says. `NO_PROXY` counts in any case.
    pub proxy: Option<String>,
    /// The interpreter; without it, the first on this machine that the wheel takes.
    pub python: Option<PathBuf>,
    /// Installs again what is there already.
    pub force: bool,
}

/// Where the wheel comes from. Whoever it is, only the pinned file is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `<base>/<tag>/<file>`, the first of the bases that has it: the releases of PTOAS, or mirrors of them.
    Releases(Vec<String>),
    /// A package index, by its URL.
    Index(String),
    /// A file on this machine.
    File(PathBuf),
    /// The wheel's own address.
    Url(String),
}

/// Where the releases of PTOAS are.
pub const RELEASES: &str = "https://github.com/hw-native-sys/PTOAS/releases/download";

/// Names other places, separated by blanks.
const RELEASES_VARIABLE: &str = "PTOKIT_PTOAS_URL";

impl Source {
    /// Where it comes from if nobody names a place: `PTOKIT_PTOAS_URL`, else the releases of PTOAS.
    pub fn of(cx: &Context) -> Self {
        let named = cx.var(RELEASES_VARIABLE).unwrap_or_default();
        let bases: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
        if bases.is_empty() { Self::default() } else { Self::Releases(bases) }
    }
}

impl Default for Source {
    fn default() -> Self {
        Self::Releases(vec![RELEASES.to_owned()])
    }
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The pinned version was there and sound: nothing.
    Nothing,
    /// It has been installed.
    Installed,
}

/// An installation that is in use now.
#[derive(Debug, Clone, Serialize)]
pub struct Installation {
    /// What was done.
    pub action: Action,
    /// The version that the assembler says.
    pub version: String,
    /// The directory that users and scripts know.
    pub root: PathBuf,
    /// The launcher below it.
    pub launcher: PathBuf,
    /// How it is laid out.
    pub layout: Layout,
    /// Where the wheel came from, if that is known; secrets masked.
    pub origin: Option<String>,
    /// What made the environment, if it was made now.
    pub tool: Option<Tool>,
    /// What was wrong with the one before, if something was.
    pub replaced: Option<String>,
    /// Earlier installations that a process still uses; the next run deletes them.
    pub still_used: Vec<PathBuf>,
}

/// Installs the pinned PTOAS, or finds that it is there.
///
/// # Errors
/// See [`Error`]. The previous installation is as it was.
pub fn install(cx: &Context, store: &Store, options: &InstallOptions) -> Result<Installation, Error> {
    let pin = Pin::read(cx, &options.pin)?;
    let prefix = Prefix::of(cx, options.root.as_deref())?;
    prefix.check_ours()?;
    if let Some(there) = already_there(cx, &prefix, &pin, options)? {
        return Ok(there);
    }
    let name = wheel_name(&pin, &options.source)?;
    let python = python::choose(cx, &name, options.python.as_deref())?;
    host::check(cx, &name, &python)?;
    prefix.check_writable()?;
    // What the wheel needs it says only when it is here; the download looks for its own room.
    check_room(prefix.root(), ENVIRONMENT_BYTES)?;
    let wheel = fetch(cx, store, &pin, options)?;
    let facts = pto_fetch::check_wheel(&wheel.path)?;
    check_room(prefix.root(), facts.unpacked_size + ENVIRONMENT_BYTES)?;

    let _lock = prefix.lock(cx)?;
    // Another installer may have done it while we waited.
    if let Some(there) = already_there(cx, &prefix, &pin, options)? {
        return Ok(there);
    }
    let replaced = examine(cx, &prefix, &pin)?.err();
    prefix.sweep();
    let task = "install:ptoas".to_owned();
    let message = format!("Installing PTOAS {} into `{}`", pin.version, prefix.root().display());
    cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
    let staging = prefix.stage(pin.number())?;
    let built = build(cx, &staging, &pin, &python, &wheel, &facts)?;
    prefix.switch_to(cx, staging)?;
    let still_used = prefix.sweep();
    cx.emit(Event::Finished { task, message: format!("PTOAS {} installed", built.receipt.version) });
    Ok(Installation {
        action: Action::Installed,
        version: built.receipt.version,
        launcher: prefix.root().join(built.layout.launcher()),
        layout: built.layout,
        origin: Some(wheel.origin),
        tool: Some(built.tool),
        replaced: replaced.filter(|why| why != "there is none"),
        root: prefix.root().to_path_buf(),
        still_used,
    })
}

/// The answer when there is nothing to do.
fn already_there(
    cx: &Context,
    prefix: &Prefix,
    pin: &Pin,
    options: &InstallOptions,
) -> Result<Option<Installation>, Error> {
    if options.force {
        return Ok(None);
    }
    let answer = |Sound { launcher, version, receipt }| Installation {
        action: Action::Nothing,
        version: version.to_string(),
        root: prefix.root().to_path_buf(),
        launcher: launcher.path,
        layout: launcher.layout,
        origin: receipt.map(|receipt| receipt.origin),
        tool: None,
        replaced: None,
        still_used: Vec::new(),
    };
    Ok(examine(cx, prefix, pin)?.ok().map(answer))
}

/// The name of the wheel that will be installed.
fn wheel_name(pin: &Pin, source: &Source) -> Result<WheelName, Error> {
    let file = file_name(pin, source);
    let refuse = |why: String| Error::NotAWheel { file: file.clone(), why };
    let name = WheelName::parse(&file).map_err(|error| refuse(error.to_string()))?;
    if name.distribution == "ptoas" { Ok(name) } else { Err(refuse(format!("it is `{}`", name.distribution))) }
}

fn file_name(pin: &Pin, source: &Source) -> String {
    match source {
        Source::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        Source::Url(url) => {
            url.split(['?', '#']).next().unwrap_or(url).rsplit('/').next().unwrap_or_default().to_owned()
        }
        Source::Releases(_) | Source::Index(_) => pin.asset(),
    }
}

/// A verified wheel.
struct Wheel {
    path: PathBuf,
    origin: String,
}

fn fetch(cx: &Context, store: &Store, pin: &Pin, options: &InstallOptions) -> Result<Wheel, Error> {
    let wanted = FilePin { file: file_name(pin, &options.source), sha256: pin.sha256.clone() };
    if let Source::File(given) = &options.source {
        let path = wanted.adopt(cx, store, &cx.cwd().join(given))?;
        return Ok(Wheel { path, origin: given.display().to_string() });
    }
    if let Some(path) = wanted.find(cx, store)? {
        return Ok(Wheel { path, origin: "the store".to_owned() });
    }
    let got = Http::new(cx, options.proxy.as_deref()).and_then(|http| {
        let urls = urls(&http, pin, &wanted.file, &options.source)?;
        wanted.download(cx, store, &http, &urls)
    });
    match got {
        Ok(fetched) => Ok(Wheel { origin: fetched.url.unwrap_or_else(|| "the store".to_owned()), path: fetched.path }),
        Err(error) if error.is_missing() => Err(Error::NoAsset {
            asset: wanted.file,
            version: pin.version.to_string(),
            pins: pin.file.clone(),
            sha256: wanted.sha256,
            source: error,
        }),
        Err(error) => Err(error.into()),
    }
}

/// Where to ask for the wheel.
fn urls(http: &Http, pin: &Pin, file: &str, source: &Source) -> Result<Vec<String>, pto_fetch::Error> {
    match source {
        Source::Index(index) => Ok(vec![http.find_in_index(index, "ptoas", file)?]),
        Source::Releases(bases) => {
            Ok(bases.iter().map(|base| format!("{}/{}/{file}", base.trim_end_matches('/'), pin.tag())).collect())
        }
        Source::Url(url) => Ok(vec![url.clone()]),
        Source::File(_) => Ok(Vec::new()),
    }
}

fn check_room(root: &Path, needed: u64) -> Result<(), Error> {
    match host::free_bytes(root) {
        Some(free) if free < needed => Err(Error::NoRoom { path: root.to_path_buf(), needed, free }),
        _ => Ok(()),
    }
}

/// What was built and has been started.
struct Built {
    layout: Layout,
    tool: Tool,
    receipt: Receipt,
}

fn build(
    cx: &Context,
    staging: &Staging,
    pin: &Pin,
    python: &Interpreter,
    wheel: &Wheel,
    facts: &WheelFacts,
) -> Result<Built, Error> {
    let file = || wheel.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    settling_meanwhile(staging, || {
        let tool = environment::build(cx, staging, python, &wheel.path)?;
        let receipt = Receipt {
            version: pin.number().to_owned(),
            wheel: file(),
            sha256: pin.sha256.clone(),
            origin: wheel.origin.clone(),
            python: python.path.clone(),
        };
        receipt.write(staging.dir())?;
        std::thread::scope(|scope| {
            scope.spawn(|| staging.clear_scratch());
            facts.verify(&wheel.path, &environment::site_packages(staging.dir()))
        })?;
        let layout = first_start(cx, staging, pin, &file())?;
        Ok(Built { layout, tool, receipt })
    })
}

/// Does some work and has everything written to the disk meanwhile, at the end all of it. The disk is idle while an archive
/// is unpacked, and what is written then need not be waited for before the switch.
fn settling_meanwhile<T>(staging: &Staging, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    /// How long to leave the disk alone between two times.
    const PAUSE: Duration = Duration::from_millis(250);
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let settling = scope.spawn(move || {
            loop {
                let is_last = is_done.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout);
                let settled = pto_fetch::settle(staging.contents());
                if is_last || settled.is_err() {
                    return settled;
                }
            }
        });
        let result = work();
        drop(done);
        let settled = settling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let result = result?;
        settled?;
        Ok(result)
    })
}

/// Starts the assembler where it will stay; it has to say the pinned version.
fn first_start(cx: &Context, staging: &Staging, pin: &Pin, wheel: &str) -> Result<Layout, Error> {
    let wheel = || wheel.to_owned();
    let launcher = Launcher::find(staging.dir()).ok_or_else(|| Error::NoLauncher { wheel: wheel() })?;
    let version = probe::version(cx, &launcher)?.map_err(|silent| Error::DoesNotStart {
        wheel: wheel(),
        ended: silent.ended,
        last_words: silent.last_words,
        missing: silent.missing,
    })?;
    if version != pin.version {
        let (expected, found) = (pin.version.to_string(), version.to_string());
        return Err(Error::OtherVersion { wheel: wheel(), expected, found });
    }
    Ok(launcher.layout)
}
