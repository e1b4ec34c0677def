//! The conditions at the end of a schedule.

use arena_coordinator::ledger::State;

use super::{World, Wrong};
use crate::stress::simulate::games::{Spec, VOID};

impl World {
    /// Checks the end of the schedule.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        for (place, kept) in self.disk.kept.iter().enumerate() {
            let spec = &self.specs[place];
            let durable = kept.games.iter().filter(|hash| **hash != 0).count();
            if let Some(at_answer) = self.cancelled[place]
                && durable != at_answer
            {
                return Err(format!(
                    "tournament {place} counted {durable} games after its cancelling was \
                     answered with {at_answer}"
                ));
            }
            let mut excused = kept.excused.iter();
            let as_reported = excused.all(|(&index, &hash)| hash == spec.result(index));
            // With another result of a game, the next stage differs.
            let known = if as_reported || !spec.has_stages() {
                kept.games.len()
            } else {
                0
            };
            for (index, &hash) in kept.games.iter().enumerate().take(known) {
                let expected = spec.result(index as u64);
                let excused = kept.excused.get(&(index as u64)) == Some(&hash);
                if hash != expected
                    && !excused
                    && (hash != 0 || kept.state == Some(State::Finished))
                {
                    return Err(format!(
                        "game {place}/{index} came to {hash:x} instead of {expected:x}"
                    ));
                }
            }
            if kept.state == Some(State::Finished) && as_reported {
                let undisturbed = (0..spec.games as u64).map(|index| spec.result(index));
                if Spec::standings(kept.games.iter().copied()) != Spec::standings(undisturbed) {
                    return Err(format!("tournament {place} has other standings"));
                }
            }
            self.check_counted(place, durable)?;
            self.check_audits(place)?;
        }
        let mut owed = self.places.iter().filter_map(|place| place.worker.as_ref());
        if let Some(worker) = owed.find(|worker| worker.owes() > 0) {
            return Err(format!(
                "worker {} gave up {} results",
                worker.who.place,
                worker.owes()
            ));
        }
        Ok(())
    }

    /// Every due audit was made or given up, and its result is durable.
    fn check_audits(&self, place: usize) -> Result<(), Wrong> {
        let kept = &self.disk.kept[place];
        let coordinator = self.coordinator.as_ref();
        let Some(shown) = coordinator.and_then(|it| it.audited(place)) else {
            return Ok(());
        };
        let made = kept.audited.len() as u64;
        let waits = self.can_audit() && shown.waiting() > 0;
        // After a start, the coordinator does not know which durable games are void.
        let all = kept.games.iter().filter(|hash| **hash != 0).count() as u64;
        let voids = kept.games.iter().filter(|hash| **hash == VOID).count() as u64;
        let due = match self.settings.audit_ppm {
            0 => 0..=0,
            1_000_000 => all - voids..=all,
            _ => 0..=all,
        };
        let is_due = due.contains(&shown.due);
        if !is_due || shown.agreed != made || shown.differing > 0 || waits {
            return Err(format!(
                "tournament {place}: {due:?} audits are due and {made} are on the disk, but {shown:?}"
            ));
        }
        Ok(())
    }

    /// The coordinator's counts equal the durable data.
    fn check_counted(&self, place: usize, durable: usize) -> Result<(), Wrong> {
        let Some(coordinator) = &self.coordinator else {
            return Ok(());
        };
        let tally = coordinator.tally(place).unwrap_or_default();
        let counted: usize = tally.iter().map(|&times| usize::from(times)).sum();
        let done = coordinator.done(place).unwrap_or(durable as u64);
        if counted != durable || done != durable as u64 {
            return Err(format!(
                "tournament {place}: {durable} games durable, {counted} counted, {done} done"
            ));
        }
        Ok(())
    }
}
