//! What must not be in a report that strangers read: secrets, and whose machine this is.

mod addresses;
mod names;
mod patterns;

use pto_context::Context;
use regex::{Captures, Regex};
use serde_json::Value;

use crate::redact::{MASK, Redactor};
use patterns::PATTERNS;

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

/// A count of tokens is no token.
const LONGEST_COUNT: usize = 7;

/// Masks for good: nothing of the machine's owner is left that a text gives away by its form.
pub(super) struct Mask {
    secrets: Redactor,
    home: Option<Regex>,
    names: Option<Regex>,
    /// Versions of this machine that look like addresses.
    versions: Vec<String>,
}

impl Mask {
    /// Learns from a machine what is to be masked. `versions` are texts that must stay.
    pub(super) fn of(cx: &Context, versions: Vec<String>) -> Self {
        Self { secrets: Redactor::of(cx), home: names::home(cx), names: names::of(cx), versions }
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
        text = addresses::mask(&text, &self.versions);
        if let Some(home) = &self.home {
            text = home.replace_all(&text, "~").into_owned();
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

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

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
