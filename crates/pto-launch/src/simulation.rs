//! A launch on CANN's cycle-accurate model: what starts the worker, with which words and variables, and what it leaves.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_platform::Target;
use pto_process::{Invocation, Output, Status};

use crate::error::LaunchError;
use crate::exchange::Exchange;
use crate::path::LaunchPath;
use crate::phase::Phase;
use crate::said::{self, signal_name};
use crate::verdict::Verdict;

/// Tells programs that they run on the model, so that they do everything once.
pub const SIMULATOR_VARIABLE: &str = "PTO_SIMULATOR";

/// What `cannsim record -s` calls the generation that it models.
const CANNSIM_SOC: &str = "Ascend950";
/// A shell that ran a program which died by a signal exits with this and the signal's number.
const SHELL_SIGNAL: i32 = 128;

/// How a launch gets onto the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// What starts the worker.
    pub by: Simulator,
    /// What the kernel is built for.
    pub target: Target,
    /// `LD_LIBRARY_PATH`, with the model's directory first and no empty element: to `msprof` one means its working
    /// directory.
    pub library_path: OsString,
    /// Where the simulator leaves what it records; made if it is not there, emptied before.
    pub output: PathBuf,
}

/// What starts the worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Simulator {
    /// `msprof op simulator`.
    Msprof {
        /// The program.
        program: PathBuf,
        /// The SoC that is modelled.
        soc: String,
        /// How long it lets the program run.
        timeout: Duration,
    },
    /// `cannsim record`.
    Cannsim {
        /// The program.
        program: PathBuf,
    },
    /// Nothing: a host program that is linked with the model takes the worker's place.
    Linked {
        /// The program.
        program: PathBuf,
    },
}

/// What came of a simulation beside the launch's own result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulated {
    /// The command, for people.
    pub command: String,
    /// How the simulator ended. Its exit code is no verdict.
    pub status: String,
    /// Where it left what it recorded.
    pub output: PathBuf,
    /// The files that it left there, relative to it.
    pub traces: Vec<PathBuf>,
    /// What is odd about its end, though the launch's own result is complete.
    pub warning: Option<String>,
    /// What the model's own words say of a failure.
    pub hint: Option<String>,
}

impl Simulator {
    /// The path that this is.
    pub const fn path(&self) -> LaunchPath {
        match self {
            Self::Msprof { .. } => LaunchPath::Msprof,
            Self::Cannsim { .. } => LaunchPath::Cannsim,
            Self::Linked { .. } => LaunchPath::Linked,
        }
    }
}

impl Simulation {
    /// The command that runs `worker` with `args` on the model.
    ///
    /// # Errors
    /// `cannsim` takes all arguments as one text, and one of them holds a blank.
    pub fn invocation(&self, worker: &Path, args: &[OsString]) -> Result<Invocation, LaunchError> {
        let invocation = match &self.by {
            Simulator::Msprof { program, soc, timeout } => Invocation::new(program)
                .args(["op", "simulator"])
                .arg(format!("--soc-version={soc}"))
                .arg(format!("--timeout={}", timeout.as_secs().max(1)))
                .arg(joined("--output=", &self.output))
                .arg(worker)
                .args(args),
            Simulator::Cannsim { program } => Invocation::new(program)
                .args(["record", "-s", CANNSIM_SOC, "-o"])
                .arg(&self.output)
                .arg(worker)
                .arg("-u")
                .arg(one_text(args)?),
            Simulator::Linked { program } => Invocation::new(program).args(args),
        };
        Ok(invocation.env("LD_LIBRARY_PATH", &self.library_path).env(SIMULATOR_VARIABLE, "1"))
    }

    /// An empty directory for what the simulator records: of another run nothing is left to be taken for this one's.
    pub(crate) fn make_output(&self) -> std::io::Result<()> {
        if self.output.exists() {
            fs_err::remove_dir_all(&self.output)?;
        }
        fs_err::create_dir_all(&self.output)
    }

