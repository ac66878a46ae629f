//! A gate between a client and a real server: what goes through it is passed on, answered in the server's place, cut, held or
//! shortened, as the test decides request by request.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::reply::Reply;
use crate::request::Request;

/// How often a request that is held looks whether the gate is still there.
const TICK: Duration = Duration::from_millis(5);

/// What happens to one request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Act {
    /// It goes to the server, and the answer comes back.
    Pass,
    /// The same with one more header for the server.
    PassWith(&'static str, String),
    /// It is answered here, and the server never sees it.
    Answer(Reply),
    /// The connection ends before the server sees anything.
    Cut,
    /// The server does what it is asked, and its answer never arrives.
    CutAnswer,
    /// Nothing comes back, and the connection stays open; the server sees it or not.
    Hold {
        /// Whether the server does what it is asked.
        heard: bool,
    },
    /// The answer's body ends after so many bytes, with a length that was not kept.
    Truncate(usize),
    /// The same, and the length says that this is all.
    Shorten(usize),
}

/// A gate that is open until it is dropped.
#[derive(Debug)]
pub struct Gate {
    address: SocketAddr,
    shared: Arc<Shared>,
}

type Decide = Box<dyn Fn(usize, &Request) -> Act + Send + Sync>;

struct Shared {
    server: SocketAddr,
    decide: Mutex<Arc<Decide>>,
    count: AtomicUsize,
    seen: Mutex<Vec<Request>>,
    under_way: AtomicUsize,
    stopped: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("server", &self.server).field("count", &self.count).finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate before a server, on a free port of 127.0.0.1. Everything passes until [`decide`](Self::decide) says otherwise.
    ///
    /// # Errors
    /// There is no free port, or no thread.
    pub fn before(server: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            server,
            decide: Mutex::new(Arc::new(Box::new(|_, _| Act::Pass))),
            count: AtomicUsize::new(0),
            seen: Mutex::default(),
            under_way: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let seen = shared.clone();
        std::thread::Builder::new().name("pto-loopback-gate".into()).spawn(move || accept(&listener, &seen))?;
        Ok(Self { address, shared })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Says what happens from now on, by the number of the request, which starts at 0 again, and by the request.
    pub fn decide(&self, decide: impl Fn(usize, &Request) -> Act + Send + Sync + 'static) {
        *lock(&self.shared.decide) = Arc::new(Box::new(decide));
        self.shared.count.store(0, Ordering::SeqCst);
        lock(&self.shared.seen).clear();
    }

    /// Waits until no request is under way: one whose client has given up may still be heard.
    pub fn settle(&self) {
        while self.shared.under_way.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(TICK);
        }
    }

    /// The requests since then, in the order in which they came.
    pub fn seen(&self) -> Vec<Request> {
        lock(&self.shared.seen).clone()
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let (Ok(stream), shared) = (stream, shared.clone()) else { continue };
        shared.under_way.fetch_add(1, Ordering::SeqCst);
        let work = move || {
            let _ = serve(stream, &shared);
            shared.under_way.fetch_sub(1, Ordering::SeqCst);
        };
        let _ = std::thread::Builder::new().name("pto-loopback-gate-connection".into()).spawn(work);
    }
}

