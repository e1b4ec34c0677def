//! What a tournament would take, and how precise its results would be.

use arena_model::{
    Returns, Tournament,
    format::{Format::Knockout, Settings},
};
use arena_report::{
    export::{sink::csv_row, table::Cell},
    text::csv_line,
    units,
};
use arena_tournament::{
    Schedule, Tally,
    format::sprt,
    interval::{Blocks, Moments},
};
use arena_wire::v1;
use serde_json::json;

use crate::{
    failure::Outcome,
    output::{self, Format},
    sample::Sample,
};

/// Maximum standard deviation of scores from 0 to 1: half of them at each end.
const SPREAD_MAX: f64 = 0.5;

/// Agents whose scores have the same number of blocks.
struct Side {
    whose: &'static str,
    blocks: f64,
}

/// A number and its source.
struct Sourced {
    value: f64,
    from: String,
}

/// What a tournament would take, and its precision.
pub struct Plan<'a> {
    tournament: &'a Tournament,
    /// Number of blocks in the spec.
    blocks: u64,
    least: u64,
    most: u64,
    expected: u64,
    /// The assumption on results behind the expected number of games, if it depends on
    /// them.
    expected_from: Option<String>,
    rate: Option<Sourced>,
    spread: Sourced,
    /// True if the standard deviation of scores may be smaller.
    at_most: bool,
    /// Number of games that would only repeat others.
    left_out: u64,
    /// True if games were played to measure the rate, and none finished in time.
    gave_up: bool,
}

impl<'a> Plan<'a> {
    /// A plan of the coordinator with the games per second that are given or measured, and the spread of a
    /// sample. `blocks` is the number of blocks in the spec.
    #[must_use]
    pub fn new(
        tournament: &'a Tournament,
        blocks: u64,
        planned: &v1::PlanTournamentResponse,
        rate: Option<f64>,
        sample: Option<&Sample>,
    ) -> Self {
        let measured = sample.and_then(|sample| {
            let games = units::plural(sample.games, "game");
            Some(Sourced {
                value: sample.rate()?,
                from: format!("measured by playing {games} on one thread here, without workers"),
            })
        });
        let given = rate.map(|value| Sourced {
            value,
            from: "given with --rate".to_owned(),
        });
        let spread = sample.and_then(|sample| {
            let value = sample.spread()?;
            let blocks = units::plural(sample.blocks, "block");
            let from = match value > 0.0 {
                true => format!("block SD estimated from {blocks} of a trial"),
                false => format!("if all scores are equal, as in {blocks} of a trial"),
            };
            Some(Sourced { value, from })
        });
        let (expected, expected_from) = expected(tournament, planned, sample);
        Self {
            tournament,
            blocks,
            least: planned.games_least,
            most: planned.games_most,
            expected,
            expected_from,
            rate: given.or(measured),
            at_most: spread.is_none(),
            left_out: Schedule::new(tournament).map_or(0, |schedule| schedule.games_left_out()),
            gave_up: sample.is_some_and(|sample| sample.games == 0),
            spread: spread.unwrap_or_else(|| Sourced {
                value: SPREAD_MAX,
                from: "upper limit for any results".to_owned(),
            }),
        }
    }

    fn seconds(&self, games: u64) -> Option<f64> {
        self.rate.as_ref().map(|rate| games as f64 / rate.value)
    }

    /// The agents with scores, and the number of their blocks.
    fn sides(&self) -> Vec<Side> {
        let seats = self.tournament.seats as f64;
        let agents = self.tournament.agents.len() as f64;
        let rotations = if self.tournament.play.rotate {
            seats
        } else {
            1.0
        };
        let blocks = self.expected as f64 / rotations;
        let side = |whose, blocks| Side { whose, blocks };
        if let Some(Settings::Gauntlet(gauntlet)) = &self.tournament.settings {
            // One seat of a block is a challenger's, the others are the field's.
            let challengers = gauntlet.challengers.len() as f64;
            let of_opponent = blocks * (seats - 1.0) / (agents - challengers);
            let challenger = side("a challenger", blocks / challengers);
            return vec![challenger, side("an opponent", of_opponent)];
        }
        let whose = match self.tournament.format == Knockout || self.left_out > 0 {
            true => "an agent, on average,",
            false => "an agent",
        };
        // Two agents that fill more than two seats are in every block.
        vec![side(whose, blocks * (seats / agents).min(1.0))]
    }

