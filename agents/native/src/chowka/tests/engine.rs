//! Checks the search and its board against the engine's rules.

use arena_engine::{AgentRng, Game, Node, Stream};
use arena_games::{
    Cowry,
    cowry::{Phase, State, VALUES},
};

use super::decide;
use crate::{
    bot::Decision,
    catalogue::bot,
    chowka::position::{Ground, Position},
    tests::{game, options},
};

/// Visits each decision along a game of random moves.
fn along_a_random_game(game: &Cowry, number: u8, mut visit: impl FnMut(&Decision<'_, Cowry>)) {
    let mut chance = Stream::new(&[number; 32]);
    let mut moves = AgentRng::new(number.into());
    let mut state = game.initial();
    let mut legal = Vec::new();
    loop {
        match game.node(&state) {
            Node::Over(_) => return,
            Node::Chance(_) => {
                let outcome = chance.weighted(game.weights(&state)) as u16;
                game.apply_outcome(&mut state, outcome);
            }
            Node::Decision(_) => {
                decide(game, &state, 0, |decision| visit(decision));
                game.legal(&state, &mut legal);
                game.apply(&mut state, moves.pick(&legal));
            }
        }
    }
}

#[test]
fn board_of_the_search_moves_as_the_game_does() {
    for given in [
        "preset=cb2012",
        "preset=doubles",
        "preset=doubles;block=void-turn",
        "variant=doubles;throw_mode=single;gate=true",
        "preset=cb2012;block_memory=until-moved;pieces=7",
        "preset=cb2012;inner_hits=false;safe=corners",
        "-",
        "throw_mode=single;gate=false",
        "inner_hits=false;pieces=2;end=all",
    ] {
        let game: Cowry = game(given, 2);
        let ground = Ground::new(&game);
        for number in 0..20 {
            along_a_random_game(&game, number, |decision| {
                check_moves(&ground, decision);
            });
        }
    }
}

fn check_moves(ground: &Ground, decision: &Decision<'_, Cowry>) {
    let Decision {
        game, state, seat, ..
    } = *decision;
    let seat = usize::from(seat);
    let before = Position::read(ground, state, seat);
    let view = before.view(ground);
    for (index, value) in VALUES.into_iter().enumerate() {
        for piece in 0..game.pieces() {
            // A move that is blocked now is allowed from the next turn on.
            if state.pool[index] == 0 || state.blocked_now >> piece & 1 == 1 {
                continue;
            }
            let from = state.pieces[seat][piece];
            let to = from + value;
            let action = game.action(index, piece, false);
            let moves = decision.legal.contains(&action)
                && game
                    .landing(state, action)
                    .is_some_and(|step| step.to == to);
            assert_eq!(
                view.allows(piece, from, to),
                moves,
                "{value}:{piece} in {state:?}"
            );
            if !moves {
                continue;
            }
            let hits = game.landing(state, action).map(|step| step.hits > 0);
            assert_eq!(Some(view.landing(to, false).hits), hits, "{state:?}");
            let mut played = *state;
            game.apply(&mut played, action);
            let mut after = before;
            after.make(ground, 1 << piece, to);
            let mut expected = Position::read(ground, &played, seat);
            if played.blocked_now != 0 || played.finished[seat] > 0 {
                // Other pieces of the same turn, or no piece any more.
                expected.own = after.own;
            }
            assert_eq!((after.own, after.other), (expected.own, expected.other));
        }
    }
}

/// An independent implementation of the heuristics, from squares and lists of pieces.
fn worth(game: &Cowry, state: &State, seat: usize, piece: usize, to: u8, given: [&str; 2]) -> f64 {
    let other = 1 - seat;
    let own = &state.pieces[seat][..game.pieces()];
    let others = &state.pieces[other][..game.pieces()];
    let here = game.square(seat, to);
    let safe = game.is_safe(to);
    let hit = !safe && others.iter().any(|&at| game.square(other, at) == here);
    let double = to <= 15
        && own
            .iter()
            .enumerate()
            .any(|(k, &at)| k != piece && at == to);
    let [f1, f2, f4] = [hit, safe, double].map(|holds| f64::from(u8::from(holds)));
    let a = i32::from(to);
    let f5 = f64::from(25 - a);
    let f6 = f64::from(match a {
        0..=3 => 4 - a,
        4..=7 => 8 - a,
        8..=11 => 12 - a,
        _ => 25 - a,
    });
    let f7 = own.iter().filter(|&&at| at != 24).count() as f64;
    // The literal definition for opponents on the board: index q≠a, positive values only.
    // The features computed by hand and the other model's Table IV confirm that pieces at
    // home do not count.
    let on_board = others.iter().filter(|&&q| q != 24);
    let mut d = 8;
    for &q in on_board.filter(|&&q| i32::from(q) != a) {
        let behind = 8 - (i32::from(q) - a);
        if behind > 0 && behind < d {
            d = behind;
        }
    }
    let reach = if d > 4 { 5.0 } else { f64::from(d.max(1)) };
    let d = f64::from(d);
    match given {
        ["h1", "code"] => (1.0 + 10.0 * f1 + 8.0 * f2) / f5,
        ["h2", "code"] => (1.0 + 10.0 * f1 + reach) * f7 / f5,
        ["h3", "code"] => (1.0 + 10.0 * f1) / f6,
        ["h4", "code"] => (1.0 + 10.0 * f1 + 7.0 * f4 + 8.0 * f2 + reach) / (f5 + f6),
        ["h1", "text"] => 10.0 * f1 + 8.0 * f2,
        ["h2", "text"] => (10.0 * f1 + d) * f7 / f5,
        ["h3", "text"] => f1 / f6,
        ["h4", "text"] => (10.0 * f1 + 8.0 * f2 + reach) / (f5 * f5 + f6 * f6),
        other => panic!("unknown heuristic {other:?}"),
    }
}

/// The best move of the seat after a throw, and the position after it; `None` if it can
/// only pass.
fn best_reply(game: &Cowry, state: &State, given: [&str; 2]) -> Option<(f64, State)> {
    let mut legal = Vec::new();
    game.legal(state, &mut legal);
    let seat = usize::from(state.to_move);
    let mut best: Option<(f64, State)> = None;
    for action in legal {
        let Some(step) = game.parse(action) else {
            continue;
        };
        let to = state.pieces[seat][step.piece] + step.value;
        let worth = worth(game, state, seat, step.piece, to, given);
        if best.as_ref().is_none_or(|(best, _)| worth > best + 1e-9) {
            let mut after = *state;
            game.apply(&mut after, action);
            best = Some((worth, after));
        }
    }
    best
}

/// A2's value of a move, by playing all throws of both players in the engine, each followed
/// by the best move. Only for single throws. With `as_code` as in the program: with a
/// running maximum of replies, which are all made on one board.
fn value(
    decision: &Decision<'_, Cowry>,
    action: u16,
    given: [&str; 2],
    weights: &[u32; 5],
    as_code: bool,
) -> Option<f64> {
    let Decision {
        game, state, seat, ..
    } = *decision;
    let me = usize::from(seat);
    let step = game.parse(action)?;
    let to = state.pieces[me][step.piece] + step.value;
    let n1 = worth(game, state, me, step.piece, to, given);
    let mut s1 = *state;
    game.apply(&mut s1, action);
    let sum: u32 = weights.iter().sum();
    let mut mean = 0.0;
    let (mut board, mut greatest) = (s1, 0.0f64);
    for (d1, w1) in weights.iter().enumerate() {
        let mut thrown = if as_code { board } else { s1 };
        if board.finished[1 - me] > 0 {
            return None;
        }
        if s1.phase != Phase::Throw || s1.to_move == seat {
            return None;
        }
        game.apply_outcome(&mut thrown, d1 as u16);
        let (mut hmin, s2) = match best_reply(game, &thrown, given) {
            Some(best) => best,
            None => {
                let mut passed = thrown;
                game.apply(&mut passed, game.pass()?);
                (0.0, passed)
            }
        };
        if as_code {
            greatest = greatest.max(hmin);
            hmin = greatest;
            // The next reply is an alternative to the same move: no turn passes, and
            // blocked pieces stay blocked.
            board = s2;
            board.to_move = s1.to_move;
            board.may_pass[1 - me] &= s1.may_pass[1 - me];
            board.blocked_now = s1.blocked_now;
        }
        for (d2, w2) in weights.iter().enumerate() {
            let mut thrown = s2;
            if s2.phase != Phase::Throw || s2.to_move != seat {
                return None;
            }
            game.apply_outcome(&mut thrown, d2 as u16);
            let hmax = best_reply(game, &thrown, given).map_or(0.0, |(worth, _)| worth);
            mean += (n1 - hmin + hmax) * f64::from(w1 * w2) / f64::from(sum * sum);
        }
    }
    Some(mean)
}

#[test]
fn expectiminimax_equals_full_search() {
    let mut compared = 0;
    for rules in [
        // A player that finishes inside the tree does not end the search.
        "preset=cb2012;end=all",
        "preset=cb2012;end=all;block_memory=until-moved;block_on_safe=false",
        "throw_mode=single;gate=false;end=all",
        "variant=doubles;throw_mode=single;double_move=none;end=all",
    ] {
        let game: Cowry = game(rules, 2);
        for (heuristic, reading, weights) in [
            ("h1", "code", "uniform"),
            ("h2", "code", "true-dice"),
            ("h3", "code", "uniform"),
            ("h4", "code", "uniform"),
            ("h1", "text", "true-dice"),
            ("h2", "text", "uniform"),
            ("h3", "text", "uniform"),
            ("h4", "text", "true-dice"),
        ] {
            let given = format!("heuristic={heuristic};h={reading};weights={weights}");
            let mut searcher =
                bot("chowka-expectiminimax", &options(&given), &game).expect("a bot");
            let weights = match weights {
                "uniform" => [1; 5],
                _ => *game.dice(),
            };
            let played = [heuristic, reading];
            for number in 0..3 {
                along_a_random_game(&game, number, |decision| {
                    if decision.legal.len() < 2 {
                        return;
                    }
                    let mut best: Option<(f64, u16)> = None;
                    for &action in decision.legal {
                        let Some(value) = value(decision, action, played, &weights, false) else {
                            return;
                        };
                        if best.is_none_or(|(best, _)| value > best + 1e-9) {
                            best = Some((value, action));
                        }
                    }
                    let (value, action) = best.expect("two moves");
                    let chosen = searcher.choose(decision);
                    let score = chosen.score.expect("a search");
                    assert!(
                        chosen.action == action && (score - value).abs() < 1e-8,
                        "{rules} {given}: {chosen:?}, not {action} for {value}, in {:?}",
                        decision.state
                    );
                    assert!(
                        chosen
                            .nodes
                            .is_some_and(|nodes| (2..=1600).contains(&nodes))
                    );
                    compared += 1;
                });
            }
        }
    }
    assert!(compared > 2_000, "{compared} choices");
}

#[test]
fn search_equals_simple_maximum() {
    let game: Cowry = game("preset=cb2012;end=all", 2);
    let (mut compared, mut drawn) = (0, 0);
    for (heuristic, reading) in [
        ("h1", "code"),
        ("h2", "code"),
        ("h3", "code"),
        ("h4", "code"),
        ("h2", "text"),
        ("h3", "text"),
    ] {
        let given = format!("heuristic={heuristic};h={reading};search=code");
        let mut searcher = bot("chowka-expectiminimax", &options(&given), &game).expect("a bot");
        for number in 0..6 {
            along_a_random_game(&game, number, |decision| {
                if decision.legal.len() < 2 {
                    return;
                }
                let mut best: Option<(f64, u16)> = None;
                for &action in decision.legal {
                    let played = [heuristic, reading];
                    let Some(value) = value(decision, action, played, &[1; 5], true) else {
                        return;
                    };
                    if best.is_none_or(|(best, _)| value > best + 1e-9) {
                        best = Some((value, action));
                    }
                }
                let (value, action) = best.expect("two moves");
                let chosen = searcher.choose(decision);
                if value.abs() < 1e-9 {
                    return;
                }
                let expected = (value > 0.0).then_some(value);
                let near = match (chosen.score, expected) {
                    (Some(score), Some(value)) => (score - value).abs() < 1e-8,
                    (score, expected) => score == expected,
                };
                assert!(
                    near && (expected.is_none() || chosen.action == action),
                    "{given}: {chosen:?}, not {action} for {value}, in {:?}",
                    decision.state
                );
                compared += 1;
                drawn += usize::from(expected.is_none());
            });
        }
    }
    assert!(
        compared > 500 && drawn > 20,
        "{compared} and {drawn} choices"
    );
}
