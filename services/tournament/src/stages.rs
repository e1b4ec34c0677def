//! The progress of a tournament from stage to stage.
//!
//! [`Stages`] knows the games of the stages so far, sums their results, and asks the format
//! for the next stage when all of them have a result. The same results give the same games
//! and the same verdict, whatever their order within a stage, and whether or not the
//! tournament was resumed from [`Stages::state`] in between.

use std::collections::{BTreeMap, HashMap};

use arena_model::{Returns, Tournament, format::Format, result::GameResult};
use serde::{Deserialize, Serialize};

use crate::{
    format::{
        self, Field, FormatProgress, Games, Meeting, Next, SeasonStanding, StagePlanner, StageSums,
        Units, Verdict, pairs,
    },
    schedule::{Schedule, ScheduleError},
    tally::{BlockCourse, Sameness, units_between},
};

/// A tournament's games so far, and its planner.
#[derive(Debug)]
pub struct Stages {
    schedule: Schedule,
    planner: Box<dyn StagePlanner>,
    /// First game of the current stage.
    first: u64,
    now: StagesState,
    /// The groups of the current stage's meetings.
    groups: Vec<u64>,
    /// Number of openings; `None` if there is chance.
    openings: Option<u64>,
    /// True if a block that repeats games gets their result, because a round needs one.
    scores_repeats: bool,
    returns: Option<Returns>,
    voids: u64,
    verdict: Option<Verdict>,
}

/// An incomplete block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Partial {
    games: u32,
    void: bool,
    /// Units of the first agent.
    got: u64,
}

/// Blocks of a group that count as soon as its agents are known to use their seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Repeats {
    sameness: Sameness,
    /// Units of each agent in these blocks.
    agents: Vec<Units>,
    /// Number of games, as in [`Meeting`].
    games: u64,
    pairs: Vec<Units>,
    /// Number of complete blocks by the first agent's units.
    outcomes: Vec<u64>,
}

/// The state of [`Stages`]. It is valid only for the release that wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagesState {
    /// Sums of the earlier stages.
    ended: Vec<StageSums>,
    /// Sums of the current stage.
    sums: StageSums,
    /// Number of games of the current stage with a result.
    added: u64,
    /// Incomplete blocks between two agents in the current stage.
    partial: HashMap<u64, Partial>,
    /// Blocks of two agents that begin with an opening which their group had before.
    repeats: BTreeMap<u64, Repeats>,
}

impl Schedule {
    /// The schedule of a tournament before its first game.
    ///
    /// # Errors [`ScheduleError`] if there are too few agents for a game, more games than
    /// 64 bits can count, or the format rejects the spec.
    pub fn new(tournament: &Tournament) -> Result<Self, ScheduleError> {
        begin(tournament).map(|(schedule, _)| schedule)
    }
}

/// The schedule of a tournament with its first stage, and the planner of the later ones.
fn begin(tournament: &Tournament) -> Result<(Schedule, Box<dyn StagePlanner>), ScheduleError> {
    let mut schedule = Schedule::empty(tournament)?;
    let agents = tournament.agents.iter();
    let mut planner = format::planner(Field {
        names: agents.map(|agent| agent.name.to_string()).collect(),
        seats: tournament.seats,
        rotations: u64::from(schedule.rotations()),
        blocks: tournament.blocks,
        seed: tournament.seed,
        settings: tournament.settings.clone(),
        format: tournament.format,
        returns: tournament.returns,
        changes: tournament.changes.clone(),
    })?;
    if let Next::Stage(stage) = planner.next(None) {
        schedule.extend(stage)?;
    }
    Ok((schedule, planner))
}

impl Stages {
    /// A tournament before its first game.
    ///
    /// # Errors [`ScheduleError`] if it cannot be scheduled.
    pub fn new(tournament: &Tournament) -> Result<Self, ScheduleError> {
        let (schedule, planner) = begin(tournament)?;
        let mut stages = Self {
            schedule,
            planner,
            first: 0,
            now: StagesState::default(),
            groups: Vec::new(),
            openings: tournament.openings.map(|openings| openings.size.max(1)),
            scores_repeats: matches!(tournament.format, Format::Swiss | Format::Knockout),
            returns: tournament.returns,
            voids: 0,
            verdict: None,
        };
        stages.now.sums.agents = vec![Units::default(); tournament.agents.len()];
        stages.begin();
        Ok(stages)
    }

