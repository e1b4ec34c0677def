//! Periodic work of the core: after each request, and after some time without one.

use std::time::Duration;

use arena_coordinator::ledger::Ended;

use super::{Coordinator, Wrong};
use crate::stress::simulate::{
    counts::Happening,
    net::{Down, Event, MILLI, Net, SECOND, trace_event},
};

/// The interval of checks while there are leases, and without leases.
const TICK: u64 = 100 * MILLI;
const IDLE_TICK: u64 = SECOND;

impl Coordinator {
    /// Does the periodic work.
    pub(super) fn look_after(&mut self, net: &mut Net) -> Result<(), Wrong> {
        let now = self.now(net);
        let due = now >= self.looked_after + Duration::from_micros(TICK);
        if due {
            self.looked_after = now;
            let ended = self.ledger.expire(now);
            for ended in &ended {
                net.counts.add(Happening::Expired);
                self.fault_attribution.expired(&self.present, *ended, now);
            }
            self.send_ended(net, &ended);
        }
        let unpark = std::mem::take(&mut self.unpark);
        if due || unpark {
            self.serve_parked(net)?;
        }
        Ok(())
    }

    /// Schedules a check after some time without events.
    pub(super) fn schedule(&mut self, net: &mut Net) {
        let busy = !self.parked.is_empty() || self.ledger.leases() > 0 || self.draining.is_some();
        self.tick = net.now + if busy { TICK } else { IDLE_TICK };
        self.call_at_tick(net);
    }

    fn call_at_tick(&mut self, net: &mut Net) {
        if self.tick_event <= net.now || self.tick < self.tick_event {
            self.tick_event = self.tick;
            net.at(self.tick, Event::Tick(self.boot));
        }
    }

    /// Schedules the check again unless nothing happened since it was scheduled; true if nothing did.
    pub(in crate::stress::simulate) fn take_due(&mut self, net: &mut Net) -> bool {
        let due = net.now >= self.tick;
        if !due {
            self.call_at_tick(net);
        }
        due
    }

    pub(super) fn send_ended(&self, net: &mut Net, ended: &[Ended]) {
        for Ended { worker, lease } in ended {
            trace_event!(net, "the coordinator takes lease {lease} back");
            let to = self.present.iter().find(|to| to.number == *worker);
            if let Some(to) = to {
                net.down(to.who, Down::Ended(to.stay, *lease));
            }
        }
    }
}