    /// Half-width of the interval of a score over this number of blocks.
    fn half_width(&self, blocks: f64) -> f64 {
        let of = self.tournament;
        // As in the standings: anytime-valid if results decide what is played.
        let tally = of.format.looks_at_results().then(|| Tally::new(of).ok());
        let horizon = tally.flatten().map(|tally| tally.tuning_horizon(0));
        half_width(of.seats, of.play.rotate, blocks, self.spread.value, horizon)
    }

    /// Prints the plan of a tournament with this id.
    pub fn print(&self, id: &str, format: Format) -> Outcome {
        let from = |reported: &Sourced| reported.from.clone();
        let sides = self.sides();
        let value = json!({
            "tournament_id": id,
            "format": self.tournament.format,
            "agents": self.tournament.agents.len(),
            "seats": self.tournament.seats,
            "blocks": self.tournament.blocks,
            "blocks_asked": self.blocks,
            "opening_plies": self.tournament.play.opening_plies,
            "openings": self.tournament.openings.map(|openings| openings.size),
            "openings_complete": self.tournament.openings.map(|openings| openings.complete),
            "games_left_out": self.left_out,
            "games_may_repeat": self.may_repeat(),
            "games_least": self.least,
            "games_most": self.most,
            "games_expected": self.expected,
            "games_expected_from": self.expected_from,
            "games_per_second": self.rate.as_ref().map(|rate| rate.value),
            "games_per_second_from": self.rate.as_ref().map(from),
            "seconds_least": self.seconds(self.least),
            "seconds_most": self.seconds(self.most),
            "seconds_expected": self.seconds(self.expected),
            "blocks_of_agent": sides[0].blocks,
            "interval_half_width": self.half_width(sides[0].blocks),
            "blocks_of_field": sides.get(1).map(|side| side.blocks),
            "interval_half_width_of_field": sides.get(1).map(|side| self.half_width(side.blocks)),
            "interval_from": self.spread.from,
            "interval_at_most": self.at_most,
        });
        match format {
            Format::Json => output::json(&value),
            Format::Jsonl => output::json_line(&value),
            Format::Csv => {
                let fields = value.as_object().into_iter().flatten();
                let keys = csv_line(fields.clone().map(|(key, _)| key));
                let cells = fields.map(|(_, value)| Cell::from(value.clone()));
                output::write(&(keys + &csv_row(cells, false)))
            }
            Format::Table => output::write(&self.text(id)),
        }
    }

    /// True if there are fewer openings than blocks, and it is unknown whether some agents
    /// use their seeds.
    fn may_repeat(&self) -> bool {
        let agents = &self.tournament.agents;
        let blocks = self.tournament.blocks;
        let openings = self.tournament.openings;
        openings.is_some_and(|openings| blocks > openings.size)
            && agents.iter().any(|agent| agent.uses_seed.is_none())
    }

    /// Describes the openings; `None` if there is chance.
    fn openings_text(&self) -> Option<String> {
        let openings = self.tournament.openings?;
        let plies = self.tournament.play.opening_plies.unwrap_or(0);
        let size = units::count(openings.size);
        let has_book = self.tournament.play.book.is_some();
        let of = if openings.complete {
            "all"
        } else {
            "a sample of"
        };
        let moves = units::plural(plies.into(), "move");
        let mut text = match plies {
            _ if has_book => format!("{size} of the book, each from every seat"),
            0 => "every game starts from the initial position".to_owned(),
            _ => format!(
                "{of} {size} of {moves}, each from every seat; a score is the mean over them"
            ),
        };
        if self.tournament.blocks < self.blocks {
            text += &format!(
                "; blocks lowered from {} to {}: more blocks would repeat games, since the game \
                 has no chance and agents do not use their seeds",
                units::count(self.blocks),
                units::count(self.tournament.blocks)
            );
        }
        if self.left_out > 0 {
            text += &format!(
                "; {} left out: they would repeat other games, since their agents do not use \
                 their seeds",
                units::plural(self.left_out, "game")
            );
        }
        if self.may_repeat() {
            text += "; repeated games count once (some agents do not declare whether they use \
             their seeds)";
        }
        Some(text)
    }

