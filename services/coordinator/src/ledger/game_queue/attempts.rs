//! The failed attempts at a game: how long it rests, and when it is void.

use std::{collections::BTreeSet, time::Duration};

use arena_wire::ATTEMPTS_MAX;

use super::LeaseRequester;
use crate::ledger::{
    agent_starts::{AgentStarts, StartOutcome, StartOutcomes, is_given_up},
    defects::{Defect, is_injected},
    terms::Attempt,
};

/// After this many lost leases with other games, a game is leased alone. A game that kills its
/// workers is then identified, and no other game is lost with it.
const LOSSES_IN_COMPANY: u32 = 3;
/// A game is void after [`ATTEMPTS_MAX`] failed attempts on at least this many processes. On fewer
/// processes, it is void after twice as many attempts. While a process of another owner could play
/// it, failures of one owner count for nothing until they are [`SCATTERED`].
const PROCESSES: usize = 3;
/// Number of attempts of any kind after which a game is void if no connected process can play it,
/// for example because each process lacks one of the game's agents.
const SCATTERED: usize = 20;
/// Maximum attempts that are remembered for a game.
const ATTEMPTS_KEPT: usize = 32;
/// Rest of a game after its first failed attempt. Each further failure multiplies it by four, up to
/// a tenth of the grace period.
const FIRST_REST: Duration = Duration::from_millis(500);

/// The failed attempts at a game.
#[derive(Clone, Debug, Default)]
pub(super) struct AttemptHistory {
    pub(super) failed: Vec<Attempt>,
    /// Number of lost leases with other games.
    pub(super) lost: u32,
    /// End of the rest.
    pub(super) since: Duration,
}

impl AttemptHistory {
    pub(super) fn add(&mut self, attempt: Attempt) {
        if self.failed.len() < ATTEMPTS_KEPT || !self.failed.contains(&attempt) {
            self.failed.push(attempt);
        }
    }

    /// True if the game may kill its workers.
    pub(super) fn is_suspect(&self) -> bool {
        self.lost >= LOSSES_IN_COMPANY
    }

    pub(super) fn count(&self) -> u32 {
        self.failed.len() as u32
    }

    pub(super) fn rest(&self) -> Duration {
        FIRST_REST * (1 << (2 * self.count().saturating_sub(1)).min(8))
    }

    /// The attempts, except those in which one of these agents did not start.
    pub(super) fn without(&self, of: impl Fn(u16) -> bool) -> Vec<Attempt> {
        let attempts = self.failed.iter().copied();
        attempts
            .filter(|attempt| !attempt.unready.is_some_and(&of))
            .collect()
    }

    /// Number of attempts, without those that a given-up agent explains.
    pub(super) fn unexplained(&self, outcomes: &StartOutcomes) -> u32 {
        self.without(|agent| is_given_up(outcomes, agent)).len() as u32
    }

    /// True if the game must not be played any more. An attempt in which an agent did not start
    /// counts only if it can never be decided whether the agent is at fault.
    pub(super) fn is_void(&self, requester: &LeaseRequester<'_>, agents: &AgentStarts) -> bool {
        let is = |agent, outcome| requester.outcomes.contains(&(agent, outcome));
        let attempts = self.without(|agent| is_given_up(&requester.outcomes, agent));
        let counting = self.without(|agent| !is(agent, StartOutcome::Unknown));
        let played = attempts.iter().filter(|it| it.unready.is_none());
        let at: BTreeSet<_> = played.map(|it| it.by).collect();
        let awaits = |it: &Attempt| it.unready.is_some_and(|of| is(of, StartOutcome::Waits));
        let hopeless = || {
            !attempts.iter().any(awaits) && !requester.processes.has_other_sound(&attempts, agents)
        };
        let most = ATTEMPTS_MAX as usize;
        let processes = match is_injected(Defect::ForgetsWhoFailed) {
            true => 0,
            false => PROCESSES,
        };
        if requester.processes.has_other_owner_sound(&attempts, agents) {
            return attempts.len() >= SCATTERED;
        }
        counting.len() >= most && at.len() >= processes
            || counting.len() >= 2 * most
            || attempts.len() >= SCATTERED && hopeless()
    }
}
