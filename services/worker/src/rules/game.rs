//! A game whose rules are a package.

mod nodes;

use std::{
    fmt::{self, Write},
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, OnceLock},
};

use arena_engine::{
    ActionId, Ending, Event, Game, Node, OutcomeId, PerSeat, PositionError, Seat, Transcript,
    options::Options, values,
};
use arena_model::rules::RulesDescription;

use super::{
    OpenGame, RulesFailure, RulesService,
    cache::Cache,
    known::{Known, NO_POSITION, interned},
    messages::{Answer, Ask},
    pending::{Place, Queue},
};
use crate::lock;

/// A game whose rules are a package. Its clones share what is known of states.
#[derive(Clone)]
pub struct PackageGame {
    rules: Arc<Inner>,
    /// The questions of positions that may be pending; without it, each waits for its answer.
    queue: Option<Arc<Queue>>,
}

struct Inner {
    name: &'static str,
    rules: RulesDescription,
    seats: usize,
    options: Options,
    opened: OpenGame,
    service: Arc<dyn RulesService>,
    initial: OnceLock<Place>,
    cache: Mutex<Cache>,
}

/// A position, and how the game reached it.
#[derive(Clone, Debug)]
pub struct PackageState {
    place: Place,
    trail: Option<Arc<Trail>>,
    /// Number of events before it.
    events: u32,
}

/// The last event before a position.
#[derive(Debug)]
struct Trail {
    before: Option<Arc<Trail>>,
    seat: Option<Seat>,
    name: String,
}

impl Drop for Trail {
    /// One after the other: a long game would need a deep stack.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(trail) = before {
            before = match Arc::try_unwrap(trail) {
                Ok(mut trail) => trail.before.take(),
                Err(_) => None,
            };
        }
    }
}

impl PackageState {
    fn text(&self) -> &str {
        match &self.place {
            Place::Known(known) => &known.state,
            Place::Failed(failure) => &failure.message,
            // Only within a match that waits.
            Place::Pending(_) => "",
        }
    }
}

impl PartialEq for PackageState {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for PackageState {}

impl Hash for PackageState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.text().hash(hasher);
    }
}

impl fmt::Debug for PackageGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PackageGame({})", self.rules.name)
    }
}

impl PackageGame {
    /// The game of a ruleset with resolved options.
    pub(crate) fn new(
        ruleset: &str,
        rules: RulesDescription,
        options: &Options,
        seats: usize,
        service: Arc<dyn RulesService>,
    ) -> Self {
        let inner = Inner {
            name: interned(ruleset),
            rules,
            seats,
            opened: OpenGame::new(seats, options, true),
            options: options.clone(),
            service,
            initial: OnceLock::new(),
            cache: Mutex::default(),
        };
        Self {
            rules: Arc::new(inner),
            queue: None,
        }
    }

    /// The same game for bots of this program, which see states: the rules need not write what agents
    /// see.
    pub(crate) fn without_positions(&self) -> Self {
        let rules = &self.rules;
        let inner = Inner {
            name: rules.name,
            rules: rules.rules.clone(),
            seats: rules.seats,
            opened: OpenGame::new(rules.seats, &rules.options, false),
            options: rules.options.clone(),
            service: rules.service.clone(),
            initial: OnceLock::new(),
            cache: Mutex::default(),
        };
        Self {
            rules: Arc::new(inner),
            queue: None,
        }
    }

    /// The same without memory of states.
    pub(super) fn without_cache(self) -> Self {
        *lock(&self.rules.cache) = Cache::new(0);
        self
    }

    fn known(state: &PackageState) -> Option<&Known> {
        Self::found(state).ok()
    }

    /// The node of a state, or why there is none.
    pub(super) fn found(state: &PackageState) -> Result<&Known, &RulesFailure> {
        match &state.place {
            Place::Known(known) => Ok(known),
            Place::Failed(failure) => Err(failure),
            Place::Pending(_) => unreachable!("a match waits before it shows a position"),
        }
    }

    pub(crate) fn rules(&self) -> &RulesDescription {
        &self.rules.rules
    }

    /// Asks for the drawing of a state.
    pub(super) fn draw_state(&self, state: &str) -> Result<Answer, RulesFailure> {
        self.rules
            .service
            .ask(&self.rules.opened, &Ask::Draw { state })
    }

    pub(super) fn report_undrawn(&self, problem: &str) {
        self.rules.service.report_undrawn(problem);
    }

    fn start(place: Place) -> PackageState {
        PackageState {
            place,
            trail: None,
            events: 0,
        }
    }
}

impl Game for PackageGame {
    type State = PackageState;

