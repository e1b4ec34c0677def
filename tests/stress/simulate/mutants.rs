//! Defects in the real code, one at a time: the simulation has to find each.

use arena_coordinator::ledger;
use arena_worker::protocol;

use super::world::World;

/// A defect of the coordinator's ledger or of the worker's protocol.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mutant {
    Ledger(ledger::Defect),
    Protocol(protocol::Defect),
}

impl Mutant {
    /// Plays one schedule with the defect, and returns what the simulation found.
    fn play(self, seed: u64) -> Option<String> {
        match self {
            Self::Ledger(defect) => ledger::inject(Some(defect)),
            Self::Protocol(defect) => protocol::inject(Some(defect)),
        }
        let found = World::new(seed, false).run().err();
        ledger::inject(None);
        protocol::inject(None);
        found
    }
}

/// Every defect, with its effect.
pub(super) const ALL: &[(&str, Mutant)] = {
    use Mutant::{Ledger, Protocol};
    use arena_coordinator::ledger::Defect as L;
    use arena_worker::protocol::Defect as P;
    &[
        ("acknowledges before durable", Ledger(L::AcknowledgesEarly)),
        (
            "acknowledges games whose other report is not durable yet",
            Ledger(L::TrustsTheFirst),
        ),
        ("adds a record instead of setting it", Ledger(L::Adds)),
        ("revokes no lease", Ledger(L::NeverExpires)),
        ("counts a heartbeat as progress", Ledger(L::BelievesCalls)),
        (
            "counts games of a cancelled tournament",
            Ledger(L::CountsCancelled),
        ),
        (
            "counts games again after a restart",
            Ledger(L::ForgetsDurable),
        ),
        ("keeps leases over a restart", Ledger(L::IgnoresEpochs)),
        (
            "does not assign returned games again",
            Ledger(L::LosesReturned),
        ),
        ("lets a worker audit its own games", Ledger(L::AuditsItself)),
        (
            "ends a tournament at the end of a stage",
            Ledger(L::EndsWithAStage),
        ),
        (
            "forgets the audits of a stage with the next one",
            Ledger(L::ForgetsAudits),
        ),
        (
            "counts failed attempts of all workers as one worker's",
            Ledger(L::ForgetsWhoFailed),
        ),
        (
            "charges an agent that starts on another worker",
            Ledger(L::ChargesAtOnce),
        ),
        (
            "charges an agent that a worker has not tried",
            Ledger(L::ChargesUntried),
        ),
        ("never charges an agent", Ledger(L::NeverCharges)),
        (
            "charges an agent before its hosts can return",
            Ledger(L::AwaitsNoWorker),
        ),
        (
            "charges an agent that ran on lost hosts",
            Ledger(L::ChargesElsewhere),
        ),
        ("counts an orderly end as a loss", Ledger(L::CountsLeaving)),
        (
            "accepts a void record without a request",
            Ledger(L::TakesAnyVoid),
        ),
        (
            "keeps a lease whose answer was lost",
            Ledger(L::KeepsMissing),
        ),
        (
            "forgets an audit whose worker left before it was compared",
            Ledger(L::ForgetsCompared),
        ),
        ("sends no report again", Protocol(P::RetriesNothing)),
        (
            "forgets a report that is refused for one of its games",
            Protocol(P::DropsRefused),
        ),
        ("waits forever for a lost answer", Protocol(P::WaitsForEver)),
        (
            "keeps a hanging game of an earlier session",
            Protocol(P::KeepsStale),
        ),
    ]
};

/// The seed that finds a mutant, and its finding.
pub(super) fn hunt(mutant: Mutant, seed: u64, seeds: u64) -> Option<(u64, String)> {
    (seed..seed + seeds).find_map(|seed| mutant.play(seed).map(|found| (seed, found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injected_defects_are_found() {
        // The first seed of the thousand is arbitrary; `arena-stress simulate` begins with 1.
        for (text, mutant) in ALL {
            let found = hunt(*mutant, 7_000_001, 1000);
            assert!(found.is_some(), "not found: it {text}");
        }
    }

    #[test]
    fn same_seed_plays_the_same_schedule() {
        for seed in 1..50 {
            let play = || World::new(seed, false).run();
            let (one, two) = (play().expect("sound"), play().expect("sound"));
            assert_eq!((one.events, one.of), (two.events, two.of), "seed {seed}");
        }
    }
}