fn serve(mut client: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let request = Request::read(&mut reader)?;
    if request.header("expect").is_some() {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = read_body(&mut reader, &request)?;
    let number = shared.count.fetch_add(1, Ordering::SeqCst);
    lock(&shared.seen).push(request.clone());
    // Out of the lock: a decision may take its time, or change what is decided.
    let decide = lock(&shared.decide).clone();
    let act = decide(number, &request);
    let pass = || pass_on(&request, &body, shared.server);
    let with = |header| {
        pass_on(
            &Request { headers: [request.headers.clone(), vec![header]].concat(), ..request.clone() },
            &body,
            shared.server,
        )
    };
    match act {
        Act::Pass => client.write_all(&pass()?)?,
        Act::PassWith(name, value) => client.write_all(&with((name.to_owned(), value))?)?,
        Act::Answer(reply) => client.write_all(&reply.whole())?,
        Act::Cut => {}
        Act::CutAnswer => drop(pass()?),
        Act::Hold { heard } => {
            if heard {
                drop(pass()?);
            }
            while !shared.stopped.load(Ordering::SeqCst) && !is_gone(&client) {
                std::thread::sleep(TICK);
            }
        }
        Act::Truncate(bytes) => client.write_all(&shortened(&pass()?, bytes, false))?,
        Act::Shorten(bytes) => client.write_all(&shortened(&pass()?, bytes, true))?,
    }
    client.flush()?;
    client.shutdown(Shutdown::Both)
}

/// Whether the other side has closed: a client that has waited long enough.
fn is_gone(client: &TcpStream) -> bool {
    let _ = client.set_nonblocking(true);
    matches!(client.peek(&mut [0]), Ok(0))
        || matches!(client.peek(&mut [0]), Err(e) if e.kind() != ErrorKind::WouldBlock)
}

fn read_body(reader: &mut impl BufRead, request: &Request) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if request.header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size =
                u64::from_str_radix(size.trim(), 16).map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            reader.take(size).read_to_end(&mut body)?;
            reader.read_line(&mut String::new())?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    reader.take(length).read_to_end(&mut body)?;
    Ok(body)
}

/// Asks the server the same, with the whole body and for one answer, and gives the answer's bytes.
fn pass_on(request: &Request, body: &[u8], server: SocketAddr) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server)?;
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    let per_hop = ["connection", "transfer-encoding", "content-length", "expect"];
    for (name, value) in request.headers.iter().filter(|(name, _)| !per_hop.contains(&name.as_str())) {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("connection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    // At once: a second small segment would wait for the first one's acknowledgement.
    stream.write_all(&[head.as_bytes(), body].concat())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

fn shortened(answer: &[u8], bytes: usize, honest: bool) -> Vec<u8> {
    const END: &[u8] = b"\r\n\r\n";
    let head = answer.windows(END.len()).position(|four| four == END).map_or(answer.len(), |at| at + END.len());
    let (head, body) = answer.split_at(head);
    let body = &body[..bytes.min(body.len())];
    if !honest {
        return [head, body].concat();
    }
    let text = String::from_utf8_lossy(head);
    let is_length = |line: &&str| !line.to_ascii_lowercase().starts_with("content-length:");
    let mut lines: Vec<String> = text.trim_end().lines().filter(is_length).map(str::to_owned).collect();
    lines.push(format!("Content-Length: {}", body.len()));
    [(lines.join("\r\n") + "\r\n\r\n").as_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Server;

    fn ask(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn each_request_is_decided_by_itself() {
        let server = Server::start().unwrap();
        server.script("/a", [Reply::body("hello")]);
        let gate = Gate::before(server.address()).unwrap();
        assert!(ask(gate.address(), "/a").ends_with("\r\n\r\nhello"));
        gate.decide(|number, _| match number {
            0 => Act::Cut,
            1 => Act::CutAnswer,
            2 => Act::Answer(Reply::status(500)),
            3 => Act::Truncate(2),
            4 => Act::Shorten(2),
            _ => Act::Pass,
        });
        let heard = server.requests().len();
        assert_eq!(ask(gate.address(), "/a"), "");
        assert_eq!(server.requests().len(), heard);
        assert_eq!(ask(gate.address(), "/a"), "");
        assert_eq!(server.requests().len(), heard + 1);
        assert!(ask(gate.address(), "/a").starts_with("HTTP/1.1 500"));
        let truncated = ask(gate.address(), "/a");
        assert!(truncated.contains("Content-Length: 5") && truncated.ends_with("\r\n\r\nhe"), "{truncated}");
        let shortened = ask(gate.address(), "/a");
        assert!(shortened.contains("Content-Length: 2") && shortened.ends_with("\r\n\r\nhe"), "{shortened}");
        assert!(ask(gate.address(), "/a").ends_with("hello"));
        assert_eq!(gate.seen().len(), 6);
    }
}
