//! Keeps the tables that people query with SQL up to date, behind the results and outside of their
//! acknowledgement. The tables say themselves what they have: rows that were deleted are written again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use arena_store::{
    Position, Positions, Replaced, Store, StoreError, StoredGame, Table, TableChange, TableState,
    Tables,
};
use arena_wire::v1::{self, TournamentState, agent::Source};
use serde_json::{Value, json};

use crate::{
    core::state_name, error::Error, handle::Handle, info::Info, principal::Principal,
    rpc::standings, stored_game::read_record,
};

/// Time between two looks for changes.
const INTERVAL: Duration = Duration::from_secs(2);
/// A tournament whose rows took some time rests for so many times that time.
const REST: u32 = 20;
/// Games in one transaction.
const GAMES_MAX: usize = 1000;

/// The tables of a coordinator.
pub(crate) struct Following {
    handle: Handle,
    /// True if each game is a row.
    games: bool,
    agents: Option<String>,
    /// Times until which the rows of tournaments stay as they are.
    resting: HashMap<String, Instant>,
    copied: HashMap<String, Copied>,
    /// The last error, to warn once.
    failed: Option<String>,
}

/// The games of a tournament that are rows.
#[derive(Clone, Copy)]
struct Copied {
    generation: u32,
    number: u64,
    /// All games before it are rows.
    position: Option<Position>,
}

impl Following {
    pub(crate) fn new(handle: Handle, games: bool) -> Self {
        Self {
            handle,
            games,
            agents: None,
            resting: HashMap::new(),
            copied: HashMap::new(),
            failed: None,
        }
    }

