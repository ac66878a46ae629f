//! What CANN's `set_env.sh` does, as a difference. It is never sourced into the user's shell: under `set -u` or `pipefail` it
//! ends that shell without a word, under `dash` it sets wrong values, and it leaves empty entries in lists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::{Context, Event};
use pto_process::{Invocation, Output, Status};

use super::{LISTS, entries};
use crate::error::Error;

/// The script reads some small files; one that waits for anything has gone astray.
const DEADLINE: Duration = Duration::from_secs(60);

/// The `PATH` of the clean shell; its entries are no contribution of the script.
const CLEAN_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Stands before the environment, behind whatever the script prints.
const MARK: &str = "\0ptokit-environment\0";

/// Sources the script as its makers do: in bash, without the options of a strict shell.
const SCRIPT: &str = r#"set +eu +o pipefail; . "$1"; printf '\0ptokit-environment\0'; exec env -0"#;

/// Variables of the shell itself.
const SHELLS_OWN: [&str; 4] = ["_", "SHLVL", "PWD", "OLDPWD"];

/// The variables that the script sets, in lists only what it adds.
pub(super) fn read(cx: &Context, cann: &Path) -> Result<BTreeMap<String, String>, Error> {
    let script = script(cx, cann);
    if !script.is_file() {
        return Err(Error::SetEnv { script, why: "is not there".to_owned() });
    }
    let mut shell = Invocation::new("bash")
        .args(["--noprofile", "--norc", "-c", SCRIPT, "bash"])
        .arg(&script)
        .env_clear()
        .env("PATH", CLEAN_PATH)
        .deadline(DEADLINE);
    for name in ["HOME", "USER", "LANG"] {
        if let Some(value) = cx.var_os(name) {
            shell = shell.env(name, value);
        }
    }
    let output = match shell.run(cx) {
        Ok(output) if output.status == Status::Interrupted => return Err(Error::interrupted()),
        Ok(output) => output,
        Err(error) if error.is_interrupted() => return Err(Error::interrupted()),
        Err(error) => return Err(Error::SetEnv { script, why: format!("cannot be run: {error}") }),
    };
    let text = output.stdout.text();
    let Some((_, environment)) = text.split_once(MARK) else {
        return Err(Error::SetEnv { script, why: ended(&output) });
    };
    let variables = environment.split('\0').filter_map(|pair| pair.split_once('='));
    let mut effect = BTreeMap::new();
    for (name, value) in variables {
        let inherited = cx.var(name).as_deref() == Some(value) && ["HOME", "USER", "LANG"].contains(&name);
        if inherited || SHELLS_OWN.contains(&name) || name.starts_with("BASH") {
            continue;
        }
        if let Some(value) = contribution(cx, &script, name, value)? {
            effect.insert(name.to_owned(), value);
        }
    }
    Ok(effect)
}

/// `set_env.sh` of an installation; the file itself may be named too.
fn script(cx: &Context, cann: &Path) -> PathBuf {
    let named = if cann.is_absolute() { cx.under_root(cann) } else { cx.cwd().join(cann) };
    if named.is_file() { named } else { named.join("set_env.sh") }
}

fn ended(output: &Output) -> String {
    let words = output.last_words(2);
    let status = match output.status {
        Status::Exited(code) => format!("ended its shell with code {code}"),
        other => other.to_string(),
    };
    if words.is_empty() { format!("{status} and said nothing") } else { format!("{status}: {words}") }
}

/// What a variable adds; `None` if nothing.
fn contribution(cx: &Context, script: &Path, name: &str, value: &str) -> Result<Option<String>, Error> {
    if !LISTS.contains(&name) {
        if name.ends_with("_PATH") && (value == "." || value.starts_with("./")) {
            let why = format!("went astray: `{name}` is `{value}`, the working directory");
            return Err(Error::SetEnv { script: script.to_path_buf(), why });
        }
        return Ok(Some(value.to_owned()).filter(|value| !value.is_empty()));
    }
    let clean = entries(CLEAN_PATH);
    let (stubs, kept): (Vec<_>, Vec<_>) = entries(value)
        .into_iter()
        .filter(|entry| entry != "." && !(name == "PATH" && clean.contains(entry)))
        .partition(|entry| name == "LD_LIBRARY_PATH" && Path::new(entry).ends_with("devlib"));
    for stub in stubs {
        let message = format!(
            "`set_env.sh` puts `{stub}`, libraries that only stand for those of a driver, into `{name}`; they are left out"
        );
        cx.emit(Event::Warning { message });
    }
    Ok(Some(kept.join(":")).filter(|value| !value.is_empty()))
}
