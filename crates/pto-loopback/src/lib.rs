//! An HTTP server on the loopback interface, for tests of whatever downloads: each path has a script of replies, and a
//! reply can be cut, stall, be corrupted, redirect, be throttled, or not know ranges. It is a proxy (`CONNECT`) as well,
//! and keeps every request for the test to look at. A [`Gate`] stands between a client and a real server and spoils single requests.
//!
//! It must not know who asks, and must not be used outside of tests: it trusts its clients.
//!
//! ```
//! use std::io::{Read, Write};
//! use pto_loopback::{Reply, Server};
//!
//! let server = Server::start()?;
//! server.script("/greeting", [Reply::status(503), Reply::body("hello")]);
//! let ask = || {
//!     let mut connection = std::net::TcpStream::connect(server.address())?;
//!     connection.write_all(b"GET /greeting HTTP/1.1\r\nHost: x\r\n\r\n")?;
//!     let mut answer = String::new();
//!     connection.read_to_string(&mut answer)?;
//!     Ok::<_, std::io::Error>(answer)
//! };
//! assert!(ask()?.starts_with("HTTP/1.1 503"));
//! assert!(ask()?.ends_with("hello"));
//! assert_eq!(server.requests().len(), 2);
//! # Ok::<(), std::io::Error>(())
//! ```

mod connection;
mod gate;
mod reply;
mod request;

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use gate::{Act, Gate};
pub use reply::Reply;
pub use request::Request;

/// A server that answers until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What all connections see.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    scripts: Mutex<HashMap<String, Vec<Reply>>>,
    requests: Mutex<Vec<Request>>,
    /// `user:password` that a proxy's client has to bring.
    proxy_password: Mutex<Option<String>>,
    pub(crate) stopped: AtomicBool,
}

impl Server {
    /// A server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// There is no free port, or no thread.
    pub fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        std::thread::Builder::new().name("pto-loopback".into()).spawn(move || connection::accept(&listener, &seen))?;
        Ok(Self { address, shared })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path, which starts with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Gives a path its replies: each request gets the next one, and the last one is repeated. A path without a script is
    /// answered with 404.
    pub fn script(&self, path: &str, replies: impl IntoIterator<Item = Reply>) {
        lock(&self.shared.scripts).insert(path.to_owned(), replies.into_iter().collect());
    }

    /// Demands `user:password` of whoever uses it as a proxy.
    pub fn demand_proxy_password(&self, user_and_password: &str) {
        *lock(&self.shared.proxy_password) = Some(user_and_password.to_owned());
    }

    /// Every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let _ = std::net::TcpStream::connect(self.address);
    }
}

impl Shared {
    /// Keeps the request and returns what it is answered with.
    pub(crate) fn reply_to(&self, request: &Request) -> Reply {
        lock(&self.requests).push(request.clone());
        let mut scripts = lock(&self.scripts);
        let Some(script) = scripts.get_mut(&request.path) else { return Reply::status(404) };
        match script.len() {
            0 => Reply::status(404),
            1 => script[0].clone(),
            _ => script.remove(0),
        }
    }

    /// Keeps the request to a proxy; whether it brought the password.
    pub(crate) fn admits(&self, request: &Request) -> bool {
        lock(&self.requests).push(request.clone());
        match &*lock(&self.proxy_password) {
            Some(wanted) => {
                request.header("proxy-authorization").and_then(request::basic_credentials).as_ref() == Some(wanted)
            }
            None => true,
        }
    }
}

/// A test that panicked elsewhere leaves the data as good as it was.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
