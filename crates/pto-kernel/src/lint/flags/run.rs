//! Runs a kernel on paper: one way through its conditions, with every helper entered where it is called.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::super::tree::{callee, named, text, walk};
use super::super::unit::{Definition, Unit, called};
use super::condition::{identifiers, is_constant, normalized};
use super::state::State;

/// Helpers are entered this deep.
const DEEPEST: usize = 12;
/// More calls than this on one way through a kernel nobody wrote: helpers that call helpers several times, level by level.
const MOST_CALLS: usize = 10_000;

/// A condition, and whether it holds: one way through it.
pub(super) type Choice = (String, bool);

/// The code has something that this reader does not understand.
pub(super) struct GiveUp;

/// How a statement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Return,
    Break,
    Continue,
}

/// One way through a kernel.
pub(super) struct Run<'u> {
    pub(super) unit: &'u Unit<'u>,
    /// The choices to make; further conditions hold.
    choices: Vec<Choice>,
    made: Vec<Choice>,
    pub(super) frames: Vec<Frame<'u>>,
    calls: usize,
}

/// What a way through a kernel comes to.
pub(super) struct Outcome<'u> {
    /// The conditions it depends on, in the order in which they were met.
    pub(super) choices: Vec<Choice>,
    /// The flags at each end of the kernel.
    pub(super) ends: Vec<State<'u>>,
}

pub(super) struct Frame<'u> {
    pub(super) definition: Definition<'u>,
    /// Which call this is; conditions on parameters are this call's own.
    pub(super) number: usize,
    /// What names stand for.
    pub(super) names: HashMap<String, String>,
    /// Variables that change in the loops around, innermost last.
    pub(super) loops: Vec<HashSet<&'u str>>,
    in_callers_loop: bool,
    returns: Vec<State<'u>>,
    pub(super) breaks: Vec<Vec<State<'u>>>,
    pub(super) continues: Vec<Vec<State<'u>>>,
}

impl<'u> Run<'u> {
    pub(super) fn of(unit: &'u Unit<'u>, kernel: Definition<'u>, choices: Vec<Choice>) -> Result<Outcome<'u>, GiveUp> {
        let mut run = Self { unit, choices, made: Vec::new(), frames: Vec::new(), calls: 0 };
        let mut state = State::default();
        let ends = run.enter(kernel, HashMap::new(), &mut state)?;
        Ok(Outcome { choices: run.made, ends })
    }

    /// Runs a function's body. The states at its returns, that at its end among them.
    pub(super) fn enter(
        &mut self,
        definition: Definition<'u>,
        names: HashMap<String, String>,
        state: &mut State<'u>,
    ) -> Result<Vec<State<'u>>, GiveUp> {
        if self.calls > MOST_CALLS
            || self.frames.len() > DEEPEST
            || self.frames.iter().any(|frame| frame.definition.body == definition.body)
        {
            return Err(GiveUp);
        }
        if definition.body.has_error()
            && called(definition.source.text(), definition.body).iter().any(|name| self.unit.is_flagged(name))
        {
            return Err(GiveUp);
        }
        let in_callers_loop = self.frames.last().is_some_and(|frame| frame.in_callers_loop || !frame.loops.is_empty());
        self.calls += 1;
        self.frames.push(Frame {
            definition,
            number: self.calls,
            names,
            loops: Vec::new(),
            in_callers_loop,
            returns: Vec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
        });
        let flow = self.statement(definition.body, state)?;
        let mut frame = self.frames.pop().expect("the frame that was pushed");
        if flow == Flow::Next {
            frame.returns.push(state.clone());
        }
        Ok(frame.returns)
    }

