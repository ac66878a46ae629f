//! What a line says beside its words: numbers and names that every layer prints in its own way.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::rule::FieldRule;
use super::tables::number;

/// Which kind of core had an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoreKind {
    /// A cube core (AIC).
    Aic,
    /// A vector core (AIV).
    Aiv,
    /// A CPU of the device.
    Aicpu,
}

/// What was taken out of lines. Numbers that the log prints in a base of its choice are kept as printed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub struct Fields {
    /// The chip, as the device numbers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chip: Option<u32>,
    /// The die of the chip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub die: Option<u32>,
    /// The device, as the process numbers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    /// The kind of core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_kind: Option<CoreKind>,
    /// The core of that kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<u32>,
    /// The error code of the core or of the AICPU kernel, as printed: `95`, `0x10`, `0x2a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// Address of the kernel's first instruction.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "hex")]
    pub pc_start: Option<u64>,
    /// Address of the instruction at which the core stopped.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "hex")]
    pub pc_current: Option<u64>,
    /// Bytes from the first to that instruction.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "hex")]
    pub pc_offset: Option<u64>,
    /// The reason in the runtime's words (`errorStr`, `msg`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the task scheduler returned, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ret_code: Option<String>,
    /// The library that an AICPU kernel is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub so_name: Option<String>,
    /// The function of an AICPU kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub func_name: Option<String>,
    /// The kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_name: Option<String>,
    /// What only this kind of finding has, by name.
    #[serde(flatten)]
    pub more: BTreeMap<&'static str, String>,
}

fn hex<S: Serializer>(value: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.serialize_str(&format!("{value:#x}")),
        None => serializer.serialize_none(),
    }
}

impl Fields {
    /// Everything that any layer prints, out of one line.
    pub(super) fn of_line(text: &str, rule_fields: &[FieldRule]) -> Self {
        let first = |keys: &[&str]| keys.iter().find_map(|key| word_after(text, key));
        let int = |keys: &[&str]| keys.iter().find_map(|key| word_after(text, key)?.parse().ok());
        let address = |key: &str| word_after(text, key).and_then(number);
        let (pc_start, pc_current) = (address("pc start: "), address("current: "));
        let more = rule_fields.iter().filter_map(|rule| Some((rule.name, between(text, rule)?)));
        Self {
            chip: int(&["chipId:", "chip_id=", "chipId="]),
            die: int(&["dieId:", "die_id=", "dieId="]),
            device: int(&["device_id=", "deviceid: ", "deviceId=", "devid=", "devId=", "open device ", "(device_id="]),
            core_kind: None,
            core: int(&["core id is "]),
            error_code: first(&["error code = ", "errorCode=", "errcode:(", "errorcode:("]).map(str::to_owned),
            pc_start,
            pc_current,
            pc_offset: pc_start.zip(pc_current).and_then(|(start, current)| current.checked_sub(start)),
            reason: reason(text),
            ret_code: first(&["retCode="]).map(str::to_owned),
            so_name: first(&["soName=", "so_name="]).map(str::to_owned),
            func_name: first(&["funcName=", "func_name="]).map(str::to_owned),
            kernel_name: first(&["kernelName=", "kernel_name="]).map(str::to_owned),
            more: more.collect(),
        }
    }

    /// Takes what is not known yet from `later`.
    pub(super) fn fill_from(&mut self, later: Self) {
        // By name of all fields: a new one cannot be forgotten here.
        let Self {
            chip,
            die,
            device,
            core_kind,
            core,
            error_code,
            pc_start,
            pc_current,
            pc_offset,
            reason,
            ret_code,
            so_name,
            func_name,
            kernel_name,
            more,
        } = later;
        self.chip = self.chip.or(chip);
        self.die = self.die.or(die);
        self.device = self.device.or(device);
        self.core_kind = self.core_kind.or(core_kind);
        self.core = self.core.or(core);
        // Addresses belong together.
        if self.pc_start.is_none() && self.pc_current.is_none() {
            (self.pc_start, self.pc_current, self.pc_offset) = (pc_start, pc_current, pc_offset);
        }
        let texts = [
            (&mut self.error_code, error_code),
            (&mut self.reason, reason),
            (&mut self.ret_code, ret_code),
            (&mut self.so_name, so_name),
            (&mut self.func_name, func_name),
            (&mut self.kernel_name, kernel_name),
        ];
        for (own, later) in texts {
            if own.is_none() {
                *own = later;
            }
        }
        for (name, value) in more {
            self.more.entry(name).or_insert(value);
        }
    }

