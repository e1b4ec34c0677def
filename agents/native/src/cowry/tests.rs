use std::collections::BTreeSet;

use arena_engine::Game;
use arena_games::{
    Cowry,
    cowry::{Phase, State, VALUES},
};

use super::tactics::MoveTable;
use crate::{
    bot::{Bot, Decision, Stop},
    catalogue::bot,
    tests::{game, options, play},
};

fn rows(data: &str) -> impl Iterator<Item = Vec<&str>> {
    data.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_whitespace().collect())
}

fn numbers(text: &str) -> Vec<u8> {
    text.split(',')
        .map(|number| number.parse().expect("a number"))
        .collect()
}

/// A position for two seats with both gates open.
fn position(game: &Cowry, pieces: [&str; 2], pool: &[u8]) -> State {
    let mut state = game.initial();
    for (seat, pieces) in pieces.into_iter().enumerate() {
        let pieces = numbers(pieces);
        state.pieces[seat][..pieces.len()].copy_from_slice(&pieces);
    }
    for value in pool {
        let index = VALUES.iter().position(|known| known == value);
        state.pool[index.expect("a value of a throw")] += 1;
    }
    state.hit_mask = 0b11;
    state.phase = Phase::Move;
    state
}

#[test]
fn strategies_match_hand_computation() {
    let game: Cowry = game("-", 2);
    for row in rows(include_str!("../../data/cowry_choices.txt")) {
        let &[name, given, own, other, pool, expected] = &row[..] else {
            panic!("six fields in {row:?}");
        };
        let state = position(&game, [own, other], &numbers(pool));
        let mut legal = Vec::new();
        game.legal(&state, &mut legal);
        let mut strategist = bot(name, &options(given), &game).expect("a bot");
        let chosen: BTreeSet<String> = (0..200)
            .map(|seed| {
                let chosen = strategist.choose(&Decision {
                    game: &game,
                    state: &state,
                    seat: 0,
                    number: 0,
                    seed,
                    legal: &legal,
                    stop: Stop::NEVER,
                });
                let step = game.parse(chosen.action).expect("no pass");
                format!("{}:{}", step.value, step.piece)
            })
            .collect();
        let expected = expected.split(',').map(ToOwned::to_owned).collect();
        assert_eq!(chosen, expected, "{row:?}");
    }
}

#[test]
fn dangers_match_the_paper() {
    let game: Cowry = game("-", 2);
    for row in rows(include_str!("../../data/cowry_dangers.txt")) {
        let &[seat, red, blue, index, expected] = &row[..] else {
            panic!("five fields in {row:?}");
        };
        let state = position(&game, [red, blue], &[1]);
        let table = MoveTable::new(&Decision {
            game: &game,
            state: &state,
            seat: u8::from(seat == "blue"),
            number: 0,
            seed: 0,
            legal: &[],
            stop: Stop::NEVER,
        });
        let index = index.parse().expect("an index");
        assert_eq!(table.is_in_danger(index).to_string(), expected, "{row:?}");
    }
}

#[test]
fn weights_draw_strategies_in_proportion() {
    let game: Cowry = game("-", 2);
    let state = position(&game, ["10,5,2,24", "24,24,24,20"], &[1]);
    let mut legal = Vec::new();
    game.legal(&state, &mut legal);
    let given = options("form=prob;weights=0,0,0,3,1");
    let mut mixed = bot("mixed", &given, &game).expect("a bot");
    let first = (0..4000)
        .filter(|&seed| {
            let chosen = mixed.choose(&Decision {
                game: &game,
                state: &state,
                seat: 0,
                number: 0,
                seed,
                legal: &legal,
                stop: Stop::NEVER,
            });
            game.parse(chosen.action)
                .is_some_and(|step| step.piece == 0)
        })
        .count();
    // Six standard deviations of a binomial draw.
    assert!(first.abs_diff(3000) < 165, "{first} of 4000");
}

#[test]
fn meaningless_weights_are_refused() {
    let game: Cowry = game("-", 2);
    for weights in [
        "",
        "1",
        "1,1,1,1",
        "0,0,0,0,0",
        "1,1,1,1,-1",
        "1,1,1,1,x",
        "1,1,1,1,inf",
    ] {
        let given = options(&format!("form=prob;weights={weights}"));
        let error = bot("mixed", &given, &game)
            .err()
            .expect("an error")
            .to_string();
        assert!(error.contains("5 numbers"), "{weights}: {error}");
    }
}

fn wins_over_random(name: &str, seats: usize, games: u64) -> usize {
    let game: Cowry = game("-", seats);
    let make = |name| -> Box<dyn Bot<Cowry>> { bot(name, &options("-"), &game).expect("a bot") };
    (0..games)
        .filter(|number| {
            let seat = (number % seats as u64) as usize;
            let mut bots: Vec<_> = (0..seats).map(|_| make("random")).collect();
            bots[seat] = make(name);
            let last = play(&game, &mut bots, *number);
            let placement = game.placement(&last);
            placement[..seats]
                .iter()
                .all(|&rank| rank >= placement[seat])
                && placement[seat] == 1
        })
        .count()
}

#[test]
fn strategies_beat_random_by_a_margin() {
    for (name, seats, least) in [
        ("aggressive", 2, 240),
        ("aggressive", 4, 140),
        ("defensive", 2, 220),
        ("defensive", 4, 120),
        ("mixed", 2, 240),
        ("mixed", 4, 140),
    ] {
        let wins = wins_over_random(name, seats, 400);
        assert!(wins >= least, "{name}: {wins} of 400 on {seats} seats");
    }
}