    /// Initializes the sums of a new stage.
    fn begin(&mut self) {
        self.now.added = 0;
        self.now.partial.clear();
        let first = self.first / u64::from(self.schedule.rotations());
        let groups = self.schedule.listed(first).unwrap_or_default();
        self.now.sums.voids = 0;
        self.now.sums.meetings = groups.iter().map(|&group| self.meeting(group)).collect();
        self.groups = groups;
    }

    /// The sums of a group without a game.
    fn meeting(&self, group: u64) -> Meeting {
        let seats = self.schedule.group(group);
        let mut agents = seats.clone();
        agents.dedup();
        let outcomes = match agents[..] {
            [one, _] => {
                let ones = seats.iter().filter(|&&agent| agent == one).count();
                let pairs = ones * (seats.len() - ones);
                2 * pairs * self.schedule.rotations() as usize + 1
            }
            _ => 0,
        };
        Meeting {
            pairs: vec![Units::default(); agents.len() * (agents.len() - 1) / 2],
            outcomes: vec![0; outcomes],
            agents,
            blocks: 0,
            games: 0,
        }
    }

    /// The games known so far.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Total number of games.
    #[must_use]
    pub fn games(&self) -> Games {
        let games = self.planner.games();
        let left_out = self.schedule.games_left_out();
        Games {
            least: games.least.saturating_sub(left_out),
            most: games.most.saturating_sub(left_out),
            expected: games.expected.saturating_sub(left_out),
        }
    }

    /// Adds the agents and changes of an open ladder that were not there at the start. The same as
    /// resuming the state with them.
    pub fn follow_changes(&mut self, tournament: &Tournament) {
        let agents = tournament.agents.len();
        for sums in self.now.ended.iter_mut().chain([&mut self.now.sums]) {
            sums.agents.resize(agents, Units::default());
        }
        let names = tournament.agents.iter().map(|agent| agent.name.to_string());
        let names: Vec<String> = names.collect();
        self.planner.follow_changes(&names, &tournament.changes);
    }

    /// The agents of an open ladder, by index; empty for other formats.
    #[must_use]
    pub fn season(&self) -> Vec<SeasonStanding> {
        self.planner.season()
    }

    /// Progress of the tournament.
    #[must_use]
    pub fn progress(&self) -> FormatProgress {
        self.planner.progress()
    }

    /// The verdict; `None` until the tournament is finished.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// Adds the result of a game of the stages known so far. The caller must add each game
    /// only once. A result of a game outside the current stage is ignored.
    pub fn add(&mut self, result: &GameResult) {
        if !(self.first..self.schedule.games()).contains(&result.index) {
            return;
        }
        self.now.added += 1;
        let void = result.placement.len() != result.seats.len();
        self.now.sums.voids += u64::from(void);
        self.voids += u64::from(void);
        let block = result.index / u64::from(self.schedule.rotations());
        let rotations = self.schedule.rotations();
        let place = self.schedule.meeting_of(block) as usize;
        let meeting = self.now.sums.meetings.get_mut(place);
        let mut got = 0;
        if !void {
            let mut waiting = None;
            if let Some(openings) = self.openings {
                let number = self.schedule.before(block);
                let group = self.schedule.group_of(block);
                let repeats = self.now.repeats.entry(group).or_default();
                let course = BlockCourse::of(result, self.schedule.starter(result.index));
                repeats.sameness.add(number % openings, course);
                if number >= openings && !self.scores_repeats {
                    waiting = Some(repeats);
                }
            }
            match (waiting, meeting) {
                (Some(repeats), meeting) => {
                    repeats
                        .agents
                        .resize(self.now.sums.agents.len(), Units::default());
                    add_units(&mut repeats.agents, result, self.returns);
                    if let Some(meeting) = meeting {
                        repeats.pairs.resize(meeting.pairs.len(), Units::default());
                        repeats.games += 1;
                        got = add_pairs(&meeting.agents, &mut repeats.pairs, result);
                    }
                }
                (None, meeting) => {
                    add_units(&mut self.now.sums.agents, result, self.returns);
                    if let Some(meeting) = meeting {
                        meeting.games += 1;
                        got = add_pairs(&meeting.agents, &mut meeting.pairs, result);
                    }
                }
            }
        }
        if self.now.sums.meetings.len() <= place {
            return;
        }
        let partial = self.now.partial.entry(block).or_default();
        partial.games += 1;
        partial.void |= void;
        partial.got += got;
        if partial.games == rotations {
            let whole = self.now.partial.remove(&block).filter(|whole| !whole.void);
            if let Some(whole) = whole {
                self.now.sums.meetings[place].blocks += 1;
                self.count(block, place, whole.got as usize);
            }
        }
    }

