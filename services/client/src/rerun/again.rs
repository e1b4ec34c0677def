//! Plays games again, by id or from a record only, and compares the records.

use arena_engine::{AnyGame, FaultKind, IllegalAction, Opening, Setup};
use arena_model::{
    GameRecord,
    record::{ParsedRecord, Program, RecordAgent},
    spec::GamePlay,
};
use arena_report::{
    game::seat_name,
    records::{self, TournamentRecords},
    units,
};
use arena_wire::{convert, v1};
use arena_worker::{AgentOptions, verify_record};
use tonic::Code;

use super::{
    compare,
    programs::Programs,
    resolved::{Played, again_failed, play_again},
    texts::Text,
};
use crate::{
    access::{Access, Client},
    failure::{Failure, Outcome},
    game::fetch::{fetch, in_game},
    output::{self, Format, note},
    registered,
    workers::Builtin,
};

/// How games are played again, and how results are printed.
#[derive(Clone, Copy, Debug)]
pub struct Rerun<'a> {
    /// Programs of agents, as NAME=PATH.
    pub agents: &'a [String],
    /// How built-in agents run.
    pub builtin: Builtin,
    /// How results are printed.
    pub format: Format,
}

/// The original game.
struct Before<'a> {
    id: &'a str,
    stored: &'a GameRecord,
    /// True if only its hash can be compared.
    hash_only: bool,
    /// Why, if so.
    why_hash: &'static str,
}

impl Rerun<'_> {
    /// True if a record has a package that no `--agent` names.
    #[must_use]
    pub fn needs_packages(&self, texts: &[Text]) -> bool {
        let is_given = |name: &str| {
            let mut given = self.agents.iter().filter_map(|pair| pair.split_once('='));
            given.any(|(given, _)| given == name)
        };
        texts.iter().any(|text| {
            // An unreadable record is reported when it is played.
            let parsed = ParsedRecord::parse(&text.text).ok();
            parsed.is_some_and(|parsed| {
                if parsed.rules_digest().is_some() {
                    return true;
                }
                let agents = parsed.setup().map_or(&[][..], |(agents, _)| agents);
                let mut seats = parsed.seats().iter().zip(agents);
                seats.any(|(name, agent)| agent.program == Program::Package && !is_given(name))
            })
        })
    }

    /// Plays the games of records again, with the packages of a store if one is given.
    pub async fn rerun_texts(&self, texts: &[Text], mut access: Option<&mut Access>) -> Outcome {
        let programs = Programs::new(self.agents, access.as_deref())?;
        for text in texts {
            let client = access.as_deref_mut().map(|access| &mut access.client);
            let game = Game::read(text, &programs, client).await?;
            let before = Before {
                id: game.parsed.game_id(),
                stored: &game.stored,
                hash_only: !game.has_events(),
                why_hash: match game.parsed.has_events() {
                    true => "a line does not contain the states of a package's game",
                    false => "the line has no moves",
                },
            };
            let (setup, assignment) = (&game.setup, &game.assignment);
            let again =
                async || play_again(setup, assignment, self.builtin, programs.clone()).await;
            let again = async || {
                again()
                    .await
                    .map_err(|failure| in_game(before.id, &failure))
            };
            self.compare(&before, &game.rules, setup, &programs, again)
                .await?;
        }
        Ok(())
    }

    /// Plays a stored game again.
    pub async fn rerun_stored(&self, access: &mut Access, id: &str) -> Outcome {
        let game = fetch(&mut access.client, id).await?;
        let mut setup = game.setup.unwrap_or_default();
        let rules = TournamentRecords::new(&setup)?;
        let stored = records::record(game.record.as_ref())?;
        rules.check(&stored)?;
        check_endpoints(&mut access.client, id, &setup, &stored).await?;
        // The new game is needed with its moves.
        let hash_only = std::mem::take(&mut setup.hash_only);
        let assignment = assignment(&stored, stored.opening());
        let programs = Programs::new(&[], Some(access))?;
        let before = Before {
            id,
            stored: &stored,
            hash_only,
            why_hash: "the tournament stores no moves (records = \"hash\")",
        };
        let again = async || play_again(&setup, &assignment, self.builtin, programs.clone()).await;
        let again = async || again().await.map_err(|failure| in_game(id, &failure));
        self.compare(&before, &rules, &setup, &programs, again)
            .await
    }

    /// Plays a game again, prints the result, and fails if it differs from the original.
    async fn compare(
        &self,
        before: &Before<'_>,
        rules: &TournamentRecords,
        setup: &v1::TournamentSetup,
        programs: &Programs,
        play: impl AsyncFn() -> Outcome<Played>,
    ) -> Outcome {
        let (id, stored) = (before.id, before.stored);
        let again = play().await?;
        let same_hash = again.record.hash == stored.hash;
        let is_same = again.record == *stored || before.hash_only && same_hash;
        if matches!(self.format, Format::Json | Format::Jsonl) {
            output::document(&rules.line(&again.record)?)?;
        } else if is_same {
            output::write(&match self.format {
                Format::Csv => format!("game_id,same\n{id},true\n"),
                _ => format!(
                    "{id}: the agents played the same game again, {} plies, same hash\n",
                    stored.plies
                ),
            })?;
        }
        if is_same {
            return Ok(());
        }
        before.check_reached(setup, &again)?;
        // A package that does not allow the recorded game is at fault itself.
        if setup.rules.is_some() && !before.hash_only {
            let options = AgentOptions::of_executable(std::env::current_exe()?).confined();
            let verified = verify_record(setup.clone(), stored, programs, &options).await;
            verified.map_err(|error| in_game(id, &again_failed(error)))?;
        }
        // A third game shows whether the agent changed or is non-deterministic.
        let third = play().await?;
        let stable = third.record == again.record;
        let why = if before.hash_only {
            compare::explain_hashes(before.why_hash, setup, stored, &again.record, stable)
        } else {
            compare::explain(rules, setup, stored, &again.record, stable)
        };
        Err(Failure::differs(format!("game {id}: {why}")))
    }
}

