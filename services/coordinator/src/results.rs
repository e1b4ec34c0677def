//! One tournament as it is kept, and the sums over its results.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use arena_model::{
    GameRecord, Tournament,
    engine::{ActionId, FaultKind, OpeningBook, Termination},
    error_line,
    record::opening_events,
    result::GameResult,
};
use arena_store::{Position, Sha256Digest, Store, StoredGame};
use arena_telemetry::{LatencyBucketError, LatencyHistogram, MoveLatency};
use arena_tournament::{Schedule, ScheduleError, SeatStanding, Stages, Standings, Tally};
use arena_wire::v1;
use prost::Message;

use crate::{
    checkpoint,
    error::{Error, StartError},
    ledger::{Bitmap, Patience},
    openings,
};

/// The longest cause in a last fault, in bytes.
const CAUSE_MAX: usize = 400;
/// How much of an agent's last words is reported with its last fault.
const LAST_WORDS_LINES: usize = 3;
const LAST_WORDS_MAX: usize = 300;
/// How long an agent may take to start where nothing else is said.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// How often an agent is started before it forfeits.
const STARTS: u32 = 3;
/// A batch of decisions may take this long in all, or as long as one move.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// What never changes about a tournament, but for the games that it has: those
/// only become more.
pub(crate) struct Info {
    pub(crate) id: Arc<str>,
    /// Which generation its games are, from 1.
    pub(crate) generation: u32,
    /// What the store calls this generation's games, and what is kept beside them.
    pub(crate) key: Arc<str>,
    pub(crate) tournament: Tournament,
    schedule: RwLock<Arc<Schedule>>,
    /// The most games it can have.
    pub(crate) games_most: u64,
    pub(crate) setup: v1::TournamentSetup,
    /// Agents' names, by index.
    pub(crate) agents: Vec<String>,
    /// What metrics call them, by index.
    pub(crate) labels: Vec<String>,
    /// Made when a game is first assigned or checked.
    book: OnceLock<Option<OpeningBook>>,
}

/// What the store calls a generation of a tournament's games. No id has the sign.
fn key(id: &str, generation: u32) -> Arc<str> {
    match generation {
        0 | 1 => id.into(),
        _ => format!("{id}~{generation}").into(),
    }
}

/// What metrics call an agent.
fn label(agent: &v1::AgentSetup) -> String {
    if agent.label.is_empty() {
        agent.name.clone()
    } else {
        agent.label.clone()
    }
}

impl Info {
    /// Reads a stored tournament.
    pub(crate) fn read(document: &v1::Tournament) -> Result<Self, StartError> {
        let unreadable = |problem: String| StartError::Document {
            what: format!("tournament {}", document.tournament_id),
            problem,
        };
        let tournament: Tournament = serde_json::from_str(&document.spec_json)
            .map_err(|error| unreadable(error.to_string()))?;
        let stages = Stages::new(&tournament).map_err(|error| unreadable(error.to_string()))?;
        let setup = document
            .setup
            .clone()
            .ok_or_else(|| unreadable("it has no setup".to_owned()))?;
        let generation = document.generation.max(1);
        Ok(Self {
            id: document.tournament_id.as_str().into(),
            generation,
            key: key(&document.tournament_id, generation),
            agents: tournament
                .agents
                .iter()
                .map(|agent| agent.name.to_string())
                .collect(),
            labels: setup.agents.iter().map(label).collect(),
            book: OnceLock::new(),
            tournament,
            schedule: RwLock::new(Arc::new(stages.schedule().clone())),
            games_most: stages.games().most,
            setup,
        })
    }

    /// Another generation of it, of which no game is known yet but those of the first
    /// stage.
    pub(crate) fn of_generation(&self, generation: u32) -> Result<Self, Error> {
        let stages = Stages::new(&self.tournament)?;
        Ok(Self {
            id: Arc::clone(&self.id),
            generation,
            key: key(&self.id, generation),
            tournament: self.tournament.clone(),
            schedule: RwLock::new(Arc::new(stages.schedule().clone())),
            games_most: self.games_most,
            setup: self.setup.clone(),
            agents: self.agents.clone(),
            labels: self.labels.clone(),
            book: OnceLock::new(),
        })
    }

    /// The games known so far.
    pub(crate) fn schedule(&self) -> Arc<Schedule> {
        let schedule = self.schedule.read();
        Arc::clone(&schedule.unwrap_or_else(PoisonError::into_inner))
    }

