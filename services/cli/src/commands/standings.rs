//! `arena standings`, and the standings at the end of `arena run`.

mod running;

use arena_model::expect::Expectation;
use arena_report::{
    Verdict,
    rounds::rows,
    running::running,
    standings::{
        columns, csv,
        remarks::{RemarkOptions, remarks},
        rounds,
        sound::{check_played, check_sound},
        table, view,
    },
};
use arena_wire::v1;
use clap::Args;
use serde_json::json;

use crate::{
    access::{AccessArgs, Client},
    failure::{Failure, Outcome},
    ids,
    output::{self, Format, note},
};

use super::expect::{self, ExpectArgs};
use running::Ratings;

/// Show the standings of a tournament
#[derive(Debug, Args)]
#[command(after_help = columns::help() + "
--expect \"A beats B\" compares the games of the two agents, \"A is rated above B\" their
ratings.
Intervals are pointwise 95 % confidence intervals over blocks, valid for a number of
games fixed in advance (…_low, …_high). In adaptive formats (ladder, swiss, knockout,
sprt), results decide which games are played or when the tournament ends. For these
formats, the table shows anytime-valid intervals (…_anytime_low, …_anytime_high).
--wide and json show both.
The line \"paired seats\" shows the pairing efficiency: how much paired seats reduce the
variance of scores, compared with as many unpaired games, and how many more unpaired
games would give the same precision. superiority in the pairs of json and csv is the
likelihood of superiority (LOS): the probability that the true head-to-head score of the
first agent is above one half.
points in json and csv are sums of game scores from 0 to 1. A finished Swiss
tournament also has swiss_points (1 for each opponent beaten, byes included), buchholz
(byes excluded) and byes, which decide the places; --rounds shows swiss_points.

services/tournament/README.md in the source repository defines every number.

Examples:
  arena standings demo-3f9a0c1b22
  arena standings demo-3f9a0c1b22 --crosstable --anchor random
  arena standings demo-3f9a0c1b22 --ratings glicko2 --output csv
  arena standings cup-3f9a0c1b22 --rounds
  arena standings demo-3f9a0c1b22 --expect \"mixed beats random by 50 elo at 95 %\"
  arena standings demo-3f9a0c1b22 --output json --coordinator http://127.0.0.1:7600")]
pub(crate) struct StandingsArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    id: String,

    /// Agent whose rating is set to 0 [default: the mean of all agents is 0]
    #[arg(long, value_name = "AGENT")]
    anchor: Option<String>,

    /// Also show the score of each pair of agents; csv and jsonl print only the pairs
    #[arg(long)]
    crosstable: bool,

    /// Also show the pairings of each round of a finished Swiss or knockout tournament;
    /// csv and jsonl print only the rounds. A knockout of up to 31 matches always shows
    /// them
    #[arg(long)]
    rounds: bool,

    /// Show all columns, even if they do not fit the width of the terminal
    #[arg(long)]
    wide: bool,

    /// Do not protect csv cells that look like formulas with an apostrophe
    #[arg(long)]
    raw: bool,

    /// Show sequential ratings instead, updated game by game in index order
    #[arg(long, value_enum, conflicts_with_all = ["anchor", "wide", "rounds", "raw"])]
    ratings: Option<Ratings>,

    /// Show an earlier generation: the games before `arena tournament retry`
    #[arg(long, value_name = "N", conflicts_with = "ratings", value_parser = clap::value_parser!(u32).range(1..))]
    generation: Option<u32>,

    #[command(flatten)]
    access: AccessArgs,

    #[command(flatten)]
    expect: ExpectArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// The requested parts besides the agents.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    crosstable: bool,
    rounds: bool,
    wide: bool,
    raw: bool,
    remarks: RemarkOptions,
}

impl StandingsArgs {
    pub(crate) async fn run(mut self) -> Outcome {
        let mut access = self.access.open().await?;
        let outcome = self.show(&mut access.client).await;
        outcome.and(access.close().await)
    }

