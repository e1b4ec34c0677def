//! Knockouts with more than two agents per table: the best half of each table advances,
//! until the remaining agents fill one table, whose best agent wins.
//!
//! Tables are drawn by seed in snake order: the best seeds of a round are spread over its
//! tables. If the agents do not fill all tables, or half of them is more than must go, the
//! best seeds have byes and the last table eliminates fewer.

use super::draw::{Draw, KnockoutMatch};

#[derive(Debug)]
pub(super) struct Tables {
    seats: usize,
    /// Remaining agents, best seed first.
    alive: Vec<u16>,
}

impl Tables {
    /// `seeds` are the agents, best first, at least as many as seats.
    pub(super) fn new(seeds: &[u16], seats: usize) -> Self {
        Self {
            seats,
            alive: seeds.to_vec(),
        }
    }
}

impl Draw for Tables {
    fn tables(&self) -> Vec<KnockoutMatch> {
        let (seats, alive) = (self.seats, self.alive.len());
        if alive < seats {
            return Vec::new();
        }
        if alive == seats {
            return vec![KnockoutMatch::new(self.alive.clone(), 1)];
        }
        let out_of_each = seats / 2;
        let out = (alive / seats * out_of_each).min(alive - seats);
        let count = out.div_ceil(out_of_each);
        let playing = &self.alive[alive - count * seats..];
        let mut tables = vec![Vec::with_capacity(seats); count];
        for (number, row) in playing.chunks(count).enumerate() {
            for (place, &agent) in row.iter().enumerate() {
                let table = if number % 2 == 0 {
                    place
                } else {
                    count - 1 - place
                };
                tables[table].push(agent);
            }
        }
        let last = count - 1;
        let tables = tables.into_iter().enumerate();
        tables
            .map(|(number, agents)| {
                let out = if number == last {
                    out - last * out_of_each
                } else {
                    out_of_each
                };
                KnockoutMatch::new(agents, seats - out)
            })
            .collect()
    }

    fn settle(&mut self, ranked: &[Vec<u16>]) -> Vec<u16> {
        let tables = self.tables();
        let out: Vec<u16> = tables
            .iter()
            .zip(ranked)
            .flat_map(|(table, ranked)| ranked.iter().skip(table.on).copied())
            .collect();
        self.alive.retain(|agent| !out.contains(agent));
        out
    }
}
