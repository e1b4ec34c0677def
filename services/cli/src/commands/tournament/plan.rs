//! `arena tournament plan`

use std::path::PathBuf;

use arena_client::{plan::Plan, sample};
use arena_model::{Tournament, spec::Book};
use arena_wire::v1::{self, agent_setup::Source};
use clap::Args;

use super::{about, read_spec};
use crate::{
    access::{self, AccessArgs},
    commands::set::SetArgs,
    failure::{Failure, Outcome},
    output::Format,
};

/// Maximum duration of a measurement, in seconds.
const MEASURE_MAX: f64 = 86_400.0;
/// Minimum and maximum rate of the workers, in games per second.
const RATE_MIN: f64 = 1e-6;
const RATE_MAX: f64 = 1e9;
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Tournament spec, a TOML file
    spec: PathBuf,

    #[command(flatten)]
    pub(super) access: AccessArgs,

    /// Seed to use instead of the one in the spec
    #[arg(long, value_name = "0x…")]
    seed: Option<String>,

    #[command(flatten)]
    set: SetArgs,

    /// Speed of your workers in games per second, if known
    #[arg(long, value_name = "GAMES")]
    rate: Option<f64>,

    /// Seconds of trial games, to measure speed and the spread of scores (built-in agents
    /// only); 0 to skip
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    measure: f64,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

pub(super) async fn plan(args: &PlanArgs) -> Outcome {
    if !(0.0..=MEASURE_MAX).contains(&args.measure) {
        return Err(Failure::usage(format!(
            "--measure {}: must be from 0 to {MEASURE_MAX} seconds (one day)",
            args.measure
        )));
    }
    if let Some(rate) = args
        .rate
        .filter(|rate| !(RATE_MIN..=RATE_MAX).contains(rate))
    {
        return Err(Failure::usage(format!(
            "--rate {rate}: must be from {RATE_MIN} to {RATE_MAX} games/s"
        )));
    }
    let (spec_toml, spec) = read_spec(&args.spec, &args.set, args.seed.as_deref())?;
    let request = v1::PlanTournamentRequest {
        spec_toml,
        seed: args.seed.clone().unwrap_or_default(),
    };
    let mut access = args.access.open_if_any().await?;
    let planned = access::plan(access.as_mut(), request).await;
    access::close(access).await?;
    let planned = planned.map_err(about(&args.spec))?;
    let message = planned.tournament.clone().unwrap_or_default();
    let tournament: Tournament =
        serde_json::from_str(&message.spec_json).map_err(Failure::failed)?;
    let is_native = |agent: &v1::AgentSetup| matches!(agent.source, Some(Source::Native(_)));
    let setup = message.setup.as_ref();
    let all_native = setup.is_some_and(|setup| setup.agents.iter().all(is_native));
    // The rules of a package are not in this program.
    let is_package = tournament.rules_digest.is_some();
    let sample = match args.measure > 0.0 && all_native && !is_package {
        true => {
            let given = match &spec.play.book {
                Some(Book::Openings(openings)) => openings.as_slice(),
                None | Some(Book::File(_)) => &[],
            };
            Some(sample::play(&tournament, given, args.measure)?)
        }
        false => None,
    };
    let sample = sample.as_ref();
    let plan = Plan::new(&tournament, spec.blocks, &planned, args.rate, sample);
    plan.print(&message.tournament_id, args.output)
}
