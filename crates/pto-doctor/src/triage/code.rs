//! Codes as people paste them: which kind, which name, which rule.

use std::fmt;

use pto_platform::npu_smi;
use serde::Serialize;

use super::error::TriageError;
use super::rule::Rule;
use super::rules;
use super::tables::{AICORE_ERRORS, LATCHED, MESSAGES, TASK_RESULTS, find, number};
use crate::names;

/// An error code and what its table says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Code {
    /// Whose code it is.
    pub scheme: CodeScheme,
    /// As it is written: `507018`, `-8020`, `EL0005`, `0x2a`.
    pub value: String,
    /// Its name in the headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it says, in the table's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
}

/// Whose code it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CodeScheme {
    /// ACL and the runtime: six digits.
    Acl,
    /// `npu-smi` and the device management below it: negative, four digits.
    NpuSmi,
    /// CANN's messages: letters and digits.
    Message,
    /// The task scheduler's `retCode`.
    TaskResult,
    /// What the PyPTO runtime latches on the device.
    Latched,
    /// The `error code` of a core.
    Core,
    /// How a process ended.
    ExitStatus,
    /// Nobody's that is known.
    Unknown,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.value)?;
        match (&self.name, &self.meaning) {
            (Some(name), Some(meaning)) => write!(f, " {name}: {meaning}"),
            (Some(text), None) | (None, Some(text)) => write!(f, " {text}"),
            (None, None) => Ok(()),
        }
    }
}

/// A code and the rule that explains it.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    pub(super) rule: &'static Rule,
    pub(super) code: Code,
    pub(super) note: Option<String>,
}

impl Code {
    fn new(scheme: CodeScheme, value: impl Into<String>, name: &str, meaning: &str) -> Self {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Self { scheme, value: value.into(), name: some(name), meaning: some(meaning) }
    }
}

/// A number that a line gives as a code. `None` if no table has it and it does not look like one of ACL's or the device
/// management's either: `failed: 123456` may be anything.
pub(super) fn of_number(value: i64) -> Option<Meaning> {
    let known = i32::try_from(value).ok().and_then(pto_acl::known_code);
    if let Some(known) = known {
        let code = Code::new(CodeScheme::Acl, value.to_string(), known.name, known.meaning);
        return Some(plain(rules::of_code(value).unwrap_or_else(|| rules::by_id("acl-code")), code));
    }
    if let Some(known) = i32::try_from(value).ok().and_then(npu_smi::error_code) {
        return Some(of_npu_smi(known));
    }
    let looks_like_acl = value > 0 && matches!(value / 1000, 100 | 107 | 148 | 200 | 207 | 300 | 500 | 507);
    let looks_like_dcmi = matches!(value, -9099..=-8000);
    (looks_like_acl || looks_like_dcmi).then(|| unknown(&value.to_string()))
}

fn of_npu_smi(known: &npu_smi::ErrorCode) -> Meaning {
    let code = Code::new(CodeScheme::NpuSmi, known.code.to_string(), "", known.meaning);
    plain(rules::of_code(known.code.into()).unwrap_or_else(|| rules::by_id("dcmi-code")), code)
}

/// A code with letters.
pub(super) fn of_message(text: &str) -> Option<Meaning> {
    let entry = MESSAGES.iter().find(|entry| entry.key.eq_ignore_ascii_case(text))?;
    let code = Code::new(CodeScheme::Message, entry.key, entry.name, entry.meaning);
    Some(plain(rules::of_message(entry.key).unwrap_or_else(|| rules::by_id("message-code")), code))
}

/// What a line calls by a code with letters that no table has, in the line's own words.
pub(super) fn of_named_message(text: &str, name: &str) -> Meaning {
    plain(rules::by_id("message-code"), Code::new(CodeScheme::Message, text, name, ""))
}

/// What the PyPTO runtime returns: a latched code, negated.
pub(super) fn of_latched(value: i64) -> Meaning {
    match find(&LATCHED, &-value) {
        // The host's own word for a device that it gave up is -1 too, and on hardware that is what it means.
        Some(entry) if value == -1 => Meaning {
            note: Some(format!("in a simulation -1 is `{}`: {}", entry.name, entry.meaning)),
            ..plain(
                rules::by_id("device-unusable"),
                Code::new(CodeScheme::Latched, "-1", "SIMPLER_DEVICE_UNUSABLE", "the device was given up before"),
            )
        },
        Some(entry) => {
            let code = Code::new(CodeScheme::Latched, value.to_string(), entry.name, entry.meaning);
            plain(rules::by_id("orchestrator-error"), code)
        }
        None => unknown(&value.to_string()),
    }
}

