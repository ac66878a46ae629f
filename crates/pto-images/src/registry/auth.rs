//! How a registry asks who we are, and what it is answered.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

/// A user's name and password. Its `Debug` output shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name.
    pub user: String,
    /// The password, or a token in its place.
    pub password: String,
}

impl Credentials {
    /// The value of an `Authorization` header.
    pub(super) fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.user, self.password)))
    }
}

impl Credentials {
    /// What nobody may see, should a registry repeat it: the password, and both as they stand in a header.
    pub(super) fn secrets(&self) -> [String; 2] {
        [self.password.clone(), STANDARD.encode(format!("{}:{}", self.user, self.password))]
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(***)")
    }
}

/// What a `WWW-Authenticate` header asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// The password itself.
    Basic,
    /// A token, to be had elsewhere.
    Bearer {
        /// Where.
        realm: String,
        /// For whom.
        service: Option<String>,
        /// For what.
        scope: Option<String>,
    },
}

impl Challenge {
    /// `None` for a scheme that is not known.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service, mut scope) = (None, None, None);
        for (name, value) in parameters(rest) {
            match name.to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value),
                "service" => service = Some(value),
                "scope" => scope = Some(value),
                _ => {}
            }
        }
        Some(Self::Bearer { realm: realm?, service, scope })
    }
}

/// `a="x,y",b=z`. A quoted value may hold commas, as scopes do.
fn parameters(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let (value, after) = match rest.trim_start().strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => (rest.split(',').next().unwrap_or(rest), rest.split_once(',').map_or("", |(_, after)| after)),
        };
        found.push((name.trim_matches([' ', ',']).to_owned(), value.trim().to_owned()));
        text = after.trim_start_matches([' ', ',']);
    }
    found
}

/// What a token service answers; older ones call it `token`, newer ones `access_token`.
#[derive(Deserialize)]
pub(super) struct TokenReply {
    token: Option<String>,
    access_token: Option<String>,
}

impl TokenReply {
    pub(super) fn into_token(self) -> Option<String> {
        self.token.or(self.access_token).filter(|token| !token.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn challenges_are_read() {
        let header = r#"Bearer realm="https://h/token",service="r.h",scope="repository:a/b:pull,push""#;
        let expected = Challenge::Bearer {
            realm: "https://h/token".into(),
            service: Some("r.h".into()),
            scope: Some("repository:a/b:pull,push".into()),
        };
        assert_eq!(Challenge::parse(header), Some(expected));
        assert_eq!(Challenge::parse("basic realm=x"), Some(Challenge::Basic));
        assert_eq!(Challenge::parse("Negotiate"), None);
        assert_eq!(Challenge::parse("Bearer service=x"), None);
        let loose = Challenge::parse("bearer  Realm = https://h/t , service = s");
        assert_eq!(
            loose,
            Some(Challenge::Bearer { realm: "https://h/t".into(), service: Some("s".into()), scope: None })
        );
    }

    #[test]
    fn credentials_do_not_show() {
        let me = Credentials { user: "me".into(), password: "s3cret".into() };
        assert_eq!((format!("{me:?}").as_str(), me.basic().as_str()), ("Credentials(***)", "Basic bWU6czNjcmV0"));
    }

    proptest! {
        #[test]
        fn never_panics(header in "\\PC{0,60}") {
            let _ = Challenge::parse(&header);
            let _ = Challenge::parse(&format!("Bearer {header}"));
        }
    }
}