    pub(super) fn frame(&mut self) -> &mut Frame<'u> {
        self.frames.last_mut().expect("statements stand in functions")
    }

    pub(super) fn source(&self) -> &'u str {
        self.frames.last().expect("statements stand in functions").definition.source.text()
    }

    pub(super) fn statement(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
        match node.kind() {
            "compound_statement" | "preproc_else" => self.block(named(node), state),
            "if_statement" => self.if_statement(node, state),
            "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" => self.preproc(node, state),
            "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => self.repeat(node, state),
            "return_statement" => {
                self.expression(node, state)?;
                let end = state.clone();
                self.frame().returns.push(end);
                Ok(Flow::Return)
            }
            "break_statement" => self.leave(state, Flow::Break),
            "continue_statement" => self.leave(state, Flow::Continue),
            "declaration" => {
                self.declaration(node);
                self.expression(node, state)
            }
            "else_clause" | "labeled_statement" => self.block(named(node), state),
            "switch_statement" => self.switch(node, state),
            "try_statement" | "goto_statement" | "lambda_expression" | "ERROR" => {
                if self.is_relevant(node) {
                    Err(GiveUp)
                } else {
                    Ok(Flow::Next)
                }
            }
            _ => self.expression(node, state),
        }
    }

    pub(super) fn block(&mut self, statements: Vec<Node<'u>>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
        for statement in statements {
            let flow = self.statement(statement, state)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn leave(&mut self, state: &State<'u>, flow: Flow) -> Result<Flow, GiveUp> {
        let state = state.clone();
        let frame = self.frame();
        let ends = if flow == Flow::Break { &mut frame.breaks } else { &mut frame.continues };
        ends.last_mut().ok_or(GiveUp)?.push(state);
        Ok(flow)
    }

    fn if_statement(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
        let condition = node.child_by_field_name("condition").ok_or(GiveUp)?;
        self.expression(condition, state)?;
        let then = node.child_by_field_name("consequence");
        let otherwise = node.child_by_field_name("alternative");
        let written = text(self.source(), condition);
        self.branch(written, false, node, (then.into_iter().collect(), otherwise.into_iter().collect()), state)
    }

    /// The branches are the statements before and in the part that `#else` begins.
    fn preproc(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
        let source = self.source();
        let condition = node.child_by_field_name("condition").or_else(|| node.child_by_field_name("name"));
        let condition = condition.ok_or(GiveUp)?;
        let otherwise = node.child_by_field_name("alternative");
        let negated = text(source, node).starts_with("#ifndef");
        let written =
            if negated { format!("!{}", text(source, condition)) } else { text(source, condition).to_owned() };
        let then = named(node).into_iter().filter(|child| *child != condition && Some(*child) != otherwise).collect();
        self.branch(&written, true, node, (then, otherwise.into_iter().collect()), state)
    }

    fn branch(
        &mut self,
        condition: &str,
        is_preprocessor: bool,
        node: Node<'u>,
        (then, otherwise): (Vec<Node<'u>>, Vec<Node<'u>>),
        state: &mut State<'u>,
    ) -> Result<Flow, GiveUp> {
        if !self.is_relevant(node) {
            return Ok(Flow::Next);
        }
        let (name, negated) = normalized(condition);
        let varies = !is_preprocessor && self.varies(&name);
        if !varies {
            let holds = self.choose(&name, is_preprocessor) != negated;
            return self.block(if holds { then } else { otherwise }, state);
        }
        // Another round of the loop may go the other way: both, and what they agree in.
        let mut other = state.clone();
        let flow = self.block(then, state)?;
        let other_flow = self.block(otherwise, &mut other)?;
        match (flow, other_flow) {
            (Flow::Next, Flow::Next) => *state = std::mem::take(state).joined(other),
            (Flow::Next, _) => {}
            (_, Flow::Next) => *state = other,
            (one, two) if one == two => return Ok(one),
            _ => return Err(GiveUp),
        }
        Ok(Flow::Next)
    }

    /// Whether a condition can hold in one round of a loop and not in the next.
    pub(super) fn varies(&self, condition: &str) -> bool {
        let frame = self.frames.last().expect("statements stand in functions");
        let variables: Vec<&str> = identifiers(condition).filter(|name| !is_constant(name)).collect();
        if variables.is_empty() {
            return false;
        }
        let changes = |name: &&str| frame.loops.iter().any(|names| names.contains(name));
        frame.in_callers_loop || (!frame.loops.is_empty() && (condition.contains('(') || variables.iter().any(changes)))
    }

    pub(super) fn choose(&mut self, condition: &str, is_preprocessor: bool) -> bool {
        let frame = self.frames.last().expect("statements stand in functions");
        let own = !is_preprocessor && self.frames.len() > 1 && identifiers(condition).any(|name| !is_constant(name));
        // A helper's parameters have other values in another call.
        let name = if own { format!("{condition} (call {})", frame.number) } else { condition.to_owned() };
        if let Some((_, holds)) = self.made.iter().find(|(known, _)| *known == name) {
            return *holds;
        }
        let holds = self.choices.get(self.made.len()).is_none_or(|(_, holds)| *holds);
        self.made.push((name, holds));
        holds
    }

    /// Whether a statement does anything with flags, or ends something early.
    pub(super) fn is_relevant(&self, node: Node<'u>) -> bool {
        let source = self.source();
        walk(node).any(|node| match node.kind() {
            "return_statement" | "break_statement" | "continue_statement" | "goto_statement" => true,
            "call_expression" => callee(source, node).is_some_and(|name| {
                self.unit.is_flagged(name) || (self.unit.definitions(name).is_empty() && may_hide_flags(name))
            }),
            _ => false,
        })
    }
}

/// A call that nobody here can see into, and that by its name may set or wait for flags of the pipes. Those between cores
/// are others.
pub(super) fn may_hide_flags(name: &str) -> bool {
    // Instructions of PTO-ISA, which keep flags of their own: `TSYNC`.
    if !name.chars().any(|c| c.is_ascii_lowercase()) {
        return false;
    }
    let folded = name.to_ascii_lowercase();
    let speaks_of_flags = ["flag", "sync", "event"].iter().any(|word| folded.contains(word));
    let between_cores = ["cross", "_dev", "intra_block", "ffts", "barrier"].iter().any(|word| folded.contains(word));
    speaks_of_flags && !between_cores
}
