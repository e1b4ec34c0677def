//! Rounds of tournaments with results derived from the game's number. The expected output
//! is in `data`.

use arena_engine::{Termination, options::Options};
use arena_model::{
    AgentRef, Tournament,
    format::{Elimination, Format, Knockout, Seeding, Settings, Swiss},
    result::GameResult,
    spec::Play,
};
use arena_tournament::Stages;

use super::*;

/// The verdict of a tournament with two blocks per pairing.
fn verdict((format, settings): (Format, Option<Settings>), agents: usize, seats: usize) -> Value {
    const NAMES: [&str; 9] = [
        "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india",
    ];
    let agent = |number: usize| AgentRef {
        name: match NAMES.get(number) {
            Some(name) => name.parse(),
            None => format!("agent-{number}").parse(),
        }
        .expect("a name"),
        bot: String::new(),
        options: Options::new(),
        version: String::new(),
        uses_seed: None,
        content: String::new(),
        registration: None,
    };
    let tournament = Tournament {
        name: "cup".parse().expect("a name"),
        ruleset: "none".to_owned(),
        rules_version: 1,
        rules_digest: None,
        options: Options::new(),
        seed: "0x5eed".parse().expect("a seed"),
        format,
        settings,
        blocks: 2,
        seats,
        agents: (0..agents).map(agent).collect(),
        play: Play::default(),
        openings: None,
        returns: None,
        changes: Vec::new(),
    };
    let mut stages = Stages::new(&tournament).expect("a schedule");
    let mut index = 0;
    while stages.verdict().is_none() {
        let game = stages.schedule().game(index);
        // Agents listed earlier are slightly better.
        let luck = |agent: u16| (index * 7919 + u64::from(agent) * 104_729) % 10;
        let strength = |&agent: &u16| luck(agent) / 2 + (9 - u64::from(agent.min(9))) / 3;
        let drawn: Vec<u64> = game.seats.iter().map(strength).collect();
        let better = |own: &u64| drawn.iter().filter(|other| *other > own).count() as u8;
        stages.add(&GameResult {
            index,
            block: game.block,
            placement: drawn.iter().map(|own| 1 + better(own)).collect(),
            scores: Vec::new(),
            seats: game.seats,
            luck: Vec::new(),
            plies: 10,
            termination: Termination::Normal,
            faults: Vec::new(),
            course: 0,
            beginning: arena_model::Beginning::default(),
        });
        stages.advance().expect("a stage");
        index += 1;
    }
    let json = stages
        .verdict()
        .map(arena_tournament::format::Verdict::to_json);
    serde_json::from_str(&json.expect("over")).expect("JSON")
}

fn knockout(elimination: Elimination) -> (Format, Option<Settings>) {
    let settings = Knockout {
        elimination,
        seeding: Seeding::Listed,
    };
    (Format::Knockout, Some(Settings::Knockout(settings)))
}

fn swiss(rounds: u64) -> (Format, Option<Settings>) {
    let rounds = Some(rounds);
    (Format::Swiss, Some(Settings::Swiss(Swiss { rounds })))
}

fn of(format: (Format, Option<Settings>), agents: usize, seats: usize) -> Rounds {
    Rounds::of(&verdict(format, agents, seats)).expect("rounds")
}

