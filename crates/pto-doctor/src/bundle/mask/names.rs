//! Names of people and of this host.

use pto_context::Context;
use regex::Regex;

use crate::files;

/// Accounts that many machines have: their names say nothing of a person.
const COMMON_ACCOUNTS: [&str; 10] =
    ["HwHiAiUser", "admin", "builder", "docker", "nobody", "root", "runner", "test", "ubuntu", "user"];
const COMMON_HOSTS: [&str; 3] = ["localhost", "localhost.localdomain", "(none)"];
/// A shorter name is a word of English as well; it is still masked in paths.
const SHORTEST_NAME: usize = 3;

/// Names of users and of this host, as whole words.
pub(super) fn of(cx: &Context) -> Option<Regex> {
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

/// The user's home directory, wherever it is. That of root says nothing.
pub(super) fn home(cx: &Context) -> Option<Regex> {
    let home = cx.var("HOME").filter(|home| home.len() > 1 && home != "/root")?;
    Regex::new(&format!(r"{}\b", regex::escape(home.trim_end_matches('/')))).ok()
}
