//! What a request is answered with.

use std::sync::Arc;

/// An answer, and what goes wrong with it.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Arc<[u8]>,
    pub(crate) ranges: bool,
    pub(crate) with_length: bool,
    pub(crate) cut_after: Option<usize>,
    pub(crate) stall_after: Option<usize>,
    pub(crate) bytes_per_second: Option<usize>,
}

impl Reply {
    /// An empty answer with a status.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Arc::from([]),
            ranges: true,
            with_length: true,
            cut_after: None,
            stall_after: None,
            bytes_per_second: None,
        }
    }

    /// 200 with a body.
    pub fn body(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into().into(), ..Self::status(200) }
    }

    /// A redirect: 301, 302, 303, 307 or 308.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::status(status).header("Location", location)
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The bytes of the answer.
    pub(crate) fn whole(&self) -> Vec<u8> {
        [crate::connection::head(self, self.status, 0).as_bytes(), &self.body].concat()
    }

    /// The same with another status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Ignores `Range`: the whole body each time.
    #[must_use]
    pub fn without_ranges(mut self) -> Self {
        self.ranges = false;
        self
    }

    /// Does not tell the length: the end of the connection is the end of the body.
    #[must_use]
    pub fn without_length(mut self) -> Self {
        self.with_length = false;
        self
    }

    /// Closes the connection after this many bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut_after = Some(bytes);
        self
    }

    /// Sends nothing more after this many bytes of the body, and keeps the connection open.
    #[must_use]
    pub fn stall_after(mut self, bytes: usize) -> Self {
        self.stall_after = Some(bytes);
        self
    }

    /// Sends at most so many bytes in a second.
    #[must_use]
    pub fn throttle(mut self, bytes_per_second: usize) -> Self {
        self.bytes_per_second = Some(bytes_per_second);
        self
    }

    /// Flips one bit of the byte at this place of the body.
    #[must_use]
    pub fn corrupt(mut self, at: usize) -> Self {
        let mut body = self.body.to_vec();
        body[at] ^= 1;
        self.body = body.into();
        self
    }
}
