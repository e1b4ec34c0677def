//! The pipes to the standard input of a process and from its standard output.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use arena_sandbox::{STDIN, STDOUT};
use arena_wire::v1;
use nix::{sys::stat::Mode, unistd::mkfifo};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
    sync::{mpsc, oneshot},
};

use super::{Lines, first_line};
use crate::supervise::{Exit, Output};

/// Maximum bytes of a line: answers to the largest batch, with details of the search.
const LINE_BYTES: usize = 4 << 20;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// The worker's ends of the pipes, before it is known which protocol the process speaks.
#[derive(Debug)]
pub(crate) struct Pipes {
    path: PathBuf,
    /// Open for reading and writing, so that the process finds its first line.
    input: File,
    said: oneshot::Receiver<Result<v1::DescribeResponse, String>>,
    pub(crate) lines: Lines,
}

/// Makes the pipes of a process in a folder: the path of its standard input, its standard input, open
/// for reading and writing, and its standard output.
fn make(folder: &Path) -> io::Result<(PathBuf, File, pipe::Receiver)> {
    let [path, output] = [STDIN, STDOUT].map(|name| folder.join(name));
    for path in [&path, &output] {
        mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?;
    }
    let input = File::options().read(true).write(true).open(&path)?;
    let output = pipe::OpenOptions::new().open_receiver(&output)?;
    Ok((path, input, output))
}

/// Creates the pipes of a process that speaks gRPC: nothing is written to its standard input, and its
/// standard output is part of its log.
pub(crate) fn create_silent(folder: &Path) -> io::Result<(File, (Stdout, Lines))> {
    let (_, input, output) = make(folder)?;
    let lines = Lines::silent();
    let stdout = Stdout {
        output,
        lines: lines.clone(),
        rest: Rest::Start,
    };
    Ok((input, (stdout, lines)))
}

impl Pipes {
    /// Creates the pipes of a process in a folder, and writes the first line. Also returns what the
    /// process writes.
    pub(crate) fn create(folder: &Path) -> io::Result<(Self, Stdout)> {
        let (path, mut input, output) = make(folder)?;
        // A new pipe has room for it.
        input.write_all(&first_line())?;
        let (lines, said) = Lines::starting();
        let stdout = Stdout {
            output,
            lines: lines.clone(),
            rest: Rest::Start,
        };
        let pipes = Self {
            path,
            input,
            said,
            lines,
        };
        Ok((pipes, stdout))
    }

    /// Waits for the process's `hello`. The error is a problem with it.
    pub(crate) async fn hello(&mut self) -> Result<v1::DescribeResponse, String> {
        match (&mut self.said).await {
            Ok(said) => said,
            // The process has ended, which others notice.
            Err(_) => std::future::pending().await,
        }
    }

    /// The connection to a process that said `hello`.
    pub(crate) fn speak(self) -> io::Result<Lines> {
        // From now on, only the process can read, so that writing fails if it closes its input.
        let input = pipe::OpenOptions::new().open_sender(&self.path)?;
        drop(self.input);
        let (sender, lines) = mpsc::unbounded_channel();
        self.lines.speak(sender);
        tokio::spawn(write(input, lines, self.lines.clone()));
        Ok(self.lines)
    }

    /// The process speaks gRPC: its standard input ends.
    pub(crate) fn silence(self) {
        drop(self.input);
        self.lines.silence();
    }
}

async fn write(
    mut input: pipe::Sender,
    mut waiting: mpsc::UnboundedReceiver<Vec<u8>>,
    lines: Lines,
) {
    while let Some(line) = waiting.recv().await {
        if input.write_all(&line).await.is_err() {
            return lines.close("the agent closed its standard input");
        }
    }
}

/// The standard output of a process: lines of the protocol, and its log.
#[derive(Debug)]
pub(crate) struct Stdout {
    output: pipe::Receiver,
    lines: Lines,
    rest: Rest,
}

/// What of the last line was read.
#[derive(Debug)]
enum Rest {
    /// Nothing.
    Start,
    /// A part that may be a message.
    Message(Vec<u8>),
    /// A part that belongs to the log.
    Log,
    /// Too much of a message.
    Skipped,
}

impl Stdout {
    /// Reads until no process has the output open any more, or until it has written too much. Log
    /// lines are added to `log`.
    pub(crate) async fn drain(&mut self, limit: u64, log: &Output, flood: &OnceLock<Exit>) {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match self.output.read(&mut buffer).await {
                Ok(0) | Err(_) => {
                    if let Rest::Message(rest) = std::mem::replace(&mut self.rest, Rest::Start) {
                        log.push(&rest);
                    }
                    return self.lines.close("the agent closed its standard output");
                }
                Ok(count) => self.read(&buffer[..count], log),
            }
            if log.total() > limit {
                // Before the pipe is closed, which the agent notices.
                let _ = flood.set(Exit::OutputLimit(limit));
                return;
            }
        }
    }

    fn read(&mut self, bytes: &[u8], log: &Output) {
        // Log lines that follow each other are added at once.
        let mut log_from = 0;
        let mut at = 0;
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let start = at;
            at += piece.len();
            let ends = piece.ends_with(b"\n");
            let mut kept = std::mem::replace(&mut self.rest, Rest::Start);
            if let Rest::Start = kept {
                let first = piece.iter().find(|byte| !byte.is_ascii_whitespace());
                kept = match first {
                    Some(b'{') if ends => {
                        if self.lines.heard(piece) {
                            log.push(&bytes[log_from..start]);
                            log_from = at;
                        }
                        continue;
                    }
                    Some(b'{') => Rest::Message(Vec::new()),
                    _ => Rest::Log,
                };
            }
            match kept {
                Rest::Log | Rest::Start if ends => {}
                Rest::Log | Rest::Start => self.rest = Rest::Log,
                Rest::Skipped => {
                    log_from = at;
                    if !ends {
                        self.rest = Rest::Skipped;
                    }
                }
                Rest::Message(mut line) => {
                    log.push(&bytes[log_from..start]);
                    log_from = at;
                    line.extend_from_slice(piece);
                    if line.len() > LINE_BYTES {
                        self.lines.heard_too_much(LINE_BYTES);
                        if !ends {
                            self.rest = Rest::Skipped;
                        }
                    } else if !ends {
                        self.rest = Rest::Message(line);
                    } else if !self.lines.heard(&line) {
                        log.push(&line);
                    }
                }
            }
        }
        log.push(&bytes[log_from..]);
    }
}
