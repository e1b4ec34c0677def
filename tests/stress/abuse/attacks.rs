//! What hostile clients send.

use std::{
    io::{self, Read},
    thread,
    time::{Duration, Instant},
};

use crate::h2::{
    END_HEADERS, END_STREAM, Kind, PREFACE, RawClient, field, frame, message, prefix,
    remembered_field, request, setting,
};

use super::{target::Target, unfinished};

/// Frames of one write.
const CHUNK: usize = 500;
/// Maximum time that one connection sends.
const SENDING_MAX: Duration = Duration::from_secs(20);
/// Bytes of a message that is far too large.
const HUGE: u32 = 100 << 20;
/// Setting: the window of new streams.
const INITIAL_WINDOW: u16 = 4;
/// The largest window.
const WINDOW_MAX: u32 = (1 << 31) - 1;
/// Streams of one connection, as many as a coordinator allows.
const STREAMS: u32 = 128;

const LIST_WORKERS: &str = "/arena.v1.CoordinatorService/ListWorkers";
const LIST_GAMES: &str = "/arena.v1.CoordinatorService/ListGames";
const WATCH: &str = "/arena.v1.CoordinatorService/WatchTournament";
const UPLOAD: &str = "/arena.v1.CoordinatorService/UploadBinary";
const REPORT: &str = "/arena.v1.WorkerService/Report";
const HEALTH: &str = "/grpc.health.v1.Health/Check";

/// The attack whose messages the server has to refuse with UNIMPLEMENTED.
pub(super) const COMPRESSED: &str = "token: a compressed message of 100 MB";
/// The encodings of its messages.
pub(super) const ENCODINGS: [&str; 3] = ["zstd", "gzip", "deflate"];

/// A kind of abuse.
pub(super) struct Attack {
    pub(super) name: &'static str,
    /// Sends on a new connection until the server closes it or all is sent; the number is that of
    /// frames.
    run: fn(&Target, usize) -> io::Result<RawClient>,
    pub(super) end: End,
    /// True if healthy users send large requests meanwhile.
    pub(super) needs_large_calls: bool,
}

/// How a connection of an attack ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The server closes it, though the client does not.
    Server,
    /// It may stay open: its client has a token and keeps to the protocol.
    Client,
}

impl Attack {
    pub(super) fn run(&self, target: &Target, frames: usize) -> Option<RawClient> {
        // A connection that the server has closed has ended as it should.
        (self.run)(target, frames).ok()
    }
}

/// Attacks that only wait. They run at the same time.
pub(super) const SLOW: &[Attack] = &[
    attack("silence", |target, _| target.connect()),
    attack("half a handshake or preface", |target, _| {
        let mut client = target.connect()?;
        let bytes: &[u8] = match target.tls {
            Some(_) => &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
            None => &PREFACE[..7],
        };
        client.send_below_tls(bytes)?;
        Ok(client)
    }),
    attack("no request after the preface", |target, _| target.open(&[])),
    attack("a request of HTTP/1, slowly", |target, _| {
        let mut client = target.connect()?;
        drip(&mut client, |_| b"G".to_vec());
        Ok(client)
    }),
    attack("slow headers", |target, _| {
        let mut client = target.open(&[])?;
        client.send(&frame(Kind::Headers, 0, 1, &[]))?;
        let block = request(LIST_WORKERS, None, &[]);
        drip(&mut client, |number| {
            let byte = block[number % block.len()];
            frame(Kind::Continuation, 0, 1, &[byte])
        });
        Ok(client)
    }),
    attack("a refused request, then silence", |target, _| {
        let mut client = target.open(&[])?;
        client.send(&whole_request(1, LIST_WORKERS, None))?;
        Ok(client)
    }),
    attack(
        "a request for health, then only answers to pings",
        |target, _| {
            let mut client = target.open(&[])?;
            client.send(&whole_request(1, HEALTH, None))?;
            answer_pings(&mut client, 4 * SENDING_MAX);
            Ok(client)
        },
    ),
    attack("token: a request, then no answers to pings", |target, _| {
        let mut client = target.open(&[])?;
        client.send(&whole_request(1, LIST_WORKERS, Some(&target.token)))?;
        Ok(client)
    }),
    attack("pings whose answers are never read", |target, _| {
        let mut client = target.open(&[])?;
        pings_until_blocked(&mut client);
        Ok(client)
    }),
    attack(
        "token: answers that are never read from the socket",
        |target, _| {
            let mut client = target.open(&setting(INITIAL_WINDOW, WINDOW_MAX))?;
            client.send(&frame(
                Kind::WindowUpdate,
                0,
                0,
                &(WINDOW_MAX / 2).to_be_bytes(),
            ))?;
            ask(&mut client, target, LIST_GAMES, &target.page())?;
            Ok(client)
        },
    ),
    permitted("token: requests without their end", |target, _| {
        let mut client = target.open(&[])?;
        for number in 0..STREAMS {
            let stream = 2 * number + 1;
            let block = request(LIST_WORKERS, Some(&target.token), &[]);
            client.send(&frame(Kind::Headers, END_HEADERS, stream, &block))?;
        }
        Ok(client)
    }),
];

