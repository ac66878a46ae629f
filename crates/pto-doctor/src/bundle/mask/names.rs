//! Names of people and of this host.

use pto_context::Context;
use regex::Regex;

use crate::files;

/// Accounts that many machines have: their names say nothing of a person.
const COMMON_ACCOUNTS: [&str; 10] =
    ["HwHiAiUser", "admin", "builder", "docker", "nobody", "root", "runner", "test", "ubuntu", "user"];
/// Numbers that distributions give to people's accounts, and not to services.
const PEOPLE: std::ops::Range<u32> = 1000..60_000;
const COMMON_HOSTS: [&str; 3] = ["localhost", "localhost.localdomain", "(none)"];
/// A shorter name is a word of English as well; it is still masked in paths.
const SHORTEST_NAME: usize = 3;

/// Names of users and of this host, as whole words.
pub(super) fn of(cx: &Context) -> Option<Regex> {
    let mut names: Vec<String> =
        people(cx).chain(hosts(cx)).filter(|name| name.chars().count() >= SHORTEST_NAME).collect();
    // The longest first: `node7.example.org` before `node7`.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let words: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
    (!words.is_empty()).then(|| Regex::new(&format!(r"(?i)\b(?:{})\b", words.join("|"))).ok())?
}

/// Who uses this machine: by variables, and the accounts of people with their full names.
fn people(cx: &Context) -> impl Iterator<Item = String> {
    let named = ["USER", "LOGNAME", "SUDO_USER", "USERNAME"].iter().filter_map(|name| cx.var(name));
    let own = rustix::process::geteuid().as_raw();
    let accounts = files::read(cx, "/etc/passwd").text().unwrap_or_default();
    let of_people = accounts.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let uid: u32 = fields.get(2)?.parse().ok()?;
        let full_name = fields.get(4)?.split(',').next()?.trim();
        (PEOPLE.contains(&uid) || uid == own).then(|| [fields[0].to_owned(), full_name.to_owned()])
    });
    let all: Vec<String> = named.chain(of_people.flatten()).collect();
    all.into_iter().filter(|name| !COMMON_ACCOUNTS.contains(&name.as_str()))
}

/// What this host is called, with and without its domain.
fn hosts(cx: &Context) -> impl Iterator<Item = String> {
    let named = ["HOSTNAME", "HOST"].iter().filter_map(|name| cx.var(name));
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"].map(|file| files::read(cx, file).text());
    let full: Vec<String> = named.chain(files.into_iter().flatten().map(|text| text.trim().to_owned())).collect();
    let short: Vec<String> = full.iter().filter_map(|host| Some(host.split_once('.')?.0.to_owned())).collect();
    full.into_iter().chain(short).filter(|host| !COMMON_HOSTS.contains(&host.as_str()))
}

/// The user's home directory, wherever it is. That of root says nothing.
pub(super) fn home(cx: &Context) -> Option<Regex> {
    let home = cx.var("HOME").filter(|home| home.len() > 1 && home != "/root")?;
    Regex::new(&format!(r"{}\b", regex::escape(home.trim_end_matches('/')))).ok()
}
