//! Sowing and capturing.

use super::{
    super::core::{Laps, PITS, ROW, sum},
    Abapa, Core, Sown,
    options::GrandSlam,
};

/// What a last seed in the opponent's row would capture.
struct Capture {
    seeds: u8,
    /// Bit p for pit p.
    pits: u16,
    /// The pit captured last, the lowest of them.
    final_pit: usize,
    /// True if the opponent's row would be empty.
    slams: bool,
}

impl Abapa {
    #[inline]
    pub(super) fn sow_pit(&self, core: &mut Core, offset: usize) -> Sown {
        let mover = usize::from(core.to_move);
        let last = self.drop_seeds(core, mover, offset);
        let held = core.pits[last];
        let mut sown = Sown {
            last: last as u8,
            held,
            lifts: 1,
            ..Sown::default()
        };
        if captures(held) && last / ROW != mover {
            self.capture(core, mover, last, &mut sown);
        }
        sown
    }

    #[inline]
    fn drop_seeds(&self, core: &mut Core, mover: usize, offset: usize) -> usize {
        let (lanes, last) =
            Laps::of(self.rules.skip_origin).sow(core.lanes(), mover * ROW + offset);
        core.set_lanes(lanes);
        // The table implies it, but the compiler does not know.
        last % PITS
    }

    #[inline]
    fn capture(&self, core: &mut Core, mover: usize, last: usize, sown: &mut Sown) {
        let mut taken = capture_from(core, mover, last);
        if taken.slams {
            match self.rules.grand_slam {
                // Illegal moves are never passed.
                GrandSlam::NoCapture | GrandSlam::Illegal => return,
                GrandSlam::Allow => {}
                GrandSlam::KeepLast => {
                    taken.seeds -= core.pits[taken.final_pit];
                    taken.pits &= !(1 << taken.final_pit);
                }
                GrandSlam::OpponentKeeps => {
                    let rest = sum(core.row_lanes(mover));
                    let row = ((1 << ROW) - 1) << (mover * ROW);
                    bank(core, 1 - mover, rest, row, sown);
                }
            }
        }
        bank(core, mover, taken.seeds, taken.pits, sown);
    }

    /// The moves that do not capture every seed of the other row.
    pub(super) fn without_slams(&self, core: &Core, moves: u8) -> u8 {
        let mover = usize::from(core.to_move);
        let slams = |offset: usize| {
            let mut after = *core;
            let last = self.drop_seeds(&mut after, mover, offset);
            captures(after.pits[last])
                && last / ROW != mover
                && capture_from(&after, mover, last).slams
        };
        (0..ROW)
            .filter(|&offset| moves >> offset & 1 == 1 && !slams(offset))
            .map(|offset| 1 << offset)
            .sum()
    }
}

/// A pit with this many seeds is captured.
#[inline]
fn captures(held: u8) -> bool {
    held & !1 == 2
}

/// Goes back from the last pit while there are twos and threes.
#[inline]
fn capture_from(core: &Core, mover: usize, last: usize) -> Capture {
    let first = (1 - mover) * ROW;
    let mut taken = Capture {
        seeds: 0,
        pits: 0,
        final_pit: last,
        slams: false,
    };
    for pit in (first..=last).rev() {
        if !captures(core.pits[pit]) {
            break;
        }
        taken.seeds += core.pits[pit];
        taken.pits |= 1 << pit;
        taken.final_pit = pit;
    }
    taken.slams = taken.seeds == sum(core.row_lanes(1 - mover));
    taken
}

/// Moves the seeds of these pits to a score.
#[inline]
fn bank(core: &mut Core, seat: usize, seeds: u8, pits: u16, sown: &mut Sown) {
    for pit in 0..PITS {
        if pits >> pit & 1 == 1 {
            core.pits[pit] = 0;
        }
    }
    core.score[seat] += seeds;
    sown.banked[seat] += seeds;
    sown.pits[seat] |= pits;
}
