//! Calls: flags themselves, helpers that are entered, and names that stand for pipes and events.

use std::collections::HashMap;

use tree_sitter::Node;

use super::super::Place;
use super::super::tree::{arguments, callee, named, one_line, text, walk};
use super::super::unit::Definition;
use super::key::{Key, without_casts};
use super::run::{Flow, GiveUp, Run, may_hide_flags};
use super::state::{Site, State};

impl<'u> Run<'u> {
    /// Constants stand for their values.
    pub(super) fn declaration(&mut self, node: Node<'u>) {
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
    pub(super) fn expression(&mut self, node: Node<'u>, state: &mut State<'u>) -> Result<Flow, GiveUp> {
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
        if let Some(value) = self.unit.constants.get(bare) {
            return value.clone();
        }
        one_line(bare)
    }
}
