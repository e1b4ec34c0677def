//! What the games of a tournament share on a worker.

use std::{collections::hash_map::RandomState, hash::BuildHasher, sync::Arc};

use arena_engine::{
    ActionId, Adjudicator, AnyGame, AnyMatch, Described, Event, IllegalAction, Opening, Setup,
    options::Options,
};
use arena_games::{AddedGame, GamesError, Visitor};
use arena_model::{
    BlockSeed, GameRecord, RecordHeader,
    rules::{RulesDescription, RulesError},
};
use arena_telemetry::WorkerMetrics;
use arena_wire::{
    convert::{adjudication_rules, match_setup, options_from_wire, record_setup},
    v1::{self, agent_setup::Source},
};

use crate::{
    clock::{TimeControl, speed},
    environment::{AgentOptions, Builtin},
    machine::Need,
    meter::{Latencies, Meter},
    rules::{self, PackageGame, RulesFailure, RulesService},
};

/// Why this program cannot play a tournament.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Its ruleset or options are unknown.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// The description of its rules, or options, are invalid.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The package of its rules cannot be started here.
    #[error("ruleset {ruleset}: {problem}")]
    Package {
        /// Name of the ruleset.
        ruleset: String,
        /// What happened.
        problem: String,
    },
    /// A game does not match the setup.
    #[error("game {index}: its seats are not agents of the tournament")]
    Seats {
        /// Number of the game.
        index: u64,
    },
}

fn need(agent: &v1::AgentSetup) -> Need {
    let limits = match &agent.source {
        Some(Source::Binary(binary)) => binary.limits.as_ref(),
        _ => None,
    };
    Need::new(agent.cpus, limits.map_or(0, |limits| limits.memory_bytes))
}

/// What all games of a tournament share.
pub(crate) struct TournamentContext {
    setup: v1::TournamentSetup,
    play: v1::PlaySettings,
    options: Options,
    game: Arc<dyn AnyGame>,
    /// The rules, if they are a package.
    package: Option<(PackageGame, Arc<dyn RulesService>)>,
    /// The game for replays, which do not need positions.
    replayed: Arc<dyn AnyGame>,
    header: RecordHeader,
    latencies: Arc<Latencies>,
    time_control: TimeControl,
    /// A secret of this worker.
    game_tokens: RandomState,
}

impl TournamentContext {
    /// `service` answers for the rules, if they are a package.
    pub(crate) fn new(
        setup: v1::TournamentSetup,
        service: Option<Arc<dyn RulesService>>,
    ) -> Result<Self, SetupError> {
        let given = options_from_wire(&setup.options);
        let (ruleset, version) = (&setup.ruleset, setup.rules_version);
        // Text becomes the type of each option.
        let seats = Some(setup.seats as usize);
        let (mut package, mut without_positions) = (None, None);
        let (options, game): (_, Arc<dyn AnyGame>) = match (&setup.rules, service) {
            (None, _) => {
                let resolved = arena_games::resolve_version(ruleset, version, &given, seats);
                let (options, seats) = resolved?;
                let game = arena_games::build_version(ruleset, version, &options, seats)?;
                (options, game)
            }
            (Some(rules), Some(service)) => {
                let description = RulesDescription::parse(&rules.description)?;
                let (options, seats) = description.resolve(ruleset, &given, seats)?;
                let game = PackageGame::new(ruleset, description, &options, seats, service.clone());
                package = Some((game.clone(), service));
                without_positions = Some(Arc::new(game.without_positions()) as Arc<dyn AnyGame>);
                (options, Arc::new(game))
            }
            (Some(_), None) => {
                return Err(SetupError::Package {
                    ruleset: ruleset.clone(),
                    problem: "its package was not fetched".to_owned(),
                });
            }
        };
        let header = RecordHeader {
            tournament_id: setup.tournament_id.clone(),
            ruleset: setup.ruleset.clone(),
            rules_version: setup.rules_version,
            rules_digest: setup.rules.as_ref().map(|rules| rules.digest.clone()),
            options: options.clone(),
            agents: { setup.agents.iter() }.map(|it| it.name.clone()).collect(),
            setup: record_setup(&setup),
        };
        let play = setup.play.unwrap_or_default();
        let scale = match play.scale_clocks {
            true => speed::clock_scale(),
            false => 1.0,
        };
        Ok(Self {
            latencies: Arc::new(Latencies::new(setup.agents.len())),
            time_control: TimeControl::of(&play, scale),
            play,
            setup,
            options,
            replayed: without_positions.unwrap_or_else(|| game.clone()),
            game,
            package,
            header,
            game_tokens: RandomState::new(),
        })
    }

