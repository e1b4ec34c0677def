//! A genetic algorithm over vectors of numbers whose fitness is a tournament.
//!
//! After J. Ainooson, *An Evolved Oware Player for owarega.me*, section
//! Methodology (paper 002): players are vectors of weights, each generation
//! plays everybody against everybody from both seats, the best stay as they
//! are, and the others are replaced by uniform crossover and mutation of a
//! gene by a random part of 5 % of itself. The defaults of [`Settings`] are the
//! paper's numbers. It tells no probability of mutation and not who may be a
//! parent of whom: here every gene mutates, and two different parents are drawn
//! for each child out of those that are not kept.
//!
//! Everything is drawn from keys of the seed and the generation, so that a
//! generation follows from the one before and its points alone: an evolution
//! that was interrupted goes on as if it had not been.

use std::cmp::Reverse;

use arena_model::{
    TournamentSeed,
    engine::Stream,
    spec::{some_whole, whole},
};
use serde::{Deserialize, Serialize};

/// A player: the values of the numbers that evolve.
pub type Genes = Vec<f64>;

/// What a number that evolves may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gene {
    /// Least and greatest value at the start; none: those of [`Settings`].
    pub start: Option<(f64, f64)>,
    /// Least and greatest value at all.
    pub bounds: (f64, f64),
}

/// The most players of a generation.
pub const POPULATION_MAX: usize = 1000;
/// The most generations.
pub const GENERATIONS_MAX: u32 = 1_000_000;

/// Whose genes children have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parents {
    /// Those that are not kept, as the paper says.
    #[default]
    Rest,
    /// Everybody.
    All,
}

/// The numbers of an evolution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Players of a generation.
    #[serde(deserialize_with = "whole::<2, usize, _>")]
    pub population: usize,
    /// Generations that play.
    #[serde(deserialize_with = "whole::<1, u32, _>")]
    pub generations: u32,
    /// The best that stay as they are; none: a quarter, as the paper's 5 of 20.
    #[serde(deserialize_with = "some_whole::<0, usize, _>")]
    pub elites: Option<usize>,
    /// Whose genes the others get.
    pub parents: Parents,
    /// Least value of a gene at the start.
    pub gene_min: f64,
    /// Greatest value of a gene at the start.
    pub gene_max: f64,
    /// Probability that a gene is the first parent's.
    pub crossover: f64,
    /// Probability that a gene of a child mutates.
    pub mutation: f64,
    /// How much of itself a mutation adds to a gene or takes away at most.
    pub mutation_size: f64,
    /// Points for a win.
    #[serde(deserialize_with = "whole::<0, u32, _>")]
    pub win: u32,
    /// Points for a draw.
    #[serde(deserialize_with = "whole::<0, u32, _>")]
    pub draw: u32,
    /// Points for a loss.
    #[serde(deserialize_with = "whole::<0, u32, _>")]
    pub loss: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            population: 20,
            generations: 250,
            elites: None,
            parents: Parents::Rest,
            gene_min: -1.0,
            gene_max: 1.0,
            crossover: 0.5,
            mutation: 1.0,
            mutation_size: 0.05,
            win: 3,
            draw: 1,
            loss: 0,
        }
    }
}

impl Settings {
    /// How many of the best stay as they are.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.elites.unwrap_or(self.population / 4)
    }
}

/// Settings that no evolution can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {must}")]
pub struct EvolutionError {
    /// The setting.
    pub key: &'static str,
    /// What it is.
    pub value: String,
    /// What it must be.
    pub must: String,
}

/// The players of a generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// From 0.
    pub number: u32,
    /// By their numbers: the elite of the generation before, best first, and
    /// then the children.
    pub players: Vec<Genes>,
}

/// What a generation's points come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fitness {
    /// The most points of a player.
    pub best: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub spread: f64,
}

impl Fitness {
    /// Of the points of at least one player.
    #[must_use]
    pub fn of(points: &[u64]) -> Self {
        let count = points.len().max(1) as f64;
        let mean = points.iter().sum::<u64>() as f64 / count;
        let squares = points.iter().map(|&points| (points as f64 - mean).powi(2));
        Self {
            best: points.iter().copied().max().unwrap_or(0),
            mean,
            spread: (squares.sum::<f64>() / count).sqrt(),
        }
    }
}

/// Players by their points, the best first; of equals the lowest number first.
#[must_use]
pub fn ranking(points: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&player| (Reverse(points[player]), player));
    order
}

/// An evolution: settings, seed, and the genes a player has.
#[derive(Clone, Debug)]
pub struct Evolution {
    settings: Settings,
    seed: TournamentSeed,
    genes: Vec<Gene>,
}

