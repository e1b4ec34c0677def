use arena_model::{
    Tournament,
    format::{
        Elimination, Fixed, Format, Knockout, Ladder, Seeding, Settings, Sprt, Swiss, Tables,
    },
};

use super::*;
use crate::tests::{Draws, result, tournament};

/// A tournament of a format with only the common keys of a spec.
pub(crate) fn plain(format: Format, agents: usize, seats: usize, blocks: u64) -> Tournament {
    with(format, agents, seats, blocks, None)
}

pub(crate) fn with(
    format: Format,
    agents: usize,
    seats: usize,
    blocks: u64,
    settings: Option<Settings>,
) -> Tournament {
    let mut tournament = tournament(agents, seats, blocks);
    let names: Vec<_> = tournament.agents.iter().map(|it| it.name.clone()).collect();
    let mut tables = Tables::default();
    match settings {
        Some(Settings::Gauntlet(it)) => tables.gauntlet = Some(it),
        Some(Settings::Sprt(it)) => tables.sprt = Some(it),
        Some(Settings::Swiss(it)) => tables.swiss = Some(it),
        Some(Settings::Knockout(it)) => tables.knockout = Some(it),
        Some(Settings::Ladder(it)) => tables.ladder = Some(it),
        Some(Settings::Fixed(it)) => tables.fixed = Some(it),
        None => {}
    }
    tournament.format = format;
    tournament.settings =
        Settings::resolve(format, &tables, blocks, &names).expect("settings of the format");
    tournament
}

/// A placement that depends only on a game's seed and seats; agents with a low index are
/// stronger. Some games are void.
fn play(game: &crate::ScheduledGame, voids: bool) -> GameResult {
    let mut draws = Draws(game.seed.0 ^ u64::from(game.rotation));
    if voids && draws.below(7) == 0 {
        return result(game.clone(), &[], 0);
    }
    let strength: Vec<u64> = game
        .seats
        .iter()
        .map(|&agent| draws.below(100) + 90 / (2 + u64::from(agent)) * 2)
        .map(|drawn| drawn / 10)
        .collect();
    let placement: Vec<u8> = strength
        .iter()
        .map(|own| 1 + strength.iter().filter(|other| *other > own).count() as u8)
        .collect();
    result(game.clone(), &placement, 10)
}

/// The order of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Index,
    Shuffled(u64),
    /// Shuffled, and resumed from the state repeatedly.
    Resumed(u64),
}

/// Plays a tournament to its end; returns its games with their seats, and the verdict.
fn run(tournament: &Tournament, order: Order, voids: bool) -> (Vec<(u64, Vec<u16>)>, Verdict) {
    let mut stages = Stages::new(tournament).expect("a tournament");
    let bounds = stages.games();
    let mut known = 0;
    let mut rounds = 0;
    while stages.verdict().is_none() {
        rounds += 1;
        assert!(rounds < 10_000, "it does not end");
        let games = stages.schedule().games();
        assert!(games > known, "a stage has games");
        let mut indices: Vec<u64> = (known..games).collect();
        let mut draws = match order {
            Order::Index => Draws(0),
            Order::Shuffled(seed) | Order::Resumed(seed) => {
                let mut draws = Draws(seed);
                draws.shuffle(&mut indices);
                draws
            }
        };
        for index in indices {
            assert!(!stages.is_due());
            assert!(!stages.advance().expect("few games"), "games are open");
            let game = stages.schedule().game(index);
            stages.add(&play(&game, voids));
            if matches!(order, Order::Resumed(_)) && draws.below(40) == 0 {
                let state = serde_json::to_string(&stages.state()).expect("JSON");
                let state = serde_json::from_str(&state).expect("the same");
                stages = Stages::resume(tournament, state)
                    .expect("a tournament")
                    .expect("its own state");
            }
        }
        known = games;
        assert!(stages.is_due());
        assert!(stages.advance().expect("few games"));
    }
    assert!(
        (bounds.least..=bounds.most).contains(&known),
        "{bounds:?}: {known}"
    );
    assert!((bounds.least..=bounds.most).contains(&bounds.expected));
    let games = stages
        .schedule()
        .iter()
        .map(|game| (game.seed.0, game.seats));
    (games.collect(), stages.verdict().cloned().expect("over"))
}

