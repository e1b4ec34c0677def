//! Plays one game in this process, with the agents of a spec.

use std::sync::Arc;

use arena_wire::v1;
use arena_worker::{AgentOptions, PlayError, play_one};

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
    /// Its setup, as workers get it.
    pub setup: v1::TournamentSetup,
    /// The programs of its registered agents.
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

    /// Closes the connection to the coordinator, or stops the coordinator of this process.
    pub async fn close(self) -> Outcome {
        access::close(self.access).await
    }
}

/// Plays one game, unless the user interrupts; its agents end in that case, too.
///
/// # Errors
/// If the game could not be played.
pub async fn play(
    setup: &v1::TournamentSetup,
    game: &v1::GameAssignment,
    builtin: Builtin,
    binaries: Arc<Programs>,
) -> Outcome<Played> {
    try_play(setup, game, builtin, binaries, Failure::failed).await
}

/// As [`play`], for a game that was played before.
///
/// # Errors
/// As [`again_failed`].
pub async fn play_again(
    setup: &v1::TournamentSetup,
    game: &v1::GameAssignment,
    builtin: Builtin,
    binaries: Arc<Programs>,
) -> Outcome<Played> {
    try_play(setup, game, builtin, binaries, again_failed).await
}

/// The failure of a replay or rerun of a game. A package of rules that fails or does not allow the
/// game refutes that it can be replayed. One that does not start here shows nothing.
#[must_use]
pub fn again_failed(error: PlayError) -> Failure {
    match error {
        PlayError::Replay(error) => Failure::differs(format!(
            "the record cannot have happened by its rules: {error}"
        )),
        PlayError::Rules(failure) if failure.is_absence() => Failure::unreachable(format!(
            "the package of the rules does not start here, so it is unknown whether it allows the \
             game: {failure}"
        )),
        PlayError::Rules(failure) => Failure::differs(format!(
            "the game cannot be played again, and no agent is at fault: {failure}"
        )),
        other => Failure::failed(other),
    }
}

async fn try_play(
    setup: &v1::TournamentSetup,
    game: &v1::GameAssignment,
    builtin: Builtin,
    binaries: Arc<Programs>,
    failure_of: impl FnOnce(PlayError) -> Failure,
) -> Outcome<Played> {
    let mut options = AgentOptions::of_executable(std::env::current_exe()?).confined();
    options.builtin = builtin.into();
    let mut interrupt = Interrupt::listen()?;
    let played = play_one(setup.clone(), game.clone(), binaries, options);
    tokio::select! {
        played = played => played.map_err(failure_of),
        () = interrupt.asked() => Err(Failure::new(
            Kind::Interrupted,
            "stopped; unfinished games are not stored, and the same command starts this one again",
        )),
    }
}

#[cfg(test)]
mod tests {
    use arena_worker::rules::{RulesCause, RulesFailure};

    use super::*;

    #[test]
    fn failing_rules_refute_a_replay_unless_they_do_not_start() {
        for (cause, kind) in [
            (RulesCause::Host, Kind::Unreachable),
            (RulesCause::Start, Kind::Unreachable),
            (RulesCause::Answer, Kind::Differs),
            (RulesCause::Bounds, Kind::Differs),
            (RulesCause::Length, Kind::Differs),
            (RulesCause::Purity, Kind::Differs),
        ] {
            let failure = again_failed(PlayError::Rules(RulesFailure {
                cause,
                message: "ruleset pig: KeyError".to_owned(),
                question: String::new(),
                output: String::new(),
            }));
            assert_eq!(failure.kind(), kind, "{cause:?}");
            assert!(failure.to_string().ends_with("ruleset pig: KeyError"));
        }
        let other = again_failed(PlayError::Void("no disk".to_owned()));
        assert_eq!(other.kind(), Kind::Failed);
    }
}
