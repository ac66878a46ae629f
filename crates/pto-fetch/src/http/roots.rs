//! Whom we trust: the certificates that the user or the system names, else those that are built in.

use pto_context::Context;
use pto_store::Error as StoreError;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::error::Error;

/// Where a user names certificates, for any program or for the package clients.
const VARIABLES: [&str; 3] = ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"];

/// Where distributions keep them. A company's own are put there by its administrators.
const FILES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The certificates of `SSL_CERT_FILE`, `PIP_CERT` or `REQUESTS_CA_BUNDLE`, else those of the system, else those that are built in:
/// for whoever talks to a server by itself.
///
/// # Errors
/// A file that was named cannot be read.
pub fn tls(cx: &Context) -> Result<TlsConfig, Error> {
    let named = VARIABLES.iter().find_map(|name| cx.var_os(name)).map(|file| cx.cwd().join(file));
    let certificates = match &named {
        Some(file) => {
            let bytes =
                fs_err::read(file).map_err(|e| StoreError::io("cannot read the certificates that are named", e))?;
            certificates(&bytes)
        }
        None => FILES
            .iter()
            .find_map(|file| fs_err::read(cx.under_root(file)).ok())
            .map_or_else(Vec::new, |b| certificates(&b)),
    };
    let roots = if certificates.is_empty() { RootCerts::WebPki } else { RootCerts::new_with_certs(&certificates) };
    Ok(TlsConfig::builder().root_certs(roots).build())
}

/// The certificates in a PEM file; what else is in it does not matter.
fn certificates(pem: &[u8]) -> Vec<Certificate<'static>> {
    let items = parse_pem(pem).filter_map(Result::ok);
    items.filter_map(|item| if let PemItem::Certificate(one) = item { Some(one) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_named_must_be_there() {
        let cx = Context::fake("/", [("SSL_CERT_FILE", "/gone.pem")]);
        assert!(tls(&cx).unwrap_err().to_string().contains("certificates"));
        assert!(tls(&Context::fake("/nowhere", [("A", "1")])).is_ok());
        assert!(certificates(b"no certificate").is_empty());
    }
}
