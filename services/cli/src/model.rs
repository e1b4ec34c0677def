//! From what the coordinator tells of a tournament to rules and records.

use std::sync::Arc;

use arena_engine::AnyGame;
use arena_model::{GameRecord, RecordHeader, record::LineWriter};
use arena_wire::{convert, v1};

use crate::failure::{Failure, Outcome};

/// The rules of a tournament, and what the lines of its records share.
pub(crate) struct Rules {
    pub(crate) game: Arc<dyn AnyGame>,
    pub(crate) header: RecordHeader,
    lines: LineWriter,
}

impl Rules {
    pub(crate) fn of(setup: &v1::TournamentSetup) -> Outcome<Self> {
        let seats = setup.seats as usize;
        let given = convert::options_from_wire(&setup.options);
        let (options, seats) =
            arena_games::resolve(&setup.ruleset, &given, Some(seats)).map_err(Failure::failed)?;
        let game = arena_games::build(&setup.ruleset, &options, seats).map_err(Failure::failed)?;
        if game.version() != setup.rules_version {
            return Err(Failure::failed(format!(
                "tournament {} was played by {} rules version {}, this program has version {}",
                setup.tournament_id,
                setup.ruleset,
                setup.rules_version,
                game.version()
            )));
        }
        let agents = setup.agents.iter();
        let header = RecordHeader {
            tournament_id: setup.tournament_id.clone(),
            ruleset: setup.ruleset.clone(),
            rules_version: setup.rules_version,
            options,
            agents: agents.map(|agent| agent.name.clone()).collect(),
        };
        Ok(Self {
            game,
            lines: LineWriter::new(&header),
            header,
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
    /// their place. Its hash is that of the whole line.
    pub(crate) fn short_line(&self, record: &GameRecord) -> Outcome<String> {
        let short = GameRecord {
            events: Vec::new(),
            ..record.clone()
        };
        let line = self.line(&short)?;
        Ok(line.replacen("\"events\":[]", "\"events\":null", 1))
    }
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
