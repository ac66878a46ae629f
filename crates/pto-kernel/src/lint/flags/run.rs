//! Runs a kernel on paper: one way through its conditions, with every helper entered where it is called.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::super::Place;
use super::super::tree::{arguments, callee, named, one_line, text, walk};
use super::super::unit::{Definition, Unit, called};
use super::key::{Key, without_casts};
use super::state::{Rounds, Site, State};

/// Helpers are entered this deep.
const DEEPEST: usize = 12;

/// A condition, and whether it holds: one way through it.
pub(super) type Choice = (String, bool);

/// The code has something that this reader does not understand.
pub(super) struct GiveUp;

/// How a statement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Return,
    Break,
    Continue,
}

/// One way through a kernel.
pub(super) struct Run<'u> {
    unit: &'u Unit<'u>,
    /// The choices to make; further conditions hold.
    choices: Vec<Choice>,
    made: Vec<Choice>,
    frames: Vec<Frame<'u>>,
    calls: usize,
}

/// What a way through a kernel comes to.
pub(super) struct Outcome<'u> {
    /// The conditions it depends on, in the order in which they were met.
    pub(super) choices: Vec<Choice>,
    /// The flags at each end of the kernel.
    pub(super) ends: Vec<State<'u>>,
}

struct Frame<'u> {
    definition: Definition<'u>,
    /// Which call this is; conditions on parameters are this call's own.
    number: usize,
    /// What names stand for.
    names: HashMap<String, String>,
    /// Variables that change in the loops around, innermost last.
    loops: Vec<HashSet<&'u str>>,
    in_callers_loop: bool,
    returns: Vec<State<'u>>,
    breaks: Vec<Vec<State<'u>>>,
    continues: Vec<Vec<State<'u>>>,
}

impl<'u> Run<'u> {
    pub(super) fn of(unit: &'u Unit<'u>, kernel: Definition<'u>, choices: Vec<Choice>) -> Result<Outcome<'u>, GiveUp> {
        let mut run = Self { unit, choices, made: Vec::new(), frames: Vec::new(), calls: 0 };
        let mut state = State::default();
        let ends = run.enter(kernel, HashMap::new(), &mut state)?;
        Ok(Outcome { choices: run.made, ends })
    }

    /// Runs a function's body. The states at its returns, that at its end among them.
    fn enter(
        &mut self,
        definition: Definition<'u>,
        names: HashMap<String, String>,
        state: &mut State<'u>,
    ) -> Result<Vec<State<'u>>, GiveUp> {
        if self.frames.len() > DEEPEST || self.frames.iter().any(|frame| frame.definition.body == definition.body) {
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

    fn frame(&mut self) -> &mut Frame<'u> {
        self.frames.last_mut().expect("statements stand in functions")
    }

    fn source(&self) -> &'u str {
        self.frames.last().expect("statements stand in functions").definition.source.text()
    }

