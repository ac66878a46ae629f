//! Commands as lines to be pasted.

use pto_process::Invocation;

use crate::settings::PROXY_VARIABLE;

/// What stands for a secret in a line.
const MASK: &str = "***";

/// A command as a line for a POSIX shell. A proxy that was given stays in the variable it may be given with: a line with a
/// mask in its place would make something else.
pub fn shell_line(command: &Invocation) -> String {
    let line = command.to_shell_line();
    let Some((before, after)) = line.split_once("docker ") else { return line };
    // Assignments are all that stands before the client, and no address of a proxy has a blank in it.
    let visible = |word: &str| match word.split_once('=') {
        Some((name, value)) if value.contains(MASK) => format!("{name}=\"${PROXY_VARIABLE}\""),
        _ => word.to_owned(),
    };
    let before: Vec<String> = before.split(' ').map(visible).collect();
    format!("{}docker {after}", before.join(" "))
}
