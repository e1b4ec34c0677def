//! Defects put into the real code, one at a time: the simulation has to find
//! each.

use arena_coordinator::ledger;
use arena_worker::protocol;

use super::world::World;

/// Plays one schedule with a defect; tells what was found.
pub(super) type Play = fn(u64) -> Option<String>;

fn play<C: ledger::Defects, W: protocol::Defects>(seed: u64) -> Option<String> {
    World::<C, W>::new(seed, false).run().err()
}

macro_rules! mutants {
    (
        coordinator: $($name:ident $flag:ident $text:literal),+;
        worker: $($of_worker:ident $worker_flag:ident $worker_text:literal),+ $(;)?
    ) => {
        $(
            struct $name;
            impl ledger::Defects for $name {
                const $flag: bool = true;
            }
        )+
        $(
            struct $of_worker;
            impl protocol::Defects for $of_worker {
                const $worker_flag: bool = true;
            }
        )+
        /// What is wrong with each, and how it is played.
        pub(super) const ALL: &[(&str, Play)] = &[
            $(($text, play::<$name, protocol::Sound>),)+
            $(($worker_text, play::<ledger::Sound, $of_worker>),)+
        ];
    };
}

mutants! {
    coordinator:
        AcknowledgesEarly ACKNOWLEDGES_EARLY "acknowledges before durable",
        TrustsTheFirst TRUSTS_THE_FIRST "acknowledges what another report has on the way",
        Adds ADDS "adds a record instead of setting it",
        NeverExpires NEVER_EXPIRES "takes no lease back",
        BelievesCalls BELIEVES_CALLS "takes a heartbeat for progress",
        CountsCancelled COUNTS_CANCELLED "counts games of a cancelled tournament",
        ForgetsDurable FORGETS_DURABLE "counts games again after a restart",
        IgnoresEpochs IGNORES_EPOCHS "keeps leases over a restart",
        LosesReturned LOSES_RETURNED "does not assign again what came back",
        AuditsItself AUDITS_ITSELF "lets a worker audit what it played itself",
        EndsWithAStage ENDS_WITH_A_STAGE "takes the end of a stage for the end of a tournament",
        ForgetsAudits FORGETS_AUDITS_OF_STAGES "forgets the audits of a stage with the next one",
        ForgetsWhoFailed FORGETS_WHO_FAILED "counts failed attempts wherever they were",
        ChargesAtOnce CHARGES_AT_ONCE "charges an agent that starts elsewhere",
        ChargesUntried CHARGES_UNTRIED "charges an agent that somebody has not tried",
        NeverCharges NEVER_CHARGES "charges no agent, wherever it was tried",
        AwaitsNobody AWAITS_NOBODY "charges an agent before its hosts can be back",
        ChargesElsewhere CHARGES_ELSEWHERE "charges what ran at hosts that are gone",
        CountsLeaving COUNTS_LEAVING "takes an orderly end for a loss",
        TakesAnyVoid TAKES_ANY_VOID "takes a void record that nobody asked for",
        KeepsMissing KEEPS_MISSING "keeps a lease whose answer was lost",
        ForgetsCompared FORGETS_COMPARED "forgets an audit whose worker left before it was compared";
    worker:
        RetriesNothing RETRIES_NOTHING "sends no report again",
        DropsRefused DROPS_REFUSED "forgets a report that is refused for one of its games",
        WaitsForEver WAITS_FOR_EVER "waits for ever for a lost answer",
        KeepsStale KEEPS_STALE "keeps a game of an earlier stay that hangs";
}

/// The seed that finds a mutant, and what it found.
pub(super) fn hunt(play: Play, seed: u64, seeds: u64) -> Option<(u64, String)> {
    (seed..seed + seeds).find_map(|seed| play(seed).map(|found| (seed, found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defect_is_found_within_a_thousand_schedules() {
        // Whatever the first of the thousand seeds is.
        for first in [1, 1001, 7_000_001] {
            for (text, play) in ALL {
                let found = hunt(*play, first, 1000);
                assert!(found.is_some(), "nobody noticed from {first} on: it {text}");
            }
        }
    }

    #[test]
    fn the_same_seed_plays_the_same_schedule() {
        for seed in 1..50 {
            let play = || World::<ledger::Sound, protocol::Sound>::new(seed, false).run();
            let (one, two) = (play().expect("sound"), play().expect("sound"));
            assert_eq!((one.events, one.of), (two.events, two.of), "seed {seed}");
        }
    }
}
