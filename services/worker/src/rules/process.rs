//! One process of a package. Calls wait: the threads that play games use it directly.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    thread::ThreadId,
    time::{Duration, Instant},
};

use arena_wire::v1;
use nix::sys::signal::Signal;
use tokio::runtime::Handle;

use super::{
    OpenGame,
    failure::{ProcessError, exit_of},
    grpc::GrpcLink,
    lines::LineLink,
    loaded,
    messages::{Answer, Ask, NodeMessage, Reply, Request},
};
use crate::supervise::{Exit, Guarded, RawLink};

/// Maximum time of an answer. A lease has a deadline of 10 s.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(4);
/// The same for the answers of a message with several questions.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum time for output to arrive that was printed before an error was answered.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(300);

/// How questions reach a process.
enum Link {
    Lines(LineLink),
    Grpc(GrpcLink),
}

/// A process that answers for the rules.
pub(super) struct RulesProcess {
    /// The thread that goes on with it.
    user: Option<ThreadId>,
    guarded: Guarded,
    link: Link,
    batch: u64,
    /// The first node of each game that it knows.
    games: BTreeMap<u32, Answer>,
}

impl RulesProcess {
    /// A process that was started. Its connection needs the runtime that watches it.
    pub(super) fn new((guarded, link): (Guarded, RawLink), runtime: &Handle) -> Self {
        Self {
            user: None,
            guarded,
            link: match link {
                RawLink::Lines(pipes) => Link::Lines(LineLink::new(pipes)),
                RawLink::Grpc(socket) => Link::Grpc(GrpcLink::new(socket, runtime.clone())),
            },
            batch: 0,
            games: BTreeMap::new(),
        }
    }

    /// The thread that asked it last, unless that was a single question.
    pub(super) fn user(&self) -> Option<ThreadId> {
        self.user
    }

    pub(super) fn set_user(&mut self, thread: Option<ThreadId>) {
        self.user = thread;
    }

    /// How it ended, if it did.
    pub(super) fn exit(&self) -> Option<Exit> {
        exit_of(&self.guarded)
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

    /// Its description as JSON. It has this time to start.
    pub(super) fn describe(&mut self, limit: Duration) -> Result<String, ProcessError> {
        let deadline = Instant::now() + limit;
        match &mut self.link {
            Link::Lines(link) => link.describe(&self.guarded, deadline),
            Link::Grpc(link) => link.describe(&self.guarded, deadline),
        }
    }

    /// The files with code that it has loaded, without those of its package and of `guard`.
    pub(super) fn loaded(&self, guard: &Path) -> io::Result<Vec<v1::LoadedFile>> {
        loaded::loaded(&self.guarded.processes(), guard, self.guarded.folder())
    }

    /// The most memory that it used, in bytes, without `guard`; none if the system does not show it.
    pub(super) fn memory(&self, guard: &Path) -> Option<u64> {
        let guard = guard.canonicalize().ok()?;
        let processes = self.guarded.processes().into_iter();
        let processes = processes.filter_map(|id| procfs::process::Process::new(id).ok());
        let own = processes.filter(|it| it.exe().is_ok_and(|program| program != guard));
        let used = own.filter_map(|it| it.status().ok()?.vmhwm);
        Some(used.sum::<u64>() << 10).filter(|&bytes| bytes > 0)
    }

    /// Waits for the answer to a question.
    pub(super) fn ask(&mut self, game: &OpenGame, ask: &Ask<'_>) -> Result<Answer, ProcessError> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        self.open(game, deadline)?;
        self.batch += 1;
        let Some(request) = Request::of(*ask, self.batch, game.number) else {
            return Ok(self.games[&game.number].clone());
        };
        let answer = match self.send(&request, deadline)? {
            Reply::Nodes(nodes) => answers(nodes, 1)?.swap_remove(0),
            Reply::Drawings(drawings) => {
                let first = drawings.into_iter().next();
                Answer::Drawing(first.ok_or_else(|| garbled("no drawing"))?)
            }
            Reply::Initial(_) => return Err(garbled("a first node instead of an answer")),
        };
        Ok(answer)
    }

    /// Waits for the nodes after these events, in their order. If it takes too long, each may be asked
    /// alone before the lease is over.
    pub(super) fn apply_all(
        &mut self,
        game: &OpenGame,
        events: &[(&str, u32)],
    ) -> Result<Vec<Answer>, ProcessError> {
        let deadline = Instant::now() + MESSAGE_TIMEOUT;
        self.open(game, deadline)?;
        self.batch += 1;
        let request = Request::apply(self.batch, game.number, events);
        match self.send(&request, deadline)? {
            Reply::Nodes(nodes) => answers(nodes, events.len()),
            _ => Err(garbled("no nodes")),
        }
    }

    /// Opens a game that the process does not know yet.
    fn open(&mut self, game: &OpenGame, deadline: Instant) -> Result<(), ProcessError> {
        if self.games.contains_key(&game.number) {
            return Ok(());
        }
        let Reply::Initial(node) = self.send(&Request::Game(game), deadline)? else {
            return Err(garbled("no first node"));
        };
        self.games.insert(game.number, Answer::Node(node));
        Ok(())
    }

    fn send(&mut self, request: &Request<'_>, deadline: Instant) -> Result<Reply, ProcessError> {
        match &mut self.link {
            Link::Lines(link) => link.ask(request, &self.guarded, deadline),
            Link::Grpc(link) => link.ask(request, &self.guarded, deadline),
        }
    }
}

fn garbled(problem: &str) -> ProcessError {
    ProcessError::Garbled(problem.to_owned())
}

/// The nodes of a message that has to have this many.
fn answers(nodes: Vec<NodeMessage>, count: usize) -> Result<Vec<Answer>, ProcessError> {
    if nodes.len() != count {
        let plural = if count == 1 { "" } else { "s" };
        let problem = format!("{} nodes for {count} state{plural}", nodes.len());
        return Err(ProcessError::Garbled(problem));
    }
    let answer = |node| Answer::Node(Box::new(node));
    Ok(nodes.into_iter().map(answer).collect())
}
