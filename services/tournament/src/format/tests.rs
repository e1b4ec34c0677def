//! The games and the verdict of each format. The stronger agent always wins unless a test
//! defines otherwise.

mod season;
mod sprt;

use std::collections::BTreeMap;

use arena_model::{
    Tournament,
    format::{
        Elimination, Fixed, Format, Gauntlet, Knockout, Ladder, Seeding, Settings, Sprt, Swiss,
    },
};
use serde_json::{Value, json};

use crate::{
    Schedule, Stages,
    format::Verdict,
    stages::tests::{plain, with},
    tests::{Draws, result},
};

/// Plays a tournament with the given strength of an agent in a game.
fn play(tournament: &Tournament, mut strength: impl FnMut(u64, u16) -> u64) -> (Stages, Verdict) {
    let mut stages = Stages::new(tournament).expect("a tournament");
    let mut known = 0;
    while stages.verdict().is_none() {
        let games = stages.schedule().games();
        for index in known..games {
            let game = stages.schedule().game(index);
            let drawn: Vec<u64> = game.seats.iter().map(|&it| strength(index, it)).collect();
            let rank = |own: &u64| 1 + drawn.iter().filter(|other| *other > own).count() as u8;
            let placement: Vec<u8> = drawn.iter().map(rank).collect();
            stages.add(&result(game, &placement, 1));
        }
        known = games;
        stages.advance().expect("few games");
    }
    let verdict = stages.verdict().cloned().expect("over");
    (stages, verdict)
}

/// The agent with the lower index wins.
fn by_index(_: u64, agent: u16) -> u64 {
    1000 - u64::from(agent)
}

/// Number of blocks in which each set of agents met.
fn meetings(schedule: &Schedule) -> BTreeMap<Vec<u16>, u64> {
    let mut met = BTreeMap::new();
    for block in 0..schedule.blocks() {
        *met.entry(schedule.group(schedule.group_of(block)))
            .or_default() += 1;
    }
    met
}

fn names(places: &Value) -> Vec<(u64, &str)> {
    let rows = places.as_array().expect("rows").iter();
    rows.map(|row| {
        let place = row["place"].as_u64().expect("a place");
        (place, row["agent"].as_str().expect("a name"))
    })
    .collect()
}

#[track_caller]
fn refused(tournament: &Tournament, expected: &str) {
    let error = Stages::new(tournament).expect_err("refused").to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn gauntlet_pairs_challengers_with_field() {
    let challengers = ["a1", "a3"].map(|name| name.parse().expect("a name"));
    let gauntlet = Settings::Gauntlet(Gauntlet {
        challengers: challengers.to_vec(),
    });
    let (stages, verdict) = play(&with(Format::Gauntlet, 5, 2, 3, Some(gauntlet)), by_index);
    let expected: BTreeMap<Vec<u16>, u64> = [[0, 1], [1, 2], [1, 4], [0, 3], [2, 3], [3, 4]]
        .map(|pair| (pair.to_vec(), 3))
        .into();
    assert_eq!(meetings(stages.schedule()), expected);
    let rows = verdict.data["challengers"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[0]["agent"], &rows[0]["ahead_of"]),
        (&json!("a1"), &json!(2))
    );
    assert_eq!(
        (&rows[1]["agent"], &rows[1]["ahead_of"]),
        (&json!("a3"), &json!(1))
    );
    assert_eq!(
        rows[0]["opponents"][0],
        json!({"agent": "a0", "score": 0.0})
    );
}

#[test]
fn gauntlet_of_four_balances_the_field() {
    let (stages, _) = play(&plain(Format::Gauntlet, 6, 4, 1), by_index);
    let met = meetings(stages.schedule());
    assert_eq!(met.len(), 10, "triples of five");
    assert!(met.keys().all(|group| group.contains(&0)));
    for agent in 1..6 {
        assert_eq!(met.keys().filter(|group| group.contains(&agent)).count(), 6);
    }
}

