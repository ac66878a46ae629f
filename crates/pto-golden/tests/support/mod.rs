//! Runs the real NumPy, where there is one.

use std::path::Path;

/// Runs a Python script with `dir` as its working directory. `Err` is why NumPy cannot be asked on this machine; a
/// script that fails is a failed test.
#[expect(
    clippy::disallowed_methods,
    reason = "a test asks another program for the truth; pto-process is a sibling crate"
)]
pub(crate) fn numpy(dir: &Path, script: &str) -> Result<String, String> {
    let probe = std::process::Command::new("python3").args(["-c", "import numpy"]).output();
    match probe {
        Err(error) => return Err(format!("python3 cannot be started: {error}")),
        Ok(output) if !output.status.success() => return Err("python3 has no numpy".to_owned()),
        Ok(_) => {}
    }
    let output = std::process::Command::new("python3").args(["-W", "ignore", "-c", script]).current_dir(dir).output();
    let output = output.expect("python3 starts a second time");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the script failed: {errors}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