fn all() -> Vec<Tournament> {
    let knockout = |elimination, seeding| {
        Some(Settings::Knockout(Knockout {
            elimination,
            seeding,
        }))
    };
    let fixed = Settings::Fixed(Fixed {
        games: [["a0", "a1"], ["a2", "a0"], ["a0", "a1"]]
            .map(|game| game.map(|name| name.parse().expect("a name")).to_vec())
            .to_vec(),
    });
    let sprt = |elo1| {
        Some(Settings::Sprt(Sprt {
            elo1,
            step: Some(7),
            ..Sprt::default()
        }))
    };
    let ladder = Settings::Ladder(Ladder {
        blocks_total: Some(150),
        step: Some(70),
        open: false,
    });
    let open = Settings::Ladder(Ladder {
        blocks_total: Some(150),
        step: Some(20),
        open: true,
    });
    vec![
        plain(Format::RoundRobin, 4, 2, 5),
        plain(Format::RoundRobin, 5, 3, 3),
        plain(Format::Gauntlet, 4, 2, 5),
        plain(Format::Gauntlet, 5, 4, 3),
        plain(Format::Sprt, 2, 2, 100),
        plain(Format::Sprt, 2, 3, 101),
        plain(Format::Sprt, 2, 4, 40),
        with(Format::Sprt, 2, 2, 100, sprt(200.0)),
        with(Format::Sprt, 2, 3, 100, sprt(200.0)),
        plain(Format::Swiss, 7, 2, 3),
        plain(Format::Swiss, 8, 2, 1),
        plain(Format::Swiss, 11, 4, 2),
        plain(Format::Knockout, 2, 2, 1),
        plain(Format::Knockout, 11, 2, 3),
        with(
            Format::Knockout,
            9,
            2,
            2,
            knockout(Elimination::Double, Seeding::Listed),
        ),
        with(
            Format::Knockout,
            8,
            2,
            1,
            knockout(Elimination::Double, Seeding::Drawn),
        ),
        plain(Format::Knockout, 13, 4, 2),
        plain(Format::Knockout, 7, 3, 2),
        plain(Format::Ladder, 6, 2, 20),
        plain(Format::Ladder, 6, 4, 10),
        with(Format::Ladder, 3, 2, 20, Some(ladder)),
        with(Format::Ladder, 5, 2, 20, Some(open)),
        with(Format::Fixed, 3, 2, 4, Some(fixed)),
    ]
}

#[test]
fn verdict_ignores_arrival_order() {
    for tournament in all() {
        for voids in [false, true] {
            let what = format!(
                "{} of {} at {}, voids {voids}",
                tournament.format.name(),
                tournament.agents.len(),
                tournament.seats
            );
            let (games, verdict) = run(&tournament, Order::Index, voids);
            for seed in 1..4 {
                for order in [Order::Shuffled(seed), Order::Resumed(seed)] {
                    let (other_games, other) = run(&tournament, order, voids);
                    assert_eq!(games, other_games, "{what}, {order:?}");
                    assert_eq!(verdict.to_json(), other.to_json(), "{what}, {order:?}");
                }
            }
            assert!(
                !verdict.kind.is_empty() && verdict.text.ends_with('.'),
                "{verdict:?}"
            );
            assert!(!verdict.to_json().contains("null,null"), "{verdict:?}");
        }
    }
}

#[test]
fn empty_tournament_has_a_verdict() {
    for tournament in all() {
        let mut stages = Stages::new(&tournament).expect("a tournament");
        let mut known = 0;
        while stages.verdict().is_none() {
            for index in known..stages.schedule().games() {
                let game = stages.schedule().game(index);
                stages.add(&result(game, &[], 0));
            }
            known = stages.schedule().games();
            stages.advance().expect("few games");
        }
        let verdict = stages.verdict().expect("over");
        assert!(verdict.text.contains("void"), "{}", verdict.text);
        assert_eq!(verdict.data["voids"], known);
        if tournament.format == Format::Sprt {
            assert_eq!(verdict.kind, "inconclusive");
        }
    }
}

#[test]
fn stages_with_equal_groups_share_sums() {
    let sprt = Settings::Sprt(Sprt {
        elo1: 0.01,
        step: Some(1),
        ..Sprt::default()
    });
    let tournament = with(Format::Sprt, 2, 3, 600, Some(sprt));
    let mut stages = Stages::new(&tournament).expect("a tournament");
    while stages.schedule().games() < 1800 {
        for index in 0..stages.schedule().games() {
            let game = stages.schedule().game(index);
            stages.add(&play(&game, false));
        }
        stages.advance().expect("few games");
    }
    assert_eq!(stages.schedule().segments(), 1);
}

#[test]
fn foreign_state_is_refused() {
    let one = plain(Format::Swiss, 6, 2, 1);
    let other = plain(Format::Knockout, 7, 2, 1);
    let state = || Stages::new(&one).expect("a tournament").state();
    assert!(Stages::resume(&one, state()).expect("fine").is_some());
    assert!(Stages::resume(&other, state()).expect("fine").is_none());
    let swiss = Settings::Swiss(Swiss { rounds: Some(4) });
    let more = with(Format::Swiss, 8, 2, 1, Some(swiss));
    assert!(Stages::resume(&more, state()).expect("fine").is_none());
}
