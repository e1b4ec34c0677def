//! Running ratings, from the results in index order.

use arena_tournament::ratings::running::{Running, RunningRating, System};
use arena_wire::v1;
use serde::Serialize;

use crate::{
    Client,
    error::{ReportError, Result},
    listing::Listing,
    records::{self, each_game},
    units,
};

/// Games per request.
const PAGE: u32 = 1000;

/// The rating of an agent.
#[derive(Serialize)]
pub struct RunningView {
    agent: String,
    rating: f64,
    deviation: Option<f64>,
    games: u64,
}

/// Reads all results, and rates the agents game by game. Numbers are rounded if they are `for_reader`.
pub async fn running(
    client: &mut Client,
    id: &str,
    system: System,
    for_reader: bool,
) -> Result<Listing<RunningView>> {
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
    Ok(listing(names, &ratings.unwrap_or_default(), for_reader))
}

/// Names in the order of the spec; the seats of records are indexes into it.
async fn agents(client: &mut Client, id: &str) -> Result<Vec<String>> {
    let tournament = records::tournament(client, id).await?;
    let setup = tournament.setup.unwrap_or_default();
    Ok(setup.agents.into_iter().map(|agent| agent.name).collect())
}

fn listing(
    names: Vec<String>,
    ratings: &[RunningRating],
    for_reader: bool,
) -> Listing<RunningView> {
    let view = |(agent, rating): (String, &RunningRating)| RunningView {
        agent,
        rating: rating.rating,
        deviation: rating.deviation,
        games: rating.games,
    };
    let mut rows: Vec<RunningView> = names.into_iter().zip(ratings).map(view).collect();
    rows.sort_by(|a, b| {
        b.rating
            .total_cmp(&a.rating)
            .then_with(|| a.agent.cmp(&b.agent))
    });
    let real = |value: f64| match for_reader {
        true => format!("{value:.2}"),
        false => value.to_string(),
    };
    let count = |value: u64| match for_reader {
        true => units::count(value),
        false => value.to_string(),
    };
    let cells = |view: &RunningView| {
        let deviation = view.deviation.map_or_else(String::new, real);
        vec![
            view.agent.clone(),
            real(view.rating),
            deviation,
            count(view.games),
        ]
    };
    Listing {
        header: vec!["agent", "rating", "deviation", "games"],
        rows: rows.into_iter().map(|view| (cells(&view), view)).collect(),
        empty: "no games",
    }
}
