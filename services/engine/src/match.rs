//! One game in progress, as a state machine that never waits.

use crate::{
    adjudicate::{Adjudication, ScoredMove},
    event::Event,
    fault::{FaultKind, SeatFault, Termination, forfeit_placement},
    game::{Game, Node},
    luck::Luck,
    random::{GameKeys, StreamOf, Streams},
    seat::{ActionId, MAX_SEATS, OutcomeId, PerSeat, Seat},
    transcript::Transcript,
};

/// Settings of a game, in addition to its rules.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The source of all randomness.
    pub keys: GameKeys,
    /// The first actions, which are played without a question.
    pub opening: Opening,
    /// Consequence of a fault.
    pub on_fault: FaultPolicy,
    /// True to ask the agent even if only one action is legal, unless this action is a pass.
    pub ask_forced: bool,
    /// True to compute the luck of each seat while playing. It follows from the events, so what
    /// replays them can compute it later, see [`crate::check()`].
    pub luck: bool,
}

impl Setup {
    /// The settings with their defaults: an agent with a fault forfeits, forced actions are
    /// played without a question, and luck is computed.
    #[must_use]
    pub fn new(keys: GameKeys, opening: Opening) -> Self {
        Self {
            keys,
            opening,
            on_fault: FaultPolicy::default(),
            ask_forced: false,
            luck: true,
        }
    }
}

/// The first actions of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// This many actions, each drawn uniformly from the legal ones.
    Drawn(u32),
    /// These actions. The first illegal one ends the opening, see [`Match::open`].
    Given(Vec<ActionId>),
}

impl Opening {
    /// No actions: the game starts with its first question.
    pub const NONE: Self = Self::Drawn(0);
}

/// Consequence of a fault for its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FaultPolicy {
    /// With two seats, the game ends. With more, the seat continues with seeded random actions,
    /// without being asked, and is placed last.
    #[default]
    Forfeit,
    /// This action is drawn at random.
    RandomMove,
}

/// A question to a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The seat.
    pub seat: Seat,
    /// Number of earlier decision nodes of the seat, with or without a question.
    pub number: u32,
    /// Seed of the agent's randomness.
    pub seed: u64,
}

/// State of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The match waits for [`Match::answer`] or [`Match::fault`].
    Asks(Question),
    /// The match waits for [`Game::find_pending`], and then for [`Match::resume`].
    Waits,
    /// The match is over; [`Match::finish`] returns the result.
    Over(Termination),
}

/// An answer that is not a legal action. The match is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("action {action} is not legal for seat {seat}")]
pub struct IllegalAction {
    /// The answer.
    pub action: u32,
    /// The seat that answered.
    pub seat: Seat,
}

/// The result of a finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Chance outcomes and actions in order.
    pub events: Vec<Event>,
    /// Number of actions in the opening.
    pub opening_plies: u32,
    /// 1-based rank of each seat; empty when void.
    pub placement: Vec<u8>,
    /// The ruleset's own score of each seat.
    pub scores: Vec<i64>,
    /// The effect of chance on each seat, in millionths of a game's score, see [`crate::luck()`];
    /// empty without chance, and if [`Setup::luck`] is false.
    pub luck: Vec<i32>,
    /// Number of actions.
    pub plies: u32,
    /// Number of actions of each seat.
    pub decisions: Vec<u32>,
    /// How the game ended.
    pub termination: Termination,
    /// Faults of agents, in order.
    pub faults: Vec<SeatFault>,
    /// The evidence of its adjudication; empty if it ended in another way.
    pub adjudication: Vec<ScoredMove>,
    /// See [`Game::transcript`].
    pub transcript: Option<Transcript>,
}

/// A game in progress.
///
/// Chance, openings, forced actions and actions of forfeited seats are played as soon as they are
/// due; the match stops only at a question, at the end, or at a pending position.
#[derive(Clone, Debug)]
pub struct Match<G: Game> {
    game: G,
    setup: Setup,
    /// The illegal action that ended a given opening.
    illegal: Option<IllegalAction>,
    state: G::State,
    status: Status,
    legal: Vec<ActionId>,
    events: Vec<Event>,
    plies: u32,
    opened: u32,
    decisions: PerSeat<u32>,
    forfeited: PerSeat<bool>,
    faults: Vec<SeatFault>,
    adjudication: Option<Adjudication>,
    luck: Luck,
    streams: Streams,
}

