//! `pip download`: hands over the wheel itself.

use pto_context::Context;
use pto_process::Invocation;
use pto_store::Error as StoreError;

use super::{Delivery, Try, Workplace, mirrors, run};
use crate::error::Error;
use crate::pin::WheelPin;
use crate::progress::Watch;

pub(super) fn deliver_with_pip(cx: &Context, pin: &WheelPin, place: &Workplace) -> Result<Try, Error> {
    let tried = deliver(cx, pin, place, Invocation::new("pip"), "pip")?;
    Ok(match tried {
        Try::Failed { attempt, .. } => Try::Failed { attempt, last_resort: true },
        other => other,
    })
}

pub(super) fn deliver_with_python(cx: &Context, pin: &WheelPin, place: &Workplace) -> Result<Try, Error> {
    let tried = deliver(cx, pin, place, Invocation::new("python3").args(["-m", "pip"]), "python3 -m pip")?;
    Ok(match tried {
        // Python without pip, as distributions ship it.
        Try::Failed { attempt, .. } if attempt.last_words.contains("No module named pip") => Try::Absent,
        other => other,
    })
}

fn deliver(cx: &Context, pin: &WheelPin, place: &Workplace, pip: Invocation, name: &str) -> Result<Try, Error> {
    let watching = Watch {
        cx: cx.clone(),
        task: pin.task(),
        // pip downloads into its temporary directory and moves the file when it is whole.
        dir: place.tmp.clone(),
        expected: pin.size,
        total: pin.size,
    }
    .start();
    if let Err(tried) = run(cx, command(cx, pin, place, pip), place.downloads())? {
        return Ok(tried);
    }
    drop(watching);
    let file = place.wheels.join(pin.file);
    if file.is_file() {
        return Ok(Try::Delivered(Delivery::Wheel { file, origin: mirrors::origin(cx, name) }));
    }
    let listing =
        fs_err::read_dir(&place.wheels).map_err(|e| StoreError::io("cannot read what `pip` downloaded", e))?;
    let found = listing.flatten().map(|item| item.file_name().to_string_lossy().into_owned()).collect();
    Err(Error::OtherFile { expected: pin.file, found })
}

fn command(cx: &Context, pin: &WheelPin, place: &Workplace, pip: Invocation) -> Invocation {
    let command = pip
        .args(["download", "--no-deps", "--only-binary=:all:", "--no-input", "--progress-bar=off"])
        .args(["--disable-pip-version-check", "--no-cache-dir"])
        .args(["--python-version", pin.python, "--platform", pin.platform])
        .arg("--dest")
        .arg(&place.wheels)
        .arg(pin.requirement())
        .cwd(&place.tmp)
        .env("TMPDIR", &place.tmp)
        .env("NO_COLOR", "1")
        // Nothing is installed, so a rule against installing outside of a virtual environment does not apply.
        .env("PIP_REQUIRE_VIRTUALENV", "0");
    let command = match cx.var("PIP_RESUME_RETRIES") {
        Some(_) => command,
        // From pip 25.1 on a broken connection is resumed this often; older ones ignore the variable.
        None => command.env("PIP_RESUME_RETRIES", "10"),
    };
    mirrors::for_pip(cx, command)
}
