//! `arena health`

use std::{
    io::{Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};

use clap::Args;

use crate::{
    failure::{Failure, Outcome},
    output,
};

/// Maximum size of an answer, which is a few lines.
const ANSWER_MAX: u64 = 64 << 10;

/// Check the health of a coordinator or worker
#[derive(Debug, Args)]
#[command(after_help = "\
Requests /healthz at the address given to --metrics. The exit code is 0 if the service
is healthy, 1 if it is not, and 4 if it does not answer.

Examples:
  arena health
  arena health 127.0.0.1:7602 --timeout 1")]
pub(crate) struct HealthArgs {
    /// Address of the service's metrics: HOST:PORT, or a URL
    #[arg(default_value = "127.0.0.1:7601")]
    address: String,

    /// Seconds to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout: u64,
}

impl HealthArgs {
    pub(crate) fn run(self) -> Outcome {
        let address = self.address.trim_start_matches("http://");
        let address = address.split('/').next().unwrap_or(address);
        let timeout = Duration::from_secs(self.timeout);
        let unreachable =
            |problem| Failure::unreachable(format!("no answer from {address}: {problem}"));
        let answer = ask(address, timeout).map_err(unreachable)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let problem = match (head.split_whitespace().nth(1), body.trim()) {
            (Some("200"), body) => return output::write(&format!("{address}: {body}\n")),
            (None, _) => "the server does not answer with HTTP",
            (Some(status), "") => status,
            (_, body) => body,
        };
        Err(Failure::failed(format!(
            "{address} is not healthy: {problem}"
        )))
    }
}

/// Requests `/healthz` of an address.
fn ask(address: &str, timeout: Duration) -> std::io::Result<String> {
    let ends = Instant::now() + timeout;
    let mut last = std::io::Error::other("it has no address");
    for socket in address.to_socket_addrs()? {
        let mut stream = match TcpStream::connect_timeout(&socket, timeout) {
            Ok(stream) => stream,
            Err(error) => {
                last = error;
                continue;
            }
        };
        stream.set_write_timeout(Some(timeout))?;
        let headers = format!("Host: {address}\r\nConnection: close\r\n\r\n");
        write!(stream, "GET /healthz HTTP/1.1\r\n{headers}")?;
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while (answer.len() as u64) < ANSWER_MAX {
            let left = ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(left))?;
            match stream.read(&mut piece)? {
                0 => break,
                read => answer.extend_from_slice(&piece[..read]),
            }
        }
        return Ok(String::from_utf8_lossy(&answer).into_owned());
    }
    Err(last)
}
