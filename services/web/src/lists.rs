//! Lists of tournaments, games, workers and agents.

use arena_model::GameRecord;
use arena_report::{
    records::{self, TournamentRecords},
    standings::view,
    state::state_name,
    units,
};
use arena_wire::v1::{self, agent::Source};
use askama::Template;
use serde_json::{Value, json};

use crate::{
    answer::{Answer, Failure, Outcome},
    site::Site,
};

/// Rows of a page.
const ROWS: usize = 100;

/// A page of rows, and the links to the next and previous pages.
#[derive(Template)]
#[template(path = "list.html")]
struct Page {
    title: String,
    /// Id and name of the tournament that the rows belong to.
    of: Option<(String, String)>,
    heads: &'static [&'static str],
    rows: Vec<Row>,
    /// What is said without rows.
    empty: &'static str,
    notes: Vec<String>,
    at: Pager,
}

/// A row: the address of what it names, and its cells.
struct Row {
    link: Option<String>,
    cells: Vec<String>,
}

/// Which page of how many, from 1.
#[derive(Clone, Copy)]
struct Pager {
    page: usize,
    pages: usize,
}

impl Pager {
    /// Fails if there is no such page.
    fn new(page: u64, rows: usize) -> Outcome<Self> {
        let pages = rows.div_ceil(ROWS).max(1);
        let missing = || Failure::not_found(format!("there are only {pages} pages"));
        let page = usize::try_from(page).map_err(|_| missing())?;
        match (1..=pages).contains(&page) {
            true => Ok(Self { page, pages }),
            false => Err(missing()),
        }
    }

    /// The first row of the page.
    fn first(self) -> usize {
        (self.page - 1) * ROWS
    }

    fn json(self, key: &str, rows: Vec<Value>) -> Answer {
        Answer::value(&json!({ "page": self.page, "pages": self.pages, key: rows }))
    }
}

/// A tournament as JSON.
pub(crate) fn tournament(of: &v1::Tournament) -> Value {
    json!({
        "tournament_id": of.tournament_id,
        "name": of.name,
        "ruleset": of.ruleset,
        "format": of.format,
        "state": state_name(of.state()),
        "games": of.games_done,
        "games_total": of.games_total,
        "created_unix_us": of.created_unix_us,
        "finished_unix_us": of.finished_unix_us,
        "generation": of.generation.max(1),
        "pause": of.pause.as_ref().map(view::pause),
    })
}

/// Tournaments, newest first.
pub(crate) async fn tournaments(site: &Site, page: u64, as_json: bool) -> Outcome {
    let all = site.tournaments().await?;
    let at = Pager::new(page, all.len())?;
    let shown = all.iter().rev().skip(at.first()).take(ROWS);
    if as_json {
        return Ok(at.json("tournaments", shown.map(tournament).collect()));
    }
    let row = |of: &v1::Tournament| Row {
        link: Some(format!("/t/{}", of.tournament_id)),
        cells: vec![
            of.tournament_id.clone(),
            state_name(of.state()).to_owned(),
            units::count(of.games_done),
            units::count(of.games_total),
            of.ruleset.clone(),
            of.format.clone(),
            units::minute(of.created_unix_us),
        ],
    };
    let page = Page {
        title: "Tournaments".to_owned(),
        of: None,
        heads: &[
            "tournament",
            "state",
            "games",
            "of",
            "ruleset",
            "format",
            "created (UTC)",
        ],
        rows: shown.map(row).collect(),
        empty: "There are no tournaments yet.",
        notes: Vec::new(),
        at,
    };
    Ok(Answer::page(&page.render()?))
}

/// The connected workers.
pub(crate) async fn workers(site: &Site, page: u64, as_json: bool) -> Outcome {
    let found = site.workers().await?;
    let (all, waiting) = &*found;
    let at = Pager::new(page, all.len())?;
    let shown = all.iter().skip(at.first()).take(ROWS);
    if as_json {
        let worker = |it: &v1::Worker| {
            json!({
                "worker_id": it.worker_id,
                "name": it.name,
                "version": it.version,
                "capacity": it.capacity,
                "leases": it.leases,
                "games_leased": it.games_leased,
                "games_reported": it.games_reported,
                "sandbox": it.sandbox,
                "quarantined": it.quarantined,
            })
        };
        return Ok(Answer::value(&json!({
            "page": at.page,
            "pages": at.pages,
            "workers": shown.map(worker).collect::<Vec<_>>(),
            "games_waiting": waiting,
        })));
    }
    let row = |it: &v1::Worker| Row {
        link: None,
        cells: vec![
            it.name.clone(),
            it.version.clone(),
            units::count(it.capacity.into()),
            units::count(it.games_leased),
            units::count(it.games_reported),
            it.sandbox.clone(),
            if it.quarantined { "quarantined" } else { "ok" }.to_owned(),
        ],
    };
    let waiting = units::plural(*waiting, "game");
    let page = Page {
        title: "Workers".to_owned(),
        of: None,
        heads: &[
            "worker",
            "version",
            "capacity",
            "games leased",
            "games reported",
            "sandbox",
            "state",
        ],
        rows: shown.map(row).collect(),
        empty: "No worker is connected.",
        notes: vec![format!("Waiting for a worker: {waiting}.")],
        at,
    };
    Ok(Answer::page(&page.render()?))
}

