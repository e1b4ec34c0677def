//! From a spec to a tournament with all settings resolved.

pub(crate) mod agents;

use std::sync::atomic::AtomicBool;

use arena_model::{
    Returns, SandboxLevel, Tournament, TournamentSeed, canonical_json,
    engine::options::Options,
    is_hidden, printable,
    rules::RulesDescription,
    spec::{GamePlay, Outcome, Play, Records, Spec},
};
use arena_tournament::{Stages, Tally, format::Games};
use arena_wire::{
    convert::options_to_wire,
    v1::{self, agent_setup},
};
use tonic::Status;

use self::agents::{Variants, resolve_agent};
use crate::{
    agents::{Agents, CheckNative},
    error::Error,
    openings::{self, OpeningBooks},
    random,
    rulesets::Rulesets,
};

/// Maximum games of a tournament: finished games are in memory, one bit each.
const GAMES_MAX: u64 = 1_000_000_000;
/// Maximum games of a tournament with more than four seats: the ranking of each is in memory, because
/// hardly any occurs twice.
const RANKED_MAX: u64 = 1_000_000;
/// Maximum groups of a stage: the results of each group are in memory.
const GROUPS_MAX: u64 = 1_000_000;

/// A tournament that can be started.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Id of the first attempt.
    id: String,
    pub(crate) tournament: Tournament,
    /// The spec with its seed and the length of its openings; as given if it has them.
    pub(crate) spec_toml: String,
    pub(crate) games: Games,
    /// Before the first game, as the tally.
    pub(crate) stages: Stages,
    pub(crate) tally: Tally,
    pub(crate) book: OpeningBooks,
    /// Without the id of the tournament.
    pub(crate) setup: v1::TournamentSetup,
    /// True if neither the spec nor the request names the seed.
    is_drawn: bool,
    /// Conceals the seed in its commitment, if the seed is sealed.
    nonce: Option<[u8; 32]>,
    /// Share of games lost without an answer above which it pauses itself.
    pub(crate) unplayed_limit: f64,
    /// Share of games to audit; none: that of the coordinator.
    pub(crate) audit_share: Option<f64>,
    pub(crate) sandbox: Option<SandboxLevel>,
}

/// The bounds of returns, if they decide the places.
fn returns(
    spec: &Spec,
    seats: usize,
    rules: Option<&RulesDescription>,
) -> Result<Option<Returns>, Error> {
    if spec.outcome == Outcome::Ranks {
        return Ok(None);
    }
    let returns = rules
        .and_then(|rules| rules.returns(seats))
        .ok_or_else(|| {
            let of = match rules {
                None => "built-in rulesets have none",
                Some(_) => "its description names no bounds of them",
            };
            Error::Request(format!(
                "outcome = \"returns\": ruleset {} has no returns ({of}); remove the key",
                spec.ruleset
            ))
        })?;
    Ok(Some(returns))
}

impl Plan {
    /// Resolves a spec. `seed` replaces the spec's seed unless it is empty; `drawn` is used if
    /// neither names one. It ends early if `stop` is set.
    pub(crate) fn new(
        spec_toml: &str,
        seed: &str,
        drawn: TournamentSeed,
        agents: &Agents,
        rulesets: &Rulesets,
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        let mut spec = Spec::parse(spec_toml)?;
        let is_drawn = seed.is_empty();
        let seed = match seed {
            "" => spec.seed.unwrap_or(drawn),
            seed => seed.parse()?,
        };
        let is_drawn = is_drawn && spec.seed.is_none();
        let mut is_complete = spec.seed == Some(seed);
        spec.seed = Some(seed);
        let rules = rulesets.find(&spec.ruleset)?;
        let book = spec.play.book.as_ref();
        let (options, seats) = openings::resolve(&rules, &spec.options, spec.seats, book)?;
        spec.play.check_seats(seats)?;
        let rules_version = rules.version();
        if rules.package().is_some() && spec.records == Records::Hash {
            return Err(Error::Request(format!(
                "ruleset {} is a package: records = \"hash\" stores no moves, so that its games could \
                 not be checked; remove it",
                spec.ruleset
            )));
        }
        let variants = Variants::new(&spec);
        let information = rules
            .description()
            .map_or_else(Default::default, |it| it.information);
        let (refs, setups): (Vec<_>, Vec<_>) = spec
            .agents
            .iter()
            .map(|name| resolve_agent(name, &spec, (&options, information), &variants, agents))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .unzip();
        let mut setup = v1::TournamentSetup {
            tournament_id: String::new(),
            ruleset: spec.ruleset.clone(),
            rules_version,
            options: options_to_wire(&options),
            seats: seats as u32,
            agents: setups,
            play: None,
            hash_only: spec.records == Records::Hash,
            luck: true,
            play_json: canonical_json(&GamePlay::from(&spec.play)),
            rules: rules.package().cloned(),
        };
        let settings = spec.settings()?;
        let returns = returns(&spec, seats, rules.description())?;
        let mut tournament = Tournament {
            name: spec.name.clone(),
            ruleset: spec.ruleset.clone(),
            rules_version,
            rules_digest: rules.package().map(|package| package.digest.clone()),
            options,
            seed,
            format: spec.format,
            settings,
            blocks: spec.blocks,
            seats,
            agents: refs,
            // The share of audits, the number of processes and the sandbox change no record.
            play: Play {
                audit_share: None,
                replicas: None,
                sandbox: None,
                ..spec.play.clone()
            },
            openings: None,
            returns,
            changes: Vec::new(),
        };
        if tournament.is_open() && rules.package().is_some() {
            return Err(Error::Request(format!(
                "[ladder] open = true: ruleset {} is a package, and an open ladder needs a built-in \
                 ruleset; remove the key",
                spec.ruleset
            )));
        }
        let agents_options = tournament.agents.iter().map(|agent| &agent.options);
        for options in agents_options.chain([&tournament.options]) {
            check_options_visible(options)?;
        }
        match rules.description() {
            None => openings::settle(&mut tournament, stop)?,
            Some(description) => openings::settle_package(&mut tournament, description),
        }
        setup.play = Some(v1::PlaySettings {
            replicas: spec.play.replicas.unwrap_or_default(),
            ..play_settings(&tournament)
        });
        let is_drawn_book = tournament.openings.is_some() && tournament.play.book.is_none();
        if spec.play.opening_plies.is_none() && is_drawn_book {
            spec.play.opening_plies = tournament.play.opening_plies;
            is_complete = false;
        }
        for (agent, setup) in tournament.agents.iter().zip(&setup.agents) {
            if let Some(agent_setup::Source::Native(_)) = setup.source {
                match rules.package() {
                    None => agents.check_native(agent, &tournament)?,
                    Some(_) => rules.check_native(agent)?,
                }
            }
        }
        let stages = Stages::new(&tournament)?;
        let schedule = stages.schedule();
        let groups = match schedule.blocks() {
            0 => 0,
            _ => schedule.groups_listed(0),
        };
        if groups > GROUPS_MAX {
            return Err(Error::TooManyGroups {
                groups,
                most: GROUPS_MAX,
            });
        }
        let games = stages.games();
        let most = if schedule.seats() > 4 {
            RANKED_MAX
        } else {
            GAMES_MAX
        };
        if games.most > most {
            return Err(Error::TooManyGames {
                games: games.most,
                most,
            });
        }
        Ok(Self {
            spec_toml: match is_complete {
                true => spec_toml.to_owned(),
                false => spec.to_toml(),
            },
            id: tournament.id(1),
            book: OpeningBooks::of(spec.play.book.as_ref()),
            tally: Tally::new(&tournament)?,
            tournament,
            stages,
            games,
            setup,
            is_drawn,
            nonce: None,
            unplayed_limit: spec.unplayed_limit,
            audit_share: spec.play.audit_share,
            sandbox: spec.play.sandbox,
        })
    }

