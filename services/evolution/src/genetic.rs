//! A genetic algorithm over vectors of numbers whose fitness is a tournament.
//!
//! After J. Ainooson, *An Evolved Oware Player for owarega.me*, section
//! Methodology (paper 002). Players are vectors of weights. In each generation, every two
//! players meet from both seats. The best players survive. Children replace the others:
//! each gene comes from one of two parents (uniform crossover) and is then changed by a
//! random share of itself, at most 5 % (mutation). The defaults of [`Settings`]
//! are the paper's numbers. The paper states neither the probability of mutation nor which
//! players can be parents. Here every gene mutates, and the two parents of a child are
//! different players that do not survive.
//!
//! All random draws come from keys of the seed and the generation's number. A generation
//! therefore follows from the previous one and its points alone, and an interrupted
//! evolution continues with the same results.

use std::cmp::Reverse;

use arena_model::{
    TournamentSeed,
    engine::Stream,
    spec::{some_whole, whole},
};
use serde::{Deserialize, Serialize};

use crate::error::{EvolutionError, Result};

/// A player: the values of the numbers that evolve.
pub type Genes = Vec<f64>;

/// The range of a number that evolves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gene {
    /// Minimum and maximum at the start; none: as in [`Settings`].
    pub start: Option<(f64, f64)>,
    /// Minimum and maximum in every generation.
    pub bounds: (f64, f64),
}

/// Maximum number of players of a generation.
const POPULATION_MAX: usize = 1000;
/// Maximum number of generations.
const GENERATIONS_MAX: u32 = 1_000_000;

/// The players that can be parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parents {
    /// The players that do not survive, as in the paper.
    #[default]
    Rest,
    /// All players.
    All,
}

/// The settings of an evolution.
///
/// The name is part of error messages: serde shows it where a spec has another type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Players of a generation.
    #[serde(deserialize_with = "whole::<2, usize, _>")]
    pub population: usize,
    /// Number of generations.
    #[serde(deserialize_with = "whole::<1, u32, _>")]
    pub generations: u32,
    /// Number of survivors; none: a quarter, as the paper's 5 of 20.
    #[serde(deserialize_with = "some_whole::<0, usize, _>")]
    pub elites: Option<usize>,
    /// The players that can be parents.
    pub parents: Parents,
    /// Minimum of a gene at the start.
    pub gene_min: f64,
    /// Maximum of a gene at the start.
    pub gene_max: f64,
    /// Probability that a gene comes from the first parent.
    pub crossover: f64,
    /// Probability that a gene of a child mutates.
    pub mutation: f64,
    /// Maximum change of a gene by a mutation, as a share of the gene.
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
    /// Number of survivors.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.elites.unwrap_or(self.population / 4)
    }
}

/// The players of a generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Its number, from 0.
    pub number: u32,
    /// Players by number: the survivors of the previous generation, best first, and then the
    /// children.
    pub players: Vec<Genes>,
}

/// Summary of a generation's points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fitness {
    /// Maximum points of a player.
    pub best: u64,
    /// Mean points.
    pub mean: f64,
    /// Standard deviation of points.
    pub spread: f64,
}

impl Fitness {
    /// Summarizes the points of at least one player.
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

/// Players in order of points, best first; equal players in order of their numbers.
#[must_use]
pub fn ranking(points: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&player| (Reverse(points[player]), player));
    order
}

/// An evolution: its settings, its seed and the genes of a player.
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
    /// [`EvolutionError::Usage`](crate::EvolutionError::Usage) at the first setting outside its
    /// range.
    pub fn new(settings: Settings, seed: TournamentSeed, genes: Vec<Gene>) -> Result<Self> {
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
    /// Panics if the number of points is not the number of players.
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
        let either = |(&first, &second)| match draws.unit() < self.settings.crossover {
            true => first,
            false => second,
        };
        first.iter().zip(second).map(either).collect()
    }

    /// Makes each gene larger or smaller by a share of itself, with the probability of a
    /// mutation. The sign never changes.
    fn mutated(&self, mut genes: Genes, draws: &mut Draws) -> Genes {
        for (gene, Gene { bounds, .. }) in genes.iter_mut().zip(&self.genes) {
            // All three are always drawn, so that no draw depends on an earlier one.
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

fn check(settings: &Settings, genes: &[Gene]) -> Result {
    let within = |key, value: f64, least: f64, greatest: f64| {
        if (least..=greatest).contains(&value) {
            return Ok(());
        }
        Err(EvolutionError::usage(format!(
            "[evolution] {key} = {value}: must be from {least} to {greatest}"
        )))
    };
    let population = settings.population as f64;
    within("population", population, 2.0, POPULATION_MAX as f64)?;
    let generations = f64::from(settings.generations);
    within("generations", generations, 1.0, f64::from(GENERATIONS_MAX))?;
    // Two different parents are drawn from the players that do not survive.
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

/// The random draws of one generation.
struct Draws(Stream);

impl Draws {
    fn of(seed: TournamentSeed, generation: u32) -> Self {
        Self(Stream::new(&seed.evolution(u64::from(generation))))
    }

    /// Draws a number from 0 to below 1, from the 53 high bits of a word.
    fn unit(&mut self) -> f64 {
        (self.0.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws two different players out of at least two.
    fn two_of(&mut self, all: &[usize]) -> (usize, usize) {
        let first = self.0.below(all.len() as u32) as usize;
        let second = self.0.below(all.len() as u32 - 1) as usize;
        (all[first], all[second + usize::from(second >= first)])
    }
}

#[cfg(test)]
mod tests;