    /// More games are known.
    pub(crate) fn follow(&self, schedule: &Schedule) {
        let known = self.schedule.write();
        *known.unwrap_or_else(PoisonError::into_inner) = Arc::new(schedule.clone());
    }

    /// The actions of an opening by its number; none where games have no given
    /// opening.
    pub(crate) fn opening(&self, number: Option<u64>) -> Option<&[ActionId]> {
        let number = number?;
        let book = self.book.get_or_init(|| {
            openings::book(&self.tournament)
                .inspect_err(|error| {
                    tracing::error!(tournament = %self.id, %error, "it has no openings");
                })
                .ok()
        });
        let openings = &book.as_ref()?.openings;
        Some(openings.get(usize::try_from(number).ok()?)?)
    }

    /// How many games are known so far.
    pub(crate) fn games(&self) -> u64 {
        self.schedule().games()
    }

    /// Whether chance outcomes and moves are not kept.
    pub(crate) fn hash_only(&self) -> bool {
        self.setup.hash_only
    }

    /// How long its leases may go without progress beyond the usual.
    pub(crate) fn patience(&self) -> Patience {
        let starts = self.setup.agents.iter().filter_map(|agent| {
            let Some(v1::agent_setup::Source::Binary(binary)) = &agent.source else {
                return None;
            };
            let limit = binary.limits.unwrap_or_default().start_timeout_us;
            Some(if limit == 0 {
                START_TIMEOUT
            } else {
                Duration::from_micros(limit)
            })
        });
        let starting = starts.max().unwrap_or_default() * STARTS;
        let outside = self
            .setup
            .agents
            .iter()
            .any(|agent| !matches!(agent.source, Some(v1::agent_setup::Source::Native(_))));
        let timeout = self.tournament.play.move_timeout;
        // The worst is an agent that hangs: its batch runs out of time, it is
        // started anew, and what it owes is asked again alone.
        let between = if outside {
            BATCH_TIMEOUT.max(timeout) + starting + timeout
        } else {
            timeout
        };
        Patience {
            first: between + starting,
            between,
        }
    }

    /// Holds a record against a schedule of this tournament.
    pub(crate) fn check(&self, record: &GameRecord, schedule: &Schedule) -> Result<(), Error> {
        let wrong = |what: &str| {
            Err(Error::Request(format!(
                "the record of game {}/{} {what}",
                self.id, record.index
            )))
        };
        if record.index >= schedule.games() {
            return wrong("is of no game of the schedule");
        }
        let game = schedule.game(record.index);
        if (game.block, game.seed, &game.seats) != (record.block, record.seed, &record.seats) {
            return wrong("has another block, seed or seats than the schedule");
        }
        if record.events.is_empty() && record.plies > 0 && !self.hash_only() {
            return wrong("has no events, and its tournament keeps them");
        }
        if let Some(opening) = game.opening.and_then(|number| self.opening(Some(number)))
            && !record.events.is_empty()
            && !begins_with(record, opening)
        {
            return wrong("does not begin with the opening of its block");
        }
        Ok(())
    }
}

/// Whether the actions of a record begin with an opening, marked as one.
fn begins_with(record: &GameRecord, opening: &[ActionId]) -> bool {
    let actions = record.events.iter().filter(|event| event.is_action());
    record.opening_plies as usize == opening.len()
        && actions
            .map(|event| event.id())
            .take(opening.len())
            .eq(opening.iter().copied())
}

/// Sums over the durable games of a tournament.
pub(crate) struct Results {
    pub(crate) tally: Tally,
    /// How the tournament goes on.
    pub(crate) stages: Stages,
    /// Games read from a store before those of the stages before them: a store
    /// may tell its games in any order, and damage may have taken some of them.
    pub(crate) ahead: BTreeMap<u64, (GameRecord, v1::GameReport)>,
    /// Thinking and waiting times of each agent's decisions.
    pub(crate) latencies: Vec<MoveLatency>,
    pub(crate) last_faults: Vec<Option<String>>,
    pub(crate) faults: u64,
    /// For each agent, games that it lost without ever answering in them.
    pub(crate) unplayed: Vec<u64>,
    /// By agent: games that another agent's fault ended before it was asked.
    pub(crate) unasked: Vec<u64>,
    /// Games that some agent lost so.
    pub(crate) unplayed_games: u64,
    /// Games that were played to their end without a fault.
    pub(crate) clean: u64,
    /// Games in the checkpoint that the store has.
    pub(crate) kept: u64,
}