    /// What an end says of the worker's own result, when it is `Completed` and there was nothing left to do but to release
    /// everything.
    ///
    /// The exit code of a simulator says nothing: it may be 1 after a flawless run. A crash says that something was not
    /// released in order, and is a failure too, with one exception: on A5 `cannsim record` is known to crash while it cleans
    /// up, after a valid result was written.
    fn after_result(&self, ended: &Output) -> After {
        let (path, phase) = (self.by.path(), Phase::Teardown);
        let last_words = || said::last_words(ended, said::is_telling);
        match end_of(ended.status) {
            End::Code(0) => After::Fine,
            End::Code(_) | End::Crash(_) if self.may_crash_in_teardown() => {
                let known = "it is known to crash while it cleans up, after a result that is complete";
                After::Warned(format!("`{path}` {}; {known}", ended.status))
            }
            End::Code(code) => {
                After::Warned(format!("`{path}` exited with code {code} after a result that is complete"))
            }
            End::Crash(signal) => After::Overruled(Verdict::Crashed { signal, phase, last_words: last_words() }),
            End::Late(limit) => After::Overruled(Verdict::hung(phase, limit, last_words())),
        }
    }

    /// Whether a bad end behind a complete result is a known fault of the simulator, and not the kernel's.
    fn may_crash_in_teardown(&self) -> bool {
        self.target == Target::A5 && matches!(self.by, Simulator::Cannsim { .. })
    }

    /// The verdict when there is no complete result, and the worker had begun: what the simulator's end says of the worker's.
    fn without_result(&self, ended: &Output, phase: Phase) -> Verdict {
        let last_words = said::last_words(ended, said::is_telling);
        match (&self.by, end_of(ended.status)) {
            (Simulator::Msprof { timeout, .. }, End::Code(_)) if ended.duration >= *timeout => {
                Verdict::hung(phase, *timeout, last_words)
            }
            (_, End::Code(code)) => Verdict::Exited { code, phase, last_words },
            (_, End::Crash(signal)) => Verdict::Crashed { signal, phase, last_words },
            (_, End::Late(limit)) => Verdict::hung(phase, limit, last_words),
        }
    }

    /// Weighs how the simulator ended against the worker's verdict, and collects what it left. A result counts as complete
    /// when the worker had written all of it and gone on to release everything.
    pub(crate) fn after(&self, exchange: &Exchange, ended: &Output, verdict: Verdict) -> (Verdict, Simulated) {
        let phase = exchange.phase().map_or(Phase::Open, |(_, phase)| phase);
        let (verdict, warning) = match verdict {
            Verdict::Completed if phase == Phase::Teardown => match self.after_result(ended) {
                After::Fine => (Verdict::Completed, None),
                After::Warned(text) => (Verdict::Completed, Some(text)),
                After::Overruled(verdict) => (verdict, None),
            },
            // The worker died between its first answer and its last, or before it had any.
            Verdict::Completed | Verdict::Exited { .. } | Verdict::Crashed { .. } => {
                (self.without_result(ended, phase), None)
            }
            verdict @ (Verdict::Fault { .. } | Verdict::Hung { .. }) => (verdict, None),
        };
        let simulated = Simulated {
            command: ended.line.clone(),
            status: ended.status.to_string(),
            output: self.output.clone(),
            traces: traces(&self.output),
            hint: [&ended.stdout, &ended.stderr].iter().find_map(|stream| explained(&stream.text())),
            warning,
        };
        (verdict, simulated)
    }
}

/// What an end says of a complete result.
#[derive(Debug)]
enum After {
    Fine,
    /// It stands, and this is to be said of the end.
    Warned(String),
    /// It does not stand.
    Overruled(Verdict),
}

enum End {
    Code(i32),
    Crash(String),
    Late(Duration),
}

