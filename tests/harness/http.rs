//! One GET of a page.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

/// The body of `http://<address><path>`; none if no server answers.
///
/// # Panics
/// If the status is not 200.
#[must_use]
pub fn get(address: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .ok()?;
    // HTTP/1.0: the answer ends when the connection closes.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.lines().next().unwrap_or_default();
    assert!(status.contains(" 200 "), "{address}{path}: {status}");
    Some(body.to_owned())
}
