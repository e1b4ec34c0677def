//! Agents of an open ladder that come and go while it runs.

use arena_model::{
    AgentChange, AgentName, CHANGES_MAX, ChangeKind, ENTRIES_MAX, EntryState, REASON_MAX,
    Tournament, format::Settings, is_hidden, printable, spec::Spec,
};
use arena_tournament::{
    Stages,
    places::{self, By, RankKey},
};
use arena_wire::v1::{self, AgentChangeKind, agent_setup::Source};

use crate::{
    agents::Agents,
    error::Error,
    plan::{agents::resolve_entry, check_options_visible},
};

/// Maximum number of agents that play or are benched, as in a ladder.
const RATED_MAX: usize = 128;

/// Agents without games that a note names.
const NAMED_MAX: usize = 10;

/// The name of a kind, for people.
pub(crate) fn kind_name(kind: AgentChangeKind) -> &'static str {
    match kind {
        AgentChangeKind::Unspecified => "change",
        AgentChangeKind::Add => "add",
        AgentChangeKind::Replace => "replace",
        AgentChangeKind::Bench => "bench",
        AgentChangeKind::Ban => "ban",
    }
}

/// A change, and the tournament with it.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) tournament: Tournament,
    /// The agent that is new.
    pub(crate) added: Option<v1::AgentSetup>,
    /// Name of the entry that was added or changed.
    pub(crate) entry: String,
    pub(crate) at_blocks: u64,
}

/// An open ladder before a change.
pub(crate) struct Season<'a> {
    pub(crate) tournament: &'a Tournament,
    /// The spec, in which agents may be variants of bots.
    pub(crate) spec: &'a Spec,
    pub(crate) agents: &'a Agents,
    /// Blocks scheduled so far.
    pub(crate) scheduled: u64,
}

