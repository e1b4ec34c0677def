use arena_engine::{GameKeys, Setup, StreamOf, options::Options};

use super::*;

/// Rulesets that are shown as text.
const UNDRAWN: &[&str] = &["chess"];

/// Plays a game with random moves and returns its events.
fn random_game(game: &dyn AnyGame) -> Vec<Event> {
    let keys = GameKeys::new(|of| match of {
        StreamOf::Dice(seat) => [seat + 1; 32],
        StreamOf::Table => [5; 32],
        _ => [6; 32],
    });
    let opening = arena_engine::Opening::Drawn(u32::MAX);
    let played = game
        .open(Setup::new(keys, opening))
        .expect("a drawn opening");
    played.finish().events
}

fn header(ruleset: &str, options: Options) -> RecordHeader {
    RecordHeader {
        setup: None,
        tournament_id: "t-0123456789".to_owned(),
        ruleset: ruleset.to_owned(),
        rules_version: 1,
        rules_digest: None,
        options,
        agents: Vec::new(),
    }
}

/// Applies the steps as the page does.
fn last_position(start: &Value, steps: &[Step]) -> Vec<Value> {
    let mut position = start.as_array().expect("a list").clone();
    for step in steps {
        for (place, value) in &step.changes {
            if value.is_null() {
                position.truncate(*place);
            } else if *place == position.len() {
                position.push(value.clone());
            } else {
                position[*place] = value.clone();
            }
        }
    }
    position
}

/// Runs `check` for every ruleset and each number of players it allows.
fn each(mut check: impl FnMut(&RecordHeader, usize, &dyn AnyGame)) {
    for info in arena_games::rulesets() {
        for seats in info.seats.0..=info.seats.1 {
            let (options, seats) =
                arena_games::resolve(info.name, &Options::new(), Some(seats)).expect("defaults");
            let game = arena_games::build(info.name, &options, seats).expect("defaults");
            check(&header(info.name, options), seats, &*game);
        }
    }
}

#[test]
fn every_position_is_on_its_board() {
    each(|header, seats, game| {
        let boards = boards(header, seats);
        let events = random_game(game);
        let (start, steps) = boards.steps(game, &events).expect("a game replays");
        let plies = events.iter().filter(|event| event.is_action()).count();
        assert_eq!(steps.len(), plies, "{}", header.ruleset);
        let numbers = |values: &[Value]| -> Vec<i64> {
            values
                .iter()
                .map(|value| value.as_i64().expect("a number"))
                .collect()
        };
        let all = steps.iter().flat_map(|step| &step.changes);
        match boards.board() {
            Board::Pieces {
                pieces,
                least,
                spots,
                width,
                height,
                ..
            } => {
                assert_eq!(spots.len(), seats);
                assert_eq!(start.as_array().map(Vec::len), Some(seats * pieces));
                for (place, value) in all {
                    let value = value.as_i64().expect("a number") - i64::from(least);
                    let (x, y) = spots[place / pieces][usize::try_from(value).expect("a spot")];
                    assert!(x > 0.0 && x < width as f32 && y > 0.0 && y < height as f32);
                }
            }
            Board::Pits {
                pits,
                names,
                sides,
                art,
                ..
            } => {
                for (seat, side) in sides.iter().enumerate() {
                    assert!(art.contains(side) && art.contains(&format!("piece p{seat}")));
                }
                assert_eq!(pits.len(), names.len());
                let first = numbers(start.as_array().expect("a list"));
                let last = numbers(&last_position(&start, &steps));
                assert_eq!(first.len(), pits.len());
                assert_eq!(first.iter().sum::<i64>(), last.iter().sum::<i64>());
            }
            Board::Text => assert!(
                UNDRAWN.contains(&header.ruleset.as_str()),
                "{} has no drawing",
                header.ruleset
            ),
        }
    });
}

#[test]
fn undrawn_ruleset_falls_back_to_text() {
    each(|header, _, game| {
        let events = random_game(game);
        let mut boards = Vec::new();
        game.replay_drawn(&events, &mut |board, _| boards.push(board.to_owned()))
            .expect("a game replays");
        let (start, steps) = Lines.steps(game, &events).expect("a game replays");
        let text = |lines: &[Value]| {
            let lines = lines.iter().map(|line| line.as_str().expect("text"));
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        assert_eq!(text(start.as_array().expect("lines")), boards[0]);
        let last = last_position(&start, &steps);
        assert_eq!(
            text(&last),
            *boards.last().expect("a board"),
            "{}",
            header.ruleset
        );
    });
}

#[test]
fn step_names_seat_move_and_throw() {
    let (options, seats) =
        arena_games::resolve("cowry", &Options::new(), Some(2)).expect("defaults");
    let game = arena_games::build("cowry", &options, seats).expect("defaults");
    let events = random_game(&*game);
    let boards = boards(&header("cowry", options), seats);
    let (_, steps) = boards.steps(&*game, &events).expect("a game replays");
    let drawn: usize = steps
        .iter()
        .map(|step| {
            step.drawn
                .split(' ')
                .filter(|name| !name.is_empty())
                .count()
        })
        .sum();
    let chance = events.iter().filter(|event| !event.is_action()).count();
    // A chance outcome after the last ply belongs to no ply.
    assert!(drawn > 0 && drawn <= chance);
    let first = serde_json::to_value(&steps[0]).expect("a list");
    assert!(first[0].is_number() && first[1].is_string() && first[2].is_string());
}
