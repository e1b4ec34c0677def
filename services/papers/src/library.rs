//! The data files of the published tables, which are part of the program.

use std::{collections::BTreeSet, sync::LazyLock};

use arena_engine::options;
use arena_model::{
    AgentName, seat,
    spec::{Play as PlaySettings, Spec, Variant},
};
use serde::Deserialize;
use toml::{Table, Value};

use crate::{
    dependent,
    error::{PaperError, Result},
    fields::{CellFields, FigureKind, PlayFields, Reproducibility, TableFile, nearest},
    measure::Measure,
    play,
    quantity::FigureSource,
    tables::{Matchup, Paper, PublishedTable, TableCell},
};

/// Defines the list of data files, one line for each.
macro_rules! files {
    ($($id:literal,)*) => {
        pub(crate) const FILES: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../tables/", $id, ".toml"))),)*];
    };
}

files! {
    "000-i",
    "000-ii",
    "000-iii",
    "000-iv",
    "000-vii",
    "000-viii",
    "001-i",
    "001-ii",
    "001-iii",
    "001-iv",
    "001-v",
    "001-vi",
    "001-vii",
    "002-matches",
    "002-weights",
    "003-2",
    "003-3",
    "003-cost",
    "003-example",
    "003-matches",
    "004-4-1",
}

/// Titles, authors and years of the papers.
const PAPERS: &str = include_str!("../tables/papers.toml");

/// All tables, in the order of the papers.
///
/// # Errors
/// [`PaperError::Failed`] if a data file is invalid.
pub fn tables() -> Result<&'static [PublishedTable]> {
    static TABLES: LazyLock<Result<Vec<PublishedTable>, String>> = LazyLock::new(|| {
        let tables = FILES.iter().map(|&(id, text)| read(id, text));
        let mut tables: Vec<PublishedTable> = tables.collect::<Result<_, _>>()?;
        dependent::mark(&mut tables);
        Ok(tables)
    });
    TABLES.as_deref().map_err(PaperError::failed)
}

/// The table with an id, in upper or lower case.
///
/// # Errors
/// [`PaperError::Usage`] if no table has the id.
pub fn table(id: &str) -> Result<&'static PublishedTable> {
    let tables = tables()?;
    let wanted = id.to_lowercase();
    let found = tables.iter().find(|table| table.id == wanted);
    found.ok_or_else(|| {
        let known = tables.iter().map(|table| table.id).chain(["all"]);
        let hint = options::nearest(&wanted, known).map_or_else(
            || "; `arena paper list` shows all".to_owned(),
            |nearest| format!(", did you mean \"{nearest}\"?"),
        );
        PaperError::usage(format!("no published table \"{id}\"{hint}"))
    })
}

fn papers() -> Result<Vec<Paper>, String> {
    #[derive(Deserialize)]
    struct Papers {
        paper: Vec<Paper>,
    }
    let papers: Papers = toml::from_str(PAPERS).map_err(|error| format!("papers: {error}"))?;
    Ok(papers.paper)
}

/// Reads a data file. An error message names the file.
pub(crate) fn read(id: &'static str, text: &str) -> Result<PublishedTable, String> {
    let wrong = |what: String| format!("published table {id}: {what}");
    let file: TableFile = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let paper = papers()?.into_iter().find(|paper| paper.id == file.paper);
    let paper = paper.ok_or_else(|| wrong(format!("there is no paper {}", file.paper)))?;
    let columns: BTreeSet<&str> = file.column.iter().map(|column| &*column.name).collect();
    let mut table = PublishedTable {
        id,
        paper,
        name: file.table,
        title: file.title,
        protocol: file.protocol,
        published: file.published,
        plays: Vec::new(),
        cells: Vec::new(),
    };
    for row in &file.row {
        if let Some(column) = row.cells.keys().find(|name| !columns.contains(&***name)) {
            return Err(wrong(format!("row {}: no column {column}", row.name)));
        }
        let play = nearest(&[&row.play, &file.play]).and_then(|fields| played(id, fields));
        let play = play.map_err(|what| wrong(format!("row {}: {what}", row.name)))?;
        let place = play.map(|play| table.place_of(play));
        for column in &file.column {
            let Some(entry) = row.cells.get(&column.name) else {
                continue;
            };
            let own = match entry {
                Value::Table(fields) => fields.clone(),
                figure => Table::from_iter([("published".to_owned(), figure.clone())]),
            };
            let cell = nearest(&[&own, &row.cell, &column.cell, &file.cell])
                .and_then(|fields| cell(&row.name, &column.name, fields, place))
                .and_then(|cell| table.checked(cell));
            let wrong = |what| wrong(format!("{}, {}: {what}", row.name, column.name));
            table.cells.push(cell.map_err(wrong)?);
        }
    }
    Ok(table)
}

