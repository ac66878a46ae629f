//! The interpreters of this machine, and the one that a wheel asks for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::Context;
use pto_context::places::pypto_home;
use pto_process::{Error as ProcessError, Invocation};
use serde::Deserialize;

use crate::error::Error;
use crate::isolated::isolated;
use crate::wheel_name::WheelName;

/// How long an interpreter may take to say what it is. They start in a tenth of a second; a home on a network does not.
const ANSWER: Duration = Duration::from_secs(20);

/// Asks for what decides whether a wheel fits.
const QUESTION: &str = r#"
import json, sys, sysconfig
print("ptokit:" + json.dumps({
    "version": sys.version_info[:2],
    "text": "%d.%d.%d" % sys.version_info[:3],
    "implementation": sys.implementation.name,
    "platform": sysconfig.get_platform(),
    "soabi": sysconfig.get_config_var("SOABI") or "",
}))
"#;

/// An interpreter that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// Its file.
    pub path: PathBuf,
    /// What it said.
    pub facts: PythonFacts,
}

/// What an interpreter says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PythonFacts {
    /// `(3, 10)`.
    pub version: (u32, u32),
    /// `3.10.12`.
    pub text: String,
    /// `cpython`.
    pub implementation: String,
    /// `linux-x86_64`.
    pub platform: String,
    /// `cpython-310-x86_64-linux-gnu`; empty when it does not tell.
    pub soabi: String,
}

impl PythonFacts {
    /// The machine it was built for, as platform tags have it: `x86_64`, `aarch64`, `armv7l`.
    pub fn machine(&self) -> &str {
        self.platform.rsplit_once('-').map_or(&self.platform, |(_, machine)| machine)
    }

    /// Whether it is linked with musl.
    pub fn is_musl(&self) -> bool {
        self.soabi.contains("musl")
    }
}

/// An interpreter that is not the right one, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// Its file.
    pub path: PathBuf,
    /// For example `CPython 3.11.7`, or how it failed.
    pub why: String,
}

/// The interpreter to use: the one that was named, whatever it is, else the first that the wheel takes.
///
/// # Errors
/// [`Error::NoPython`], with every interpreter that was asked.
pub(crate) fn choose(cx: &Context, wheel: &WheelName, named: Option<&Path>) -> Result<Interpreter, Error> {
    let mut unfit: Vec<Unfit> = Vec::new();
    let candidates = match named {
        Some(path) => vec![if path.components().count() > 1 { cx.cwd().join(path) } else { path.to_path_buf() }],
        None => candidates(cx, wheel),
    };
    for path in candidates {
        match ask(cx, &path)? {
            Ok(found) if fits(wheel, &found.facts) => return Ok(found),
            Ok(found) => unfit.push(Unfit { why: describe(&found.facts), path }),
            Err(why) => unfit.push(Unfit { path, why }),
        }
    }
    Err(Error::NoPython { wheel: wheel.to_string(), wanted: wheel.wanted_python(), exact: wheel.exact_python(), unfit })
}

fn fits(wheel: &WheelName, facts: &PythonFacts) -> bool {
    facts.implementation == "cpython" && wheel.takes_python(facts.version)
}

fn describe(facts: &PythonFacts) -> String {
    let name = if facts.implementation == "cpython" { "CPython" } else { &facts.implementation };
    format!("{name} {}", facts.text)
}

/// Asks one interpreter. `Ok(Err(why))` if it does not answer.
pub(crate) fn ask(cx: &Context, path: &Path) -> Result<Result<Interpreter, String>, Error> {
    // -I: nothing of the caller's; -S: no site packages, which take longer than everything else.
    let question = isolated(cx, Invocation::new(path).args(["-I", "-S", "-c", QUESTION])).deadline(ANSWER);
    let output = match question.run(cx) {
        Ok(output) => output,
        Err(error) if error.is_interrupted() => return Err(Error::interrupted()),
        Err(ProcessError::NotFound { .. }) => return Ok(Err("not there".to_owned())),
        Err(error) => return Ok(Err(error.to_string())),
    };
    if output.status == pto_process::Status::Interrupted {
        return Err(Error::interrupted());
    }
    let text = output.stdout.text();
    let answer = text.lines().find_map(|line| serde_json::from_str(line.strip_prefix("ptokit:")?).ok());
    Ok(answer.map(|facts| Interpreter { path: path.to_path_buf(), facts }).ok_or_else(|| {
        let words = output.last_words(1);
        if words.is_empty() { output.status.to_string() } else { format!("{} (`{words}`)", output.status) }
    }))
}

/// Where an interpreter may be: what the machine has, and the one of PyPTO's own environment.
fn candidates(cx: &Context, wheel: &WheelName) -> Vec<PathBuf> {
    let exact = wheel.exact_python();
    let mut found = pto_fetch::interpreters(cx, exact);
    if exact.is_some() {
        found.extend(Some(pypto_home(cx).join("venv/bin/python")).filter(|path| path.is_file()));
    }
    found
}