    pub(crate) fn tournament_id(&self) -> &str {
        &self.setup.tournament_id
    }

    pub(crate) fn wire(&self) -> &v1::TournamentSetup {
        &self.setup
    }

    pub(crate) fn game(&self) -> &dyn AnyGame {
        &*self.game
    }

    pub(crate) fn header(&self) -> &RecordHeader {
        &self.header
    }

    /// True if each decision is asked alone, and timed.
    pub(crate) fn strict(&self) -> bool {
        self.play.timing() == v1::Timing::Strict || self.time_control.is_timed()
    }

    pub(crate) fn time_control(&self) -> &TimeControl {
        &self.time_control
    }

    /// Visits the rules, for bots of this program.
    pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> Result<V::Out, GamesError> {
        let (ruleset, version) = (&self.setup.ruleset, self.setup.rules_version);
        let seats = self.game.seats();
        if let Some((game, _)) = &self.package {
            return Ok(visitor.visit(AddedGame::of(game.without_positions())));
        }
        arena_games::visit_version(ruleset, version, &self.options, seats, visitor)
    }

    /// The failure of the package of the rules, if it is at fault.
    pub(crate) fn rules_failure(&self) -> Option<RulesFailure> {
        let (_, service) = self.package.as_ref()?;
        service.failure()
    }

    /// The board of a record after a number of plies, as the package of the rules draws it.
    pub(crate) fn board_after(&self, record: &GameRecord, plies: u64) -> v1::Board {
        match &self.package {
            Some((game, _)) => game.board_after(&record.events, plies),
            None => rules::without("the rules are no package"),
        }
    }

    /// The game, for replays.
    pub(crate) fn replayed_game(&self) -> &dyn AnyGame {
        &*self.replayed
    }

    /// The game, for a reader who has the rules.
    pub(crate) fn shared_game(&self) -> Arc<dyn AnyGame> {
        Arc::clone(&self.game)
    }

    /// True if the rules are a package: bots of this program need its processes.
    pub(crate) fn has_package(&self) -> bool {
        self.package.is_some()
    }

    /// True if an agent may see the moves of other seats.
    pub(crate) fn has_perfect_information(&self) -> bool {
        let package = self.package.as_ref();
        package.is_none_or(|(game, _)| game.rules().information.is_perfect())
    }

    /// A meter for the moves of an agent.
    pub(crate) fn meter(&self, metrics: &WorkerMetrics, agent: u16) -> Meter {
        let (label, ruleset) = (self.agent_label(agent), &self.setup.ruleset);
        Meter::new(metrics, self.latencies.clone(), agent, label, ruleset)
    }

    /// Latencies that were not reported yet.
    pub(crate) fn latencies(&self) -> &Latencies {
        &self.latencies
    }

    /// Starts a game of these rules, which are those of the tournament.
    pub(crate) fn open(
        &self,
        rules: &dyn AnyGame,
        game: &v1::GameAssignment,
    ) -> Result<Box<dyn AnyMatch>, IllegalAction> {
        match with_start(rules, game) {
            Ok(own) => own.as_deref().unwrap_or(rules).open(self.setup(game)),
            Err(problem) => {
                tracing::error!(game = game.index, problem, "invalid start position");
                // No seat has played it.
                Err(IllegalAction { action: 0, seat: 0 })
            }
        }
    }

    /// Calls a visitor with the events of a game of this tournament.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn replay(
        &self,
        game: &v1::GameAssignment,
        events: &[Event],
        visit: &mut dyn FnMut(Described<'_>),
    ) -> Result<(), String> {
        let own = with_start(self.game(), game)?;
        let rules = own.as_deref().unwrap_or(self.game());
        let replayed = rules.replay(events, visit);
        replayed.map(drop).map_err(|error| error.to_string())
    }

    /// What follows the scores of a game; none if no game ends by adjudication.
    pub(crate) fn adjudicator(&self) -> Option<Adjudicator> {
        let rules = adjudication_rules(&self.play);
        (!rules.is_off() && self.game.seats() == 2).then(|| Adjudicator::new(rules))
    }

    /// Fails if a game names agents that do not exist.
    pub(crate) fn check(&self, game: &v1::GameAssignment) -> Result<(), SetupError> {
        let known = |&agent: &u32| (agent as usize) < self.setup.agents.len();
        if game.seats.len() == self.game.seats() && game.seats.iter().all(known) {
            return Ok(());
        }
        Err(SetupError::Seats { index: game.index })
    }

    /// Agents in seat order.
    pub(crate) fn seats(&self, game: &v1::GameAssignment) -> Vec<u16> {
        game.seats.iter().map(|&agent| agent as u16).collect()
    }

