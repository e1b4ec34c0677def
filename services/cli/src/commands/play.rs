//! `arena play`

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use arena_client::{
    game::{
        boards::watched_package,
        show::{print_details, print_record},
    },
    human::{self, Human},
    rerun::{self, Resolved},
};
use arena_engine::{Opening, Setup, options::Value as OptionValue};
use arena_model::{
    AgentName, BlockSeed, seat,
    spec::{Clock, Play},
};
use arena_report::records::TournamentRecords;
use arena_wire::v1::{self, agent_setup::Source};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::{book, game, options};
use crate::{
    access::AccessArgs,
    failure::{Failure, Kind, Outcome},
    output::{Format, note},
    workers::Builtin,
};

/// Play one game, given a ruleset and the seats
#[derive(Debug, Args)]
#[command(after_help = "\
A seat is the name of a registered or built-in agent, or a variant:
NAME=BOT(KEY=VALUE,…). The seat \"human\" is asked on this terminal, with Tab to complete a
move, and without a time limit unless one is given; the board is shown on stderr. After a
fault of an agent, the game ends or continues as --on-fault says; the fault is printed;
the exit code stays 0. An agent's random draws depend on its name: to reproduce a game of
a tournament, use the names of the tournament. The moves are then the same. The hash
differs, because a record contains the id of its tournament.

Examples:
  arena play --ruleset cowry --seed 0x5eed --seats random,aggressive --watch
  arena play --ruleset cowry --option board=7 --seed 1 --seats random,random-2=random
  arena play --ruleset kalah --seed 7 --seats 'a=kalah-alphabeta(depth=8),random' --output json
  arena play --ruleset cowry --seats human,expectimax
  arena play --ruleset kalah --opening 2,5 --seed 7 --seats greedy,random
  arena play --ruleset chess --book openings.epd --seed 7 --seats greedy,random")]
pub(crate) struct PlayArgs {
    /// Name of the ruleset
    #[arg(long)]
    ruleset: String,

    /// Set an option of the ruleset; may be repeated
    #[arg(long = "option", value_name = "KEY=VALUE")]
    options: Vec<String>,

    /// Seed of the game: 0x and up to 16 hex digits, or a decimal number [default: drawn, and shown]
    #[arg(long, value_name = "0x…")]
    seed: Option<BlockSeed>,

    /// Agents in seat order, separated by commas
    #[arg(long, value_name = "A,B,…")]
    seats: String,

    /// Number of random opening moves, drawn from the seed
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    opening_plies: u32,

    /// Opening moves by number, as in the "action" fields of a record
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        conflicts_with = "opening_plies"
    )]
    opening: Vec<u16>,

    /// Opening book in EPD, PGN, or lines of moves; the seed draws one of its openings
    #[arg(long, value_name = "FILE", conflicts_with_all = ["opening_plies", "opening"])]
    book: Option<PathBuf>,

    /// Number of moves that are taken from a game of the book
    #[arg(long, value_name = "N", requires = "book", value_parser = clap::value_parser!(u32).range(1..=1000))]
    book_plies: Option<u32>,

    /// Time limit for one decision of an agent process [default: 2s; a day if a person plays]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    move_timeout: Option<Duration>,

    /// Time of each seat for all its moves: "10s+0.1s" or "40/60s"
    #[arg(long, value_name = "CLOCK", conflicts_with = "move_timeout")]
    clock: Option<Clock>,

    /// Time for each move of a seat
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with_all = ["move_timeout", "clock"])]
    move_time: Option<Duration>,

    /// Number of positions that agents may search for each move; Arena passes it on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Consequence of a fault
    #[arg(long, value_enum, default_value_t)]
    on_fault: OnFault,

    /// How to run built-in agents
    #[arg(long, value_enum, default_value_t)]
    builtin: Builtin,

    #[command(flatten)]
    access: AccessArgs,

    #[command(flatten)]
    watch: game::WatchArgs,

    /// Output format; json prints the game's record
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// Time of a person for a move.
const PERSON_TIME: Duration = Duration::from_secs(24 * 3600);
/// The bot in the place of a person while the spec is resolved.
const STAND_IN: &str = "random";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OnFault {
    #[default]
    Forfeit,
    RandomMove,
}