    /// Writes what has changed, until it is dropped. Does nothing if the store has no tables.
    pub(crate) async fn run(mut self) {
        if self.handle.store.tables().is_none() {
            return;
        }
        loop {
            match self.refresh().await {
                Ok(()) => self.failed = None,
                Err(error) => {
                    let text = error.to_string();
                    if self.failed.as_ref() != Some(&text) {
                        tracing::warn!("the tables for queries are not up to date: {text}");
                    }
                    self.failed = Some(text);
                }
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn refresh(&mut self) -> Result<(), Error> {
        self.write_agents().await?;
        let known = self.with_tables(|tables| tables.tournaments()).await?;
        let states = self.handle.ask(|core| Ok(core.table_states())).await?;
        self.remove_gone(&known, &states).await?;
        for (id, state) in states {
            let rests = self.resting.get(&id);
            if rests.is_some_and(|until| Instant::now() < *until) {
                continue;
            }
            let began = Instant::now();
            let known = known.get(&id);
            if known.is_none() {
                self.copied.remove(&id);
            }
            if self.games {
                self.copy_games(&id, known.is_none()).await?;
            }
            if known != Some(&state) {
                self.write_standings(&id, &state).await?;
            }
            let took = began.elapsed();
            if took > INTERVAL / REST {
                self.resting.insert(id, Instant::now() + took * REST);
            } else {
                self.resting.remove(&id);
            }
        }
        Ok(())
    }

    async fn with_tables<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Tables) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Error> {
        self.handle
            .with_store(|store| {
                let tables = store.tables().ok_or(StoreError::Closed);
                Ok(tables.and_then(work)?)
            })
            .await
    }

    async fn write_agents(&mut self) -> Result<(), Error> {
        let agents = self.handle.ask(|core| Ok(core.agents())).await?;
        let agents = agents.after("");
        let rows: Vec<Value> = agents.filter_map(|agent| agent_row(&agent)).collect();
        let rows = Value::Array(rows).to_string();
        if self.agents.as_ref() == Some(&rows) {
            return Ok(());
        }
        let change = TableChange {
            table: Table::Agents,
            replaced: Replaced::All,
            rows: rows.clone(),
        };
        self.with_tables(move |tables| tables.write(vec![change]))
            .await?;
        self.agents = Some(rows);
        Ok(())
    }

    /// Removes tournaments that the store does not have, for example after a restored backup.
    async fn remove_gone(
        &self,
        known: &BTreeMap<String, TableState>,
        states: &[(String, TableState)],
    ) -> Result<(), Error> {
        let has = |id: &String| states.binary_search_by(|(it, _)| it.cmp(id)).is_ok();
        let gone: Vec<String> = known.keys().filter(|id| !has(id)).cloned().collect();
        if gone.is_empty() {
            return Ok(());
        }
        let change = |id: String, table| TableChange {
            table,
            replaced: Replaced::Tournament(id),
            rows: "[]".to_owned(),
        };
        self.with_tables(move |tables| {
            for id in gone {
                let all = [Table::Tournaments, Table::Standings, Table::Games];
                tables.write(all.map(|table| change(id.clone(), table)).into())?;
            }
            Ok(())
        })
        .await
    }

    async fn write_standings(&self, id: &str, state: &TableState) -> Result<(), Error> {
        let asked = id.to_owned();
        let tournament = self.handle.ask(move |core| core.tournament(&asked)).await?;
        let request = v1::GetStandingsRequest {
            tournament_id: id.to_owned(),
            ..Default::default()
        };
        let standings = standings::get(&self.handle, request, &Principal::local()).await?;
        let agents = standings.agents.iter();
        let agents: Vec<Value> = agents.map(|agent| standing_row(id, agent)).collect();
        let of = |table, rows: Value| TableChange {
            table,
            replaced: Replaced::Tournament(id.to_owned()),
            rows: rows.to_string(),
        };
        let changes = vec![
            of(Table::Standings, Value::Array(agents)),
            of(
                Table::Tournaments,
                json!([tournament_row(&tournament, state)]),
            ),
        ];
        self.with_tables(move |tables| tables.write(changes)).await
    }

    /// Adds the games that are durable since the last time. `anew` is true if the rows are to be
    /// written from the first one.
    async fn copy_games(&mut self, id: &str, anew: bool) -> Result<(), Error> {
        let info = self.handle.info(id).await?;
        let before = self.copied.get(id).copied();
        let before = before.filter(|it| it.generation == info.generation);
        let of = Arc::clone(&info);
        let copied = self.handle.with_store(move |store| {
            let tables = store.tables().ok_or(StoreError::Closed)?;
            copy(&of, store, tables, before, anew)
        });
        self.copied.insert(id.to_owned(), copied.await?);
        Ok(())
    }
}

/// Copies games into rows; blocks.
fn copy(
    info: &Info,
    store: &dyn Store,
    tables: &dyn Tables,
    before: Option<Copied>,
    anew: bool,
) -> Result<Copied, Error> {
    let number = store.count(&info.key);
    let now = Copied {
        generation: info.generation,
        number,
        // Games that become durable meanwhile are copied twice, and the second time ignored.
        position: store.positions().map(|it| Positions::now(&it)),
    };
    if before.is_some_and(|it| it.number == number) {
        return Ok(now);
    }
    if before.is_none() {
        // An earlier owner copied some. Of another generation, none is right.
        if !anew && info.generation == 1 && tables.games(&info.id)? == number {
            return Ok(now);
        }
        tables.write(vec![TableChange {
            table: Table::Games,
            replaced: Replaced::Tournament(info.id.to_string()),
            rows: "[]".to_owned(),
        }])?;
    }
    let mut writer = Rows {
        info,
        tables,
        rows: Vec::new(),
        result: Ok(()),
    };
    let position = before.and_then(|it| it.position);
    let resumed = match position {
        Some(position) => store.scan_from(&info.key, &position, &mut |game| writer.add(&game))?,
        None => false,
    };
    if !resumed {
        store.scan(&info.key, &mut |game| writer.add(&game))?;
    }
    writer.write();
    writer.result?;
    Ok(now)
}

/// Rows that are collected for a transaction.
struct Rows<'a> {
    info: &'a Info,
    tables: &'a dyn Tables,
    rows: Vec<Value>,
    result: Result<(), Error>,
}

impl Rows<'_> {
    fn add(&mut self, game: &StoredGame) {
        if self.result.is_err() {
            return;
        }
        match game_row(self.info, game) {
            Ok(row) => self.rows.push(row),
            Err(error) => self.result = Err(error),
        }
        if self.rows.len() == GAMES_MAX {
            self.write();
        }
    }