    fn statement(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
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
            "switch_statement" | "try_statement" | "goto_statement" | "lambda_expression" | "ERROR" => {
                if self.is_relevant(node) { Err(GiveUp) } else { Ok(Flow::Next) }
            }
            _ => self.expression(node, state),
        }
    }

    fn block(&mut self, statements: Vec<Node<'u>>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
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
    fn varies(&self, condition: &str) -> bool {
        let frame = self.frames.last().expect("statements stand in functions");
        let variables: Vec<&str> = identifiers(condition).filter(|name| !is_constant(name)).collect();
        if variables.is_empty() {
            return false;
        }
        let changes = |name: &&str| frame.loops.iter().any(|names| names.contains(name));
        frame.in_callers_loop || (!frame.loops.is_empty() && (condition.contains('(') || variables.iter().any(changes)))
    }

    fn choose(&mut self, condition: &str, is_preprocessor: bool) -> bool {
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

    fn repeat(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
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

    /// Constants stand for their values.
    fn declaration(&mut self, node: Node<'u>) {
        let source = self.source();
        let is_constant =
            text(source, node).split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "const" | "constexpr"));
        if !is_constant {
            return;
        }
        let declarators = named(node).into_iter().filter(|child| child.kind() == "init_declarator");
        let values = declarators
            .filter_map(|node| Some((node.child_by_field_name("declarator")?, node.child_by_field_name("value")?)));
        for (name, value) in values.collect::<Vec<_>>() {
            let value = self.meaning(text(source, value));
            self.frame().names.insert(text(source, name).to_owned(), value);
        }
    }

    /// Every call in an expression, in the order of the text.
    fn expression(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
        if node.kind() == "lambda_expression" && self.is_relevant(node) {
            return Err(GiveUp);
        }
        for child in named(node) {
            self.expression(child, state)?;
        }
        if node.kind() == "call_expression" {
            self.call(node, state)?;
        }
        Ok(Flow::Next)
    }

    fn call(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<(), GiveUp> {
        let source = self.source();
        let Some(name) = callee(source, node) else { return Ok(()) };
        let arguments: Vec<String> = arguments(node).into_iter().map(|n| self.meaning(text(source, n))).collect();
        match (name, &arguments[..]) {
            ("set_flag" | "wait_flag", [from, to, event]) => {
                let key = Key::new(from, to, event);
                let site = Site { place: Place::of(self.frame().definition.source), at: node.start_byte() };
                if name == "set_flag" {
                    state.set(key, site)
                } else {
                    state.wait(key, site)
                }
                return Ok(());
            }
            ("set_flag" | "wait_flag", _) => return Err(GiveUp),
            _ => {}
        }
        if let Some(text) = self.unit.macros.get(name) {
            return self.macro_call(text, state);
        }
        let definitions = self.unit.definitions(name);
        if definitions.is_empty() {
            return if may_hide_flags(name) { Err(GiveUp) } else { Ok(()) };
        }
        if !self.unit.is_flagged(name) {
            return Ok(());
        }
        let fitting: Vec<_> =
            definitions.iter().filter(|d| d.function.params.len() == arguments.len()).copied().collect();
        let candidates = if fitting.is_empty() { definitions } else { fitting };
        let mut ends = Vec::new();
        for definition in candidates {
            let mut entered = state.clone();
            let names = self.bound(definition, node, &arguments);
            ends.extend(self.enter(definition, names, &mut entered)?);
        }
        let mut ends = ends.into_iter();
        *state = ends.next().ok_or(GiveUp)?;
        *state = ends.fold(std::mem::take(state), State::joined);
        Ok(())
    }

    /// A macro is not parsed: flags in it are known by their text, or not at all.
    fn macro_call(&mut self, macro_text: &str, state: &mut State<'u>) -> Result<(), GiveUp> {
        let count = |what: &str| macro_text.matches(what).count();
        if count("set_flag(") != count("wait_flag(") || count("Flag") > 0 {
            return Err(GiveUp);
        }
        // As many sets as waits, of flags whose names are the macro's business.
        if count("set_flag(") > 0 {
            state.forget(Key::new("?", "?", "?"));
        }
        Ok(())
    }

    /// What a function's parameters, and those of its template, stand for in a call.
    fn bound(&mut self, definition: Definition<'u>, call: Node<'u>, arguments: &[String]) -> HashMap<String, String> {
        let source = self.source();
        let params = definition.function.params.iter().map(|param| param.name.clone().unwrap_or_default());
        let mut names: HashMap<String, String> = params.zip(arguments.iter().cloned()).collect();
        let template = call
            .child_by_field_name("function")
            .and_then(|function| walk(function).find(|node| node.kind() == "template_argument_list"));
        let given: Vec<String> =
            template.map(named).unwrap_or_default().into_iter().map(|n| self.meaning(text(source, n))).collect();
        names.extend(definition.function.template.iter().map(|param| param.name.clone()).zip(given));
        names
    }

    /// An argument, names replaced by what they stand for. What is no plain name or number is told apart from the same text
    /// in another call.
    fn meaning(&self, written: &str) -> String {
        let bare = without_casts(written);
        let frame = self.frames.last().expect("expressions stand in functions");
        if let Some(value) = frame.names.get(bare) {
            return value.clone();
        }
        if let Some(value) = global_constant(self.unit, bare) {
            return value;
        }
        one_line(bare)
    }

    /// Whether a statement does anything with flags, or ends something early.
    fn is_relevant(&self, node: Node<'u>) -> bool {
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
fn may_hide_flags(name: &str) -> bool {
    let folded = name.to_ascii_lowercase();
    let speaks_of_flags = ["flag", "sync", "event"].iter().any(|word| folded.contains(word));
    let between_cores = ["cross", "_dev", "intra_block", "ffts", "barrier"].iter().any(|word| folded.contains(word));
    speaks_of_flags && !between_cores
}

/// `x` and whether the condition was `!x`.
fn normalized(condition: &str) -> (String, bool) {
    let mut bare = one_line(condition);
    let mut negated = false;
    loop {
        let inner = bare.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|inner| is_balanced(inner));
        if let Some(inner) = inner {
            bare = inner.trim().to_owned();
        } else if let Some(rest) = bare.strip_prefix('!').filter(|rest| is_one_operand(rest)) {
            negated = !negated;
            bare = rest.trim().to_owned();
        } else {
            return (bare, negated);
        }
    }
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0;
    text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    }) && depth == 0
}

fn is_one_operand(text: &str) -> bool {
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let in_brackets = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).is_some_and(is_balanced);
    let call = text
        .split_once('(')
        .is_some_and(|(name, rest)| is_word(name) && rest.strip_suffix(')').is_some_and(is_balanced));
    is_word(text) || in_brackets || call
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.filter(|word| {
        !word.starts_with(|c: char| c.is_ascii_digit()) && !matches!(*word, "true" | "false" | "defined")
    })
}

/// Macros, template parameters and constants are written in capitals.
fn is_constant(name: &str) -> bool {
    !name.chars().any(|c| c.is_ascii_lowercase())
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

/// The value of a constant outside of functions, if there is one of this name.
fn global_constant(unit: &Unit<'_>, name: &str) -> Option<String> {
    unit.constants.get(name).cloned()
}
