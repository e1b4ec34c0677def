//! How questions reach a process that answers for rules, before its first answer.

use std::{fs::File, io, os::unix::fs::OpenOptionsExt, path::Path};

use arena_sandbox::{STDIN, STDOUT};
use nix::{fcntl::OFlag, sys::stat::Mode, unistd::mkfifo};

/// How a process was started, by the protocol that it speaks.
#[derive(Debug)]
pub(crate) enum RawLink {
    Lines(RawPipes),
    Grpc(RawSocket),
}

/// The worker's ends of the pipes to a process.
#[derive(Debug)]
pub(crate) struct RawPipes {
    pub(crate) input: File,
    pub(crate) output: File,
}

impl RawPipes {
    /// Creates the pipes in a folder.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let [input, output] = [STDIN, STDOUT].map(|name| folder.join(name));
        for path in [&input, &output] {
            mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?;
        }
        let mut options = File::options();
        options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
        let output = options.open(&output)?;
        // Also open for reading: else it could not be opened before the process does.
        let input = options.write(true).open(&input)?;
        Ok(Self { input, output })
    }
}

/// Where a process listens, and the worker's end of its standard input.
#[derive(Debug)]
pub(crate) struct RawSocket {
    pub(crate) url: String,
    /// Open until the process is ready: its guard waits for a writer.
    pub(crate) input: File,
}
