//! What holds at every position.

use std::collections::BTreeSet;

use arena_engine::{Game, Node, values};
use serde::Serialize;

use super::{Found, RulesetStep};
use crate::check::Problem;

/// Maximum length of a drawn board in bytes.
const BOARD_BYTES_MAX: usize = 64 << 10;
/// Maximum length of a notation in bytes.
const NOTATION_BYTES_MAX: usize = 32;
/// Ids of actions and outcomes are below this.
const IDS: u16 = 1 << 15;

/// How a game goes on after a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// By an action or an outcome.
    Event,
    /// Not at all: the rules offer nothing that can be drawn.
    None,
    /// It is over.
    End,
}

/// A problem at a position.
pub(super) fn at<G: Game>(game: &G, state: &G::State, text: impl Into<String>) -> Problem {
    Problem {
        text: text.into(),
        at: shown(game, state),
        output: String::new(),
    }
}

/// A position for people: what a package wrote, or else the board.
pub(super) fn shown<G: Game>(game: &G, state: &G::State) -> String {
    let mut bytes = Vec::new();
    game.save(state, &mut bytes);
    let is_text = |text: &&str| text.starts_with('{') && !text.contains(char::is_control);
    if let Some(text) = std::str::from_utf8(&bytes).ok().filter(is_text) {
        return format!("state {text}");
    }
    let mut board = String::new();
    game.draw(state, &mut board);
    let board = arena_model::printable(board.trim_end()).into_owned();
    match board.is_empty() {
        true => format!("the position with the bytes {}", hex::encode(&bytes)),
        false => format!("the position\n{board}"),
    }
}

/// A value as JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Checks a position.
pub(super) fn check<G: Game>(game: &G, state: &G::State, label: &str, found: &mut Found) -> Next {
    let node = game.node(state);
    found.expect(RulesetStep::Purity, node == game.node(state), label, || {
        at(game, state, "node differs between two calls")
    });
    let next = match node {
        Node::Decision(_) => check_decision(game, state, label, found),
        Node::Chance(_) => check_chance(game, state, label, found),
        Node::Over(_) => {
            check_ranks(game, state, label, found);
            Next::End
        }
    };
    let seat = match node {
        Node::Decision(seat) | Node::Chance(Some(seat)) => seat,
        Node::Chance(None) | Node::Over(_) => 0,
    };
    found.expect(
        RulesetStep::Decisions,
        usize::from(seat) < game.seats(),
        label,
        || at(game, state, format!("seat {seat} does not exist")),
    );
    let reported = game.values(state);
    found.expect(
        RulesetStep::Values,
        are_values(game.seats(), &reported[..game.seats()]),
        label,
        || {
            let reported = json(&&reported[..game.seats()]);
            at(game, state, format!("the values are {reported}"))
        },
    );
    check_position(game, state, label, found);
    if !found.has_no_boards {
        check_board(game, state, label, found);
    }
    next
}

fn check_board<G: Game>(game: &G, state: &G::State, label: &str, found: &mut Found) {
    let mut board = String::new();
    game.draw(state, &mut board);
    let is_text = board
        .bytes()
        .all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte));
    let fits = !board.is_empty() && board.len() <= BOARD_BYTES_MAX;
    found.expect(RulesetStep::Board, is_text && fits, label, || {
        let problem = match board.len() {
            0 => "the board is empty".to_owned(),
            bytes if bytes > BOARD_BYTES_MAX => format!("the board has {bytes} bytes"),
            _ => format!("the board is {}", json(&board)),
        };
        at(game, state, problem)
    });
}

fn check_decision<G: Game>(game: &G, state: &G::State, label: &str, found: &mut Found) -> Next {
    let (mut legal, mut again) = (vec![IDS], Vec::new());
    game.legal(state, &mut legal);
    game.legal(state, &mut again);
    found.expect(RulesetStep::Purity, legal == again, label, || {
        let (legal, again) = (json(&legal), json(&again));
        at(game, state, format!("legal actions {legal}, then {again}"))
    });
    let passes = game.pass().is_some_and(|pass| legal.contains(&pass));
    let are_ids = !legal.is_empty()
        && legal.is_sorted_by(|one, other| one < other)
        && legal.iter().all(|&id| id < IDS)
        && (!passes || legal.len() == 1);
    found.expect(RulesetStep::Decisions, are_ids, label, || {
        at(game, state, format!("legal actions {}", json(&legal)))
    });
    let name = |&action: &u16| {
        let mut name = String::new();
        game.write_action(state, action, &mut name);
        name
    };
    let names: Vec<String> = legal.iter().map(name).collect();
    found.expect(RulesetStep::Decisions, are_notations(&names), label, || {
        at(game, state, format!("notations {}", json(&names)))
    });
    match are_ids {
        true => Next::Event,
        false => Next::None,
    }
}

