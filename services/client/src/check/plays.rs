//! The games of a check: decisions of an agent in play, in two processes.

use std::collections::{BTreeMap, BTreeSet};

use arena_model::GameRecord;
use arena_report::units;
use arena_wire::{convert, v1};
use arena_worker::{
    AgentOptions, play_games,
    supervise::{Limits, Outputs},
};
use itertools::Itertools;

use super::{
    Found, Report, Step,
    variants::{Variant, variants},
};
use crate::{
    failure::{Failure, Outcome},
    output::note,
    rules::Rules,
};

/// Number of games that differ only in their seeds, to find out whether an agent uses them.
const SEEDS: u64 = 20;
/// Name of the opponent: a bot with random moves, for positions that the agent alone would
/// not reach.
const OPPONENT: &str = "random";
/// Maximum number of lines shown of an agent's output before a fault.
const LINES_SHOWN: usize = 20;

/// An agent under check.
pub struct Checked<'a> {
    /// The agent.
    pub found: &'a Found,
    /// Its answer to `Describe`.
    pub description: &'a v1::DescribeResponse,
    /// The bot that is checked, one of the description.
    pub bot: &'a v1::Bot,
    /// True if the output of its processes is printed after a fault.
    pub show_output: bool,
    /// Positions that it may search for each move; 0: no limit.
    pub nodes: u64,
}

/// Problems that games have shown.
#[derive(Debug, Default)]
struct Problems {
    games: u64,
    faults: u64,
    /// False claims to be deterministic, and about the seed.
    not_deterministic: u64,
    wrong_seed_use: u64,
    /// Largest output of a process, in bytes, and the games after which it was reached.
    printed: (u64, u64),
}

/// The games of each variant, in this order.
#[derive(Clone, Copy)]
enum Game {
    /// The agent against itself.
    Alone,
    /// The agent against others.
    Others,
    /// The first game again, in the same process.
    Again,
}

/// Fails an agent that prints so much that it would reach the limit in play.
fn judge_output((bytes, games): (u64, u64)) -> Result<String, String> {
    let limit = Limits::default().output_bytes;
    let seen = format!(
        "{} KiB in {}",
        units::count(bytes >> 10),
        units::plural(games, "game")
    );
    match bytes <= limit / 16 {
        true => Ok(format!("at most {seen}")),
        false => Err(format!(
            "{seen}; workers end a process after {} MiB of output, and the third time within a \
             minute is the fault output_limit",
            limit >> 20
        )),
    }
}