#[test]
fn bracket_favours_best_seeds() {
    let (stages, verdict) = play(&plain(Format::Knockout, 5, 2, 1), by_index);
    let order: Vec<Vec<u16>> = (0..stages.schedule().blocks())
        .map(|block| stages.schedule().group(stages.schedule().group_of(block)))
        .collect();
    assert_eq!(order, [[3, 4], [0, 3], [1, 2], [0, 1]]);
    assert_eq!(verdict.data["winner"], "a0");
    assert_eq!(
        names(&verdict.data["places"]),
        [(1, "a0"), (2, "a1"), (3, "a3"), (3, "a2"), (5, "a4")]
    );
    assert_eq!(verdict.data["rounds"][0]["byes"], json!(["a0", "a1", "a2"]));
    let seeds = json!(["a0", "a1", "a2", "a3", "a4"]);
    assert_eq!(verdict.data["seeds"], seeds);
}

#[test]
fn knockout_tie_goes_to_better_seed() {
    let (_, verdict) = play(&plain(Format::Knockout, 4, 2, 2), |_, _| 1);
    assert_eq!(verdict.data["winner"], "a0");
    assert_eq!(verdict.data["rounds"][0]["tables"][0]["by_seed"], true);
    let (_, verdict) = play(&plain(Format::Knockout, 4, 2, 2), by_index);
    assert_eq!(verdict.data["rounds"][0]["tables"][0]["by_seed"], false);
}

#[test]
fn double_elimination_needs_two_losses() {
    let double = |seeding| {
        Some(Settings::Knockout(Knockout {
            elimination: Elimination::Double,
            seeding,
        }))
    };
    for agents in 2..12 {
        let tournament = with(Format::Knockout, agents, 2, 1, double(Seeding::Listed));
        let (stages, verdict) = play(&tournament, by_index);
        let least = 2 * agents as u64 - 2;
        assert_eq!(stages.schedule().blocks(), least, "{agents} agents");
        assert_eq!(names(&verdict.data["places"])[..2], [(1, "a0"), (2, "a1")]);
        // In the final, which is the last of the fewest blocks, the other agent wins.
        let upset = |index: u64, agent: u16| {
            if index / 2 == least - 1 {
                u64::from(agent)
            } else {
                by_index(index, agent)
            }
        };
        let (stages, verdict) = play(&tournament, upset);
        assert_eq!(stages.schedule().blocks(), least + 1, "{agents} agents");
        assert_eq!(verdict.data["winner"], "a0");
        let rounds = verdict.data["rounds"].as_array().expect("rounds");
        let last = rounds.last().expect("a round");
        assert_eq!(last["tables"][0]["part"], "decider");
    }
    refused(
        &with(Format::Knockout, 8, 4, 1, double(Seeding::Listed)),
        "elimination = \"double\" needs games of two",
    );
}

#[test]
fn drawn_seeding_follows_tournament_seed() {
    let drawn = Settings::Knockout(Knockout {
        elimination: Elimination::Single,
        seeding: Seeding::Drawn,
    });
    let mut tournament = with(Format::Knockout, 8, 2, 1, Some(drawn));
    let first = |tournament: &Tournament| {
        let schedule = Schedule::new(tournament).expect("a tournament");
        let blocks = 0..schedule.blocks();
        let groups = blocks.map(|block| schedule.group(schedule.group_of(block)));
        groups.collect::<Vec<_>>()
    };
    let one = first(&tournament);
    assert_eq!(one, first(&tournament));
    assert_ne!(one, first(&plain(Format::Knockout, 8, 2, 1)));
    tournament.seed = "7".parse().expect("a seed");
    assert_ne!(one, first(&tournament));
}