impl Before<'_> {
    /// Fails if an agent did not play because it did not start or is not reachable from
    /// here. This is no evidence of how it plays.
    fn check_reached(&self, setup: &v1::TournamentSetup, again: &Played) -> Outcome {
        let faults = again.record.faults.iter().zip(&again.fault_details);
        let absent = faults.into_iter().find(|(fault, _)| {
            let is_absence = matches!(fault.kind, FaultKind::NotReady | FaultKind::Disconnected);
            is_absence && !self.stored.faults.contains(fault)
        });
        let Some((fault, detail)) = absent else {
            return Ok(());
        };
        let name = seat_name(setup, self.stored, usize::from(fault.seat));
        Err(Failure::unreachable(format!(
            "game {}: cannot ask agent {name} ({}), so it is unknown whether it plays as before; \
             once it runs here, run the same command again",
            self.id, detail.message
        )))
    }
}

/// Fails if an endpoint was registered again or removed since the game: the agent at that
/// address is another one. The exact content of a binary is stored.
async fn check_endpoints(
    client: &mut Client,
    game: &str,
    setup: &v1::TournamentSetup,
    stored: &GameRecord,
) -> Outcome {
    for &seat in &stored.seats {
        let agent = setup.agents.get(usize::from(seat));
        let source = agent.and_then(|agent| agent.source.as_ref());
        let Some(v1::agent_setup::Source::Endpoint(played)) = source else {
            continue;
        };
        if played.registered_unix_us == 0 {
            note(format!(
                "endpoint {} played before registrations were stored: whether the same agent \
                 still answers there is unknown",
                played.url
            ));
            continue;
        }
        let request = v1::GetAgentRequest {
            name: played.name.clone(),
        };
        let now = match client.get_agent(request).await {
            Ok(answer) => answer.into_inner().agent.unwrap_or_default(),
            Err(status) if status.code() == Code::NotFound => v1::Agent::default(),
            Err(status) => return Err(status.into()),
        };
        if now.registered_unix_us == played.registered_unix_us {
            continue;
        }
        let since = match now.registered_unix_us {
            0 => "it has been removed since".to_owned(),
            at => format!("it has been registered again {}", units::utc(at)),
        };
        return Err(Failure::usage(format!(
            "game {game} was played by agent \"{}\" at endpoint {}, registered {}; {since}, so \
             another agent answers there now, and is not asked: use `arena game replay`",
            played.name,
            played.url,
            units::utc(played.registered_unix_us),
        )));
    }
    Ok(())
}

fn assignment(record: &GameRecord, opening: Vec<u16>) -> v1::GameAssignment {
    v1::GameAssignment {
        index: record.index,
        block: record.block,
        seed: record.seed.0,
        seats: record.seats.iter().map(|&agent| agent.into()).collect(),
        attempts: 0,
        opening: opening.into_iter().map(Into::into).collect(),
        start: record.start.as_deref().unwrap_or_default().to_owned(),
    }
}

/// A game as described by its line.
struct Game {
    parsed: ParsedRecord,
    setup: v1::TournamentSetup,
    rules: TournamentRecords,
    stored: GameRecord,
    assignment: v1::GameAssignment,
}

impl Game {
    /// True if its moves can be compared. A line names the moves of a package, and not their ids.
    fn has_events(&self) -> bool {
        self.parsed.has_events() && self.parsed.rules_digest().is_none()
    }