impl Checked<'_> {
    /// Plays all variants of the rulesets. Returns the number of problems.
    pub async fn play(&self, rulesets: &[Rules], report: &mut Report) -> Outcome<u64> {
        let mut problems = Problems::default();
        for rules in rulesets {
            let required = convert::required_options(self.bot, rules.name());
            let mut seen = BTreeSet::new();
            for (place, variant) in variants(rules, &required).iter().enumerate() {
                let is_right = self
                    .play_variant(rules, variant, &mut seen, &mut problems)
                    .await?;
                if place == 0 && is_right {
                    problems.wrong_seed_use += self.check_seeds(rules, variant).await?;
                }
            }
        }
        if self.found.file.is_some() {
            report.judge(Step::Output, judge_output(problems.printed));
        }
        let Problems {
            games,
            faults,
            not_deterministic,
            wrong_seed_use,
            ..
        } = problems;
        let judge = |count: u64, good: String, bad: &str| match count {
            0 => Ok(good),
            count => Err(units::plural(count, bad)),
        };
        let played = format!(
            "{} of {}",
            units::plural(games, "game"),
            rulesets.iter().map(Rules::name).join(", ")
        );
        report.judge(Step::Games, judge(faults, played, "fault"));
        if faults > 0 {
            // The steps that compare games have no result.
            return Ok(faults + not_deterministic + wrong_seed_use);
        }
        let same = match self.bot.deterministic {
            true => "the same games",
            false => "it does not claim to be",
        };
        let same = judge(
            not_deterministic,
            same.to_owned(),
            "variant with other games",
        );
        report.judge(Step::Determinism, same);
        let seeds = judge(
            wrong_seed_use,
            "as it claims".to_owned(),
            "ruleset with a wrong claim",
        );
        report.judge(Step::Seeds, seeds);
        Ok(faults + not_deterministic + wrong_seed_use)
    }

    /// Plays the games of a variant in two processes. False if there was a problem. The
    /// agent's output is not shown again for a message that is in `seen`.
    async fn play_variant(
        &self,
        rules: &Rules,
        variant: &Variant,
        seen: &mut BTreeSet<String>,
        problems: &mut Problems,
    ) -> Outcome<bool> {
        let games = Game::ALL.map(|game| game.assignment(variant));
        // One process plays all games at once, as workers do, and the other one after
        // another.
        let (first, second) = tokio::join!(
            self.games(rules, variant, &games, games.len()),
            self.games(rules, variant, &games, 1)
        );
        let (first, second) = (first?, second?);
        let name = &variant.name;
        problems.printed = problems.printed.max(first.printed());
        if self.show_output {
            first.note_processes(name);
            second.note_games(name);
        }
        let played = first.records.len() + second.records.len();
        problems.games += played as u64;
        // A fault in the second process usually is the fault of the first.
        let faults = match first.faults() {
            0 => second.faults() as u64,
            faults => faults as u64,
        };
        if faults > 0 {
            note(format!("{name}: {}", units::plural(faults, "fault")));
            first.note_details(seen);
            second.note_details(seen);
            problems.faults += faults;
            return Ok(false);
        }
        // An endpoint is assumed to be one process.
        let twice = match self.found.file.is_some() {
            true => "2 processes",
            false => "2 connections",
        };
        if let Some(differs) = difference(&first, &second, twice) {
            if self.bot.deterministic {
                let claim = "but its description says that it is deterministic";
                note(format!("{name}: {differs}, {claim}"));
                problems.not_deterministic += 1;
                return Ok(false);
            }
            note(format!("{name}: {differs}: its games cannot be rerun"));
        }
        note(format!(
            "{name}: {played} games in {twice}, {} plies, no fault",
            first.plies() + second.plies()
        ));
        Ok(true)
    }

    /// Plays games that differ only in their seeds; returns the number of false
    /// declarations.
    async fn check_seeds(&self, rules: &Rules, variant: &Variant) -> Outcome<u64> {
        let built = rules.build(&variant.options, variant.seats);
        let built = built.map_err(Failure::usage)?;
        if built.has_chance() {
            return Ok(0);
        }
        let games = (1..=SEEDS).map(|seed| v1::GameAssignment {
            index: seed,
            block: seed,
            seed,
            ..Game::Alone.assignment(variant)
        });
        let games: Vec<_> = games.collect();
        let played = self.games(rules, variant, &games, games.len()).await?;
        let courses = { played.records.values() }.map(GameRecord::course);
        let different = courses.collect::<BTreeSet<_>>().len();
        Ok(self.note_seed_use(rules.name(), games.len(), different))
    }

    /// Reports whether games with other seeds differed, and compares that with the bot's
    /// declaration. Returns the number of false declarations.
    fn note_seed_use(&self, ruleset: &str, games: usize, different: usize) -> u64 {
        let found = match different > 1 {
            true => format!("uses its seed ({different} different games with {games} seeds)"),
            false => format!("does not use its seed (the same game with each of {games} seeds)"),
        };
        let (wrong, remark) = match (self.bot.uses_seed(), different > 1) {
            (v1::SeedUse::No, true) => (1, ", but its description says otherwise (uses_seed = no)"),
            (v1::SeedUse::Yes, false) => (
                0,
                ", but its description says otherwise (uses_seed = yes); repeated games count \
                 only once",
            ),
            (v1::SeedUse::Unspecified, _) => (0, "; state this in the description (uses_seed)"),
            _ => (0, ""),
        };
        note(format!("{ruleset}: {found}{remark}"));
        wrong
    }

    /// Plays games in a process of their own.
    async fn games(
        &self,
        rules: &Rules,
        variant: &Variant,
        games: &[v1::GameAssignment],
        at_once: usize,
    ) -> Outcome<Games> {
        let setup = self.setup(rules, variant);
        let outputs = Outputs::default();
        let options = AgentOptions {
            outputs: Some(outputs.clone()),
            ..AgentOptions::of_executable(std::env::current_exe()?).confined()
        };
        let provider = self.found.provider_with(rules.file());
        let reports = play_games(setup, games.to_vec(), at_once, provider, options)
            .await
            .map_err(Failure::failed)?;
        Games::new(reports, outputs)
    }

    fn setup(&self, rules: &Rules, variant: &Variant) -> v1::TournamentSetup {
        let of_ruleset = |option: &&v1::BotOption| {
            option.rulesets.is_empty() || option.rulesets.iter().any(|known| known == rules.name())
        };
        let value = |option: &v1::BotOption| v1::OptionValue {
            name: option.name.clone(),
            value: option.default_value.clone(),
        };
        let options = self.bot.options.iter().filter(of_ruleset);
        let agent = v1::AgentSetup {
            name: "checked".to_owned(),
            bot: self.bot.name.clone(),
            options: options.map(value).collect(),
            batch_size: self.description.batch_size,
            omit_move_details: self.description.omit_move_details,
            deterministic: self.bot.deterministic,
            sticky: self.description.sticky,
            concurrent: self.description.concurrent,
            source: Some(self.found.setup_source()),
            ..v1::AgentSetup::default()
        };
        let opponent = v1::AgentSetup {
            name: OPPONENT.to_owned(),
            bot: OPPONENT.to_owned(),
            source: Some(v1::agent_setup::Source::Native(v1::NativeSource {})),
            ..v1::AgentSetup::default()
        };
        v1::TournamentSetup {
            tournament_id: "check".to_owned(),
            ruleset: rules.name().to_owned(),
            rules_version: rules.version(),
            rules: rules.as_package(),
            options: convert::options_to_wire(&variant.options),
            seats: variant.seats as u32,
            agents: vec![agent, opponent],
            play: Some(v1::PlaySettings {
                nodes: self.nodes,
                ..(&arena_model::spec::Play::default()).into()
            }),
            luck: true,
            ..v1::TournamentSetup::default()
        }
    }
}

