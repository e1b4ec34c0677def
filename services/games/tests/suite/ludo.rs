//! Chinese Ludo's own test vectors.

mod turns;
mod values;

use arena_engine::{Ending, Event, Game, Match, Node, Status, replay};
use arena_games::{
    ChineseLudo,
    ludo::{HANGAR, HOME, PASS, Phase, RING_LAST, State, across, is_own_colour},
};

use crate::support::{game, play_at_random, rows, setup};

/// Four planes in words: `h` in the hangar, `p` on the pad, else progress.
fn planes(words: &str) -> [i8; 4] {
    let planes: Vec<i8> = words
        .split_whitespace()
        .map(|word| match word {
            "h" => -1,
            "p" => 0,
            number => number.parse().expect("progress"),
        })
        .collect();
    planes.try_into().expect("four planes")
}

/// The same position with exchanged seats.
fn turned(state: &State) -> State {
    let [red, blue] = state.r;
    State {
        r: [blue, red],
        to_move: 1 - state.to_move,
        ..*state
    }
}

#[test]
fn documented_moves_hold_for_both_seats() {
    for row in rows("ludo_vectors.txt") {
        let [words, own, other, die, expected, other_after, next] = &row[..] else {
            panic!("seven fields: {row:?}");
        };
        let game: ChineseLudo = game(words, 2);
        let die: u8 = die.parse().expect("a roll");
        let mut red = game.position([planes(own), planes(other)], 0, die);
        let mut blue = turned(&red);
        for (state, seat) in [(&mut red, 0u8), (&mut blue, 1)] {
            let mut legal = Vec::new();
            game.legal(state, &mut legal);
            if expected == "illegal" {
                assert!(!legal.contains(&0), "{row:?}: {legal:?}");
                continue;
            }
            let action = if legal == [PASS] { PASS } else { 0 };
            assert!(legal.contains(&action), "{row:?}: {legal:?}");
            game.apply(state, action);
            let me = usize::from(seat);
            assert_eq!(state.r[me], planes(expected), "{row:?}");
            assert_eq!(state.r[1 - me], planes(other_after), "{row:?}");
            let node = match &next[..] {
                "again" => Node::Chance(Some(seat)),
                "won" => Node::Over(Ending::Normal),
                _ => Node::Chance(Some(1 - seat)),
            };
            assert_eq!(game.node(state), node, "{row:?}");
        }
    }
}

#[test]
fn position_is_sixteen_bytes_at_most() {
    assert!(size_of::<State>() <= 16, "{}", size_of::<State>());
}

#[test]
fn squares_match_the_paper() {
    // By number on the board: seat 0's are its progress, seat 1's begin at 27.
    let number = |progress: i8| (progress + 25) % 52 + 1;
    let own: Vec<i8> = (1..=RING_LAST).filter(|&r| is_own_colour(r)).collect();
    assert_eq!(own, [2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50]);
    let mut blue: Vec<i8> = own.iter().map(|&r| number(r)).collect();
    blue.sort_unstable();
    // The last is printed as 58, which is no square of that colour.
    assert_eq!(blue, [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52]);
    for (progress, expected) in [(1, 27), (26, 52), (27, 1), (50, 24)] {
        assert_eq!(number(progress), expected);
    }
    for red in HANGAR..=HOME {
        let there = (1..=RING_LAST).find(|&blue| number(blue) == red && red <= RING_LAST);
        assert_eq!(across(red), there, "{red}");
    }
}

#[test]
fn seats_are_symmetric() {
    for words in [
        "",
        "finish=bounce three_sixes=hangar",
        "finish=over launch=even start=ring1 hit_squares=ends",
        "dotfly=standard fly_hits_path=true three_sixes=end-turn launch=five-six",
        "max_rolls=90",
    ] {
        let game: ChineseLudo = game(&format!("{words} starter=random"), 2);
        for seed in 0..30 {
            let finished = play_at_random(&game, setup(seed));
            let mut states = Vec::new();
            replay(&game, &finished.events, |state, _| states.push(*state)).expect("as played");
            let mut events = finished.events.clone();
            events[0] = Event::chance(1 - events[0].id());
            let mut index = 0;
            let other = replay(&game, &events, |state, _| {
                if state.phase != Phase::Start {
                    assert_eq!(*state, turned(&states[index]), "{words}");
                }
                index += 1;
            });
            let other = other.expect("the same game");
            for (mine, theirs) in [(0, 1), (1, 0)] {
                assert_eq!(other.placement[mine], finished.placement[theirs], "{words}");
                assert_eq!(other.scores[mine], finished.scores[theirs], "{words}");
            }
        }
    }
}

