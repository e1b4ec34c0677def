//! Pauses tournaments whose results would not be valid: an agent or the rules start on no worker, too many
//! games were lost without an answer, or two workers disagree about the rules.

use arena_model::spec::UNPLAYED_LIMIT;
use arena_wire::v1::{self, TournamentState};

use super::{
    Core,
    entry::{TournamentEntry, Unready},
};
use crate::{
    error::Error,
    ledger::TournamentNo,
    results::{Results, last_words},
};

/// Kind of pause: an agent starts on no worker.
pub(super) const DOES_NOT_START: &str = "agent_does_not_start";
/// Kind of pause: too many games were lost by agents that never answered.
pub(super) const UNPLAYED: &str = "unplayed_games";

/// Kind of pause: the package of the rules fails.
pub(super) const RULES_FAILED: &str = "rules_failed";
/// Kind of pause: two workers disagree about the rules.
const RULES_DISPUTED: &str = "rules_disputed";

/// Minimum number of games before the share of unplayed games can pause a tournament.
const GAMES_LEAST: u64 = 20;
/// What to do about an agent with a defect.
const CHANGED: &str = "if you change the agent, register it with `arena agent register --replace` \
 and run the spec again, which starts a new tournament";

impl TournamentEntry {
    /// True if too many games were lost without an answer, so that only a user can resume the tournament.
    pub(super) fn is_to_be_accepted(&self) -> bool {
        let pause = self.document.pause.as_ref();
        pause.is_some_and(|pause| pause.kind == UNPLAYED) && self.is_unplayed()
    }

    /// Share of games lost without an answer above which the tournament pauses itself.
    fn unplayed_limit(&self) -> f64 {
        self.document.unplayed_limit.unwrap_or(UNPLAYED_LIMIT)
    }

    /// Accepts the games that agents have lost without an answer so far, because a user resumes the
    /// tournament. Only later games count towards the next pause.
    pub(super) fn accept_unplayed(&mut self) {
        if let Some(results) = &self.results {
            self.document.accepted_games = results.games();
            self.document.accepted_unplayed = results.counts.unplayed_games;
        }
    }

    /// True if too many games were lost by agents that never answered.
    pub(super) fn is_unplayed(&self) -> bool {
        let (limit, document) = (self.unplayed_limit(), &self.document);
        self.results.as_ref().is_some_and(|results| {
            let (unplayed, games) = unaccepted(document, results);
            let unplayed = unplayed.saturating_sub(self.unconfirmed);
            limit < 1.0 && games >= GAMES_LEAST && unplayed as f64 > limit * games as f64
        })
    }

    fn unplayed(&self, results: &Results) -> v1::Pause {
        let worst = (0..self.info.agents.len()).max_by_key(|&agent| {
            // Of equal agents, the first one of the spec.
            (results.counts.unplayed[agent], std::cmp::Reverse(agent))
        });
        let worst = worst.unwrap_or_default();
        let agent = self.info.agents.get(worst).cloned().unwrap_or_default();
        let error = results.counts.last_faults.get(worst).cloned().flatten();
        let id = &self.info.id;
        let (unplayed, games) = unaccepted(&self.document, results);
        let which = match self.document.accepted_games {
            0 => format!("the first {games} games"),
            _ => format!("{games} games since the last resume"),
        };
        v1::Pause {
            kind: UNPLAYED.to_owned(),
            reason: format!(
                "agents lost {unplayed} of {which} before their first answer (more than {} %), most \
                 by {agent}",
                self.unplayed_limit() * 100.0
            ),
            advice: format!(
                "if a worker's machine lacks something, install it and replay these games with \
                 `arena tournament retry {id}`; {CHANGED}; to keep the games as losses, run \
                 `arena tournament resume {id}`"
            ),
            error: error.unwrap_or_default(),
            agent,
            workers: Vec::new(),
        }
    }

    /// The pause of a tournament whose rules start on no worker.
    fn rules_unstartable(&self) -> v1::Pause {
        let ruleset = &self.info.tournament.ruleset;
        let Unready { agent, workers } = &self.rules_unready;
        v1::Pause {
            kind: RULES_FAILED.to_owned(),
            reason: format!(
                "the rules of {ruleset} start on no worker (tried on {})",
                workers.join(", ")
            ),
            advice: format!(
                "no agent is charged; install what a worker's machine lacks, or connect a worker that has \
                 it, and continue with `arena tournament resume {}`; if the package is at fault, register \
                 the corrected one with `arena rulesets register --replace`, and run the spec again, \
                 which starts a new tournament",
                self.info.id
            ),
            error: agent.message.clone(),
            agent: String::new(),
            workers: workers.clone(),
        }
    }

