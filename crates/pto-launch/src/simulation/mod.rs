//! A launch on CANN's cycle-accurate model: what starts the worker, with which words and variables, and what it leaves.

mod end;
mod output;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_platform::Target;
use pto_process::{Invocation, Output};

use crate::error::LaunchError;
use crate::exchange::Exchange;
use crate::path::LaunchPath;
use crate::phase::Phase;
use crate::verdict::Verdict;

/// Tells programs that they run on the model, so that they do everything once.
pub const SIMULATOR_VARIABLE: &str = "PTO_SIMULATOR";

/// What `cannsim record -s` calls the generation that it models.
const CANNSIM_SOC: &str = "Ascend950";
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

    /// Weighs how the simulator ended against the worker's verdict, and collects what it left.
    pub(crate) fn after(&self, exchange: &Exchange, ended: &Output, verdict: Verdict) -> (Verdict, Simulated) {
        let phase = exchange.phase().map_or(Phase::Open, |(_, phase)| phase);
        let (verdict, warning) = self.weigh(ended, phase, verdict);
        let simulated = Simulated {
            command: ended.line.clone(),
            status: ended.status.to_string(),
            output: self.output.clone(),
            traces: output::traces(&self.output),
            hint: [&ended.stdout, &ended.stderr].iter().find_map(|stream| output::explained(&stream.text())),
            warning,
        };
        (verdict, simulated)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn simulation(by: Simulator, target: Target) -> Simulation {
        Simulation { by, target, library_path: "/cann/sim/lib:/mine".into(), output: "/out dir".into() }
    }

    pub(super) fn msprof() -> Simulator {
        Simulator::Msprof {
            program: "/cann/bin/msprof".into(),
            soc: "Ascend910B2".to_owned(),
            timeout: Duration::from_secs(120),
        }
    }

    pub(super) fn cannsim() -> Simulator {
        Simulator::Cannsim { program: "/cann/bin/cannsim".into() }
    }

    pub(super) fn linked() -> Simulator {
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
}