    /// Counts a complete block between two agents by its outcome. Without chance, a block
    /// that repeats an opening waits until two such blocks have differed.
    fn count(&mut self, block: u64, place: usize, got: usize) {
        let outcomes = &mut self.now.sums.meetings[place].outcomes;
        if got >= outcomes.len() {
            return;
        }
        let openings = self.openings.filter(|_| !self.scores_repeats);
        if openings.is_some_and(|openings| self.schedule.before(block) >= openings) {
            let group = self.schedule.group_of(block);
            let repeats = self.now.repeats.entry(group).or_default();
            repeats.outcomes.resize(outcomes.len(), 0);
            repeats.outcomes[got] += 1;
            return;
        }
        outcomes[got] += 1;
    }

    /// True if some groups have fewer games that count than others, because others would
    /// repeat.
    fn is_uneven(&self) -> bool {
        if self.schedule.games_left_out() > 0 {
            return true;
        }
        let waiting = self.now.repeats.values().filter(|it| !it.sameness.differs);
        let waiting = waiting.map(|it| it.agents.iter().map(|units| units.of).sum::<u64>());
        let waiting: Vec<u64> = waiting.filter(|&units| units > 0).collect();
        !waiting.is_empty()
            && (waiting.len() as u64 != self.schedule.groups_listed(0)
                || waiting.iter().any(|units| *units != waiting[0]))
    }

    /// Counts the waiting blocks of groups whose agents use their seeds.
    fn count_repeats(&mut self) {
        let add = |sums: &mut [Units], waiting: &mut Vec<Units>| {
            for (sum, units) in sums.iter_mut().zip(std::mem::take(waiting)) {
                sum.add(units);
            }
        };
        let differ = |repeats: &&mut Repeats| repeats.sameness.differs;
        for repeats in self.now.repeats.values_mut().filter(differ) {
            add(&mut self.now.sums.agents, &mut repeats.agents);
        }
        for (group, meeting) in self.groups.iter().zip(&mut self.now.sums.meetings) {
            let Some(repeats) = self.now.repeats.get_mut(group).filter(differ) else {
                continue;
            };
            meeting.games += std::mem::take(&mut repeats.games);
            add(&mut meeting.pairs, &mut repeats.pairs);
            let waiting = std::mem::take(&mut repeats.outcomes);
            for (sum, count) in meeting.outcomes.iter_mut().zip(waiting) {
                *sum += count;
            }
        }
    }

