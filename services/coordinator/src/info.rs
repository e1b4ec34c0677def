//! The fixed properties of a tournament.

use std::{
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use arena_model::{
    GameRecord, RecordHeader, Tournament,
    engine::{ActionId, AnyGame, BookOpening, FaultPolicy, Termination},
    record::RecordVerifier,
    rules::RulesDescription,
    spec::{Spec, Timing},
};
use arena_tournament::{Schedule, ScheduleError, Stages};
use arena_wire::{convert, v1};

use crate::{
    error::{Error, StartError},
    ledger::{AuditSample, ProgressTimeouts},
    openings::OpeningBooks,
};

/// Default start timeout of an agent.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Starts of an agent before it forfeits.
const STARTS: u32 = 3;
/// Timeout of a batch of decisions, or the move timeout if that is longer.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// The fixed properties of a tournament; its list of games can only grow.
pub(crate) struct Info {
    pub(crate) id: Arc<str>,
    /// Generation of its games, from 1.
    pub(crate) generation: u32,
    /// Key of this generation's games in the store.
    pub(crate) key: Arc<str>,
    pub(crate) tournament: Tournament,
    schedule: RwLock<Arc<Schedule>>,
    /// Maximum number of games.
    pub(crate) games_most: u64,
    pub(crate) setup: v1::TournamentSetup,
    /// What the rules say of themselves, if they are a package.
    pub(crate) description: Option<RulesDescription>,
    /// True if the coordinator drew the seed, which is sealed until the tournament is over.
    pub(crate) is_sealable: bool,
    /// Agents' names, by index.
    pub(crate) agents: Vec<String>,
    /// Agents' labels in metrics, by index.
    pub(crate) labels: Vec<String>,
    /// Drawn before a game is first leased, or when a report is first checked.
    pub(crate) book: OpeningBooks,
    /// Built when a record is first replayed.
    rules: OnceLock<Result<RecordReplay, String>>,
}

/// What replays the records of a tournament.
struct RecordReplay {
    game: Arc<dyn AnyGame>,
    verifier: RecordVerifier,
}

impl RecordReplay {
    fn new(setup: &v1::TournamentSetup) -> Result<Self, Error> {
        let given = convert::options_from_wire(&setup.options);
        let (ruleset, version) = (&setup.ruleset, setup.rules_version);
        let seats = Some(setup.seats as usize);
        let (options, game) = match convert::described(setup)? {
            Some(described) => described,
            None => {
                let resolved = arena_games::resolve_version(ruleset, version, &given, seats);
                let (options, seats) = resolved?;
                let game = arena_games::build_version(ruleset, version, &options, seats)?;
                (options, game)
            }
        };
        let agents = setup.agents.iter().map(|agent| agent.name.clone());
        let header = RecordHeader {
            tournament_id: setup.tournament_id.clone(),
            ruleset: ruleset.clone(),
            rules_version: version,
            rules_digest: setup.rules.as_ref().map(|rules| rules.digest.clone()),
            options,
            agents: agents.collect(),
            setup: convert::record_setup(setup),
        };
        let verifier = RecordVerifier::new(&header, &*game)
            .map_err(|error| Error::Request(error.to_string()))?;
        Ok(Self { game, verifier })
    }
}

/// Key of a generation in the store. No tournament id contains `~`.
fn key(id: &str, generation: u32) -> Arc<str> {
    match generation {
        0 | 1 => id.into(),
        _ => format!("{id}~{generation}").into(),
    }
}

fn description(setup: &v1::TournamentSetup) -> Option<RulesDescription> {
    let rules = setup.rules.as_ref()?;
    RulesDescription::parse(&rules.description).ok()
}

/// Label of an agent in metrics.
fn label(agent: &v1::AgentSetup) -> String {
    match &*agent.label {
        "" => agent.name.clone(),
        label => label.to_owned(),
    }
}

impl Info {
    /// True if agents may see only what their seats see.
    pub(crate) fn has_hidden_information(&self) -> bool {
        let description = self.description.as_ref();
        description.is_some_and(|it| !it.information.is_perfect())
    }

    /// True if the rules are for more seats than those of any built-in game.
    pub(crate) fn has_many_seats(&self) -> bool {
        let description = self.description.as_ref();
        description.is_some_and(|it| it.seats.1 > 4)
    }

    /// True if the actions of the rules have ids beyond those of Arena.
    pub(crate) fn has_wide_ids(&self) -> bool {
        let description = self.description.as_ref();
        description.is_some_and(|it| it.wide_ids)
    }

    /// True if the built-in `mcts` plays rules that are a package.
    pub(crate) fn searches_package(&self) -> bool {
        let is_search = |agent: &v1::AgentSetup| {
            let source = agent.source.as_ref();
            agent.bot == "mcts"
                && source.is_none_or(|it| matches!(it, v1::agent_setup::Source::Native(_)))
        };
        self.package().is_some() && self.setup.agents.iter().any(is_search)
    }

    /// Reads a stored tournament.
    pub(crate) fn read(document: &v1::Tournament) -> Result<Self, StartError> {
        let id = &document.tournament_id;
        let unreadable =
            |problem: String| StartError::unreadable(format!("tournament {id}"), problem);
        let tournament = serde_json::from_str(&document.spec_json);
        let tournament = tournament.map_err(|error| unreadable(error.to_string()))?;
        let setup = document.setup.clone();
        let setup = setup.ok_or_else(|| unreadable("it has no setup".to_owned()))?;
        let info = Self::new(id.as_str().into(), document.generation, tournament, setup);
        let info = info.map_err(|error| unreadable(error.to_string()))?;
        let given = match info.tournament.play.book {
            None => None,
            Some(_) => {
                let spec = Spec::parse(&document.spec_toml);
                spec.map_err(|error| unreadable(error.to_string()))?
                    .play
                    .book
            }
        };
        Ok(Self {
            is_sealable: !document.seed_commitment.is_empty(),
            book: OpeningBooks::of(given.as_ref()),
            ..info
        })
    }

    fn new(
        id: Arc<str>,
        generation: u32,
        tournament: Tournament,
        setup: v1::TournamentSetup,
    ) -> Result<Self, ScheduleError> {
        let stages = Stages::new(&tournament)?;
        Ok(Self::planned(id, generation, tournament, setup, &stages))
    }

    /// A tournament whose stages are known: nothing is computed.
    pub(crate) fn planned(
        id: Arc<str>,
        generation: u32,
        tournament: Tournament,
        setup: v1::TournamentSetup,
        stages: &Stages,
    ) -> Self {
        let generation = generation.max(1);
        let agents = tournament.agents.iter();
        Self {
            key: key(&id, generation),
            id,
            generation,
            agents: agents.map(|agent| agent.name.to_string()).collect(),
            labels: setup.agents.iter().map(label).collect(),
            book: OpeningBooks::default(),
            rules: OnceLock::new(),
            schedule: RwLock::new(Arc::new(stages.schedule().clone())),
            games_most: stages.games().most,
            description: description(&setup),
            tournament,
            setup,
            is_sealable: false,
        }
    }

    /// This tournament, or an earlier generation of it; 0 asks for this one.
    pub(crate) fn generation(self: &Arc<Self>, asked: u32) -> Result<Arc<Self>, Error> {
        if asked == 0 || asked == self.generation {
            return Ok(Arc::clone(self));
        }
        if asked > self.generation {
            return Err(Error::Request(format!(
                "tournament {} has generations 1 to {}, not {asked}",
                self.id, self.generation
            )));
        }
        self.of_generation(asked).map(Arc::new)
    }

    /// Key of a generation's games in the store.
    pub(crate) fn key_of(&self, generation: u32) -> Arc<str> {
        key(&self.id, generation)
    }

    /// The same tournament in another generation, which knows the games of the first stage
    /// only.
    pub(crate) fn of_generation(&self, generation: u32) -> Result<Self, Error> {
        let (tournament, setup) = (self.tournament.clone(), self.setup.clone());
        let info = Self::new(Arc::clone(&self.id), generation, tournament, setup)?;
        let book = self.book.again();
        Ok(Self { book, ..info })
    }

    /// The same open ladder after a change of its agents.
    pub(crate) fn with_agents(
        &self,
        tournament: Tournament,
        setup: v1::TournamentSetup,
        stages: &Stages,
    ) -> Self {
        Self {
            is_sealable: self.is_sealable,
            book: self.book.shared(),
            ..Self::planned(
                Arc::clone(&self.id),
                self.generation,
                tournament,
                setup,
                stages,
            )
        }
    }

    /// The games known so far.
    pub(crate) fn schedule(&self) -> Arc<Schedule> {
        let schedule = self.schedule.read();
        Arc::clone(&schedule.unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the schedule by a longer one.
    pub(crate) fn follow(&self, schedule: &Schedule) {
        let known = self.schedule.write();
        *known.unwrap_or_else(PoisonError::into_inner) = Arc::new(schedule.clone());
    }

    /// An opening by its number; without moves if games have no openings.
    pub(crate) fn opening(&self, number: Option<u64>) -> BookOpening {
        let opening = number.and_then(|number| {
            let book = self.book.known()?;
            book.get(usize::try_from(number).ok()?).cloned()
        });
        opening.unwrap_or_default()
    }

    /// True if the openings of its games can be read at once.
    pub(crate) fn has_openings(&self) -> bool {
        self.tournament.openings.is_none() || self.book.known().is_some()
    }

    /// Number of games known so far.
    pub(crate) fn games(&self) -> u64 {
        self.schedule().games()
    }

    /// True if events are not stored.
    pub(crate) fn hash_only(&self) -> bool {
        self.setup.hash_only
    }

    /// True if playing a game of these agents again must give the same record: none of them is
    /// timed, and each declares that it is deterministic.
    pub(crate) fn replay_proves(&self, agents: impl IntoIterator<Item = u16>) -> bool {
        let steady = |agent: u16| {
            let agent = self.setup.agents.get(usize::from(agent));
            agent.is_some_and(|agent| agent.deterministic)
        };
        self.tournament.play.timing != Timing::Strict && agents.into_iter().all(steady)
    }

    /// True if moves follow a fault that may be that of a host: an audit without the fault does not compare
    /// them.
    pub(crate) fn goes_on_after_faults(&self) -> bool {
        let play = &self.tournament.play;
        play.on_fault == FaultPolicy::RandomMove || self.setup.seats > 2
    }

    /// True if scores are compared by worker, because a replay does not prove all moves.
    pub(crate) fn compares_workers(&self) -> bool {
        let agents = 0..self.setup.agents.len() as u16;
        // An agent that is added later may be another one.
        let is_open = self.tournament.is_open();
        is_open || !self.replay_proves(agents) || self.goes_on_after_faults()
    }

    /// The games that are audited: whole blocks where results are compared by worker.
    pub(crate) fn audit_sample(&self, sample: AuditSample) -> AuditSample {
        let proves = self.replay_proves(0..self.setup.agents.len() as u16);
        // An agent that is added later may be another one.
        match proves && !self.tournament.is_open() {
            true => sample,
            false => sample.of_blocks(self.schedule().rotations().into()),
        }
    }

    /// True if one of its agents is this binary.
    pub(crate) fn uses_binary(&self, sha256: &str) -> bool {
        self.setup.agents.iter().any(|agent| {
            matches!(&agent.source, Some(v1::agent_setup::Source::Binary(binary))
                if binary.sha256 == sha256)
        }) || self
            .package()
            .is_some_and(|package| package.sha256 == sha256)
    }

    /// The number by which the ledger knows rules that are a package: like an agent, they may start on one
    /// worker and not on another.
    pub(crate) fn rules_number(&self) -> u16 {
        self.agents.len() as u16
    }

    /// The package of its rules, if they are one.
    pub(crate) fn package(&self) -> Option<&v1::BinarySource> {
        self.setup.rules.as_ref()?.package.as_ref()
    }

    /// True if workers start a registered binary for it.
    pub(crate) fn starts_binaries(&self) -> bool {
        let mut sources = self.setup.agents.iter().map(|agent| &agent.source);
        self.package().is_some()
            || sources.any(|source| matches!(source, Some(v1::agent_setup::Source::Binary(_))))
    }

    /// Extra time that its leases may go without progress.
    pub(crate) fn progress_timeouts(&self) -> ProgressTimeouts {
        let agents = self
            .setup
            .agents
            .iter()
            .filter_map(|agent| match &agent.source {
                Some(v1::agent_setup::Source::Binary(binary)) => Some(binary),
                _ => None,
            });
        let starts = agents.chain(self.package()).map(|binary| {
            let limit = binary.limits.unwrap_or_default().start_timeout_us;
            match limit {
                0 => START_TIMEOUT,
                limit => Duration::from_micros(limit),
            }
        });
        let starting = starts.max().unwrap_or_default() * STARTS;
        let outside = self
            .setup
            .agents
            .iter()
            .any(|agent| !matches!(agent.source, Some(v1::agent_setup::Source::Native(_))));
        let timeout = self.tournament.play.longest_move();
        // The worst case is an agent that hangs: its batch times out, it is restarted,
        // and the open decisions are asked again alone.
        let between = if outside {
            BATCH_TIMEOUT.max(timeout) + starting + timeout
        } else {
            timeout
        };
        ProgressTimeouts {
            first: between + starting,
            between,
        }
    }

    /// Replays a record: the rules allow its moves, the seed draws its dice, and its result follows
    /// from them. So do luck and hash, which are added if the record has no hash yet. `line` is a
    /// buffer.
    pub(crate) fn replay(
        &self,
        record: &mut GameRecord,
        has_hash: bool,
        schedule: &Schedule,
        line: &mut String,
    ) -> Result<(), Error> {
        let index = record.index;
        let game = || format!("{}/{index}", self.id);
        let wrong = |problem: String| {
            let game = game();
            Err(Error::Unsound { game, problem })
        };
        let rules = self.rules.get_or_init(|| {
            RecordReplay::new(&self.setup).map_err(|error| format!("cannot be replayed: {error}"))
        });
        let rules = match rules {
            Ok(rules) => rules,
            Err(problem) => {
                let (game, problem) = (game(), problem.clone());
                return Err(Error::Record { game, problem });
            }
        };
        let RecordReplay { game, verifier } = rules;
        let replayed = match has_hash {
            true => verifier.verify(record, &**game, line),
            false => verifier.complete(record, &**game, self.setup.luck, line),
        };
        if let Err(error) = replayed {
            return wrong(format!("cannot have happened: {error}"));
        }
        let plies = self.setup.play.unwrap_or_default().opening_plies;
        let is_void = record.termination == Termination::Void;
        if is_void || !game.has_rules() || schedule.game(record.index).opening.is_some() {
            // A void game has no moves. Openings of a book were checked with the schedule. A package
            // of rules is not started here.
            return Ok(());
        }
        if record.has_drawn_opening(&**game, plies) != Ok(true) {
            return wrong("does not start with the opening that its seed draws".to_owned());
        }
        Ok(())
    }

    /// Checks a record against a schedule of this tournament, but not its opening.
    pub(crate) fn check(&self, record: &GameRecord, schedule: &Schedule) -> Result<(), Error> {
        let wrong = |what: &str| {
            Err(Error::Record {
                game: format!("{}/{}", self.id, record.index),
                problem: what.to_owned(),
            })
        };
        if record.index >= schedule.games() {
            return wrong("does not match any game of the schedule");
        }
        let game = schedule.game(record.index);
        if (game.block, game.seed, &game.seats) != (record.block, record.seed, &record.seats) {
            return wrong("has a block, seed or seats that differ from the schedule");
        }
        Ok(())
    }

    /// Checks that a record starts with the opening of its block; may take seconds at first.
    pub(crate) fn check_opening(
        &self,
        record: &GameRecord,
        schedule: &Schedule,
    ) -> Result<(), Error> {
        let number = schedule.game(record.index).opening;
        let is_right = match number {
            None => record.start.is_none(),
            Some(number) => {
                let book = self.book.draw(&self.tournament);
                let opening = book.get(number as usize);
                opening.is_none_or(|opening| {
                    let is_void = record.termination == Termination::Void;
                    record.start == opening.start
                        && (is_void || begins_with(record, &opening.moves))
                })
            }
        };
        if is_right {
            return Ok(());
        }
        Err(Error::Record {
            game: format!("{}/{}", self.id, record.index),
            problem: "does not start with the opening of its block".to_owned(),
        })
    }
}

/// True if a record begins with these moves and marks them as its opening.
fn begins_with(record: &GameRecord, opening: &[ActionId]) -> bool {
    let actions = record.events.iter().filter(|event| event.is_action());
    record.opening_plies as usize == opening.len()
        && actions
            .map(|event| event.id())
            .take(opening.len())
            .eq(opening.iter().copied())
}
