//! Exports of games, decisions and standings.

use std::{path::PathBuf, sync::Arc};

use arena_model::{GameRecord, Returns, Tournament, printable_json};
use arena_report::{
    ReportError,
    export::{
        parts::Parts,
        pgn,
        sink::{Csv, Jsonl, Out, Sink},
        table::{self, Cell, ExportColumn},
    },
    records::{self, TournamentRecords, each_game, each_page},
    standings::sound::check_sound,
};
use arena_wire::v1;
use clap::ValueEnum;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    access::Client,
    failure::{Failure, Outcome},
    ids,
    output::note,
};

/// Games per request.
const PAGE: u32 = 1024;

/// The table to export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "docs of variants would be part of --help")]
pub enum ExportTable {
    #[default]
    Games,
    Decisions,
    Standings,
}

/// The format of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "docs of variants would be part of --help")]
pub enum ExportFormat {
    #[default]
    Jsonl,
    Csv,
    Parquet,
    Pgn,
}

/// The parts of records to export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "docs of variants would be part of --help")]
pub enum ExportRecords {
    #[default]
    Full,
    Hash,
}

/// A tournament to export.
struct Source {
    id: String,
    rules: TournamentRecords,
    spec_json: Arc<str>,
    returns: Option<Returns>,
    /// The last cells of each row.
    cells: [Cell; 4],
}

impl Source {
    /// Writes a row, with the cells of its tournament at the end.
    fn write(&self, cells: &mut Vec<Cell>, sink: &mut dyn Sink) -> Result<(), ReportError> {
        cells.extend_from_slice(&self.cells);
        sink.row(cells)
    }
}

/// What to export, and how.
#[derive(Clone, Debug)]
pub struct Export {
    /// Id of the tournament, or an unambiguous prefix; all tournaments without one.
    pub id: Option<String>,
    /// The table.
    pub table: ExportTable,
    /// Its format.
    pub format: ExportFormat,
    /// The parts of records.
    pub records: ExportRecords,
    /// True if the timing of each game is added.
    pub with_timing: bool,
    /// The generation of games; without one, the newest.
    pub generation: Option<u32>,
    /// True if formulas in CSV stay as they are.
    pub raw: bool,
    /// The file to write; without one, stdout.
    pub out: Option<PathBuf>,
    /// The folder to write parts into, instead of one file.
    pub folder: Option<PathBuf>,
    /// Maximum number of rows of a part.
    pub rows_per_file: u64,
}

