//! Reading: codes and logs in, one answer out.

use std::io::BufRead;
use std::sync::Arc;

use super::causality;
use super::code::{self, Meaning};
use super::compiler_output::{CompilerOutput, is_diagnostic};
use super::device_fault::DeviceFault;
use super::error::TriageError;
use super::evidence::{Evidence, Position, Time, shown};
use super::fields::Fields;
use super::ledger::{Key, Ledger, Slot};
use super::lines::{Extent, LINE_LIMIT, for_each_line};
use super::machine::Machine;
use super::matcher::{Finder, Marker, Target};
use super::mentions;
use super::rule::Rule;
use super::rules;
use super::value::{Source, Triage};

/// Takes in codes and logs, one after the other, and then says what they mean.
#[derive(Debug, Default)]
pub struct Triager {
    machine: Machine,
    sources: Vec<Source>,
    ledgers: Vec<Ledger>,
    finder: Finder,
}

impl Triager {
    /// Nothing taken in yet. What is known of the machine fills in commands and speaks for causes.
    pub fn new(machine: Machine) -> Self {
        Self { machine, ..Self::default() }
    }

    /// Takes in a code: of ACL (`507018` or its name), the device management (`-8020`), a message (`EL0005`), a task
    /// (`0x2a`), the PyPTO runtime (`-100`), or the exit status of a process (`172`).
    ///
    /// # Errors
    /// The word is no code of any kind. A code that no table names is not an error.
    pub fn code(&mut self, word: &str) -> Result<(), TriageError> {
        let meaning = code::of_word(word)?;
        let source: Arc<str> = Arc::from("given");
        let position = Position { time: None, source: source.clone(), line: 0 };
        let mut ledger = Ledger::default();
        let evidence = Evidence { source, line: None, text: shown(word.trim()), position };
        ledger.add(slot_of_code(meaning, evidence, Fields::default()));
        self.ledgers.push(ledger);
        Ok(())
    }

    /// Takes in a log to its end. The name is shown with what is found in it.
    ///
    /// # Errors
    /// The reader failed; what was read before counts.
    pub fn log(&mut self, name: &str, reader: impl BufRead) -> Result<(), TriageError> {
        let mut scan = Scan::new(name, &self.machine);
        let mut extent = Extent::default();
        let finder = &mut self.finder;
        let read = for_each_line(reader, &mut extent, |number, line| scan.line(number, line, finder));
        self.ledgers.push(scan.finish());
        self.sources.push(Source {
            name: name.to_owned(),
            lines: extent.lines,
            bytes: extent.bytes,
            cut_lines: extent.cut,
        });
        read.map_err(|source| TriageError::Read { name: name.to_owned(), source })
    }

    /// What it all means.
    pub fn finish(self) -> Triage {
        causality::judge(Ledger::merge(self.ledgers), self.sources, &self.machine)
    }
}

/// One log being read.
struct Scan<'a> {
    name: Arc<str>,
    machine: &'a Machine,
    ledger: Ledger,
    time: Option<Time>,
    fault: Option<DeviceFault>,
    compiler: CompilerOutput,
    /// Rules that the current line was counted for: it may match by a text and by a code.
    counted: Vec<&'static str>,
}

impl<'a> Scan<'a> {
    fn new(name: &str, machine: &'a Machine) -> Self {
        Self {
            name: Arc::from(name),
            machine,
            ledger: Ledger::default(),
            time: None,
            fault: None,
            compiler: CompilerOutput::default(),
            counted: Vec::new(),
        }
    }