#[test]
fn best_half_of_each_table_advances() {
    for (seats, sizes) in [
        (4, vec![4, 5, 6, 7, 8, 9, 16, 33]),
        (3, vec![3, 4, 5, 9, 20]),
    ] {
        for agents in sizes {
            let (stages, verdict) = play(&plain(Format::Knockout, agents, seats, 1), by_index);
            assert_eq!(verdict.data["winner"], "a0", "{agents} at {seats}");
            let rounds = verdict.data["rounds"].as_array().expect("rounds");
            let last = rounds.last().expect("a round")["tables"].as_array();
            let last = last.expect("tables");
            assert_eq!(last.len(), 1);
            assert_eq!(last[0]["agents"].as_array().expect("names").len(), seats);
            assert_eq!(
                verdict.data["places"].as_array().expect("all").len(),
                agents
            );
            assert_eq!(names(&verdict.data["places"])[1], (2, "a1"));
            drop(stages);
        }
    }
    let (stages, _) = play(&plain(Format::Knockout, 8, 4, 1), by_index);
    let schedule = stages.schedule();
    let groups: Vec<Vec<u16>> = (0..3)
        .map(|it| schedule.group(schedule.group_of(it)))
        .collect();
    assert_eq!(
        groups,
        [[0, 3, 4, 7], [1, 2, 5, 6], [0, 1, 2, 3]],
        "a snake"
    );
}