impl Evolution {
    /// An evolution of players with these genes.
    ///
    /// # Errors
    /// [`EvolutionError`] at the first setting that is not possible.
    pub fn new(
        settings: Settings,
        seed: TournamentSeed,
        genes: Vec<Gene>,
    ) -> Result<Self, EvolutionError> {
        check(&settings, &genes)?;
        Ok(Self {
            settings,
            seed,
            genes,
        })
    }

    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The points of a player with these results.
    #[must_use]
    pub fn points(&self, wins: u64, draws: u64, losses: u64) -> u64 {
        let Settings {
            win, draw, loss, ..
        } = self.settings;
        wins * u64::from(win) + draws * u64::from(draw) + losses * u64::from(loss)
    }

    /// The first generation: genes drawn uniformly.
    #[must_use]
    pub fn first(&self) -> Generation {
        let mut draws = Draws::of(self.seed, 0);
        let usual = (self.settings.gene_min, self.settings.gene_max);
        let mut drawn = |gene: &Gene| {
            let (least, greatest) = gene.start.unwrap_or(usual);
            least + draws.unit() * (greatest - least)
        };
        let mut player = || self.genes.iter().map(&mut drawn).collect();
        Generation {
            number: 0,
            players: (0..self.settings.population).map(|_| player()).collect(),
        }
    }

    /// The generation that follows from the points of one.
    ///
    /// # Panics
    /// Where there are not as many points as players.
    #[must_use]
    pub fn next(&self, generation: &Generation, points: &[u64]) -> Generation {
        let players = &generation.players;
        assert_eq!(points.len(), players.len(), "points of every player");
        let order = ranking(points);
        let (elite, rest) = order.split_at(self.settings.kept());
        let parents = match self.settings.parents {
            Parents::Rest => rest,
            Parents::All => &order,
        };
        let number = generation.number + 1;
        let mut draws = Draws::of(self.seed, number);
        let kept = elite.iter().map(|&player| players[player].clone());
        let mut next: Vec<Genes> = kept.collect();
        next.extend(rest.iter().map(|_| {
            let (first, second) = draws.two_of(parents);
            let child = self.crossed(&players[first], &players[second], &mut draws);
            self.mutated(child, &mut draws)
        }));
        Generation {
            number,
            players: next,
        }
    }

    /// Each gene from either parent.
    fn crossed(&self, first: &[f64], second: &[f64], draws: &mut Draws) -> Genes {
        let genes = first.iter().zip(second);
        genes
            .map(|(&first, &second)| {
                if draws.unit() < self.settings.crossover {
                    first
                } else {
                    second
                }
            })
            .collect()
    }

    /// Each gene, perhaps, larger or smaller by a part of itself; never of the
    /// other sign.
    fn mutated(&self, mut genes: Genes, draws: &mut Draws) -> Genes {
        for (gene, Gene { bounds, .. }) in genes.iter_mut().zip(&self.genes) {
            // All are drawn always, so that no draw depends on one before it.
            let (whether, sign, share) = (draws.unit(), draws.unit(), draws.unit());
            if whether < self.settings.mutation {
                let change = share * self.settings.mutation_size * gene.abs();
                *gene += if sign < 0.5 { change } else { -change };
                *gene = gene.clamp(bounds.0, bounds.1);
            }
        }
        genes
    }
}

fn check(settings: &Settings, genes: &[Gene]) -> Result<(), EvolutionError> {
    let within = |key, value: f64, least: f64, greatest: f64| {
        if (least..=greatest).contains(&value) {
            Ok(())
        } else {
            Err(EvolutionError {
                key,
                value: value.to_string(),
                must: format!("must be from {least} to {greatest}"),
            })
        }
    };
    let population = settings.population as f64;
    within("population", population, 2.0, POPULATION_MAX as f64)?;
    let generations = f64::from(settings.generations);
    within("generations", generations, 1.0, f64::from(GENERATIONS_MAX))?;
    // Two parents are drawn out of those that are left.
    let elites_max = population - 2.0;
    within("elites", settings.kept() as f64, 0.0, elites_max)?;
    for gene in genes.iter().filter(|gene| gene.start.is_none()) {
        let (least, greatest) = gene.bounds;
        within("gene_min", settings.gene_min, least, greatest)?;
        within("gene_max", settings.gene_max, settings.gene_min, greatest)?;
    }
    within("crossover", settings.crossover, 0.0, 1.0)?;
    within("mutation", settings.mutation, 0.0, 1.0)?;
    within("mutation_size", settings.mutation_size, 0.0, 1.0)
}

/// What is drawn to make one generation.
struct Draws(Stream);

impl Draws {
    fn of(seed: TournamentSeed, generation: u32) -> Self {
        Self(Stream::new(&seed.evolution(u64::from(generation))))
    }

    /// A number from 0 to below 1, of the 53 high bits of a word.
    fn unit(&mut self) -> f64 {
        (self.0.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Two different ones of at least two.
    fn two_of(&mut self, all: &[usize]) -> (usize, usize) {
        let first = self.0.below(all.len() as u32) as usize;
        let second = self.0.below(all.len() as u32 - 1) as usize;
        (all[first], all[second + usize::from(second >= first)])
    }
}

#[cfg(test)]
mod tests;