    fn name(&self) -> &'static str {
        self.rules.name
    }

    fn version(&self) -> u32 {
        self.rules.rules.version
    }

    fn seats(&self) -> usize {
        self.rules.seats
    }

    fn has_chance(&self) -> bool {
        self.rules.rules.chance
    }

    fn initial(&self) -> PackageState {
        if let Some(place) = self.rules.initial.get() {
            return Self::start(place.clone());
        }
        let place = self.ask(&Ask::Initial);
        // A failure of this machine may pass.
        if let Place::Known(_) = place {
            let _ = self.rules.initial.set(place.clone());
        }
        Self::start(place)
    }

    fn node(&self, state: &PackageState) -> Node {
        Self::known(state).map_or(Node::Over(Ending::Normal), |known| known.node)
    }

    fn weights<'a>(&'a self, state: &'a PackageState) -> &'a [u32] {
        Self::known(state).map_or(&[], |known| &known.weights)
    }

    fn legal(&self, state: &PackageState, out: &mut Vec<ActionId>) {
        out.clear();
        out.extend(Self::known(state).iter().flat_map(|known| &known.legal));
    }

    fn apply(&self, state: &mut PackageState, action: ActionId) {
        self.advance(state, action, false);
    }

    fn apply_outcome(&self, state: &mut PackageState, outcome: OutcomeId) {
        self.advance(state, outcome, false);
    }

    fn deferring(&self) -> Self {
        Self {
            rules: self.rules.clone(),
            queue: Some(Arc::default()),
        }
    }

    fn can_defer(&self) -> bool {
        true
    }

    fn apply_later(&self, state: &mut PackageState, event: Event) {
        self.advance(state, event.id(), true);
    }

    fn is_known(&self, state: &mut PackageState) -> bool {
        let Place::Pending(question) = &state.place else {
            return true;
        };
        let Some(place) = question.place.get() else {
            return false;
        };
        let place = place.clone();
        state.place = place;
        true
    }

    fn games_at_once(&self) -> usize {
        self.rules.service.together()
    }

    fn find_pending(&self) {
        self.find_pending_until(&mut || false);
    }

    fn find_pending_until(&self, is_over: &mut dyn FnMut() -> bool) {
        let questions = self.queue.as_ref().map(|queue| queue.take());
        let questions = questions.unwrap_or_default();
        let mut left = &questions[..];
        while !left.is_empty() && !is_over() {
            let most = self.rules.service.together().clamp(1, left.len());
            let (now, later) = left.split_at(most);
            left = later;
            let asked = now.iter().map(|it| (&*it.before.state, it.event));
            let asked: Vec<(&str, u32)> = asked.collect();
            let answers = self.rules.service.apply_all(&self.rules.opened, &asked);
            for ((question, (state, event)), answer) in now.iter().zip(asked).zip(answers) {
                let place = self.read(&Ask::Apply { state, event }, answer);
                self.keep(question.key, &place);
                let _ = question.place.set(place);
            }
        }
    }

    fn placement(&self, state: &PackageState) -> PerSeat<u8> {
        Self::known(state).map_or([1; _], |known| known.ranks)
    }

    fn scores(&self, state: &PackageState) -> PerSeat<i64> {
        Self::known(state).map_or([0; _], |known| known.scores)
    }

    fn values(&self, state: &PackageState) -> PerSeat<i64> {
        match (Self::known(state), self.node(state)) {
            (_, Node::Over(_)) => values::of_placement(self.rules.seats, &self.placement(state)),
            (
                Some(Known {
                    values: Some(values),
                    ..
                }),
                _,
            ) => *values,
            _ => values::of_scores(self.rules.seats, &self.scores(state)),
        }
    }

    fn has_luck(&self) -> bool {
        false
    }

    fn write_action(&self, state: &PackageState, action: ActionId, out: &mut dyn Write) {
        let name = Self::known(state).map_or("?", |known| known.name_of(action));
        let _ = out.write_str(name);
    }

    fn write_outcome(&self, state: &PackageState, outcome: OutcomeId, out: &mut dyn Write) {
        let names = Self::known(state).map(|known| &known.names);
        let name = names.and_then(|names| names.get(usize::from(outcome)));
        let _ = out.write_str(name.map_or("?", String::as_str));
    }

    fn encode(&self, state: &PackageState, _: bool, out: &mut Vec<u8>) {
        let position = Self::known(state).map_or(NO_POSITION, |known| &known.position);
        out.extend_from_slice(position.as_bytes());
    }

    /// What agents see is not a state.
    fn decode(&self, _: &[u8]) -> Result<PackageState, PositionError> {
        let reason = "positions for agents cannot be read back";
        Err(PositionError::of(self, reason))
    }

    fn save(&self, state: &PackageState, out: &mut Vec<u8>) {
        out.extend_from_slice(state.text().as_bytes());
    }

    fn load(&self, bytes: &[u8]) -> Result<PackageState, PositionError> {
        let state = std::str::from_utf8(bytes);
        let state = state.map_err(|error| PositionError::of(self, error.to_string()))?;
        match self.find(state, None) {
            Place::Failed(failure) => Err(PositionError::of(self, failure.message)),
            place => Ok(Self::start(place)),
        }
    }

    fn failure(&self, state: &PackageState) -> Option<String> {
        match &state.place {
            Place::Failed(failure) => Some(failure.message.clone()),
            Place::Known(_) | Place::Pending(_) => None,
        }
    }

    fn transcript(&self, state: &PackageState) -> Option<Transcript> {
        let mut names: Vec<String> = Vec::new();
        let mut events = Vec::new();
        let mut trail = state.trail.as_ref();
        let mut reversed = Vec::new();
        while let Some(event) = trail {
            reversed.push(event);
            trail = event.before.as_ref();
        }
        let mut places = std::collections::HashMap::new();
        for event in reversed.into_iter().rev() {
            let place = *places.entry(&*event.name).or_insert_with(|| {
                names.push(event.name.clone());
                names.len() - 1
            });
            events.push((event.seat, place as u32));
        }
        let node = self.node(state);
        Some(Transcript {
            names,
            events,
            ending: match node {
                Node::Over(ending) => Some(ending),
                _ => None,
            },
            placement: self.placement(state)[..self.rules.seats].to_vec(),
            to_move: match node {
                Node::Decision(seat) => Some(seat),
                _ => None,
            },
        })
    }

    fn draw(&self, state: &PackageState, out: &mut dyn Write) {
        let Some(known) = Self::known(state) else {
            return;
        };
        if !self.rules.rules.draws {
            let _ = writeln!(out, "{}", known.position);
            return;
        }
        let board = self.board(state);
        let end = if board.text.ends_with('\n') { "" } else { "\n" };
        let _ = match &*board.text {
            "" if board.problem.is_empty() => Ok(()),
            "" => writeln!(out, "(no board: {})", board.problem),
            text => write!(out, "{text}{end}"),
        };
    }
}
