//! Sums over the results of a tournament.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use arena_model::{
    GameRecord, Tournament,
    engine::{FaultKind, Termination},
    error_line,
    result::GameResult,
};
use arena_store::Sha256Digest;
use arena_telemetry::{LatencyBucketError, LatencyHistogram, MoveLatency};
use arena_tournament::{
    AgentStanding, Deviation, Rate, SeatStanding, Stages, Standings, Tally, WorkerScores,
};
use arena_wire::v1;
use serde::{Deserialize, Serialize};

use crate::{
    divergence::may_be_of_host, error::Error, info::Info, ledger::Continuation,
    rpc::estimates::flat, season,
};

/// Maximum length of the cause of a last fault, in bytes.
const CAUSE_MAX: usize = 400;
/// Number of an agent's last lines that are shown with its last fault.
const LAST_WORDS_LINES: usize = 3;
const LAST_WORDS_MAX: usize = 300;
/// Sums over the durable games of a tournament.
pub(crate) struct Results {
    pub(crate) tally: Tally,
    /// State of the stages.
    pub(crate) stages: Stages,
    /// Games of later stages: a store may return games in any order, and damage may have
    /// lost some earlier ones.
    pub(crate) ahead: BTreeMap<u64, (GameRecord, v1::GameReport)>,
    /// Thinking and waiting times of each agent's decisions.
    pub(crate) latencies: Vec<MoveLatency>,
    pub(crate) counts: Counts,
    /// Scores by worker, if a replay proves nothing about some of the agents, or about moves after a fault.
    pub(crate) workers: Option<WorkerScores>,
    /// Games in the newest checkpoint.
    pub(crate) kept: u64,
}

/// Counts of the durable games beside the tally.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) last_faults: Vec<Option<String>>,
    pub(crate) faults: u64,
    /// For each agent, the games that it lost before its first answer.
    pub(crate) unplayed: Vec<u64>,
    /// For each agent, the games that another agent's fault ended before it was asked.
    pub(crate) unasked: Vec<u64>,
    /// Games that any agent lost before its first answer.
    pub(crate) unplayed_games: u64,
    /// Games played to their end without a fault.
    pub(crate) clean: u64,
    /// Games that another worker replayed, because the rules are a package.
    #[serde(default)]
    pub(crate) replayed: u64,
}

impl Results {
    pub(crate) fn new(info: &Info) -> Result<Self, Error> {
        let tally = Tally::new(&info.tournament)?;
        let stages = Stages::new(&info.tournament)?;
        Ok(Self::before(tally, stages, info))
    }

    /// The sums before the first game.
    pub(crate) fn before(tally: Tally, stages: Stages, info: &Info) -> Self {
        let agents = info.agents.len();
        let rotations = stages.schedule().rotations();
        Self {
            tally,
            stages,
            ahead: BTreeMap::new(),
            latencies: vec![MoveLatency::default(); agents],
            counts: Counts {
                last_faults: vec![None; agents],
                unplayed: vec![0; agents],
                unasked: vec![0; agents],
                ..Counts::default()
            },
            workers: info
                .compares_workers()
                .then(|| WorkerScores::new(rotations)),
            kept: 0,
        }
    }

    /// Adds the agents and changes of an open ladder that were not there at the start.
    pub(crate) fn follow_changes(&mut self, tournament: &Tournament) {
        let agents = tournament.agents.len();
        self.tally.follow_changes(tournament);
        self.stages.follow_changes(tournament);
        self.latencies.resize(agents, MoveLatency::default());
        self.counts.last_faults.resize(agents, None);
        self.counts.unplayed.resize(agents, 0);
        self.counts.unasked.resize(agents, 0);
    }

    /// Adds a stored game, or keeps it until its stage is known.
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

    /// Asks the format for the next stage if all known games are added, and adds kept games
    /// of that stage. Returns these games with their hashes.
    pub(crate) fn go_on(&mut self, info: &Info) -> Result<Vec<(u64, Sha256Digest)>, Error> {
        let mut taken = Vec::new();
        while self.stages.advance()? {
            self.tally.follow(self.stages.schedule());
            let behind = self.ahead.split_off(&self.stages.schedule().games());
            for (record, side) in std::mem::replace(&mut self.ahead, behind).into_values() {
                info.check(&record, self.stages.schedule())?;
                self.add(&record.result(), &side, info);
                taken.push((record.index, record.hash));
            }
        }
        Ok(taken)
    }