impl Export {
    /// Writes the export.
    pub async fn write(&self, client: &mut Client) -> Outcome {
        let has_parts = matches!(self.format, ExportFormat::Csv | ExportFormat::Parquet);
        if self.folder.is_some() && !has_parts {
            return Err(Failure::usage("--folder needs --format csv or parquet"));
        }
        let sources = self.sources(client).await?;
        // Tournaments with fewer seats leave the columns of the other seats empty.
        let seats = sources.iter().map(|source| source.rules.game.seats());
        let seats = seats.max().unwrap_or(2);
        let open = || Out::open(self.out.as_deref(), self.format == ExportFormat::Parquet);
        if self.table == ExportTable::Games && self.format == ExportFormat::Jsonl {
            let mut out = open()?;
            for source in &sources {
                each_game(client, self.request(source), |game, record| {
                    out.text(&self.line(&source.rules, game, &record)?)
                })
                .await?;
            }
            return Ok(out.finish()?);
        }
        if self.format == ExportFormat::Pgn {
            if self.table != ExportTable::Games {
                return Err(Failure::usage("--format pgn exports --table games only"));
            }
            let mut out = open()?;
            for source in &sources {
                let chess = pgn::rules(&source.rules)?;
                each_game(client, self.request(source), |game, record| {
                    let timing = game.timing.clone().filter(|_| self.with_timing);
                    let timing = timing.unwrap_or_default();
                    out.text(&pgn::game(&chess, &source.rules, &record, &timing)?)
                })
                .await?;
            }
            return Ok(out.finish()?);
        }
        let with_returns = sources.iter().any(|source| source.returns.is_some());
        let columns = match self.table {
            ExportTable::Games => table::game_columns(seats, with_returns, self.with_timing),
            ExportTable::Decisions => table::decision_columns(),
            ExportTable::Standings => table::standing_columns(seats),
        };
        let mut sink: Box<dyn Sink + '_> = match &self.folder {
            None => self.sink(open()?, &columns)?,
            Some(folder) => {
                let open = |out| self.sink(out, &columns);
                let of = (name_of(self.table), name_of(self.format));
                let of = (&*of.0, &*of.1);
                Box::new(Parts::create(
                    folder,
                    of,
                    &columns,
                    self.rows_per_file,
                    Box::new(open),
                )?)
            }
        };
        let mut sound = Ok(());
        for source in &sources {
            sink.begin(&source.id)?;
            match self.table {
                ExportTable::Games => {
                    let mut cells = Vec::new();
                    let request = self.request(source);
                    let returns = with_returns.then_some(source.returns.as_ref());
                    each_page(client, &source.rules, request, |games| {
                        (0..games.games()).try_for_each(|at| {
                            table::game(&source.rules, games, at, seats, returns, &mut cells);
                            source.write(&mut cells, &mut *sink)
                        })
                    })
                    .await?;
                }
                ExportTable::Decisions => {
                    each_game(client, self.request(source), |_, record| {
                        let mut row = |cells: &mut Vec<Cell>| source.write(cells, &mut *sink);
                        table::decisions(&source.rules, &record, &mut row)
                    })
                    .await?;
                }
                ExportTable::Standings => {
                    let request = v1::GetStandingsRequest {
                        tournament_id: source.id.clone(),
                        generation: self.generation.unwrap_or_default(),
                        ..v1::GetStandingsRequest::default()
                    };
                    let response = client.get_standings(request).await?.into_inner();
                    let standings = response.standings.unwrap_or_default();
                    sound = sound.and(check_sound(&standings));
                    for mut row in table::standings(&standings, seats) {
                        row.extend_from_slice(&source.cells);
                        row.push(Arc::clone(&source.spec_json).into());
                        sink.row(&mut row)?;
                    }
                }
            }
        }
        sink.finish()?;
        Ok(sound?)
    }

    /// The tournaments to export.
    async fn sources(&self, client: &mut Client) -> Outcome<Vec<Source>> {
        let ids = match &self.id {
            Some(id) => vec![ids::tournament(client, id).await?],
            None => {
                let mut all = ids::all(client).await?;
                all.sort_by_key(|tournament| tournament.created_unix_us);
                all.into_iter().map(|it| it.tournament_id).collect()
            }
        };
        let mut sources = Vec::with_capacity(ids.len());
        for id in ids {
            let tournament = records::tournament(client, &id).await?;
            let newest = tournament.generation.max(1);
            let generation = self.generation.unwrap_or(newest);
            if newest > 1 {
                note(format!("{id}: generation {generation} of {newest}"));
            }
            let setup = tournament.setup.unwrap_or_default();
            if setup.hash_only && self.wants_events() {
                let problem = records::not_kept(&id, &format!("{id}/INDEX"));
                return Err(Failure::usage(format!(
                    "{problem}; --records hash exports everything that is stored"
                )));
            }
            let shown = Tournament::shown(&tournament.spec_json);
            let (shown, seed) = shown.map_err(|error| {
                Failure::failed(format!("cannot read the spec of {id}: {error}"))
            })?;
            let spec_sha256 = hex::encode(Sha256::digest(&tournament.spec_json));
            // There is no seed while it is sealed.
            let seed = seed.map(|seed| seed.to_string().into());
            let shared = |text: Arc<str>| Cell::Shared(text);
            sources.push(Source {
                rules: TournamentRecords::new(&setup)?,
                cells: [
                    shared(id.as_str().into()),
                    generation.into(),
                    seed.map(shared).into(),
                    shared(spec_sha256.into()),
                ],
                spec_json: tournament.spec_json.into(),
                returns: shown.returns,
                id,
            });
        }
        Ok(sources)
    }

    /// True if the export needs events, which a hash-only tournament does not have.
    fn wants_events(&self) -> bool {
        match self.table {
            ExportTable::Games => match self.format {
                ExportFormat::Jsonl => self.records == ExportRecords::Full,
                format => format == ExportFormat::Pgn,
            },
            ExportTable::Decisions => true,
            ExportTable::Standings => false,
        }
    }

    fn sink(&self, out: Out, columns: &[ExportColumn]) -> Result<Box<dyn Sink>, ReportError> {
        match self.format {
            ExportFormat::Jsonl => Ok(Box::new(Jsonl::new(out, columns))),
            ExportFormat::Csv => Ok(Box::new(Csv::new(out, columns, self.raw)?)),
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet => Ok(Box::new(arena_report::export::parquet::Parquet::new(
                out, columns,
            )?)),
            ExportFormat::Pgn => unreachable!("PGN has no columns"),
            #[cfg(not(feature = "parquet"))]
            ExportFormat::Parquet => unreachable!("an arena without Parquet refuses it"),
        }
    }

    /// The first page of the games to export.
    fn request(&self, source: &Source) -> v1::ListGamesRequest {
        v1::ListGamesRequest {
            tournament_id: source.id.clone(),
            page_size: PAGE,
            with_timing: self.with_timing,
            generation: self.generation.unwrap_or_default(),
            ..v1::ListGamesRequest::default()
        }
    }

    /// A record as a line; the format is a contract.
    fn line(
        &self,
        rules: &TournamentRecords,
        game: &v1::GameReport,
        record: &GameRecord,
    ) -> Result<String, ReportError> {
        let mut line = match self.records {
            ExportRecords::Full => rules.line(record)?,
            ExportRecords::Hash => rules.short_line(record)?,
        };
        if let Some(timing) = game.timing.as_ref().filter(|_| self.with_timing) {
            let timing = json!({
                "worker": timing.worker,
                "started_unix_us": timing.started_unix_us,
                "duration_us": timing.duration_us,
                "latencies_us": timing.latencies_us,
                "run_queue_us": timing.run_queue_us,
                "searches": timing.searches.iter().map(search).collect::<Vec<_>>(),
                "generation": game.generation.max(1),
            });
            line.pop();
            let timing = timing.to_string();
            line += &format!(",\"timing\":{}}}", printable_json(&timing));
        }
        line.push('\n');
        Ok(line)
    }
}

/// The name of a value of an option.
fn name_of(value: impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// What an agent reported of a search, in its own unit.
fn search(note: &v1::SearchNote) -> serde_json::Value {
    json!({
        "score": note.score_thousandths.map(|score| score as f64 / 1e3),
        "depth": Some(note.depth).filter(|&depth| depth > 0),
        "nodes": Some(note.nodes).filter(|&nodes| nodes > 0),
    })
}
