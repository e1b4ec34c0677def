//! Simulated tournaments with known truth.

use std::collections::HashMap;

use arena_engine::{AgentRng, Termination};
use arena_model::{AgentRef, Tournament, result::GameResult, spec::Play};
use arena_tournament::{Schedule, ScheduledGame, Tally};
use serde::Deserialize;

/// The agents, and the probabilities of results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    pub(crate) name: String,
    #[serde(default = "two")]
    pub(crate) seats: usize,
    /// Blocks of each group.
    pub(crate) blocks: u64,
    /// Elo of each agent.
    pub(crate) elo: Vec<f64>,
    /// Odds of a tie, relative to the mean strength of the tied agents.
    #[serde(default)]
    pub(crate) tie: f64,
    /// The effect of the dice of a block on each seat, in log strengths.
    #[serde(default)]
    pub(crate) luck: f64,
    /// Whether each game has its own dice. With shared dice in a game of two, rotation removes luck
    /// from a block entirely.
    #[serde(default)]
    pub(crate) unpaired: bool,
    /// The advantage of the first seat, in log strengths.
    #[serde(default)]
    pub(crate) first: f64,
    /// Columns that are shown without a verdict.
    #[serde(default)]
    pub(crate) beyond: Vec<Beyond>,
}

/// Columns of a field that are shown without a verdict.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beyond {
    /// The columns; none means all.
    #[serde(default)]
    pub(crate) columns: Vec<String>,
    #[expect(dead_code, reason = "for who reads the file")]
    why: String,
}

fn two() -> usize {
    2
}

/// The possible results of a game: placements with cumulative probabilities.
type Ends = Vec<(Vec<u8>, f64)>;

/// A field, its derived values, and an empty tally.
pub(crate) struct World {
    pub(super) field: Field,
    pub(super) schedule: Schedule,
    pub(super) tournament: Tournament,
    empty: Tally,
    ends: HashMap<(Vec<u16>, u32), Ends>,
}

/// The true values of one agent, or of one seat.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Truth {
    pub(super) score: f64,
    pub(super) wins: f64,
}

/// Draws for simulated games.
pub(crate) struct Random(AgentRng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AgentRng::new(
            seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5eed,
        ))
    }

    pub(super) fn word(&mut self) -> u64 {
        self.0.word()
    }

    /// Returns a number from 0 to below 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns the index of an outcome, drawn by probability.
    pub(super) fn outcome(&mut self, chances: &[f64]) -> usize {
        let mut drawn = self.share();
        let found = chances.iter().position(|chance| {
            drawn -= chance;
            drawn < 0.0
        });
        found.unwrap_or(chances.len() - 1)
    }
}

/// Log strength of one Elo.
const LOG: f64 = std::f64::consts::LN_10 / 400.0;

impl World {
    pub(crate) fn new(field: Field) -> Self {
        let agent = |number| AgentRef {
            name: format!("a{number}").parse().expect("a name"),
            bot: String::new(),
            options: Default::default(),
            version: "1".to_owned(),
            uses_seed: None,
            content: String::new(),
            registration: None,
        };
        let tournament = Tournament {
            name: "simulated".parse().expect("a name"),
            ruleset: "none".to_owned(),
            rules_version: 1,
            rules_digest: None,
            options: Default::default(),
            seed: "0x5eed".parse().expect("a seed"),
            format: Default::default(),
            settings: None,
            blocks: field.blocks,
            seats: field.seats,
            agents: (0..field.elo.len()).map(agent).collect(),
            play: Play::default(),
            openings: None,
            returns: None,
            changes: Vec::new(),
        };
        let mut world = Self {
            schedule: Schedule::new(&tournament).expect("a schedule"),
            empty: Tally::new(&tournament).expect("a tally"),
            ends: HashMap::new(),
            tournament,
            field,
        };
        for game in world.schedule.iter() {
            for dice in 0..1 << world.field.seats {
                let key = (game.seats.clone(), dice);
                if !world.ends.contains_key(&key) {
                    let ends = world.field.ends(&game.seats, dice);
                    world.ends.insert(key, ends);
                }
            }
        }
        world
    }

    /// Plays a tournament. After each block, `look` receives the tally and the number of played
    /// blocks.
    pub(super) fn play(&self, random: &mut Random, look: impl FnMut(&Tally, u64)) -> Tally {
        self.play_reporting(random, look, |_| {})
    }

    /// The same; `look` also receives each result before it is added.
    pub(crate) fn play_reporting(
        &self,
        random: &mut Random,
        mut look: impl FnMut(&Tally, u64),
        mut report: impl FnMut(&GameResult),
    ) -> Tally {
        let mut tally = self.empty.clone();
        let mut dice = 0;
        for game in self.schedule.iter() {
            if game.rotation == 0 || self.field.unpaired {
                dice = (random.word() >> 40) as u32 & ((1 << self.field.seats) - 1);
            }
            let last = game.rotation + 1 == self.schedule.rotations();
            let block = game.block;
            let result = self.result(game, dice, random);
            report(&result);
            tally.add(&result);
            if last {
                look(&tally, block + 1);
            }
        }
        tally
    }