impl PlayArgs {
    pub(crate) async fn run(mut self) -> Outcome {
        let seed = self.seed()?;
        self.draw_opening(seed)?;
        let spec = self.spec()?;
        // The seats are resolved as for a tournament.
        let resolved = Resolved::resolve(&self.access, &spec).await;
        let mut resolved = resolved.map_err(|failure| self.hint(failure))?;
        if let Some(play) = &mut resolved.setup.play {
            // A single game has no opening book: its seed determines the opening.
            play.opening_plies = self.opening_plies;
        }
        let mut person = None;
        if self.has_person()? {
            let seated = Human::sit_down(&resolved.setup).await?;
            for agent in &mut resolved.setup.agents {
                if agent.name == human::NAME {
                    agent.source = Some(Source::Endpoint(v1::EndpointSource {
                        url: seated.url.clone(),
                        ..v1::EndpointSource::default()
                    }));
                    agent.bot.clear();
                    agent.options.clear();
                    agent.omit_move_details = false;
                    agent.deterministic = false;
                }
            }
            person = Some(seated);
        }
        let outcome = match &mut person {
            None => self.play(&resolved, seed).await,
            Some(person) => tokio::select! {
                outcome = self.play(&resolved, seed) => outcome,
                () = person.quits() => Err(Failure::new(
                    Kind::Interrupted,
                    "stopped: the game is not finished",
                )),
            },
        };
        outcome.and(resolved.close().await)
    }

    /// The seed that was given, or a new one, which a note names.
    fn seed(&self) -> Outcome<BlockSeed> {
        if let Some(seed) = self.seed {
            return Ok(seed);
        }
        let mut bytes = [0; 8];
        let filled = getrandom::fill(&mut bytes);
        let failed = "the system provides no random numbers for a seed; use --seed";
        filled.map_err(|error| Failure::failed(format!("{failed}: {error}")))?;
        let seed = BlockSeed(u64::from_le_bytes(bytes));
        note(format!("a drawn seed: --seed {seed} plays this game again"));
        Ok(seed)
    }

    /// Draws an opening of the book. Its start position becomes an option.
    fn draw_opening(&mut self, seed: BlockSeed) -> Outcome {
        let Some(file) = &self.book else {
            return Ok(());
        };
        let options = options::pairs(&self.options, "board=7")?;
        let options = options
            .into_iter()
            .map(|(name, value)| (name, OptionValue::Text(value)));
        let seats = split_seats(&self.seats)?.len();
        let game = book::rules(
            &self.ruleset,
            &options.collect(),
            Some(seats),
            "remove --book",
        )?;
        let opening = book::draw(file, self.book_plies, seed, &*game)?;
        if let (Some(start), Some(option)) = (opening.start, game.start_option()) {
            self.options.push(format!("{option}={start}"));
        }
        self.opening = opening.moves;
        Ok(())
    }

    /// Adds where rulesets can be that this program does not have, if no such place is named.
    fn hint(&self, failure: Failure) -> Failure {
        let is_known = { arena_games::rulesets().iter() }.any(|it| it.name == self.ruleset);
        if is_known || self.access.leads_somewhere() {
            return failure;
        }
        let more = "for a package, register it with `arena rulesets register NAME --package PATH`, and \
                    add --data FOLDER or --coordinator URL";
        Failure::new(failure.kind(), format!("{failure}; {more}"))
    }

    /// True if a seat is a person's.
    fn has_person(&self) -> Outcome<bool> {
        let seats = split_seats(&self.seats)?;
        Ok(seats.iter().any(|seat| seat == human::NAME))
    }

    /// Checks that the rules of the game allow the opening, and returns them.
    fn check_opening(&self, resolved: &Resolved, seed: BlockSeed) -> Outcome<TournamentRecords> {
        let rules = TournamentRecords::new(&resolved.setup)?;
        let agents = resolved.setup.agents.iter();
        let names: Vec<&str> = agents.map(|agent| agent.name.as_str()).collect();
        let opening = Opening::Given(self.opening.clone());
        let setup = Setup {
            ask_forced: true,
            ..Setup::new(seed.keys(&names), opening)
        };
        let hint = "`arena game show` lists the moves of a game";
        if !rules.game.has_rules() {
            // The game itself refuses a wrong opening.
            return Ok(rules);
        }
        match rules.game.open(setup) {
            Ok(_) => Ok(rules),
            Err(error) => Err(Failure::usage(format!("--opening: {error}; {hint}"))),
        }
    }