impl Season<'_> {
    /// Makes a change, or refuses it.
    pub(crate) fn change(&self, request: &v1::ChangeAgentsRequest) -> Result<Changed, Error> {
        let before = self.tournament;
        if !before.is_open() {
            return Err(Error::State(
                "the agents of this tournament are fixed: only those of a ladder with `open = true` \
                 in [ladder] can be changed"
                    .to_owned(),
            ));
        }
        if before.changes.len() >= CHANGES_MAX {
            return Err(Error::State(format!(
                "an open ladder has at most {CHANGES_MAX} changes of its agents: start a new tournament"
            )));
        }
        let at_blocks = self.at_blocks(request.at_blocks)?;
        let states = before.entry_states(u64::MAX);
        let mut tournament = before.clone();
        let (change, added) = self.resolve(request, &states)?;
        let mut change = AgentChange {
            at_blocks,
            ..change
        };
        let setup = added.map(|(agent, setup)| {
            change.entry = tournament.agents.len() as u16;
            tournament.agents.push(agent);
            setup
        });
        let entry = usize::from(change.entry);
        tournament.changes.push(change);
        self.check(&tournament)?;
        Ok(Changed {
            entry: tournament.agents[entry].name.to_string(),
            tournament,
            added: setup,
            at_blocks,
        })
    }

    /// The number of blocks from which on a change applies.
    fn at_blocks(&self, asked: u64) -> Result<u64, Error> {
        let last = self.tournament.changes.last().map_or(0, |it| it.at_blocks);
        let least = self.scheduled.max(last);
        if asked != 0 && asked < least {
            return Err(Error::State(match last > self.scheduled {
                true => format!(
                    "a change at {asked} blocks: an earlier change waits for {last} blocks, and changes \
                     apply in order"
                ),
                false => format!(
                    "a change at {asked} blocks: {} blocks are scheduled already",
                    self.scheduled
                ),
            }));
        }
        match &self.tournament.settings {
            Some(Settings::Ladder(ladder)) if ladder.blocks_total < Some(asked) => {
                Err(Error::State(format!(
                    "a change at {asked} blocks: the tournament has only {} blocks",
                    ladder.blocks_total.unwrap_or_default()
                )))
            }
            _ => Ok(asked.max(least)),
        }
    }

    /// The change without its time, and the new agent, whose entry is the next one.
    fn resolve(
        &self,
        request: &v1::ChangeAgentsRequest,
        states: &[EntryState],
    ) -> Result<(AgentChange, Option<(arena_model::AgentRef, v1::AgentSetup)>), Error> {
        let name = &request.agent;
        let change = |entry: usize, kind: ChangeKind| AgentChange {
            at_blocks: 0,
            entry: entry as u16,
            kind,
            agent: None,
        };
        let refuse = |problem: &str| Err(Error::State(format!("agent {name} {problem}")));
        match request.kind() {
            AgentChangeKind::Unspecified => {
                Err(Error::Request("the kind of change is missing".to_owned()))
            }
            AgentChangeKind::Add => {
                let Some(entry) = self.entry(name) else {
                    let agent = parse(name)?;
                    let added = self.joins(&agent, &agent)?;
                    let change = AgentChange {
                        agent: Some(agent),
                        ..change(0, ChangeKind::Add)
                    };
                    return Ok((change, Some(added)));
                };
                match &states[entry] {
                    EntryState::Benched => Ok((change(entry, ChangeKind::Return), None)),
                    EntryState::Banned(reason) => refuse(&format!("is banned: {reason}")),
                    EntryState::Replaced(by) => refuse(&format!(
                        "was replaced by {}: replace that one",
                        self.tournament.agents[usize::from(*by)].name
                    )),
                    EntryState::Active | EntryState::Waiting => refuse("plays already"),
                }
            }
            AgentChangeKind::Replace => {
                let old = self.newest(name, states)?;
                if let EntryState::Banned(reason) = &states[old] {
                    return refuse(&format!("is banned: {reason}"));
                }
                let agent = match &*request.with {
                    "" => self.registered(old),
                    with => parse(with)?,
                };
                let added = self.joins(&self.free_name(&agent)?, &agent)?;
                let known = &self.tournament.agents[old];
                let same = arena_model::AgentRef {
                    name: known.name.clone(),
                    ..added.0.clone()
                };
                if same == *known {
                    return refuse(&format!(
                        "plays this version of {agent} already: first register the new one with `arena \
                         agent register --replace`"
                    ));
                }
                let change = AgentChange {
                    agent: Some(agent),
                    ..change(0, ChangeKind::Replace(old as u16))
                };
                Ok((change, Some(added)))
            }
            AgentChangeKind::Bench => {
                let entry = self.newest(name, states)?;
                match &states[entry] {
                    EntryState::Active => Ok((change(entry, ChangeKind::Bench), None)),
                    state => refuse(&format!("is {} already", state.name())),
                }
            }
            AgentChangeKind::Ban => {
                let reason = request.reason.trim();
                if reason.is_empty() || reason.len() > REASON_MAX || reason.contains(is_hidden) {
                    return Err(Error::Request(format!(
                        "a ban needs a reason of one line, at most {REASON_MAX} bytes; it is {:?}",
                        printable(reason)
                    )));
                }
                let entry = self.newest(name, states)?;
                match &states[entry] {
                    EntryState::Banned(_) => refuse("is banned already"),
                    _ => Ok((change(entry, ChangeKind::Ban(reason.to_owned())), None)),
                }
            }
        }
    }

    /// The entry of this name.
    fn entry(&self, name: &str) -> Option<usize> {
        let mut agents = self.tournament.agents.iter();
        agents.position(|agent| agent.name.as_str() == name)
    }

    /// The newest successor of the entry of this name.
    fn newest(&self, name: &str, states: &[EntryState]) -> Result<usize, Error> {
        let mut entry = self.entry(name).ok_or_else(|| {
            Error::Request(format!(
                "{:?} is no agent of this tournament: `arena standings` shows its agents",
                printable(name)
            ))
        })?;
        while let EntryState::Replaced(by) = states[entry] {
            entry = by.into();
        }
        Ok(entry)
    }

    /// The name under which the agent of an entry is registered.
    fn registered(&self, entry: usize) -> AgentName {
        let mut changes = self.tournament.changes.iter().filter(|it| it.adds());
        let added = changes.find(|it| usize::from(it.entry) == entry);
        let registered = added.and_then(|it| it.agent.clone());
        registered.unwrap_or_else(|| self.tournament.agents[entry].name.clone())
    }

    /// A name for an entry of this agent: its own, or one with a number.
    fn free_name(&self, agent: &AgentName) -> Result<AgentName, Error> {
        if self.entry(agent.as_str()).is_none() {
            return Ok(agent.clone());
        }
        let mut names = (2..).map(|number| format!("{agent}-v{number}"));
        let free = names.find(|name| self.entry(name).is_none());
        parse(&free.unwrap_or_default())
    }

    /// An agent that gets this name.
    fn joins(
        &self,
        name: &AgentName,
        agent: &AgentName,
    ) -> Result<(arena_model::AgentRef, v1::AgentSetup), Error> {
        let tournament = self.tournament;
        let (entry, setup) =
            resolve_entry(name, agent, self.spec, &tournament.options, self.agents)?;
        check_options_visible(&entry.options)?;
        if let Some(Source::Native(_)) = setup.source {
            self.agents.check_native(&entry, tournament)?;
        }
        Ok((entry, setup))
    }

    /// Checks the limits of a tournament with one more change.
    fn check(&self, tournament: &Tournament) -> Result<(), Error> {
        let agents = tournament.agents.len();
        if agents > ENTRIES_MAX {
            return Err(Error::State(format!(
                "an open ladder has at most {ENTRIES_MAX} agents over its whole time, with those that were \
                 replaced: start a new tournament"
            )));
        }
        let states = tournament.entry_states(u64::MAX);
        let active = states
            .iter()
            .filter(|it| **it == EntryState::Active)
            .count();
        let benched = states
            .iter()
            .filter(|it| **it == EntryState::Benched)
            .count();
        if active < tournament.seats {
            return Err(Error::State(format!(
                "a game has {} seats, but only {active} active agents would be left: add another agent \
                 first",
                tournament.seats
            )));
        }
        if active + benched > RATED_MAX {
            return Err(Error::State(format!(
                "an open ladder has at most {RATED_MAX} agents that play or are benched: ban or replace \
                 one"
            )));
        }
        Ok(())
    }
}

