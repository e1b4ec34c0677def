//! Crashes and restarts of the coordinator and of connections.

use super::*;

impl World {
    pub(super) fn crash_coordinator(&mut self) {
        let Some(coordinator) = &self.coordinator else {
            return;
        };
        self.net.counts.add(Happening::CoordinatorCrash);
        if self.disk.writes() {
            self.net.counts.add(Happening::CrashInWrite);
            self.crashed_in_write = true;
        }
        if coordinator.waits_for_disk() {
            self.net.counts.add(Happening::CrashInRequest);
        }
        self.end_coordinator();
    }

    /// The coordinator's process has ended, and is restarted.
    pub(super) fn end_coordinator(&mut self) {
        let Some(coordinator) = self.coordinator.take() else {
            return;
        };
        trace_event!(self.net, "the coordinator has ended");
        self.disk.tear(&mut self.net);
        drop(coordinator);
        for place in 0..self.places.len() {
            let Some(worker) = &self.places[place].worker else {
                continue;
            };
            let cut = self.net.now < self.net.links[place].down_cut;
            let wait = if cut { 10 * SECOND } else { 5 * MILLI };
            let wait = self.net.random.between(MILLI / 10, wait);
            self.net.after(wait, Event::Lost(worker.who));
        }
        let wait = self.net.random.between(10 * MILLI, 3 * SECOND);
        self.net.after(wait, Event::StartCoordinator);
    }

    /// Both sides notice a broken link.
    pub(super) fn keep_alive(&mut self, place: usize) -> Result<(), Wrong> {
        let link = self.net.links[place];
        if self.net.now >= link.up_cut && self.net.now >= link.down_cut {
            return Ok(());
        }
        self.reset(place)
    }

    pub(super) fn reset(&mut self, place: usize) -> Result<(), Wrong> {
        let Some(worker) = &self.places[place].worker else {
            return Ok(());
        };
        let (who, stay) = (worker.who, worker.stay());
        self.work(who, |worker, net| worker.lost(net));
        if let (Some(coordinator), Some(stay)) = (&mut self.coordinator, stay) {
            coordinator.gone(who, stay);
        }
        self.coordinate()
    }
}
