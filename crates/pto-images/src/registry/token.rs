//! What a registry wants to know of us before it answers.

use super::address::is_loopback;
use super::auth::{Challenge, Credentials, TokenReply};
use super::client::{Ask, Client, PlainHttp};
use super::problem::Problem;

impl Client {
    /// What a challenge is answered; `None` if there is nothing to say.
    pub(super) fn answer(&self, challenge: &str) -> Result<Option<String>, Problem> {
        let basic = self.options.credentials.as_ref().map(Credentials::basic);
        match Challenge::parse(challenge) {
            Some(Challenge::Basic) => Ok(basic),
            Some(Challenge::Bearer { realm, service, scope }) => {
                self.token(&realm, service, scope, basic.as_deref()).map(|token| Some(format!("Bearer {token}")))
            }
            None => Ok(None),
        }
    }

    /// A token. A registry says where to get it, so the password goes there only over TLS, or on this machine.
    fn token(
        &self,
        realm: &str,
        service: Option<String>,
        scope: Option<String>,
        basic: Option<&str>,
    ) -> Result<String, Problem> {
        let authority = realm.strip_prefix("http://").map(|rest| rest.split('/').next().unwrap_or(rest));
        let is_safe = realm.starts_with("https://")
            || authority.is_some_and(|a| is_loopback(a) || self.options.plain_http == PlainHttp::Anywhere);
        if !is_safe {
            return Err(Problem::Lasting(format!("the registry sends us to `{realm}` for a token, which is not safe")));
        }
        let pairs = [("service", service), ("scope", scope)];
        let query = pairs.iter().filter_map(|(name, value)| Some(format!("{name}={}", percent(value.as_ref()?))));
        let query = query.collect::<Vec<_>>().join("&");
        let join = if realm.contains('?') { '&' } else { '?' };
        let ask = Ask { method: "GET", url: format!("{realm}{join}{query}"), accept: &[], body: None };
        let reply = self.send(&ask, basic)?;
        if reply.status != 200 {
            return Err(reply.problem());
        }
        let token = serde_json::from_slice::<TokenReply>(&reply.body).ok().and_then(TokenReply::into_token);
        token.ok_or_else(|| Problem::Malformed("the token service answered no token".to_owned()))
    }
}

/// A value as a query takes it.
fn percent(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_one_value() {
        assert_eq!(percent("repository:a/b:pull,push"), "repository%3Aa%2Fb%3Apull%2Cpush");
    }
}