    fn unstartable(&self, agent: u16) -> v1::Pause {
        let name = self.info.agents.get(usize::from(agent));
        let name = name.cloned().unwrap_or_default();
        let (error, workers) = self
            .unready
            .get(&agent)
            .map_or_else(Default::default, |it| {
                let said = last_words(&it.agent.stderr_tail);
                let both = [&*it.agent.message, said].map(str::trim);
                let both: Vec<&str> = both.into_iter().filter(|it| !it.is_empty()).collect();
                (both.join("\n"), it.workers.clone())
            });
        let id = &self.info.id;
        v1::Pause {
            kind: DOES_NOT_START.to_owned(),
            reason: format!(
                "agent {name} starts on no worker{}",
                match &*workers {
                    [] => String::new(),
                    workers => format!(" (tried on {})", workers.join(", ")),
                }
            ),
            advice: format!(
                "if a worker's machine lacks something, install it and continue with `arena \
                 tournament resume {id}`; {CHANGED}; to play without the agent, remove it from \
                 the spec; to count its games as losses, set `unplayed_limit = 1` in the spec"
            ),
            agent: name,
            workers,
            error,
        }
    }
}

/// Number of games that agents lost without ever answering, and of all games, since a user last accepted
/// such games.
fn unaccepted(document: &v1::Tournament, results: &Results) -> (u64, u64) {
    let unplayed = results.counts.unplayed_games;
    (
        unplayed.saturating_sub(document.accepted_unplayed),
        results.games().saturating_sub(document.accepted_games),
    )
}

impl Core {
    /// Logs which agents now lose their games without being asked, because they start on no worker, and which
    /// agents are asked again.
    pub(super) fn log_given_up(&mut self, number: TournamentNo) {
        let mut given_up = self.ledger.given_up(number);
        let id = self.numbers.get(&number);
        let Some(entry) = id.and_then(|id| self.tournaments.get_mut(id)) else {
            return;
        };
        given_up.retain(|&it| it != entry.info.rules_number());
        let before = std::mem::replace(&mut entry.given_up, given_up.clone());
        let name = |agent: u16| entry.info.agents.get(usize::from(agent));
        for &agent in given_up.iter().filter(|it| !before.contains(it)) {
            let why = entry.unready.get(&agent).map(|it| &*it.agent.message);
            tracing::warn!(
                tournament = %entry.info.id,
                agent = name(agent),
                why,
                "starts on no worker that tried it; its games are charged to it"
            );
        }
        for &agent in before.iter().filter(|it| !given_up.contains(it)) {
            tracing::info!(
                tournament = %entry.info.id,
                agent = name(agent),
                "may start again; asking it"
            );
        }
    }

    /// Pauses tournaments with an agent that starts on no worker.
    pub(super) async fn hold_unstartable(&mut self) {
        let now = self.now();
        for id in self.failing.clone() {
            let entry = self.tournaments.get(&id);
            let open = entry.filter(|it| it.document.state() == TournamentState::Running);
            let Some((entry, number)) = open.and_then(|it| Some((it, it.number?))) else {
                self.failing.remove(&id);
                continue;
            };
            let stuck = self.ledger.unstartable(number, now);
            let pause = match stuck.first() {
                _ if stuck.contains(&entry.info.rules_number()) => entry.rules_unstartable(),
                Some(&agent) if entry.unplayed_limit() < 1.0 => entry.unstartable(agent),
                _ => continue,
            };
            self.failing.remove(&id);
            if let Err(error) = self.hold(&id, pause).await {
                tracing::error!(tournament = id, %error, "cannot store the pause");
                if let Error::Store(cause) = error {
                    self.failed.get_or_insert(cause);
                }
            }
        }
    }

    /// True if the rules of a tournament failed on workers of two owners, or if they failed on workers of one
    /// owner and no other owner can play the tournament.
    pub(super) fn fail_everywhere(&self, entry: &TournamentEntry) -> bool {
        let owners = &entry.rules_failed_for;
        let further = |number| self.ledger.has_further_owner(number, owners);
        owners.len() > 1 || !owners.is_empty() && !entry.number.is_some_and(further)
    }