impl Results {
    pub(crate) fn new(info: &Info) -> Result<Self, Error> {
        let agents = info.agents.len();
        Ok(Self {
            tally: Tally::new(&info.tournament)?,
            stages: Stages::new(&info.tournament)?,
            ahead: BTreeMap::new(),
            latencies: vec![MoveLatency::default(); agents],
            last_faults: vec![None; agents],
            faults: 0,
            unplayed: vec![0; agents],
            unasked: vec![0; agents],
            unplayed_games: 0,
            clean: 0,
            kept: 0,
        })
    }

    /// Adds up what the store has, from its checkpoint on where there is one;
    /// blocks. The games found come with it. No game of the tournament may
    /// become durable meanwhile.
    pub(crate) fn load(info: &Info, store: &dyn Store) -> Result<(Self, Bitmap), StartError> {
        let resumed = checkpoint::read(info, store);
        if let Some((mut results, position)) = resumed
            && results.add_stored(info, store, Some(&position))?
            && results.tally.games() == store.count(&info.key)
        {
            return results.loaded(info, store);
        }
        let mut results = Self::new(info)
            .map_err(|error| unreadable(format!("tournament {}", info.id), error.to_string()))?;
        results.add_stored(info, store, None)?;
        results.loaded(info, store)
    }

    /// All games of a store are added: what is known by them is.
    fn loaded(mut self, info: &Info, store: &dyn Store) -> Result<(Self, Bitmap), StartError> {
        let of = || format!("tournament {}", info.id);
        let advanced = self.go_on(info);
        advanced.map_err(|error| unreadable(of(), error.to_string()))?;
        info.follow(self.stages.schedule());
        // Games of stages to come are there where games before them are lost.
        let missing = self.games() < info.games();
        let bound = if missing { info.games_most } else { 0 };
        if let Some((&index, _)) = self.ahead.range(bound..).next() {
            return Err(no_game(info, index));
        }
        let done = indices(info, store, &self.ahead)?;
        Ok((self, done))
    }

    /// Adds the games of a store, all or those behind a place of its chain;
    /// false where there is no such place.
    fn add_stored(
        &mut self,
        info: &Info,
        store: &dyn Store,
        from: Option<&Position>,
    ) -> Result<bool, StartError> {
        let mut damaged = None;
        let mut add = |game: StoredGame| {
            let added =
                read_record(&game).and_then(|record| self.take(record, read_side(&game), info));
            if let Err(error) = added {
                let what = format!("game {}/{}", game.tournament, game.index);
                damaged.get_or_insert_with(|| unreadable(what, error.to_string()));
            }
        };
        let found = match from {
            Some(position) => store.scan_from(&info.key, position, &mut add)?,
            None => {
                store.scan(&info.key, &mut add)?;
                true
            }
        };
        damaged.map_or(Ok(found), Err)
    }

    /// Adds a game of a store, or keeps it until the games before it are there.
    pub(crate) fn take(
        &mut self,
        record: GameRecord,
        side: v1::GameReport,
        info: &Info,
    ) -> Result<(), Error> {
        if record.index >= self.stages.schedule().games() {
            self.ahead.insert(record.index, (record, side));
            return Ok(());
        }
        info.check(&record, self.stages.schedule())?;
        self.add(&record.result(), &side, info);
        self.go_on(info).map(drop)
    }

    /// Asks what follows where all known games are added up, and takes up the
    /// games of a store that are known with it; tells which, with their hashes.
    pub(crate) fn go_on(&mut self, info: &Info) -> Result<Vec<(u64, Sha256Digest)>, Error> {
        let mut taken = Vec::new();
        while self.advance()? {
            let behind = self.ahead.split_off(&self.stages.schedule().games());
            for (record, side) in std::mem::replace(&mut self.ahead, behind).into_values() {
                info.check(&record, self.stages.schedule())?;
                self.add(&record.result(), &side, info);
                taken.push((record.index, record.hash));
            }
        }
        Ok(taken)
    }

    /// Asks what follows where all known games are added up; true where that is
    /// known now.
    fn advance(&mut self) -> Result<bool, ScheduleError> {
        let advanced = self.stages.advance()?;
        if advanced {
            self.tally.follow(self.stages.schedule());
        }
        Ok(advanced)
    }

