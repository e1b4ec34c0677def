//! `arena standings`, and the standings at the end of `arena run`.

pub(crate) mod verdict;
mod view;

use arena_wire::v1;
use clap::Args;

use crate::{
    access::{AccessArgs, Client},
    failure::Outcome,
    output::{self, Format, Listing},
    units,
};

pub(super) use view::AuditsView;

/// Show who stands where in a tournament
#[derive(Debug, Args)]
#[command(after_help = "\
Intervals are 95 % intervals over blocks. Win: sole first; draw: shared first;
score of a game: (seats beaten + half of those tied) / (seats - 1).

Examples:
  arena standings demo-3f9a0c1b22
  arena standings demo-3f9a0c1b22 --output json --coordinator http://127.0.0.1:7600")]
pub(crate) struct StandingsArgs {
    /// Id of the tournament
    id: String,

    #[command(flatten)]
    access: AccessArgs,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl StandingsArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.access.open().await?;
        let outcome = show(&mut access.client, &self.id, self.output).await;
        outcome.and(access.close().await)
    }
}

/// Asks for the standings and prints them.
pub(crate) async fn show(client: &mut Client, id: &str, format: Format) -> Outcome {
    let request = v1::GetStandingsRequest {
        tournament_id: id.to_owned(),
        pairs: false,
        anchor: String::new(),
    };
    let standings = client
        .get_standings(request)
        .await?
        .into_inner()
        .standings
        .unwrap_or_default();
    print(&standings, format)
}

/// The same in words.
pub(crate) fn told(audits: &v1::Audits) -> String {
    let mut text = format!(
        "audits: {} of {} games played again, {} differ",
        audits.agreed + audits.differing,
        audits.due,
        audits.differing
    );
    if audits.differing > 0 {
        text += " (arena audit list shows them)";
    }
    if audits.waiting > 0 {
        text += &format!(
            "; {} wait for a worker that did not play them",
            audits.waiting
        );
    }
    if audits.given_up > 0 {
        text += &format!(
            "; {} are left alone until the coordinator starts again: no attempt came to an end",
            audits.given_up
        );
    }
    text
}

/// Prints standings.
pub(crate) fn print(standings: &v1::Standings, format: Format) -> Outcome {
    if format == Format::Json {
        return output::json(&view::view(standings));
    }
    let people = format == Format::Table;
    let header = if people {
        vec![
            "#",
            "agent",
            "games",
            "wins",
            "draws",
            "losses",
            "win rate [95%]",
            "score [95%]",
            "plies",
            "move p50",
            "move p99",
            "faults",
        ]
    } else {
        vec![
            "rank",
            "agent",
            "games",
            "wins",
            "draws",
            "losses",
            "voids",
            "faults",
            "score",
            "score_low",
            "score_high",
            "plies_mean",
            "win_rate",
            "win_rate_low",
            "win_rate_high",
            "blocks",
            "latency_us_p50",
            "latency_us_p99",
        ]
    };
    let rows = standings
        .agents
        .iter()
        .enumerate()
        .map(|(place, agent)| {
            let cells = if people {
                people_cells(place, agent)
            } else {
                csv_cells(place, agent)
            };
            (cells, view::agent(agent))
        })
        .collect();
    let listing = Listing {
        header,
        rows,
        empty: "no agents",
    };
    listing.print(format)?;
    if people {
        print_remarks(standings)?;
    }
    Ok(())
}

fn people_cells(place: usize, agent: &v1::AgentStanding) -> Vec<String> {
    vec![
        (place + 1).to_string(),
        agent.agent.clone(),
        units::count(agent.games),
        units::count(agent.wins),
        units::count(agent.draws),
        units::count(agent.losses),
        units::interval(agent.win_rate, agent.win_rate_low, agent.win_rate_high),
        units::interval(agent.score, agent.score_low, agent.score_high),
        units::mean(agent.plies_mean),
        units::latency(agent.latency_us_p50),
        units::latency(agent.latency_us_p99),
        agent.faults.to_string(),
    ]
}

fn csv_cells(place: usize, agent: &v1::AgentStanding) -> Vec<String> {
    let real = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    vec![
        (place + 1).to_string(),
        agent.agent.clone(),
        agent.games.to_string(),
        agent.wins.to_string(),
        agent.draws.to_string(),
        agent.losses.to_string(),
        agent.voids.to_string(),
        agent.faults.to_string(),
        real(agent.score),
        real(agent.score_low),
        real(agent.score_high),
        real(agent.plies_mean),
        real(agent.win_rate),
        real(agent.win_rate_low),
        real(agent.win_rate_high),
        agent.blocks.to_string(),
        real(agent.latency_us_p50),
        real(agent.latency_us_p99),
    ]
}

/// What the table does not say.
fn print_remarks(standings: &v1::Standings) -> Outcome {
    let mut text = String::new();
    if let Some(verdict) = verdict::text(&standings.verdict_json) {
        text += &format!("{verdict}\n");
    }
    for agent in &standings.agents {
        if agent.faults > 0 {
            let kinds: Vec<String> = agent
                .faults_by_kind
                .iter()
                .map(|(kind, count)| format!("{count} {kind}"))
                .collect();
            text += &format!("{}: {}", agent.agent, kinds.join(", "));
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
                "{}: the same game was played twice and its moves differed: it is not deterministic\n",
                agent.agent
            );
        }
    }
    if let Some(audits) = &standings.audits {
        text += &format!("{}\n", told(audits));
    }
    for remark in &standings.notes {
        text += &format!("note: {remark}\n");
    }
    output::write(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audits_that_are_given_up_are_told_apart_from_those_that_wait() {
        let audits = v1::Audits {
            due: 10,
            agreed: 5,
            differing: 1,
            waiting: 3,
            given_up: 1,
        };
        let text = told(&audits);
        for part in ["6 of 10", "1 differ", "3 wait", "1 are left alone"] {
            assert!(text.contains(part), "{text}");
        }
        let json = serde_json::to_value(AuditsView::from(audits)).expect("numbers");
        assert_eq!(
            (&json["waiting"], &json["given_up"]),
            (&3.into(), &1.into())
        );
    }
}
