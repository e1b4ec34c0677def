use std::fs;

use arena_tests::{World, repository, sha256, spec};
use serde_json::{Value, json};

use crate::check_steps::changed_agent;

/// Writes the rules of a card game as a package.
pub(crate) fn write_rules(world: &World, folder: &str, mode: &str) {
    let folder = world.folder().join(folder);
    fs::create_dir(&folder).expect("a folder");
    for (from, name) in [
        ("tests/data/high_card.py", "game.py"),
        ("services/games/kits/python/arena_game.py", "arena_game.py"),
    ] {
        fs::copy(repository().join(from), folder.join(name)).expect(from);
    }
    let manifest = format!("command = [\"python3\", \"game.py\", \"{mode}\"]\n");
    fs::write(folder.join("arena-agent.toml"), manifest).expect("written");
}

fn register(world: &World, data: &str) {
    let player = repository().join("tests/agents/card_player.py");
    let player = player.to_str().expect("UTF-8");
    for command in [
        ["rulesets", "register", "cards", "--package", "rules"],
        ["agent", "register", "mine", "--binary", player],
        ["agent", "register", "twin", "--binary", player],
    ] {
        let _ = world
            .arena(&[&command[..], &["--data", data]].concat())
            .ok();
    }
}

/// Two agents that fail if they see more than their seat.
fn world() -> (World, String) {
    let world = World::with_python();
    write_rules(&world, "rules", "none");
    let agents = ["mine", "twin", "random"];
    (world, spec("cards", "cards", 20, &agents, "seats = 3"))
}

#[test]
fn agents_see_what_their_seats_see() {
    let (world, spec) = world();
    let mut hashes = Vec::new();
    for (data, workers) in [("one", "1"), ("three", "3")] {
        register(&world, data);
        let (id, standings, games) = world.tournament(&spec, data, &["--workers", workers]);
        assert_eq!(standings["games_clean"], standings["games"], "{standings}");
        let notes = standings["notes"].to_string();
        assert!(notes.contains("The spec names the seed"), "{notes}");
        assert_eq!(games.games.len(), 60);
        let export = world.arena(&["export", &id, "--data", data]).ok().stdout;
        hashes.push(sha256(&export));
        let rerun = ["game", "rerun", &format!("{id}/7"), "--data", data];
        assert!(world.arena(&rerun).ok().stdout.contains("same hash"));
    }
    assert_eq!(hashes[0], hashes[1]);
    world.nothing_runs();
}

#[test]
fn game_show_prints_what_a_seat_saw() {
    let (world, spec) = world();
    register(&world, "data");
    let (id, _, games) = world.tournament(&spec, "data", &[]);
    let game = format!("{id}/7");
    let show = |more: &[&str]| {
        let show = ["game", "show", &game, "--data", "data"];
        world.arena(&[&show[..], more].concat())
    };
    // The cards in the order of the seats, and what the seats before have chosen.
    let events = games.games[7]["events"].as_array().expect("events");
    let of = |key: &str| -> Vec<Value> {
        let events = events.iter();
        events.filter_map(|event| event.get(key).cloned()).collect()
    };
    let (cards, bets) = (of("chance"), of("action"));
    assert_eq!((cards.len(), bets.len()), (3, 6), "{events:?}");
    for (seat, card) in cards.iter().enumerate() {
        let shown = show(&["--seat", &seat.to_string(), "--output", "json"])
            .ok()
            .json();
        let card = card.as_str().expect("a card");
        let card: u64 = card.trim_start_matches("card-").parse().expect("a number");
        let decisions = shown["decisions"].as_array().expect("decisions");
        assert_eq!(decisions.len(), 2);
        for (decision, ply) in decisions.iter().zip([seat, seat + 3]) {
            let seen = json!({"card": card, "bets": bets[..ply]});
            assert_eq!(decision["position"], seen, "{shown}");
            assert_eq!(decision["action"], bets[ply]);
            assert_eq!(decision["ply"], ply);
        }
    }
    let name = games.games[7]["seats"][1]
        .as_str()
        .expect("a name")
        .to_owned();
    let shown = show(&["--seat", &name]).ok().stdout;
    assert!(
        shown.contains(&format!("what seat 1 ({name}) saw at 2 decisions")),
        "{shown}"
    );
    assert!(!shown.contains("cards ["), "{shown}");
    show(&["--seat", "9"]).fails(2, &["has no seat or agent \"9\": its seats are 0 ("]);
    // The whole game shows everything.
    assert!(show(&[]).ok().stdout.contains("drew card-"));
}

