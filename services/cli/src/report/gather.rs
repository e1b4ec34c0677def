//! From the coordinator to a report.

use arena_model::Tournament;
use arena_wire::v1::{self, agent_setup::Source};

use super::{Agent, Report, board::Boards, sample::Sampler, scan::Scan};
use crate::{
    access::Client,
    commands::export,
    failure::{Failure, Outcome},
    model::{self, Rules},
};

/// Games asked for at a time.
const PAGE: u32 = 1024;

/// Everything that a report shows of a tournament, in one pass over its games.
pub(crate) async fn gather(client: &mut Client, id: &str) -> Outcome<Report> {
    let tournament = export::tournament(client, id).await?;
    let standings = client
        .get_standings(v1::GetStandingsRequest {
            tournament_id: id.to_owned(),
            pairs: true,
            anchor: String::new(),
        })
        .await?
        .into_inner()
        .standings
        .unwrap_or_default();
    let setup = tournament.setup.clone().unwrap_or_default();
    let rules = Rules::of(&setup)?;
    let spec: Tournament = serde_json::from_str(&tournament.spec_json)
        .map_err(|error| Failure::failed(format!("the spec of {id} cannot be read: {error}")))?;
    // By place in the standings: the agent's number in the spec.
    let order: Vec<u16> = standings
        .agents
        .iter()
        .filter_map(|standing| {
            let names = rules.header.agents.iter();
            let found = names.zip(0u16..).find(|(name, _)| **name == standing.agent);
            found.map(|(_, number)| number)
        })
        .collect();
    let mut places = vec![0; rules.header.agents.len()];
    for (place, &agent) in order.iter().enumerate() {
        places[usize::from(agent)] = place;
    }
    let seats = rules.game.seats();
    let mut scan = Scan::new(
        id,
        rules.header.agents.clone(),
        seats,
        spec.play.rotate,
        tournament.games_total,
    );
    let mut sampler = Sampler::new(places);
    read_games(client, id, &rules, &mut scan, &mut sampler).await?;
    let boards = Boards::of(&rules.header, seats);
    let samples = sampler
        .samples(id, &rules.header.agents, &boards, &*rules.game)
        .map_err(|error| Failure::differs(format!("a game of {id} cannot be replayed: {error}")))?;
    let seat_scores = (0..scan.seats()).map(|seat| scan.seat(seat)).collect();
    let pairs = order
        .iter()
        .map(|&row| order.iter().map(|&column| scan.pair(row, column)).collect())
        .collect();
    let agents = order
        .iter()
        .zip(standings.agents)
        .map(|(&number, standing)| agent(number, standing, &spec, &setup, &scan))
        .collect();
    Ok(Report {
        id: tournament.tournament_id,
        name: tournament.name,
        state: standings.state.try_into().unwrap_or_default(),
        games: scan.games,
        games_total: standings.games_total,
        created_unix_us: tournament.created_unix_us,
        finished_unix_us: tournament.finished_unix_us,
        format: spec.format.name(),
        seed: spec.seed.to_string(),
        ruleset: spec.ruleset,
        rules_version: spec.rules_version,
        options: spec.options,
        seats,
        spec_toml: tournament.spec_toml,
        hash_only: setup.hash_only,
        agents,
        pairs,
        seat_scores,
        digest: scan.digest(),
        lengths: scan.lengths,
        terminations: scan.terminations,
        faults: scan.faults,
        faults_unlisted: scan.faults_unlisted,
        samples,
        board: boards.board(),
        notes: standings.notes,
        audits: standings.audits,
    })
}

async fn read_games(
    client: &mut Client,
    id: &str,
    rules: &Rules,
    scan: &mut Scan,
    sampler: &mut Sampler,
) -> Outcome {
    let mut token = String::new();
    loop {
        let request = v1::ListGamesRequest {
            tournament_id: id.to_owned(),
            page_size: PAGE,
            page_token: token,
            with_timing: true,
            from_index: 0,
        };
        let page = client.list_games(request).await?.into_inner();
        for game in &page.games {
            let record = model::record(game.record.as_ref())?;
            scan.add(&record, game, &rules.short_line(&record)?);
            sampler.add(&record);
        }
        token = page.next_page_token;
        if token.is_empty() {
            scan.finish();
            return Ok(());
        }
    }
}

fn agent(
    number: u16,
    standing: v1::AgentStanding,
    spec: &Tournament,
    setup: &v1::TournamentSetup,
    scan: &Scan,
) -> Agent {
    let number = usize::from(number);
    let known = spec.agents.get(number);
    let source = setup
        .agents
        .get(number)
        .and_then(|agent| agent.source.clone());
    Agent {
        version: known.map_or_else(String::new, |agent| agent.version.clone()),
        bot: known.map_or_else(String::new, |agent| agent.bot.clone()),
        options: known.map(|agent| agent.options.clone()).unwrap_or_default(),
        source: match source {
            Some(Source::Binary(binary)) => format!("binary, SHA-256 {}", binary.sha256),
            Some(Source::Endpoint(endpoint)) => format!("endpoint {}", endpoint.url),
            Some(Source::Native(_)) | None => "native".to_owned(),
        },
        latencies: scan.latencies(number),
        course: scan.course(number),
        seat_scores: scan.by_seat(number),
        standing,
    }
}