#[track_caller]
fn check_lines(rounds: &Rounds, expected: &str) {
    let mut text = String::new();
    for (title, lines) in lines(rounds) {
        text += &format!("{title}\n");
        lines.iter().for_each(|line| text += &format!("  {line}\n"));
    }
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn knockout_shows_rounds_and_byes() {
    let single = of(knockout(Elimination::Single), 9, 2);
    check_lines(&single, include_str!("data/single.txt"));
    let double = of(knockout(Elimination::Double), 6, 2);
    check_lines(&double, include_str!("data/double.txt"));
    let tables = of((Format::Knockout, None), 7, 4);
    check_lines(&tables, include_str!("data/tables.txt"));
}

#[test]
fn swiss_shows_opponents_and_points() {
    let rounds = of(swiss(3), 5, 2);
    let agents = ["alpha", "bravo", "charlie", "delta", "echo"];
    let cells = swiss_cells(&rounds, &agents, |places| agents[places[0]].to_owned());
    let mut text = String::new();
    for (agent, cells) in agents.iter().zip(cells) {
        text += &format!("{agent}: {}\n", cells.join(" | "));
    }
    assert_eq!(text, include_str!("data/swiss.txt"), "\n{text}");
    // At tables of four: its own points and its three opponents.
    let rounds = of(swiss(2), 8, 4);
    let first = &rounds.all[0].tables[0];
    let agents: Vec<&str> = first.agents.iter().map(String::as_str).collect();
    let cells = swiss_cells(&rounds, &agents, numbered);
    let points = crate::units::points(first.points[1]);
    assert_eq!(cells[1][0], format!("{points} (1, 3, 4)"));
}

#[test]
fn bracket_lines_join_tables() {
    for agents in 2..=33 {
        let rounds = of(knockout(Elimination::Single), agents, 2);
        let tree = bracket(&rounds, 0).expect("a tree");
        let first = agents.next_power_of_two() / 2;
        let sizes: Vec<usize> = tree.iter().map(Vec::len).collect();
        let halved = std::iter::successors(Some(first), |size| (*size > 1).then_some(size / 2));
        assert_eq!(sizes, halved.collect::<Vec<_>>(), "{agents} agents");
        for (ties, round) in tree.iter().zip(&rounds.all) {
            let tables = ties.iter().filter_map(|tie| match tie {
                Tie::Match(table) => Some(&table.agents),
                Tie::Bye(_) => None,
            });
            let listed = round.tables.iter().map(|table| &table.agents);
            assert!(tables.eq(listed), "{agents} agents: another order");
        }
        for pair in tree.windows(2) {
            for (place, tie) in pair[1].iter().enumerate() {
                let Tie::Match(table) = tie else {
                    panic!("a bye after the first round of {agents}")
                };
                let mut both = [0, 1].map(|it| match pair[0][2 * place + it] {
                    Tie::Match(table) => table.agents[0].as_str(),
                    Tie::Bye(agent) => agent,
                });
                let mut meet = [&*table.agents[0], &*table.agents[1]];
                both.sort_unstable();
                meet.sort_unstable();
                assert_eq!(both, meet, "{agents} agents");
            }
        }
        // The last rounds of a large bracket form a tree, too.
        let last = tree.len() - 1;
        assert_eq!(bracket(&rounds, last).expect("a tree").len(), 1);
    }
    let double = of(knockout(Elimination::Double), 6, 2);
    assert!(bracket(&double, 0).is_none());
    let tables = of((Format::Knockout, None), 7, 4);
    assert!(bracket(&tables, 0).is_none());
}

#[test]
fn each_round_has_every_agent_once() {
    let rounds = of(knockout(Elimination::Double), 6, 2);
    let all = rows(&rounds);
    let json: Vec<Value> = all
        .iter()
        .map(|row| serde_json::to_value(row).expect("a row"))
        .collect();
    let mut alive = 6;
    for round in &rounds.all {
        let own = json.iter().filter(|row| row["round"] == round.round);
        let own: Vec<&Value> = own.collect();
        assert_eq!(own.len(), alive, "round {}", round.round);
        let out = own.iter().filter(|row| row["goes_on"] == false).count();
        assert_eq!(out, round.out.len());
        assert!(own.iter().all(|row| row["bye"] == row["points"].is_null()));
        alive -= out;
    }
    assert_eq!(alive, 1);
}

#[test]
fn foreign_verdicts_are_tolerated() {
    let mut old = verdict(knockout(Elimination::Single), 3, 2);
    old.as_object_mut().expect("an object").remove("seeds");
    let rounds = Rounds::of(&old).expect("rounds");
    assert_eq!(rounds.seed("alpha"), None);
    assert!(
        !lines(&rounds)[0].1[0].contains('('),
        "{:?}",
        lines(&rounds)
    );
    assert!(Rounds::of(&verdict((Format::RoundRobin, None), 3, 2)).is_none());
    assert!(Rounds::of(&Value::Null).is_none());
}
