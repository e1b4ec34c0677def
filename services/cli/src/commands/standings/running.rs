//! Running ratings, from the results in index order.

use arena_report::{ReportError, records::each_game, units};
use arena_tournament::ratings::running::{Running, RunningRating, System};
use arena_wire::v1;
use clap::ValueEnum;
use serde::Serialize;

use crate::{
    access::Client,
    failure::Outcome,
    output::{Format, Listing},
};

/// Games per request.
const PAGE: u32 = 1000;

/// Ways to rate.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Ratings {
    /// Elo, K = 32, starting at 1000; two seats only
    Elo,
    /// Glicko-2, starting at 1500 ± 350, one rating period per game; two seats only
    #[value(name = "glicko2")]
    Glicko2,
    /// TrueSkill, starting at 25 ± 8.3
    #[value(name = "trueskill")]
    TrueSkill,
    /// Weng and Lin's Bradley-Terry model, starting at 25 ± 8.3
    WengLin,
}

impl From<Ratings> for System {
    fn from(ratings: Ratings) -> Self {
        match ratings {
            Ratings::Elo => Self::Elo,
            Ratings::Glicko2 => Self::Glicko2,
            Ratings::TrueSkill => Self::TrueSkill,
            Ratings::WengLin => Self::WengLin,
        }
    }
}

#[derive(Serialize)]
struct View {
    agent: String,
    rating: f64,
    deviation: Option<f64>,
    games: u64,
}

/// Reads all results and prints the resulting ratings.
pub(super) async fn show(client: &mut Client, id: &str, system: System, format: Format) -> Outcome {
    let names = agents(client, id).await?;
    let mut running = Running::new(system, names.len());
    let mut games = 0;
    let request = v1::ListGamesRequest {
        tournament_id: id.to_owned(),
        page_size: PAGE,
        ..v1::ListGamesRequest::default()
    };
    each_game(client, request, |_, record| {
        let seats = record.seats.len();
        if !system.takes(seats) {
            return Err(ReportError::Usage(format!(
                "{system:?} rates games of two players, not of {seats}: use trueskill or weng-lin"
            )));
        }
        games += 1;
        let result = record.result();
        running.add(&result.seats, &result.placement);
        Ok(())
    })
    .await?;
    let ratings = (games > 0).then(|| running.ratings());
    print(names, &ratings.unwrap_or_default(), format)
}

/// Names in the order of the spec; the seats of records are indexes into it.
async fn agents(client: &mut Client, id: &str) -> Outcome<Vec<String>> {
    let tournament = arena_report::records::tournament(client, id).await?;
    let setup = tournament.setup.unwrap_or_default();
    Ok(setup.agents.into_iter().map(|agent| agent.name).collect())
}

fn print(names: Vec<String>, ratings: &[RunningRating], format: Format) -> Outcome {
    let view = |(agent, rating): (String, &RunningRating)| View {
        agent,
        rating: rating.rating,
        deviation: rating.deviation,
        games: rating.games,
    };
    let mut rows: Vec<View> = names.into_iter().zip(ratings).map(view).collect();
    rows.sort_by(|a, b| {
        b.rating
            .total_cmp(&a.rating)
            .then_with(|| a.agent.cmp(&b.agent))
    });
    let is_table = format == Format::Table;
    let real = |value: f64| match is_table {
        true => format!("{value:.2}"),
        false => value.to_string(),
    };
    let count = |value: u64| match is_table {
        true => units::count(value),
        false => value.to_string(),
    };
    let cells = |view: &View| {
        let deviation = view.deviation.map_or_else(String::new, real);
        vec![
            view.agent.clone(),
            real(view.rating),
            deviation,
            count(view.games),
        ]
    };
    let listing = Listing {
        header: vec!["agent", "rating", "deviation", "games"],
        rows: rows.into_iter().map(|view| (cells(&view), view)).collect(),
        empty: "no games",
    };
    listing.print(format)
}
