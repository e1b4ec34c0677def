//! Logs to stderr.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, filter::ParseError, layer::SubscriberExt, util::TryInitError};
use tracing_subscriber::{Layer, Registry, fmt, util::SubscriberInitExt};

/// The environment variable that says what to log.
pub const ENV: &str = "ARENA_LOG";

/// What a line of the log looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Logs could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// What to log is not understood.
    #[error(
        "\"{filter}\" does not say what to log: use a level (error, warn, info, debug, trace) or directives such as arena_worker=debug,warn"
    )]
    Filter {
        /// What was given.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: ParseError,
    },
    /// Something else has set logs up before.
    #[error("logs are set up already")]
    Installed(#[from] TryInitError),
}

/// Logs to stderr from now on. `filter` is a level, which holds for Arena's
/// own lines (others': `warn`), or directives `target=level,…`. Colour only on
/// a terminal, and never with `NO_COLOR`.
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
    fn a_level_holds_for_our_own_lines_and_others_are_kept_to_warnings() {
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
    fn directives_that_are_none_are_refused() {
        let error = parse("arena=loud")
            .map(|_| ())
            .map_err(|error| error.to_string());
        assert!(error.is_err_and(|text| text.contains("arena=loud") && text.contains("trace")));
    }
}
