//! Refused requests in the audit trail. Everyone who reaches the coordinator can make requests that
//! are refused. So they are counted by caller, method and reason, and written ever more seldom: after 1, 2,
//! 4, … and at most 60 minutes, while there are more.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::trail::Event;

/// Shortest and longest time between two events of one kind.
const PAUSE: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));
/// Maximum number of kinds. Further callers are counted together.
const KINDS_MAX: usize = 1024;
/// Name of these callers.
const OTHERS: &str = "others";

/// Refusals that are not written yet, by caller, method and reason. All callers that showed nothing
/// valid are one, whatever they requested.
#[derive(Default)]
pub(super) struct Refusals(Mutex<HashMap<[String; 3], Count>>);

struct Count {
    /// The newest refusal.
    newest: Event,
    /// Refusals since the last event.
    times: u64,
    /// Time of the last event, and the time until the next one.
    written: Instant,
    pause: Duration,
}

impl Count {
    fn event(&mut self) -> Event {
        Event {
            times: Some(mem::take(&mut self.times)),
            ..self.newest.clone()
        }
    }
}

impl Refusals {
    /// Counts a refusal. Returns the event to write, if it is time.
    pub(super) fn add(&self, mut refusal: Event, now: Instant) -> Option<Event> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = |refusal: &Event| {
            let is_known = !refusal.actor.is_empty() && refusal.actor != OTHERS;
            let method = is_known.then(|| refusal.method.clone());
            let (actor, outcome) = (refusal.actor.clone(), refusal.outcome.clone());
            [actor, method.unwrap_or_default(), outcome]
        };
        if kinds.len() >= KINDS_MAX && !kinds.contains_key(&kind(&refusal)) {
            kinds.retain(|_, count| count.times > 0 || now < count.written + 2 * PAUSE.1);
            if kinds.len() >= KINDS_MAX && !refusal.actor.is_empty() {
                OTHERS.clone_into(&mut refusal.actor);
            }
        }
        let Some(count) = kinds.get_mut(&kind(&refusal)) else {
            let mut count = Count {
                newest: refusal.clone(),
                times: 1,
                written: now,
                pause: PAUSE.0,
            };
            let event = count.event();
            kinds.insert(kind(&refusal), count);
            return Some(event);
        };
        count.newest = refusal;
        count.times += 1;
        let next = count.written + count.pause;
        if now < next {
            return None;
        }
        count.pause = match now >= next + count.pause {
            true => PAUSE.0,
            false => PAUSE.1.min(2 * count.pause),
        };
        count.written = now;
        Some(count.event())
    }

    /// What was counted and is not written yet.
    pub(super) fn rest(&self) -> Vec<Event> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = kinds.values_mut().filter(|count| count.times > 0);
        open.map(Count::event).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(actor: &str, outcome: &str, peer: usize) -> Event {
        Event {
            actor: actor.to_owned(),
            outcome: outcome.to_owned(),
            peer: Some(peer.to_string()),
            ..Event::default()
        }
    }

    #[tokio::test]
    async fn strangers_write_few_events() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let mut written = Vec::new();
        for second in 0..24 * 3600 {
            let now = start + Duration::from_secs(second as u64);
            written.extend(refusals.add(refusal("", "token_missing", second), now));
        }
        assert!(written.len() < 40, "{}", written.len());
        assert_eq!(written[0].times, Some(1), "the first one at once");
        assert_eq!(written[1].times, Some(60));
        let rest = refusals.rest();
        let times = written.iter().chain(&rest).filter_map(|event| event.times);
        assert_eq!(times.sum::<u64>(), 24 * 3600);
        assert_eq!(refusals.rest(), []);
    }

    #[tokio::test]
    async fn each_caller_and_reason_has_its_own_events() {
        let (refusals, now) = (Refusals::default(), Instant::now());
        let add = |actor: &str, outcome| refusals.add(refusal(actor, outcome, 1), now);
        for actor in ["", "a", "b"] {
            for outcome in ["role", "limit"] {
                let event = add(actor, outcome).expect("the first one");
                assert_eq!((&*event.actor, &*event.outcome), (actor, outcome));
                assert_eq!(add(actor, outcome), None);
            }
        }
        let named = (0..2 * KINDS_MAX).filter_map(|number| add(&number.to_string(), "role"));
        let named: Vec<_> = named.collect();
        assert!(named.len() <= KINDS_MAX, "bounded");
        assert_eq!(named.last().map(|event| &*event.actor), Some(OTHERS));
    }
}
