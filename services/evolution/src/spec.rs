//! The spec of an evolution, and the tournament specs of its generations.

use std::path::Path;

use crate::genetic::{Generation, Settings};
use arena_model::{
    AgentName, TournamentSeed,
    engine::options::Options,
    spec::{self, PLAY_KEYS, Play, Records, Spec, SpecError, Variant},
};
use serde::Deserialize;

use crate::error::{EvolutionError, Result};
use crate::genome::{EvolveChoice, Genome};

/// The spec of an evolution.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvolveSpec {
    /// Name of the champion, and prefix of the tournaments' names.
    pub name: AgentName,
    /// Name of the ruleset.
    pub ruleset: String,
    /// Seed; none: a random one.
    #[serde(default, deserialize_with = "spec::seed")]
    pub seed: Option<TournamentSeed>,
    /// Number of games of two players in each seat order.
    #[serde(default = "one", deserialize_with = "spec::whole::<1, u64, _>")]
    pub blocks: u64,
    /// What the store keeps of each game.
    #[serde(default)]
    pub records: Records,
    /// Options of the ruleset.
    #[serde(default)]
    pub options: Options,
    /// What all players have in common.
    pub player: Player,
    /// Settings of the genetic algorithm.
    #[serde(default)]
    pub evolution: Settings,
    /// Settings of the games.
    #[serde(default)]
    pub play: Play,
}

/// What all players have in common.
///
/// The name is part of error messages: serde shows it where a spec has another type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Player {
    /// Name of the bot.
    pub bot: String,
    /// The registered process that offers the bot; none: the native bots.
    pub from: Option<AgentName>,
    /// The options that evolve; none: the only list of numbers.
    pub evolve: Option<EvolveChoice>,
    /// Other options that differ from the bot's defaults.
    #[serde(default)]
    pub options: Options,
}

impl Player {
    /// Rejects an option that has a value and is to evolve.
    ///
    /// # Errors
    /// [`SpecError::Value`] with the name of the option.
    pub fn check_free<'a>(
        &self,
        mut evolving: impl Iterator<Item = &'a str>,
    ) -> Result<(), SpecError> {
        match evolving.find(|name| self.options.contains_key(*name)) {
            Some(name) => Err(SpecError::Value(format!(
                "[player] option \"{name}\" is in evolve, so it cannot have a value as well"
            ))),
            None => Ok(()),
        }
    }
}

fn one() -> u64 {
    1
}

const KEYS: &[&str] = &[
    "name",
    "ruleset",
    "seed",
    "blocks",
    "records",
    "options",
    "player",
    "evolution",
    "play",
];
/// Keys of `[player]`.
pub const PLAYER_KEYS: &[&str] = &["bot", "from", "evolve", "options"];
/// Keys of `[evolution]`.
pub const EVOLUTION_KEYS: &[&str] = &[
    "population",
    "generations",
    "elites",
    "parents",
    "gene_min",
    "gene_max",
    "crossover",
    "mutation",
    "mutation_size",
    "win",
    "draw",
    "loss",
];

/// Reads a spec file.
///
/// # Errors
/// [`EvolutionError::Usage`] with the path and what is wrong.
pub fn read(path: &Path) -> Result<EvolveSpec> {
    let path_shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| EvolutionError::usage(format!("cannot read {path_shown}: {error}")))?;
    parse(&text).map_err(|error| EvolutionError::usage(format!("{path_shown}: {error}")))
}

/// Parses a spec.
///
/// # Errors
/// [`SpecError`] with the place and what is wrong.
pub fn parse(text: &str) -> Result<EvolveSpec, SpecError> {
    let toml = |error: toml::de::Error| SpecError::Toml(error.to_string().trim_end().to_owned());
    let table: toml::Table = text.parse().map_err(toml)?;
    spec::check_keys(&table, KEYS, "")?;
    let tables = [
        ("player", PLAYER_KEYS, " in [player]"),
        ("evolution", EVOLUTION_KEYS, " in [evolution]"),
        ("play", PLAY_KEYS, " in [play]"),
    ];
    for (name, known, place) in tables {
        if let Some(toml::Value::Table(table)) = table.get(name) {
            spec::check_keys(table, known, place)?;
        }
    }
    let spec: EvolveSpec = toml::from_str(text).map_err(toml)?;
    let evolve = spec.player.evolve.iter().flat_map(EvolveChoice::names);
    spec.player.check_free(evolve)?;
    Ok(spec)
}

impl EvolveSpec {
    /// A player with these genes, as an agent.
    #[must_use]
    pub fn variant(&self, name: AgentName, genome: &Genome, genes: &[f64]) -> Variant {
        let mut options = self.player.options.clone();
        options.extend(genome.values(genes));
        Variant {
            name,
            bot: self.player.bot.clone(),
            from: self.player.from.clone(),
            options,
        }
    }