#[test]
fn bots_that_look_at_states_are_refused() {
    let (world, _) = world();
    register(&world, "data");
    for bot in ["greedy", "expectimax", "mcts"] {
        let agents = ["mine", bot];
        let spec = world.write("spec.toml", spec("c", "cards", 1, &agents, "seats = 2"));
        world.arena(&["run", &spec, "--data", "data"]).fails(
            2,
            &[
                bot,
                "it looks at whole states, and seats of cards see only a part of them",
            ],
        );
    }
}

#[test]
fn agents_that_need_whole_states_are_refused() {
    let (world, _) = world();
    let agent = changed_agent(&world, "bot.update(rulesets=[], perfect_information=True)");
    let agent = ["agent", "register", "whole", "--binary", &agent];
    let with_data = |command: &[&str]| world.arena(&[command, &["--data", "data"]].concat());
    let rules = ["rulesets", "register", "cards", "--package", "rules"];
    let _ = with_data(&rules).ok();
    let _ = with_data(&agent).ok();
    let shown = with_data(&["agent", "show", "whole"]).ok().stdout;
    assert!(shown.contains("without hidden information"), "{shown}");
    let text = spec("cards", "cards", 1, &["whole", "random"], "seats = 2");
    let path = world.write("whole.toml", text);
    for command in [
        &["run"][..],
        &["tournament", "plan"],
        &["tournament", "start"],
    ] {
        let refused = with_data(&[command, &[&path]].concat());
        let reason =
            "agent \"whole\": it needs whole states, and seats of cards see only a part of them";
        let _ = refused.fails(2, &[reason]);
    }
}

#[test]
fn decision_without_a_position_pauses_the_tournament() {
    let world = World::with_python();
    write_rules(&world, "rules", "nothing");
    register(&world, "data");
    let text = spec("cards", "cards", 2, &["mine", "random"], "seats = 2");
    let spec = world.write("cards.toml", text);
    let problem = ["a decision has no position, and information is hidden"];
    let _ = world
        .arena(&["run", &spec, "--data", "data"])
        .fails(1, &problem);
    let check = ["rulesets", "check", "rules", "--games", "2"];
    let _ = world.arena(&check).fails(3, &problem);
}

#[test]
fn decision_at_which_an_agent_failed_is_shown() {
    let world = World::with_python();
    write_rules(&world, "rules", "none");
    register(&world, "data");
    let player = repository().join("tests/agents/card_player.py");
    let player = player.to_str().expect("UTF-8");
    let failing = ["agent", "register", "failing", "--binary", player];
    let _ = world
        .arena(&[&failing[..], &["--data", "data", "--", "fails"]].concat())
        .ok();
    for (on_fault, plays_on) in [("forfeit", false), ("random-move", true)] {
        let more = format!("seats = 2\n[play]\non_fault = \"{on_fault}\"");
        let text = spec(on_fault, "cards", 1, &["failing", "mine"], &more);
        let spec = world.write("cards.toml", text);
        let id = world.arena(&["run", &spec, "--data", "data", "--output", "json"]);
        let id = id.json()["tournament_id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let show = [
            "game",
            "show",
            &format!("{id}/0"),
            "--seat",
            "failing",
            "--data",
            "data",
        ];
        let shown = world
            .arena(&[&show[..], &["--output", "json"]].concat())
            .ok()
            .json();
        let decisions = shown["decisions"].as_array().expect("decisions");
        assert_eq!(decisions.len(), 2, "{shown}");
        assert_eq!(
            (&decisions[0]["fault"], decisions[0]["action"].is_u64()),
            (&Value::Null, true)
        );
        let last = &decisions[1];
        assert_eq!(
            (&last["fault"], last["action"].is_u64()),
            (&json!("crash"), plays_on)
        );
        assert_eq!(last["position"]["card"], decisions[0]["position"]["card"]);
        let words = if plays_on {
            "(drawn after a fault: crash)"
        } else {
            "no move: crash"
        };
        assert!(world.arena(&show).ok().stdout.contains(words));
    }
}

