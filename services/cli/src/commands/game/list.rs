//! `arena game list`

use std::cmp::Reverse;

use arena_engine::{FaultKind, SeatFault, options::nearest};
use arena_model::GameRecord;
use arena_report::{
    records::{self, TournamentRecords},
    units,
};
use arena_wire::{pages::Pages, v1};
use clap::{Args, ValueEnum};
use itertools::Itertools;
use serde_json::json;

use super::show::names;
use crate::{
    access::{AccessArgs, Client},
    failure::{Failure, Outcome},
    ids,
    output::{Format, Listing, note},
};

/// Games per request if not all are shown.
const PAGE: u32 = 512;

/// List the finished games of a tournament
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  arena game list demo-3f9a0c1b22
  arena game list @last --agent mine --result loss
  arena game list @last --agent mine --fault any
  arena game list @last --sort plies --limit 5
  arena game list demo-3f9a0c1b22 --from 1000 --limit 50 --output jsonl")]
pub(crate) struct ListArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    id: String,

    #[command(flatten)]
    access: AccessArgs,

    /// List only games of this agent; if repeated, only games in which all these agents
    /// played
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,

    /// List only games that the first --agent won, drew (shared first place) or lost;
    /// void: games that could not be played
    #[arg(long, value_enum, value_name = "RESULT")]
    result: Option<GameResult>,

    /// List only games with a fault of this kind, such as timeout, or `any`; with
    /// --agent, a fault of the first agent
    #[arg(long, value_name = "KIND", value_parser = fault_kind)]
    fault: Option<FaultFilter>,

    /// Sort by index, or by plies with the longest games first
    #[arg(long, value_enum, default_value_t)]
    sort: Order,

    /// Reverse the order
    #[arg(long)]
    reverse: bool,

    /// Index of the first game to show
    #[arg(long, default_value_t = 0, value_name = "INDEX")]
    from: u64,

    /// Number of games to show
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    limit: u32,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// What came of a game for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GameResult {
    Win,
    Draw,
    Loss,
    Void,
}

/// The selected faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultFilter {
    Any,
    Kind(FaultKind),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Order {
    #[default]
    Index,
    Plies,
}

fn fault_kind(text: &str) -> Result<FaultFilter, String> {
    if text == "any" {
        return Ok(FaultFilter::Any);
    }
    let found = FaultKind::ALL.iter().find(|kind| kind.name() == text);
    found.copied().map(FaultFilter::Kind).ok_or_else(|| {
        let names: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("unknown fault{}", choices(text, &names, "choose any,"))
    })
}

/// What to choose instead of an unknown name: the nearest known one, or one of all.
fn choices(name: &str, known: &[&str], choose: &str) -> String {
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!(", did you mean \"{nearest}\"?"),
        None => format!(", {choose} {}", known.join(", ")),
    }
}

impl ListArgs {
    fn has_filter(&self) -> bool {
        !self.agent.is_empty() || self.result.is_some() || self.fault.is_some()
    }

    /// True if a game is selected; `agents` are the numbers of `--agent` in the spec.
    fn wants(&self, agents: &[u16], record: &GameRecord) -> bool {
        let first = agents.first().copied();
        let all_sat = agents.iter().all(|agent| record.seats.contains(agent));
        let has_result = |result| match (result, first) {
            (GameResult::Void, _) => record.placement.is_empty(),
            (_, None) => false,
            (result, Some(agent)) => {
                let mut seats = 0..record.placement.len();
                seats.any(|seat| record.seats[seat] == agent && came_of(record, seat) == result)
            }
        };
        let has_fault = |wanted| {
            record.faults.iter().any(|fault| {
                let of_agent = first.is_none_or(|it| record.seats[usize::from(fault.seat)] == it);
                of_agent && (wanted == FaultFilter::Any || wanted == FaultFilter::Kind(fault.kind))
            })
        };
        all_sat && self.result.is_none_or(has_result) && self.fault.is_none_or(has_fault)
    }
}

/// The result of a played game for a seat.
fn came_of(record: &GameRecord, seat: usize) -> GameResult {
    let best = record.placement.iter().min();
    let first = record.placement.iter().filter(|rank| Some(*rank) == best);
    match (Some(&record.placement[seat]) == best, first.count()) {
        (false, _) => GameResult::Loss,
        (true, 1) => GameResult::Win,
        (true, _) => GameResult::Draw,
    }
}

