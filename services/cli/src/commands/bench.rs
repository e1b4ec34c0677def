//! `arena bench`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{
    failure::{Failure, Outcome},
    output::{self, Format, note},
};
use arena_client::bench::{
    self,
    rules::{self, Way},
    tournament::{self, SetUp},
};

/// Measure the speed of rules, agents and workers on this machine
///
/// The tournaments play cowry in real processes, and write the results to disk. CPU is
/// the sum over all processes; memory is the peak of the largest process of each kind.
#[derive(Debug, Args)]
#[command(after_help = "\
Use a release build on an idle machine.

Examples:
  arena bench
  arena bench batched unary --seconds 10 --output json
  arena bench --agent ./my-agent.py
  arena bench in-process --workers 4 --capacity 64")]
pub(crate) struct BenchArgs {
    /// What to measure [default: everything]
    #[arg(value_enum)]
    what: Vec<What>,

    /// Approximate seconds for each measurement
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", value_parser = seconds)]
    seconds: f64,

    /// Measure with this executable, which must play cowry, instead of a random bot
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,

    /// Number of agents in the tournament, each as a separate process
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    agents: u16,

    /// Number of worker processes to start
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    workers: u16,

    /// Number of games a worker plays at once
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    capacity: u32,

    /// Maximum number of processes of each agent on a worker [default: as many as help]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    replicas: Option<u32>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Random moves of every ruleset in one thread: with the rules alone, and with all
    /// the work that a worker does for a game
    Rules,
    /// A tournament with agents on threads of the worker
    InProcess,
    /// A tournament with agents as processes, asked in batches
    Batched,
    /// A tournament with agents as processes, asked for one decision at a time
    Unary,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "is not a number".to_owned())?;
    if (0.05..=3600.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("must be from 0.05 to 3600".to_owned())
    }
}

impl BenchArgs {
    pub(crate) async fn run(self) -> Outcome {
        if cfg!(debug_assertions) {
            note("warning: this is a debug build, several times slower than a release build");
        }
        let mut lines = Vec::new();
        if self.wants(What::Rules) {
            for ruleset in arena_games::rulesets() {
                note(format!("rules, {}", ruleset.name));
                let (fewest, most) = ruleset.seats;
                for seats in (fewest..=most).filter(|&seats| seats == fewest || seats == most) {
                    for way in Way::ALL {
                        lines.push(rules::measure(ruleset.name, seats, way, self.seconds)?);
                    }
                }
            }
        }
        let routes = [What::InProcess, What::Batched, What::Unary];
        for route in routes.into_iter().filter(|&one| self.wants(one)) {
            let set_up = self.set_up(route)?;
            note(&set_up.what);
            lines.push(tournament::measure(&set_up, self.seconds).await?);
        }
        output::print(&bench::listing(lines), self.output)
    }

    /// An agent from a file cannot be queried without a process.
    fn wants(&self, what: What) -> bool {
        let outside = matches!(what, What::Batched | What::Unary);
        match self.what.as_slice() {
            [] => outside || self.agent.is_none(),
            some => some.contains(&what),
        }
    }

    fn set_up(&self, route: What) -> Outcome<SetUp> {
        if route == What::InProcess && self.agent.is_some() {
            return Err(Failure::usage(
                "--agent runs a file as a process: omit --agent, or measure batched or unary",
            ));
        }
        let (what, worker_flags): (&str, &[&str]) = match route {
            What::Batched => ("as processes, batched gRPC", &["--builtin=process"]),
            What::Unary => (
                "as processes, unary gRPC",
                &["--builtin=process", "--unary"],
            ),
            What::InProcess | What::Rules => ("in the worker", &["--builtin=in-process"]),
        };
        let mut what = format!("cowry tournament, agents {what}");
        for (count, usual, name) in [
            (u32::from(self.agents), 2, "agents"),
            (u32::from(self.workers), 1, "workers"),
            (self.capacity, 512, "games at once"),
            (
                self.replicas.unwrap_or_default(),
                0,
                "processes each at most",
            ),
        ] {
            if count != usual {
                what += &format!(", {count} {name}");
            }
        }
        Ok(SetUp {
            what,
            worker_flags,
            agent: self.agent.clone(),
            agents: self.agents.into(),
            workers: self.workers.into(),
            capacity: self.capacity,
            replicas: self.replicas,
        })
    }
}
