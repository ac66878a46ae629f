//! `switch`: a chain of comparisons, as long as no case runs on into the next.

use tree_sitter::Node;

use super::super::tree::{named, one_line, text};
use super::condition::normalized;
use super::run::{Flow, GiveUp, Run};
use super::state::State;

impl<'u> Run<'u> {
    pub(super) fn switch(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
        if !self.is_relevant(node) {
            return Ok(Flow::Next);
        }
        let value = node.child_by_field_name("condition").ok_or(GiveUp)?;
        let (value, _) = normalized(text(self.source(), value));
        let body = node.child_by_field_name("body").ok_or(GiveUp)?;
        let (mut labels, mut otherwise) = (Vec::new(), Vec::new());
        for case in named(body) {
            if case.kind() != "case_statement" {
                return Err(GiveUp);
            }
            let label = case.child_by_field_name("value");
            let statements: Vec<_> = named(case).into_iter().filter(|child| Some(*child) != label).collect();
            let ends = statements.last().map(|last| last.kind());
            match (label, ends) {
                // Several labels for the same statements, or a case that runs on: which, the order decides.
                (_, Some(kind)) if !ends_case(kind, &statements) => return Err(GiveUp),
                (_, None) => return Err(GiveUp),
                (Some(label), _) => labels.push((one_line(text(self.source(), label)), statements)),
                (None, _) => otherwise = statements,
            }
        }
        if self.varies(&value) {
            return Err(GiveUp);
        }
        let chosen = labels.into_iter().find(|(label, _)| self.choose(&format!("{value} == {label}"), false));
        let statements = chosen.map_or(otherwise, |(_, statements)| statements);
        self.in_switch(statements, state)
    }

    /// A `break` ends the case, and what leaves further leaves the switch as well.
    fn in_switch(&mut self, statements: Vec<Node<'u>>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
        self.frame().breaks.push(Vec::new());
        let flow = self.block(statements, state)?;
        let breaks = self.frame().breaks.pop().unwrap_or_default();
        let ends = (flow == Flow::Next).then(|| std::mem::take(state)).into_iter().chain(breaks);
        match ends.reduce(State::joined) {
            Some(end) => {
                *state = end;
                Ok(Flow::Next)
            }
            None => Ok(flow),
        }
    }
}

/// Whether a case ends where its statements do.
fn ends_case(last: &str, statements: &[Node]) -> bool {
    let leaves = |kind: &str| matches!(kind, "break_statement" | "return_statement" | "continue_statement");
    let in_braces = || {
        let [only] = statements else { return false };
        only.kind() == "compound_statement" && named(*only).last().is_some_and(|last| leaves(last.kind()))
    };
    leaves(last) || in_braces()
}
