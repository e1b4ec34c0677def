//! Collects a report from the coordinator.

use arena_engine::AnyGame;
use arena_model::{Tournament, expect::Expectation, spec::Spec};
use arena_wire::v1::{self, agent_setup::Source};
use itertools::Itertools;

use crate::{
    Client, board,
    error::{ReportError, Result},
    estimates, lead,
    rated::Rated,
    records::{self, TournamentRecords},
    report::{Agent, Pair, Report},
    sample::Sampler,
    scan::Scan,
    units, verdict,
};

/// Games per request.
const PAGE: u32 = 1024;

/// Collects everything that a report shows, in one pass over the tournament's games. Checks
/// the expectations of the spec and the sentences in `expect`.
pub async fn gather(client: &mut Client, id: &str, expect: &[String]) -> Result<Report> {
    gather_drawn(client, id, expect, None).await
}

/// As [`gather()`]. If the rules are a package, `package` draws the boards of its games; without it, they
/// have none.
pub async fn gather_drawn(
    client: &mut Client,
    id: &str,
    expect: &[String],
    package: Option<&dyn AnyGame>,
) -> Result<Report> {
    let tournament = records::tournament(client, id).await?;
    let expectations = expectations(&tournament, expect)?;
    let request = v1::GetStandingsRequest {
        tournament_id: id.to_owned(),
        pairs: true,
        ..v1::GetStandingsRequest::default()
    };
    let answer = client.get_standings(request).await?.into_inner();
    let standings = answer.standings.unwrap_or_default();
    let setup = tournament.setup.clone().unwrap_or_default();
    let rules = TournamentRecords::new(&setup)?;
    let (spec, seed) = Tournament::shown(&tournament.spec_json)
        .map_err(|error| ReportError::failed(format!("cannot read the spec of {id}: {error}")))?;
    // The agent's number in the spec, by place in the standings.
    let number = |name: &String| rules.header.agents.iter().position(|known| known == name);
    let ranked = standings.agents.iter();
    let order: Vec<usize> = ranked.filter_map(|it| number(&it.agent)).collect();
    let mut places = vec![0; rules.header.agents.len()];
    for (place, &agent) in order.iter().enumerate() {
        places[agent] = place;
    }
    let seats = rules.game.seats();
    let names = &rules.header.agents;
    let mut scan = Scan::new(
        id,
        names,
        seats,
        tournament.games_total,
        seed.and_then(|_| Rated::new(&spec)),
    );
    let mut sampler = Sampler::new(places);
    let request = v1::ListGamesRequest {
        tournament_id: id.to_owned(),
        page_size: PAGE,
        with_timing: true,
        ..v1::ListGamesRequest::default()
    };
    records::each_game(client, request, |game, record| {
        rules.check(&record)?;
        scan.add(&record, game, &rules.short_line(&record)?);
        sampler.add(&record);
        Ok(())
    })
    .await?;
    scan.end();
    let boards = board::boards(&rules.header, seats);
    let samples = sampler.samples(id, names, &*boards, (&*rules.game, package));
    let samples = samples.map_err(|error| {
        ReportError::differs(format!("a game of {id} cannot be replayed: {error}"))
    })?;
    let by_return = standings.agents.iter().any(|it| it.return_mean.is_some());
    let by_rating = standings.opponents_differ && standings.ratings.is_some() && !by_return;
    let agents = order.iter().zip(&standings.agents);
    let agents = agents.map(|(&number, standing)| agent(number, standing, &spec, &setup, &scan));
    Ok(Report {
        agents: agents.collect(),
        id: tournament.tournament_id,
        name: tournament.name,
        state: standings.state.try_into().unwrap_or_default(),
        pause: standings.pause.clone(),
        games: scan.games,
        games_total: standings.games_total,
        created_unix_us: tournament.created_unix_us,
        finished_unix_us: tournament.finished_unix_us,
        format: spec.format.name(),
        seed: match seed {
            Some(seed) => seed.to_string(),
            None => format!("sealed: {}", tournament.seed_commitment),
        },
        ruleset: spec.ruleset,
        rules_version: spec.rules_version,
        options: spec.options,
        seats,
        hash_only: setup.hash_only,
        registrations: registrations(&tournament.spec_toml, &setup),
        spec_toml: tournament.spec_toml,
        pairs: crosstable(&standings),
        seat_scores: standings.seats.iter().map(estimates::seat_score).collect(),
        digest: scan.digest(),
        measure: scan.measure(),
        test: scan.test(),
        lengths: scan.lengths,
        terminations: scan.terminations,
        faults: scan.faults.groups,
        faults_unlisted: scan.faults.unlisted,
        samples,
        board: boards.board(),
        verdict: serde_json::from_str(&standings.verdict_json).ok(),
        opponents_differ: standings.opponents_differ,
        by_rating,
        adaptive: standings.adaptive,
        ahead: lead::least(&standings, by_rating),
        starter_drawn: standings.starter_drawn,
        verdicts: verdict::check(&expectations, &standings),
        pairing: standings.pairing,
        ratings: standings.ratings,
        notes: standings.notes,
        audits: standings.audits,
        workers_deviating: standings.workers_deviating,
    })
}

