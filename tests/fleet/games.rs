//! Games that are played once, so that a simulated worker reports real records and spends no time
//! on playing while it is measured.

use std::{
    collections::BTreeMap,
    sync::{Mutex, OnceLock, PoisonError},
    thread,
};

use arena_agents::{Bot, play_out};
use arena_engine::{Finished, Game, Match, Setup, options::Options};
use arena_games::Visitor;
use arena_model::{BlockSeed, GameRecord, RecordHeader, Tournament, record::LineWriter};
use arena_tournament::Schedule;
use arena_wire::{
    convert::{match_setup, options_from_wire, record_setup},
    v1,
};
use prost::{Message, bytes::Bytes};

use super::FleetError;

/// The start time in the report of every game.
const STARTED_UNIX_US: u64 = 1_700_000_000_000_000;
/// The duration in the report of every game.
const DURATION_US: u64 = 1_000;

/// A game with its encoded report.
#[derive(Clone, Debug)]
pub struct Played {
    /// An encoded `arena.v1.GameReport`.
    pub report: Bytes,
    /// Hash of the record.
    pub hash: [u8; 32],
    /// Actions played.
    pub plies: u32,
}

/// The games of one tournament between built-in agents. Each is played when it is first requested,
/// and kept.
pub struct Book {
    setup: v1::TournamentSetup,
    schedule: Schedule,
    header: RecordHeader,
    /// Boxed, because a tournament may have many more games than are played.
    games: Vec<OnceLock<Box<Played>>>,
    tables: Mutex<Vec<Box<dyn Table>>>,
}

impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Book of {}", self.header.tournament_id)
    }
}

impl Book {
    /// An empty book of a tournament, as the coordinator describes it.
    ///
    /// # Errors
    /// [`FleetError::Unplayable`] if this process cannot play the tournament.
    pub fn new(tournament: &v1::Tournament) -> Result<Self, FleetError> {
        let id = &tournament.tournament_id;
        let unplayable = |why: String| FleetError::Unplayable {
            tournament: id.clone(),
            why,
        };
        let spec: Tournament = serde_json::from_str(&tournament.spec_json)
            .map_err(|error| unplayable(error.to_string()))?;
        let schedule = Schedule::new(&spec).map_err(|error| unplayable(error.to_string()))?;
        let setup = tournament
            .setup
            .clone()
            .ok_or_else(|| unplayable("it has no setup".to_owned()))?;
        let given = options_from_wire(&setup.options);
        let (options, _) = arena_games::resolve(&setup.ruleset, &given, Some(schedule.seats()))
            .map_err(|error| unplayable(error.to_string()))?;
        let header = RecordHeader {
            tournament_id: id.clone(),
            ruleset: setup.ruleset.clone(),
            rules_version: setup.rules_version,
            rules_digest: None,
            options,
            agents: setup
                .agents
                .iter()
                .map(|agent| agent.name.clone())
                .collect(),
            setup: record_setup(&setup),
        };
        let games = (0..schedule.games()).map(|_| OnceLock::new()).collect();
        let book = Self {
            setup,
            schedule,
            header,
            games,
            tables: Mutex::default(),
        };
        let table = book.table()?;
        book.lock().push(table);
        Ok(book)
    }

    /// The tournament's id.
    #[must_use]
    pub fn tournament(&self) -> &str {
        &self.header.tournament_id
    }

