//! What must not be in a report that strangers read: secrets, and whose machine this is.

use std::net::Ipv6Addr;
use std::sync::LazyLock;

use pto_context::Context;
use regex::{Captures, Regex};
use serde_json::Value;

use crate::files;
use crate::redact::{MASK, Redactor};

/// Shown in the manifest.
pub(super) const KINDS: [&str; 9] = [
    "values of variables whose names say that they are secret",
    "user and password in URLs and proxies",
    "passwords, tokens and keys in settings, headers and command lines",
    "tokens of well-known shape, and private keys",
    "e-mail addresses",
    "IP and MAC addresses, but for the loopback",
    "the names of this host",
    "the names of users of this machine",
    "home directories",
];

/// Accounts that many machines have: their names say nothing of a person.
const COMMON_ACCOUNTS: [&str; 10] =
    ["HwHiAiUser", "admin", "builder", "docker", "nobody", "root", "runner", "test", "ubuntu", "user"];
const COMMON_HOSTS: [&str; 3] = ["localhost", "localhost.localdomain", "(none)"];
/// A shorter name is a word of English as well; it is still masked in paths.
const SHORTEST_NAME: usize = 3;
/// A count of tokens is no token.
const LONGEST_COUNT: usize = 7;
/// Where a version is meant and not an address: `Version=24.1.0.1`, `npu-smi 22.0.0.4`.
const BEFORE_VERSIONS: [&str; 5] = ["version", "npu-smi", "driver", "firmware", "cann"];

/// Masks for good: nothing of the machine's owner is left that a text gives away by its form.
pub(super) struct Mask {
    secrets: Redactor,
    home: Option<String>,
    names: Option<Regex>,
    /// Versions of this machine that look like addresses.
    versions: Vec<String>,
}

/// Compiling them takes longer than masking a page.
static PATTERNS: LazyLock<Patterns> = LazyLock::new(Patterns::new);

struct Patterns {
    private_key: Regex,
    authorization: Regex,
    option: Regex,
    login: [Regex; 2],
    secret_name: Regex,
    setting: Regex,
    token: Regex,
    email: Regex,
    mac: Regex,
    ipv4: Regex,
    ipv6: Regex,
    home: Regex,
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
            ipv4: regex(r"\d+(?:\.\d+)*"),
            ipv6: regex(r"[0-9A-Za-z_.:]*:[0-9A-Za-z_.:]*"),
            home: regex(r"(/(?:home|Users)/)([^/\s:;,'\x22`<>|]+)"),
        }
    }
}

impl Mask {
    /// Learns from a machine what is to be masked. `versions` are texts that must stay.
    pub(super) fn of(cx: &Context, versions: Vec<String>) -> Self {
        let home = cx.var("HOME").filter(|home| home.len() > 1 && home != "/root");
        Self {
            secrets: Redactor::of(cx),
            home: home.map(|home| home.trim_end_matches('/').to_owned()),
            names: names(cx),
            versions,
        }
    }