/// A code that was given as such.
///
/// # Errors
/// The word is no code of any kind.
pub(super) fn of_word(word: &str) -> Result<Meaning, TriageError> {
    let word = word.trim().trim_matches(['`', '\'', '"', ',', ';']);
    let not_a_code = || TriageError::NotACode { given: word.to_owned(), nearest: nearest_name(word) };
    if word.is_empty() || word.len() > 64 {
        return Err(not_a_code());
    }
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        let value = u64::from_str_radix(digits, 16).map_err(|_| not_a_code())?;
        return Ok(of_hex(word, value));
    }
    if let Ok(value) = word.parse::<i64>() {
        return Ok(of_integer(value));
    }
    let is_number = word.strip_prefix('-').unwrap_or(word).bytes().all(|byte| byte.is_ascii_digit());
    if is_number && word != "-" {
        return Ok(unknown(word)); // too large for any table
    }
    of_message(word)
        .or_else(|| of_name(word))
        .or_else(|| looks_like_a_message(word).then(|| unknown(word)))
        .ok_or_else(not_a_code)
}

fn of_hex(word: &str, value: u64) -> Meaning {
    if let Some(entry) = find(&TASK_RESULTS, &value) {
        let rule = entry.name.parse().ok().and_then(rules::of_code).unwrap_or_else(|| rules::by_id("acl-code"));
        let code = Code::new(CodeScheme::TaskResult, word, "", entry.meaning);
        let note = format!("as `retCode` of a task; the caller sees {}", entry.name);
        return Meaning { note: Some(note), ..plain(rule, code) };
    }
    if let Some(entry) = find(&AICORE_ERRORS, &value) {
        let code = Code::new(CodeScheme::Core, word, "", entry.meaning);
        let note = "as `error code` of a core exception".to_owned();
        return Meaning { note: Some(note), ..plain(rules::by_id("aic-exception"), code) };
    }
    let known = i64::try_from(value).ok().filter(|value| *value > 0xff).and_then(of_number);
    if let Some(meaning) = known {
        return meaning;
    }
    let mut meaning = unknown(word);
    if value >> 24 == 7 {
        meaning.note = Some(
            "an inner code of the runtime: the six-digit code printed beside it is the one with a meaning".to_owned(),
        );
    }
    meaning
}

fn of_integer(value: i64) -> Meaning {
    match value {
        0 => plain(rules::by_id("success"), Code::new(CodeScheme::Acl, "0", "ACL_RT_SUCCESS", "success")),
        1..=255 => of_exit_status(value),
        -255..=-1 => of_latched(value),
        _ => of_number(value).unwrap_or_else(|| unknown(&value.to_string())),
    }
}

/// A process that ends with a negative code shows its lowest eight bits: `exit(-8020)` is 172.
fn of_exit_status(value: i64) -> Meaning {
    if let Some(known) = u8::try_from(value).ok().and_then(npu_smi::error_of_exit_status) {
        let note = format!("an exit status of {value} is what `exit({0})` of `npu-smi` leaves ({0} & 255)", known.code);
        return Meaning { note: Some(note), ..of_npu_smi(known) };
    }
    let code = |meaning: &str| Code::new(CodeScheme::ExitStatus, value.to_string(), "", meaning);
    match value {
        124 => plain(rules::by_id("process-timeout"), code("ended by `timeout`")),
        126 => plain(rules::by_id("command-not-found"), code("found, but cannot be executed")),
        127 => plain(rules::by_id("command-not-found"), code("not found")),
        137 => plain(rules::by_id("process-killed"), code("killed (SIGKILL)")),
        143 => plain(rules::by_id("process-killed"), code("terminated (SIGTERM)")),
        134 => plain(rules::by_id("process-crashed"), code("aborted (SIGABRT)")),
        136 => plain(rules::by_id("process-crashed"), code("arithmetic error (SIGFPE)")),
        139 => plain(rules::by_id("process-crashed"), code("invalid memory access (SIGSEGV)")),
        _ => Meaning {
            note: Some(format!(
                "as an exit status, {value} is what `exit({value})` or `exit({})` leaves; no table names either",
                value - 256
            )),
            ..unknown(&value.to_string())
        },
    }
}

/// `ACL_ERROR_RT_AICPU_EXCEPTION` and the names of the other tables.
fn of_name(word: &str) -> Option<Meaning> {
    let acl = pto_acl::known_codes().iter().find(|known| known.name.eq_ignore_ascii_case(word));
    if let Some(known) = acl {
        return Some(of_integer(known.code.into()));
    }
    let latched = LATCHED.iter().find(|entry| entry.name.eq_ignore_ascii_case(word))?;
    let code = Code::new(CodeScheme::Latched, latched.key.to_string(), latched.name, latched.meaning);
    Some(plain(rules::by_id("orchestrator-error"), code))
}

