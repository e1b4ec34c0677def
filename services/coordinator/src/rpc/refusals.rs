//! Refused requests in the audit trail. Everyone who reaches the coordinator can make requests that
//! are refused. So they are counted by caller, method and reason, and written ever more seldom: after 1, 2,
//! 4, … and at most 60 minutes, while there are more. Callers that showed nothing valid are counted by
//! address, as long as they are few.

use std::{
    collections::HashMap,
    mem,
    net::{IpAddr, SocketAddr},
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
/// Maximum number of kinds of callers that showed nothing valid. Further addresses are counted together.
const STRANGERS_MAX: usize = 64;
/// Bits of an address of IPv6 that are one caller's.
const OWN_BITS: u32 = 64;

/// Refusals that are not written yet, by caller, method and reason. Callers that showed nothing valid
/// are one for each address, whatever they requested.
#[derive(Default)]
pub(super) struct Refusals(Mutex<HashMap<Kind, Count>>);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Kind {
    /// Caller, method and reason.
    Known([String; 3]),
    /// Address and reason.
    Stranger(Option<IpAddr>, String),
}

impl Kind {
    fn of(refusal: &Event) -> Self {
        let reason = refusal.outcome.clone();
        if refusal.actor.is_empty() {
            return Self::Stranger(address(refusal), reason);
        }
        let method = match &*refusal.actor {
            OTHERS => String::new(),
            _ => refusal.method.clone(),
        };
        Self::Known([refusal.actor.clone(), method, reason])
    }

    /// Maximum number of kinds like this one.
    fn maximum(&self) -> usize {
        match self {
            Self::Known(_) => KINDS_MAX,
            Self::Stranger(..) => STRANGERS_MAX,
        }
    }

    fn is_stranger(&self) -> bool {
        matches!(self, Self::Stranger(..))
    }
}

/// The address of a caller, or the first of its network.
fn address(refusal: &Event) -> Option<IpAddr> {
    let peer = refusal.peer.as_deref()?;
    let address: IpAddr = peer
        .parse()
        .or_else(|_| peer.parse::<SocketAddr>().map(|peer| peer.ip()))
        .ok()?;
    Some(match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() >> (128 - OWN_BITS) << (128 - OWN_BITS);
            IpAddr::V6(network.into())
        }
        address @ IpAddr::V4(_) => address,
    })
}

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
    /// Counts a refusal. Returns the events to write now.
    pub(super) fn add(&self, mut refusal: Event, now: Instant) -> Vec<Event> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut events = Vec::new();
        let mut kind = Kind::of(&refusal);
        let is_like = |other: &Kind| other.is_stranger() == kind.is_stranger();
        let is_full = |kinds: &HashMap<Kind, Count>| {
            kinds.keys().filter(|other| is_like(other)).count() >= kind.maximum()
        };
        if !kinds.contains_key(&kind) && is_full(&kinds) {
            // A caller that stays away makes room.
            kinds.retain(|_, count| {
                let is_kept = now < count.written + 2 * PAUSE.1;
                if !is_kept && count.times > 0 {
                    events.push(count.event());
                }
                is_kept
            });
            if is_full(&kinds) {
                match kind.is_stranger() {
                    true => refusal.peer = Some(OTHERS.to_owned()),
                    false => OTHERS.clone_into(&mut refusal.actor),
                }
                kind = Kind::of(&refusal);
            }
        }
        let Some(count) = kinds.get_mut(&kind) else {
            let mut count = Count {
                newest: refusal,
                times: 1,
                written: now,
                pause: PAUSE.0,
            };
            events.push(count.event());
            kinds.insert(kind, count);
            return events;
        };
        count.newest = refusal;
        count.times += 1;
        let next = count.written + count.pause;
        if now < next {
            return events;
        }
        count.pause = match now >= next + count.pause {
            true => PAUSE.0,
            false => PAUSE.1.min(2 * count.pause),
        };
        count.written = now;
        events.push(count.event());
        events
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
    async fn strangers_are_counted_by_address() {
        let (refusals, now) = (Refusals::default(), Instant::now());
        let add = |peer: &str| {
            let of = Event {
                peer: Some(peer.to_owned()),
                ..refusal("", "TOKEN_INVALID", 0)
            };
            refusals.add(of, now).pop()
        };
        for peer in [
            "10.0.0.1:5000",
            "10.0.0.2",
            "[2001:db8::1]:1",
            "[2001:db8:0:1::1]:1",
        ] {
            assert_eq!(
                add(peer).and_then(|event| event.peer).as_deref(),
                Some(peer)
            );
        }
        for same in ["10.0.0.1:5001", "[::ffff:10.0.0.1]:1", "[2001:db8::2]:7"] {
            assert_eq!(add(same), None, "{same}");
        }
        let many = (0..100_000_u32).filter_map(|number| {
            add(&std::net::Ipv4Addr::from_bits(number + (20 << 24)).to_string())
        });
        let many: Vec<_> = many.collect();
        assert!(many.len() <= STRANGERS_MAX, "bounded: {}", many.len());
        let last = many.last().and_then(|event| event.peer.as_deref());
        assert_eq!(last, Some(OTHERS));
        // One of them is still one caller, until it stays away.
        assert_eq!(add("10.0.0.2:9"), None);
        let later = refusal("", "TOKEN_INVALID", 0);
        let later = Event {
            peer: Some("30.0.0.1".to_owned()),
            ..later
        };
        let written = refusals.add(later.clone(), now + 2 * PAUSE.1);
        assert_eq!(
            written.last(),
            Some(&Event {
                times: Some(1),
                ..later
            })
        );
        let times = written.iter().filter_map(|event| event.times).sum::<u64>();
        assert_eq!(
            times + many.len() as u64,
            100_000 + 3 + 1 + 1,
            "{written:?}"
        );
    }

    #[tokio::test]
    async fn each_caller_and_reason_has_its_own_events() {
        let (refusals, now) = (Refusals::default(), Instant::now());
        let add = |actor: &str, outcome| refusals.add(refusal(actor, outcome, 1), now).pop();
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
