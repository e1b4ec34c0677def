//! Helpers for the tests of this crate.

use std::{env, path::PathBuf};

use arena_wire::v1::{self, agent_setup::Source};
use arena_worker::{AgentOptions, BinaryProvider, Builtin, Provided, supervise::GuardCommand};
use sha2::{Digest, Sha256};

/// The program that these tests run as agent, guard and worker.
pub(crate) fn fixture() -> PathBuf {
    let mut path = env::current_exe().expect("own path");
    path.pop();
    path.pop();
    path.join("examples/fixture")
}

pub(crate) fn guard() -> GuardCommand {
    GuardCommand {
        program: fixture(),
        args: vec!["agent".into(), "guard".into()],
    }
}

pub(crate) fn agents(builtin: Builtin) -> AgentOptions {
    AgentOptions {
        builtin,
        threads: 2,
        ..AgentOptions::of_executable(fixture())
    }
}

/// The binary that tests register: a script that runs the fixture.
pub(crate) fn registered() -> String {
    format!("#!/bin/sh\nexec '{}' \"$@\"\n", fixture().display())
}

/// Provides the fixture as every binary.
pub(crate) struct Fixture;

impl BinaryProvider for Fixture {
    fn provide<'a>(&'a self, _: &'a v1::BinarySource) -> Provided<'a> {
        Box::pin(async { Ok(fixture()) })
    }
}

pub(crate) fn native(name: &str) -> v1::AgentSetup {
    v1::AgentSetup {
        name: name.into(),
        bot: name.into(),
        source: Some(Source::Native(v1::NativeSource {})),
        ..Default::default()
    }
}

/// The fixture's agent with its arguments.
pub(crate) fn process(name: &str, args: &[&str]) -> v1::AgentSetup {
    let mut all = vec!["fake"];
    all.extend(args);
    v1::AgentSetup {
        name: name.into(),
        omit_move_details: true,
        source: Some(Source::Binary(v1::BinarySource {
            sha256: hex::encode(Sha256::digest(registered())),
            file_name: "fixture".into(),
            args: all.into_iter().map(Into::into).collect(),
            limits: None,
        })),
        ..Default::default()
    }
}

pub(crate) fn endpoint(name: &str, url: &str) -> v1::AgentSetup {
    v1::AgentSetup {
        name: name.into(),
        source: Some(Source::Endpoint(v1::EndpointSource {
            url: url.into(),
            ..v1::EndpointSource::default()
        })),
        ..Default::default()
    }
}

/// A tournament of these agents with the default options of a ruleset.
pub(crate) fn setup(ruleset: &str, agents: Vec<v1::AgentSetup>) -> v1::TournamentSetup {
    let seats = 2;
    let (options, _) =
        arena_games::resolve(ruleset, &Default::default(), Some(seats)).expect("a ruleset");
    let info = arena_games::ruleset(ruleset).expect("a ruleset");
    v1::TournamentSetup {
        tournament_id: format!("test-{ruleset}"),
        ruleset: ruleset.into(),
        rules_version: info.version,
        options: arena_wire::convert::options_to_wire(&options),
        seats: seats as u32,
        agents,
        play: Some((&arena_model::spec::Play::default()).into()),
        hash_only: false,
        luck: true,
        play_json: String::new(),
        rules: None,
    }
}

/// Games of the first two agents. Each pair of games has its own dice.
pub(crate) fn games(count: u64) -> Vec<v1::GameAssignment> {
    (0..count)
        .map(|index| v1::GameAssignment {
            index,
            block: index / 2,
            seed: 0x5eed + index / 2 * 7919,
            seats: if index % 2 == 0 {
                vec![0, 1]
            } else {
                vec![1, 0]
            },
            attempts: 0,
            opening: Vec::new(),
            start: String::new(),
        })
        .collect()
}