impl<G: Game> Match<G> {
    /// Starts a game and plays it to its first question.
    #[must_use]
    pub fn new(game: G, setup: Setup) -> Self {
        let state = game.initial();
        let mut this = Self {
            game,
            setup,
            illegal: None,
            state,
            status: Status::Over(Termination::Normal),
            legal: Vec::with_capacity(32),
            events: Vec::with_capacity(256),
            plies: 0,
            opened: 0,
            decisions: [0; MAX_SEATS],
            forfeited: [false; MAX_SEATS],
            faults: Vec::new(),
            adjudication: None,
            luck: Luck::new(),
            streams: Streams::new(),
        };
        this.advance();
        this
    }

    /// As [`Match::new`], for an opening that the rules may not allow.
    ///
    /// # Errors
    /// [`IllegalAction`] at the first illegal action of a given opening.
    pub fn open(game: G, setup: Setup) -> Result<Self, IllegalAction> {
        let this = Self::new(game, setup);
        this.illegal.map_or(Ok(this), Err)
    }

    /// The rules.
    #[must_use]
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The position.
    #[must_use]
    pub fn state(&self) -> &G::State {
        &self.state
    }

    /// The state of the match.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// The legal actions of the open question, in ascending order; empty if the match is over.
    #[must_use]
    pub fn legal(&self) -> &[ActionId] {
        &self.legal
    }

    /// Number of actions played so far.
    #[must_use]
    pub fn plies(&self) -> u32 {
        self.plies
    }