/// The kind of an agent's source.
fn source(agent: &v1::Agent) -> &'static str {
    match agent.source {
        Some(Source::Binary(_)) => "binary",
        Some(Source::Endpoint(_)) => "endpoint",
        Some(Source::Native(_)) | None => "built in",
    }
}

/// The registered agents.
pub(crate) async fn agents(site: &Site, page: u64, as_json: bool) -> Outcome {
    let all = site.agents().await?;
    let at = Pager::new(page, all.len())?;
    let shown = all.iter().skip(at.first()).take(ROWS);
    if as_json {
        let agent = |it: &v1::Agent| {
            json!({
                "name": it.name,
                "version": it.version,
                "bot": it.bot,
                "source": source(it),
                "content": Some(&it.content).filter(|it| !it.is_empty()),
                "registered_unix_us": it.registered_unix_us,
            })
        };
        return Ok(at.json("agents", shown.map(agent).collect()));
    }
    let row = |it: &v1::Agent| Row {
        link: None,
        cells: vec![
            it.name.clone(),
            it.version.clone(),
            it.bot.clone(),
            source(it).to_owned(),
            match it.registered_unix_us {
                0 => "–".to_owned(),
                at => units::minute(at),
            },
        ],
    };
    let page = Page {
        title: "Agents".to_owned(),
        of: None,
        heads: &["agent", "version", "bot", "source", "registered (UTC)"],
        rows: shown.map(row).collect(),
        empty: "No agent is registered.",
        notes: Vec::new(),
        at,
    };
    Ok(Answer::page(&page.render()?))
}

/// The games of a tournament, by index. The coordinator hides games of incomplete blocks while the
/// seed is sealed.
pub(crate) async fn games(site: &Site, id: &str, page: u64, as_json: bool) -> Outcome {
    let tournament = site.tournament(id).await?;
    let at = Pager::new(page, usize::try_from(tournament.games_total).unwrap_or(0))?;
    let rules = TournamentRecords::new(&tournament.setup.clone().unwrap_or_default())?;
    let first = at.first() as u64;
    let request = v1::ListGamesRequest {
        tournament_id: id.to_owned(),
        page_size: ROWS as u32,
        from_index: first,
        ..v1::ListGamesRequest::default()
    };
    let answer = site.client().list_games(request).await?.into_inner();
    let mut shown = Vec::new();
    for game in &answer.games {
        let record = records::record(game.record.as_ref())?;
        if record.index < first + ROWS as u64 {
            shown.push(record);
        }
    }
    if as_json {
        let game = |record: &GameRecord| game_json(&rules, record);
        return Ok(at.json("games", shown.iter().map(game).collect()));
    }
    let page = Page {
        title: format!("Games of {}", tournament.name),
        of: Some((tournament.tournament_id.clone(), tournament.name.clone())),
        heads: &["game", "agents by place", "plies", "end", "faults"],
        rows: shown.iter().map(|it| game_row(&rules, it)).collect(),
        empty: "None of these games is finished.",
        notes: vec![format!(
            "Finished: {} of {}.",
            units::count(tournament.games_done),
            units::plural(tournament.games_total, "game")
        )],
        at,
    };
    Ok(Answer::page(&page.render()?))
}

/// The names of a game's agents by seat.
pub(crate) fn seats<'a>(rules: &'a TournamentRecords, record: &GameRecord) -> Vec<&'a str> {
    let names = &rules.header.agents;
    let name = |&agent: &u16| names.get(usize::from(agent)).map_or("?", String::as_str);
    record.seats.iter().map(name).collect()
}

fn game_row(rules: &TournamentRecords, record: &GameRecord) -> Row {
    let seats = seats(rules, record);
    let mut order: Vec<usize> = (0..seats.len()).collect();
    order.sort_by_key(|&seat| record.placement.get(seat).copied());
    let placed = order.iter().map(|&seat| match record.placement.get(seat) {
        Some(place) => format!("{place}. {}", seats[seat]),
        None => seats[seat].to_owned(),
    });
    let faults = record.faults.iter();
    let faults = faults.map(|it| format!("{} ({})", seats[usize::from(it.seat)], it.kind.name()));
    let faults: Vec<String> = faults.collect();
    Row {
        link: Some(format!(
            "/t/{}/games/{}",
            rules.header.tournament_id, record.index
        )),
        cells: vec![
            record.index.to_string(),
            placed.collect::<Vec<_>>().join(", "),
            record.plies.to_string(),
            record.termination.name().to_owned(),
            match faults.is_empty() {
                true => "–".to_owned(),
                false => faults.join(", "),
            },
        ],
    }
}

fn game_json(rules: &TournamentRecords, record: &GameRecord) -> Value {
    let fault = |it: &arena_model::engine::SeatFault| json!({ "ply": it.ply, "seat": it.seat, "kind": it.kind.name() });
    json!({
        "game_id": format!("{}/{}", rules.header.tournament_id, record.index),
        "index": record.index,
        "seats": seats(rules, record),
        "placement": record.placement,
        "scores": record.scores,
        "plies": record.plies,
        "termination": record.termination.name(),
        "faults": record.faults.iter().map(fault).collect::<Vec<_>>(),
        "hash": hex::encode(record.hash),
    })
}
