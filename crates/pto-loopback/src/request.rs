//! What a client asked for.

use std::io::{BufRead, Error, ErrorKind, Read};

/// A request without its body, which no download has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `HEAD`, `CONNECT`.
    pub method: String,
    /// The path, or for `CONNECT` the host and port.
    pub path: String,
    /// Headers, their names in lower case.
    pub headers: Vec<(String, String)>,
}

/// A client that sends more before its first blank line has lost its way.
const MAX_HEAD: u64 = 64 << 10;

impl Request {
    /// The value of a header; its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first byte of a `Range: bytes=N-`.
    pub fn range_start(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.split('-').next()?.parse().ok()
    }

    pub(crate) fn read(stream: &mut impl BufRead) -> std::io::Result<Self> {
        let malformed = || Error::new(ErrorKind::InvalidData, "not a request");
        let mut lines = stream.take(MAX_HEAD).lines();
        let first = lines.next().ok_or_else(malformed)??;
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next().ok_or_else(malformed)?, words.next().ok_or_else(malformed)?);
        let mut headers = Vec::new();
        for line in lines {
            let line = line?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Self { method, path, headers })
    }
}

/// The `user:password` of a `Basic` authorization.
pub(crate) fn basic_credentials(header: &str) -> Option<String> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for byte in header.strip_prefix("Basic ")?.trim_end_matches('=').bytes() {
        let digit = DIGITS.iter().position(|known| *known == byte)?;
        bits = bits << 6 | u32::try_from(digit).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_up_to_the_blank_line() {
        let text = "GET /a HTTP/1.1\r\nRange: bytes=12-\r\nHOST: x:1\r\n\r\nbody: no header\r\n";
        let request = Request::read(&mut text.as_bytes()).unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a"));
        assert_eq!((request.range_start(), request.header("host"), request.headers.len()), (Some(12), Some("x:1"), 2));
        assert!(Request::read(&mut "".as_bytes()).is_err());
    }

    #[test]
    fn credentials_are_decoded() {
        assert_eq!(basic_credentials("Basic bWU6czNjcmV0").as_deref(), Some("me:s3cret"));
        assert_eq!(basic_credentials("Basic bWU6cHc=").as_deref(), Some("me:pw"));
        assert_eq!(basic_credentials("Bearer x"), None);
    }
}
