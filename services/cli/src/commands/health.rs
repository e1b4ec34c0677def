//! `arena health`

use std::{
    io::{Read, Write},
    net::{TcpStream, ToSocketAddrs},
    path::PathBuf,
    time::{Duration, Instant},
};

use arena_access::{ClientTls, tls_advice};
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
  arena health 127.0.0.1:7602 --timeout 1
  arena health https://arena.example:7601 --tls-ca ca.pem")]
pub(crate) struct HealthArgs {
    /// Address of the service's metrics: HOST:PORT, or a URL
    #[arg(default_value = "127.0.0.1:7601")]
    address: String,

    /// Seconds to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout: u64,

    /// CA certificate that signed the service's certificate (https only)
    #[arg(long, env = "ARENA_TLS_CA", value_name = "FILE")]
    tls_ca: Option<PathBuf>,
}

impl HealthArgs {
    pub(crate) fn run(self) -> Outcome {
        let is_tls = self.address.starts_with("https://");
        let address = self.address.trim_start_matches("http://");
        let address = address.trim_start_matches("https://");
        let address = address.split('/').next().unwrap_or(address);
        let timeout = Duration::from_secs(self.timeout);
        let unreachable = |problem: std::io::Error| {
            let mut problem = problem.to_string();
            if let Some(advice) = tls_advice(&problem) {
                problem += &format!("; {advice}");
            }
            Failure::unreachable(format!("no answer from {address}: {problem}"))
        };
        let tls = match (&self.tls_ca, is_tls) {
            (Some(ca), true) => Some(ClientTls::load(ca).map_err(Failure::usage)?),
            (None, true) => return Err(Failure::usage("https needs --tls-ca FILE")),
            (_, false) => None,
        };
        let answer = ask(address, timeout, tls.as_ref()).map_err(unreachable)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let problem = match (head.split_whitespace().nth(1), body.trim()) {
            (Some("200"), body) => return output::write(&format!("{address}: {body}\n")),
            (None, _) if is_tls => "the server does not answer with HTTP",
            (None, _) => {
                "the server does not answer with HTTP; with TLS, its URL begins with https://"
            }
            (Some(status), "") => status,
            (_, body) => body,
        };
        Err(Failure::failed(format!(
            "{address} is not healthy: {problem}"
        )))
    }
}

/// Both directions of a connection.
trait Duplex: Read + Write {}

impl<T: Read + Write> Duplex for T {}

/// Requests `/healthz` of an address.
fn ask(address: &str, timeout: Duration, tls: Option<&ClientTls>) -> std::io::Result<String> {
    let ends = Instant::now() + timeout;
    let mut last = std::io::Error::other("it has no address");
    for socket in address.to_socket_addrs()? {
        let stream = match TcpStream::connect_timeout(&socket, timeout) {
            Ok(stream) => stream,
            Err(error) => {
                last = error;
                continue;
            }
        };
        stream.set_write_timeout(Some(timeout))?;
        let limits = stream.try_clone()?;
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let mut stream: Box<dyn Duplex> = match tls {
            Some(tls) => Box::new(tls.connect(host, stream)?),
            None => Box::new(stream),
        };
        limits.set_read_timeout(Some(timeout))?;
        let headers = format!("Host: {address}\r\nConnection: close\r\n\r\n");
        write!(stream, "GET /healthz HTTP/1.1\r\n{headers}")?;
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while (answer.len() as u64) < ANSWER_MAX {
            let left = ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            limits.set_read_timeout(Some(left))?;
            match stream.read(&mut piece) {
                Ok(0) => break,
                // A server may end without saying so in TLS.
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
                Ok(read) => answer.extend_from_slice(&piece[..read]),
            }
        }
        return Ok(String::from_utf8_lossy(&answer).into_owned());
    }
    Err(last)
}
