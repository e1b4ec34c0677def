//! The baselines against the agents of the papers, on every game.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{World, spec};

/// The matches of a game.
const MATCHES: &str = include_str!("../data/baselines.toml");

/// From this number of blocks on, every match has to show which agent is stronger.
const BLOCKS_MIN: u64 = 100;

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Baselines {
    /// Blocks of each match, of two games each.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// The baseline
    #[arg(long, default_value = "expectimax", value_parser = ["greedy", "expectimax", "mcts"])]
    bot: String,
    /// Its nodes or iterations; default: those of the baseline
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    budget: Option<u64>,
    /// Only this ruleset
    #[arg(long)]
    ruleset: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matches {
    game: Vec<Game>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Game {
    ruleset: String,
    #[serde(default)]
    options: toml::Table,
    opening_plies: u32,
    opponents: Vec<Opponent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opponent {
    bot: String,
    #[serde(default)]
    options: toml::Table,
}

impl StressTest for Baselines {
    const PROMISE: &'static str = "on each game the baseline scores more than half against \
                                   every agent of the papers, with a whole 95 % interval";

    fn quick() -> Self {
        Self {
            blocks: 20,
            bot: "expectimax".to_owned(),
            budget: Some(500),
            ruleset: Some("chinese-ludo".to_owned()),
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let matches: Matches = toml::from_str(MATCHES).map_err(Broken::new)?;
        let chosen = |game: &&Game| {
            let wanted = self.ruleset.as_ref();
            wanted.is_none_or(|ruleset| *ruleset == game.ruleset)
        };
        let (mut figures, mut lost) = (Vec::new(), Vec::new());
        for game in matches.game.iter().filter(chosen) {
            for opponent in &game.opponents {
                let played = self.play(game, opponent)?;
                let name = format!("{}: {}", game.ruleset, opponent.shown());
                // A few games only show that all agents play, and large differences.
                let shows = self.blocks >= BLOCKS_MIN || opponent.bot == "random";
                if played.high < 0.5 || shows && played.low <= 0.5 {
                    lost.push(format!("{name}: {}", played.shown()));
                }
                figures.push(Figure::new(&name, played.shown()));
            }
        }
        if let Some(wanted) = self.ruleset.as_ref().filter(|_| figures.is_empty()) {
            let known = matches.game.iter().map(|game| game.ruleset.clone());
            return Ok(Outcome::unknown(wanted, known));
        }
        if !lost.is_empty() {
            return Err(Broken::new(format_args!(
                "{} is not shown to be stronger:\n{}",
                self.bot,
                lost.join("\n")
            )));
        }
        Ok(Outcome::Holds(figures))
    }
}

/// The baseline's score with its interval.
struct Played {
    score: f64,
    low: f64,
    high: f64,
}

impl Played {
    fn shown(&self) -> String {
        format!("{:.3} ({:.3} to {:.3})", self.score, self.low, self.high)
    }
}

impl Opponent {
    fn shown(&self) -> String {
        let options = self.options.iter().map(|(name, value)| match value {
            toml::Value::String(word) => format!("{name}={word}"),
            value => format!("{name}={value}"),
        });
        let options: Vec<_> = options.collect();
        if options.is_empty() {
            self.bot.clone()
        } else {
            format!("{} ({})", self.bot, options.join(", "))
        }
    }
}

impl Baselines {
    fn play(&self, game: &Game, opponent: &Opponent) -> Result<Played, Broken> {
        let world = World::new();
        let mut own = toml::Table::new();
        if let Some(budget) = self.budget {
            let name = match self.bot.as_str() {
                "mcts" => "iterations",
                _ => "nodes",
            };
            own.insert(name.to_owned(), toml::Value::Integer(budget as i64));
        }
        let variant = |name: &str, bot: &str, options: &toml::Table| {
            format!(
                "[[agent]]\nname = \"{name}\"\nbot = \"{bot}\"\noptions = {}\n",
                toml::Value::Table(options.clone())
            )
        };
        let more = [
            "seats = 2\nrecords = \"hash\"\n".to_owned(),
            format!("[options]\n{}", game.options),
            format!("[play]\nopening_plies = {}\n", game.opening_plies),
            variant("baseline", &self.bot, &own),
            variant("opponent", &opponent.bot, &opponent.options),
        ];
        let spec = spec(
            "baselines",
            &game.ruleset,
            self.blocks,
            &["baseline", "opponent"],
            &more.join("\n"),
        );
        let path = world.write("spec.toml", &spec);
        let output = world.arena(&["run", &path, "--workers", "2", "--output", "json"]);
        let standings = output.ok().json();
        let agents = standings["agents"].as_array().into_iter().flatten();
        let scores: BTreeMap<&str, &Value> = agents
            .filter_map(|agent| Some((agent["agent"].as_str()?, agent)))
            .collect();
        let number = |name: &str| scores.get("baseline")?[name].as_f64();
        let played = number("score").zip(number("score_low").zip(number("score_high")));
        let (score, (low, high)) =
            played.ok_or_else(|| Broken::new(format_args!("no score in {standings}")))?;
        Ok(Played { score, low, high })
    }
}
