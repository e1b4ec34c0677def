//! `arena evolve`
//!
//! The genetic algorithm of J. Ainooson, *An Evolved Oware Player for
//! owarega.me*, section Methodology (paper 002), as a client of a coordinator:
//! each generation is a tournament like any other.

use std::path::PathBuf;

use arena_client::evolve::{EvolutionReporter, Generations, drawn, prepare};
use arena_evolution::EvolveSpec;
use arena_model::TournamentSeed;
use arena_report::{units, whole_file::WholeFile};
use clap::Args;

use crate::{
    access::{self, Access, AccessArgs},
    failure::{Failure, Kind as FailureKind, Outcome},
    output::{Format, note},
    signals::Interrupt,
    workers::{self, Builtin, Fleet},
};

/// Evolve an agent's numeric options; each generation is a tournament
#[derive(Debug, Args)]
#[command(after_help = "\
A player is a vector of numbers for the options of a bot. In each generation, each
pair of players meets twice, with seats swapped. The best players survive. Children
replace the others: each gene comes from one of two parents (uniform crossover) and is
then changed by a random percentage (mutation, which never changes the sign). The
champion is the best player of the last generation. It is printed as an [[agent]]
table: copy the table into the spec of a tournament and add its name to `agents`.

Algorithm and defaults follow J. Ainooson, An Evolved Oware Player for owarega.me,
section Methodology: 20 players, 250 generations, 5 survivors, initial genes from -1
to 1, 3 points for a win and 1 for a draw, mutation by up to 5 %. The paper leaves
open how often genes mutate (here: always), whether grand slams are legal, and how
cyclic games end.

A spec:
  name     = \"my-oware\"
  ruleset  = \"oware-abapa\"
  seed     = \"0x5eed\"
  [options]                        # options of the ruleset
  grand_slam = \"allow\"
  [player]
  bot      = \"oware-minimax\"
  evolve   = \"weights\"             # option to evolve; default: the bot's only list option.
                                   # Several: [\"weights\", \"depth\"]; with bounds:
                                   # { exploration = [0.5, 2.0], depth = [1, 5] }
  options  = { depth = 3 }         # fixed values of other options
  # from   = \"my-process\"          # the registered process that offers the bot
  [evolution]                      # all keys are optional
  population = 20                  # players
  generations = 250
  elites   = 5                     # survivors; default: a quarter
  parents  = \"rest\"                # parents are the players that do not survive; or \"all\"
  gene_min = -1.0                  # range of the initial genes
  gene_max = 1.0
  crossover = 0.5                  # share of the first parent's genes
  mutation = 1.0                   # probability that a gene changes
  mutation_size = 0.05             # maximum change, as a share of the gene
  win = 3
  draw = 1
  loss = 0
  [play]                           # as in the spec of a tournament
  opening_plies = 0

At the top, a spec can also have `records`, as in the spec of a tournament, and
`blocks`: the number of games of two players in each seat order (default: 1).

The tournament of each generation is named NAME-gNUMBER-… and is kept, with its
standings, exports and replays. All random draws come from the seed. After an
interruption, run the same command again: it continues and finds the same champion.
To add generations, run the command with a larger --generations.

Examples:
  arena evolve my-oware.toml
  arena evolve my-oware.toml --workers 2 --output jsonl > generations.jsonl
  arena evolve my-oware.toml --generations 20 --champion champion.toml
  arena evolve my-oware.toml --coordinator http://127.0.0.1:7600")]
pub(crate) struct EvolveArgs {
    /// Evolution spec, a TOML file
    spec: PathBuf,

    #[command(flatten)]
    access: AccessArgs,

    /// Number of worker processes to start [default: 1 with a data folder, 0 with a
    /// running coordinator]
    #[arg(long, env = "ARENA_EVOLVE_WORKERS", value_name = "N", value_parser = clap::value_parser!(u16).range(0..=256))]
    workers: Option<u16>,

    /// Seed to use instead of the one in the spec
    #[arg(long, value_name = "0x…")]
    seed: Option<TournamentSeed>,

    /// Number of generations, instead of the number in the spec
    #[arg(long, value_name = "N")]
    generations: Option<u32>,

    /// How to run built-in agents; results do not depend on it
    #[arg(long, env = "ARENA_EVOLVE_BUILTIN", value_enum, default_value_t)]
    builtin: Builtin,