    /// The events so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Why the match ended without a result, if the rules failed.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.game.failure(&self.state)
    }

    /// The faults so far.
    #[must_use]
    pub fn faults(&self) -> &[SeatFault] {
        &self.faults
    }

    /// Goes on after [`Game::find_pending`], if the match waits for it.
    ///
    /// # Errors
    /// [`IllegalAction`] at the first illegal action of a given opening.
    pub fn resume(&mut self) -> Result<(), IllegalAction> {
        if self.status == Status::Waits {
            self.advance();
        }
        self.illegal.map_or(Ok(()), Err)
    }

    /// Answers the open question, then plays to the next question.
    ///
    /// # Errors
    /// [`IllegalAction`] if the action is illegal; the match is then unchanged.
    ///
    /// # Panics
    /// If no question is open.
    pub fn answer(&mut self, action: u32) -> Result<(), IllegalAction> {
        let Status::Asks(question) = self.status else {
            panic!("answer to a match that is over");
        };
        let known = ActionId::try_from(action)
            .ok()
            // There are few actions, so a linear search is faster than a binary one.
            .filter(|action| self.legal.iter().any(|legal| legal == action));
        let Some(action) = known else {
            return Err(IllegalAction {
                action,
                seat: question.seat,
            });
        };
        self.play(question.seat, action);
        self.advance();
        Ok(())
    }

    /// Charges the asked seat with a fault and continues according to the policy.
    ///
    /// # Panics
    /// If no question is open.
    pub fn fault(&mut self, kind: FaultKind) {
        let Status::Asks(Question { seat, .. }) = self.status else {
            panic!("fault in a match that is over");
        };
        self.faults.push(SeatFault {
            ply: self.plies,
            seat,
            kind,
        });
        if self.setup.on_fault == FaultPolicy::Forfeit {
            self.forfeited[usize::from(seat)] = true;
            if self.game.seats() == 2 {
                self.legal.clear();
                self.status = Status::Over(Termination::Forfeit);
                return;
            }
        }
        self.play_substitute(seat);
        self.advance();
    }

    /// Ends the match without a result.
    pub fn void(&mut self) {
        self.legal.clear();
        self.status = Status::Over(Termination::Void);
    }

    /// Ends a match that asks a question, because its agents agree about its result.
    pub fn adjudicate(&mut self, adjudication: Adjudication) {
        self.legal.clear();
        self.adjudication = Some(adjudication);
        self.status = Status::Over(Termination::Adjudication);
    }

    /// Returns the result.
    ///
    /// # Panics
    /// If the match is not over.
    #[must_use]
    pub fn finish(self) -> Finished {
        let Status::Over(termination) = self.status else {
            panic!("finish of a match that is not over");
        };
        let seats = self.game.seats();
        let adjudication = self
            .adjudication
            .filter(|_| termination == Termination::Adjudication);
        let placement = match termination {
            Termination::Void => Vec::new(),
            Termination::Adjudication => { adjudication.iter() }
                .flat_map(|adjudication| adjudication.verdict.placement())
                .collect(),
            Termination::Forfeit => forfeit_placement(
                &self.forfeited[..seats],
                &self.game.placement(&self.state)[..seats],
            ),
            _ => self.game.placement(&self.state)[..seats].to_vec(),
        };
        Finished {
            placement,
            scores: self.game.scores(&self.state)[..seats].to_vec(),
            luck: self.luck.finish(seats),
            events: self.events,
            opening_plies: self.opened,
            plies: self.plies,
            decisions: self.decisions[..seats].to_vec(),
            termination,
            faults: self.faults,
            adjudication: adjudication.map_or_else(Vec::new, |it| it.evidence),
            transcript: self.game.transcript(&self.state),
        }
    }

    /// Plays until a seat has to be asked, a position is pending, or the game is over.
    fn advance(&mut self) {
        loop {
            if !self.game.is_known(&mut self.state) {
                self.legal.clear();
                self.status = Status::Waits;
                return;
            }
            match self.game.node(&self.state) {
                Node::Chance(owner) => self.draw(owner),
                Node::Over(ending) => {
                    if self.failure().is_some() {
                        return self.void();
                    }
                    self.legal.clear();
                    let forfeited = self.forfeited.contains(&true);
                    self.status = Status::Over(if forfeited {
                        Termination::Forfeit
                    } else {
                        ending.into()
                    });
                    return;
                }
                Node::Decision(seat) => {
                    self.game.legal(&self.state, &mut self.legal);
                    if !self.play_unasked(seat) {
                        return;
                    }
                }
            }
        }
    }

    fn draw(&mut self, owner: Option<Seat>) {
        let stream = self
            .streams
            .get(StreamOf::of_chance(owner), &self.setup.keys);
        let outcome = stream.weighted(self.game.weights(&self.state)) as OutcomeId;
        if self.setup.luck && self.game.has_luck() {
            self.luck.add(&self.game, &self.state, outcome);
        }
        let event = Event::chance(outcome);
        self.game.apply_later(&mut self.state, event);
        self.events.push(event);
    }

    /// Plays a decision without asking. Returns false if the seat has to be asked.
    fn play_unasked(&mut self, seat: Seat) -> bool {
        let index = usize::from(seat);
        // A seed is drawn at every decision node, even without a question, so that seed n always
        // belongs to node n.
        let seeds = self.streams.get(StreamOf::Agent(seat), &self.setup.keys);
        let seed = seeds.word();
        if let Some(action) = self.opening_action(seat) {
            self.opened += 1;
            self.play(seat, action);
            return true;
        }
        if self.forfeited[index] {
            self.play_substitute(seat);
            return true;
        }
        if let [only] = self.legal[..]
            && (!self.setup.ask_forced || Some(only) == self.game.pass())
        {
            self.play(seat, only);
            return true;
        }
        self.status = Status::Asks(Question {
            seat,
            number: self.decisions[index],
            seed,
        });
        false
    }

    /// The next action of the opening; none if the opening is over.
    fn opening_action(&mut self, seat: Seat) -> Option<ActionId> {
        match &self.setup.opening {
            Opening::Drawn(plies) if self.opened < *plies => {
                let stream = self.streams.get(StreamOf::Opening, &self.setup.keys);
                Some(self.legal[stream.below(self.legal.len() as u32) as usize])
            }
            Opening::Drawn(_) => None,
            Opening::Given(_) if self.illegal.is_some() => None,
            Opening::Given(actions) => {
                let action = actions.get(self.opened as usize).copied()?;
                if !self.legal.contains(&action) {
                    let action = action.into();
                    self.illegal = Some(IllegalAction { action, seat });
                    return None;
                }
                Some(action)
            }
        }
    }

    fn play_substitute(&mut self, seat: Seat) {
        let of = StreamOf::Substitute(seat);
        let stream = self.streams.get(of, &self.setup.keys);
        let action = self.legal[stream.below(self.legal.len() as u32) as usize];
        self.play(seat, action);
    }

    fn play(&mut self, seat: Seat, action: ActionId) {
        let event = Event::action(action);
        self.game.apply_later(&mut self.state, event);
        self.events.push(event);
        self.plies += 1;
        self.decisions[usize::from(seat)] += 1;
    }
}