impl Game {
    const ALL: [Self; 3] = [Self::Alone, Self::Others, Self::Again];

    fn name(self) -> &'static str {
        match self {
            Self::Alone => "a game against itself",
            Self::Others => "a game against random",
            Self::Again => "the first game, repeated",
        }
    }

    fn assignment(self, variant: &Variant) -> v1::GameAssignment {
        let seats = 0..variant.seats;
        v1::GameAssignment {
            index: self as u64,
            block: self as u64,
            seed: 1,
            seats: match self {
                Self::Alone | Self::Again => seats.map(|_| 0).collect(),
                Self::Others => seats.map(|seat| u32::from(seat > 0)).collect(),
            },
            ..v1::GameAssignment::default()
        }
    }
}

/// Games of one process, by index.
#[derive(Default)]
struct Games {
    records: BTreeMap<u64, GameRecord>,
    /// Details of faults, each with the name of its kind.
    details: Vec<(&'static str, v1::FaultDetail)>,
    /// Output of the games that were played alone.
    printed: Vec<(u64, v1::AgentOutput)>,
    outputs: Outputs,
}

impl Games {
    fn new(reports: Vec<v1::GameReport>, outputs: Outputs) -> Outcome<Self> {
        let mut games = Self {
            outputs,
            ..Self::default()
        };
        for report in reports {
            if !report.void_reason.is_empty() {
                return Err(Failure::failed(format!(
                    "the game could not be played: {}",
                    report.void_reason
                )));
            }
            let record = arena_report::records::record(report.record.as_ref())?;
            let printed = report.outputs.into_iter();
            let printed = printed.map(|output| (record.index, output));
            games.printed.extend(printed);
            for detail in report.fault_details {
                let same = { record.faults.iter() }.find(|it| u32::from(it.seat) == detail.seat);
                let kind = same.map_or("fault", |fault| fault.kind.name());
                games.details.push((kind, detail));
            }
            games.records.insert(record.index, record);
        }
        Ok(games)
    }

