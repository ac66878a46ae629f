//! A proxy's address without the password in it.

/// The address with `***` for user and password: `http://***@proxy:8080`. Everything up to the last `@` is masked, for a
/// password may hold one itself.
pub fn mask_proxy(address: &str) -> String {
    let address = address.trim();
    let (scheme, rest) = address.find("://").map_or(("", address), |at| address.split_at(at + 3));
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}***@{host}"),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn user_and_password_are_masked() {
        for (address, masked) in [
            ("http://proxy.example:8080", "http://proxy.example:8080"),
            ("http://me:s3cret@proxy:8080/", "http://***@proxy:8080/"),
            ("me:s3@cret@proxy:8080", "***@proxy:8080"),
            ("socks5://me@proxy", "socks5://***@proxy"),
        ] {
            assert_eq!(mask_proxy(address), masked);
        }
    }

    proptest! {
        #[test]
        fn a_password_never_comes_through(password in "[A-Z@:/?#]{5,12}") {
            let masked = mask_proxy(&format!("http://user:{password}@host:1"));
            prop_assert_eq!(masked, "http://***@host:1");
        }
    }
}