/// The name of a code that is most like a word, if one is like it at all: half of them begin alike.
fn nearest_name(word: &str) -> Option<&'static str> {
    let acl = pto_acl::known_codes().iter().map(|known| known.name);
    let latched = LATCHED.iter().map(|entry| entry.name);
    names::nearest(&word.to_ascii_uppercase(), acl.chain(latched), 0.85)
}

/// One to three capital letters and four or five digits, or `ERR` and digits.
pub(super) fn looks_like_a_message(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = word.len() - letters;
    (1..=3).contains(&letters)
        && (4..=5).contains(&digits)
        && word.bytes().skip(letters).all(|byte| byte.is_ascii_digit())
}

fn plain(rule: &'static Rule, code: Code) -> Meaning {
    Meaning { rule, code, note: None }
}

fn unknown(value: &str) -> Meaning {
    plain(rules::by_id("unknown-code"), Code::new(CodeScheme::Unknown, value, "", ""))
}

/// A core's error code, as the log prints it, in words.
pub(super) fn core_error(printed: &str) -> Option<&'static str> {
    find(&AICORE_ERRORS, &number(printed)?).map(|entry| entry.meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule_of(word: &str) -> &'static str {
        of_word(word).unwrap().rule.id
    }

    #[test]
    fn codes_of_every_kind_lead_to_their_rule() {
        for (word, expected) in [
            ("507018", "aicpu-exception"),
            ("-8020", "device-occupied"),
            ("172", "device-occupied"),
            ("187", "dcmi-inner-error"),
            ("211", "board-type-failed"),
            ("EL0005", "resource-busy"),
            ("el0004", "out-of-memory"),
            ("ERR99999", "inner-error"),
            ("0x2a", "aicpu-exception"),
            ("0x25", "aic-timeout"),
            ("0x800000", "aic-exception"),
            ("ACL_ERROR_RT_VECTOR_CORE_TIMEOUT", "aiv-timeout"),
            ("SCOPE_DEADLOCK", "orchestrator-error"),
            ("-100", "orchestrator-error"),
            ("-1", "device-unusable"),
            ("124", "process-timeout"),
            ("107003", "acl-code"),
            ("-8012", "dcmi-code"),
            ("0", "success"),
            ("`507018`,", "aicpu-exception"),
        ] {
            assert_eq!(rule_of(word), expected, "{word}");
        }
    }

    #[test]
    fn unknown_codes_are_said_to_be_unknown() {
        for word in ["507999", "-8999", "EX1234", "0xdeadbeef", "224", "99999999999999999999", "4242", "-77"] {
            assert_eq!(rule_of(word), "unknown-code", "{word}");
        }
        assert!(of_word("224").unwrap().note.unwrap().contains("exit(-32)"));
        assert!(of_word("0x7020010").unwrap().note.unwrap().contains("inner code"));
    }

    #[test]
    fn a_mistyped_name_gets_the_one_that_was_meant() {
        let nearest = |word| match of_word(word) {
            Err(TriageError::NotACode { nearest, .. }) => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("ACL_ERROR_RT_NO_DEVIC"), Some("ACL_ERROR_RT_NO_DEVICE"));
        assert_eq!(nearest("acl_error_rt_aicpu_exeption"), Some("ACL_ERROR_RT_AICPU_EXCEPTION"));
        assert_eq!(nearest("SCOPE_DEADLOK"), Some("SCOPE_DEADLOCK"));
        assert_eq!(nearest("some.log"), None);
    }

    #[test]
    fn what_is_no_code_is_refused() {
        for word in ["", "hello", "-", "0x", "0xzz", "12ab", "EL0005x"] {
            assert!(matches!(of_word(word), Err(TriageError::NotACode { .. })), "{word}");
        }
    }

    #[test]
    fn every_code_of_the_runtime_is_named() {
        for known in pto_acl::known_codes() {
            let meaning = of_word(&known.code.to_string()).unwrap();
            assert_eq!(meaning.code.name.as_deref(), Some(known.name));
            assert_ne!(meaning.rule.id, "unknown-code");
        }
    }

    #[test]
    fn a_number_in_a_line_is_no_unknown_code_unless_it_looks_like_one() {
        assert!(of_number(123_456).is_none());
        assert_eq!(of_number(507_999).unwrap().rule.id, "unknown-code");
    }
}