/// What a status means. Simulators are scripts, in which a signal is an exit code.
fn end_of(status: Status) -> End {
    match status {
        Status::Exited(code)
            if code > SHELL_SIGNAL && signal_hook::low_level::signal_name(code - SHELL_SIGNAL).is_some() =>
        {
            End::Crash(signal_name(code - SHELL_SIGNAL))
        }
        Status::Exited(code) => End::Code(code),
        Status::Signaled { signal, .. } => End::Crash(signal_name(signal)),
        Status::TimedOut { deadline } => End::Late(deadline),
        // Of one that the user ended there is no verdict, so nobody asks.
        Status::Interrupted => End::Code(0),
    }
}

/// What the model says when a program submits a task that it has no model of.
const UNSUPPORTED_TASK: &str = "unsupported task type: ";

/// What a line of the model tells of a failure, for people.
fn explained(said: &str) -> Option<String> {
    let rest = said.split_once(UNSUPPORTED_TASK)?.1;
    let task = rest.split([',', ' ', '\n']).next().filter(|task| !task.is_empty())?;
    Some(format!(
        "the CA model has no `{task}` tasks, only AIC, AIV, place holders and notifications: move host-side tensor operations \
         and copies within the device to the CPU"
    ))
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// `cannsim` splits what it is given at blanks, and how it would take quotes is not written anywhere.
fn one_text(args: &[OsString]) -> Result<String, LaunchError> {
    let words: Option<Vec<&str>> = args.iter().map(|arg| arg.to_str()).collect();
    match words {
        Some(words)
            if !words.iter().any(|word| word.contains(|c: char| c.is_whitespace() || "\"'\\$`".contains(c))) =>
        {
            Ok(words.join(" "))
        }
        _ => Err(LaunchError::Setup {
            message: "`cannsim` takes the worker's arguments as one text, and one of them holds a blank or a quote"
                .to_owned(),
            hint: Some("set `TMPDIR` to a directory without them, or use `--launch msprof`".to_owned()),
        }),
    }
}

/// More files than these nobody reads in a list.
const MOST_TRACES: usize = 200;

/// The files below a directory, relative to it, in order.
fn traces(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs_err::read_dir(&next).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(entry.path()),
                Ok(_) => found.extend(entry.path().strip_prefix(dir).ok().map(Path::to_owned)),
                Err(_) => {}
            }
        }
    }
    found.sort();
    found.truncate(MOST_TRACES);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulation(by: Simulator, target: Target) -> Simulation {
        Simulation { by, target, library_path: "/cann/sim/lib:/mine".into(), output: "/out dir".into() }
    }

    fn msprof() -> Simulator {
        Simulator::Msprof {
            program: "/cann/bin/msprof".into(),
            soc: "Ascend910B2".to_owned(),
            timeout: Duration::from_secs(120),
        }
    }

    fn cannsim() -> Simulator {
        Simulator::Cannsim { program: "/cann/bin/cannsim".into() }
    }

    fn linked() -> Simulator {
        Simulator::Linked { program: "/out/run_foo".into() }
    }

    fn line(by: Simulator, target: Target, args: &[&str]) -> Result<String, LaunchError> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        Ok(simulation(by, target).invocation(Path::new("/bin/worker"), &args)?.to_shell_line())
    }

    #[test]
    fn each_simulator_has_its_words() {
        let args = ["__worker", "/tmp/x"];
        let env = "LD_LIBRARY_PATH=/cann/sim/lib:/mine PTO_SIMULATOR=1";
        let rows = [
            (
                msprof(),
                "/cann/bin/msprof op simulator '--soc-version=Ascend910B2' '--timeout=120' '--output=/out dir' \
                 /bin/worker __worker /tmp/x",
            ),
            (cannsim(), "/cann/bin/cannsim record -s Ascend950 -o '/out dir' /bin/worker -u '__worker /tmp/x'"),
            (linked(), "/out/run_foo __worker /tmp/x"),
        ];
        for (by, expected) in rows {
            assert_eq!(line(by, Target::A5, &args).unwrap(), format!("{env} {expected}"));
        }
    }

    #[test]
    fn cannsim_cannot_be_given_a_blank() {
        for word in ["/tmp/my dir", "/tmp/it's", "/tmp/$x"] {
            let error = line(cannsim(), Target::A5, &["__worker", word]).unwrap_err();
            assert!(error.hint().unwrap().contains("TMPDIR"), "{error}");
            assert!(line(msprof(), Target::A5, &["__worker", word]).is_ok());
        }
    }

    fn ended(script: &str) -> Output {
        let cx = pto_context::Context::fake("/", [("PATH", "/usr/bin:/bin")]);
        let limit = Duration::from_secs(if script.contains("sleep") { 1 } else { 60 });
        Invocation::new("sh").args(["-c", script]).deadline(limit).run(&cx).unwrap()
    }

    /// In one word, what is said of a complete result after such an end.
    fn after(by: Simulator, target: Target, script: &str) -> &'static str {
        match simulation(by, target).after_result(&ended(script)) {
            After::Fine => "fine",
            After::Warned(_) => "warned",
            After::Overruled(_) => "overruled",
        }
    }

    #[test]
    fn a_crash_behind_the_result_is_excused_for_cannsim_on_a5_alone() {
        for (script, excused, other) in [
            ("exit 0", "fine", "fine"),
            ("exit 1", "warned", "warned"),
            ("kill -SEGV $$", "warned", "overruled"),
            ("exit 139", "warned", "overruled"),
            ("kill -ABRT $$", "warned", "overruled"),
            ("sleep 60", "overruled", "overruled"),
        ] {
            assert_eq!(after(cannsim(), Target::A5, script), excused, "{script}");
            assert_eq!(after(msprof(), Target::A5, script), other, "{script}");
            assert_eq!(after(linked(), Target::A5, script), other, "{script}");
            assert_eq!(after(cannsim(), Target::A2a3, script), other, "{script}");
        }
    }

    #[test]
    fn a_task_that_the_model_does_not_have_is_named() {
        let line = "[DRVSTUB_WARN] driver_queue.c:163 checkSqeSupported:RTSQ_2 sqe_payload[0]: 0xb, unsupported task type: \
                    SDMA, camodel only supports AIC/AIV/PLACE_HOLDER/NOTIFY_REC/NOTIFY_WAIT";
        assert!(explained(line).unwrap().contains("no `SDMA` tasks"));
        assert_eq!(explained("unsupported task type: "), None);
        assert_eq!(explained("all is well"), None);
    }

    /// The worker's first answer may be there and its last one not.
    #[test]
    fn a_result_that_is_not_complete_ends_as_its_simulator_did() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        exchange.enter(0, Phase::Download);
        let judged = |script| simulation(cannsim(), Target::A5).after(&exchange, &ended(script), Verdict::Completed).0;
        let (phase, last_words) = (Phase::Download, String::new);
        assert_eq!(judged("exit 0"), Verdict::Exited { code: 0, phase, last_words: last_words() });
        assert_eq!(judged("exit 3"), Verdict::Exited { code: 3, phase, last_words: last_words() });
        let crashed = Verdict::Crashed { signal: "SIGSEGV".to_owned(), phase, last_words: last_words() };
        assert_eq!(judged("exit 139"), crashed);
        assert_eq!(judged("sleep 60"), Verdict::hung(phase, Duration::from_secs(1), last_words()));
        exchange.enter(0, Phase::Teardown);
        assert_eq!(judged("exit 3"), Verdict::Completed, "it is complete");
    }

    #[test]
    fn traces_are_found_wherever_they_lie() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["b/dump/core0.dump", "a/trace.json"] {
            let file = dir.path().join(file);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, "").unwrap();
        }
        assert_eq!(traces(dir.path()), ["a/trace.json", "b/dump/core0.dump"].map(PathBuf::from));
        assert!(traces(&dir.path().join("none")).is_empty());
    }
}
