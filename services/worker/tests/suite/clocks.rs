//! Clocks and times for moves.

use std::{iter::repeat, sync::Arc, time::Duration};

use arena_engine::{FaultKind, FaultPolicy};
use arena_model::spec::Play;
use arena_wire::v1;
use arena_worker::{Builtin, Played, play_one};

use crate::common::{Fixture, agents, games, native, process, setup};

/// A game of Kalah under these settings.
async fn played(play: &str, players: [v1::AgentSetup; 2], builtin: Builtin) -> Played {
    let mut setup = setup("kalah", players.to_vec());
    let play: Play = toml::from_str(play).expect("settings");
    setup.play = Some((&play).into());
    let game = games(1).remove(0);
    let options = agents(builtin);
    play_one(setup, game, Arc::new(Fixture), options)
        .await
        .expect("a game")
}

/// An agent that takes this long for each move.
fn taking(name: &str, milliseconds: u64) -> v1::AgentSetup {
    let takes = milliseconds.to_string();
    process(
        name,
        &[
            "--mode",
            "good",
            "--takes-ms",
            &takes,
            "--every",
            "18446744073709551615",
        ],
    )
}

#[tokio::test]
async fn agents_see_their_clock_and_nodes() {
    let agent = |name| process(name, &["--mode", "needs-clock"]);
    let play = "clock = \"20/10s+0.1s\"\nnodes = 77\nask_forced = true";
    let played = played(play, [agent("a"), agent("b")], Builtin::InProcess).await;
    assert_eq!(played.record.faults, [], "{:?}", played.fault_details);
    let decisions: u32 = played.record.decisions.iter().sum();
    assert_eq!(played.timing.latencies_us.len(), decisions as usize);
}

#[tokio::test]
async fn seat_whose_clock_runs_out_loses_on_time() {
    let players = [taking("slow", 40), native("random")];
    let play = "clock = \"200ms\"\ntiming_margin = \"10ms\"";
    let played = played(play, players, Builtin::InProcess).await;
    let fault = &played.record.faults[0];
    assert_eq!((fault.seat, fault.kind), (0, FaultKind::Timeout));
    assert_eq!(played.record.placement, [2, 1]);
    let message = &played.fault_details[0].message;
    assert!(message.contains("left on its clock (0.2s)"), "{message}");
    // Its last move was cut off, the ones before it used up the clock.
    assert!(played.record.decisions[0] <= 6, "{:?}", played.record);
}

#[tokio::test]
async fn increments_keep_a_steady_agent_alive() {
    let players = [taking("steady", 20), native("random")];
    let played = played("clock = \"1s+60ms\"", players, Builtin::InProcess).await;
    assert_eq!(played.record.faults, [], "{:?}", played.fault_details);
}

#[tokio::test]
async fn every_overstepped_move_time_is_caught() {
    for (takes, faulty) in [(0, false), (70, true)] {
        let play = "move_time = \"20ms\"\ntiming_margin = \"30ms\"\non_fault = \"random-move\"\n\
                    ask_forced = true";
        let players = [taking("slow", takes), native("random")];
        let played = played(play, players, Builtin::InProcess).await;
        let (record, timing) = (&played.record, &played.timing);
        // Time without a core does not count, and some of it passes on a busy machine.
        let waits = timing.run_queue_us.iter().chain(repeat(&0));
        let charged = timing.latencies_us.iter().zip(waits);
        let late = charged.filter(|(took, wait)| **took >= **wait + 50_000);
        assert_eq!(record.faults.len(), late.count(), "{timing:?}");
        assert_eq!(record.faults.is_empty(), !faulty, "{timing:?}");
        for detail in &played.fault_details {
            assert!(detail.message.contains("move_time = 20ms"), "{detail:?}");
        }
    }
}

#[tokio::test]
async fn built_in_bots_have_clocks_too() {
    let mut deep = native("kalah-minimax");
    deep.options = vec![v1::OptionValue {
        name: "depth".into(),
        value: "20".into(),
    }];
    for opponent in [native("random"), taking("quick", 0)] {
        for builtin in [Builtin::InProcess, Builtin::Process] {
            let players = [deep.clone(), opponent.clone()];
            let played = played("clock = \"300ms\"", players, builtin).await;
            let fault = &played.record.faults[0];
            assert_eq!((fault.seat, fault.kind), (0, FaultKind::Timeout));
        }
    }
}

#[tokio::test]
async fn fallen_flag_leaves_increment_and_margin() {
    let play = Play {
        on_fault: FaultPolicy::RandomMove,
        ..toml::from_str("clock = \"100ms+60ms\"").expect("settings")
    };
    let mut setup = setup("kalah", vec![taking("slow", 200), native("random")]);
    setup.play = Some((&play).into());
    let game = games(1).remove(0);
    let options = agents(Builtin::InProcess);
    let played = play_one(setup, game, Arc::new(Fixture), options)
        .await
        .expect("a game");
    let message = &played.fault_details[1].message;
    assert!(message.contains("within the 60ms left"), "{message}");
    assert!(Duration::from_micros(played.timing.latencies_us[0].into()).as_millis() >= 100);
}
