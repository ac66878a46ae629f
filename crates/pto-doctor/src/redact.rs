//! Secrets must not leave the machine in a report.

use pto_context::Context;
use pto_platform::docker::mask_proxy;

/// Parts of names of variables that hold secrets.
const SECRET_WORDS: [&str; 8] =
    ["TOKEN", "SECRET", "PASSW", "CREDENTIAL", "APIKEY", "API_KEY", "PRIVATE", "ACCESS_KEY"];
/// A shorter value is no secret, and replacing it would tear texts apart.
const SHORTEST_SECRET: usize = 5;
pub(crate) const MASK: &str = "***";

/// Masks what the environment declares to be secret, and the user part of every URL.
pub(crate) struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// Learns the secrets of an environment: values of variables with a telling name, and passwords in proxies.
    pub(crate) fn of(cx: &Context) -> Self {
        let mut secrets = Vec::new();
        for (name, value) in cx.vars() {
            let (name, value) = (name.to_string_lossy().to_ascii_uppercase(), value.to_string_lossy());
            if SECRET_WORDS.iter().any(|word| name.contains(word)) {
                secrets.push(value.into_owned());
            } else if name.ends_with("_PROXY") {
                secrets.extend(credentials(&value));
            }
        }
        secrets.retain(|secret| secret.len() >= SHORTEST_SECRET);
        // The longest first: a secret that contains another one must not be torn apart by it.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// The text without secrets.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut masked = pto_process::masked(text);
        for secret in &self.secrets {
            if masked.contains(secret.as_str()) {
                masked = masked.replace(secret.as_str(), MASK);
            }
        }
        masked
    }
}

/// User, password, and both, of a proxy's address.
fn credentials(address: &str) -> Vec<String> {
    if mask_proxy(address) == address.trim() {
        return Vec::new();
    }
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let user = rest.rsplit_once('@').map_or("", |(user, _)| user);
    let password = user.split_once(':').map_or("", |(_, password)| password);
    vec![user.to_owned(), password.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_declares_secret_is_masked_anywhere() {
        let cx = Context::fake(
            "/",
            [("GH_TOKEN", "ghp_abcdef"), ("http_proxy", "user:hunter22@proxy:80"), ("HOME", "/home/me")],
        );
        let text = "ghp_abcdef at https://me:pw@host/ with hunter22 in /home/me";
        assert_eq!(Redactor::of(&cx).apply(text), "*** at https://***@host/ with *** in /home/me");
    }
}