    async fn play(&self, resolved: &Resolved, seed: BlockSeed) -> Outcome {
        let rules = self.check_opening(resolved, seed)?;
        let assignment = v1::GameAssignment {
            seed: seed.0,
            seats: (0..resolved.setup.seats).collect(),
            opening: self.opening.iter().map(|&action| action.into()).collect(),
            ..v1::GameAssignment::default()
        };
        let binaries = resolved.binaries.clone();
        let played = rerun::play(&resolved.setup, &assignment, self.builtin, binaries).await?;
        let (setup, record) = (&resolved.setup, &played.record);
        let watch = (&self.watch).into();
        let programs = Arc::clone(&resolved.binaries);
        let package = watched_package(setup, programs, self.output, watch).await;
        let package = package.as_ref().map(AsRef::as_ref);
        print_record(&rules, record, self.output, watch, package)?;
        print_details(&resolved.setup, &played.record, &played.fault_details);
        Ok(())
    }

    fn move_timeout(&self, has_person: bool) -> Duration {
        let default = if has_person {
            PERSON_TIME
        } else {
            Play::default().move_timeout
        };
        self.move_timeout.unwrap_or(default)
    }

    /// The game as a tournament of one block, in the order of the seats.
    fn spec(&self) -> Outcome<String> {
        let options = options::pairs(&self.options, "board=7")?;
        let options: BTreeMap<String, String> = options.into_iter().collect();
        let (mut names, mut variants) = (Vec::<String>::new(), Vec::new());
        for seat in split_seats(&self.seats)? {
            // A bot that plays every ruleset holds the place of a person.
            let seat = match seat.as_str() {
                human::NAME => format!("{}={STAND_IN}", human::NAME),
                _ => seat,
            };
            let (name, variant) = seat::parse(&seat).map_err(Failure::usage)?;
            if let Err(error) = name.parse::<AgentName>() {
                return Err(Failure::usage(format!(
                    "--seats: {error}; a program has to be registered first, with `arena agent \
                     register NAME --binary PATH`"
                )));
            }
            if names.contains(&name) {
                return Err(Failure::usage(format!(
                    "--seats names \"{name}\" twice: give the second one another name, such as \
                     {name}-2={name}"
                )));
            }
            names.push(name);
            variants.extend(variant);
        }
        let has_person = self.has_person()?;
        let milliseconds = |time: Duration| format!("{}ms", time.as_millis());
        let mut spec = json!({
            "name": "play",
            "ruleset": self.ruleset,
            "seed": "0x0",
            "blocks": 1,
            "seats": names.len(),
            "agents": names,
            "options": options,
            "agent": variants,
            "play": {
                "rotate": false,
                "opening_plies": self.opening_plies,
                "move_timeout": milliseconds(self.move_timeout(has_person)),
                "on_fault": match self.on_fault {
                    OnFault::Forfeit => "forfeit",
                    OnFault::RandomMove => "random-move",
                },
            },
        });
        let times: [(&str, Option<Value>); 3] = [
            ("clock", self.clock.map(|clock| clock.to_string().into())),
            (
                "move_time",
                self.move_time.map(|time| milliseconds(time).into()),
            ),
            ("nodes", self.nodes.map(Value::from)),
        ];
        if let Some(play) = spec["play"].as_object_mut() {
            let given = times
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?)));
            play.extend(given.collect::<Map<_, _>>());
        }
        toml::to_string(&spec).map_err(Failure::failed)
    }
}

/// A duration such as `2s` or `500ms`.
fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(duration) if duration >= Duration::from_millis(1) => Ok(duration),
        Ok(_) => Err("it must be at least 1ms".to_owned()),
        Err(_) => Err("expected a duration such as 2s or 500ms".to_owned()),
    }
}

/// Splits at commas outside parentheses.
fn split_seats(text: &str) -> Outcome<Vec<String>> {
    let wrong = |problem| Failure::usage(format!("--seats {text}: {problem}"));
    let (mut seats, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (place, c) in text.char_indices() {
        match c {
            ',' if depth == 0 => {
                seats.push(text[start..place].trim().to_owned());
                start = place + 1;
            }
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1).ok_or_else(|| wrong(") without ("))?,
            _ => {}
        }
    }
    if depth > 0 {
        return Err(wrong("( without )"));
    }
    seats.push(text[start..].trim().to_owned());
    Ok(seats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_split_outside_of_parentheses() {
        let seats = split_seats("a, b=x(k=1,j=2),c").map_err(|failure| failure.to_string());
        assert_eq!(
            seats.as_deref(),
            Ok(&["a".into(), "b=x(k=1,j=2)".into(), "c".into()][..])
        );
        assert!(split_seats("a(b").is_err());
        assert!(split_seats("a)b").is_err());
    }
}
