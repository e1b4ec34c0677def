//! The manifest: how a package is started.

use std::{ffi::OsString, path::Path};

use arena_model::spec::REPLICAS_MAX;
use serde::Deserialize;

use super::{
    PackageError,
    layout::{Layout, Node, clean},
};

/// File name of the manifest, at the top of a package.
pub const MANIFEST: &str = "arena-agent.toml";

/// Maximum bytes of a manifest.
pub(super) const BYTES_MAX: usize = 64 << 10;

/// Contents of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// A program and its arguments. A relative program is searched in the package first and then,
    /// if it is a plain name, on `PATH`.
    command: Vec<String>,
    /// What it speaks, if that has to be named.
    protocol: Option<Protocol>,
    /// As [`Resources`], unless the registration says otherwise.
    cpus: Option<u32>,
    memory_mib: Option<u64>,
    replicas: Option<u32>,
}

/// A protocol that has to be named, because the program waits until it is asked. An agent that speaks
/// gRPC or lines shows it when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Universal Chess Interface.
    Uci,
    /// gRPC: rules answer lines otherwise.
    Grpc,
}

/// What an agent needs of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Number of cores of each process.
    pub cpus: Option<u32>,
    /// Memory limit of each process, in MiB.
    pub memory_mib: Option<u64>,
    /// Maximum number of processes on a worker.
    pub replicas: Option<u32>,
}

impl Manifest {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, PackageError> {
        let wrong = |problem: &str| PackageError::content(format!("{MANIFEST}: {problem}"));
        if bytes.len() > BYTES_MAX {
            return Err(wrong(&format!("it exceeds {BYTES_MAX} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8"))?;
        let manifest: Self = toml::from_str(text).map_err(|error| {
            let error = error.to_string();
            let example = "must be a list, such as command = [\"python3\", \"agent.py\"]";
            wrong(&format!("{}\n{example}", error.trim_end()))
        })?;
        let Some(program) = manifest.command.first() else {
            return Err(wrong(
                "command is empty: add command = [\"PROGRAM\", \"ARG\", …]",
            ));
        };
        if program.is_empty() || manifest.command.iter().any(|word| word.contains('\0')) {
            return Err(wrong("command has an empty program or a zero byte"));
        }
        let Resources {
            cpus,
            memory_mib,
            replicas,
        } = manifest.resources();
        for (key, value, most) in [
            ("cpus", cpus.map(u64::from), 1024),
            ("memory_mib", memory_mib, 1 << 30),
            ("replicas", replicas.map(u64::from), REPLICAS_MAX.into()),
        ] {
            if let Some(value) = value
                && !(1..=most).contains(&value)
            {
                return Err(wrong(&format!("{key} = {value}: must be from 1 to {most}")));
            }
        }
        Ok(manifest)
    }

    /// What it declares.
    pub(super) fn resources(&self) -> Resources {
        Resources {
            cpus: self.cpus,
            memory_mib: self.memory_mib,
            replicas: self.replicas,
        }
    }

    /// The protocol that it names.
    #[must_use]
    pub fn protocol(&self) -> Option<Protocol> {
        self.protocol
    }

    /// The path of the program in the package, if it is searched there.
    fn inside(&self, layout: &Layout) -> Result<Option<String>, PackageError> {
        let program = &self.command[0];
        if program.starts_with('/') {
            return Ok(None);
        }
        let path = clean(program)?;
        // A plain name that is not in the package is searched on PATH.
        Ok((program.contains('/') || layout.get(&path).is_some()).then_some(path))
    }

    /// Checks the program against the files of the package.
    pub(super) fn check(&self, layout: &Layout) -> Result<(), PackageError> {
        let Some(path) = self.inside(layout)? else {
            return Ok(());
        };
        let problem = match layout.get(&path) {
            None => "is not in the package".to_owned(),
            Some(Node::File {
                executable: false, ..
            }) => format!(
                "is not executable: run chmod +x, or name its interpreter, such as command = \
                 [\"python3\", \"{path}\"]"
            ),
            Some(Node::File { .. } | Node::Link { .. }) => return Ok(()),
        };
        Err(PackageError::content(format!(
            "{MANIFEST}: the program {path} of command {problem}"
        )))
    }

    /// The program and its arguments, for a package that was unpacked into a folder.
    #[must_use]
    pub fn command(&self, folder: &Path) -> (OsString, Vec<OsString>) {
        let program = &self.command[0];
        let inside = folder.join(program);
        let program = match program.contains('/') || inside.is_file() {
            true => inside.into_os_string(),
            false => program.into(),
        };
        let args = self.command[1..].iter().map(OsString::from).collect();
        (program, args)
    }
}