/// Attacks that send as much as they can. They run one after another.
pub(super) const FLOODS: &[Attack] = &[
    attack("SETTINGS", |target, frames| {
        let settings = frame(Kind::Settings, 0, 0, &setting(INITIAL_WINDOW, 1 << 20));
        flood(target, frames, |_| settings.clone())
    }),
    attack("PING", |target, frames| {
        flood(target, frames, |number| ping(number as u64))
    }),
    attack("PRIORITY", |target, frames| {
        flood(target, frames, |number| {
            frame(Kind::Priority, 0, odd(number), &[0, 0, 0, 0, 1])
        })
    }),
    attack("WINDOW_UPDATE", |target, frames| {
        flood(target, frames, |_| {
            frame(Kind::WindowUpdate, 0, 0, &[0, 0, 0, 1])
        })
    }),
    attack("unknown frames", |target, frames| {
        flood(target, frames, |_| frame(Kind::Unknown, 0, 0, &[0; 64]))
    }),
    attack("streams that are reset", |target, frames| {
        let block = request(LIST_WORKERS, None, &[]);
        flood(target, frames, |number| opened_and_reset(number, &block))
    }),
    permitted("token: streams that are reset", |target, frames| {
        let block = request(LIST_WORKERS, Some(&target.token), &[]);
        flood(target, frames, |number| opened_and_reset(number, &block))
    }),
    attack("streams that the server has to reset", |target, frames| {
        let block = request(LIST_WORKERS, None, &[]);
        flood(target, frames, |number| {
            let open = frame(Kind::Headers, END_HEADERS, odd(number), &block);
            let wrong = frame(Kind::WindowUpdate, 0, odd(number), &[0; 4]);
            [open, wrong].concat()
        })
    }),
    attack("streams beyond the limit", |target, frames| {
        let block = request(LIST_WORKERS, None, &[]);
        flood(target, frames, |number| {
            frame(Kind::Headers, END_HEADERS, odd(number), &block)
        })
    }),
    attack("empty CONTINUATION", |target, frames| {
        flood(target, frames, |number| match number {
            0 => frame(Kind::Headers, 0, 1, &[]),
            _ => frame(Kind::Continuation, 0, 1, &[]),
        })
    }),
    attack("full CONTINUATION", |target, frames| {
        let fields: Vec<u8> = field("x-filler", &"x".repeat(16_000));
        flood(target, frames / 20, |number| match number {
            0 => frame(Kind::Headers, 0, 1, &request(LIST_WORKERS, None, &[])),
            _ => frame(Kind::Continuation, 0, 1, &fields),
        })
    }),
    attack("headers that expand", |target, frames| {
        // One entry of the table, named again and again by one byte.
        let mut bomb = request(LIST_WORKERS, None, &[]);
        bomb.extend(remembered_field("x-filler", &"x".repeat(4_000)));
        bomb.resize(16_000, 0x80 | 62);
        flood(target, frames / 20, |number| {
            frame(Kind::Headers, END_HEADERS | END_STREAM, odd(number), &bomb)
        })
    }),
    attack(
        "data beyond the window, 100 MB at most",
        |target, frames| {
            let block = request(LIST_WORKERS, None, &[]);
            let frames = (frames / 8).min(HUGE as usize / 16_384);
            flood(target, frames, |number| match number {
                0 => frame(Kind::Headers, END_HEADERS, 1, &block),
                _ => frame(Kind::Data, 0, 1, &[0; 16_384]),
            })
        },
    ),
    permitted("token: a message of 100 MB", |target, _| {
        huge(target, LIST_WORKERS)
    }),
    permitted("token: a report of 100 MB", |target, _| {
        huge(target, REPORT)
    }),
    permitted("token: an upload of 100 MB in one message", |target, _| {
        huge(target, UPLOAD)
    }),
    permitted(COMPRESSED, |target, _| {
        let mut client = target.open(&[])?;
        let zeros = io::repeat(0).take(u64::from(HUGE));
        let bomb = message(true, &zstd::encode_all(zeros, 3)?);
        for (number, encoding) in ENCODINGS.iter().enumerate() {
            let more = [("grpc-encoding", *encoding)];
            let block = request(LIST_WORKERS, Some(&target.token), &more);
            client.send(&frame(Kind::Headers, END_HEADERS, odd(number), &block))?;
            client.send(&frame(Kind::Data, END_STREAM, odd(number), &bomb))?;
            wait_for_end(&mut client)?;
        }
        Ok(client)
    }),
    permitted("token: empty DATA", |target, frames| {
        let block = request(LIST_WORKERS, Some(&target.token), &[]);
        flood(target, frames, |number| match number {
            0 => frame(Kind::Headers, END_HEADERS, 1, &block),
            _ => frame(Kind::Data, 0, 1, &[]),
        })
    }),
    unfinished(permitted(
        "token: large requests without their end",
        unfinished::with_tokens,
    )),
    unfinished(permitted(
        "token: large reports without their end",
        unfinished::reports,
    )),
    unfinished(attack(
        "large requests without their end",
        unfinished::without_tokens,
    )),
    permitted("token: pages that are never read", |target, _| {
        never_read(target, LIST_GAMES, &target.page())
    }),
    permitted("token: streams that are never read", |target, _| {
        never_read(target, WATCH, &target.tournament())
    }),
];

