//! `arena standings`, and the standings at the end of `arena run`.

mod running;

use arena_model::expect::Expectation;
use arena_report::{
    Verdict,
    rounds::rows,
    standings::{
        audits::{format_audits, unsound},
        columns, csv, rounds, table, verdict, view,
    },
    state, units,
};
use arena_wire::v1;
use clap::Args;
use itertools::Itertools;
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
    /// True if a single worker played all games and no other one will join.
    alone: bool,
    /// True if the caller prints why the tournament is paused.
    omits_pause: bool,
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
        running::show(client, &self.id, system.into(), self.output).await?;
        let is_all = !request.pairs;
        let answer = client.get_standings(request).await?.into_inner();
        let standings = answer.standings.unwrap_or_default();
        if is_all {
            return check_sound(&standings);
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
        check_sound(&standings)
    }
}

/// Requests the standings and prints them.
pub(crate) async fn show(client: &mut Client, id: &str, format: Format) -> Outcome<v1::Standings> {
    let request = v1::GetStandingsRequest {
        tournament_id: id.to_owned(),
        ..v1::GetStandingsRequest::default()
    };
    let wanted = Wanted {
        omits_pause: true,
        ..Wanted::default()
    };
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
    let wanted = Wanted {
        alone,
        ..Wanted::default()
    };
    let request = v1::GetStandingsRequest {
        tournament_id: id.to_owned(),
        pairs: !expectations.is_empty(),
        ..v1::GetStandingsRequest::default()
    };
    let standings = ask(client, request, format, wanted, expectations).await?;
    check_played(&standings)
}

/// Fails if a tournament has games, and all of them have faults or are void.
fn check_played(standings: &v1::Standings) -> Outcome {
    let id = &standings.tournament_id;
    let agents = &standings.agents;
    let played = |agent: &v1::AgentStanding| agent.wins + agent.draws + agent.losses > 0;
    if agents.iter().any(|agent| agent.voids > 0) && !agents.iter().any(played) {
        return Err(Failure::failed(format!(
            "no game of {id} could be played: all games are void, for the reason in the warnings. \
             Remove the cause, then run it again with --again"
        )));
    }
    if standings.games > 0 && standings.games_clean == 0 {
        return Err(Failure::failed(format!(
            "every game of {id} ended with a fault; the standings list the faults of each agent"
        )));
    }
    Ok(())
}

/// Fails if standings include games whose records are known to be false, or may be.
pub(crate) fn check_sound(standings: &v1::Standings) -> Outcome {
    let refuted = standings.audits.as_ref().map_or(0, |audits| audits.refuted);
    if standings.generation < standings.generations && refuted > 0 {
        return Err(Failure::differs(format!(
            "generation {} is not sound: {} of it came from workers that are not trusted, and a later \
             generation replaced them; `arena standings {}` shows the newest one",
            standings.generation,
            units::plural(refuted, "game"),
            standings.tournament_id
        )));
    }
    let (audits, id) = (standings.audits.as_ref(), &standings.tournament_id);
    let unsound = unsound(audits, standings.workers_deviating, id);
    unsound.map_or(Ok(()), |problem| Err(Failure::differs(problem)))
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
            output::write(&(text + &wrapped_lines(&table::remarks(standings))))?;
            print_remarks(standings, wanted)
        }
    }
}

/// Prints the remarks that are not in the table.
fn print_remarks(standings: &v1::Standings, wanted: Wanted) -> Outcome {
    let mut text = String::new();
    if standings.generations > 1 {
        text += &format!(
            "generation {} of {}\n",
            standings.generation, standings.generations
        );
    }
    if let Some(pause) = standings.pause.as_ref().filter(|_| !wanted.omits_pause) {
        text += &format!("paused: {}\n", state::format_pause(pause));
    }
    if let Some(verdict) = verdict::text(&standings.verdict_json) {
        text += &format!("{verdict}\n");
    }
    for agent in &standings.agents {
        if agent.faults > 0 {
            let kinds = agent.faults_by_kind.iter();
            let kinds = kinds.map(|(kind, count)| format!("{count} {kind}"));
            text += &format!("{}: {}", agent.agent, kinds.format(", "));
            if !agent.last_fault.is_empty() {
                text += &format!("; last: {}", agent.last_fault.replace('\n', "\n    "));
            }
            text.push('\n');
        }
        if agent.voids > 0 {
            text += &format!("{}: {} void games\n", agent.agent, agent.voids);
        }
        if agent.non_deterministic {
            text += &format!(
                "{}: not deterministic: an audit replayed a game with different moves, and no \
                 worker is charged\n",
                agent.agent
            );
        }
    }
    // No second worker can audit the games of the only worker.
    let audits = standings.audits.as_ref();
    let audits = audits.filter(|audits| !wanted.alone || audits.agreed + audits.differing > 0);
    if let Some(audits) = audits {
        text += &format!("{}\n", format_audits(audits));
    }
    for remark in &standings.notes {
        text += &format!("note: {remark}\n");
    }
    output::write(&wrapped_lines(&text))
}

/// Lines formatted by [`output::remark`].
fn wrapped_lines(text: &str) -> String {
    text.lines().map(output::remark).collect()
}