    fn write(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        if self.result.is_ok() && !rows.is_empty() {
            let written = self.tables.write(vec![TableChange {
                table: Table::Games,
                replaced: Replaced::None,
                rows: Value::Array(rows).to_string(),
            }]);
            self.result = written.map_err(Error::from);
        }
    }
}

/// None for a built-in bot.
fn agent_row(agent: &v1::Agent) -> Option<Value> {
    let kind = match agent.source.as_ref()? {
        Source::Native(_) if agent.registered_unix_us == 0 => return None,
        Source::Native(_) => "native",
        Source::Binary(_) => "binary",
        Source::Endpoint(_) => "endpoint",
    };
    Some(json!({
        "agent": agent.name,
        "version": agent.version,
        "kind": kind,
        "bot": agent.bot,
        "content": agent.content,
        "owner": agent.owner,
        "registered_us": agent.registered_unix_us,
    }))
}

fn tournament_row(tournament: &v1::Tournament, state: &TableState) -> Value {
    let finished = Some(tournament.finished_unix_us).filter(|time| *time > 0);
    json!({
        "tournament": tournament.tournament_id,
        "name": tournament.name,
        "ruleset": tournament.ruleset,
        "format": tournament.format,
        "state": state.state,
        "owner": tournament.owner,
        "created_us": tournament.created_unix_us,
        "finished_us": finished,
        "generation": state.generation,
        "games_total": tournament.games_total,
        // Those of the state, so that a later change is noticed.
        "games_done": state.games,
    })
}

fn standing_row(id: &str, agent: &v1::AgentStanding) -> Value {
    json!({
        "tournament": id,
        "agent": agent.agent,
        "place": agent.place,
        "games": agent.games,
        "wins": agent.wins,
        "draws": agent.draws,
        "losses": agent.losses,
        "voids": agent.voids,
        "faults": agent.faults,
        "blocks": agent.blocks,
        "points": agent.points,
        "score": agent.score,
        "score_low": agent.score_low,
        "score_high": agent.score_high,
        "score_anytime_low": agent.score_anytime_low,
        "score_anytime_high": agent.score_anytime_high,
        "score_adjusted": agent.score_adjusted,
        "score_adjusted_low": agent.score_adjusted_low,
        "score_adjusted_high": agent.score_adjusted_high,
        "rating": agent.rating,
        "rating_low": agent.rating_low,
        "rating_high": agent.rating_high,
        "win_rate": agent.win_rate,
        "win_rate_low": agent.win_rate_low,
        "win_rate_high": agent.win_rate_high,
        "plies_mean": agent.plies_mean,
        "latency_us_p50": agent.latency_us_p50,
        "latency_us_p99": agent.latency_us_p99,
        "non_deterministic": agent.non_deterministic,
    })
}

fn game_row(info: &Info, game: &StoredGame) -> Result<Value, Error> {
    let record = read_record(game)?;
    let agent = |seat: usize| {
        let agent = record.seats.get(seat).map(|agent| usize::from(*agent));
        agent.and_then(|agent| info.agents.get(agent))
    };
    let faults = || record.faults.iter();
    Ok(json!({
        "tournament": *info.id,
        "game": record.index,
        "block": record.block,
        "agents": (0..record.seats.len()).map(agent).collect::<Vec<_>>(),
        "placement": record.placement,
        "scores": record.scores,
        "plies": record.plies,
        "termination": record.termination.name(),
        "faults": faults().map(|it| it.kind.name()).collect::<Vec<_>>(),
        "fault_agents": faults().map(|it| agent(it.seat.into())).collect::<Vec<_>>(),
        "hash": hex::encode(record.hash),
    }))
}

/// The state of a tournament in the tables.
pub(crate) fn table_state(state: TournamentState, generation: u32, games: u64) -> TableState {
    TableState {
        state: state_name(state).unwrap_or_default().to_owned(),
        generation,
        games,
    }
}