#[test]
fn rulesets_name_their_information() {
    let (world, _) = world();
    register(&world, "data");
    let shown = world
        .arena(&["rulesets", "cards", "--data", "data"])
        .ok()
        .stdout;
    assert!(shown.contains("information: hidden"), "{shown}");
    let about = world
        .arena(&["rulesets", "kalah", "--output", "json"])
        .ok()
        .json();
    assert_eq!(about["information"], "perfect");
}

/// Rock, paper, scissors: without chance, and seat 1 does not see what seat 0 chose.
const RPS: &str = "\
from arena_game import decision, over, serve


class Game:
    name = 'rps'
    version = 1
    summary = 'rock, paper, scissors'
    seats = (2, 2)
    information = 'hidden'

    def __init__(self, options, seats):
        pass

    def initial(self):
        return []

    def next(self, state):
        if len(state) < 2:
            return decision(len(state), {0: 'rock', 1: 'paper', 2: 'scissors'})
        first, second = state
        return over([1, 1] if first == second else [1, 2] if (first - second) % 3 == 1 else [2, 1])

    def apply(self, state, event):
        return [*state, event]

    def position(self, state):
        return {}


serve(Game)
";

/// An agent that always chooses the move that its argument names.
const FIXED: &str = "\
import sys
from arena_agent import Agent, serve


class Fixed(Agent):
    name = 'fixed'
    version = '1'
    deterministic = True
    uses_seed = False

    def choose(self, decision):
        assert decision.position == {} and decision.number == 0
        return int(sys.argv[1])


serve(Fixed())
";

#[test]
fn repeated_games_without_chance_count_once() {
    let world = World::with_python();
    write_rules(&world, "rules", "none");
    fs::write(world.folder().join("rules/game.py"), RPS).expect("written");
    fs::create_dir(world.folder().join("fixed")).expect("a folder");
    fs::write(world.folder().join("fixed/agent.py"), FIXED).expect("written");
    let manifest = "command = [\"python3\", \"agent.py\"]\n";
    fs::write(world.folder().join("fixed/arena-agent.toml"), manifest).expect("written");
    let at = ["--data", "data"];
    let rules = ["rulesets", "register", "rps", "--package", "rules"];
    let _ = world.arena(&[&rules[..], &at].concat()).ok();
    for (name, choice) in [("rock", "0"), ("paper", "1")] {
        let register = ["agent", "register", name, "--binary", "fixed"];
        let _ = world
            .arena(&[&register[..], &at, &["--", choice]].concat())
            .ok();
    }
    let (_, standings, games) =
        world.tournament(&spec("rps", "rps", 30, &["rock", "paper"], ""), "data", &[]);
    assert_eq!(games.games.len(), 2, "one block");
    assert_eq!(standings["agents"][0]["agent"], "paper");
    let notes = standings["notes"].to_string();
    assert!(
        notes.contains("scores hold for this one opening"),
        "{notes}"
    );
    // `random` draws from its seed: its games differ.
    let text = spec("drawn", "rps", 30, &["rock", "random"], "");
    let (_, _, games) = world.tournament(&text, "data", &[]);
    assert_eq!(games.games.len(), 60);
    world.nothing_runs();
}