    /// Also write the champion to this file at the end
    #[arg(long, value_name = "FILE")]
    champion: Option<PathBuf>,

    /// Output format: table prints the champion's [[agent]] table; json prints all
    /// generations; jsonl and csv print one line for each generation with the genes of
    /// its best player
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl EvolveArgs {
    pub(crate) async fn run(self) -> Outcome {
        let about = |failure: Failure| match failure.kind() {
            FailureKind::Usage => Failure::usage(format!("{}: {failure}", self.spec.display())),
            _ => failure,
        };
        let mut spec = arena_evolution::read(&self.spec)?;
        if let Some(generations) = self.generations {
            spec.evolution.generations = generations;
        }
        let seed = self.seed.or(spec.seed).map_or_else(drawn, Ok)?;
        if self.access.creates() {
            // A rejected spec must not leave a data folder behind.
            let embedded = crate::embedded::hold_memory().await?;
            let mut client = access::dial_embedded(&embedded).await?;
            let checked = prepare(&mut client, &spec, seed).await;
            drop(client);
            embedded.stop().await?;
            checked.map_err(about)?;
        }
        // A file that cannot be written must be an error before the games, not after them.
        let file = self
            .champion
            .as_deref()
            .map(WholeFile::create)
            .transpose()?;
        let interrupt = Interrupt::listen()?;
        let mut access = self.access.open_or_create().await?;
        let prepared = prepare(&mut access.client, &spec, seed).await;
        let outcome = match prepared.map_err(about) {
            Ok(generations) => {
                self.play(&mut access, generations, interrupt, &spec, file)
                    .await
            }
            Err(failure) => Err(failure),
        };
        outcome.and(access.close().await)
    }

    /// Plays the generations, with worker processes of its own if any are requested.
    async fn play(
        &self,
        access: &mut Access,
        generations: Generations,
        mut interrupt: Interrupt,
        spec: &EvolveSpec,
        file: Option<WholeFile>,
    ) -> Outcome {
        note(format!(
            "evolving {} of {} on {}, seed {}",
            units::plural(generations.first.players[0].len() as u64, "number"),
            spec.player.bot,
            spec.ruleset,
            generations.seed
        ));
        let workers = self.workers.unwrap_or(u16::from(access.is_embedded()));
        let mut fleet = Fleet::start(&access.url, workers.into(), self.builtin, None, None)?;
        let mut report = EvolutionReporter::new(self.output, spec);
        let mut client = access.client.clone();
        if workers == 0 {
            workers::note_absence(&mut client, &access.url).await?;
        }
        let played = tokio::select! {
            played = generations.play(&mut client, &mut report) => played,
            failure = fleet.supervise() => Err(failure),
            failure = access.failed() => Err(failure),
            () = interrupt.asked() => Err(Failure::new(
                FailureKind::Interrupted,
                format!(
                    "stopped; finished games are kept. To continue, run the same command again{}",
                    match spec.seed {
                        Some(_) => String::new(),
                        None => format!(" and --seed {}", generations.seed),
                    }
                ),
            )),
        };
        if played.is_err() {
            note(super::run::STOPPING);
        }
        fleet.stop().await;
        let champion = played?;
        report.finish(&champion)?;
        let (Some(mut file), Some(path)) = (file, &self.champion) else {
            return Ok(());
        };
        WholeFile::write(&mut file, champion.to_toml().as_bytes())?;
        file.finish()?;
        note(format!(
            "the champion is in {}; register it with `arena agent register --fragment`",
            path.display()
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use arena_evolution::{EVOLUTION_KEYS, PLAYER_KEYS, Settings, parse};

    use super::*;

    #[test]
    fn help_has_a_valid_spec_with_all_keys() {
        let command = EvolveArgs::augment_args(clap::Command::new("evolve"));
        let help = command.get_after_help().expect("a help").to_string();
        let (_, rest) = help.split_once("A spec:\n").expect("a spec");
        let (text, _) = rest.split_once("\n\n").expect("an end");
        let spec = parse(text).expect("a spec");
        let shown = Settings {
            elites: Some(Settings::default().kept()),
            ..Settings::default()
        };
        assert_eq!(spec.evolution, shown);
        for key in EVOLUTION_KEYS.iter().chain(PLAYER_KEYS) {
            assert!(text.contains(&format!("{key} ")), "{key}");
        }
    }
}
