//! Who somebody is to a registry.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A user's name and password. `Debug` shows neither: the name may be half of an access key.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name.
    pub user: String,
    /// The password, or a token in its place.
    pub password: String,
}

impl Credentials {
    /// `USER:PASSWORD` in base64: what an `Authorization: Basic` header and the client's configuration hold.
    pub fn base64(&self) -> String {
        STANDARD.encode(format!("{}:{}", self.user, self.password))
    }

    /// The texts that must never be shown, should a registry or the client repeat them.
    pub fn secrets(&self) -> [String; 2] {
        [self.password.clone(), self.base64()]
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_do_not_show() {
        let me = Credentials { user: "me".into(), password: "s3cret".into() };
        assert_eq!((format!("{me:?}").as_str(), me.base64().as_str()), ("Credentials(***)", "bWU6czNjcmV0"));
        assert_eq!(me.secrets(), ["s3cret", "bWU6czNjcmV0"]);
    }
}
