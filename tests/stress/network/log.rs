//! The log of services and network, with virtual time.

use std::{
    fmt::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::Interest,
};

/// The target of turmoil's events, and the span of a host.
const NETWORK: &str = "turmoil";
const HOST_SPAN: &str = "node";
/// Events of the network that are left out, because their order varies: when a program ends, its
/// listener is dropped before or after its sockets.
const UNORDERED: [&str; 1] = ["Unbind"];
/// The largest length of a network field, which would otherwise show all bytes.
const FIELD_MAX: usize = 24;

/// The event with games whose durability a worker was informed of.
#[derive(Clone, Debug)]
pub(super) struct Acknowledged {
    pub(super) tournament: String,
    pub(super) games: Vec<u64>,
}

#[derive(Default)]
struct Heard {
    /// Virtual milliseconds.
    now: u128,
    /// Names of hosts by span, and the current one.
    hosts: Vec<String>,
    running: Option<usize>,
    lines: Vec<String>,
    acknowledged: Vec<Acknowledged>,
}

/// Receives all events of a thread.
#[derive(Clone)]
pub(super) struct Log {
    heard: Arc<Mutex<Heard>>,
    /// Whether to keep lines.
    kept: bool,
}

impl Log {
    pub(super) fn new(kept: bool) -> Self {
        Self {
            heard: Arc::default(),
            kept,
        }
    }

    /// Sets the clock.
    pub(super) fn now(&self, millis: u128) {
        self.heard().now = millis;
    }

    /// Adds a line of the simulation itself.
    pub(super) fn say(&self, what: impl fmt::Display) {
        if self.kept {
            self.heard().add(format_args!("- {what}"));
        }
    }

    /// Returns the games that were acknowledged since the last call.
    pub(super) fn acknowledged(&self) -> Vec<Acknowledged> {
        std::mem::take(&mut self.heard().acknowledged)
    }

    /// All lines.
    pub(super) fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.heard().lines)
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        let target = metadata.target();
        if metadata.is_span() {
            return target.starts_with(NETWORK) && metadata.name() == HOST_SPAN;
        }
        let ours = target.starts_with("arena") && *metadata.level() <= Level::DEBUG;
        ours || self.kept && target == NETWORK
    }
}

impl Heard {
    fn add(&mut self, what: impl fmt::Display) {
        let host = self.running.map_or("", |host| &self.hosts[host]);
        self.lines
            .push(format!("{:>7} {host:<12} {what}", self.now));
    }
}

impl Subscriber for Log {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.wants(metadata)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut name = Fields::default();
        span.record(&mut name);
        let mut heard = self.heard();
        let known = heard.hosts.iter().position(|host| *host == name.host);
        let place = known.unwrap_or_else(|| {
            heard.hosts.push(name.host);
            heard.hosts.len() - 1
        });
        Id::from_u64(place as u64 + 1)
    }

    fn enter(&self, span: &Id) {
        self.heard().running = Some(span.into_u64() as usize - 1);
    }

    fn exit(&self, _: &Id) {
        self.heard().running = None;
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let network = metadata.target() == NETWORK;
        if !self.wants(metadata) {
            return;
        }
        let mut fields = Fields {
            short: network,
            ..Fields::default()
        };
        event.record(&mut fields);
        let mut heard = self.heard();
        if fields.message == "acknowledged" {
            heard.acknowledged.push(Acknowledged {
                tournament: fields.tournament,
                games: numbers(&fields.games),
            });
        }
        let reported = !UNORDERED.contains(&fields.message.as_str());
        if self.kept && reported && !fields.message.starts_with("step ") {
            let level = if network {
                "NET"
            } else {
                metadata.level().as_str()
            };
            heard.add(format_args!("{level} {}{}", fields.message, fields.rest));
        }
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}
}

/// Parses the numbers of a printed list.
fn numbers(list: &str) -> Vec<u64> {
    list.split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect()
}

/// The fields of an event or a span.
#[derive(Default)]
struct Fields {
    short: bool,
    message: String,
    host: String,
    tournament: String,
    games: String,
    rest: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = Text {
            text: String::new(),
            limit: if self.short { FIELD_MAX } else { usize::MAX },
        };
        // It fails if the text is longer, which ends the printing early.
        let _ = write!(text, "{value:?}");
        let mut text = text.text;
        // Messages contain the time of day, which differs between runs.
        if field.name() == "protocol" {
            text.truncate(text.find('[').unwrap_or(text.len()));
        }
        match field.name() {
            "message" => self.message = text,
            "name" => self.host = text,
            name => {
                let _ = write!(self.rest, " {name}={text}");
                match name {
                    "tournament" => self.tournament = text,
                    "games" => self.games = text,
                    _ => {}
                }
            }
        }
    }
}

/// Text with a limited length.
struct Text {
    text: String,
    limit: usize,
}

impl Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        self.text.push_str(more);
        if self.text.len() > self.limit {
            return Err(fmt::Error);
        }
        Ok(())
    }
}