    /// The spec of a generation's tournament.
    ///
    /// # Errors
    /// [`EvolutionError::Usage`] if the name of the tournament is too long.
    pub fn tournament(
        &self,
        genome: &Genome,
        generation: &Generation,
        seed: TournamentSeed,
    ) -> Result<Spec> {
        let own = &self.name;
        let name = format!("{own}-g{:03}", generation.number);
        let name: AgentName = name.parse().map_err(|_| {
            EvolutionError::usage(format!(
                "name = \"{own}\": too long for the names of its tournaments, such as {name}"
            ))
        })?;
        let players = generation.players.iter().enumerate();
        let variants = players
            .map(|(player, genes)| Ok(self.variant(player_name(player)?, genome, genes)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Spec {
            name,
            ruleset: self.ruleset.clone(),
            seed: Some(seed),
            format: Default::default(),
            outcome: Default::default(),
            tables: Default::default(),
            blocks: self.blocks,
            seats: Some(2),
            records: self.records,
            unplayed_limit: spec::UNPLAYED_LIMIT,
            agents: variants.iter().map(|player| player.name.clone()).collect(),
            expect: Default::default(),
            options: self.options.clone(),
            variants,
            play: Play {
                // Players meet from the start of the game unless the file says more.
                opening_plies: self.play.opening_plies.or(Some(0)),
                ..self.play.clone()
            },
        })
    }
}

/// Name of a player in the tournament of its generation.
///
/// # Errors
/// [`EvolutionError::Failed`] if it is not a valid name.
pub fn player_name(player: usize) -> Result<AgentName> {
    let name = format!("p{player:02}");
    name.parse().map_err(EvolutionError::failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "name = \"e\"\nruleset = \"oware-abapa\"\n";
    const PLAYER: &str = "[player]\nbot = \"oware-minimax\"\n";

    #[test]
    fn spec_defaults_match_the_paper() {
        let spec = parse(&format!("{LEAST}{PLAYER}")).expect("a spec");
        assert_eq!(spec.evolution, Settings::default());
        assert_eq!(spec.blocks, 1);
        assert!(spec.player.options.is_empty() && spec.seed.is_none());
    }

    #[test]
    fn specs_of_the_paper_are_its_protocol() {
        for (text, letter) in [
            (
                include_str!("../../../tests/data/evolve/abapa-d3.toml"),
                true,
            ),
            (
                include_str!("../../../tests/data/evolve/abapa-d5.toml"),
                true,
            ),
            (
                include_str!("../../../tests/data/evolve/anan-anan-d3.toml"),
                true,
            ),
            (
                include_str!("../../../tests/data/evolve/anan-anan-d5.toml"),
                true,
            ),
            (
                include_str!("../../../tests/data/evolve/abapa-d3-open.toml"),
                false,
            ),
            (
                include_str!("../../../tests/data/evolve/anan-anan-d3-open.toml"),
                false,
            ),
        ] {
            let spec = parse(text).expect("a spec");
            let name = spec.name.as_str();
            assert!(
                spec.ruleset
                    .ends_with(name.split("-d").next().unwrap_or(name))
            );
            assert_eq!(spec.evolution == Settings::default(), letter, "{name}");
            assert_eq!(spec.play == Play::default(), letter, "{name}");
            assert_eq!(spec.options.get("preset"), Some(&"paper002".into()));
        }
    }

    #[test]
    fn invalid_spec_is_rejected_with_its_key() {
        let cases = [
            ("", "missing field `player`"),
            (
                "[plaier]\nbot = \"x\"",
                "unknown key \"plaier\", did you mean \"player\"?",
            ),
            (
                "agents = [\"a\"]",
                "unknown key \"agents\"; known keys: name,",
            ),
            (
                "[player]\nbots = \"x\"",
                "unknown key \"bots\" in [player], did you mean \"bot\"?",
            ),
            (
                "[player]\nbot = \"x\"\n[evolution]\nelite = 3",
                "unknown key \"elite\" in [evolution], did you mean \"elites\"?",
            ),
            (
                "[player]\nbot = \"x\"\n[play]\nrotat = true",
                "unknown key \"rotat\" in [play], did you mean \"rotate\"?",
            ),
            (
                "[player]\nbot = \"x\"\n[evolution]\nparents = \"some\"",
                "unknown variant `some`, expected `rest` or `all`",
            ),
            (
                "[player]\nbot = \"x\"\n[evolution]\nelites = -1",
                "invalid value: integer `-1`, expected a whole number, at least 0",
            ),
            (
                "[player]\nbot = \"x\"\n[evolution]\npopulation = 2.5",
                "`2.5`, expected a whole number, at least 2",
            ),
            (
                "blocks = -1\n[player]\nbot = \"x\"",
                "`-1`, expected a whole number, at least 1",
            ),
            (
                "[player]\nbot = \"x\"\nevolve = \"w\"\noptions = { w = \"score\" }",
                "option \"w\" is in evolve, so it cannot have a value as well",
            ),
        ];
        for (rest, expected) in cases {
            let error = parse(&format!("{LEAST}{rest}\n")).expect_err(rest);
            assert!(error.to_string().contains(expected), "{rest}: {error}");
        }
    }

    #[test]
    fn generation_is_a_full_round_robin() {
        let spec = parse(&format!("{LEAST}{PLAYER}options = {{ depth = 2 }}\n")).expect("a spec");
        let generation = Generation {
            number: 7,
            players: vec![vec![0.1 + 0.2, -1e-7], vec![1.0, -0.5]],
        };
        let seed = "0x5eed".parse().expect("a seed");
        let tournament = spec.tournament(&Genome::of_list("weights", 2), &generation, seed);
        let tournament = tournament.map_err(|failure| failure.to_string());
        let tournament = tournament.expect("a tournament");
        let read = Spec::parse(&tournament.to_toml()).expect("a spec");
        assert_eq!(read, tournament, "genes survive to the last bit");
        assert_eq!(read.name.as_str(), "e-g007");
        assert_eq!((read.blocks, read.seats), (1, Some(2)));
        assert_eq!(
            read.variants[0].options.get("weights"),
            Some(&arena_model::engine::options::Value::Numbers(vec![
                0.1 + 0.2,
                -1e-7
            ]))
        );
    }
}