    /// Pauses tournaments whose rules failed everywhere, see [`Self::fail_everywhere`].
    pub(super) async fn hold_broken(&mut self) {
        for (id, (error, worker)) in std::mem::take(&mut self.broken) {
            let Some(entry) = self.tournaments.get(&id) else {
                continue;
            };
            let running = entry.document.state() == TournamentState::Running;
            if !running || entry.number.is_none() {
                continue;
            }
            if !self.fail_everywhere(entry) {
                tracing::warn!(
                    tournament = id,
                    worker,
                    error,
                    "the rules failed on one worker; others go on"
                );
                continue;
            }
            let ruleset = &entry.info.tournament.ruleset;
            let pause = v1::Pause {
                kind: RULES_FAILED.to_owned(),
                reason: format!("the rules of {ruleset} failed on worker {worker}"),
                advice: format!(
                    "no agent is charged; find the cause with `arena rulesets check`, register \
                     the corrected package with `arena rulesets register --replace`, and run the spec \
                     again, which starts a new tournament; if the worker's machine lacks something, \
                     install it and continue with `arena tournament resume {id}`"
                ),
                error,
                agent: String::new(),
                workers: vec![worker],
            };
            if let Err(error) = self.hold(&id, pause).await {
                tracing::error!(tournament = id, %error, "cannot store the pause");
                if let Error::Store(cause) = error {
                    self.failed.get_or_insert(cause);
                }
            }
        }
    }

    /// Pauses tournaments in which two workers disagree whether the rules allow a record.
    pub(super) async fn hold_disputed(&mut self) {
        for (id, (problem, [player, other])) in std::mem::take(&mut self.disputed) {
            let entry = self.tournaments.get(&id);
            if entry.is_none_or(|it| it.document.state() != TournamentState::Running) {
                continue;
            }
            let pause = v1::Pause {
                kind: RULES_DISPUTED.to_owned(),
                reason: format!("workers {player} and {other} disagree about the rules"),
                advice: format!(
                    "look for rules that remember other games with `arena rulesets check`; if they \
                     are sound, connect a third worker of another owner, which settles who is \
                     right, or revoke the token of the one that you do not trust; then continue \
                     with `arena tournament resume {id}`"
                ),
                error: format!(
                    "{other} says that a record of {player} cannot have happened: {problem}"
                ),
                agent: String::new(),
                workers: vec![player, other],
            };
            if let Err(error) = self.hold(&id, pause).await {
                tracing::error!(tournament = id, %error, "cannot store the pause");
                if let Error::Store(cause) = error {
                    self.failed.get_or_insert(cause);
                }
            }
        }
    }

    /// Pauses tournaments in which too many games were lost without an answer, now that other owners have
    /// confirmed some of them.
    pub(super) async fn hold_confirmed(&mut self) {
        for id in std::mem::take(&mut self.confirmed) {
            if let Err(error) = self.hold_unplayed(&id).await {
                tracing::error!(tournament = id, %error, "cannot store the pause");
                if let Error::Store(cause) = error {
                    self.failed.get_or_insert(cause);
                }
            }
        }
    }

    /// Pauses a tournament with too many games lost without an answer. Returns true if it did.
    pub(super) async fn hold_unplayed(&mut self, id: &str) -> Result<bool, Error> {
        let number = self.entry(id)?.number;
        let unconfirmed = number.map_or(0, |number| self.ledger.unconfirmed(number));
        self.entry_mut(id)?.unconfirmed = unconfirmed;
        let entry = self.entry(id)?;
        let state = entry.document.state();
        let open = matches!(state, TournamentState::Running | TournamentState::Paused);
        if !open || entry.document.pause.is_some() || !entry.is_unplayed() {
            return Ok(false);
        }
        let Some(results) = &entry.results else {
            return Ok(false);
        };
        let pause = entry.unplayed(results);
        self.hold(id, pause).await?;
        Ok(true)
    }

    async fn hold(&mut self, id: &str, pause: v1::Pause) -> Result<(), Error> {
        tracing::warn!(
            tournament = id,
            error = pause.error,
            "tournament paused: {}",
            pause.reason
        );
        let entry = self.entry_mut(id)?;
        entry.document.pause = Some(pause);
        entry.rules_failed_for.clear();
        entry.lacks_rules.clear();
        let state = TournamentState::Paused;
        self.set_state(id, state, Vec::new()).await.map(drop)
    }
}
