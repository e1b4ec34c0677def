//! Replays of records by the rules, without agents.

use std::{fmt::Display, path::Path};

use arena_model::{GameRecord, record::ParsedRecord};
use arena_report::{
    game::luck,
    records::{self, TournamentRecords},
};
use arena_worker::{AgentOptions, verify_record};

use crate::{
    access::Access,
    failure::{Failure, Outcome},
    game::fetch::{fetch, in_game},
    output::{self, Format},
    rerun::{Programs, Text, again_failed, texts},
};

/// Replays a stored game, and prints the result.
pub async fn replay_stored(access: &mut Access, id: &str, format: Format) -> Outcome {
    let game = fetch(&mut access.client, id).await?;
    let setup = game.setup.unwrap_or_default();
    if setup.hash_only {
        return Err(Failure::usage(records::not_kept(&setup.tournament_id, id)));
    }
    let rules = TournamentRecords::new(&setup)?;
    let record = records::record(game.record.as_ref())?;
    let differs = |error: &dyn Display| Failure::differs(format!("game {id}: {error}"));
    rules.verify(&record).map_err(|failure| differs(&failure))?;
    if !rules.game.has_rules() {
        let programs = Programs::new(&[], Some(access))?;
        let options = AgentOptions::of_executable(std::env::current_exe()?).confined();
        let verified = verify_record(setup.clone(), &record, &*programs, &options).await;
        verified.map_err(|error| in_game(id, &again_failed(error)))?;
    }
    let line = rules.line(&record)?;
    print(id, &record, &line, format)
}

/// Replays the records of a file, and prints the results.
pub fn replay_file(file: &Path, format: Format) -> Outcome {
    texts(file)?
        .iter()
        .try_for_each(|text| replay_text(text, format))
}

fn replay_text(Text { place, text }: &Text, format: Format) -> Outcome {
    let differs = |error: &dyn std::fmt::Display| Failure::differs(format!("{place}: {error}"));
    let parsed = ParsedRecord::parse(text).map_err(|error| differs(&error))?;
    let id = parsed.game_id();
    if !parsed.has_events() {
        return Err(Failure::usage(format!(
            "{place}: the line has no moves: use `arena game rerun --file`, which plays game \
             {id} again and compares its hash"
        )));
    }
    let seats = parsed.seats().len();
    let (ruleset, version) = (parsed.ruleset(), parsed.rules_version());
    if let Some(digest) = parsed.rules_digest() {
        return Err(Failure::usage(format!(
            "{place}: the rules of {ruleset} are a package with the content {}: replay the game by \
             its id, with --data or --coordinator of a store that has it",
            &digest[..12]
        )));
    }
    let given = parsed.options();
    let (options, seats) = arena_games::resolve_version(ruleset, version, given, Some(seats))
        .map_err(|error| differs(&error))?;
    if let Some(name) = options.keys().find(|name| !given.contains_key(*name)) {
        let problem = format!("option \"{name}\" is missing: a record has every option");
        return Err(differs(&problem));
    }
    let game = arena_games::build_version(ruleset, version, &options, seats)
        .map_err(|error| differs(&error))?;
    let (_, record) = parsed.verify(&*game).map_err(|error| differs(&error))?;
    print(id, &record, text.trim(), format)
}

fn print(id: &str, record: &GameRecord, line: &str, format: Format) -> Outcome {
    match format {
        Format::Json | Format::Jsonl => output::document(line),
        Format::Csv => output::write(&format!("game_id,replays\n{id},true\n")),
        Format::Table => {
            let luck = |seat| format!("  seat {seat}{}\n", luck(record, seat));
            let luck: String = (0..record.luck.len()).map(luck).collect();
            let comma = if luck.is_empty() {
                " and"
            } else {
                ", luck and"
            };
            output::write(&format!(
                "{id} replays: {} plies; result{comma} hash are correct\n{luck}",
                record.plies
            ))
        }
    }
}