#[test]
fn illegal_action_leaves_the_match_unchanged() {
    let game: ChineseLudo = game("", 2);
    let mut refused = 0;
    for seed in 0..20 {
        let mut play = Match::new(game.clone(), setup(seed));
        while let Status::Asks(question) = play.status() {
            let (state, events, legal) =
                (*play.state(), play.events().to_vec(), play.legal().to_vec());
            for action in (0..8).chain([u32::MAX]) {
                if legal.iter().any(|&known| u32::from(known) == action) {
                    continue;
                }
                let error = play.answer(action).expect_err("an illegal action");
                assert_eq!((error.action, error.seat), (action, question.seat));
                assert_eq!(*play.state(), state);
                assert_eq!(play.events(), events);
                assert_eq!(play.legal(), legal);
                assert_eq!(play.status(), Status::Asks(question));
                refused += 1;
            }
            play.answer(legal[0].into()).expect("a legal action");
        }
    }
    assert!(refused > 1_000, "{refused}");
}

#[test]
fn one_seat_wins_unless_the_cap_ends_it() {
    let whole: ChineseLudo = game("", 2);
    for seed in 0..300 {
        let finished = play_at_random(&whole, setup(seed));
        assert_eq!(finished.termination, Ending::Normal.into());
        let winner = finished.placement.iter().position(|&rank| rank == 1);
        let winner = winner.expect("a winner");
        assert_eq!(finished.scores[winner], 4);
        assert_eq!(finished.placement[1 - winner], 2);
        assert!(finished.scores[1 - winner] < 4);
    }
}

#[test]
fn cap_ranks_seats_by_progress() {
    let game: ChineseLudo = game("max_rolls=1", 2);
    for (red, blue, placement) in [
        ("52 h h h", "40 h h h", [1, 2]),
        ("h h h h", "p h h h", [2, 1]),
        ("h h h h", "h h h h", [1, 1]),
        ("55 55 h h", "42 42 42 h", [2, 1]),
    ] {
        let mut state = game.position([planes(red), planes(blue)], 0, 5);
        assert_eq!(game.movable(&state), 0, "{red} cannot play a 5");
        game.apply(&mut state, PASS);
        assert_eq!(game.node(&state), Node::Over(Ending::Cap));
        assert_eq!(game.placement(&state)[..2], placement, "{red} | {blue}");
        assert_eq!(game.scores(&state)[..2], [0, 0]);
    }
}

#[test]
fn stacked_planes_are_listed_once() {
    let game: ChineseLudo = game("", 2);
    for (own, die, expected) in [
        ("h h h h", 6, vec![0]),
        ("h h h h", 5, vec![PASS]),
        ("5 h 5 h", 6, vec![0, 1]),
        ("p h p 7", 3, vec![0, 3]),
        ("56 56 55 h", 1, vec![2]),
        ("56 56 55 h", 2, vec![PASS]),
    ] {
        let state = game.position([planes(own), planes("h h h h")], 0, die);
        let mut legal = Vec::new();
        game.legal(&state, &mut legal);
        assert_eq!(legal, expected, "{own} {die}");
    }
}

#[test]
fn move_names_have_plane_and_progress() {
    let game: ChineseLudo = game("", 2);
    let name = |own: &str, other: &str, die, action| {
        let state = game.position([planes(own), planes(other)], 0, die);
        let mut name = String::new();
        game.write_action(&state, action, &mut name);
        name
    };
    assert_eq!(name("h 5 p 52", "h h h h", 6, 0), "p0:launch");
    assert_eq!(name("h 5 p 52", "h h h h", 6, 1), "p1:5-11");
    assert_eq!(name("h 5 p 52", "h h h h", 4, 2), "p2:0-4");
    assert_eq!(name("h 5 p 52", "h h h h", 4, 3), "p3:52-56");
    assert_eq!(name("h 5 p 52", "h h h h", 5, 1), "p1:5-30");
    // Progress 30 of the other seat is square 4 of the first.
    assert_eq!(name("h 3 p 52", "30 h h h", 1, 1), "p1:3-4x");
    assert_eq!(name("h h h h", "30 h h h", 1, PASS), "pass");
}

#[test]
fn board_shows_colours_and_turn() {
    let game: ChineseLudo = game("", 2);
    let state = game.position([planes("h 1 14 53"), planes("p 1 50 56")], 1, 6);
    let mut drawn = String::new();
    game.draw(&state, &mut drawn);
    let expected = [
        "R1 r  .  b  .  r  .  b  .  r  .  b  .  R2",
        "b                                      .",
        ".                                      b",
        "r  r  r  R3 r  r                       .",
        ".                                      r",
        "b                                      .",
        ".                                      b",
        "r                                      .",
        ".                                      r",
        "b                                      .",
        ".                       b  b  b  b  b  B2",
        "r                                      .",
        ".                                      r",
        "b  .  r  .  b  .  r  .  b  .  r  .  b  B1",
        "  seat 0 Red   hangar 1, pad 0, home 0, at -1 1 14 53",
        "> seat 1 Blue  hangar 0, pad 1, home 1, at 0 1 50 56, rolled 6",
        "",
    ];
    assert_eq!(drawn, expected.join("\n"), "\n{drawn}");
}