    /// Games added up.
    pub(crate) fn games(&self) -> u64 {
        self.tally.games()
    }

    /// Adds a game that is durable.
    pub(crate) fn add(&mut self, result: &GameResult, side: &v1::GameReport, info: &Info) {
        self.tally.add(result);
        self.stages.add(result);
        self.faults += result.faults.len() as u64;
        let void = result.termination == Termination::Void;
        self.clean += u64::from(!void && result.faults.is_empty());
        self.unplayed_games += u64::from(!side.unplayed.is_empty());
        count(&mut self.unplayed, result, &side.unplayed);
        count(&mut self.unasked, result, &side.unasked);
        for fault in &result.faults {
            let Some(&agent) = result.seats.get(usize::from(fault.seat)) else {
                continue;
            };
            let detail = side
                .fault_details
                .iter()
                .find(|detail| detail.seat == u32::from(fault.seat));
            let mut text = format!(
                "{} at ply {} of {}/{}",
                fault.kind.name(),
                fault.ply,
                info.id,
                result.index
            );
            if let Some(detail) = detail.filter(|detail| !detail.message.is_empty()) {
                text.push_str(": ");
                text.push_str(&detail.message);
                text.truncate(text.floor_char_boundary(CAUSE_MAX));
            }
            let said = detail.map_or_else(String::new, reason);
            if !said.is_empty() {
                text.push('\n');
                text.push_str(&said);
            }
            if let Some(last) = self.last_faults.get_mut(usize::from(agent)) {
                *last = Some(text);
            }
        }
        for latency in side.timing.iter().flat_map(|timing| &timing.latency) {
            if let Some(sum) = self.latencies.get_mut(latency.agent as usize)
                && let Ok(measured) = measured(latency)
            {
                sum.merge(&measured);
            }
        }
    }

    pub(crate) fn faults(&self) -> u64 {
        self.faults
    }

    /// The standings; `flagged` are the agents found non-deterministic.
    pub(crate) fn standings(
        &self,
        info: &Info,
        state: v1::TournamentState,
        flagged: impl Fn(usize) -> bool,
    ) -> v1::Standings {
        let standings = self.tally.standings();
        let micros = |latency: Option<Duration>| latency.map(|time| time.as_nanos() as f64 / 1e3);
        let Standings {
            games,
            games_total,
            agents,
            notes,
            seats,
            pairing,
            openings,
            ..
        } = standings;
        let agents = agents
            .into_iter()
            .map(|standing| {
                let place = info.agents.iter().position(|name| *name == standing.agent);
                let latency = place.and_then(|place| self.latencies.get(place));
                let last_fault = place.and_then(|place| self.last_faults[place].clone());
                let agent = place.and_then(|place| info.tournament.agents.get(place));
                v1::AgentStanding {
                    agent: standing.agent,
                    place: standing.place,
                    games: standing.games,
                    wins: standing.wins,
                    draws: standing.draws,
                    losses: standing.losses,
                    voids: standing.voids,
                    faults: standing.faults,
                    faults_by_kind: standing.faults_by_kind,
                    score: standing.score,
                    score_low: standing.score_low,
                    score_high: standing.score_high,
                    plies_mean: standing.plies_mean,
                    win_rate: standing.win_rate,
                    win_rate_low: standing.win_rate_low,
                    win_rate_high: standing.win_rate_high,
                    latency_us_p50: micros(latency.and_then(|sum| sum.thinking.quantile(0.5))),
                    latency_us_p99: micros(latency.and_then(|sum| sum.thinking.quantile(0.99))),
                    waiting_us_p50: micros(latency.and_then(|sum| sum.waiting.quantile(0.5))),
                    waiting_us_p99: micros(latency.and_then(|sum| sum.waiting.quantile(0.99))),
                    blocks: standing.blocks,
                    last_fault: last_fault.unwrap_or_default(),
                    non_deterministic: place.is_some_and(&flagged),
                    score_anytime_low: standing.score_anytime_low,
                    score_anytime_high: standing.score_anytime_high,
                    points: standing.points,
                    ranks: standing.ranks,
                    score_adjusted: standing.score_adjusted,
                    score_adjusted_low: standing.score_adjusted_low,
                    score_adjusted_high: standing.score_adjusted_high,
                    luck_mean: standing.luck_mean,
                    luck_share: standing.luck_share,
                    luck_games_saved: standing.luck_games_saved,
                    score_adjusted_anytime_low: standing.score_adjusted_anytime_low,
                    score_adjusted_anytime_high: standing.score_adjusted_anytime_high,
                    score_adjusted_is_raw: standing.score_adjusted_is_raw,
                    luck_share_low: standing.luck_share_low,
                    luck_share_high: standing.luck_share_high,
                    luck_games_saved_low: standing.luck_games_saved_low,
                    luck_games_saved_high: standing.luck_games_saved_high,
                    score_freedom: standing.score_freedom,
                    horizon: standing.horizon,
                    games_repeated: standing.games_repeated,
                    unplayed: place.map_or(0, |place| self.unplayed[place]),
                    unasked: place.map_or(0, |place| self.unasked[place]),
                    version: agent.map_or_else(String::new, |it| it.version.clone()),
                    content: agent.map_or_else(String::new, |it| it.content.clone()),
                    registered_unix_us: agent
                        .and_then(|it| it.registration.as_ref())
                        .map(|it| it.registered_unix_us),
                    ..v1::AgentStanding::default()
                }
            })
            .collect();
        v1::Standings {
            tournament_id: info.id.to_string(),
            state: state.into(),
            games,
            games_total,
            agents,
            notes,
            seats: seats.into_iter().map(seat_message).collect(),
            pairing: pairing.map(|pairing| v1::Pairing {
                blocks: pairing.blocks,
                variance_reduction: pairing.variance_reduction,
                games_saved: pairing.games_saved,
                variance_reduction_low: pairing.variance_reduction_low,
                variance_reduction_high: pairing.variance_reduction_high,
                games_saved_low: pairing.games_saved_low,
                games_saved_high: pairing.games_saved_high,
            }),
            openings: openings.map(|openings| v1::Openings {
                plies: openings.plies,
                size: openings.size,
                complete: openings.complete,
            }),
            course: Some(self.course()),
            games_clean: self.clean,
            starter_drawn: starter_drawn(&info.tournament),
            ..v1::Standings::default()
        }
    }