    pub(crate) fn agent(&self, index: u16) -> &v1::AgentSetup {
        &self.setup.agents[usize::from(index)]
    }

    pub(crate) fn agent_name(&self, index: u16) -> &str {
        &self.agent(index).name
    }

    /// What sticky agents get as the name of a game. It is opaque: agents must not recognise games
    /// that share dice.
    pub(crate) fn game_token(&self, index: u64) -> Vec<u8> {
        let token = self.game_tokens.hash_one((self.tournament_id(), index));
        token.to_be_bytes().to_vec()
    }

    /// Label of an agent in metrics.
    pub(crate) fn agent_label(&self, index: u16) -> &str {
        let agent = self.agent(index);
        if agent.label.is_empty() {
            &agent.name
        } else {
            &agent.label
        }
    }

    /// True for a built-in agent.
    pub(crate) fn is_native(&self, index: u16) -> bool {
        let source = &self.agent(index).source;
        matches!(source, Some(v1::agent_setup::Source::Native(_)))
    }

    /// True if an agent is a program that this worker starts.
    pub(crate) fn is_program(&self, index: u16) -> bool {
        let source = &self.agent(index).source;
        matches!(source, Some(v1::agent_setup::Source::Binary(_)))
    }

    /// Maximum number of processes of an agent on this worker; none if the number does not matter,
    /// because the agent runs in the worker or elsewhere.
    pub(crate) fn replicas(&self, index: u16, options: &AgentOptions) -> Option<usize> {
        let has_process = |agent: &&v1::AgentSetup| match agent.source {
            Some(Source::Native(_)) => options.builtin == Builtin::Process && !self.has_package(),
            Some(Source::Binary(_)) => true,
            None | Some(Source::Endpoint(_)) => false,
        };
        let agent = Some(self.agent(index)).filter(has_process)?;
        let machine = &options.machine;
        let wanted = match (self.play.replicas, agent.replicas) {
            // One process answers several questions at the same time.
            (0, 0) if agent.concurrent && !self.strict() => 1,
            (0, 0) => machine.replicas_by_cores(need(agent).cpus, self.strict()),
            (0, replicas) | (replicas, _) => replicas as usize,
        };
        let others = self.setup.agents.iter().filter(has_process);
        let memory = others.map(|it| need(it).memory_bytes);
        Some(wanted.min(machine.replicas_by_memory(memory.sum())))
    }

    /// What each process of an agent needs.
    pub(crate) fn need(&self, index: u16) -> Need {
        need(self.agent(index))
    }

    /// Cores to which a control group limits each process of an agent; 0: no limit, because it
    /// uses several without naming their number.
    pub(crate) fn cpu_limit(&self, index: u16) -> u32 {
        let agent = self.agent(index);
        match agent.concurrent {
            true => agent.cpus,
            false => agent.cpus.max(1),
        }
    }

    /// The smallest number of processes that an agent may have on this worker.
    pub(crate) fn replicas_min(&self, options: &AgentOptions) -> usize {
        let agents = 0..self.setup.agents.len() as u16;
        let replicas = agents.filter_map(|agent| self.replicas(agent, options));
        replicas.min().unwrap_or(usize::MAX)
    }

    /// Name and options of a built-in agent's bot.
    pub(crate) fn native(&self, index: u16) -> Result<(&str, Options), String> {
        let agent = self.agent(index);
        if !self.is_native(index) {
            return Err(format!("{} is not a built-in bot", agent.name));
        }
        Ok((&agent.bot, options_from_wire(&agent.options)))
    }

    pub(crate) fn setup(&self, game: &v1::GameAssignment) -> Setup {
        let seats = game.seats.iter();
        let names: Vec<&str> = seats.map(|&it| self.agent_name(it as u16)).collect();
        let opening = if game.opening.is_empty() {
            Opening::Drawn(self.play.opening_plies)
        } else {
            // An id that is no action is no legal action.
            let actions = game.opening.iter();
            let actions = actions.map(|&id| ActionId::try_from(id).unwrap_or(ActionId::MAX));
            Opening::Given(actions.collect())
        };
        let keys = BlockSeed(game.seed).keys(&names);
        Setup {
            // It is computed when the record is replayed.
            luck: false,
            ..match_setup(&self.play, keys, opening)
        }
    }
}

/// These rules with the start position of a game; none if it is that of the options.
fn with_start(
    rules: &dyn AnyGame,
    game: &v1::GameAssignment,
) -> Result<Option<Box<dyn AnyGame>>, String> {
    match &*game.start {
        "" => Ok(None),
        start => rules.with_start(start).map(Some),
    }
}
