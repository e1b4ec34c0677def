//! Measures the whole way of a result in a coordinator: gRPC, decoding,
//! checking, storing, syncing, adding up, acknowledging. Real records of
//! cowry, leased and reported by workers that play nothing; the coordinator is
//! a process of its own.
//!
//! ```text
//! cargo run --release -p arena-coordinator --example durable -- [GAMES] [BATCH] [WORKERS] [FOLDER] [RECORDS]
//! ```
//!
//! One million games, 100 a report, by 4 workers with 4 reports under way each,
//! unless set otherwise; RECORDS is `full` or `hash`. A report waits for those
//! before it: with n games under way and r made durable a second, it is
//! acknowledged after n / r seconds. Where that time goes is reported by part: of a
//! report, from its being let in to its answer, what the parts of a commit do not
//! explain is reading, decoding, checking, and waiting for the state.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

mod games;
mod process;
mod worker;

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use arena_coordinator::Options;
use arena_model::Tournament;
use arena_store::SledStore;
use arena_tournament::Schedule;
use arena_wire::v1::{self, coordinator_service_client::CoordinatorServiceClient};
use tonic::transport::Channel;

use games::Pool;
use process::Coordinator;

/// Different games; the records of a pack are none of them alike.
const POOL: u64 = 20_000;

type Client = CoordinatorServiceClient<Channel>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [command, folder] = arguments.as_slice()
        && command == "serve"
    {
        return serve(Path::new(folder));
    }
    let number = |at: usize, default: u64| {
        arguments
            .get(at)
            .map_or(Ok(default), |given| given.replace('_', "").parse())
    };
    let (games, batch, workers) = (number(0, 1_000_000)?, number(1, 100)?, number(2, 4)?);
    let temporary = tempfile::tempdir()?;
    let folder = arguments
        .get(3)
        .map_or_else(|| temporary.path().join("data"), PathBuf::from);
    let records = arguments.get(4).map_or("full", String::as_str);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(measure(&folder, games, batch as usize, workers, records))
}

/// A coordinator on a folder until stdin ends.
fn serve(folder: &Path) -> Result<(), Box<dyn Error>> {
    let store = SledStore::open(folder, &arena_store::Options::default())?;
    let options = Options {
        audit_share: 0.0,
        metrics: Some("127.0.0.1:0".parse()?),
        ..Options::new(Arc::new(store), "127.0.0.1:0".parse()?, native())
    };
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let service = options.build().await?;
            println!("{}", service.listen);
            println!("{}", service.metrics.ok_or("no metrics")?);
            service.run(process::stdin_ends()).await?;
            Ok(())
        })
}