    /// The text without secrets and without names.
    pub(super) fn text(&self, text: &str) -> String {
        let patterns = &*PATTERNS;
        let mut text = self.secrets.apply(text);
        text = patterns.private_key.replace_all(&text, MASK).into_owned();
        text = patterns.token.replace_all(&text, MASK).into_owned();
        text = patterns.authorization.replace_all(&text, after_the_first(|_| true)).into_owned();
        text = patterns.option.replace_all(&text, after_the_first(is_no_count)).into_owned();
        for login in &patterns.login {
            text = login.replace_all(&text, after_the_first(|_| true)).into_owned();
        }
        text = patterns.setting.replace_all(&text, after_the_first(is_no_count)).into_owned();
        text = patterns.email.replace_all(&text, "***@***").into_owned();
        text = patterns.mac.replace_all(&text, "**:**:**:**:**:**").into_owned();
        text = self.ipv4(&text);
        text = patterns.ipv6.replace_all(&text, |found: &Captures<'_>| ipv6(&found[0])).into_owned();
        if let Some(home) = &self.home {
            text = text.replace(home.as_str(), "~");
        }
        text = patterns.home.replace_all(&text, "${1}***").into_owned();
        match &self.names {
            Some(names) => names.replace_all(&text, MASK).into_owned(),
            None => text,
        }
    }

    /// Every text in a document; what is no text stays, so that a document stays one.
    pub(super) fn document(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.document(item)),
            Value::Object(members) => {
                let masked = std::mem::take(members).into_iter().map(|(name, mut member)| {
                    match &mut member {
                        Value::String(text) if PATTERNS.secret_name.is_match(&name) => MASK.clone_into(text),
                        member => self.document(member),
                    }
                    (self.text(&name), member)
                });
                *members = masked.collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn ipv4(&self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        for found in PATTERNS.ipv4.find_iter(text) {
            let before = &text[..found.start()];
            let is_part_of_a_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if is_address(found.as_str()) && !is_part_of_a_word && !self.is_version(found.as_str(), before) {
                masked.push_str(&text[from..found.start()]);
                masked.push_str("*.*.*.*");
                from = found.end();
            }
        }
        masked.push_str(&text[from..]);
        masked
    }

    fn is_version(&self, number: &str, before: &str) -> bool {
        if self.versions.iter().any(|version| version == number) {
            return true;
        }
        let line = before.rsplit('\n').next().unwrap_or_default();
        let word =
            line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '=' | '"' | '\'' | '`' | '['));
        let word = word.to_ascii_lowercase();
        BEFORE_VERSIONS.iter().any(|name| word.ends_with(name))
    }
}

/// Keeps the first group of a pattern and masks the second, quotes excepted, if it is to be masked.
fn after_the_first(is_secret: fn(&Captures<'_>) -> bool) -> impl FnMut(&Captures<'_>) -> String {
    move |found| {
        let value = &found[2];
        if !is_secret(found) {
            return found[0].to_owned();
        }
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'')).map(String::from).unwrap_or_default();
        format!("{}{quote}{MASK}{quote}", &found[1])
    }
}

/// `max_tokens=4096` is a count, `token=1234567890` may be none; a password may be any number.
fn is_no_count(found: &Captures<'_>) -> bool {
    let (name, value) = (found[1].to_ascii_lowercase(), &found[2]);
    let is_number = value.len() <= LONGEST_COUNT && value.bytes().all(|byte| byte.is_ascii_digit());
    !(is_number && name.contains("token")) && value != MASK
}

fn is_address(number: &str) -> bool {
    let parts: Vec<&str> = number.split('.').collect();
    let is_octet = |part: &&str| part.len() <= 3 && part.parse::<u8>().is_ok();
    let is_local = parts[0] == "127" || number == "0.0.0.0" || number == "255.255.255.255";
    parts.len() == 4 && parts.iter().all(is_octet) && !is_local
}

/// A word with colons in it, masked if it is an address: not a time, a bus id or a name of C++.
fn ipv6(word: &str) -> String {
    let bare = word.trim_end_matches(['.', ':']);
    let bare = if word[bare.len()..].starts_with("::") { &word[..bare.len() + 2] } else { bare };
    match bare.parse::<Ipv6Addr>() {
        Ok(address)
            if !address.is_loopback() && !address.is_unspecified() && bare.contains(|c: char| c.is_ascii_digit()) =>
        {
            format!("*:*:*{}", &word[bare.len()..])
        }
        _ => word.to_owned(),
    }
}

/// Names of users and of this host, as whole words.
fn names(cx: &Context) -> Option<Regex> {
    let mut names: Vec<String> =
        ["USER", "LOGNAME", "SUDO_USER", "USERNAME"].iter().filter_map(|name| cx.var(name)).collect();
    names.extend(files::names(cx, "/home"));
    names.extend(account(cx));
    names.retain(|name| !COMMON_ACCOUNTS.contains(&name.as_str()));
    let mut hosts: Vec<String> = ["HOSTNAME", "HOST"].iter().filter_map(|name| cx.var(name)).collect();
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"].map(|file| files::read(cx, file).text());
    hosts.extend(files.into_iter().flatten().map(|text| text.trim().to_owned()));
    let short: Vec<String> = hosts.iter().filter_map(|host| Some(host.split_once('.')?.0.to_owned())).collect();
    hosts.extend(short);
    hosts.retain(|host| !COMMON_HOSTS.contains(&host.as_str()));
    names.extend(hosts);
    names.retain(|name| name.chars().count() >= SHORTEST_NAME);
    // The longest first: `node7.example.org` before `node7`.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.dedup();
    let words: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
    (!words.is_empty()).then(|| Regex::new(&format!(r"(?i)\b(?:{})\b", words.join("|"))).ok())?
}

