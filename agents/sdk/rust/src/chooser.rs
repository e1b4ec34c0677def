//! Puts questions to players, one thread's worth.

use std::{
    any::Any,
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use arena_wire::v1::{
    ChooseMoveRequest, ChooseMoveResponse, ChooseMovesRequest, ChooseMovesResponse, Decision,
    GameContext,
};
use prost::Message;
use tonic::Status;

use crate::agent::{Choice, Player, Process, Question};

/// Players kept for later questions; more contexts than this start afresh.
const PLAYERS_MAX: usize = 1024;

/// Why there is no choice.
#[derive(Clone, Debug)]
enum Failure {
    Refused(String),
    Panicked(String),
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(reason) => Self::invalid_argument(reason),
            Failure::Panicked(reason) => Self::internal(format!("the agent panicked: {reason}")),
        }
    }
}

/// The players of a process, made when first asked for.
pub(crate) struct Chooser<P> {
    process: Arc<P>,
    players: Vec<Box<dyn Player>>,
    /// Index into `players` by encoded context.
    known: HashMap<Vec<u8>, usize>,
    key: Vec<u8>,
    /// For each context of the message at hand: its player.
    seated: Vec<Result<usize, Failure>>,
}

/// The answers to a batch, and the status that ends the stream where some are
/// missing.
pub(crate) type Answered = (ChooseMovesResponse, Option<Status>);

impl<P: Process> Chooser<P> {
    pub(crate) fn new(process: Arc<P>) -> Self {
        Self {
            process,
            players: Vec::new(),
            known: HashMap::new(),
            key: Vec::new(),
            seated: Vec::new(),
        }
    }

    /// True where a player of these contexts may take longer than a health
    /// check can wait.
    pub(crate) fn thinks_long(&mut self, contexts: &[GameContext]) -> bool {
        self.forget_some();
        contexts.iter().any(|context| {
            self.seat(context)
                .is_ok_and(|player| self.players[player].thinks_long())
        })
    }

    pub(crate) fn answer(
        &mut self,
        request: &ChooseMoveRequest,
    ) -> Result<ChooseMoveResponse, Status> {
        let (Some(context), Some(decision)) = (&request.context, &request.decision) else {
            return Err(Status::invalid_argument(
                "a question needs a context and a decision",
            ));
        };
        self.forget_some();
        let started = Instant::now();
        let player = self.seat(context)?;
        let budget = share(request.time_budget_us, 1);
        let choice = self.ask(player, context, decision, budget)?;
        let mut info = choice.info.unwrap_or_default();
        info.thinking_us.get_or_insert(micros(started));
        Ok(ChooseMoveResponse {
            move_id: choice.move_id,
            info: Some(info),
        })
    }

    /// Answers what can be answered of a batch.
    pub(crate) fn answer_batch(&mut self, request: &ChooseMovesRequest) -> Answered {
        self.forget_some();
        let started = Instant::now();
        let mut seated = std::mem::take(&mut self.seated);
        seated.clear();
        seated.extend(request.contexts.iter().map(|context| self.seat(context)));
        let budget = share(request.time_budget_us, request.decisions.len());
        let mut choices = Vec::with_capacity(request.decisions.len());
        let mut failed = None;
        for decision in &request.decisions {
            let context = decision.context as usize;
            let choice = match seated.get(context) {
                Some(Ok(player)) => self.ask(*player, &request.contexts[context], decision, budget),
                Some(Err(failure)) => Err(failure.clone()),
                None => Err(Failure::Refused(format!(
                    "decision {} names context {context} of {}",
                    decision.slot,
                    request.contexts.len(),
                ))),
            };
            match choice {
                Ok(Choice { move_id, info }) => choices.push(arena_wire::v1::Choice {
                    slot: decision.slot,
                    move_id,
                    info,
                }),
                Err(failure) => {
                    let ends = matches!(failure, Failure::Panicked(_));
                    failed.get_or_insert(failure);
                    if ends {
                        break;
                    }
                }
            }
        }
        self.seated = seated;
        let response = ChooseMovesResponse {
            batch: request.batch,
            choices,
            thinking_us: Some(micros(started)),
        };
        (response, failed.map(Status::from))
    }

    /// The index of a context's player.
    fn seat(&mut self, context: &GameContext) -> Result<usize, Failure> {
        self.key.clear();
        context
            .encode(&mut self.key)
            .expect("a vector has room for every message");
        if let Some(&index) = self.known.get(&self.key) {
            return Ok(index);
        }
        let made = catch_unwind(AssertUnwindSafe(|| self.process.player(context)));
        let player = made
            .map_err(|panic| Failure::Panicked(panic_text(&*panic)))?
            .map_err(|refusal| Failure::Refused(refusal.to_string()))?;
        let index = self.players.len();
        self.players.push(player);
        self.known.insert(self.key.clone(), index);
        Ok(index)
    }

    fn ask(
        &mut self,
        player: usize,
        context: &GameContext,
        decision: &Decision,
        time_budget: Option<Duration>,
    ) -> Result<Choice, Failure> {
        if decision.legal_moves.is_empty() {
            return Err(Failure::Refused(format!(
                "decision {} has no legal moves",
                decision.slot
            )));
        }
        let question = Question {
            context,
            decision,
            time_budget,
        };
        let player = &mut self.players[player];
        match catch_unwind(AssertUnwindSafe(|| player.choose(&question))) {
            Ok(choice) => choice.map_err(|refusal| Failure::Refused(refusal.to_string())),
            Err(panic) => {
                // What a panic left half done must not play on.
                self.forget();
                Err(Failure::Panicked(panic_text(&*panic)))
            }
        }
    }

    fn forget(&mut self) {
        self.players.clear();
        self.known.clear();
    }

    /// Bounds the memory for players, between two messages.
    fn forget_some(&mut self) {
        if self.players.len() > PLAYERS_MAX {
            self.forget();
        }
    }
}

fn share(time_budget_us: u64, decisions: usize) -> Option<Duration> {
    (time_budget_us > 0).then(|| Duration::from_micros(time_budget_us / (decisions.max(1) as u64)))
}

fn micros(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}
