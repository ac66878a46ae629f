//! What gives away a secret or a person by its form.

use std::sync::LazyLock;

use regex::Regex;

/// Compiling them takes longer than masking a page.
pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(Patterns::new);

pub(super) struct Patterns {
    pub(super) private_key: Regex,
    pub(super) authorization: Regex,
    pub(super) option: Regex,
    pub(super) login: [Regex; 2],
    pub(super) secret_name: Regex,
    pub(super) setting: Regex,
    pub(super) token: Regex,
    pub(super) email: Regex,
    pub(super) mac: Regex,
    pub(super) home: Regex,
}

impl Patterns {
    fn new() -> Self {
        // Each is a literal of this file, which a test compiles.
        let regex = |pattern: &str| Regex::new(pattern).expect("a pattern of this table is valid");
        let word = "token|secret|passw(?:or)?d|passphrase|credential|api[_-]?key|access[_-]?key|private[_-]?key|cookie";
        Self {
            private_key: regex(r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)"),
            authorization: regex(
                r#"(?i)\b(authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|token)\s+)?|bearer\s+)([^\s"',;]+)"#,
            ),
            option: regex(&format!(r#"(?i)(--?[\w-]*(?:{word})[\w-]*[ =]+)("[^"\n]*"|'[^'\n]*'|[^\s"']+)"#)),
            login: [r"-p", r"-u|--username"]
                .map(|option| regex(&format!(r"(\blogin\b[^\n]*?\s(?:{option})[ =]*)([^\s]+)"))),
            secret_name: regex(&format!(r"(?i)(?:{word})$|^_?auth$")),
            setting: regex(&format!(
                r#"(?i)([\w.-]*(?:{word})[\w.-]*["']?\s*[:=]\s*|["']_?auth["']\s*[:=]\s*|\b_auth\s*=\s*)("[^"\n]*"|'[^'\n]*'|[^\s"',;&}}\]\[{{(]+)"#
            )),
            token: regex(concat!(
                r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{16,}|sk-[\w-]{16,}",
                r"|(?:AKIA|ASIA)[0-9A-Z]{16}|xox[abeprs]-[\w-]{10,}|pypi-[\w-]{16,}|npm_\w{16,}",
                r"|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)"
            )),
            email: regex(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"),
            mac: regex(r"\b[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}\b"),
            home: regex(r"(/(?:home|Users)/)([^/\s:;,'\x22`<>|]+)"),
        }
    }
}
