//! Plays the games of a matchup on threads of this process, without a coordinator.
//!
//! `arena run` plays the same games for the same spec.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use arena_agents::{Bot, Chosen, play_out};
use arena_engine::{Finished, Game, MAX_SEATS, Match, Opening, Setup, options::Options};
use arena_games::Visitor;
use arena_model::{AgentRef, BlockSeed, Tournament, spec::Spec};
use arena_tournament::{Schedule, published::Part};

use crate::error::{PaperError, Result};
use crate::{
    history,
    measure::{GameFacts, Measure, SearchCounts},
    tables::Matchup,
};

/// Games that a thread takes at a time.
const CHUNK: u64 = 4;

/// What each game adds: by measure, by block, by game.
pub(crate) type Parts = Vec<Vec<Vec<Part>>>;

/// Fails if `stop` is set.
pub(crate) fn check_stop(stop: &AtomicBool) -> Result {
    match stop.load(Ordering::Relaxed) {
        true => Err(PaperError::Interrupted),
        false => Ok(()),
    }
}

/// Bots in the order of a spec's agents.
type Bots<G> = Vec<Box<dyn Bot<G>>>;

/// Fails if an agent of the matchup cannot play its ruleset.
pub(crate) fn check(play: &Matchup) -> Result {
    struct AgentCheck<'a>(&'a Spec);
    impl Visitor for AgentCheck<'_> {
        type Out = Result;

        fn visit<G: Game>(self, game: G) -> Result {
            seat(&game, self.0).map(drop)
        }
    }
    play.visit(AgentCheck(&play.spec))?
}

impl Matchup {
    /// Visits the ruleset with the options of the matchup.
    pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> Result<V::Out> {
        arena_games::visit(&self.spec.ruleset, &self.options, self.seats, visitor)
            .map_err(PaperError::failed)
    }
}

/// The agents of a spec: their entries in a tournament, and their bots.
fn seat<G: Game>(game: &G, spec: &Spec) -> Result<(Vec<AgentRef>, Bots<G>)> {
    let mut agents = Vec::with_capacity(spec.agents.len());
    let mut bots = Vec::with_capacity(spec.agents.len());
    for name in &spec.agents {
        let variant = spec.variants.iter().find(|variant| variant.name == *name);
        let (bot, options) = match variant {
            Some(variant) => (&*variant.bot, variant.options.clone()),
            None => (name.as_str(), Options::new()),
        };
        bots.push(arena_agents::bot(bot, &options, game).map_err(PaperError::failed)?);
        agents.push(AgentRef {
            name: name.clone(),
            bot: bot.to_owned(),
            options,
            version: String::new(),
            uses_seed: None,
            content: String::new(),
            registration: None,
        });
    }
    Ok((agents, bots))
}

/// Bots and the schedule of their games, which is the same as a coordinator's.
pub(crate) struct MatchupPlayer<G: Game> {
    schedule: Schedule,
    names: Vec<String>,
    bots: Bots<G>,
    opening_plies: u32,
}

/// A finished game.
pub(crate) struct PlayedGame {
    /// Index of each seat's agent in the spec.
    agents: Vec<u16>,
    seed: BlockSeed,
    finished: Finished,
    searches: [SearchCounts; MAX_SEATS],
}

impl<G: Game> MatchupPlayer<G> {
    pub(crate) fn new(game: &G, play: &Matchup, spec: &Spec) -> Result<Self> {
        let (agents, bots) = seat(game, spec)?;
        let names = agents.iter().map(|agent| agent.name.to_string()).collect();
        let tournament = Tournament {
            name: spec.name.clone(),
            ruleset: spec.ruleset.clone(),
            rules_version: game.version(),
            rules_digest: None,
            options: play.options.clone(),
            seed: spec
                .seed
                .ok_or_else(|| PaperError::failed("games without a seed"))?,
            format: spec.format,
            settings: spec.settings().map_err(PaperError::failed)?,
            blocks: spec.blocks,
            seats: play.seats,
            agents,
            play: spec.play.clone(),
            // The papers' openings, if any, are drawn for each block.
            openings: None,
            returns: None,
            changes: Vec::new(),
        };
        Ok(Self {
            schedule: Schedule::new(&tournament).map_err(PaperError::failed)?,
            names,
            bots,
            opening_plies: spec.play.opening_plies.unwrap_or(0),
        })
    }

