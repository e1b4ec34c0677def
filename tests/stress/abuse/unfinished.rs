//! Many requests of up to the allowed size that never end.

use std::{
    io::{self, Read},
    thread,
    time::{Duration, Instant},
};

use super::target::Target;
use crate::h2::{END_HEADERS, Kind, RawClient, frame, prefix, request};

/// A request counts as this many frames of a flood.
const REQUEST_FRAMES: usize = 20;
/// Requests of one connection, as many as a coordinator allows.
const STREAMS: u32 = 128;
/// Maximum bytes that one attacker sends, so that a coordinator without a limit fails only the test.
const SENT_MAX: u64 = 192 << 20;
/// Maximum time to send them.
const SENDING_MAX: Duration = Duration::from_secs(60);
/// Time for the coordinator to refuse a request.
const REFUSED_AFTER: Duration = Duration::from_millis(1);

/// Maximum bytes of the messages of a method.
const LARGE: u64 = (2 << 20) - 1;
const SMALL: u64 = (64 << 10) - 5;
const REPORT: u64 = 16 << 20;
const ANONYMOUS: u64 = (4 << 10) - 5;

/// A method whose requests do not end.
struct Method {
    path: &'static str,
    token: Option<fn(&Target) -> &str>,
    bytes_max: u64,
}

const fn of_submitter(path: &'static str, bytes_max: u64) -> Method {
    Method {
        path,
        token: Some(|target| &target.submitter),
        bytes_max,
    }
}

const fn of_worker(path: &'static str, bytes_max: u64) -> Method {
    Method {
        path,
        token: Some(|target| &target.worker),
        bytes_max,
    }
}

const fn without_token(path: &'static str, bytes_max: u64) -> Method {
    Method {
        path,
        token: None,
        bytes_max,
    }
}

const WITH_TOKENS: &[Method] = &[
    of_submitter("/arena.v1.CoordinatorService/StartTournament", LARGE),
    of_submitter("/arena.v1.CoordinatorService/RegisterAgent", LARGE),
    of_submitter("/arena.v1.CoordinatorService/PlanTournament", LARGE),
    of_submitter("/arena.v1.CoordinatorService/ListAgents", SMALL),
    of_submitter("/arena.v1.CoordinatorService/GetTournament", SMALL),
    of_worker("/arena.v1.WorkerService/Join", SMALL),
    of_worker("/arena.v1.WorkerService/Lease", SMALL),
];
const REPORTS: &[Method] = &[of_worker("/arena.v1.WorkerService/Report", REPORT)];
/// Only health is open to all; the others are refused before their messages are read.
const WITHOUT_TOKENS: &[Method] = &[
    without_token("/grpc.health.v1.Health/Check", ANONYMOUS),
    without_token("/arena.v1.CoordinatorService/StartTournament", LARGE),
    without_token("/grpc.health.v1.Health/Watch", ANONYMOUS),
    without_token("/arena.v1.CoordinatorService/ListAgents", SMALL),
];

pub(super) fn with_tokens(target: &Target, frames: usize) -> io::Result<RawClient> {
    run(target, frames / REQUEST_FRAMES, WITH_TOKENS)
}

pub(super) fn reports(target: &Target, frames: usize) -> io::Result<RawClient> {
    run(target, frames / REQUEST_FRAMES, REPORTS)
}

pub(super) fn without_tokens(target: &Target, frames: usize) -> io::Result<RawClient> {
    run(target, frames / REQUEST_FRAMES, WITHOUT_TOKENS)
}

/// Begins requests on as many connections as they need. If one is refused, the next one of its method is half as
/// large, until all room is taken. Then keeps them.
fn run(target: &Target, requests: usize, methods: &[Method]) -> io::Result<RawClient> {
    let started = Instant::now();
    let mut sizes: Vec<u64> = methods.iter().map(|method| method.bytes_max).collect();
    let mut sent = 0;
    let mut clients = vec![target.open(&[])?];
    let mut streams = 0;
    for number in 0..requests {
        if sent >= SENT_MAX || started.elapsed() >= SENDING_MAX {
            break;
        }
        if streams == STREAMS {
            clients.push(target.open(&[])?);
            streams = 0;
        }
        let place = number % methods.len();
        let (method, size) = (&methods[place], &mut sizes[place]);
        let stream = 2 * streams + 1;
        streams += 1;
        let client = clients.last_mut().expect("there is one");
        match begin(client, target, method, stream, *size) {
            Ok((bytes, is_refused)) => {
                sent += bytes;
                target.count(bytes);
                if is_refused {
                    *size = (*size / 2).max(1);
                }
            }
            // The coordinator closed the connection.
            Err(_) => streams = STREAMS,
        }
    }
    thread::sleep(target.unread_time);
    clients
        .pop()
        .ok_or_else(|| io::ErrorKind::ConnectionAborted.into())
}

/// Sends the beginning of a request, and all but the last byte of one of the largest. Returns the number of bytes
/// sent, and whether the coordinator refused a request.
fn begin(
    client: &mut RawClient,
    target: &Target,
    method: &Method,
    stream: u32,
    bytes: u64,
) -> io::Result<(u64, bool)> {
    let token = method.token.map(|of| of(target));
    let block = request(method.path, token, &[]);
    client.send(&frame(Kind::Headers, END_HEADERS, stream, &block))?;
    let start = prefix(false, method.bytes_max as u32);
    let body = start
        .chain(io::repeat(0))
        .take(start.len() as u64 + bytes - 1);
    let sent = client.pour(stream, body)?;
    thread::sleep(REFUSED_AFTER);
    Ok((sent, client.ended_streams()? > 0))
}