impl ListArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.access.open().await?;
        let outcome = self.list(&mut access.client).await;
        outcome.and(access.close().await)
    }

    /// The numbers of `--agent` in the spec.
    fn agents(&self, names: &[String]) -> Outcome<Vec<u16>> {
        let number = |name: &String| {
            let found = names.iter().zip(0..).find(|(known, _)| *known == name);
            found.map(|(_, number)| number).ok_or_else(|| {
                let names = names.iter().map(String::as_str).collect_vec();
                let choices = choices(name, &names, "choose one of");
                Failure::usage(format!("--agent {name}: unknown agent{choices}"))
            })
        };
        let agents = self.agent.iter().map(number).collect();
        if self.agent.is_empty() && self.result.is_some_and(|it| it != GameResult::Void) {
            return Err(Failure::usage("--result needs --agent"));
        }
        agents
    }

    async fn list(&self, client: &mut Client) -> Outcome {
        let id = ids::tournament(client, &self.id).await?;
        let tournament = arena_report::records::tournament(client, &id).await?;
        let rules = TournamentRecords::new(&tournament.setup.unwrap_or_default())?;
        let agents = self.agents(&rules.header.agents)?;
        let in_order = self.sort == Order::Index && !self.reverse;
        let limit = self.limit as usize;
        let mut found: Vec<GameRecord> = Vec::new();
        let (mut matching, mut more) = (0_u64, false);
        let mut request = v1::ListGamesRequest {
            tournament_id: id,
            page_size: match in_order && !self.has_filter() {
                true => self.limit,
                false => PAGE,
            },
            from_index: self.from,
            ..v1::ListGamesRequest::default()
        };
        let mut read = Pages::default();
        loop {
            let page = client.list_games(request.clone()).await?.into_inner();
            for game in &page.games {
                let record = records::record(game.record.as_ref())?;
                if self.wants(&agents, &record) {
                    matching += 1;
                    found.push(record);
                }
            }
            request.page_token = page.next_page_token;
            let is_last = !read.follows(&request.page_token)?;
            if in_order && found.len() >= limit {
                more = !is_last || found.len() > limit;
                break;
            }
            if !in_order && found.len() >= 2 * PAGE as usize {
                self.keep_first(&mut found);
            }
            if is_last {
                break;
            }
        }
        self.keep_first(&mut found);
        more |= matching > found.len() as u64;
        let shown = found.len();
        let listing = Listing {
            header: vec![
                "game",
                "seats",
                "placement",
                "scores",
                "plies",
                "termination",
                "faults",
            ],
            rows: found.iter().map(|record| row(&rules, record)).collect(),
            empty: match self.has_filter() {
                true => "no finished game matches",
                false => "no finished games in that range",
            },
        };
        listing.print(self.output)?;
        if self.output == Format::Table && more {
            let of = match (in_order, self.has_filter()) {
                (_, false) => format!("{} finished games", units::count(tournament.games_done)),
                (false, true) => units::plural(matching, "such game"),
                (true, true) => "these games".to_owned(),
            };
            note(format!(
                "{shown} of {of}; use --from and --limit for more, or `arena export` for all"
            ));
        }
        Ok(())
    }

    /// Keeps only as many games as are shown, in their order.
    fn keep_first(&self, found: &mut Vec<GameRecord>) {
        found.sort_by_key(|record| match self.sort {
            Order::Index => (Reverse(0), record.index),
            Order::Plies => (Reverse(record.plies), record.index),
        });
        if self.reverse {
            found.reverse();
        }
        found.truncate(self.limit as usize);
    }
}

fn row(rules: &TournamentRecords, record: &GameRecord) -> (Vec<String>, serde_json::Value) {
    let id = format!("{}/{}", rules.header.tournament_id, record.index);
    let seats = names(rules, record);
    let fault =
        |fault: &SeatFault| format!("{}: {}", seats[usize::from(fault.seat)], fault.kind.name());
    let faults = record.faults.iter().map(fault).collect_vec();
    let cells = vec![
        id.clone(),
        seats.join(", "),
        record.placement.iter().join(" "),
        record.scores.iter().join(" "),
        record.plies.to_string(),
        record.termination.name().to_owned(),
        faults.join(", "),
    ];
    let value = json!({
        "game_id": id,
        "seats": seats,
        "placement": Some(&record.placement).filter(|ranks| !ranks.is_empty()),
        "scores": record.scores,
        "luck": Some(&record.luck).filter(|luck| !luck.is_empty()),
        "plies": record.plies,
        "termination": record.termination.name(),
        "faults": faults,
    });
    (cells, value)
}
