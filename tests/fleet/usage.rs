//! CPU time and memory of a process, from `/proc`.

use std::{fs, io, time::Duration};

use nix::unistd::{SysconfVar, sysconf};

/// CPU time and memory of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// User and system time of all its threads since its start.
    pub cpu: Duration,
    /// User and system time of its ended children.
    pub cpu_ended_children: Duration,
    /// Resident memory in bytes.
    pub rss_bytes: u64,
    /// Peak resident memory in bytes.
    pub rss_peak_bytes: u64,
}

impl Usage {
    /// Reads the usage of a running process.
    ///
    /// # Errors
    /// If there is no such process.
    pub fn of(process: u32) -> io::Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The process name in parentheses may contain spaces.
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .map_or("", |(_, rest)| rest)
            .split_whitespace()
            .collect();
        let ticks = |field: usize| -> u64 {
            fields
                .get(field)
                .and_then(|text| text.parse().ok())
                .unwrap_or_default()
        };
        let ticks_per_s = sysconf(SysconfVar::CLK_TCK)?.unwrap_or(100) as f64;
        let user_and_system = |user: usize| {
            Duration::from_secs_f64((ticks(user) + ticks(user + 1)) as f64 / ticks_per_s)
        };
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let kib = |name: &str| -> u64 {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
                .unwrap_or_default()
        };
        Ok(Self {
            cpu: user_and_system(11),
            cpu_ended_children: user_and_system(13),
            rss_bytes: kib("VmRSS:") << 10,
            rss_peak_bytes: kib("VmHWM:") << 10,
        })
    }
}