    /// Whether games can follow the known ones.
    pub(crate) fn continuation(&self) -> Continuation {
        match self.stages.verdict() {
            Some(_) => Continuation::Last,
            None => Continuation::More,
        }
    }

    /// Number of games added.
    pub(crate) fn games(&self) -> u64 {
        self.tally.games()
    }

    /// For each agent, in how many of its games it had faults that may be those of a host. If it had several
    /// in one game, the number may be too large.
    pub(crate) fn host_faults(&self) -> Vec<Rate> {
        let of_host = |name: &str| {
            let mut kinds = FaultKind::ALL.iter();
            kinds.any(|kind| may_be_of_host(*kind) && kind.name() == name)
        };
        let agents = self.tally.faults().map(|(games, faults)| {
            let events = faults.iter().filter(|(kind, _)| of_host(kind));
            let events: u64 = events.map(|(_, events)| events).sum();
            Rate {
                games,
                events: events.min(games),
            }
        });
        agents.collect()
    }

    /// Adds a durable game.
    pub(crate) fn add(&mut self, result: &GameResult, side: &v1::GameReport, info: &Info) {
        self.tally.add(result);
        self.stages.add(result);
        if let Some(workers) = &mut self.workers {
            let worker = side.timing.as_ref().map_or("", |timing| &timing.worker);
            workers.add(&side.owner, worker, result);
        }
        self.counts.faults += result.faults.len() as u64;
        let void = result.termination == Termination::Void;
        self.counts.clean += u64::from(!void && result.faults.is_empty());
        // A void game has nothing to replay.
        self.counts.replayed += u64::from(void || !side.replayed_by.is_empty());
        self.counts.unplayed_games += u64::from(!side.unplayed.is_empty());
        count(&mut self.counts.unplayed, result, &side.unplayed);
        count(&mut self.counts.unasked, result, &side.unasked);
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
            if let Some(last) = self.counts.last_faults.get_mut(usize::from(agent)) {
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

    /// Workers whose games have other results than those of the others; `second_plays` are games
    /// that were played again.
    pub(crate) fn deviations(&self, info: &Info, second_plays: &WorkerScores) -> Vec<Deviation> {
        let proves = info.replay_proves(0..info.agents.len() as u16);
        let workers = self.workers.as_ref();
        // Where a replay proves games, only what follows a fault is compared.
        let workers = workers.filter(|_| !proves || self.counts.faults > 0);
        workers.map_or_else(Vec::new, |workers| workers.deviations(second_plays))
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
        let places: HashMap<&str, usize> = { info.agents.iter() }
            .map(String::as_str)
            .zip(0..)
            .collect();
        let inactive = season::inactive(&self.stages, &info.agents);
        let season = season::messages(&self.stages, &info.agents);
        let agents = agents
            .into_iter()
            .map(|standing| {
                let place = places.get(&*standing.agent).copied();
                let latency = place.and_then(|place| self.latencies.get(place));
                let last_fault = place.and_then(|place| self.counts.last_faults[place].clone());
                let agent = place.and_then(|place| info.tournament.agents.get(place));
                v1::AgentStanding {
                    latency_us_p50: micros(latency.and_then(|sum| sum.thinking.quantile(0.5))),
                    latency_us_p99: micros(latency.and_then(|sum| sum.thinking.quantile(0.99))),
                    waiting_us_p50: micros(latency.and_then(|sum| sum.waiting.quantile(0.5))),
                    waiting_us_p99: micros(latency.and_then(|sum| sum.waiting.quantile(0.99))),
                    last_fault: last_fault.unwrap_or_default(),
                    non_deterministic: place.is_some_and(&flagged),
                    unplayed: place.map_or(0, |place| self.counts.unplayed[place]),
                    unasked: place.map_or(0, |place| self.counts.unasked[place]),
                    version: agent.map_or_else(String::new, |it| it.version.clone()),
                    content: agent.map_or_else(String::new, |it| it.content.clone()),
                    registered_unix_us: agent
                        .and_then(|it| it.registration.as_ref())
                        .map(|it| it.registered_unix_us),
                    season: place.and_then(|place| season.get(place).cloned()),
                    ..agent_message(standing)
                }
            })
            .collect();
        v1::Standings {
            tournament_id: info.id.to_string(),
            state: state.into(),
            games,
            games_total,
            agents,
            notes: notes.into_iter().chain(inactive).collect(),
            seats: seats.into_iter().map(seat_message).collect(),
            pairing: pairing.map(|pairing| {
                let ends = pairing.variance_reduction.fixed.unwrap_or_default();
                v1::Pairing {
                    blocks: pairing.blocks,
                    variance_reduction: pairing.variance_reduction.value,
                    games_saved: pairing.games_saved.value,
                    variance_reduction_low: ends.low,
                    variance_reduction_high: ends.high,
                    games_saved_low: pairing.games_saved.low,
                    games_saved_high: pairing.games_saved.high,
                }
            }),
            openings: openings.map(|openings| v1::Openings {
                plies: openings.plies,
                size: openings.size,
                complete: openings.complete,
                from_book: openings.from_book,
            }),
            opponents_differ: self.tally.opponents_differ(),
            course: Some(self.course()),
            games_clean: self.counts.clean,
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

/// Times that a worker measured for an agent's decisions.
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

/// True if the ruleset draws the starter.
fn starter_drawn(tournament: &Tournament) -> bool {
    let starter = tournament.options.get("starter");
    starter.is_some_and(|starter| starter.to_string() == "random")
}

/// What the tally knows of an agent.
fn agent_message(standing: AgentStanding) -> v1::AgentStanding {
    let score = flat(standing.score);
    let win_rate = flat(standing.win_rate);
    let score_adjusted = flat(standing.score_adjusted);
    let luck_share = flat(standing.luck_share);
    let return_mean = flat(standing.return_mean);
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
        score: score.value,
        score_low: score.low,
        score_high: score.high,
        score_anytime_low: score.anytime_low,
        score_anytime_high: score.anytime_high,
        plies_mean: standing.plies_mean,
        win_rate: win_rate.value,
        win_rate_low: win_rate.low,
        win_rate_high: win_rate.high,
        blocks: standing.blocks,
        points: standing.points,
        ranks: standing.ranks,
        score_adjusted: score_adjusted.value,
        score_adjusted_low: score_adjusted.low,
        score_adjusted_high: score_adjusted.high,
        score_adjusted_anytime_low: score_adjusted.anytime_low,
        score_adjusted_anytime_high: score_adjusted.anytime_high,
        score_adjusted_is_raw: standing.score_adjusted_is_raw,
        luck_mean: standing.luck_mean,
        luck_share: luck_share.value,
        luck_share_low: luck_share.low,
        luck_share_high: luck_share.high,
        luck_games_saved: standing.luck_games_saved.value,
        luck_games_saved_low: standing.luck_games_saved.low,
        luck_games_saved_high: standing.luck_games_saved.high,
        score_df: standing.score_df,
        tuning_horizon: standing.tuning_horizon,
        games_repeated: standing.games_repeated,
        return_mean: return_mean.value,
        return_mean_low: return_mean.low,
        return_mean_high: return_mean.high,
        return_mean_anytime_low: return_mean.anytime_low,
        return_mean_anytime_high: return_mean.anytime_high,
        ..v1::AgentStanding::default()
    }
}

fn seat_message(seat: SeatStanding) -> v1::SeatStanding {
    let score = flat(seat.score);
    v1::SeatStanding {
        seat: seat.seat,
        games: seat.games,
        score: score.value,
        score_low: score.low,
        score_high: score.high,
        score_anytime_low: score.anytime_low,
        score_anytime_high: score.anytime_high,
    }
}

/// What the output of an agent adds to the message of a fault: the line that names the error,
/// else its last lines.
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

/// The end of an agent's stderr: its last lines, cut on the left to fit.
pub(crate) fn last_words(stderr: &str) -> &str {
    let text = stderr.trim();
    let lines = text.rmatch_indices('\n').nth(LAST_WORDS_LINES - 1);
    let text = lines.map_or(text, |(end, _)| &text[end + 1..]);
    &text[text.ceil_char_boundary(text.len().saturating_sub(LAST_WORDS_MAX))..]
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