    fn text(&self, id: &str) -> String {
        let [least, most, expected] = [self.least, self.most, self.expected].map(units::count);
        let from = self.expected_from.as_ref().map(|from| format!(" {from}"));
        let from = from.unwrap_or_default();
        let games = match self.least == self.most {
            true => units::plural(self.most, "game"),
            false => format!("{least} to {most} games, about {expected}{from}"),
        };
        let time = match &self.rate {
            Some(rate) => format!(
                "about {} at {} games/s, {}",
                units::duration(self.expected as f64 / rate.value),
                units::rate(rate.value),
                rate.from
            ),
            None if self.gave_up => "unknown: no block was finished in time here; state the speed \
             of your workers in games/s with --rate"
                .to_owned(),
            None => "unknown: state the speed of your workers in games/s with --rate".to_owned(),
        };
        let about = if self.at_most { "at most" } else { "about" };
        let mut text = format!(
            "{id}: {}, {}, {} seats\ngames     {games}\ntime      {time}\n",
            self.tournament.format.name(),
            units::plural(self.tournament.agents.len() as u64, "agent"),
            self.tournament.seats,
        );
        if let Some(openings) = self.openings_text() {
            text += &format!("openings  {openings}\n");
        }
        let anytime = match self.tournament.format.looks_at_results() {
            true => ", anytime-valid",
            false => "",
        };
        if let Some(Returns { min, max, .. }) = self.tournament.returns {
            text += &format!(
                "returns   {min} to {max}; their mean decides the places, the precision is that of ranks\n"
            );
        }
        let wider = match self.may_repeat() {
            true => "; wider if games repeat",
            false => "",
        };
        for Side { whose, blocks } in self.sides() {
            let points = points(100.0 * self.half_width(blocks));
            let blocks = units::plural(blocks.round() as u64, "block");
            text += &format!(
                "precision {about} ±{points} percentage points for the score of {whose} (95 \
                 %{anytime}, over {blocks}), {}{wider}\n",
                self.spread.from
            );
        }
        text
    }
}

/// Expected number of games, and the assumption on results: for a sequential test, the
/// score of the sample if there is one.
fn expected(
    tournament: &Tournament,
    planned: &v1::PlanTournamentResponse,
    sample: Option<&Sample>,
) -> (u64, Option<String>) {
    let Some(Settings::Sprt(test)) = &tournament.settings else {
        return (planned.games_expected, None);
    };
    let seats = tournament.seats as u64;
    let pairs = (seats / 2) * (seats - seats / 2);
    let most = 2 * pairs * seats;
    let counts = sample.map(|sample| sample.outcomes(most));
    let counts = counts.unwrap_or_default();
    let blocks = sprt::expected_blocks(test, tournament.seats, &counts, tournament.blocks);
    let Some(blocks) = blocks else {
        let from = "if the true score is half-way between the hypotheses (Wald's approximation)";
        return (planned.games_expected, Some(from.to_owned()));
    };
    let played: u64 = counts.iter().sum();
    let got = counts.iter().zip(0..).map(|(count, units)| count * units);
    let score = got.sum::<u64>() as f64 / (played * most) as f64;
    let from = format!(
        "at the score of {:.1} % that {} had in a trial (Wald's approximation)",
        100.0 * score,
        units::plural(played, "block")
    );
    (blocks * seats, Some(from))
}

/// Half-width for blocks of one group with a mean score of one half and this standard
/// deviation. If all blocks are equal, their number alone bounds the deviation of others.
fn half_width(seats: usize, rotate: bool, blocks: f64, spread: f64, horizon: Option<f64>) -> f64 {
    let rotations = if rotate { seats as u64 } else { 1 };
    let most = 2 * (seats as u64 - 1) * rotations;
    // Sums of squares of more blocks would overflow.
    let count = blocks.round().clamp(2.0, 1e12) as u64;
    let mut came = Moments::default();
    came.add_alike(count, most / 2);
    let spread = (spread * most as f64).powi(2) * (count - 1) as f64;
    came.squares += spread.ceil() as u64;
    let came = Blocks::of([came], most);
    let ends = match horizon {
        Some(horizon) => came.anytime(horizon),
        None => came.fixed(),
    };
    ends.map_or(0.5, |ends| (ends.high - ends.low) / 2.0)
}

/// Formats a value with one decimal, or as many as it needs to differ from zero.
fn points(value: f64) -> String {
    let decimals = (1..9).find(|&decimals| value * 10_f64.powi(decimals) >= 0.5);
    format!("{value:.*}", decimals.unwrap_or(1) as usize)
}

#[cfg(test)]
mod tests;
