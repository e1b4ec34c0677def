//! Properties of matches that need real rules.

use arena_engine::{
    Event, FaultKind, Game, Match, Setup, Status, Stream, StreamOf, Termination, replay,
};
use arena_games::{Cowry, Kalah, cowry::Phase};

use crate::support::{game, keys, play, play_at_random, setup};

#[test]
fn extra_throws_shift_no_dice() {
    for (words, seats) in [
        ("", 2),
        ("", 4),
        ("variant=doubles starter=random", 3),
        ("throw_mode=immediate end=all", 2),
    ] {
        let game: Cowry = game(words, seats);
        let first = play(&game, setup(8), |_, legal, _| legal[0]);
        let last = play(&game, setup(8), |_, legal, _| legal[legal.len() - 1]);
        assert_ne!(first.events, last.events, "{words}");
        for finished in [first, last] {
            let dice = |seat| keys(8).stream(StreamOf::Dice(seat));
            let mut streams: Vec<Stream> = (0..4).map(dice).collect();
            replay(&game, &finished.events, |state, described| {
                if state.phase == Phase::Throw {
                    let seat = described.seat.expect("a throw belongs to a seat");
                    let expected = streams[usize::from(seat)].weighted(game.dice());
                    assert_eq!(usize::from(described.event.id()), expected, "{words}");
                }
            })
            .expect("what was played can be replayed");
        }
    }
}

#[test]
fn passes_are_plies_without_questions() {
    let game: Cowry = game("", 2);
    let mut play = Match::new(
        game.clone(),
        Setup {
            ask_forced: true,
            ..setup(3)
        },
    );
    let pass = game.pass().expect("cowry has one");
    while let Status::Asks(_) = play.status() {
        assert!(!play.legal().contains(&pass));
        let action = play.legal()[0];
        play.answer(action.into()).expect("a legal action");
    }
    let finished = play.finish();
    assert!(finished.events.contains(&Event::action(pass)));
    let actions = finished.events.iter().filter(|event| event.is_action());
    assert_eq!(finished.plies as usize, actions.count());
    assert_eq!(finished.plies, finished.decisions.iter().sum::<u32>());
}

#[test]
fn forfeited_winner_of_four_is_last() {
    let game: Cowry = game("", 4);
    let mut won = 0;
    for seed in 0..40 {
        let mut play = Match::new(game.clone(), setup(seed));
        while let Status::Asks(question) = play.status() {
            if question.seat == 2 {
                play.fault(FaultKind::Disconnected);
            } else {
                let action = play.legal()[0];
                play.answer(action.into()).expect("a legal action");
            }
        }
        won += u32::from(game.placement(play.state())[2] == 1);
        let finished = play.finish();
        assert_eq!(finished.termination, Termination::Forfeit);
        assert_eq!(finished.placement[2], 4);
        assert!(finished.placement.contains(&1));
        assert_eq!(finished.faults.len(), 1);
    }
    assert!(won > 0, "it would have won some");
}

#[test]
fn openings_vary_games_without_chance() {
    let game: Kalah = game("", 2);
    let opened = |seed| Setup {
        opening: arena_engine::Opening::Drawn(4),
        ..setup(seed)
    };
    let first = |seed| play(&game, opened(seed), |_, legal, _| legal[0]);
    let games: Vec<_> = (0..10).map(first).collect();
    assert!(games.iter().all(|game| game.opening_plies == 4));
    assert!(
        games
            .windows(2)
            .any(|pair| pair[0].events != pair[1].events)
    );
    let plain = |seed| play(&game, setup(seed), |_, legal, _| legal[0]).events;
    assert_eq!(plain(1), plain(2), "without openings they are all the same");
    assert_eq!(
        play_at_random(&game, opened(1)).events[..4],
        games[1].events[..4]
    );
}
