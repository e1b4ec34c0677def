//! The fourteen features of Anan-anan (paper 002, second table of features).

use arena_games::oware::{AnanAnan, Core, Oware, Phase, ROW};

use super::features::{Features, LARGE, count};

impl Features for AnanAnan {
    type Weights = [f64; 14];

    const NAMED: &'static [(&'static str, Self::Weights)] = &[
        (
            "ainooson-anan-anan-d3",
            [
                -0.0026, 1.5544, 0.3549, -0.0059, -0.8347, 0.1012, 0.0696, 0.0025, 0.0144, -0.0003,
                0.0657, -2.6805, -0.0001, 0.0001,
            ],
        ),
        (
            "ainooson-anan-anan-d5",
            [
                -0.0435, 0.0551, -0.7211, -0.0067, 0.0003, -0.1044, -0.1089, -0.1506, 0.0082,
                0.0039, 0.0011, -0.1153, -0.2220, 0.2922,
            ],
        ),
        (
            "score",
            [
                -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
            ],
        ),
    ];

    #[inline]
    fn features(&self, core: &Core, agent: usize) -> [f64; 14] {
        let user = 1 - agent;
        let users_moves = Moves::of(self, core, user);
        let agents_moves = Moves::of(self, core, agent);
        let (users, agents) = (core.row(user), core.row(agent));
        [
            f64::from(core.score[user]),
            f64::from(core.score[agent]),
            agents_moves.vulnerable,
            users_moves.vulnerable,
            users_moves.for_mover,
            agents_moves.for_mover,
            count(users, |seeds| seeds > LARGE),
            count(agents, |seeds| seeds > LARGE),
            users_moves.for_other,
            agents_moves.for_other,
            count(users, |seeds| seeds == 0),
            count(agents, |seeds| seeds == 0),
            count(users, |seeds| seeds == 3),
            count(agents, |seeds| seeds == 3),
        ]
    }
}

/// Effects of a side's moves.
struct Moves {
    /// Pits of the other row that a move banks for the mover.
    vulnerable: f64,
    /// Number of moves that bank more for the mover.
    for_mover: f64,
    /// Number of moves that bank more for the other side.
    for_other: f64,
}

impl Moves {
    #[inline]
    fn of(game: &AnanAnan, core: &Core, side: usize) -> Self {
        let other = 1 - side;
        let before = Core {
            to_move: side as u8,
            phase: Phase::Move,
            ..*core
        };
        let legal = game.legal_mask(&before);
        let (mut emptied, mut for_mover, mut for_other) = (0_u16, 0_u8, 0_u8);
        for offset in 0..ROW {
            if legal & 1 << offset == 0 {
                continue;
            }
            let sown = game.sow(&mut { before }, offset);
            emptied |= sown.pits[side];
            for_mover += u8::from(sown.banked[side] > sown.banked[other]);
            for_other += u8::from(sown.banked[side] < sown.banked[other]);
        }
        let row = ((1_u16 << ROW) - 1) << (ROW * other);
        Self {
            vulnerable: f64::from((emptied & row).count_ones()),
            for_mover: f64::from(for_mover),
            for_other: f64::from(for_other),
        }
    }
}