    /// Most lines hold nothing, and cost two passes over their bytes.
    fn line(&mut self, number: u64, bytes: &[u8], finder: &mut Finder) {
        let targets = finder.find(bytes);
        let mut codes = Vec::new();
        mentions::codes(bytes, |value| codes.push(value));
        if targets.is_empty() && codes.is_empty() && !self.compiler.is_open() {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let evidence = self.evidence(number, &text);
        self.counted.clear();
        let mut opens_compiler_output = false;
        for target in targets {
            match target {
                Target::Rule(rule) => self.add_rule(rule, &text, &evidence),
                Target::Clue(id) => self.ledger.add_clue(*id, evidence.clone()),
                Target::Marker(Marker::Compiler) => opens_compiler_output |= is_diagnostic(&text),
                Target::Marker(marker) => self.add_marked(*marker, &text, &evidence),
            }
        }
        for value in codes {
            self.add_number(value, &text, &evidence);
        }
        self.add_compiler_output(number, &text, opens_compiler_output);
    }

    fn evidence(&mut self, number: u64, text: &str) -> Evidence {
        self.time = self.time.max(Time::find(text));
        let position = Position { time: self.time, source: self.name.clone(), line: number };
        Evidence { source: self.name.clone(), line: Some(number), text: shown(text), position }
    }

    fn add(&mut self, mut slot: Slot) {
        if self.counted.contains(&slot.rule.id) && !slot.rule.each_code {
            slot.count = 0;
        }
        self.counted.push(slot.rule.id);
        self.ledger.add(slot);
    }

    fn add_rule(&mut self, rule: &'static Rule, text: &str, evidence: &Evidence) {
        let fields = Fields::of_line(text, rule.fields);
        self.add(Slot { fields, ..Slot::new(rule, evidence.clone()) });
    }

    fn add_number(&mut self, value: i64, text: &str, evidence: &Evidence) {
        if let Some(meaning) = code::of_number(value) {
            let fields = Fields::of_line(text, meaning.rule.fields);
            self.add(slot_of_code(meaning, evidence.clone(), fields));
        }
    }

    fn add_marked(&mut self, marker: Marker, text: &str, evidence: &Evidence) {
        match marker {
            Marker::DeviceFault => self.add_device_fault(text, evidence),
            Marker::DeviceDetail => self.add_device_detail(text, evidence),
            Marker::Detail => self.ledger.add_detail(after(text, "error detail:"), evidence.clone()),
            Marker::Hint => self.ledger.add_hint(after(text, "error hint:"), evidence.clone()),
            Marker::LatchedCode => self.add_latched(text, evidence),
            Marker::Message => self.add_messages(text, evidence),
            Marker::Compiler => {}
        }
    }

    fn add_device_fault(&mut self, text: &str, evidence: &Evidence) {
        match &mut self.fault {
            // Two patterns may match one line.
            Some(fault) if fault.evidence[0].position == evidence.position => {}
            Some(fault) if fault.is_continued_by(text, evidence.position.line) => fault.add(text, evidence.clone()),
            _ => {
                self.close_device_fault();
                self.fault = Some(DeviceFault::new(text, evidence.clone()));
            }
        }
    }

    fn add_device_detail(&mut self, text: &str, evidence: &Evidence) {
        match &mut self.fault {
            Some(fault) if fault.takes(evidence.position.line) => fault.add(text, evidence.clone()),
            _ => {}
        }
    }

    fn close_device_fault(&mut self) {
        let Some(fault) = self.fault.take() else { return };
        let rule = rules::by_id(fault.rule());
        let key = Key { rule: rule.id, code: None, chip: fault.fields.chip };
        let mut evidence = fault.evidence.into_iter();
        let Some(first) = evidence.next() else { return };
        let dies = fault.fields.die.into_iter().collect();
        self.ledger.add(Slot { key: key.clone(), fields: fault.fields, dies, ..Slot::new(rule, first) });
        for more in evidence {
            self.ledger.add(Slot { key: key.clone(), count: 0, ..Slot::new(rule, more) });
        }
    }

    fn add_latched(&mut self, text: &str, evidence: &Evidence) {
        let digits = text.split_once("failed with code -").map_or("", |(_, rest)| rest);
        let digits: String = digits.chars().take_while(char::is_ascii_digit).take(4).collect();
        // Four digits are the device management's, and found as such.
        if let Some(value) = digits.parse::<i64>().ok().filter(|_| digits.len() < 4) {
            let meaning = code::of_latched(-value);
            self.add(slot_of_code(meaning, evidence.clone(), Fields::of_line(text, &[])));
        }
    }

    /// `Some_Name(XY0000):`, which is how CANN prints a message that has a name.
    fn add_messages(&mut self, text: &str, evidence: &Evidence) {
        for (at, _) in text.match_indices("(E") {
            let rest = &text[at + 1..];
            let Some(code) =
                rest.split_once("):").map(|(code, _)| code).filter(|code| code::looks_like_a_message(code))
            else {
                continue;
            };
            let name = text[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            let meaning = code::of_message(code).unwrap_or_else(|| code::of_named_message(code, name));
            self.add(slot_of_code(meaning, evidence.clone(), Fields::default()));
        }
    }

    fn add_compiler_output(&mut self, number: u64, text: &str, opens: bool) {
        let text = shown_line(text);
        if self.compiler.is_open() {
            if self.compiler.push(number, text) {
                self.close_compiler_output();
            }
        } else if opens {
            self.compiler.open(number, text);
        }
    }

    fn close_compiler_output(&mut self) {
        for judgement in self.compiler.judge(self.machine) {
            let Some(rule) = rules::find(judgement.diagnosis.id) else { continue };
            let text = judgement.diagnosis.evidence.first().map_or("", String::as_str);
            let position = Position { time: self.time, source: self.name.clone(), line: judgement.line };
            let line = Some(judgement.line);
            let evidence = Evidence { source: self.name.clone(), line, text: shown(text), position };
            self.ledger.add(Slot {
                title: Some(shown(&judgement.diagnosis.summary)),
                note: Some(judgement.diagnosis.remedy.to_owned()),
                ..Slot::new(rule, evidence)
            });
        }
    }

    fn finish(mut self) -> Ledger {
        self.close_device_fault();
        self.close_compiler_output();
        self.ledger
    }
}

fn slot_of_code(meaning: Meaning, evidence: Evidence, fields: Fields) -> Slot {
    let rule = meaning.rule;
    let code = rule.each_code.then(|| meaning.code.value.clone());
    let key = Key { rule: rule.id, code, chip: None };
    Slot { key, code: Some(meaning.code), note: meaning.note, fields, ..Slot::new(rule, evidence) }
}

fn after(text: &str, words: &str) -> String {
    text.split_once(words).map_or_else(String::new, |(_, rest)| shown(rest.trim()))
}

/// A line as compiler output is judged: what is longer is no diagnostic.
fn shown_line(text: &str) -> &str {
    const LONGEST: usize = LINE_LIMIT / 8;
    let end = (0..=text.len().min(LONGEST)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}