fn agent(
    number: usize,
    standing: &v1::AgentStanding,
    spec: &Tournament,
    setup: &v1::TournamentSetup,
    scan: &Scan,
) -> Agent {
    let known = spec.agents.get(number);
    let source = setup.agents.get(number).map(|agent| &agent.source);
    Agent {
        version: known.map(|agent| agent.version.clone()).unwrap_or_default(),
        bot: known.map(|agent| agent.bot.clone()).unwrap_or_default(),
        options: known.map(|agent| agent.options.clone()).unwrap_or_default(),
        source: match source.and_then(Option::as_ref) {
            Some(Source::Binary(binary)) if standing.content.is_empty() => {
                format!("binary, SHA-256 {}", binary.sha256)
            }
            Some(Source::Binary(_)) => format!("binary, content {}", standing.content),
            Some(Source::Endpoint(endpoint)) => {
                let at = standing.registered_unix_us.map(units::utc);
                let at = at.map_or_else(String::new, |at| format!(", registered {at}"));
                format!("endpoint {}{at}", endpoint.url)
            }
            Some(Source::Native(_)) | None => "native".to_owned(),
        },
        latencies: scan.latencies(number),
        course: scan.course(number),
        seat_scores: scan.by_seat(number),
        standing: standing.clone(),
    }
}

/// Commands that register the agent processes of a tournament, without duplicates, in the
/// order of the spec.
pub(crate) fn registrations(spec_toml: &str, setup: &v1::TournamentSetup) -> Vec<String> {
    let variants = Spec::parse(spec_toml).map_or_else(|_| Vec::new(), |spec| spec.variants);
    let mut commands: Vec<String> = Vec::new();
    if let Some(rules) = &setup.rules {
        let package = rules.package.clone().unwrap_or_default();
        let described: serde_json::Value =
            serde_json::from_str(&rules.description).unwrap_or_default();
        let summary = described["summary"].as_str().unwrap_or_default();
        // Packages of libraries have the same name of a file, whatever the game.
        commands.push(format!("# {}", arena_model::printable_line(summary)));
        commands.push(format!(
            "arena rulesets register {} --package {} --data again{}",
            setup.ruleset,
            quoted(&package.file_name),
            arguments(&package)
        ));
    }
    for agent in &setup.agents {
        let variant = variants.iter().find(|one| one.name.as_str() == agent.name);
        let from = variant.and_then(|variant| variant.from.as_ref());
        let name = from.map_or(agent.name.as_str(), |from| from.as_str());
        let at = match &agent.source {
            Some(Source::Binary(binary)) => {
                let file = quoted(&binary.file_name);
                format!("--binary {file} --data again{}", arguments(binary))
            }
            Some(Source::Endpoint(endpoint)) => {
                format!("--endpoint {} --data again", quoted(&endpoint.url))
            }
            Some(Source::Native(_)) | None => continue,
        };
        let command = format!("arena agent register {name} {at}");
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// The end of a command that registers a program with arguments.
fn arguments(program: &v1::BinarySource) -> String {
    if program.args.is_empty() {
        return String::new();
    }
    let args = program.args.iter().map(|arg| quoted(arg));
    format!(" -- {}", args.format(" "))
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The expectations of a tournament's spec, followed by the user's.
pub fn expectations(tournament: &v1::Tournament, more: &[String]) -> Result<Vec<Expectation>> {
    let id = &tournament.tournament_id;
    let spec = Spec::parse(&tournament.spec_toml)
        .map_err(|error| ReportError::failed(format!("cannot read the spec of {id}: {error}")))?;
    expected(&spec, more)
}

/// The expectations of a spec, followed by these sentences.
pub fn expected(spec: &Spec, more: &[String]) -> Result<Vec<Expectation>> {
    let mut all = spec.expectations().map_err(ReportError::usage)?;
    for text in more {
        all.push(spec.expectation(text).map_err(ReportError::usage)?);
    }
    Ok(all)
}

/// The crosstable by row and column, from the row's side.
pub(crate) fn crosstable(standings: &v1::Standings) -> Vec<Vec<Option<Pair>>> {
    let agents = &standings.agents;
    let mut table = vec![vec![None; agents.len()]; agents.len()];
    let place = |name: &String| agents.iter().position(|known| known.agent == *name);
    for pair in &standings.pairs {
        let places = place(&pair.agent).zip(place(&pair.opponent));
        let Some(((row, column), score)) = places.zip(estimates::pair_score(pair)) else {
            continue;
        };
        let known = Pair {
            games: pair.games,
            blocks: [pair.blocks, pair.blocks_played],
            distinct: (pair.distinct_games, pair.distinct_games_more),
            results: [pair.wins, pair.draws, pair.losses],
            score,
            elo: estimates::elo_difference(pair),
            // The likelihood of superiority is valid for a fixed sample only.
            superiority: pair.superiority.filter(|_| !standings.adaptive),
        };
        table[row][column] = Some(known);
        table[column][row] = Some(known.turned());
    }
    table
}