    /// Draws the result of a game with these dice.
    pub(super) fn result(&self, game: ScheduledGame, dice: u32, random: &mut Random) -> GameResult {
        let ends = &self.ends[&(game.seats.clone(), dice)];
        let drawn = random.share();
        let end = ends.iter().find(|(_, below)| drawn < *below);
        let (placement, _) = end.or(ends.last()).expect("an end");
        GameResult {
            index: game.index,
            block: game.block,
            seats: game.seats,
            placement: placement.clone(),
            scores: Vec::new(),
            plies: 10 + (drawn * 100.0) as u32,
            termination: Termination::Normal,
            faults: Vec::new(),
            course: 0,
            beginning: arena_model::Beginning::default(),
            luck: self.field.worth(dice),
        }
    }

    /// Plays a tournament whose results come from a function of the seats.
    pub(crate) fn ended(&self, mut end: impl FnMut(&[u16]) -> Vec<u8>) -> Tally {
        let mut tally = self.empty.clone();
        for game in self.schedule.iter() {
            tally.add(&GameResult {
                index: game.index,
                block: game.block,
                placement: end(&game.seats),
                scores: Vec::new(),
                seats: game.seats,
                plies: 10,
                termination: Termination::Normal,
                faults: Vec::new(),
                course: 0,
                beginning: arena_model::Beginning::default(),
                luck: Vec::new(),
            });
        }
        tally
    }

    /// The possible results of a game with the dice of a block, with their probabilities.
    pub(super) fn ends(&self, seats: &[u16], dice: u32) -> impl Iterator<Item = (&[u8], f64)> {
        let mut before = 0.0;
        let ends = self.ends[&(seats.to_vec(), dice)].iter();
        ends.map(move |(placement, below)| {
            let chance = below - before;
            before = *below;
            (placement.as_slice(), chance)
        })
    }

    /// Expected score of one agent against another, in the games of both.
    pub(super) fn met(&self, one: u16, other: u16) -> f64 {
        let (mut got, mut of) = (0.0, 0.0);
        let draws = 1 << self.field.seats;
        for game in self.schedule.iter() {
            for dice in 0..draws {
                for (placement, chance) in self.ends(&game.seats, dice) {
                    let (units, most) = duel(&game.seats, placement, (one, other));
                    got += chance * units as f64;
                    of += chance * most as f64;
                }
            }
        }
        got / of
    }

    /// Expected scores and wins of each agent, and the score of each seat, over the games of the
    /// schedule.
    pub(super) fn truth(&self) -> (Vec<Truth>, Vec<f64>) {
        let mut agents = vec![(Truth::default(), 0.0); self.field.elo.len()];
        let mut seats = vec![0.0; self.field.seats];
        let draws = 1 << self.field.seats;
        for game in self.schedule.iter() {
            for dice in 0..draws {
                for (placement, chance) in self.ends(&game.seats, dice) {
                    let chance = chance / f64::from(draws);
                    for (seat, &agent) in game.seats.iter().enumerate() {
                        let score = score(placement, seat);
                        let (truth, games) = &mut agents[usize::from(agent)];
                        truth.score += chance * score;
                        truth.wins += chance * f64::from(u8::from(score == 1.0));
                        *games += chance;
                        seats[seat] += chance * score / self.schedule.games() as f64;
                    }
                }
            }
        }
        let mean = |(truth, games): &(Truth, f64)| Truth {
            score: truth.score / games,
            wins: truth.wins / games,
        };
        (agents.iter().map(mean).collect(), seats)
    }
}

/// Units of each seat: two for each seat beaten, one for each tied.
pub(super) fn units(placement: &[u8], seat: usize) -> i64 {
    let own = placement[seat];
    let beaten = placement.iter().filter(|&&other| other > own).count();
    let tied = placement.iter().filter(|&&other| other == own).count() - 1;
    (2 * beaten + tied) as i64
}

/// Units of one agent against another: two for each of its seats that placed better, one for each
/// that tied; and the maximum.
pub(super) fn duel(seats: &[u16], placement: &[u8], (one, other): (u16, u16)) -> (i64, i64) {
    let of = |agent: u16| (0..seats.len()).filter(move |&seat| seats[seat] == agent);
    let mut units = (0, 0);
    for (own, rival) in of(one).flat_map(|own| of(other).map(move |rival| (own, rival))) {
        let [own, rival] = [own, rival].map(|seat| placement[seat]);
        units.0 += i64::from(own <= rival) + i64::from(own < rival);
        units.1 += 2;
    }
    units
}