impl PublishedTable {
    fn place_of(&mut self, play: Matchup) -> usize {
        let known = self.plays.iter().position(|known| *known == play);
        known.unwrap_or_else(|| {
            self.plays.push(play);
            self.plays.len() - 1
        })
    }

    /// Rejects a measure that the cell's matchup cannot provide.
    fn checked(&self, mut cell: TableCell) -> Result<TableCell, String> {
        let Some(measure) = &cell.measure else {
            return Ok(cell);
        };
        let play = cell.play.map(|place| &self.plays[place]);
        cell.exact = match measure.quantity.source() {
            FigureSource::Rules => true,
            FigureSource::Games => play.is_some_and(|play| play.deterministic),
            FigureSource::Clock => false,
        };
        let agents = play.map_or(0, |play| play.spec.agents.len());
        if measure.is_played() && agents == 0 {
            if cell.fields.expect != Reproducibility::None {
                return Err("nothing is played".to_owned());
            }
            // For example, people played.
            cell.measure = None;
            cell.exact = false;
            return Ok(cell);
        }
        let wanted = [measure.agent, measure.versus];
        match wanted.into_iter().flatten().find(|&agent| agent >= agents) {
            Some(agent) => Err(format!("there is no agent {agent}")),
            None => Ok(cell),
        }
    }
}

/// The matchup of a row, if it has one.
fn played(id: &str, fields: PlayFields) -> Result<Option<Matchup>, String> {
    let Some(ruleset) = fields.ruleset else {
        return Ok(None);
    };
    let count = fields.agents.len();
    let (options, seats) =
        arena_games::resolve(&ruleset, &fields.options, (count > 0).then_some(count))
            .map_err(|error| error.to_string())?;
    let mut agents: Vec<AgentName> = Vec::new();
    let mut variants: Vec<Variant> = Vec::new();
    for text in &fields.agents {
        let (name, table) = seat::parse(text).map_err(|error| error.to_string())?;
        agents.push(name.parse().map_err(|error| format!("{error}"))?);
        if let Some(table) = table {
            variants.push(table.try_into().map_err(|error| format!("{error}"))?);
        }
    }
    let mut play = Matchup {
        spec: Spec {
            name: format!("paper-{id}")
                .parse()
                .map_err(|error| format!("{error}"))?,
            ruleset,
            seed: None,
            format: arena_model::spec::Format::RoundRobin,
            tables: Default::default(),
            blocks: 0,
            seats: Some(seats),
            records: arena_model::spec::Records::default(),
            outcome: Default::default(),
            unplayed_limit: arena_model::spec::UNPLAYED_LIMIT,
            agents,
            expect: Default::default(),
            options: fields.options,
            variants,
            play: PlaySettings {
                rotate: fields.rotate,
                opening_plies: Some(fields.opening_plies),
                ..PlaySettings::default()
            },
        },
        options,
        seats,
        deterministic: fields.deterministic,
    };
    if !play.spec.agents.is_empty() {
        let games = fields.games.ok_or("it says of no number of games")?;
        play.spec.blocks = games.div_ceil(play.games_of_a_block());
        play::check(&play).map_err(|failure| failure.to_string())?;
    }
    Ok(Some(play))
}

fn cell(
    row: &str,
    column: &str,
    fields: CellFields,
    play: Option<usize>,
) -> Result<TableCell, String> {
    let measure = Measure::new(&fields)?;
    let (kind, expect) = (fields.kind, fields.expect);
    let is_compared = expect != Reproducibility::None;
    let by_rule = is_compared && !fields.is_bounded();
    let problem = match (kind, fields.of) {
        _ if !is_compared && fields.reason.is_none() => "it gives no reason why not",
        _ if is_compared && measure.is_none() => "there is nothing to compare with",
        (FigureKind::Value, _) if by_rule => "it has no bounds",
        (_, None) if by_rule => "it says of how many",
        (FigureKind::Count, None) => "a count without the number of games",
        _ => "",
    };
    if !problem.is_empty() {
        return Err(problem.to_owned());
    }
    Ok(TableCell {
        row: row.to_owned(),
        column: column.to_owned(),
        fields,
        measure,
        play,
        exact: false,
        dependent: false,
    })
}