    /// All that is known as name and value, in the order in which it helps.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        let int = |value: Option<u32>| value.map(|value| value.to_string());
        let address = |value: Option<u64>| value.map(|value| format!("{value:#x}"));
        let kind = self.core_kind.map(|kind| match kind {
            CoreKind::Aic => "aic".to_owned(),
            CoreKind::Aiv => "aiv".to_owned(),
            CoreKind::Aicpu => "aicpu".to_owned(),
        });
        let known = [
            ("reason", self.reason.clone()),
            ("core kind", kind),
            ("core", int(self.core)),
            ("error code", self.error_code.clone()),
            ("chip", int(self.chip)),
            ("die", int(self.die)),
            ("device", int(self.device)),
            ("kernel", self.kernel_name.clone()),
            ("soName", self.so_name.clone()),
            ("funcName", self.func_name.clone()),
            ("retCode", self.ret_code.clone()),
            ("pc start", address(self.pc_start)),
            ("pc current", address(self.pc_current)),
            ("pc offset", address(self.pc_offset)),
        ];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
        known.chain(self.more.iter().map(|(name, value)| (*name, value.clone()))).collect()
    }
}

/// The word right after the first `key` that begins a word itself, unless it is empty or says that there is none.
fn word_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let inside_a_word = |at: usize| text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
    let at = text.match_indices(key).map(|(at, _)| at).find(|at| !inside_a_word(*at))?;
    let rest = &text[at + key.len()..];
    let word = rest.split([',', ' ', ')', '(', ']', '[', ';', '\t', '}']).next()?.trim_end_matches(['.', ':']);
    (!word.is_empty() && word != "null").then_some(word)
}

/// `errorStr: The reason. subErrType: 0x4` or `msg:open so failed.[FUNC:...`.
fn reason(text: &str) -> Option<String> {
    let rest = text.split_once("errorStr: ").or_else(|| text.split_once(", msg:"))?.1;
    let end = [". ", ".[", "[FUNC"].iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let reason = rest[..end].trim().trim_end_matches('.');
    (!reason.is_empty()).then(|| reason.to_owned())
}

fn between(text: &str, rule: &FieldRule) -> Option<String> {
    let rest = text.split_once(rule.after)?.1;
    let value = rest.split(rule.until).next()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_exception_is_taken_apart() {
        let line = "The error from device(chipId:3, dieId:1), serial number is 4, there is an aicore error exception, core \
                    id is 12, error code = 95, dump info: pc start: 0x100000000010, current: 0x100000000210, aic error mask: 0x1";
        let fields = Fields::of_line(line, &[]);
        assert_eq!((fields.chip, fields.die, fields.core), (Some(3), Some(1), Some(12)));
        assert_eq!((fields.error_code.as_deref(), fields.pc_offset), (Some("95"), Some(0x200)));
    }

    #[test]
    fn reasons_end_where_the_registers_begin() {
        for (line, expected) in [
            ("errcode:(0, 0, 0) errorStr: timeout or trap error. fixp_error0 info: 0x3", "timeout or trap error"),
            ("errorStr: The address is out of range. subErrType: 0x4.[FUNC:f]", "The address is out of range"),
            ("task_id:1, errcode:11002, msg:open so failed.[FUNC:f]", "open so failed"),
            (
                "errorStr: Illegal instruction, as of unaligned addresses.",
                "Illegal instruction, as of unaligned addresses",
            ),
        ] {
            assert_eq!(Fields::of_line(line, &[]).reason.as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn an_absent_value_is_no_value() {
        let fields = Fields::of_line("soName=, funcName=run, kernelName=(null), errorCode=0x2a.[FUNC:f]", &[]);
        assert_eq!((fields.so_name, fields.kernel_name), (None, None));
        assert_eq!((fields.func_name.as_deref(), fields.error_code.as_deref()), (Some("run"), Some("0x2a")));
    }

    #[test]
    fn each_layer_names_the_device_in_its_way() {
        for line in ["device_id=2, x", "deviceid: 2, retcode: 1", "(ret=-12; devid=2; vfid=0)", "open device 2 failed"]
        {
            assert_eq!(Fields::of_line(line, &[]).device, Some(2), "{line}");
        }
        assert_eq!(Fields::of_line("x_device_id=2 and subdevid=3", &[]).device, Some(2));
    }
}
