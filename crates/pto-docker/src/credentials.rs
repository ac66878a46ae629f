//! A user's login at a registry.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that are encoded in an address: all but the unreserved ones of RFC 3986.
const ADDRESS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

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

    /// The texts that must never be shown, should a registry or the client repeat them: as they are, and as headers and
    /// addresses have them.
    pub fn secrets(&self) -> Vec<String> {
        let in_address = utf8_percent_encode(&self.password, ADDRESS).to_string();
        let in_form = in_address.replace("%20", "+");
        let mut secrets =
            vec![self.password.clone(), self.base64(), STANDARD.encode(&self.password), in_address, in_form];
        secrets.sort();
        secrets.dedup();
        secrets
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
        assert_eq!(me.secrets(), ["bWU6czNjcmV0", "czNjcmV0", "s3cret"]);
        let odd = Credentials { user: "me".into(), password: "a b/ä".into() };
        assert_eq!(odd.secrets()[1..4], ["a b/ä", "a%20b%2F%C3%A4", "a+b%2F%C3%A4"], "{:?}", odd.secrets());
    }
}