fn check_chance<G: Game>(game: &G, state: &G::State, label: &str, found: &mut Found) -> Next {
    found.chance_nodes += 1;
    let weights = game.weights(state);
    let sum: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
    let are_weights =
        game.has_chance() && sum > 0 && u32::try_from(sum).is_ok() && weights.len() < IDS.into();
    found.expect(RulesetStep::Chance, are_weights, label, || {
        let problem = match game.has_chance() {
            true => format!("weights {}", json(&weights)),
            false => "a chance node, but the ruleset says that it has no chance".to_owned(),
        };
        at(game, state, problem)
    });
    let name = |outcome| {
        let mut name = String::new();
        game.write_outcome(state, outcome, &mut name);
        name
    };
    let names: Vec<String> = (0..weights.len() as u16).map(name).collect();
    found.expect(RulesetStep::Chance, are_notations(&names), label, || {
        at(game, state, format!("notations {}", json(&names)))
    });
    let mut reported = Vec::new();
    game.chance_values(state, &mut reported);
    let outcomes = || reported.chunks(game.seats());
    let are_whole =
        outcomes().len() == weights.len() && outcomes().all(|it| are_values(game.seats(), it));
    found.expect(RulesetStep::Chance, are_whole, label, || {
        let reported: Vec<&[i64]> = outcomes().collect();
        at(game, state, format!("values {}", json(&reported)))
    });
    match are_weights {
        true => Next::Event,
        false => Next::None,
    }
}

fn check_ranks<G: Game>(game: &G, state: &G::State, label: &str, found: &mut Found) {
    let placement = game.placement(state);
    let ranks = &placement[..game.seats()];
    let ahead = |rank: u8| ranks.iter().filter(|&&other| other < rank).count();
    let are_ranks = ranks
        .iter()
        .all(|&rank| usize::from(rank) == ahead(rank) + 1);
    found.expect(RulesetStep::Ranks, are_ranks, label, || {
        at(game, state, format!("ranks {}", json(&ranks)))
    });
    let (reported, due) = (
        game.values(state),
        values::of_placement(game.seats(), &placement),
    );
    let are_due = reported[..game.seats()] == due[..game.seats()];
    found.expect(RulesetStep::Ranks, are_due || !are_ranks, label, || {
        let (reported, ranks) = (json(&&reported[..game.seats()]), json(&ranks));
        at(game, state, format!("values {reported} for ranks {ranks}"))
    });
}

fn check_position<G: Game>(game: &G, state: &G::State, label: &str, found: &mut Found) {
    let (mut bytes, mut again) = (Vec::new(), Vec::new());
    game.save(state, &mut bytes);
    game.save(state, &mut again);
    found.expect(RulesetStep::Purity, bytes == again, label, || {
        at(game, state, "encode differs between two calls")
    });
    let decoded = game.load(&bytes);
    found.expect(
        RulesetStep::Positions,
        decoded.as_ref() == Ok(state),
        label,
        || match &decoded {
            Ok(decoded) => {
                let mut problem = at(game, state, "decode returns another position");
                problem.at += &format!("\ndecoded: {}", shown(game, decoded));
                problem
            }
            Err(error) => at(game, state, format!("decode refuses the position: {error}")),
        },
    );
    found.bytes_most = found.bytes_most.max(bytes.len());
}

/// True if these are values of a position.
fn are_values(seats: usize, reported: &[i64]) -> bool {
    reported.len() == seats
        && values::add_up(reported)
        && reported
            .iter()
            .all(|value| (0..=values::POINT).contains(value))
}

/// True if all are different, and can stand in records and commands.
fn are_notations(names: &[String]) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'\\".contains(&byte);
    let is_name = |name: &String| {
        (1..=NOTATION_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_plain)
    };
    let different: BTreeSet<&String> = names.iter().collect();
    different.len() == names.len() && names.iter().all(is_name)
}
