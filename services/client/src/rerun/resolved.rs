//! Plays one game in this process, with the agents of a spec.

use std::sync::Arc;

use arena_wire::v1;
use arena_worker::{AgentOptions, play_one};

use super::Programs;
use crate::{
    access::{self, Access, AccessArgs},
    failure::{Failure, Kind, Outcome},
    signals::Interrupt,
    workers::Builtin,
};

pub use arena_worker::Played;

/// A resolved tournament, and a provider of its agents' binaries.
pub struct Resolved {
    pub setup: v1::TournamentSetup,
    pub binaries: Arc<Programs>,
    access: Option<Access>,
}

impl Resolved {
    /// Resolves a spec with a coordinator, or with the built-in agents if none is named; nothing
    /// is stored.
    pub async fn resolve(access: &AccessArgs, spec: &str) -> Outcome<Self> {
        let request = v1::PlanTournamentRequest {
            spec_toml: spec.to_owned(),
            seed: String::new(),
        };
        let mut access = access.open_if_any().await?;
        let tournament = match access::plan(access.as_mut(), request).await {
            Ok(planned) => planned.tournament.unwrap_or_default(),
            Err(failure) => {
                access::close(access).await?;
                return Err(failure);
            }
        };
        let mut setup = tournament.setup.unwrap_or_default();
        // A single game belongs to no tournament.
        setup.tournament_id = "play".to_owned();
        Ok(Self {
            setup,
            binaries: Programs::new(&[], access.as_ref())?,
            access,
        })
    }

    pub async fn close(self) -> Outcome {
        access::close(self.access).await
    }
}

/// Plays one game, unless the user interrupts; its agents end in that case, too.
pub async fn play(
    setup: &v1::TournamentSetup,
    game: &v1::GameAssignment,
    builtin: Builtin,
    binaries: Arc<Programs>,
) -> Outcome<Played> {
    let mut options = AgentOptions::of_executable(std::env::current_exe()?).confined();
    options.builtin = builtin.into();
    let mut interrupt = Interrupt::listen()?;
    let played = play_one(setup.clone(), game.clone(), binaries, options);
    tokio::select! {
        played = played => played.map_err(Failure::failed),
        () = interrupt.asked() => Err(Failure::new(
            Kind::Interrupted,
            "stopped; unfinished games are not stored, and the same command starts this one again",
        )),
    }
}