#[test]
fn swiss_pairs_equal_scores() {
    let (stages, verdict) = play(&plain(Format::Swiss, 8, 2, 2), by_index);
    assert_eq!(stages.schedule().games(), 3 * 4 * 2 * 2);
    assert_eq!(verdict.data["winner"], "a0");
    assert!(
        meetings(stages.schedule())
            .values()
            .all(|&blocks| blocks == 2)
    );
    let rounds = verdict.data["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 3);
    // Without results, in the order of the spec; then winners meet winners.
    assert_eq!(rounds[0]["tables"][0]["agents"], json!(["a0", "a1"]));
    assert_eq!(rounds[1]["tables"][0]["agents"], json!(["a0", "a2"]));
    assert_eq!(rounds[2]["tables"][0]["agents"], json!(["a0", "a4"]));
}

#[test]
fn swiss_bye_is_a_win_once() {
    let swiss = Settings::Swiss(Swiss { rounds: Some(4) });
    let (_, verdict) = play(&with(Format::Swiss, 5, 2, 1, Some(swiss)), |_, _| 1);
    let standings = verdict.swiss();
    assert_eq!(standings.len(), 5);
    for of in standings {
        assert!(of.byes <= 1);
        // A tied block is one point of two.
        assert_eq!(of.points, (4 - of.byes) as f64 + 2.0 * of.byes as f64);
        let met = 4 - of.byes;
        assert!(
            (4 * met..=5 * met).contains(&(of.buchholz as u64)),
            "{of:?}"
        );
    }
}

#[test]
fn swiss_of_four_ends_before_rematches() {
    let rounds = |rounds| Some(Settings::Swiss(Swiss { rounds }));
    let of = |agents, shown| with(Format::Swiss, agents, 4, 1, rounds(shown));
    refused(&of(8, Some(4)), "new opponents in 2 rounds only");
    refused(&of(16, Some(6)), "new opponents in 5 rounds only");
    let again = |tournament: &Tournament| {
        let (_, verdict) = play(tournament, by_index);
        let again = verdict.data["met_again"].as_u64().expect("a number");
        let shown = format!(" {again} of ");
        assert_eq!(verdict.text.contains(&shown), again > 0, "{}", verdict.text);
        again
    };
    // Tables of four of eight share at least two agents in the second round.
    assert!(again(&of(8, None)) > 0);
    assert_eq!(again(&of(16, Some(2))), 0);
    assert_eq!(again(&plain(Format::Swiss, 8, 2, 1)), 0);
}

/// The share of games that the first agent wins, drawn from the index.
#[test]
fn ladder_prefers_close_neighbours() {
    let ladder = Settings::Ladder(Ladder {
        blocks_total: Some(600),
        step: Some(20),
        open: false,
    });
    // The third and the fourth are equal; all others are far apart.
    let strength = |index: u64, agent: u16| match agent {
        0 | 1 => by_index(index, agent),
        _ => Draws(index ^ u64::from(agent) << 32).below(500),
    };
    let (stages, verdict) = play(&with(Format::Ladder, 4, 2, 1, Some(ladder)), strength);
    let met = meetings(stages.schedule());
    let close = met[&vec![2, 3]];
    assert!(close > 300, "{met:?}");
    assert!(
        met.iter()
            .all(|(pair, &blocks)| *pair == [2, 3] || blocks < close)
    );
    assert_eq!(met.values().sum::<u64>(), 600);
    assert_eq!(names(&verdict.data["places"])[..2], [(1, "a0"), (2, "a1")]);
}

#[test]
fn fixed_games_are_played_as_listed() {
    let fixed = Settings::Fixed(Fixed {
        games: [["a2", "a0"], ["a0", "a1"], ["a2", "a0"]]
            .map(|game| game.map(|name| name.parse().expect("a name")).to_vec())
            .to_vec(),
    });
    let mut tournament = with(Format::Fixed, 3, 2, 1, Some(fixed));
    let seats = |tournament: &Tournament| -> Vec<Vec<u16>> {
        let schedule = Schedule::new(tournament).expect("a schedule");
        schedule.iter().map(|game| game.seats).collect()
    };
    assert_eq!(
        seats(&tournament),
        [[2, 0], [0, 2], [0, 1], [1, 0], [2, 0], [0, 2]]
    );
    tournament.play.rotate = false;
    assert_eq!(seats(&tournament), [[2, 0], [0, 1], [2, 0]]);
    // An agent that met the weak one more often has a better score, but no place by it.
    let (_, verdict) = play(&tournament, by_index);
    assert_eq!(
        (verdict.kind.as_str(), verdict.places().len()),
        ("ranking", 0)
    );
    assert!(verdict.data["winner"].is_null());
    if let Some(Settings::Fixed(fixed)) = &mut tournament.settings {
        fixed.games[2] = ["a1", "a2"]
            .map(|name| name.parse().expect("a name"))
            .to_vec();
    }
    let (_, verdict) = play(&tournament, by_index);
    assert_eq!(verdict.data["winner"], "a0");
    assert_eq!(verdict.places()[0], (1, "a0"));
    tournament.seats = 3;
    refused(
        &tournament,
        "game 1 of the list has 2 agents, but a game has 3 seats",
    );
}

#[test]
fn impossible_format_is_refused_with_reason() {
    refused(&plain(Format::Knockout, 1, 2, 1), "only 1 agent is listed");
    refused(&plain(Format::Sprt, 3, 2, 1), "but 3 are listed");
    refused(&plain(Format::Sprt, 1, 2, 1), "only 1 agent is listed");
    refused(&plain(Format::Ladder, 129, 2, 1), "at most 128");
    let challengers = ["a0", "a1"].map(|name| name.parse().expect("a name"));
    let gauntlet = Settings::Gauntlet(Gauntlet {
        challengers: challengers.to_vec(),
    });
    refused(
        &with(Format::Gauntlet, 2, 2, 1, Some(gauntlet)),
        "2 challengers and 0 other agents are listed",
    );
    refused(
        &plain(Format::Gauntlet, 300, 4, 1),
        "more than 1000000 groups",
    );
}

#[test]
fn same_agents_share_a_group() {
    let double = Settings::Knockout(Knockout {
        elimination: Elimination::Double,
        seeding: Seeding::Listed,
    });
    let (stages, _) = play(&with(Format::Knockout, 4, 2, 1, Some(double)), by_index);
    let schedule = stages.schedule();
    let round_robin = Schedule::new(&plain(Format::RoundRobin, 4, 2, 1)).expect("a schedule");
    for block in 0..schedule.blocks() {
        let group = schedule.group_of(block);
        let mut agents = schedule.game(2 * block).seats;
        agents.sort_unstable();
        assert_eq!(schedule.group(group), agents);
        assert_eq!(round_robin.group(group), agents);
    }
}