/// (Seats beaten + half of the tied seats) / (seats − 1).
fn score(placement: &[u8], seat: usize) -> f64 {
    units(placement, seat) as f64 / (2 * (placement.len() - 1)) as f64
}

impl Field {
    /// The luck of each seat with the dice of a block, in millionths of a score, by a crude
    /// measure: half a point for good dice, minus the mean of the others. Zero without dice.
    fn worth(&self, dice: u32) -> Vec<i32> {
        if self.luck == 0.0 {
            return Vec::new();
        }
        let fell = |seat: usize| if dice & (1 << seat) == 0 { -1 } else { 1 };
        let all: i32 = (0..self.seats).map(fell).sum();
        let others = self.seats as i32 - 1;
        let worth = |seat| (fell(seat) * others - (all - fell(seat))) * 250_000 / others;
        (0..self.seats).map(worth).collect()
    }

    /// Probabilities of the units of the first of two agents against the other in a block: two
    /// units for each pair of their seats and each game.
    pub(super) fn block(&self, group: &[u16]) -> Vec<f64> {
        let games: Vec<Vec<u16>> = (0..group.len())
            .map(|by| {
                let mut seats = group.to_vec();
                seats.rotate_left(by);
                seats
            })
            .collect();
        let (_, most) = duel(group, &vec![1; group.len()], (0, 1));
        let mut all = vec![0.0; most as usize * games.len() + 1];
        let draws = 1 << group.len();
        for dice in 0..draws {
            let mut so_far = vec![1.0];
            for seats in &games {
                let mut next = vec![0.0; so_far.len() + most as usize];
                self.each(seats, dice, |units, chance| {
                    for (known, share) in so_far.iter().enumerate() {
                        next[known + units] += share * chance;
                    }
                });
                so_far = next;
            }
            for (sum, share) in all.iter_mut().zip(so_far) {
                *sum += share / f64::from(draws);
            }
        }
        all
    }

    /// The same in a game of two with its own dice, at each seat equally often.
    pub(super) fn game(&self) -> Vec<f64> {
        let mut all = vec![0.0; 3];
        for seats in [[0, 1], [1, 0]] {
            for dice in 0..4 {
                self.each(&seats, dice, |units, chance| all[units] += chance / 8.0);
            }
        }
        all
    }

    /// The possible units of the first agent in a game, with their probabilities.
    fn each(&self, seats: &[u16], dice: u32, mut reported: impl FnMut(usize, f64)) {
        let mut before = 0.0;
        for (placement, below) in self.ends(seats, dice) {
            let (units, _) = duel(seats, &placement, (0, 1));
            reported(units as usize, below - before);
            before = below;
        }
    }

    /// The possible results of a game with the dice of a block, given as one bit for each seat.
    fn ends(&self, seats: &[u16], dice: u32) -> Ends {
        let logs = seats.iter().enumerate().map(|(seat, &agent)| {
            let luck = if dice & (1 << seat) == 0 {
                -self.luck
            } else {
                self.luck
            };
            let first = if seat == 0 { self.first } else { 0.0 };
            self.elo[usize::from(agent)] * LOG + luck + first
        });
        let logs: Vec<f64> = logs.collect();
        let mut ends = Vec::new();
        self.split(
            &logs,
            (1 << seats.len()) - 1,
            1.0,
            &mut vec![0; seats.len()],
            &mut ends,
        );
        let mut below = 0.0;
        for (_, chance) in &mut ends {
            below += *chance;
            *chance = below;
        }
        ends
    }

    /// All orders of the remaining agents.
    fn split(
        &self,
        logs: &[f64],
        left: u32,
        chance: f64,
        placement: &mut Vec<u8>,
        ends: &mut Ends,
    ) {
        let rank = 1 + (logs.len() as u32 - left.count_ones()) as u8;
        if left.count_ones() < 2 {
            if left > 0 {
                placement[left.trailing_zeros() as usize] = rank;
            }
            ends.push((placement.clone(), chance));
            return;
        }
        let odds = |set: u32| {
            let count = set.count_ones();
            let members = (0..logs.len()).filter(|m| set & (1 << m) != 0);
            let mean = members.map(|m| logs[m]).sum::<f64>() / f64::from(count);
            let tie = if count == 1 {
                1.0
            } else {
                self.tie.powi(count as i32 - 1)
            };
            tie * mean.exp()
        };
        let sets: Vec<u32> = (1..=left).filter(|set| set & !left == 0).collect();
        let sum: f64 = sets.iter().map(|&set| odds(set)).sum();
        for set in sets {
            let share = odds(set) / sum;
            if share == 0.0 {
                continue;
            }
            for (member, place) in placement.iter_mut().enumerate() {
                if set & (1 << member) != 0 {
                    *place = rank;
                }
            }
            self.split(logs, left & !set, chance * share, placement, ends);
        }
    }
}
