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
            "acknowledges what another report has on the way",
            Ledger(L::TrustsTheFirst),
        ),
        ("adds a record instead of setting it", Ledger(L::Adds)),
        ("takes no lease back", Ledger(L::NeverExpires)),
        ("takes a heartbeat for progress", Ledger(L::BelievesCalls)),
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
            "does not assign again what came back",
            Ledger(L::LosesReturned),
        ),
        (
            "lets a worker audit what it played itself",
            Ledger(L::AuditsItself),
        ),
        (
            "takes the end of a stage for the end of a tournament",
            Ledger(L::EndsWithAStage),
        ),
        (
            "forgets the audits of a stage with the next one",
            Ledger(L::ForgetsAudits),
        ),
        (
            "counts failed attempts wherever they were",
            Ledger(L::ForgetsWhoFailed),
        ),
        (
            "charges an agent that starts elsewhere",
            Ledger(L::ChargesAtOnce),
        ),
        (
            "charges an agent that somebody has not tried",
            Ledger(L::ChargesUntried),
        ),
        (
            "charges no agent, wherever it was tried",
            Ledger(L::NeverCharges),
        ),
        (
            "charges an agent before its hosts can be back",
            Ledger(L::AwaitsNobody),
        ),
        (
            "charges what ran at hosts that are gone",
            Ledger(L::ChargesElsewhere),
        ),
        ("takes an orderly end for a loss", Ledger(L::CountsLeaving)),
        (
            "takes a void record that nobody asked for",
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
        (
            "waits for ever for a lost answer",
            Protocol(P::WaitsForEver),
        ),
        (
            "keeps a game of an earlier stay that hangs",
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
    fn every_defect_is_found_within_a_thousand_schedules() {
        // The first seed of the thousand is arbitrary.
        for first in [1, 1001, 7_000_001] {
            for (text, mutant) in ALL {
                let found = hunt(*mutant, first, 1000);
                assert!(found.is_some(), "nobody noticed from {first} on: it {text}");
            }
        }
    }

    #[test]
    fn the_same_seed_plays_the_same_schedule() {
        for seed in 1..50 {
            let play = || World::new(seed, false).run();
            let (one, two) = (play().expect("sound"), play().expect("sound"));
            assert_eq!((one.events, one.of), (two.events, two.of), "seed {seed}");
        }
    }
}
