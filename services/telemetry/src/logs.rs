//! Logs to stderr.

use std::{
    fmt::{self, Debug},
    io::{self, IsTerminal, Write},
};

use arena_model::{printable, printable_json};
use tracing::field::Field;
use tracing_subscriber::{
    Layer, Registry,
    field::MakeExt,
    filter::{ParseError, Targets},
    fmt::{MakeWriter, format::Writer, format::debug_fn, layer},
    layer::SubscriberExt,
    util::{SubscriberInitExt, TryInitError},
};

/// The environment variable with the filter.
pub const ENV: &str = "ARENA_LOG";

/// Format of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Logging could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The filter is invalid.
    #[error(
        "invalid log filter \"{filter}\": use a level (error, warn, info, debug, trace) or \
         directives such as arena_worker=debug,warn"
    )]
    Filter {
        /// The given filter.
        filter: String,
        /// The problem.
        #[source]
        source: ParseError,
    },
    /// Another library has started logging before.
    #[error("logging is already set up")]
    Installed(#[from] TryInitError),
}

/// Starts logging to stderr. `filter` is a level, which applies to Arena's own lines (`warn` to
/// others), or directives `target=level,…`. Colours are used only on a terminal, and never with
/// `NO_COLOR`.
///
/// # Errors
/// [`LogError`].
pub fn init(format: Format, filter: &str) -> Result<(), LogError> {
    let filter = parse(filter)?;
    tracing_subscriber::registry()
        .with(lines(format, io::stderr, colour()).with_filter(filter))
        .try_init()?;
    Ok(())
}

/// Writes each event as one line, whatever text of agents and workers is in it.
fn lines<W>(format: Format, writer: W, colour: bool) -> Box<dyn Layer<Registry> + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    match format {
        Format::Text => layer()
            .fmt_fields(debug_fn(write_field).delimited(" "))
            .with_writer(writer)
            .with_ansi(colour)
            .boxed(),
        Format::Json => layer()
            .json()
            .flatten_event(true)
            .with_writer(JsonLines(writer))
            .boxed(),
    }
}

fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let value = format!("{value:?}").replace('\n', "\\n");
    let value = printable(&value);
    match (field.name(), writer.has_ansi_escapes()) {
        ("message", _) => write!(writer, "{value}"),
        (name, true) => write!(writer, "\x1b[3m{name}\x1b[0m\x1b[2m=\x1b[0m{value}"),
        (name, false) => write!(writer, "{name}={value}"),
    }
}

/// A writer of JSON in which hidden characters become escapes.
struct JsonLines<W>(W);

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for JsonLines<W> {
    type Writer = JsonLines<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        JsonLines(self.0.make_writer())
    }
}

impl<W: Write> Write for JsonLines<W> {
    /// An event is written with one call.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let shown = String::from_utf8_lossy(line);
        self.0.write_all(printable_json(&shown).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn parse(filter: &str) -> Result<Targets, LogError> {
    let wanted = filter.trim();
    let directives = match wanted.parse::<tracing::level_filters::LevelFilter>() {
        Ok(level) if level > tracing::level_filters::LevelFilter::WARN => {
            format!("warn,arena={level}")
        }
        _ => wanted.to_owned(),
    };
    directives.parse().map_err(|source| LogError::Filter {
        filter: wanted.to_owned(),
        source,
    })
}

fn colour() -> bool {
    // https://no-color.org: set and not empty.
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn text_of_strangers_stays_on_its_line() {
        let text = "a\u{1b}[2J\0\u{9b}\u{202e}\r\n2026 INFO forged";
        for (format, shown) in [
            (Format::Text, "\\u{202e}\\x0d\\n2026"),
            (Format::Json, "\\u202e\\r\\n2026"),
        ] {
            let file = tempfile::NamedTempFile::new().expect("a file");
            let writer = Mutex::new(file.reopen().expect("the same file"));
            let logs = tracing_subscriber::registry().with(lines(format, writer, false));
            tracing::subscriber::with_default(logs, || {
                tracing::warn!(name = text, shown = %text, "{text}");
            });
            let log = std::fs::read_to_string(file.path()).expect("a log");
            assert!(log.contains(shown), "{log:?}");
            let line = log.strip_suffix('\n').expect("a line");
            assert!(
                !line.contains(arena_model::is_hidden) && !line.contains('\n'),
                "{log:?}"
            );
        }
    }

    #[test]
    fn log_level_limits_dependencies() {
        let check = |given: &str, expected: &str| {
            let mut parts: Vec<String> = parse(given)
                .map(|filter| filter.to_string())
                .unwrap_or_default()
                .split(',')
                .map(str::to_owned)
                .collect();
            parts.sort();
            assert_eq!(parts.join(","), expected, "{given}");
        };
        check("debug", "arena=debug,warn");
        check("INFO", "arena=info,warn");
        check("error", "error");
        check("off", "off");
        check("arena_worker=trace,h2=info", "arena_worker=trace,h2=info");
    }

    #[test]
    fn invalid_directives_are_refused() {
        let error = parse("arena=loud")
            .map(|_| ())
            .map_err(|error| error.to_string());
        assert!(error.is_err_and(|text| text.contains("arena=loud") && text.contains("trace")));
    }
}