    fn course(&self) -> v1::Course {
        let course = self.stages.progress();
        v1::Course {
            round: course.round,
            rounds: course.rounds,
            llr: course.llr,
            llr_low: course.llr_low,
            llr_high: course.llr_high,
            text: course.text,
        }
    }
}

/// What a worker measured of an agent's decisions.
fn measured(latency: &v1::AgentLatency) -> Result<MoveLatency, LatencyBucketError> {
    let read = |buckets: &[u32], counts: &[u64]| {
        let pairs = buckets.iter().copied().zip(counts.iter().copied());
        LatencyHistogram::from_buckets(pairs)
    };
    Ok(MoveLatency {
        thinking: read(&latency.buckets, &latency.counts)?,
        waiting: read(&latency.waiting_buckets, &latency.waiting_counts)?,
    })
}

/// Whether a ruleset was asked to draw who begins.
fn starter_drawn(tournament: &Tournament) -> bool {
    let starter = tournament.options.get("starter");
    starter.is_some_and(|starter| starter.to_string() == "random")
}

fn seat_message(seat: SeatStanding) -> v1::SeatStanding {
    v1::SeatStanding {
        seat: seat.seat,
        games: seat.games,
        score: seat.score,
        score_low: seat.score_low,
        score_high: seat.score_high,
        score_anytime_low: seat.score_anytime_low,
        score_anytime_high: seat.score_anytime_high,
    }
}

fn unreadable(what: String, problem: String) -> StartError {
    StartError::Document { what, problem }
}

/// Which of the known games of a tournament are durable; those `ahead` are not
/// known yet.
fn indices(
    info: &Info,
    store: &dyn Store,
    ahead: &BTreeMap<u64, (GameRecord, v1::GameReport)>,
) -> Result<Bitmap, StartError> {
    let mut done = Bitmap::new(info.games());
    let mut outside = None;
    store.indices(&info.key, &mut |index| {
        if !done.insert(index) && !ahead.contains_key(&index) {
            outside = Some(index);
        }
    })?;
    match outside {
        None => Ok(done),
        Some(index) => Err(no_game(info, index)),
    }
}

fn no_game(info: &Info, index: u64) -> StartError {
    unreadable(
        format!("game {}/{index}", info.id),
        "it is of no game of the schedule".to_owned(),
    )
}