    /// True if all games known so far have a result and the next step is due.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.verdict.is_none() && self.now.added == self.schedule.games() - self.first
    }

    /// Asks the format for the next stages or the verdict if all games known so far have a
    /// result. True if that changed anything.
    ///
    /// # Errors [`ScheduleError::TooManyGames`] if there are more games than can be
    /// counted.
    pub fn advance(&mut self) -> Result<bool, ScheduleError> {
        let mut changed = false;
        while self.is_due() {
            self.step()?;
            changed = true;
        }
        Ok(changed)
    }

    fn step(&mut self) -> Result<(), ScheduleError> {
        self.count_repeats();
        self.now.sums.uneven = self.is_uneven();
        let next = self.planner.next(Some(&self.now.sums));
        self.first = self.schedule.games();
        let agents = vec![Units::default(); self.now.sums.agents.len()];
        let fresh = StageSums {
            agents,
            ..StageSums::default()
        };
        self.now
            .ended
            .push(std::mem::replace(&mut self.now.sums, fresh));
        match next {
            Next::Over(verdict) => {
                self.verdict = Some(verdict.with_voids(self.voids));
                self.now.added = 0;
            }
            Next::Stage(stage) => {
                self.schedule.extend(stage)?;
                self.begin();
            }
        }
        Ok(())
    }

    /// The current state.
    #[must_use]
    pub fn state(&self) -> StagesState {
        self.now.clone()
    }

    /// Resumes from a state of the same tournament; `None` if the state does not fit it.
    ///
    /// # Errors As [`Stages::new`].
    pub fn resume(
        tournament: &Tournament,
        state: StagesState,
    ) -> Result<Option<Self>, ScheduleError> {
        let mut stages = Self::new(tournament)?;
        for sums in state.ended {
            if stages.verdict.is_some() || !stages.fits(&sums) {
                return Ok(None);
            }
            stages.voids += sums.voids;
            stages.now.sums = sums;
            stages.step()?;
        }
        let partial = stages.verdict.is_none() || state.partial.is_empty();
        if !partial || !stages.fits(&state.sums) {
            return Ok(None);
        }
        stages.voids += state.sums.voids;
        stages.now = StagesState {
            ended: stages.now.ended,
            ..state
        };
        Ok(Some(stages))
    }

    /// True if the sums fit the current stage.
    fn fits(&self, sums: &StageSums) -> bool {
        let same = |(a, b): (&Meeting, &Meeting)| {
            (&a.agents, a.pairs.len(), a.outcomes.len())
                == (&b.agents, b.pairs.len(), b.outcomes.len())
        };
        let own = &self.now.sums;
        own.agents.len() == sums.agents.len()
            && own.meetings.len() == sums.meetings.len()
            && own.meetings.iter().zip(&sums.meetings).all(same)
    }
}

/// Adds each seat's units against seats of other agents, or the parts of its return.
fn add_units(agents: &mut [Units], result: &GameResult, returns: Option<Returns>) {
    if let Some(returns) = returns {
        for (&agent, got) in result.seats.iter().zip(returns.units(result)) {
            if let Some(sum) = agents.get_mut(usize::from(agent)) {
                let of = returns.units_max();
                sum.add(Units { got, of });
            }
        }
        return;
    }
    for (seat, &agent) in result.seats.iter().enumerate() {
        let Some(sum) = agents.get_mut(usize::from(agent)) else {
            continue;
        };
        for (other_seat, &other) in result.seats.iter().enumerate() {
            if other != agent {
                sum.of += 2;
                let [own, its] = [seat, other_seat].map(|seat| result.placement[seat]);
                sum.got += u64::from(units_between(own, its));
            }
        }
    }
}

/// Adds the units of a group's agents against each other; returns the units of the first
/// against the second.
fn add_pairs(agents: &[u16], sums: &mut [Units], result: &GameResult) -> u64 {
    let mut first = 0;
    let places = pairs(agents.len());
    for ((one, other), sum) in places.zip(sums) {
        let (one, other) = (agents[one], agents[other]);
        for (seat, _) in seats_of(result, one) {
            for (other_seat, _) in seats_of(result, other) {
                let [own, its] = [seat, other_seat].map(|seat| result.placement[seat]);
                let got = u64::from(units_between(own, its));
                sum.got += got;
                sum.of += 2;
                first += got;
            }
        }
    }
    first
}

fn seats_of(result: &GameResult, agent: u16) -> impl Iterator<Item = (usize, &u16)> {
    let seats = result.seats.iter().enumerate();
    seats.filter(move |(_, held)| **held == agent)
}

#[cfg(test)]
pub(crate) mod tests;
