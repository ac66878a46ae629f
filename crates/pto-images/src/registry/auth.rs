//! How a registry asks for authentication.

use serde::Deserialize;

/// The scheme that a `WWW-Authenticate` header asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// Name and password.
    Basic,
    /// A token of a token service.
    Bearer {
        /// The service's address.
        realm: String,
        /// Who the token is for: the registry, as the service knows it.
        service: Option<String>,
        /// What it allows.
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

/// A token service's answer. The specification allows either name.
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

    proptest! {
        #[test]
        fn never_panics(header in "\\PC{0,60}") {
            let _ = Challenge::parse(&header);
            let _ = Challenge::parse(&format!("Bearer {header}"));
        }
    }
}
