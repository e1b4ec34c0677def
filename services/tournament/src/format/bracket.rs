//! Knockouts with two agents per table: the bracket of single elimination and the two pools
//! of double elimination.

use super::draw::{Draw, KnockoutMatch};

/// Single elimination. The better seeds meet as late as possible. They have the byes if the
/// number of agents is not a power of two.
#[derive(Debug)]
pub(super) struct Bracket {
    /// Remaining agents, or byes, in the order of the bracket.
    slots: Vec<Option<u16>>,
}

impl Bracket {
    /// `seeds` are the agents, best first.
    pub(super) fn new(seeds: &[u16]) -> Self {
        let size = seeds.len().next_power_of_two();
        let mut order = vec![0];
        while order.len() < size {
            let width = 2 * order.len();
            let split = order.iter().flat_map(|&seed| [seed, width - 1 - seed]);
            order = split.collect();
        }
        let slots = order.into_iter().map(|seed| seeds.get(seed).copied());
        Self {
            slots: slots.collect(),
        }
    }
}

impl Draw for Bracket {
    fn tables(&self) -> Vec<KnockoutMatch> {
        let pairs = self.slots.chunks(2);
        let both = pairs.filter_map(|pair| match *pair {
            [Some(one), Some(other)] => Some(vec![one, other]),
            _ => None,
        });
        both.map(|agents| KnockoutMatch::new(agents, 1)).collect()
    }

    fn settle(&mut self, ranked: &[Vec<u16>]) -> Vec<u16> {
        let mut tables = ranked.iter();
        let mut out = Vec::with_capacity(ranked.len());
        let on = self.slots.chunks(2).map(|pair| match *pair {
            [Some(one), Some(_)] => {
                let table = tables.next();
                out.extend(table.and_then(|table| table.get(1)));
                table.and_then(|table| table.first().copied()).or(Some(one))
            }
            [one, other] => one.or(other),
            _ => pair.first().copied().flatten(),
        });
        self.slots = on.collect();
        out
    }
}

/// Double elimination. Agents without a loss play each other, and so do agents with one
/// loss. The last agent of each pool meets the other in the final. Each round is paired
/// anew: the best seed of a pool against its worst. In an odd pool, the best seed among the
/// agents with the fewest byes has a bye.
#[derive(Debug)]
pub(super) struct Pools {
    /// Remaining agents, best seed first.
    alive: Vec<Entrant>,
}

#[derive(Clone, Copy, Debug)]
struct Entrant {
    agent: u16,
    losses: u8,
    byes: u32,
}

impl Pools {
    /// `seeds` are the agents, best first.
    pub(super) fn new(seeds: &[u16]) -> Self {
        let entrants = seeds.iter().map(|&agent| Entrant {
            agent,
            losses: 0,
            byes: 0,
        });
        Self {
            alive: entrants.collect(),
        }
    }

    fn pool(&self, losses: u8) -> Vec<Entrant> {
        let alive = self.alive.iter().copied();
        alive.filter(|entrant| entrant.losses == losses).collect()
    }
}

/// The pairs of a pool, and the agent with the bye.
fn pairs(mut pool: Vec<Entrant>, part: &'static str) -> (Vec<KnockoutMatch>, Option<u16>) {
    let mut bye = None;
    if pool.len() % 2 == 1 {
        let places = 0..pool.len();
        let rests = places.min_by_key(|&place| (pool[place].byes, place));
        bye = rests.map(|place| pool.remove(place).agent);
    }
    let half = pool.len() / 2;
    let (best, worst) = pool.split_at(half);
    let tables = best.iter().zip(worst.iter().rev());
    let tables = tables.map(|(one, other)| KnockoutMatch {
        part: Some(part),
        ..KnockoutMatch::new(vec![one.agent, other.agent], 1)
    });
    (tables.collect(), bye)
}

impl Pools {
    fn round(&self) -> (Vec<KnockoutMatch>, Vec<u16>) {
        let (winners, losers) = (self.pool(0), self.pool(1));
        if let ([one], [other]) = (&winners[..], &losers[..]) {
            let last = KnockoutMatch {
                part: Some("final"),
                ..KnockoutMatch::new(vec![one.agent, other.agent], 1)
            };
            return (vec![last], Vec::new());
        }
        let mut tables = Vec::new();
        let mut byes = Vec::new();
        let decider = winners.is_empty() && losers.len() == 2;
        for (pool, part) in [
            (winners, "winners"),
            (losers, if decider { "decider" } else { "losers" }),
        ] {
            if pool.len() > 1 {
                let (more, bye) = pairs(pool, part);
                tables.extend(more);
                byes.extend(bye);
            }
        }
        (tables, byes)
    }
}

impl Draw for Pools {
    fn tables(&self) -> Vec<KnockoutMatch> {
        self.round().0
    }

    fn settle(&mut self, ranked: &[Vec<u16>]) -> Vec<u16> {
        let (_, byes) = self.round();
        let lost: Vec<u16> = ranked.iter().filter_map(|it| it.get(1).copied()).collect();
        for entrant in &mut self.alive {
            entrant.byes += u32::from(byes.contains(&entrant.agent));
            entrant.losses += u8::from(lost.contains(&entrant.agent));
        }
        let gone = |entrant: &Entrant| entrant.losses > 1;
        let out = self.alive.iter().filter(|it| gone(it));
        let out = out.map(|entrant| entrant.agent).collect();
        self.alive.retain(|entrant| !gone(entrant));
        out
    }
}