const fn attack(name: &'static str, run: fn(&Target, usize) -> io::Result<RawClient>) -> Attack {
    Attack {
        name,
        run,
        end: End::Server,
        needs_large_calls: false,
    }
}

/// An attack that may keep its connection.
const fn permitted(name: &'static str, run: fn(&Target, usize) -> io::Result<RawClient>) -> Attack {
    Attack {
        end: End::Client,
        ..attack(name, run)
    }
}

/// An attack that takes the room for the requests of others.
const fn unfinished(attack: Attack) -> Attack {
    Attack {
        needs_large_calls: true,
        ..attack
    }
}

/// The number of the n-th stream of a client.
fn odd(number: usize) -> u32 {
    2 * number as u32 + 1
}

fn ping(number: u64) -> Vec<u8> {
    frame(Kind::Ping, 0, 0, &number.to_be_bytes())
}

/// A request with an empty message.
fn whole_request(stream: u32, path: &str, token: Option<&str>) -> Vec<u8> {
    let block = request(path, token, &[]);
    let headers = frame(Kind::Headers, END_HEADERS, stream, &block);
    let data = frame(Kind::Data, END_STREAM, stream, &prefix(false, 0));
    [headers, data].concat()
}

fn opened_and_reset(number: usize, block: &[u8]) -> Vec<u8> {
    let open = frame(Kind::Headers, END_HEADERS, odd(number), block);
    // CANCEL
    let reset = frame(Kind::Reset, 0, odd(number), &8_u32.to_be_bytes());
    [open, reset].concat()
}

/// Sends frames without reading any answer, until the server reads no more.
fn flood(
    target: &Target,
    frames: usize,
    mut next: impl FnMut(usize) -> Vec<u8>,
) -> io::Result<RawClient> {
    let mut client = target.open(&[])?;
    let started = Instant::now();
    let mut number = 0;
    while number < frames && started.elapsed() < SENDING_MAX {
        let end = frames.min(number + CHUNK);
        let bytes: Vec<u8> = (number..end).flat_map(&mut next).collect();
        if client.send(&bytes).is_err() {
            break;
        }
        target.count(bytes.len() as u64);
        number = end;
    }
    Ok(client)
}

/// Fills the buffers of the system in both directions.
fn pings_until_blocked(client: &mut RawClient) {
    let pings: Vec<u8> = (0..CHUNK as u64).flat_map(ping).collect();
    let started = Instant::now();
    while started.elapsed() < SENDING_MAX && client.send(&pings).is_ok() {}
}

/// Sends a little from time to time, until the server closes the connection.
fn drip(client: &mut RawClient, next: impl Fn(usize) -> Vec<u8>) {
    let started = Instant::now();
    let mut number = 0;
    while started.elapsed() < 4 * SENDING_MAX && client.send(&next(number)).is_ok() {
        number += 1;
        thread::sleep(Duration::from_millis(100));
    }
}

/// Does nothing but what keeps a connection open.
fn answer_pings(client: &mut RawClient, time: Duration) {
    let started = Instant::now();
    while started.elapsed() < time && client.read().is_ok() {}
}

/// Reads up to the end of an answer.
fn wait_for_end(client: &mut RawClient) -> io::Result<()> {
    loop {
        let frame = client.read()?;
        if frame.ends_stream() || frame.kind == Some(Kind::GoAway) {
            return Ok(());
        }
    }
}

fn huge(target: &Target, path: &str) -> io::Result<RawClient> {
    let mut client = target.open(&[])?;
    let block = request(path, Some(&target.token), &[]);
    client.send(&frame(Kind::Headers, END_HEADERS, 1, &block))?;
    let start = prefix(false, HUGE);
    let body = start.chain(io::repeat(0)).take(u64::from(HUGE));
    target.count(client.pour(1, body)?);
    Ok(client)
}

/// As many streams as the server allows, whose answers may not be sent.
fn never_read(target: &Target, path: &str, request_bytes: &[u8]) -> io::Result<RawClient> {
    let mut client = target.open(&setting(INITIAL_WINDOW, 0))?;
    ask(&mut client, target, path, request_bytes)?;
    answer_pings(&mut client, target.unread_time);
    Ok(client)
}

/// Makes the same request on as many streams as the server allows.
fn ask(
    client: &mut RawClient,
    target: &Target,
    path: &str,
    request_bytes: &[u8],
) -> io::Result<()> {
    let block = request(path, Some(&target.token), &[]);
    let body = message(false, request_bytes);
    for number in 0..STREAMS {
        let stream = 2 * number + 1;
        client.send(&frame(Kind::Headers, END_HEADERS, stream, &block))?;
        client.send(&frame(Kind::Data, END_STREAM, stream, &body))?;
    }
    Ok(())
}
