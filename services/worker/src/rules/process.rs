//! One process of a package. Calls wait: the threads that play games use it directly.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, ErrorKind, Read, Write},
    os::{fd::AsFd, unix::fs::OpenOptionsExt},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use arena_model::rules::RULES_PROTOCOL;
use arena_sandbox::{STDIN, STDOUT};
use nix::{
    fcntl::OFlag,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{signal::Signal, stat::Mode},
    unistd::mkfifo,
};
use serde::Deserialize;

use super::{
    GameLine,
    messages::{Answer, Ask, Drawing, NodeMessage, Response, apply_line},
    output::wrong_field,
};
use crate::supervise::{Exit, Guarded};

/// Maximum time of an answer. A lease has a deadline of 10 s.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(4);
/// The same for the answers of a message with several questions.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum time for output to arrive that was printed before an error was answered.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(300);
/// Maximum bytes of a line.
const LINE_BYTES_MAX: usize = 4 << 20;
/// Maximum bytes of output that is no message.
const LOG_BYTES_MAX: usize = 16 << 20;

/// The worker's ends of the pipes to a process.
#[derive(Debug)]
pub(crate) struct RawPipes {
    input: File,
    output: File,
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

/// Why a process did not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProcessError {
    /// It closed its standard output.
    #[error("the process closed its standard output")]
    Closed,
    /// It took too long.
    #[error("it did not answer in time")]
    Late,
    /// Its answer is not what the protocol says.
    #[error("an answer does not follow the protocol: {0}")]
    Garbled(String),
    /// It answered with an error.
    #[error("the rules report an error: {0}")]
    Reported(String),
    /// The pipes failed.
    #[error("the pipe failed: {0}")]
    Io(#[from] io::Error),
}

impl ProcessError {
    /// True if the process is no more.
    pub(super) fn is_end(&self) -> bool {
        matches!(self, Self::Closed | Self::Io(_))
    }
}

/// A process that answers for the rules.
pub(super) struct RulesProcess {
    /// Its number among all of this program, from 1.
    number: u64,
    guarded: Guarded,
    pipes: RawPipes,
    /// What was read after the last line.
    rest: Vec<u8>,
    /// Bytes of output that was no message.
    log_bytes: usize,
    batch: u64,
    /// The first node of each game that it knows.
    games: BTreeMap<u32, Answer>,
}

impl RulesProcess {
    pub(super) fn new((guarded, pipes): (Guarded, RawPipes)) -> Self {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        Self {
            number: 1 + STARTED.fetch_add(1, Ordering::Relaxed),
            guarded,
            pipes,
            rest: Vec::new(),
            log_bytes: 0,
            batch: 0,
            games: BTreeMap::new(),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// How it ended, if it did.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.guarded.flood().or_else(|| self.guarded.exit())
    }

    /// True if SIGKILL ended it: no program does this to itself by mistake.
    pub(super) fn was_killed(&self) -> bool {
        self.exit() == Some(Exit::Signal(Signal::SIGKILL as i32))
    }

    /// The end of its standard error. After an error that it answered, waits for what it printed
    /// before.
    pub(super) fn tail(&self, error: &ProcessError) -> String {
        let tail = || self.guarded.output().tail();
        if let ProcessError::Reported(message) = error
            && let Some(last) = message.lines().last()
        {
            let deadline = Instant::now() + OUTPUT_TIMEOUT;
            while !tail().contains(last) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        tail()
    }

    /// Its description, as it is. It has this time to start.
    pub(super) fn describe(&mut self, limit: Duration) -> Result<String, ProcessError> {
        #[derive(Deserialize)]
        struct Typed {
            r#type: String,
        }
        let deadline = Instant::now() + limit;
        let request = serde_json::json!({"type": "describe", "protocol": RULES_PROTOCOL});
        self.write(&format!("{request}\n"), deadline)?;
        loop {
            let line = self.read_line(deadline)?;
            let typed: Result<Typed, _> = serde_json::from_slice(&line);
            let typed = typed.map_err(|error| ProcessError::Garbled(error.to_string()))?;
            match &*typed.r#type {
                "description" => {
                    let text = String::from_utf8(line);
                    return text.map_err(|error| ProcessError::Garbled(error.to_string()));
                }
                "error" => return Err(ProcessError::Reported(short(&line))),
                _ => {}
            }
        }
    }

    /// Waits for the answer to a question.
    pub(super) fn ask(&mut self, game: &GameLine, ask: &Ask<'_>) -> Result<Answer, ProcessError> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        self.open(game, deadline)?;
        self.batch += 1;
        let batch = self.batch;
        let Some(line) = ask.to_line(batch, game.number) else {
            return Ok(self.games[&game.number].clone());
        };
        self.write(&line, deadline)?;
        self.answer(deadline, |response| match response {
            Response::Nodes { batch: of, nodes } if of == batch => {
                let node = answers(nodes, 1).map(|mut nodes| nodes.swap_remove(0));
                Some(node)
            }
            Response::Drawings {
                batch: of,
                drawings,
                svgs,
            } if of == batch => {
                let text = drawings.into_iter().next();
                let svg = svgs.into_iter().next().flatten().unwrap_or_default();
                let drawing = text.map(|text| Answer::Drawing(Drawing { text, svg }));
                Some(drawing.ok_or_else(|| "no drawing".to_owned()))
            }
            _ => None,
        })
    }

    /// Waits for the nodes after these events, in their order. If it takes too long, each may be asked
    /// alone before the lease is over.
    pub(super) fn apply_all(
        &mut self,
        game: &GameLine,
        events: &[(&str, u16)],
    ) -> Result<Vec<Answer>, ProcessError> {
        let deadline = Instant::now() + MESSAGE_TIMEOUT;
        self.open(game, deadline)?;
        self.batch += 1;
        let batch = self.batch;
        self.write(&apply_line(batch, game.number, events), deadline)?;
        self.answer(deadline, |response| match response {
            Response::Nodes { batch: of, nodes } if of == batch => {
                Some(answers(nodes, events.len()))
            }
            _ => None,
        })
    }

    /// Opens a game that the process does not know yet.
    fn open(&mut self, game: &GameLine, deadline: Instant) -> Result<(), ProcessError> {
        if self.games.contains_key(&game.number) {
            return Ok(());
        }
        self.write(&game.line, deadline)?;
        let node = self.answer(deadline, |response| match response {
            Response::Initial { game: number, node } if number == game.number => {
                Some(Ok(Answer::Node(node)))
            }
            _ => None,
        })?;
        self.games.insert(game.number, node);
        Ok(())
    }

    /// Reads messages until one is the answer.
    fn answer<T>(
        &mut self,
        deadline: Instant,
        mut read: impl FnMut(Response) -> Option<Result<T, String>>,
    ) -> Result<T, ProcessError> {
        loop {
            let line = self.read_line(deadline)?;
            let response = serde_json::from_slice(&line).map_err(|error| {
                let problem = wrong_field(&line);
                let problem = problem.unwrap_or_else(|| format!("{error} in {}", short(&line)));
                ProcessError::Garbled(problem)
            })?;
            if let Response::Error { message } = response {
                return Err(ProcessError::Reported(message));
            }
            if let Some(answer) = read(response) {
                return answer.map_err(ProcessError::Garbled);
            }
        }
    }

    fn write(&mut self, line: &str, deadline: Instant) -> Result<(), ProcessError> {
        let mut left = line.as_bytes();
        while !left.is_empty() {
            match self.pipes.input.write(left) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.pipes.input, PollFlags::POLLOUT, deadline)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The next line that is a message.
    fn read_line(&mut self, deadline: Instant) -> Result<Vec<u8>, ProcessError> {
        // Before this place there is no end of a line.
        let mut searched = 0;
        let mut buffer = [0; 16 << 10];
        loop {
            if let Some(end) = self.rest[searched..].iter().position(|&byte| byte == b'\n') {
                let rest = self.rest.split_off(searched + end + 1);
                let line = std::mem::replace(&mut self.rest, rest);
                searched = 0;
                let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
                if first == Some(&b'{') {
                    return Ok(line);
                }
                self.log_bytes += line.len();
                if self.log_bytes > LOG_BYTES_MAX {
                    let problem = format!("more than {LOG_BYTES_MAX} bytes of other output");
                    return Err(ProcessError::Garbled(problem));
                }
                continue;
            }
            searched = self.rest.len();
            if searched > LINE_BYTES_MAX {
                let problem = format!("a line exceeds {LINE_BYTES_MAX} bytes");
                return Err(ProcessError::Garbled(problem));
            }
            match self.pipes.output.read(&mut buffer) {
                // Before the process opens the pipe, there is no end either.
                Ok(0) if self.has_ended() => return Err(ProcessError::Closed),
                Ok(0) => {
                    if Instant::now() >= deadline {
                        return Err(ProcessError::Late);
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Ok(count) => self.rest.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.pipes.output, PollFlags::POLLIN, deadline)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.exit().is_some()
    }
}

/// The nodes of a message that has to have this many.
fn answers(nodes: Vec<NodeMessage>, count: usize) -> Result<Vec<Answer>, String> {
    if nodes.len() != count {
        let plural = if count == 1 { "" } else { "s" };
        return Err(format!("{} nodes for {count} state{plural}", nodes.len()));
    }
    let answer = |node| Answer::Node(Box::new(node));
    Ok(nodes.into_iter().map(answer).collect())
}

/// Waits until a pipe can be used.
fn wait(pipe: &File, how: PollFlags, deadline: Instant) -> Result<(), ProcessError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ProcessError::Late);
    }
    let left = PollTimeout::try_from(left.as_millis() as u64 + 1).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(pipe.as_fd(), how)], left) {
        Ok(0) => Err(ProcessError::Late),
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

fn short(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.trim().chars().take(200).collect()
}
