//! Compiler messages, as the user should see them.

use pto_process::Output;

/// More than this many lines help nobody.
const MAX_LINES: usize = 60;

/// The messages of a failed compiler, in its own words and colours aside; a long template trace is cut in the end.
pub(super) fn messages(output: &Output) -> String {
    let text = output.stderr.text();
    let lines: Vec<&str> = text.lines().filter(|line| !is_noise(line)).collect();
    if lines.is_empty() {
        return format!("(no message; the compiler {})", output.status);
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    let mut shown = lines[..lines.len().min(MAX_LINES)].join("\n");
    if more > 0 {
        shown.push_str(&format!("\n... {more} more lines"));
    }
    shown
}

/// Who included what among the prelude's and PTO-ISA's own headers says nothing about the kernel; who included the user's
/// headers does.
fn is_noise(line: &str) -> bool {
    /// Parts of paths that no file of a user has: the scratch copy of a source, the prelude, PTO-ISA.
    const OURS: [&str; 5] = ["<built-in>", "<command-line>", "/source-", "/prelude/", "/pto/"];
    let included = line.strip_prefix("In file included from ").or_else(|| line.strip_prefix("                 from "));
    included.is_some_and(|from| OURS.iter().any(|part| from.contains(part)))
}
