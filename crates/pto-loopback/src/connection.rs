//! Connections: one thread each, one request each.

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Shared;
use crate::reply::Reply;
use crate::request::Request;

/// How often a reply that waits looks whether the server is still there.
const TICK: Duration = Duration::from_millis(20);

/// What is written at once.
const CHUNK: usize = 64 << 10;

/// Answers until the server is dropped.
pub(crate) fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let (Ok(stream), shared) = (stream, shared.clone()) else { continue };
        // A client that goes away ends its connection, which is all there is to end.
        let work = move || drop(serve(stream, &shared));
        let _ = std::thread::Builder::new().name("pto-loopback-connection".into()).spawn(work);
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let request = Request::read(&mut BufReader::new(stream.try_clone()?))?;
    if request.method == "CONNECT" {
        return tunnel(stream, shared, &request);
    }
    let reply = shared.reply_to(&request);
    let (status, start) = match request.range_start() {
        Some(start) if reply.ranges && reply.status == 200 && start >= reply.body.len() => (416, reply.body.len()),
        Some(start) if reply.ranges && reply.status == 200 => (206, start),
        _ => (reply.status, 0),
    };
    stream.write_all(head(&reply, status, start).as_bytes())?;
    if request.method != "HEAD" {
        send(&mut stream, &reply, &reply.body[start..], shared)?;
    }
    stream.flush()?;
    stream.shutdown(Shutdown::Write)?;
    // What the client may still send is read: closing with unread bytes would reset the connection.
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let _ = stream.read(&mut [0; 1024]);
    Ok(())
}

pub(crate) fn head(reply: &Reply, status: u16, start: usize) -> String {
    let mut head = format!("HTTP/1.1 {status} {}\r\nConnection: close\r\n", reason(status));
    let total = reply.body.len();
    if reply.with_length {
        head += &format!("Content-Length: {}\r\n", total - start);
    }
    if reply.ranges {
        head += "Accept-Ranges: bytes\r\n";
    }
    match status {
        206 => head += &format!("Content-Range: bytes {start}-{}/{total}\r\n", total.saturating_sub(1)),
        416 => head += &format!("Content-Range: bytes */{total}\r\n"),
        _ => {}
    }
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head + "\r\n"
}

fn send(stream: &mut TcpStream, reply: &Reply, body: &[u8], shared: &Shared) -> std::io::Result<()> {
    let limits = [reply.cut_after, reply.stall_after];
    let end = limits.into_iter().flatten().fold(body.len(), usize::min);
    let chunk = reply.bytes_per_second.map_or(CHUNK, |rate| (rate / 50).clamp(1, CHUNK));
    for part in body[..end].chunks(chunk) {
        if shared.stopped.load(Ordering::SeqCst) {
            return Ok(());
        }
        stream.write_all(part)?;
        if let Some(rate) = reply.bytes_per_second {
            std::thread::sleep(Duration::from_secs_f64(part.len() as f64 / rate as f64));
        }
    }
    while reply.stall_after.is_some() && !shared.stopped.load(Ordering::SeqCst) {
        std::thread::sleep(TICK);
    }
    Ok(())
}

/// Connects a proxy's client to where it wants to go.
fn tunnel(mut client: TcpStream, shared: &Shared, request: &Request) -> std::io::Result<()> {
    if !shared.admits(request) {
        return client.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    }
    let Ok(mut target) = TcpStream::connect(&request.path) else {
        return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    };
    client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    let (mut from_client, mut to_target) = (client.try_clone()?, target.try_clone()?);
    let upstream = std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_target);
        let _ = to_target.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut target, &mut client);
    client.shutdown(Shutdown::Both)?;
    let _ = upstream.join();
    Ok(())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        416 => "Range Not Satisfiable",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
