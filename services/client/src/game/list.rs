//! Games of a tournament, selected by agent, result and fault.

use std::cmp::Reverse;

use arena_engine::{FaultKind, options::nearest};
use arena_model::GameRecord;
use arena_report::{
    records::{self, TournamentRecords},
    units,
};
use arena_wire::{pages::Pages, v1};
use clap::ValueEnum;
use itertools::Itertools;

use crate::{
    access::Client,
    failure::{Failure, Outcome},
    ids,
};

/// Games per request if not all are shown.
const PAGE: u32 = 512;

/// The games to list.
#[derive(Clone, Debug)]
pub struct GameQuery {
    /// Id of the tournament, or an unambiguous prefix.
    pub id: String,
    /// Agents that played in each game; the first one has the result and the fault.
    pub agents: Vec<String>,
    /// The result for the first agent.
    pub result: Option<GameResult>,
    /// The fault of the first agent, or of any without agents.
    pub fault: Option<FaultFilter>,
    /// The order of the games.
    pub sort: Order,
    /// True if the order is reversed.
    pub reverse: bool,
    /// Index of the first game.
    pub from: u64,
    /// Maximum number of games.
    pub limit: u32,
}

/// Games that a query found.
pub struct FoundGames {
    /// The rules and agents of their tournament.
    pub rules: TournamentRecords,
    /// The games, in the order of the query.
    pub games: Vec<GameRecord>,
    /// Number of games that were found, also those beyond the limit.
    matching: u64,
    /// True if there are more games.
    has_more: bool,
    /// Number of finished games of the tournament.
    all: u64,
}

/// What came of a game for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "docs of variants would be part of --help")]
pub enum GameResult {
    Win,
    Draw,
    Loss,
    Void,
}

/// The selected faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultFilter {
    /// Faults of any kind.
    Any,
    /// Faults of one kind.
    Kind(FaultKind),
}

/// The order of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "docs of variants would be part of --help")]
pub enum Order {
    #[default]
    Index,
    Plies,
}

/// Reads a kind of fault, or `any`.
pub fn fault_kind(text: &str) -> Result<FaultFilter, String> {
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

impl GameQuery {
    /// True if only some games are selected.
    #[must_use]
    pub fn has_filter(&self) -> bool {
        !self.agents.is_empty() || self.result.is_some() || self.fault.is_some()
    }

    fn is_in_order(&self) -> bool {
        self.sort == Order::Index && !self.reverse
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

impl GameQuery {
    /// The numbers of `--agent` in the spec.
    fn numbers(&self, names: &[String]) -> Outcome<Vec<u16>> {
        let number = |name: &String| {
            let found = names.iter().zip(0..).find(|(known, _)| *known == name);
            found.map(|(_, number)| number).ok_or_else(|| {
                let names = names.iter().map(String::as_str).collect_vec();
                let choices = choices(name, &names, "choose one of");
                Failure::usage(format!("--agent {name}: unknown agent{choices}"))
            })
        };
        let agents = self.agents.iter().map(number).collect();
        if self.agents.is_empty() && self.result.is_some_and(|it| it != GameResult::Void) {
            return Err(Failure::usage("--result needs --agent"));
        }
        agents
    }

    /// Finds the games.
    pub async fn find(&self, client: &mut Client) -> Outcome<FoundGames> {
        let id = ids::tournament(client, &self.id).await?;
        let tournament = records::tournament(client, &id).await?;
        let rules = TournamentRecords::new(&tournament.setup.unwrap_or_default())?;
        let agents = self.numbers(&rules.header.agents)?;
        let in_order = self.is_in_order();
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
        Ok(FoundGames {
            rules,
            games: found,
            matching,
            has_more: more,
            all: tournament.games_done,
        })
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

impl FoundGames {
    /// How many games there are besides the listed ones, if there are any.
    #[must_use]
    pub fn remark(&self, query: &GameQuery) -> Option<String> {
        let of = match (query.is_in_order(), query.has_filter()) {
            (_, false) => format!("{} finished games", units::count(self.all)),
            (false, true) => units::plural(self.matching, "such game"),
            (true, true) => "these games".to_owned(),
        };
        let shown = self.games.len();
        self.has_more.then(|| {
            format!("{shown} of {of}; use --from and --limit for more, or `arena export` for all")
        })
    }
}