fn native() -> v1::DescribeResponse {
    v1::DescribeResponse {
        name: "arena".to_owned(),
        version: "1".to_owned(),
        bots: vec![v1::Bot {
            name: "random".to_owned(),
            deterministic: true,
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn spec(games: u64, records: &str) -> String {
    format!(
        "name = \"durable\"\nruleset = \"cowry\"\nseed = \"0x5eed\"\nblocks = {}\n\
         records = \"{records}\"\nagents = [\"random\", \"random-2\"]\n\
         [[agent]]\nname = \"random-2\"\nbot = \"random\"\n",
        games.div_ceil(2)
    )
}

async fn measure(
    folder: &Path,
    games: u64,
    batch: usize,
    workers: u64,
    records: &str,
) -> Result<(), Box<dyn Error>> {
    let coordinator = Coordinator::start(folder)?;
    let mut client = Client::connect(coordinator.url()).await?;
    let request = v1::StartTournamentRequest {
        spec_toml: spec(games, records),
        ..Default::default()
    };
    let started = client.start_tournament(request).await?.into_inner();
    let started = started.tournament.unwrap_or_default();
    let id = started.tournament_id;
    let tournament: Tournament = serde_json::from_str(&started.spec_json)?;
    let fleet = Arc::new(worker::Fleet {
        pool: Pool::play(&tournament, POOL)?,
        schedule: Schedule::new(&tournament)?,
        tournament: id.clone(),
        batch,
        latencies: Mutex::new(Vec::new()),
    });

    let (begun, before) = (Instant::now(), coordinator.usage());
    let mut tasks = Vec::new();
    for number in 0..workers {
        let fleet = Arc::clone(&fleet);
        tasks.push(tokio::spawn(fleet.work(coordinator.url(), number)));
    }
    for task in tasks {
        task.await?.map_err(|error| error.to_string())?;
    }
    let (seconds, after) = (begun.elapsed().as_secs_f64(), coordinator.usage());
    let standings = standings(&mut client, &id).await?;
    assert_eq!(standings.games, standings.games_total, "every game counts");
    let games = standings.games;
    let per_game = |cpu: Duration| cpu.as_secs_f64() * 1e6 / games as f64;
    let mut latencies = std::mem::take(&mut *fleet.latencies.lock().map_err(|e| e.to_string())?);
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    println!("tournament      {id}, {games} games, records = \"{records}\"");
    println!(
        "durable         {:.0} games/s, {batch} a report",
        games as f64 / seconds
    );
    println!(
        "acknowledged    p50 {:.1?}  p99 {:.1?}  ({} reports under way)",
        at(0.5),
        at(0.99),
        workers * worker::UNDER_WAY as u64
    );
    println!(
        "coordinator     {:.1} µs CPU a game (user {:.1}, system {:.1}), peak {} MB",
        per_game(after.user + after.system - before.user - before.system),
        per_game(after.user - before.user),
        per_game(after.system - before.system),
        after.peak_bytes >> 20
    );
    println!("of that         mean, and at most in 99 of 100");
    for (name, part) in coordinator.parts()? {
        println!(
            "  {name:<18} {:>8.2} ms  {:>6.0} ms  ({} times)",
            part.mean * 1e3,
            part.p99_at_most * 1e3,
            part.count
        );
    }
    coordinator.stop()?;
    println!(
        "on disk         {:.0} bytes a game",
        process::bytes(folder)? as f64 / games as f64
    );

    let begun = Instant::now();
    let coordinator = Coordinator::start(folder)?;
    let opened = coordinator.usage();
    println!(
        "opened          {:.2?}, CPU {:.2?}, peak {} MB",
        begun.elapsed(),
        opened.user + opened.system,
        opened.peak_bytes >> 20
    );
    let mut client = Client::connect(coordinator.url()).await?;
    let begun = Instant::now();
    let again = self::standings(&mut client, &id).await?;
    assert_eq!(again, standings, "a restart changes no standings");
    let reported = coordinator.usage();
    println!(
        "standings       {:.2?} for the first, CPU {:.2?}, peak {} MB",
        begun.elapsed(),
        reported.user + reported.system - opened.user - opened.system,
        reported.peak_bytes >> 20
    );
    export(&mut client, &id, games).await?;
    let read = coordinator.usage();
    println!(
        "exported        coordinator {:.1} µs CPU a game, peak {} MB",
        per_game(read.user + read.system - reported.user - reported.system),
        read.peak_bytes >> 20
    );
    Ok(())
}

async fn standings(client: &mut Client, id: &str) -> Result<v1::Standings, Box<dyn Error>> {
    let request = v1::GetStandingsRequest {
        tournament_id: id.to_owned(),
        ..Default::default()
    };
    let answer = client.get_standings(request).await?.into_inner();
    Ok(answer.standings.unwrap_or_default())
}

/// Reads all games in pages, as an export does.
async fn export(client: &mut Client, id: &str, games: u64) -> Result<(), Box<dyn Error>> {
    let (mut read, mut token) = (0, String::new());
    loop {
        let request = v1::ListGamesRequest {
            tournament_id: id.to_owned(),
            page_size: 512,
            page_token: token,
            ..Default::default()
        };
        let page = client.list_games(request).await?.into_inner();
        read += page.games.len() as u64;
        token = page.next_page_token;
        if token.is_empty() {
            assert_eq!(read, games, "every game is exported");
            return Ok(());
        }
    }
}