    fn faults(&self) -> usize {
        let records = self.records.values();
        records.map(|record| record.faults.len()).sum()
    }

    fn plies(&self) -> u64 {
        let records = self.records.values();
        records.map(|record| u64::from(record.plies)).sum()
    }

    /// Largest output of a process, in bytes, and the number of games.
    fn printed(&self) -> (u64, u64) {
        let processes = self.outputs.processes();
        let most = processes.iter().map(|it| it.total()).max().unwrap_or(0);
        (most, self.records.len() as u64)
    }

    /// Shows the output of each process.
    fn note_processes(&self, variant: &str) {
        let processes = self.outputs.processes();
        for (place, output) in processes.iter().enumerate() {
            let of = match processes.len() {
                1 => "one process".to_owned(),
                count => format!("process {} of {count}", place + 1),
            };
            let what = format!("{variant}: all games at once, {of}");
            note_printed(&what, &output.text(), output.total());
        }
    }

    /// Shows the output of each game.
    fn note_games(&self, variant: &str) {
        for (index, output) in &self.printed {
            let game = Game::ALL.into_iter().find(|&game| game as u64 == *index);
            let game = game.map_or("", Game::name);
            note_printed(&format!("{variant}: {game}"), &output.text, output.bytes);
        }
    }

    /// Shows the details of faults, each message once.
    fn note_details(&self, seen: &mut BTreeSet<String>) {
        for (kind, detail) in &self.details {
            if !seen.insert(detail.message.clone()) {
                continue;
            }
            note(format!("  {kind}: {}", detail.message));
            let lines: Vec<&str> = detail.stderr_tail.lines().collect();
            for line in &lines[lines.len().saturating_sub(LINES_SHOWN)..] {
                note(format!("    {line}"));
            }
        }
    }
}

/// Shows output with a total of `bytes` bytes.
fn note_printed(what: &str, text: &str, bytes: u64) {
    let shown = text.len() as u64;
    // The end of the last line is not shown.
    let last = match shown + 2 < bytes {
        true => format!(", the last {shown} of them:"),
        false => String::new(),
    };
    note(format!("{what}: printed {bytes} bytes{last}"));
    for line in text.lines() {
        note(format!("    {line}"));
    }
}

/// The difference between two games that should be equal: in one process, or between two as
/// named by `twice`.
fn difference(first: &Games, second: &Games, twice: &str) -> Option<String> {
    let events =
        |games: &Games, game: Game| Some(games.records.get(&(game as u64))?.events.clone());
    let pairs = [
        (Game::Alone, second, Game::Again, "one process"),
        (Game::Alone, first, Game::Alone, twice),
        (Game::Others, first, Game::Others, twice),
    ];
    pairs.into_iter().find_map(|(game, other, again, place)| {
        let (one, two) = (events(second, game)?, events(other, again)?);
        let most = one.len().max(two.len());
        let event = (0..most).find(|&event| one.get(event) != two.get(event))?;
        let actions = one.iter().take(event).filter(|event| event.is_action());
        Some(format!(
            "not deterministic: two games of one seed in {place} differ at ply {}",
            actions.count()
        ))
    })
}
