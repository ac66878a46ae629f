//! Runs the real NumPy, where there is one.

use std::path::Path;

/// Runs a Python script with `dir` as its working directory. `Err` is why NumPy cannot be asked on this machine; a
/// script that fails is a failed test.
#[allow(dead_code, reason = "each test that includes this file uses one of the two")]
pub(crate) fn numpy(dir: &Path, script: &str) -> Result<String, String> {
    python(dir, script, "numpy")
}

/// The same with another module: Debian's Python may have one that the first on `PATH` has not.
#[expect(
    clippy::disallowed_methods,
    reason = "a test asks another program for the truth; pto-process is a sibling crate"
)]
pub(crate) fn python(dir: &Path, script: &str, module: &str) -> Result<String, String> {
    let has = |program: &&str| {
        let probe = std::process::Command::new(program).args(["-c", &format!("import {module}")]).output();
        probe.is_ok_and(|output| output.status.success())
    };
    let program = ["python3", "/usr/bin/python3"].into_iter().find(has);
    let program = program.ok_or_else(|| format!("no python3 with {module}"))?;
    let output = std::process::Command::new(program).args(["-W", "ignore", "-c", script]).current_dir(dir).output();
    let output = output.expect("python3 starts a second time");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the script failed: {errors}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
