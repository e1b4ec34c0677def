//! Intervals after tests with optional stopping, also with several seats.

use arena_model::format::{Format, Settings, Sprt};

use super::{
    gains::{RUNS, holds},
    *,
};
use crate::stages::Stages;

/// A test from 0 to 40 Elo of an agent whose draws are higher by this part of their range.
/// In half of the blocks, seats draw the same in all rotations.
fn played(seats: usize, ahead: f64, draws: &mut Draws) -> Tally {
    let mut tournament = tournament(2, seats, 300);
    tournament.format = Format::Sprt;
    tournament.settings = Some(Settings::Sprt(Sprt {
        elo1: 40.0,
        ..Sprt::default()
    }));
    let mut stages = Stages::new(&tournament).expect("stages");
    let mut tally = Tally::new(&tournament).expect("a tally");
    let mut next = 0;
    while stages.verdict().is_none() {
        let schedule = stages.schedule().clone();
        tally.follow(&schedule);
        let (mut dice, mut shared) = (Vec::new(), false);
        for index in next..schedule.games() {
            let fresh = index % seats as u64 == 0;
            if fresh {
                shared = draws.below(2) == 0;
            }
            if fresh || !shared {
                dice = (0..seats).map(|_| draws.below(1_000_000)).collect();
            }
            let game = schedule.game(index);
            let points: Vec<f64> = (0..seats)
                .map(|seat| {
                    let more = if game.seats[seat] == 0 { ahead } else { 0.0 };
                    dice[seat] as f64 / 1e6 + more
                })
                .collect();
            let before = |own: &f64| points.iter().filter(|&other| other > own).count() as u8;
            let placement: Vec<u8> = points.iter().map(|own| 1 + before(own)).collect();
            let result = result(game, &placement, 10);
            stages.add(&result);
            tally.add(&result);
        }
        next = schedule.games();
        stages.advance().expect("games");
    }
    tally
}

#[test]
fn anytime_intervals_hold_after_early_stop() {
    for seats in [2, 3, 4] {
        for ahead in [0.0, 0.05] {
            // For two uniform numbers, one of them shifted upwards by that.
            let truth = 1.0 - (1.0 - ahead) * (1.0 - ahead) / 2.0;
            let mut draws = Draws(0x5eed);
            let mut held = [(0, 0.0); 3];
            for _ in 0..RUNS {
                let tally = played(seats, ahead, &mut draws);
                let agents = tally.standings().agents;
                let agent = agents.iter().find(|agent| agent.agent == "a0");
                let agent = agent.expect("it plays");
                let evidence = tally.evidence();
                let pair = evidence.pairs().remove(0);
                let seat = tally.standings().seats.remove(0);
                let ends = [(truth, agent.score), (truth, pair.score), (0.5, seat.score)];
                for ((held, width), (truth, score)) in held.iter_mut().zip(ends) {
                    let ends = score.and_then(|score| score.anytime).expect("blocks");
                    *held += u64::from(ends.contains(truth));
                    *width += ends.high - ends.low;
                }
            }
            for (what, (held, width)) in ["score", "pair", "first seat"].into_iter().zip(held) {
                holds(
                    held,
                    width,
                    &format!("{what} of {seats} seats, truth {truth:.3}"),
                );
            }
        }
    }
}
