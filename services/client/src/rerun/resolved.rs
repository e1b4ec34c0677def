//! Plays one game in this process, with agents resolved by a coordinator.

use std::sync::Arc;

use arena_wire::v1;
use arena_worker::{AgentOptions, BinaryProvider, CoordinatorBinaries, play_one};

use crate::{
    access::{Access, AccessArgs},
    failure::{Failure, Kind, Outcome},
    signals::Interrupt,
    workers::Builtin,
};

pub use arena_worker::Played;

/// A resolved tournament, and a provider of its agents' binaries.
pub struct Resolved {
    pub setup: v1::TournamentSetup,
    url: String,
    access: Option<Access>,
}

impl Resolved {
    pub fn new(setup: v1::TournamentSetup, url: String) -> Self {
        Self {
            setup,
            url,
            access: None,
        }
    }

    /// Lets a coordinator resolve a spec; nothing is stored.
    pub async fn resolve(access: &AccessArgs, spec: &str) -> Outcome<Self> {
        let mut access = access.open_or_memory().await?;
        let request = v1::PlanTournamentRequest {
            spec_toml: spec.to_owned(),
            seed: String::new(),
        };
        let planned = access.client.plan_tournament(request).await;
        let tournament = match planned {
            Ok(planned) => planned.into_inner().tournament.unwrap_or_default(),
            Err(status) => {
                access.close().await?;
                return Err(status.into());
            }
        };
        let mut setup = tournament.setup.unwrap_or_default();
        // A single game belongs to no tournament.
        setup.tournament_id = "play".to_owned();
        Ok(Self {
            setup,
            url: access.url.clone(),
            access: Some(access),
        })
    }

    pub async fn close(self) -> Outcome {
        match self.access {
            Some(access) => access.close().await,
            None => Ok(()),
        }
    }
}

/// Plays one game, unless the user interrupts; its agents end in that case, too.
pub async fn play(
    resolved: &Resolved,
    game: &v1::GameAssignment,
    builtin: Builtin,
) -> Outcome<Played> {
    let temp = tempfile::tempdir()?;
    let binaries = CoordinatorBinaries::new(&resolved.url, temp.path()).map_err(Failure::failed)?;
    play_with(&resolved.setup, game, builtin, Arc::new(binaries)).await
}

/// As [`play`], with packages from another provider.
pub async fn play_with(
    setup: &v1::TournamentSetup,
    game: &v1::GameAssignment,
    builtin: Builtin,
    binaries: Arc<dyn BinaryProvider>,
) -> Outcome<Played> {
    let mut options = AgentOptions::of_executable(std::env::current_exe()?);
    options.builtin = builtin.into();
    let mut interrupt = Interrupt::listen()?;
    let played = play_one(setup.clone(), game.clone(), binaries, options);
    tokio::select! {
        played = played => played.map_err(Failure::failed),
        () = interrupt.asked() => Err(Failure::new(
            Kind::Interrupted,
            "stopped; nothing is kept of a game that is not over, and the same command plays it \
             again from its start",
        )),
    }
}
