//! Comments that turn a rule off for a line: `// ptokit-lint: allow(unpaired-flag)` on it or on the line above.

use super::Rule;

const MARK: &str = "ptokit-lint:";

/// What the comments of one file allow.
pub(super) struct Allowed {
    /// Rules with the lines of their comments.
    lines: Vec<(Rule, usize)>,
}

impl Allowed {
    pub(super) fn in_text(text: &str) -> Self {
        let lines = text.lines().enumerate().flat_map(|(index, line)| rules(line).map(move |rule| (rule, index + 1)));
        Self { lines: lines.collect() }
    }

    pub(super) fn covers(&self, rule: Rule, line: usize) -> bool {
        self.lines.iter().any(|(allowed, at)| *allowed == rule && (*at == line || at + 1 == line))
    }
}

fn rules(line: &str) -> impl Iterator<Item = Rule> {
    let list = line
        .split_once(MARK)
        .and_then(|(_, rest)| rest.trim_start().strip_prefix("allow("))
        .and_then(|rest| rest.split_once(')'))
        .map_or("", |(list, _)| list);
    list.split(',').filter_map(|word| word.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_covers_its_line_and_the_next() {
        let allowed = Allowed::in_text("a\n// ptokit-lint: allow(pipe-macro, vector-mask) why\nb\nc\n");
        for (line, covered) in [(1, false), (2, true), (3, true), (4, false)] {
            assert_eq!(allowed.covers(Rule::PipeMacro, line), covered, "{line}");
            assert_eq!(allowed.covers(Rule::VectorMask, line), covered, "{line}");
        }
        assert!(!allowed.covers(Rule::UnpairedFlag, 2));
    }
}
