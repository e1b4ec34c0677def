//! What the process of an agent or ruleset may ask for at its registration. A lease waits for an agent as
//! long as it may take to start, and a worker gives it what it asks for.

use arena_wire::{
    limits::{self, Limit, UNLIMITED},
    v1::{AgentLimits, BinarySource},
};

use crate::{error::Error, principal::Principal};

// The maxima for everyone; the limits of a token can only be lower.
pub(crate) const MEMORY_MIB_MAX: u64 = 1 << 20;
pub(crate) const SCRATCH_MIB_MAX: u64 = 1 << 20;
pub(crate) const PROCESSES_MAX: u64 = 4096;
pub(crate) const CPUS_MAX: u64 = 1024;
pub(crate) const START_SECONDS_MAX: u64 = 600;
/// A year; but without a limit there is none.
const CPU_SECONDS_MAX: u64 = 365 * 86_400;
const OUTPUT_BYTES_MAX: u64 = 1 << 30;

const MIB: u64 = 1 << 20;
const SECOND_US: u64 = 1_000_000;

/// Fails if a process asks for more than its registration may.
pub(crate) fn check(
    what: &str,
    name: &str,
    binary: &BinarySource,
    cpus: u32,
    by: &Principal,
) -> Result<(), Error> {
    let AgentLimits {
        start_timeout_us,
        memory_bytes,
        processes,
        output_bytes,
        disk_bytes,
        cpu_us,
    } = binary.limits.unwrap_or_default().or_default();
    let refuse = |asked, most, of: &str| {
        Err(Error::Request(format!(
            "{what} \"{name}\": at most {most} {of}, not {asked}"
        )))
    };
    let demands: [(&'static Limit, u64, u64); 6] = [
        (
            &limits::AGENT_MEMORY,
            memory_bytes.div_ceil(MIB),
            MEMORY_MIB_MAX,
        ),
        (
            &limits::AGENT_SCRATCH,
            disk_bytes.div_ceil(MIB),
            SCRATCH_MIB_MAX,
        ),
        (&limits::AGENT_PROCESSES, processes.into(), PROCESSES_MAX),
        (&limits::AGENT_CPUS, cpus.max(1).into(), CPUS_MAX),
        (
            &limits::AGENT_CPU_TIME,
            cpu_us.div_ceil(SECOND_US),
            CPU_SECONDS_MAX,
        ),
        (
            &limits::AGENT_START,
            start_timeout_us.div_ceil(SECOND_US),
            START_SECONDS_MAX,
        ),
    ];
    for (limit, asked, most) in demands {
        if asked > most {
            return refuse(asked, most, limit.counted(most));
        }
        let asked = match asked {
            0 => UNLIMITED,
            asked => asked,
        };
        by.check_limit(limit, 0, asked)?;
    }
    match output_bytes > OUTPUT_BYTES_MAX {
        true => refuse(output_bytes, OUTPUT_BYTES_MAX, "bytes of output"),
        false => Ok(()),
    }
}
