//! The machine of a measurement.

use std::fs;

use serde::Serialize;

/// The machine, as Linux describes it.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    /// Year, month and day in UTC.
    pub(crate) date: String,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_gb: f64,
    pub(crate) kernel: String,
    /// `release` or `debug`, of this program.
    pub(crate) build: &'static str,
    /// Load average of the last minute, before and after.
    pub(crate) load_start: f64,
    pub(crate) load_end: f64,
}

impl Machine {
    pub(crate) fn here() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let value = |path: &str, key: &str| {
            text(path).lines().find_map(|line| {
                let rest = line.strip_prefix(key)?;
                Some(rest.trim_start_matches([' ', '\t', ':']).to_owned())
            })
        };
        let memory_kb = value("/proc/meminfo", "MemTotal")
            .and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        Self {
            date: today(),
            cpu: value("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gb: memory_kb.unwrap_or(0.0) / 1024.0 / 1024.0,
            // Without the suffix of the distribution.
            kernel: text("/proc/sys/kernel/osrelease")
                .split(['-', '\n'])
                .next()
                .unwrap_or_default()
                .to_owned(),
            build: if cfg!(debug_assertions) {
                "debug"
            } else {
                "dist"
            },
            load_start: Self::load(),
            load_end: 0.0,
        }
    }

    pub(crate) fn load() -> f64 {
        let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let first = text.split_whitespace().next();
        first.and_then(|load| load.parse().ok()).unwrap_or(0.0)
    }
}

/// The date, from the days since 1970 (the civil calendar's 400-year cycle,
/// counted from March so that the leap day comes last).
fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = since.map_or(0, |since| since.as_secs() / 86_400) + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}
