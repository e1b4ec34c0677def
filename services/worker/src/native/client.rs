//! The driver's client of one built-in agent, in games whose other seats are elsewhere.

use std::{
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Instant,
};

use arena_engine::{ActionId, AnyMatch, Question};
use tokio::sync::mpsc::UnboundedSender;

use super::{NativeRunner, PlyCounter, Pool};
use crate::{
    agent::{Event, Token, window::Window},
    clock::Allowance,
    lock,
};

/// Maximum questions at a time.
const AT_ONCE: usize = 4096;

/// Questions to one built-in agent, with encoded positions.
#[derive(Debug, Default)]
pub(super) struct Questions {
    pub(super) positions: Vec<u8>,
    pub(super) legal: Vec<ActionId>,
    pub(super) asked: Vec<Asked>,
    /// Time at which the first of them was wanted.
    pub(super) since: Option<Instant>,
    /// Answered questions.
    pub(super) answered: Arc<PlyCounter>,
}

#[derive(Debug)]
pub(super) struct Asked {
    pub(super) token: Token,
    pub(super) question: Question,
    pub(super) allowance: Allowance,
    /// True if the answer is not wanted any more.
    pub(super) unwanted: Arc<AtomicBool>,
    /// End of position and legal actions.
    pub(super) position: usize,
    pub(super) legal: usize,
}

/// How many questions the agent gets at a time.
struct Load {
    window: Window,
    /// Open questions.
    open: usize,
}

/// The client of the driver for one built-in agent in the pool.
pub(crate) struct NativeClient {
    agent: u16,
    runner: Arc<NativeRunner>,
    load: Arc<Mutex<Load>>,
    waiting: Questions,
}

impl NativeClient {
    pub(crate) fn new(agent: u16, runner: Arc<NativeRunner>) -> Self {
        let load = Load {
            window: Window::new(AT_ONCE),
            open: 0,
        };
        Self {
            agent,
            runner,
            load: Arc::new(Mutex::new(load)),
            waiting: Questions::default(),
        }
    }

    /// True if a game of this agent may start while this many are played.
    pub(crate) fn has_room(&self, active: usize) -> bool {
        let load = lock(&self.load);
        load.window.has_room(active, load.open, 1)
    }

    /// Adds a question, which is sent with the next [`NativeClient::flush`]. Returns the progress
    /// of its job.
    pub(crate) fn ask(
        &mut self,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
        allowance: Allowance,
        unwanted: Arc<AtomicBool>,
    ) -> Arc<PlyCounter> {
        let waiting = &mut self.waiting;
        waiting.since.get_or_insert_with(Instant::now);
        game.save(&mut waiting.positions);
        waiting.legal.extend_from_slice(game.legal());
        waiting.asked.push(Asked {
            token,
            question,
            allowance,
            unwanted,
            position: waiting.positions.len(),
            legal: waiting.legal.len(),
        });
        waiting.answered.clone()
    }

    /// Passes waiting questions to the pool.
    pub(crate) fn flush(&mut self, pool: &Pool, events: &UnboundedSender<Event>) {
        let asked = self.waiting.asked.len();
        if asked == 0 {
            return;
        }
        let questions = std::mem::take(&mut self.waiting);
        let (agent, runner) = (self.agent, self.runner.clone());
        let number = runner.number;
        let (load, events) = (self.load.clone(), events.clone());
        lock(&load).open += asked;
        pool.add(number, true, move || {
            let start = Instant::now();
            let answers = runner.answer(agent, &questions);
            let mut load = lock(&load);
            load.open -= asked;
            load.window.answered(asked, start.elapsed());
            drop(load);
            let _ = events.send(Event::Answers(answers));
        });
    }
}