/// What the output of an agent says of a fault beyond the message: the line that names
/// the error, else its last lines.
fn reason(detail: &v1::FaultDetail) -> String {
    let Some(mut line) = error_line(&detail.stderr_tail) else {
        return last_words(&detail.stderr_tail).to_owned();
    };
    line.truncate(line.floor_char_boundary(LAST_WORDS_MAX));
    if detail.message.contains(&line) {
        line.clear();
    }
    line
}

/// The end of what an agent wrote to stderr: its last lines, from the left cut
/// to what fits.
pub(crate) fn last_words(stderr: &str) -> &str {
    let text = stderr.trim();
    let lines = text.rmatch_indices('\n').nth(LAST_WORDS_LINES - 1);
    let text = lines.map_or(text, |(end, _)| &text[end + 1..]);
    &text[text.ceil_char_boundary(text.len().saturating_sub(LAST_WORDS_MAX))..]
}

/// A game in the form in which it is stored: the record, and beside it all
/// else that was reported. The hash is not in it twice.
pub(crate) fn stored(info: &Info, mut record: v1::GameRecord, side: &v1::GameReport) -> StoredGame {
    let hash = std::mem::take(&mut record.hash);
    StoredGame {
        tournament: Arc::clone(&info.key),
        index: record.index,
        // Whatever is no hash was refused when the record was read.
        hash: hash.try_into().unwrap_or_default(),
        record: record.encode_to_vec(),
        side: side.encode_to_vec(),
    }
}

/// Takes off a report what a tournament that keeps hashes alone does not keep:
/// all that neither results nor standings are made of.
pub(crate) fn shorten(record: &mut v1::GameRecord, side: &mut v1::GameReport) {
    let actions = record.events.iter().map(|event| event & 1 == 1);
    let kept = opening_events(record.opening_plies, actions);
    record.events.truncate(kept);
    side.outputs = Vec::new();
    side.timing = side
        .timing
        .take()
        .filter(|timing| !timing.latency.is_empty())
        .map(|timing| v1::GameTiming {
            latency: timing.latency,
            ..v1::GameTiming::default()
        });
}

/// Seats of a game whose agents failed before their first answer in it.
pub(crate) fn unplayed(result: &GameResult, answered: &[u32]) -> Vec<u32> {
    use FaultKind::{Crash, Disconnected, NotReady};
    let fails = result.faults.iter();
    let fails = fails.filter(|it| matches!(it.kind, NotReady | Crash | Disconnected));
    let mut seats: Vec<u32> = fails.map(|it| it.seat.into()).collect();
    seats.retain(|seat| !answered.contains(seat));
    seats.dedup();
    seats
}

/// Seats that were never asked, since another agent's fault ended the game before.
pub(crate) fn unasked(result: &GameResult, answered: &[u32]) -> Vec<u32> {
    if result.faults.is_empty() {
        // Seats that never had a choice are not asked in games that are played out.
        return Vec::new();
    }
    (0..result.seats.len() as u32)
        .filter(|seat| !answered.contains(seat))
        .filter(|&seat| result.faults_of(seat as usize).next().is_none())
        .collect()
}

/// Adds one game to the counts of the agents at these seats.
fn count(games: &mut [u64], result: &GameResult, seats: &[u32]) {
    for &seat in seats {
        let agent = result.seats.get(seat as usize);
        if let Some(games) = agent.and_then(|&agent| games.get_mut(usize::from(agent))) {
            *games += 1;
        }
    }
}

/// The record of a stored game, as a message.
pub(crate) fn read_message(game: &StoredGame) -> Result<v1::GameRecord, Error> {
    let mut record =
        v1::GameRecord::decode(game.record.as_slice()).map_err(|error| damaged(game, &error))?;
    if record.hash.is_empty() {
        record.hash = game.hash.to_vec();
    }
    Ok(record)
}

/// The record of a stored game.
pub(crate) fn read_record(game: &StoredGame) -> Result<GameRecord, Error> {
    Ok(GameRecord::try_from(&read_message(game)?)?)
}

/// What stands beside the record; nothing where it cannot be read, since it is
/// for people.
pub(crate) fn read_side(game: &StoredGame) -> v1::GameReport {
    v1::GameReport::decode(game.side.as_slice()).unwrap_or_default()
}

fn damaged(game: &StoredGame, error: &prost::DecodeError) -> Error {
    Error::Damaged {
        what: format!("game {}/{}", game.tournament, game.index),
        problem: error.to_string(),
    }
}
