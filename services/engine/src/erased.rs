//! Games and matches without type parameters, for code that handles any ruleset.

use crate::{
    adjudicate::Adjudication,
    book::{BookProblem, ReadOpening, read_opening},
    check::{CheckError, Checked, check},
    event::Event,
    fault::FaultKind,
    game::{Game, Node},
    r#match::{Finished, IllegalAction, Match, Setup, Status},
    openings::{OpeningBook, OpeningError, OpeningLength, WorkLimit, opening_book},
    random::{GameKeys, Key},
    replay::{Described, Outcome, ReplayError, Step, prepare, replay, resolve_steps},
    seat::ActionId,
    transcript::Transcript,
};

/// A [`Game`] of any ruleset.
pub trait AnyGame: Send + Sync {
    /// Version of the rules.
    fn version(&self) -> u32;
    /// Number of players.
    fn seats(&self) -> usize;
    /// False if this program does not have the rules, see [`crate::StatedGame`].
    fn has_rules(&self) -> bool {
        true
    }
    /// The game of a record that describes itself; none if the rules are here.
    fn stated(&self, _transcript: &Transcript, _scores: &[i64]) -> Option<Box<dyn AnyGame>> {
        None
    }
    /// See [`Match::open`].
    fn open(&self, setup: Setup) -> Result<Box<dyn AnyMatch>, IllegalAction>;
    /// See [`Game::deferring`].
    fn deferring(&self) -> Box<dyn AnyGame>;
    /// See [`Game::find_pending`].
    fn find_pending(&self) {}
    /// See [`prepare`].
    fn prepare(&self, _games: &[&[Event]]) {}
    /// See [`replay()`].
    fn replay(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(Described<'_>),
    ) -> Result<Outcome, ReplayError>;
    /// See [`check()`].
    fn check(
        &self,
        events: &[Event],
        keys: &GameKeys,
        visit: &mut dyn FnMut(Described<'_>),
    ) -> Result<Checked, CheckError>;
    /// See [`resolve_steps`].
    fn resolve_steps(&self, steps: &[Step]) -> Result<Vec<Event>, ReplayError>;
    /// Replays and draws the board before each event and at the end.
    ///
    /// # Errors
    /// As [`replay()`].
    fn replay_drawn(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(&str, Option<Described<'_>>),
    ) -> Result<Outcome, ReplayError>;
    /// Replays and passes each decision with the position that its agent sees, see [`Game::encode`],
    /// and at last the position of a decision that no event answers.
    ///
    /// # Errors
    /// As [`replay()`].
    fn replay_seen(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(&[u8], Option<Described<'_>>),
    ) -> Result<Outcome, ReplayError>;
    /// See [`Game::has_chance`].
    fn has_chance(&self) -> bool;
    /// See [`Game::draws_only_starter`].
    fn draws_only_starter(&self) -> bool;
    /// See [`opening_book`].
    fn opening_book(
        &self,
        length: OpeningLength,
        want: usize,
        key: &Key,
        limit: WorkLimit<'_>,
    ) -> Result<OpeningBook, OpeningError>;
    /// See [`Game::start_option`].
    fn start_option(&self) -> Option<&'static str> {
        None
    }
    /// See [`Game::with_start`].
    fn with_start(&self, _text: &str) -> Result<Box<dyn AnyGame>, String> {
        Err("this program does not have the rules".to_owned())
    }
    /// See [`read_opening`].
    fn read_opening(&self, _text: &str) -> Result<ReadOpening, BookProblem> {
        Err(BookProblem::Start(
            "this program does not have the rules".to_owned(),
        ))
    }
}

/// A [`Match`] of any ruleset.
pub trait AnyMatch: Send {
    /// See [`Match::status`].
    fn status(&self) -> Status;
    /// See [`Match::legal`].
    fn legal(&self) -> &[ActionId];
    /// See [`Match::events`].
    fn events(&self) -> &[Event];
    /// See [`Match::resume`].
    fn resume(&mut self) -> Result<(), IllegalAction>;
    /// See [`Match::plies`].
    fn plies(&self) -> u32;
    /// See [`Match::answer`].
    fn answer(&mut self, action: u32) -> Result<(), IllegalAction>;
    /// See [`Match::fault`].
    fn fault(&mut self, kind: FaultKind);
    /// See [`Match::void`].
    fn void(&mut self);
    /// See [`Match::adjudicate`].
    fn adjudicate(&mut self, adjudication: Adjudication);
    /// See [`Match::failure`].
    fn failure(&self) -> Option<String>;
    /// See [`Match::finish`].
    fn finish(self: Box<Self>) -> Finished;
    /// Appends the encoded position, see [`Game::encode`].
    fn encode(&self, moves: bool, out: &mut Vec<u8>);
    /// Appends the position for bots of this program, see [`Game::save`].
    fn save(&self, out: &mut Vec<u8>);
    /// Appends the notation of a legal action.
    fn write_action(&self, action: ActionId, out: &mut String);
}

impl<G: Game> AnyGame for G {
    fn version(&self) -> u32 {
        Game::version(self)
    }

    fn seats(&self) -> usize {
        Game::seats(self)
    }

    fn open(&self, setup: Setup) -> Result<Box<dyn AnyMatch>, IllegalAction> {
        Ok(Box::new(Match::open(self.clone(), setup)?))
    }

    fn deferring(&self) -> Box<dyn AnyGame> {
        Box::new(Game::deferring(self))
    }

    fn find_pending(&self) {
        Game::find_pending(self);
    }

    fn prepare(&self, games: &[&[Event]]) {
        prepare(self, games);
    }

    fn replay(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(Described<'_>),
    ) -> Result<Outcome, ReplayError> {
        replay(self, events, |_, described| visit(described))
    }

    fn check(
        &self,
        events: &[Event],
        keys: &GameKeys,
        visit: &mut dyn FnMut(Described<'_>),
    ) -> Result<Checked, CheckError> {
        check(self, events, keys, visit)
    }

    fn resolve_steps(&self, steps: &[Step]) -> Result<Vec<Event>, ReplayError> {
        resolve_steps(self, steps)
    }

    fn replay_drawn(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(&str, Option<Described<'_>>),
    ) -> Result<Outcome, ReplayError> {
        let mut board = String::new();
        let mut last = self.initial();
        let outcome = replay(self, events, |state, described| {
            board.clear();
            self.draw(state, &mut board);
            visit(&board, Some(described));
            last = state.clone();
            match self.node(state) {
                Node::Chance(_) => self.apply_outcome(&mut last, described.event.id()),
                Node::Decision(_) => self.apply(&mut last, described.event.id()),
                Node::Over(_) => {}
            }
        })?;
        board.clear();
        self.draw(&last, &mut board);
        visit(&board, None);
        Ok(outcome)
    }

    fn replay_seen(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(&[u8], Option<Described<'_>>),
    ) -> Result<Outcome, ReplayError> {
        let mut position = Vec::new();
        let mut last = self.initial();
        let outcome = replay(self, events, |state, described| {
            last = state.clone();
            if described.event.is_action() {
                position.clear();
                self.encode(state, false, &mut position);
                visit(&position, Some(described));
                self.apply(&mut last, described.event.id());
            } else {
                self.apply_outcome(&mut last, described.event.id());
            }
        })?;
        if outcome.to_move.is_some() {
            position.clear();
            self.encode(&last, false, &mut position);
            visit(&position, None);
        }
        Ok(outcome)
    }

    fn has_chance(&self) -> bool {
        Game::has_chance(self)
    }

    fn draws_only_starter(&self) -> bool {
        Game::draws_only_starter(self)
    }

    fn opening_book(
        &self,
        length: OpeningLength,
        want: usize,
        key: &Key,
        limit: WorkLimit<'_>,
    ) -> Result<OpeningBook, OpeningError> {
        opening_book(self, length, want, key, limit)
    }

    fn start_option(&self) -> Option<&'static str> {
        Game::start_option(self)
    }

    fn with_start(&self, text: &str) -> Result<Box<dyn AnyGame>, String> {
        let (game, _) = Game::with_start(self, text)?;
        Ok(Box::new(game))
    }

    fn read_opening(&self, text: &str) -> Result<ReadOpening, BookProblem> {
        read_opening(self, text)
    }
}

impl<G: Game> AnyMatch for Match<G> {
    fn status(&self) -> Status {
        Self::status(self)
    }

    fn legal(&self) -> &[ActionId] {
        Self::legal(self)
    }

    fn events(&self) -> &[Event] {
        Self::events(self)
    }

    fn resume(&mut self) -> Result<(), IllegalAction> {
        Self::resume(self)
    }

    fn plies(&self) -> u32 {
        Self::plies(self)
    }

    fn answer(&mut self, action: u32) -> Result<(), IllegalAction> {
        Self::answer(self, action)
    }

    fn fault(&mut self, kind: FaultKind) {
        Self::fault(self, kind);
    }

    fn void(&mut self) {
        Self::void(self);
    }

    fn adjudicate(&mut self, adjudication: Adjudication) {
        Self::adjudicate(self, adjudication);
    }

    fn failure(&self) -> Option<String> {
        Self::failure(self)
    }

    fn finish(self: Box<Self>) -> Finished {
        Self::finish(*self)
    }

    fn encode(&self, moves: bool, out: &mut Vec<u8>) {
        self.game().encode(self.state(), moves, out);
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.game().save(self.state(), out);
    }

    fn write_action(&self, action: ActionId, out: &mut String) {
        self.game().write_action(self.state(), action, out);
    }
}