    async fn show(&mut self, client: &mut Client) -> Outcome {
        self.id = ids::tournament(client, &self.id).await?;
        let only_one = match self.output {
            Format::Table => None,
            _ if self.ratings.is_some() => Some("--ratings"),
            Format::Csv | Format::Jsonl if self.rounds => Some("--rounds"),
            _ => None,
        };
        if let Some(flag) = only_one.filter(|_| self.crosstable) {
            return Err(Failure::usage(format!(
                "{flag} and --crosstable print different tables: with --output, use one at a time"
            )));
        }
        let expectations = self.expect.of(client, &self.id).await?;
        let request = v1::GetStandingsRequest {
            tournament_id: self.id.clone(),
            pairs: self.crosstable || !expectations.is_empty(),
            anchor: self.anchor.clone().unwrap_or_default(),
            generation: self.generation.unwrap_or_default(),
        };
        let wanted = Wanted {
            crosstable: self.crosstable,
            rounds: self.rounds,
            wide: self.wide,
            raw: self.raw,
            ..Wanted::default()
        };
        let Some(system) = self.ratings else {
            ask(client, request, self.output, wanted, &expectations).await?;
            return Ok(());
        };
        let for_reader = self.output == Format::Table;
        let ratings = running(client, &self.id, system.into(), for_reader).await?;
        output::print(&ratings, self.output)?;
        let is_all = !request.pairs;
        let answer = client.get_standings(request).await?.into_inner();
        let standings = answer.standings.unwrap_or_default();
        if is_all {
            return Ok(check_sound(&standings)?);
        }
        if self.crosstable {
            let crosstable = table::crosstable(&standings, self.wide, output::width());
            output::write(&format!("\n{crosstable}\n"))?;
        }
        let format = match self.output {
            // These ratings do not contain verdicts of expectations.
            Format::Json => Format::Jsonl,
            other => other,
        };
        expect::conclude(&arena_report::check(&expectations, &standings), format)?;
        Ok(check_sound(&standings)?)
    }
}

/// Requests the standings and prints them.
pub(crate) async fn show(client: &mut Client, id: &str, format: Format) -> Outcome<v1::Standings> {
    let request = v1::GetStandingsRequest {
        tournament_id: id.to_owned(),
        ..v1::GetStandingsRequest::default()
    };
    let mut wanted = Wanted::default();
    wanted.remarks.omits_pause = true;
    ask(client, request, format, wanted, &[]).await
}

/// Prints the standings and checks the expectations; `alone` is true for the only worker of
/// a coordinator that ends with it. Fails if there are games but none could be played.
pub(crate) async fn show_checked(
    client: &mut Client,
    id: &str,
    format: Format,
    alone: bool,
    expectations: &[Expectation],
) -> Outcome {
    let mut wanted = Wanted::default();
    wanted.remarks.alone = alone;
    let request = v1::GetStandingsRequest {
        tournament_id: id.to_owned(),
        pairs: !expectations.is_empty(),
        ..v1::GetStandingsRequest::default()
    };
    let standings = ask(client, request, format, wanted, expectations).await?;
    Ok(check_played(&standings)?)
}

async fn ask(
    client: &mut Client,
    request: v1::GetStandingsRequest,
    format: Format,
    wanted: Wanted,
    expectations: &[Expectation],
) -> Outcome<v1::Standings> {
    let answer = client.get_standings(request).await?.into_inner();
    let standings = answer.standings.unwrap_or_default();
    let verdicts = arena_report::check(expectations, &standings);
    print(&standings, &verdicts, format, wanted)?;
    expect::conclude(&verdicts, format)?;
    check_sound(&standings)?;
    Ok(standings)
}

/// Prints standings.
fn print(
    standings: &v1::Standings,
    verdicts: &[Verdict],
    format: Format,
    wanted: Wanted,
) -> Outcome {
    match format {
        Format::Json => {
            let mut view = view::view(standings);
            view.expectations = Some(verdicts).filter(|verdicts| !verdicts.is_empty());
            output::json(&view)
        }
        Format::Jsonl | Format::Csv if wanted.rounds => {
            let rounds = rounds::rounds(standings);
            if rounds.is_none() {
                note(rounds::absence(standings));
            }
            let rows = rounds.as_ref().map(rows).unwrap_or_default();
            match format {
                Format::Csv => output::write(&csv::rounds(&rows, wanted.raw)?),
                // As a value, its keys are sorted.
                _ => rows
                    .iter()
                    .try_for_each(|row| output::json_line(&json!(row))),
            }
        }
        Format::Jsonl if wanted.crosstable => {
            let mut pairs = standings.pairs.iter();
            pairs.try_for_each(|pair| output::json_line(&view::pair(pair)))
        }
        Format::Jsonl => {
            let mut agents = standings.agents.iter();
            agents.try_for_each(|agent| output::json_line(&view::agent(agent)))
        }
        Format::Csv if wanted.crosstable => output::write(&csv::pairs(standings, wanted.raw)?),
        Format::Csv => output::write(&csv::agents(standings, wanted.raw)?),
        Format::Table => {
            let width = output::width();
            let mut text = table::people(standings, wanted.wide, width);
            if wanted.crosstable {
                let crosstable = table::crosstable(standings, wanted.wide, width);
                text += &format!("\n{crosstable}\n");
            }
            text += &rounds::render(standings, wanted.rounds, width);
            let remarks = table::remarks(standings) + &remarks(standings, wanted.remarks);
            let remarks: String = remarks.lines().map(output::remark).collect();
            output::write(&(text + &remarks))
        }
    }
}