    /// Seals a drawn seed until the tournament is over.
    pub(crate) fn seal(&mut self, nonce: [u8; 32]) {
        self.nonce = self.is_drawn.then_some(nonce);
    }

    /// The answer to a request for a plan.
    pub(crate) fn response(&self) -> v1::PlanTournamentResponse {
        let games = self.games;
        v1::PlanTournamentResponse {
            tournament: Some(self.message(1)),
            games_least: games.least,
            games_most: games.most,
            games_expected: games.expected,
        }
    }

    /// The tournament's id, for this attempt.
    pub(crate) fn id(&self, attempt: u32) -> String {
        Tournament::attempt_id(&self.id, attempt)
    }

    /// The tournament as a message, for this attempt, not yet running.
    pub(crate) fn message(&self, attempt: u32) -> v1::Tournament {
        let id = self.id(attempt);
        let setup = v1::TournamentSetup {
            tournament_id: id.clone(),
            ..self.setup.clone()
        };
        v1::Tournament {
            tournament_id: id,
            name: self.tournament.name.to_string(),
            state: v1::TournamentState::Unspecified.into(),
            spec_json: canonical_json(&self.tournament),
            ruleset: self.tournament.ruleset.clone(),
            format: self.tournament.format.name().to_owned(),
            spec_toml: self.spec_toml.clone(),
            setup: Some(setup),
            games_total: self.games.most,
            games_done: 0,
            created_unix_us: 0,
            finished_unix_us: 0,
            unplayed_limit: Some(self.unplayed_limit),
            audit_share: self.audit_share,
            sandbox: self
                .sandbox
                .map_or_else(String::new, |level| level.to_string()),
            seed_commitment: self.nonce.map_or_else(String::new, |nonce| {
                hex::encode(self.tournament.seed.commitment(&nonce))
            }),
            seed_nonce: self.nonce.map(hex::encode).unwrap_or_default(),
            ..v1::Tournament::default()
        }
    }
}

/// Plans a tournament of built-in bots without a coordinator: the answer of one on which no
/// agent is registered.
///
/// # Errors
/// The status with which a coordinator refuses the spec.
pub fn plan(
    request: &v1::PlanTournamentRequest,
    native: v1::DescribeResponse,
    check_native: CheckNative,
) -> Result<v1::PlanTournamentResponse, Status> {
    let agents = Agents::new(native, check_native, Vec::new());
    let drawn = TournamentSeed::from_bytes(random::bytes()?);
    let rulesets = Rulesets::default();
    let (spec, seed) = (&request.spec_toml, &request.seed);
    let plan = Plan::new(
        spec,
        seed,
        drawn,
        &agents,
        &rulesets,
        &AtomicBool::default(),
    )?;
    Ok(plan.response())
}

/// Settings of play for workers. Openings that many games share are sent with each game.
/// Refuses options with hidden characters: records contain options, and are printed as they are.
pub(crate) fn check_options_visible(options: &Options) -> Result<(), Error> {
    for (name, value) in options {
        let text = format!("{name} = {value}");
        if text.contains(is_hidden) {
            return Err(Error::Request(format!(
                "option {} has a control character or an invisible one: remove it",
                printable(&text)
            )));
        }
    }
    Ok(())
}

fn play_settings(tournament: &Tournament) -> v1::PlaySettings {
    let mut play = v1::PlaySettings::from(&tournament.play);
    if tournament.openings.is_some() {
        play.opening_plies = 0;
    }
    play
}
