//! Sowing in relays.

use arena_engine::Ending;

use super::{
    super::core::{Laps, PITS, ROW, lane, next_pit},
    AnanAnan, Core, Infinite, Phase, Remaining, Sown,
};

/// Lifts without a bank after which a relay is searched for a cycle. The longest finite turn of 69
/// million random ones had 26.
const ORDINARY: u16 = 32;

/// A board and the pit that is about to be lifted.
type Lift = (u128, usize);

/// Top bits of all pits.
const TOPS: u128 = 0x8080_8080_8080_8080_8080_8080;

/// Addend that brings a pit of four to its top bit.
const FOURS: u128 = 0x7c7c_7c7c_7c7c_7c7c_7c7c_7c7c;

/// The pits with four seeds or more, by their top bits.
#[inline]
fn fours(lanes: u128) -> u128 {
    (lanes + FOURS) & TOPS
}

impl AnanAnan {
    #[inline]
    pub(super) fn sow_pit(&self, core: &mut Core, offset: usize) -> Sown {
        let mover = usize::from(core.to_move);
        let mut sown = Sown::default();
        let mut lift: Lift = (core.lanes(), mover * ROW + offset);
        let (mut since_bank, mut quiet) = (lift, 0);
        loop {
            sown.lifts = sown.lifts.saturating_add(1);
            if let Some((lanes, last)) = self.quiet_lap(lift) {
                sown.held = lane(lanes, last);
                sown.last = last as u8;
                lift = (lanes, last);
                quiet += 1;
                if sown.held == 1 {
                    core.set_lanes(lanes);
                    return sown;
                }
                if quiet == ORDINARY
                    && let Some((lanes, _)) = self.first_repeated(since_bank)
                {
                    core.set_lanes(lanes);
                    sown.endless = true;
                    if self.rules.infinite == Infinite::EndGame {
                        core.phase = Phase::Over(Ending::Normal);
                    }
                    return sown;
                }
            } else {
                core.set_lanes(lift.0);
                if !self.drop_each(core, mover, lift.1, &mut sown) {
                    return sown;
                }
                lift = (core.lanes(), usize::from(sown.last));
                (since_bank, quiet) = (lift, 0);
            }
        }
    }

    /// A whole lap at once, if it makes no four: the board after it and the pit of its last seed.
    #[inline]
    fn quiet_lap(&self, (lanes, pit): Lift) -> Option<Lift> {
        let (after, last) = Laps::of(self.rules.skip_origin).sow(lanes, pit);
        let emptied = lanes & !(0xff << (8 * pit));
        // Pits only grow, so a pit that has four or more now and had fewer before has had four.
        let banks = fours(after) & !fours(emptied);
        (banks == 0).then_some((after, last))
    }

    /// A lap seed by seed, with its banks. Returns false if it ends the turn; the last seed's pit
    /// is in `sown`.
    fn drop_each(&self, core: &mut Core, mover: usize, origin: usize, sown: &mut Sown) -> bool {
        let hand = std::mem::take(&mut core.pits[origin]);
        let mut pit = origin;
        for left in (0..hand).rev() {
            pit = next_pit(pit, origin, self.rules.skip_origin) % PITS;
            core.pits[pit] += 1;
            sown.held = core.pits[pit];
            if sown.held != 4 {
                continue;
            }
            let heir = if left == 0 && self.rules.last_four_to_mover {
                mover
            } else {
                pit / ROW
            };
            if self.bank(core, heir, pit, left, sown) {
                sown.last = pit as u8;
                return false;
            }
        }
        sown.last = pit as u8;
        // A last four was banked, or a last single seed fell into an empty pit.
        !matches!(sown.held, 1 | 4)
    }

    /// Banks a four. Returns true if that ends the game: the remaining seeds in hand are put into
    /// the pit that was just emptied, or go to the player who takes the rest.
    fn bank(&self, core: &mut Core, heir: usize, pit: usize, left: u8, sown: &mut Sown) -> bool {
        let seeds = std::mem::take(&mut core.pits[pit]);
        core.score[heir] += seeds;
        sown.banked[heir] += seeds;
        sown.pits[heir] |= 1 << pit;
        let runs_out = self.runs_out(core);
        let wins = self.rules.checks_at_once && core.is_won();
        if !runs_out && !wins {
            return false;
        }
        core.pits[pit] = left;
        if runs_out && self.rules.remaining == Remaining::LastEight {
            let rest: u8 = core.pits.iter().sum();
            core.pits = [0; PITS];
            core.score[heir] += rest;
        }
        core.phase = Phase::Over(Ending::Normal);
        true
    }

    /// The first position that a relay without a bank reaches for the second time. None if it stops
    /// or banks.
    fn first_repeated(&self, start: Lift) -> Option<Lift> {
        let next = |lift| {
            self.quiet_lap(lift)
                .filter(|&(lanes, last)| lane(lanes, last) != 1)
        };
        let (mut saved, mut runner) = (start, next(start)?);
        let (mut power, mut length) = (1_u64, 1_u64);
        while saved != runner {
            if power == length {
                (saved, power, length) = (runner, 2 * power, 0);
            }
            runner = next(runner)?;
            length += 1;
        }
        let (mut behind, mut ahead) = (start, start);
        for _ in 0..length {
            ahead = next(ahead)?;
        }
        while behind != ahead {
            (behind, ahead) = (next(behind)?, next(ahead)?);
        }
        Some(behind)
    }
}
