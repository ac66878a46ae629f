//! What a process said before its end, fit for a message.

use pto_process::Output;

/// How many of its last lines are kept of a process that failed.
const LAST_LINES: usize = 6;

/// How many characters of them: a kernel may write without any line end.
const LAST_CHARACTERS: usize = 2000;

/// The last lines that count, of standard error or, if it has none, of standard output. What would move a terminal's cursor
/// is made visible instead.
pub(crate) fn last_words(ended: &Output, counts: fn(&str) -> bool) -> String {
    let tail = |text: &str| {
        let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && counts(line)).collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    };
    let streams = [&ended.stderr, &ended.stdout].into_iter().map(|stream| tail(&stream.masked()));
    let words = streams.into_iter().find(|words| !words.is_empty()).unwrap_or_default();
    let skipped = words.chars().count().saturating_sub(LAST_CHARACTERS);
    let visible = |c: char| if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c };
    words.chars().skip(skipped).map(visible).collect()
}

/// Every line of a kernel counts.
pub(crate) fn any(_line: &str) -> bool {
    true
}

/// Whether a line is none of those that simulators write when all is well.
pub(crate) fn is_telling(line: &str) -> bool {
    !(line.contains("[INFO]") || line.contains("[DEBUG]"))
}

/// The lines that tell something.
pub(crate) fn noise_removed(text: &str) -> String {
    text.lines().filter(|line| is_telling(line)).collect::<Vec<_>>().join("\n")
}

/// `SIGSEGV`, or the number of a signal without a name.
pub(crate) fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal).map_or(format!("signal {signal}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use pto_context::Context;
    use pto_process::Invocation;

    use super::*;

    fn words(script: &str, counts: fn(&str) -> bool) -> String {
        let cx = Context::fake("/", [("PATH", "/usr/bin:/bin")]);
        last_words(&Invocation::new("sh").args(["-c", script]).run(&cx).unwrap(), counts)
    }

    #[test]
    fn noise_is_left_out_before_lines_are_counted() {
        let script = "echo '[ERROR] why' >&2; for i in 1 2 3 4 5 6 7; do echo \"[INFO] $i\" >&2; done";
        assert_eq!(words(script, is_telling), "[ERROR] why");
        assert_eq!(words(script, any).lines().count(), LAST_LINES);
        assert_eq!(words("echo '[INFO] fine' >&2; echo why", is_telling), "why", "nothing but noise is nothing");
    }

    #[test]
    fn words_are_cut_and_move_no_cursor() {
        assert_eq!(words("printf 'red \\033[31m'", is_telling), "red \u{fffd}[31m");
        assert_eq!(words("printf '%03000d' 1", is_telling).len(), LAST_CHARACTERS);
    }

    #[test]
    fn lines_of_a_healthy_run_are_left_out() {
        assert_eq!(noise_removed("[INFO] start\n[ERROR] no\n2026 [INFO] end\nwords"), "[ERROR] no\nwords");
    }

    #[test]
    fn signals_have_names_or_numbers() {
        assert_eq!((signal_name(11).as_str(), signal_name(60).as_str()), ("SIGSEGV", "signal 60"));
    }
}
