//! `arena game …`, and what `arena play` shares with it.

mod compare;
mod list;
mod show;
mod told;

use std::{fs::File, io::Read, path::PathBuf};

use arena_model::{GameRecord, record::ParsedRecord};
use arena_wire::v1;
use clap::{Args, Subcommand};
use tonic::Code;

use crate::{
    access::{AccessArgs, Client},
    failure::{Failure, Outcome},
    model::{self, Rules},
    output::{self, Format, note},
    units,
    workers::Builtin,
};

pub(crate) use show::{print_faults, print_record};
pub(crate) use told::{Told, play};

/// List, show, replay and rerun games of a tournament
#[derive(Debug, Subcommand)]
pub(crate) enum GameCommand {
    /// List the finished games of a tournament
    List(list::ListArgs),
    /// Show one game, event by event
    #[command(after_help = "\
Examples:
  arena game show demo-3f9a0c1b22/17
  arena game show demo-3f9a0c1b22/17 --watch
  arena game show demo-3f9a0c1b22/17 --output json > game.json")]
    Show(ShowArgs),
    /// Apply a record again and check its hash; asks no agent
    #[command(after_help = "\
Exits with 3 where the record does not hold.

Examples:
  arena game replay demo-3f9a0c1b22/17
  arena game replay --file game.json")]
    Replay(ReplayArgs),
    /// Play a game again from its seed and compare; asks the agents
    #[command(after_help = "\
Exits with 3 where a ply differs, and names the first.

Examples:
  arena game rerun demo-3f9a0c1b22/17")]
    Rerun(RerunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Id of the game: TOURNAMENT/INDEX
    game: String,

    #[command(flatten)]
    access: AccessArgs,

    /// Draw the board before every move
    #[arg(long)]
    watch: bool,

    /// How to print; json is the game's record
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Id of the game: TOURNAMENT/INDEX
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    game: Option<String>,

    /// A record, as `arena export` writes it; several lines are several games,
    /// - is stdin
    #[arg(long, value_name = "RECORD")]
    file: Option<PathBuf>,

    #[command(flatten)]
    access: AccessArgs,

    /// How to print; json is the game's record
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RerunArgs {
    /// Id of the game: TOURNAMENT/INDEX
    game: String,

    #[command(flatten)]
    access: AccessArgs,

    /// How the papers' agents are run
    #[arg(long, value_enum, default_value_t)]
    builtin: Builtin,

    /// How to print; json is the record of the rerun
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl GameCommand {
    pub(crate) async fn run(self) -> Outcome {
        match self {
            Self::List(args) => args.run().await,
            Self::Show(args) => {
                let mut access = args.access.open().await?;
                let outcome = args.show(&mut access.client).await;
                outcome.and(access.close().await)
            }
            Self::Replay(args) => match &args.file {
                Some(file) => args.replay_file(file),
                None => {
                    let mut access = args.access.open().await?;
                    let outcome = args.replay_stored(&mut access.client).await;
                    outcome.and(access.close().await)
                }
            },
            Self::Rerun(args) => args.rerun().await,
        }
    }
}

/// A finished game and its tournament's setup.
async fn fetch(client: &mut Client, id: &str) -> Outcome<v1::GetGameResponse> {
    let _: arena_model::GameId = id.parse().map_err(Failure::usage)?;
    let request = v1::GetGameRequest {
        game_id: id.to_owned(),
    };
    Ok(client.get_game(request).await?.into_inner())
}

impl ShowArgs {
    async fn show(&self, client: &mut Client) -> Outcome {
        let game = fetch(client, &self.game).await?;
        let setup = game.setup.unwrap_or_default();
        let rules = Rules::of(&setup)?;
        let record = model::record(game.record.as_ref())?;
        if setup.hash_only {
            show::print_short(&rules, &record, self.output)?;
            note(model::not_kept(&setup.tournament_id, &self.game));
        } else {
            print_record(&rules, &record, self.output, self.watch)?;
        }
        if self.output == Format::Table {
            show::print_details(&setup, &record, &game.fault_details);
        }
        Ok(())
    }
}

impl ReplayArgs {
    async fn replay_stored(&self, client: &mut Client) -> Outcome {
        let id = self.game.as_deref().unwrap_or_default();
        let game = fetch(client, id).await?;
        let setup = game.setup.unwrap_or_default();
        if setup.hash_only {
            return Err(Failure::usage(model::not_kept(&setup.tournament_id, id)));
        }
        let rules = Rules::of(&setup)?;
        let record = model::record(game.record.as_ref())?;
        rules
            .header
            .verify(&record, &*rules.game)
            .map_err(|error| Failure::differs(format!("game {id}: {error}")))?;
        let line = rules.line(&record)?;
        self.tell(id, &record, &line)
    }

    fn replay_file(&self, file: &PathBuf) -> Outcome {
        let mut bytes = Vec::new();
        if file.as_os_str() == "-" {
            std::io::stdin().read_to_end(&mut bytes)
        } else {
            File::open(file).and_then(|mut file| file.read_to_end(&mut bytes))
        }
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
        // What is no text is no record either, and is told as that.
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        if lines.is_empty() {
            return Err(Failure::usage(format!(
                "{} holds no record",
                file.display()
            )));
        }
        // A record may also be spread over lines, as `jq` writes it.
        if lines.len() > 1 && ParsedRecord::parse(&text).is_ok() {
            return self.replay_line(&text, &file.display().to_string());
        }
        for (number, line) in lines.iter().enumerate() {
            self.replay_line(line, &format!("{} line {}", file.display(), number + 1))?;
        }
        Ok(())
    }

    fn replay_line(&self, text: &str, place: &str) -> Outcome {
        let differs = |error: &dyn std::fmt::Display| Failure::differs(format!("{place}: {error}"));
        let parsed = ParsedRecord::parse(text).map_err(|error| match short_line(text) {
            Some(id) => Failure::usage(format!(
                "{place}: {}",
                model::not_kept(id.rsplit_once('/').map_or(&id, |(of, _)| of), &id)
            )),
            None => differs(&error),
        })?;
        let seats = parsed.seats().len();
        let game = arena_games::resolve(parsed.ruleset(), parsed.options(), Some(seats))
            .and_then(|(options, seats)| arena_games::build(parsed.ruleset(), &options, seats))
            .map_err(|error| differs(&error))?;
        let (_, record) = parsed.verify(&*game).map_err(|error| differs(&error))?;
        self.tell(parsed.game_id(), &record, text.trim())
    }

    fn tell(&self, id: &str, record: &GameRecord, line: &str) -> Outcome {
        match self.output {
            Format::Json | Format::Jsonl => output::write(&format!("{line}\n")),
            Format::Csv => output::write(&format!("game_id,replays\n{id},true\n")),
            Format::Table => {
                let seats = 0..record.luck.len();
                let luck: String = seats
                    .map(|seat| format!("  seat {seat}{}\n", show::luck(record, seat)))
                    .collect();
                let what = if luck.is_empty() {
                    "result and hash"
                } else {
                    "result, luck and hash"
                };
                output::write(&format!(
                    "{id} replays: {} plies, {what} hold\n{luck}",
                    record.plies
                ))
            }
        }
    }
}

/// The game's id, where this is a line whose events are not kept.
fn short_line(text: &str) -> Option<String> {
    let line: serde_json::Value = serde_json::from_str(text).ok()?;
    let id = line.get("game_id")?.as_str()?;
    line.get("events")?.is_null().then(|| id.to_owned())
}

/// The actions of the opening that a game began with.
fn opening(record: &arena_model::GameRecord) -> Vec<u32> {
    let actions = record.events.iter().filter(|event| event.is_action());
    let ids = actions.map(|event| u32::from(event.id()));
    ids.take(record.opening_plies as usize).collect()
}

impl RerunArgs {
    async fn rerun(self) -> Outcome {
        let mut access = self.access.open().await?;
        let outcome = self.compare(&mut access).await;
        outcome.and(access.close().await)
    }

    /// Fails where an endpoint that played was registered anew or removed since: what
    /// answers there now is another agent. The exact content of a binary is kept.
    async fn check_endpoints(
        &self,
        client: &mut Client,
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
                    "endpoint {} played before registrations were kept: whether the same agent \
                     still answers there is not known",
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
                0 => "it was removed since".to_owned(),
                at => format!("it was registered again {}", units::utc(at)),
            };
            return Err(Failure::usage(format!(
                "game {} was played by agent \"{}\" at endpoint {}, registered {}; {since}, so \
                 what answers there now is another agent and is not asked: use arena game replay",
                self.game,
                played.name,
                played.url,
                units::utc(played.registered_unix_us),
            )));
        }
        Ok(())
    }

    async fn compare(&self, access: &mut crate::access::Access) -> Outcome {
        let game = fetch(&mut access.client, &self.game).await?;
        let mut setup = game.setup.unwrap_or_default();
        let rules = Rules::of(&setup)?;
        let stored = model::record(game.record.as_ref())?;
        self.check_endpoints(&mut access.client, &setup, &stored)
            .await?;
        // The game that is played here is wanted whole.
        let hash_only = std::mem::take(&mut setup.hash_only);
        let assignment = v1::GameAssignment {
            index: stored.index,
            block: stored.block,
            seed: stored.seed.0,
            seats: stored.seats.iter().map(|&agent| agent.into()).collect(),
            attempts: 0,
            opening: opening(&stored),
        };
        let told = Told::new(setup, access.url.clone());
        let again = play(&told, &assignment, self.builtin).await?;
        if again.record == stored || hash_only && again.record.hash == stored.hash {
            return match self.output {
                Format::Json | Format::Jsonl => {
                    output::write(&format!("{}\n", rules.line(&again.record)?))
                }
                Format::Csv => output::write(&format!("game_id,same\n{},true\n", self.game)),
                Format::Table => output::write(&format!(
                    "{}: the agents played the same game again, {} plies, same hash\n",
                    self.game, stored.plies
                )),
            };
        }
        if matches!(self.output, Format::Json | Format::Jsonl) {
            output::write(&format!("{}\n", rules.line(&again.record)?))?;
        }
        // Whether the agent changed or never plays alike shows in a third game.
        let third = play(&told, &assignment, self.builtin).await?;
        let stable = third.record == again.record;
        Err(Failure::differs(format!(
            "game {}: {}",
            self.game,
            if hash_only {
                compare::explain_hashes(&told.setup, &stored, &again.record, stable)
            } else {
                compare::explain(&rules, &told.setup, &stored, &again.record, stable)
            }
        )))
    }
}