/// The account's name by its number.
fn account(cx: &Context) -> Option<String> {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let accounts = files::read(cx, "/etc/passwd").text()?;
    let line = accounts.lines().find(|line| line.split(':').nth(2) == Some(uid.as_str()))?;
    line.split(':').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn mask() -> Mask {
        let variables = [
            ("HOME", "/data/people/jane"),
            ("USER", "jane"),
            ("HOSTNAME", "node7.example.org"),
            ("CI_JOB_TOKEN", "planted-env"),
            ("https_proxy", "http://jane:planted-proxy@proxy.example.org:80"),
        ];
        Mask::of(&Context::fake("/nowhere", variables), vec!["24.1.0.1".to_owned()])
    }

    #[test]
    fn what_gives_away_a_secret_or_a_person_is_masked() {
        let mask = mask();
        for (given, expected) in [
            ("in /data/people/jane/src and /home/bob/x", "in ~/src and /home/***/x"),
            ("user=jane on node7.example.org (node7)", "user=*** on *** (***)"),
            ("from 10.1.2.3:22 and fe80::1a2b, [2001:db8::7]:80", "from *.*.*.*:22 and *:*:*, [*:*:*]:80"),
            (
                "127.0.0.1 0.0.0.0 ::1 12:30:45 0000:C1:00.0 std::vector",
                "127.0.0.1 0.0.0.0 ::1 12:30:45 0000:C1:00.0 std::vector",
            ),
            (
                "Version=25.5.0.1 8.5.0.2.220 npu-smi 22.0.0.4 24.1.0.1",
                "Version=25.5.0.1 8.5.0.2.220 npu-smi 22.0.0.4 24.1.0.1",
            ),
            ("pypto-dev@sha256:ffa6bef8", "pypto-dev@sha256:ffa6bef8"),
            ("mail bob.x@example.org, 0a:1b:2c:3d:4e:5f", "mail ***@***, **:**:**:**:**:**"),
            ("planted-env and http://u:planted@h/", "*** and http://***@h/"),
            ("DB_PASSWORD='planted' token: planted", "DB_PASSWORD='***' token: ***"),
            (r#"{"auths":{"r":{"auth":"cGxhbnRlZA=="}}}"#, r#"{"auths":{"r":{"auth":"***"}}}"#),
            ("max_tokens=4096 ret_code: 0x30", "max_tokens=4096 ret_code: 0x30"),
            ("docker login -u robot -p planted reg", "docker login -u *** -p *** reg"),
            (
                "curl -H 'Authorization: Bearer planted' --token planted",
                "curl -H 'Authorization: Bearer ***' --token ***",
            ),
            ("ghp_plantedplantedplanted1", "***"),
            ("-----BEGIN RSA PRIVATE KEY-----\nplanted\n", "***"),
            ("author: x, authority", "author: x, authority"),
            ("HwHiAiUser root", "HwHiAiUser root"),
        ] {
            assert_eq!(mask.text(given), expected);
        }
    }

    #[test]
    fn a_document_stays_one() {
        let mut value = json!({ "password": "planted", "/home/bob": "x", "variable.X": "planted-env", "list": ["/home/bob"], "number": 10.5, "none": null });
        mask().document(&mut value);
        assert_eq!(
            value,
            json!({ "password": "***", "/home/***": "x", "variable.X": "***", "list": ["/home/***"], "number": 10.5, "none": null })
        );
    }

    proptest! {
        #[test]
        fn masking_twice_changes_nothing_and_no_secret_survives(before in "\\PC{0,30}", after in "\\PC{0,30}") {
            static MASK: LazyLock<Mask> = LazyLock::new(mask);
            let once = MASK.text(&format!("{before} planted-env {after}"));
            prop_assert!(!once.contains("planted-env"));
            prop_assert_eq!(MASK.text(&once), once);
        }
    }
}
