//! The process of an engine.

use std::{
    ffi::OsString,
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use crate::{log, options::FoundOption};

/// Maximum bytes of a line of an engine.
const LINE_BYTES: u64 = 1 << 20;

/// Why an engine cannot play.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The operating system refuses it.
    #[error("cannot start the engine {}: {error}", program.display())]
    Start {
        /// The engine.
        program: OsString,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// It has ended.
    #[error("the engine ended")]
    Ended,
    /// It has ended before it described itself.
    #[error("it ended before it answered `uci` with `uciok`, as an engine that speaks UCI does")]
    NoUci,
    /// It wrote something too long.
    #[error("the engine wrote a line of more than {LINE_BYTES} bytes")]
    Long,
    /// Arena asks about a game that it did not describe.
    #[error("a question refers to game context {0}, which was not described")]
    Context(u32),
    /// A message of Arena cannot be read, or an answer cannot be written.
    #[error("a message of the line protocol: {0}")]
    Message(#[from] serde_json::Error),
    /// A pipe is broken.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What an engine says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) author: String,
    pub(crate) options: Vec<FoundOption>,
}

/// A running engine.
pub(crate) struct Engine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    /// Starts an engine, and asks it for its options.
    pub(crate) fn start(
        program: OsString,
        args: Vec<OsString>,
    ) -> Result<(Self, Found), EngineError> {
        let mut child = Command::new(&program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| EngineError::Start { program, error })?;
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut engine = Self {
            child,
            input,
            output,
        };
        let no_uci = |error| match error {
            EngineError::Ended => EngineError::NoUci,
            error => error,
        };
        engine.say("uci").map_err(no_uci)?;
        let mut found = Found::default();
        loop {
            let line = engine.next_line().map_err(no_uci)?;
            if line == "uciok" {
                break;
            } else if let Some(name) = line.strip_prefix("id name ") {
                name.trim().clone_into(&mut found.name);
            } else if let Some(author) = line.strip_prefix("id author ") {
                author.trim().clone_into(&mut found.author);
            } else if let Some(option) = line.strip_prefix("option ") {
                match FoundOption::parse(option) {
                    Some(option) => found.options.push(option),
                    None => log(&line),
                }
            } else if !line.is_empty() {
                log(&line);
            }
        }
        Ok((engine, found))
    }

    /// Sends a command.
    pub(crate) fn say(&mut self, command: &str) -> Result<(), EngineError> {
        let sent = self.input.write_all(format!("{command}\n").as_bytes());
        sent.map_err(|_| EngineError::Ended)
    }

    /// Waits until it has carried out all commands.
    pub(crate) fn wait_ready(&mut self) -> Result<(), EngineError> {
        self.say("isready")?;
        loop {
            match self.next_line()? {
                line if line == "readyok" => return Ok(()),
                line => log(&line),
            }
        }
    }

    /// Its next line, without white space at the ends.
    pub(crate) fn next_line(&mut self) -> Result<String, EngineError> {
        let mut line = Vec::new();
        let mut output = self.output.by_ref().take(LINE_BYTES);
        match output.read_until(b'\n', &mut line)? {
            0 => Err(EngineError::Ended),
            _ if line.len() as u64 == LINE_BYTES => Err(EngineError::Long),
            _ => Ok(String::from_utf8_lossy(&line).trim().to_owned()),
        }
    }

    /// Ends it. It has no game then, so nothing is lost if it is killed.
    pub(crate) fn quit(mut self) -> Result<(), EngineError> {
        self.say("quit")?;
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}
