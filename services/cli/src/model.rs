//! From what the coordinator tells of a tournament to rules and records.

use std::sync::Arc;

use arena_engine::AnyGame;
use arena_games::GamesError;
use arena_model::{GameRecord, RecordHeader, record::LineWriter};
use arena_wire::{convert, v1};

use crate::failure::{Failure, Outcome};

/// The rules of a tournament, and what the lines of its records share.
pub(crate) struct Rules {
    pub(crate) game: Arc<dyn AnyGame>,
    pub(crate) header: RecordHeader,
    lines: LineWriter,
    hash_only: bool,
}

impl Rules {
    pub(crate) fn of(setup: &v1::TournamentSetup) -> Outcome<Self> {
        let seats = setup.seats as usize;
        let given = convert::options_from_wire(&setup.options);
        let (ruleset, version) = (&setup.ruleset, setup.rules_version);
        let (options, seats) = arena_games::resolve_version(ruleset, version, &given, Some(seats))
            .map_err(|error| unknown_rules(setup, error))?;
        let game = arena_games::build_version(ruleset, version, &options, seats)
            .map_err(|error| unknown_rules(setup, error))?;
        let agents = setup.agents.iter();
        let header = RecordHeader {
            tournament_id: setup.tournament_id.clone(),
            ruleset: setup.ruleset.clone(),
            rules_version: setup.rules_version,
            options,
            agents: agents.map(|agent| agent.name.clone()).collect(),
            setup: convert::record_setup(setup),
        };
        Ok(Self {
            game,
            lines: LineWriter::new(&header),
            hash_only: setup.hash_only,
            header,
        })
    }

    /// Checks a record against rules, seed and hash.
    pub(crate) fn verify(&self, record: &GameRecord) -> Outcome {
        self.header
            .verify(record, &*self.game)
            .map_err(Failure::differs)
    }

    /// Checks a record's events against rules and seed, and its result and luck
    /// against what follows from them. Where events are not kept there is nothing
    /// to check.
    pub(crate) fn check(&self, record: &GameRecord) -> Outcome {
        if self.hash_only {
            return Ok(());
        }
        record.check(&*self.game).map_err(|error| {
            Failure::differs(format!(
                "game {}/{}: {error}",
                self.header.tournament_id, record.index
            ))
        })
    }

    /// The record's line, with its hash, without a newline.
    pub(crate) fn line(&self, record: &GameRecord) -> Outcome<String> {
        let mut line = String::with_capacity(8192);
        self.lines
            .write(record, &*self.game, Some(&record.hash), &mut line)
            .map_err(|error| {
                Failure::differs(format!(
                    "game {}/{} cannot be replayed: {error}",
                    self.header.tournament_id, record.index
                ))
            })?;
        Ok(line)
    }
}

impl Rules {
    /// A record's line whose events are not kept, or not wanted: `null` in
    /// their place, and the actions of an opening. Its hash is that of the whole
    /// line.
    pub(crate) fn short_line(&self, record: &GameRecord) -> Outcome<String> {
        let short = GameRecord {
            events: Vec::new(),
            ..record.clone()
        };
        let line = self.line(&short)?;
        let opening = record.opening();
        let events = if opening.is_empty() {
            "\"events\":null".to_owned()
        } else {
            let actions: Vec<String> = opening.iter().map(ToString::to_string).collect();
            format!("\"events\":null,\"opening\":[{}]", actions.join(","))
        };
        Ok(line.replacen("\"events\":[]", &events, 1))
    }
}

/// Names the tournament whose rules are not there.
fn unknown_rules(setup: &v1::TournamentSetup, error: GamesError) -> Failure {
    Failure::failed(format!("tournament {}: {error}", setup.tournament_id))
}

/// Tells that the moves of a game are not there.
pub(crate) fn not_kept(tournament: &str, game: &str) -> String {
    format!(
        "tournament {tournament} keeps no moves (records = \"hash\"): \
         arena game rerun {game} plays a game again and compares its hash"
    )
}

/// A record from its message.
pub(crate) fn record(message: Option<&v1::GameRecord>) -> Outcome<GameRecord> {
    let Some(message) = message else {
        return Err(Failure::failed(
            "the coordinator sent a game without its record",
        ));
    };
    GameRecord::try_from(message).map_err(Failure::failed)
}
