//! Commands as lines to be pasted into a shell.

use pto_process::Invocation;

use crate::settings::PROXY_VARIABLE;

/// What a line shows instead of a secret.
const MASK: &str = "***";

/// A command as a line for a POSIX shell. It takes a masked proxy from `PYPTO_DOCKER_PROXY`: pasted with the mask, the line would
/// use another proxy.
pub fn shell_line(command: &Invocation) -> String {
    let line = command.to_shell_line();
    let Some((before, after)) = line.split_once("docker ") else { return line };
    // Only assignments stand before the client, and the address of a proxy has no blank in it.
    let visible = |word: &str| match word.split_once('=') {
        Some((name, value)) if value.contains(MASK) => format!("{name}=\"${PROXY_VARIABLE}\""),
        _ => word.to_owned(),
    };
    let before: Vec<String> = before.split(' ').map(visible).collect();
    format!("{}docker {after}", before.join(" "))
}