    /// Number of games.
    pub(crate) fn games(&self) -> u64 {
        self.schedule.games()
    }

    /// Plays a game to its end.
    ///
    /// `ask` gets the index of the agent to move and a function that returns the choice of
    /// any agent at this position.
    pub(crate) fn play(
        &mut self,
        game: &G,
        index: u64,
        mut ask: impl FnMut(usize, &mut dyn FnMut(usize) -> Chosen) -> Chosen,
    ) -> Result<PlayedGame> {
        let scheduled = self.schedule.game(index);
        let names = scheduled.seats.iter();
        let names = names.map(|&agent| &*self.names[usize::from(agent)]);
        let names: Vec<&str> = names.collect();
        let opening = Opening::Drawn(self.opening_plies);
        let setup = Setup::new(scheduled.seed.keys(&names), opening);
        let mut searches = [SearchCounts::default(); MAX_SEATS];
        let bots = &mut self.bots;
        let finished = play_out(Match::new(game.clone(), setup), |decision| {
            let seat = usize::from(decision.seat);
            let agent = usize::from(scheduled.seats[seat]);
            let chosen = ask(agent, &mut |agent| bots[agent].choose(decision));
            searches[seat].add(chosen.nodes.unwrap_or(0));
            chosen
        });
        let seed = scheduled.seed;
        let failed = |error| PaperError::failed(format!("the game of seed {seed}: {error}"));
        Ok(PlayedGame {
            agents: scheduled.seats,
            seed,
            finished: finished.map_err(failed)?,
            searches,
        })
    }
}

/// Plays the games of a matchup on several threads, until `stop` is set.
pub(crate) struct GameRunner<'a> {
    pub(crate) play: &'a Matchup,
    pub(crate) spec: &'a Spec,
    pub(crate) measures: &'a [&'a Measure],
    pub(crate) threads: usize,
    pub(crate) stop: &'a AtomicBool,
    /// Called after each game, on any thread.
    pub(crate) played: &'a (dyn Fn() + Sync),
}

/// A game's index, and what it adds to each measure.
type GameParts = (u64, Vec<Part>);

impl Visitor for GameRunner<'_> {
    type Out = Result<Parts>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let player = MatchupPlayer::new(&game, self.play, self.spec)?;
        let per_block = player.schedule.rotations() as usize;
        let next = AtomicU64::new(0);
        let rows: Mutex<Vec<GameParts>> = Mutex::default();
        let work = || -> Result {
            let done = self.work(&game, &next)?;
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            rows.extend(done);
            Ok(())
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..self.threads).map(|_| scope.spawn(work)).collect();
            others.into_iter().fold(work(), |outcome, other| {
                let panicked = |_| Err(PaperError::failed("a thread that plays panicked"));
                outcome.and(other.join().unwrap_or_else(panicked))
            })
        })?;
        let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.sort_unstable_by_key(|&(index, _)| index);
        let column = |place: usize| {
            let parts: Vec<Part> = rows.iter().map(|(_, parts)| parts[place]).collect();
            parts.chunks(per_block).map(<[Part]>::to_vec).collect()
        };
        Ok((0..self.measures.len()).map(column).collect())
    }
}

impl GameRunner<'_> {
    /// Plays games until none is left.
    fn work<G: Game>(&self, game: &G, next: &AtomicU64) -> Result<Vec<GameParts>> {
        let mut table = MatchupPlayer::new(game, self.play, self.spec)?;
        let follows = self.measures.iter().any(|measure| measure.needs_history());
        let mut rows = Vec::new();
        loop {
            let first = next.fetch_add(CHUNK, Ordering::Relaxed);
            if first >= table.games() {
                return Ok(rows);
            }
            for index in first..(first + CHUNK).min(table.games()) {
                check_stop(self.stop)?;
                let played = table.play(game, index, |agent, choose| choose(agent))?;
                let history = match follows {
                    true => history::follow(game, &played.finished.events, played.seed),
                    false => Ok(None),
                };
                let history = history.map_err(PaperError::failed)?;
                let facts = GameFacts {
                    agents: &played.agents,
                    finished: &played.finished,
                    searches: &played.searches,
                    history: history.as_ref(),
                };
                let parts = self.measures.iter().map(|measure| measure.part(&facts));
                rows.push((index, parts.collect()));
                (self.played)();
            }
        }
    }
}
