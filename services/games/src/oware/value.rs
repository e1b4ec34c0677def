//! Values of positions of Oware.

use arena_engine::{PerSeat, values};

use super::{Core, Phase, core::HALF};

/// The numbers of a logistic model, in thousandths of a logit, fitted to games of `expectimax`
/// against itself by a program that was not kept, and rounded. `cargo run --release -p arena-agents
/// --example fit -- 1500 OWARE` fits the same form to Arena's own games: for Abapa it gives similar
/// numbers (a lead of 89 and 3757, pits of 289, 264, 271, …, 670, 740), for Anan-anan different
/// ones for the lead and for pits of one and two.
pub(super) struct Model {
    /// A seed of lead.
    pub(super) lead: i64,
    /// Additional weight of it the fewer seeds are left, divided by those and 12.
    pub(super) late: i64,
    /// A pit of the own row by its seeds; the last number is for all higher ones.
    pub(super) pits: [i64; 17],
    /// The turn.
    pub(super) tempo: i64,
}

impl Core {
    /// Expected score of each seat by a model of the lead in banked seeds, the seeds in the rows,
    /// and the turn.
    #[inline]
    pub(super) fn values(&self, model: &Model) -> PerSeat<i64> {
        let tempo = match self.phase {
            Phase::Over(_) => return values::of_placement(2, &self.placement()),
            Phase::Start => 0,
            Phase::Move if self.to_move == 0 => model.tempo,
            Phase::Move => -model.tempo,
        };
        let [first, second] = self.score;
        if first > HALF || second > HALF {
            let won = if first > second { values::POINT } else { 0 };
            return values::pairwise(2, |_, _| won);
        }
        let [own, other] = [0, 1].map(|seat| {
            let worth = |&seeds: &u8| model.pits[usize::from(seeds).min(model.pits.len() - 1)];
            self.row(seat).iter().map(worth).sum::<i64>()
        });
        let lead = i64::from(first) - i64::from(second);
        let weight = model.lead + model.late / (i64::from(self.left()) + 12);
        let advantage = lead * weight + own - other + tempo;
        values::pairwise(2, |_, _| values::logistic(advantage))
    }
}
