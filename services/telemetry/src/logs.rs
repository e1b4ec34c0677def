//! Logs to stderr.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, filter::ParseError, layer::SubscriberExt, util::TryInitError};
use tracing_subscriber::{Layer, Registry, fmt, util::SubscriberInitExt};

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
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match format {
        Format::Text => fmt::layer()
            .with_writer(io::stderr)
            .with_ansi(colour())
            .boxed(),
        Format::Json => fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(io::stderr)
            .boxed(),
    };
    tracing_subscriber::registry()
        .with(layer.with_filter(filter))
        .try_init()?;
    Ok(())
}

fn parse(filter: &str) -> Result<EnvFilter, LogError> {
    let wanted = filter.trim();
    let directives = match wanted.parse::<tracing::level_filters::LevelFilter>() {
        Ok(level) if level > tracing::level_filters::LevelFilter::WARN => {
            format!("warn,arena={level}")
        }
        _ => wanted.to_owned(),
    };
    EnvFilter::builder()
        .parse(directives)
        .map_err(|source| LogError::Filter {
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
    use super::*;

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