    /// Plays the first games on a number of threads.
    ///
    /// # Errors
    /// As [`Book::game`].
    pub fn prepare(&self, games: u64, threads: u64) -> Result<(), FleetError> {
        let games = games.min(self.games.len() as u64);
        let threads = threads.max(1);
        thread::scope(|scope| {
            let started: Vec<_> = (0..threads)
                .map(|first| {
                    scope.spawn(move || {
                        let mut indices = (first..games).step_by(threads as usize);
                        indices.try_for_each(|index| self.game(index).map(drop))
                    })
                })
                .collect();
            started.into_iter().try_for_each(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })
    }

    /// Returns a game of the tournament.
    ///
    /// # Errors
    /// [`FleetError::Unplayable`] if an agent is not built in, or the tournament has no such game.
    pub fn game(&self, index: u64) -> Result<&Played, FleetError> {
        let place = usize::try_from(index)
            .ok()
            .and_then(|at| self.games.get(at));
        let place = place.ok_or_else(|| self.unplayable(&format!("it has no game {index}")))?;
        if let Some(played) = place.get() {
            return Ok(played);
        }
        let played = self.play(index)?;
        Ok(place.get_or_init(|| Box::new(played)))
    }

    fn unplayable(&self, why: &str) -> FleetError {
        FleetError::Unplayable {
            tournament: self.header.tournament_id.clone(),
            why: why.to_owned(),
        }
    }

    fn play(&self, index: u64) -> Result<Played, FleetError> {
        let game = self.schedule.game(index);
        let names: Vec<&str> = game
            .seats
            .iter()
            .map(|&agent| self.setup.agents[usize::from(agent)].name.as_str())
            .collect();
        let play = self.setup.play.unwrap_or_default();
        let opening = arena_engine::Opening::Drawn(play.opening_plies);
        let setup = match_setup(&play, BlockSeed(game.seed.0).keys(&names), opening);
        let idle = self.lock().pop();
        let mut table = match idle {
            Some(table) => table,
            None => self.table()?,
        };
        let finished = table.play(&game.seats, setup);
        let mut record = GameRecord::new(game.index, game.block, game.seed, game.seats, finished);
        let sealed = table.seal(&mut record);
        self.lock().push(table);
        sealed.map_err(|error| self.unplayable(&error))?;
        let report = v1::GameReport {
            record: Some((&record).into()),
            timing: Some(v1::GameTiming {
                worker: "simulated".to_owned(),
                started_unix_us: STARTED_UNIX_US,
                duration_us: DURATION_US,
                ..Default::default()
            }),
            ..Default::default()
        };
        Ok(Played {
            report: report.encode_to_vec().into(),
            hash: record.hash,
            plies: record.plies,
        })
    }

    fn table(&self) -> Result<Box<dyn Table>, FleetError> {
        let header = &self.header;
        let visitor = Seat {
            header,
            agents: &self.setup.agents,
        };
        let seats = self.schedule.seats();
        arena_games::visit(&header.ruleset, &header.options, seats, visitor)
            .map_err(|error| error.to_string())
            .and_then(|table| table)
            .map_err(|error| self.unplayable(&error))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn Table>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A match of any game, with its players.
trait Table: Send {
    fn play(&mut self, seats: &[u16], setup: Setup) -> Finished;
    fn seal(&mut self, record: &mut GameRecord) -> Result<(), String>;
}

struct Seated<G: Game> {
    game: G,
    bots: BTreeMap<u16, Box<dyn Bot<G>>>,
    line: LineWriter,
}

struct Seat<'a> {
    header: &'a RecordHeader,
    agents: &'a [v1::AgentSetup],
}

impl Visitor for Seat<'_> {
    type Out = Result<Box<dyn Table>, String>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let mut bots = BTreeMap::new();
        for (index, agent) in (0..).zip(self.agents) {
            if !matches!(agent.source, Some(v1::agent_setup::Source::Native(_))) {
                return Err(format!("{} is not a built-in bot", agent.name));
            }
            let options: Options = options_from_wire(&agent.options);
            let bot = arena_agents::bot(&agent.bot, &options, &game)
                .map_err(|error| error.to_string())?;
            bots.insert(index, bot);
        }
        Ok(Box::new(Seated {
            game,
            bots,
            line: LineWriter::new(self.header),
        }))
    }
}

impl<G: Game> Table for Seated<G> {
    fn play(&mut self, seats: &[u16], setup: Setup) -> Finished {
        play_out(Match::new(self.game.clone(), setup), |decision| {
            let agent = seats[usize::from(decision.seat)];
            let bot = self.bots.get_mut(&agent).expect("every agent has its bot");
            bot.choose(decision)
        })
        .expect("a native bot chooses what is legal")
    }

    fn seal(&mut self, record: &mut GameRecord) -> Result<(), String> {
        self.line
            .seal(record, &self.game)
            .map_err(|error| error.to_string())
    }
}
