//! Loops: the body is run once, and taken as often as the head says.

use std::collections::HashSet;

use tree_sitter::Node;

use super::super::tree::{one_line, text, walk};
use super::run::{Flow, GiveUp, Run};
use super::state::{Rounds, State};

impl<'u> Run<'u> {
    pub(super) fn repeat(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
        let body = node.child_by_field_name("body").ok_or(GiveUp)?;
        let source = self.source();
        let head = one_line(source.get(node.start_byte()..body.start_byte()).unwrap_or_default());
        for part in ["initializer", "condition", "update", "right"] {
            if node.child_by_field_name(part).is_some_and(|part| self.is_relevant(part)) {
                return Err(GiveUp);
            }
        }
        if !self.is_relevant(body) {
            return Ok(Flow::Next);
        }
        let before = state.clone();
        let assigned = assigned(source, node);
        let frame = self.frame();
        let number = frame.number;
        frame.loops.push(assigned);
        frame.breaks.push(Vec::new());
        frame.continues.push(Vec::new());
        let flow = self.statement(body, state)?;
        let frame = self.frame();
        frame.loops.pop();
        let breaks = frame.breaks.pop().unwrap_or_default();
        let continues = frame.continues.pop().unwrap_or_default();
        let mut rounds = continues.into_iter().chain((flow == Flow::Next).then(|| std::mem::take(state)));
        let Some(first) = rounds.next() else {
            // Every way through the body leaves the loop, or the function.
            let mut ends = breaks.into_iter();
            let Some(first) = ends.next() else { return Ok(Flow::Return) };
            *state = ends.fold(first, State::joined);
            return Ok(Flow::Next);
        };
        let round = rounds.fold(first, State::joined);
        let literal = (node.kind() == "for_statement").then(|| literal_rounds(source, node)).flatten();
        let head = if number > 1 { format!("{head} (call {number})") } else { head };
        let rounds = if breaks.is_empty() { literal } else { None };
        *state = round.repeated(&before, rounds.map_or(Rounds::Unknown(&head), Rounds::Known));
        for end in breaks {
            *state = std::mem::take(state).joined(end);
        }
        Ok(Flow::Next)
    }
}

/// The variables that a loop changes, its own among them.
fn assigned<'s>(source: &'s str, node: Node<'s>) -> HashSet<&'s str> {
    let names = walk(node).filter_map(|node| match node.kind() {
        "assignment_expression" => node.child_by_field_name("left"),
        "update_expression" => node.child_by_field_name("argument"),
        "init_declarator" | "for_range_loop" | "declaration" => node.child_by_field_name("declarator"),
        _ => None,
    });
    names.map(|name| text(source, name)).collect()
}

/// `for (int i = 0; i < 2; ++i)`.
fn literal_rounds(source: &str, node: Node) -> Option<i64> {
    let field = |name| node.child_by_field_name(name);
    let number = |node: Node| text(source, node).trim_end_matches(['u', 'U']).parse::<i64>().ok();
    let start =
        walk(field("initializer")?).find(|node| node.kind() == "init_declarator")?.child_by_field_name("value")?;
    let condition = field("condition")?;
    let end = number(condition.child_by_field_name("right")?)?;
    let inclusive = match text(source, condition.child_by_field_name("operator")?) {
        "<" => 0,
        "<=" => 1,
        _ => return None,
    };
    (field("update")?.kind() == "update_expression" && text(source, field("update")?).contains("++"))
        .then_some(())
        .and_then(|()| Some((end + inclusive - number(start)?).max(0)))
}
