//! The twelve features of Abapa (paper 002, table of features after Daoud et
//! al.).

use arena_games::oware::{Abapa, Core, Oware, PITS, Phase, ROW};

use super::features::{Features, LARGE, count};

impl Features for Abapa {
    type Weights = [f64; 12];

    /// The paper's tables of weights do not print a11 and a12.
    const NAMED: &'static [(&'static str, Self::Weights)] = &[
        (
            "ainooson-abapa-d3",
            [
                -0.0444, 0.0000, 0.0072, 0.0012, -0.0001, -0.0013, 0.0000, 0.0021, -0.0318, 0.0342,
                0.0, 0.0,
            ],
        ),
        (
            "ainooson-abapa-d5",
            [
                -0.3086, -0.1258, -0.0001, -0.0040, 0.0000, 0.0123, -0.0004, -0.0023, -0.0942,
                0.1518, 0.0, 0.0,
            ],
        ),
        (
            "score",
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0],
        ),
    ];

    #[inline]
    fn features(&self, core: &Core, agent: usize) -> [f64; 12] {
        // The paper calls the opponent the user.
        let opponent = 1 - agent;
        let [opponent_twos, opponent_threes] = captures(self, core, opponent);
        let [agent_twos, agent_threes] = captures(self, core, agent);
        let (opponents, agents) = (core.row(opponent), core.row(agent));
        [
            opponent_twos,
            opponent_threes,
            agent_twos,
            agent_threes,
            reaching(opponents),
            reaching(agents),
            count(opponents, |seeds| seeds > LARGE),
            count(agents, |seeds| seeds > LARGE),
            f64::from(core.score[opponent]),
            f64::from(core.score[agent]),
            count(opponents, |seeds| seeds == 0),
            count(agents, |seeds| seeds == 0),
        ]
    }
}

/// How many moves of a side capture: first those whose last pit then has two seeds, then those whose
/// last pit has three.
#[inline]
fn captures(game: &Abapa, core: &Core, side: usize) -> [f64; 2] {
    let mut found = [0_u8; 2];
    for offset in 0..ROW {
        let pit = side * ROW + offset;
        let seeds = core.pits[pit];
        if seeds == 0 {
            continue;
        }
        if usize::from(seeds) < PITS {
            // With less than a lap of seeds, the last pit is known without sowing.
            let last = (pit + usize::from(seeds)) % PITS;
            if last / ROW == side || !matches!(core.pits[last], 1 | 2) {
                continue;
            }
        }
        let mut after = Core {
            to_move: side as u8,
            phase: Phase::Move,
            ..*core
        };
        // A grand slam may be illegal, or capture nothing.
        if game.legal_mask(&after) & 1 << offset == 0 {
            continue;
        }
        let sown = game.sow(&mut after, offset);
        if sown.banked[side] > 0 {
            found[usize::from(sown.held == 3)] += 1;
        }
    }
    found.map(f64::from)
}

/// Number of pits of a row with enough seeds to reach the other row.
#[inline]
fn reaching(row: &[u8]) -> f64 {
    let reaches = row
        .iter()
        .enumerate()
        .map(|(offset, &seeds)| u8::from(usize::from(seeds) >= ROW - offset));
    f64::from(reaches.sum::<u8>())
}
