//! Conversions between plain data and messages.

mod columns;
mod endings;
mod options;
mod play;
mod record;

use arena_model::{Package, RulesContent};

use crate::v1;

pub use crate::rules::{DescribedGame, described};
pub use endings::fault_kind;
pub use options::{
    option_spec_from_wire, option_spec_to_wire, options_from_wire, options_to_wire,
    required_options,
};
pub use play::{adjudication_rules, match_setup, record_setup};

/// Default start timeout of a binary.
const START_TIMEOUT_US: u64 = 10_000_000;

/// A message with a missing or invalid field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {problem}")]
pub struct ConvertError {
    /// Name of the message.
    pub message: &'static str,
    /// The problem.
    pub problem: String,
}

pub(crate) fn wrong<T>(
    message: &'static str,
    problem: impl Into<String>,
) -> Result<T, ConvertError> {
    Err(ConvertError {
        message,
        problem: problem.into(),
    })
}

/// The identity of a registered binary: the digest of its file, arguments and limits.
#[must_use]
pub fn content(binary: &v1::BinarySource) -> String {
    let limits = binary.limits.unwrap_or_default();
    let start = Some(limits.start_timeout_us).filter(|&start| start != START_TIMEOUT_US);
    let limits = [
        ("memory_bytes", limits.memory_bytes),
        ("output_bytes", limits.output_bytes),
        ("processes", limits.processes.into()),
        ("disk_bytes", limits.disk_bytes),
        ("cpu_us", limits.cpu_us),
        ("start_timeout_us", start.unwrap_or_default()),
    ];
    Package {
        files: [(Package::path(&binary.file_name), binary.sha256.as_str())].into(),
        args: &binary.args,
        limits: limits.into_iter().filter(|limit| limit.1 > 0).collect(),
    }
    .digest()
}

/// The identity of rules that are a package, with what it had loaded.
#[must_use]
pub fn rules_content(rules: &v1::RulesPackage) -> String {
    let package = rules.package.as_ref().map(content).unwrap_or_default();
    let loaded = rules.loaded.iter();
    let loaded = loaded.map(|file| (&*file.name, hex(&file.sha256)));
    RulesContent {
        package: &package,
        loaded: loaded.collect(),
    }
    .digest()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