    /// Reads a line. `client` is a store that may have the package of its rules.
    async fn read(text: &Text, programs: &Programs, client: Option<&mut Client>) -> Outcome<Self> {
        let place = &text.place;
        let differs = |error: &dyn std::fmt::Display| Failure::differs(format!("{place}: {error}"));
        let usage = |error: &dyn std::fmt::Display| Failure::usage(format!("{place}: {error}"));
        let parsed = ParsedRecord::parse(&text.text).map_err(|error| differs(&error))?;
        let Some((agents, play)) = parsed.setup() else {
            return Err(usage(&format!(
                "{} is a record of version 1, which does not identify its agents: rerun it by its \
                 id with --data or --coordinator",
                parsed.game_id()
            )));
        };
        let mut setup = setup(&parsed, play);
        if let Some(digest) = parsed.rules_digest() {
            let Some(client) = client else {
                let (name, content) = (parsed.ruleset(), digest.get(..12).unwrap_or(digest));
                return Err(usage(&format!(
                    "the rules of {name} are a package with the content {content}: name a store \
                     where it is registered with --data or --coordinator"
                )));
            };
            let rules = registered::of_content(client, parsed.ruleset(), digest).await;
            setup.rules = Some(rules.map_err(|failure| usage(&failure))?);
        }
        let rules = TournamentRecords::new(&setup).map_err(|failure| usage(&failure))?;
        let stored = if parsed.has_events() && parsed.rules_digest().is_none() {
            let verified = parsed.verify(&*rules.game);
            verified.map_err(|error| differs(&error))?.1
        } else {
            if rules.game.has_rules() {
                check_opening(&parsed, &*rules.game).map_err(|error| differs(&error))?;
            }
            let mut stated = parsed.stated_result();
            hex::decode_to_slice(parsed.stated_hash(), &mut stated.hash)
                .map_err(|error| differs(&format!("\"hash\": {error}")))?;
            stated
        };
        for (name, agent) in parsed.seats().iter().zip(agents) {
            check_native(&rules, name, agent).map_err(|failure| usage(&failure))?;
            let source = programs.source(name, agent).await;
            setup.agents.push(v1::AgentSetup {
                name: name.clone(),
                bot: agent.bot.clone(),
                options: convert::options_to_wire(&agent.options),
                // The game itself shows whether it is deterministic.
                deterministic: true,
                source: Some(source.map_err(|failure| usage(&failure))?),
                record_json: agent.to_json(),
                ..v1::AgentSetup::default()
            });
        }
        // The lines name the agents of the game.
        let rules = TournamentRecords::new(&setup)?;
        Ok(Self {
            assignment: assignment(&stored, parsed.opening()),
            parsed,
            setup,
            rules,
            stored,
        })
    }
}

/// Checks the opening of a line that has no other moves.
fn check_opening(parsed: &ParsedRecord, game: &dyn AnyGame) -> Result<(), IllegalAction> {
    let (_, _, seed) = parsed.place();
    let names: Vec<&str> = parsed.seats().iter().map(String::as_str).collect();
    let setup = Setup {
        ask_forced: true,
        ..Setup::new(seed.keys(&names), Opening::Given(parsed.opening()))
    };
    game.open(setup).map(drop)
}

/// A tournament of one game, without agents.
fn setup(parsed: &ParsedRecord, play: &GamePlay) -> v1::TournamentSetup {
    let header = parsed.header();
    v1::TournamentSetup {
        tournament_id: header.tournament_id,
        ruleset: header.ruleset,
        rules_version: header.rules_version,
        options: convert::options_to_wire(&header.options),
        seats: parsed.seats().len() as u32,
        play: Some(play.into()),
        luck: true,
        play_json: header.setup.map(|setup| setup.play).unwrap_or_default(),
        ..v1::TournamentSetup::default()
    }
}

/// Checks that this program has the bot that the record names.
fn check_native(rules: &TournamentRecords, name: &str, agent: &RecordAgent) -> Outcome {
    if agent.program != Program::Native {
        return Ok(());
    }
    let header = &rules.header;
    let (bot, own, seats) = (&agent.bot, &agent.options, rules.game.seats());
    // A worker checks bots for the rules of a package.
    if header.rules_digest.is_none() {
        arena_agents::check(bot, own, &header.ruleset, &header.options, seats)
            .map_err(|error| Failure::usage(format!("agent {name}: {error}")))?;
    }
    let own = arena_agents::serve::describe().version;
    if agent.version != own {
        note(format!(
            "agent {name} is a built-in bot of version {}, but this arena has version {own}",
            agent.version
        ));
    }
    Ok(())
}