fn parse(name: &str) -> Result<AgentName, Error> {
    name.parse()
        .map_err(|error: arena_model::NameError| Error::Request(error.to_string()))
}

/// The agents of an open ladder as messages; empty for other tournaments.
pub(crate) fn messages(stages: &Stages, names: &[String]) -> Vec<v1::SeasonStanding> {
    let name = |entry: u16| names.get(usize::from(entry)).cloned().unwrap_or_default();
    let season = stages.season().into_iter();
    let message = |it: arena_tournament::format::SeasonStanding| v1::SeasonStanding {
        state: it.state.name().to_owned(),
        reason: match &it.state {
            EntryState::Banned(reason) => reason.clone(),
            _ => String::new(),
        },
        predecessor: it.predecessor.map(name).unwrap_or_default(),
        successor: match it.state {
            EntryState::Replaced(by) => name(by),
            _ => String::new(),
        },
        rating: it.rating.map(|[value, ..]| value),
        rating_low: it.rating.map(|[_, low, _]| low),
        rating_high: it.rating.map(|[.., high]| high),
        blocks: it.blocks,
    };
    season.map(message).collect()
}

/// A note on the agents of an open ladder that get no games.
pub(crate) fn inactive(stages: &Stages, names: &[String]) -> Option<String> {
    let name = |entry: u16| names.get(usize::from(entry)).map_or("", |it| &**it);
    let season = stages.season();
    let describe = |(entry, state): (u16, &EntryState)| {
        let why = match state {
            EntryState::Active => return None,
            EntryState::Waiting => "not added yet".to_owned(),
            EntryState::Benched => "benched".to_owned(),
            EntryState::Replaced(by) => format!("replaced by {}", name(*by)),
            EntryState::Banned(reason) => format!("banned: {reason}"),
        };
        Some(format!("{} ({why})", name(entry)))
    };
    // Those that left last come first.
    let states = (0..).zip(season.iter().map(|it| &it.state));
    let states: Vec<_> = states.collect();
    let mut all: Vec<String> = states.into_iter().rev().filter_map(describe).collect();
    let more = all.len().saturating_sub(NAMED_MAX);
    all.truncate(NAMED_MAX);
    let more = match more {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    (!all.is_empty()).then(|| format!("These agents get no games: {}{more}.", all.join(", ")))
}

/// Sorts the standings of an open ladder by the ratings of its active agents; others have no place.
pub(crate) fn arrange(standings: &mut v1::Standings) {
    if standings.agents.iter().all(|it| it.season.is_none()) {
        return;
    }
    let agents = std::mem::take(&mut standings.agents);
    let rating = |it: &v1::AgentStanding| {
        let season = it
            .season
            .as_ref()
            .filter(|season| season.state == "active")?;
        season.rating
    };
    standings.agents = places::arrange(
        agents,
        By::Rating,
        |it| RankKey {
            agent: &it.agent,
            score: it.score,
            rating: rating(it),
            place: None,
        },
        |it, place| it.place = place,
    );
}
