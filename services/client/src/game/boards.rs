//! Boards of games whose ruleset is a package, which draws them in its sandbox here.

use std::sync::Arc;

use arena_engine::AnyGame;
use arena_model::rules::RulesDescription;
use arena_wire::v1;
use arena_worker::{AgentOptions, package_game};

use crate::{
    failure::{Failure, Outcome},
    game::watch::Watch,
    output::{Format, note},
    rerun::Programs,
};

/// The game of a package, which draws its boards.
pub struct DrawnGame {
    game: Arc<dyn AnyGame>,
    /// Has the file of the package, from which processes start.
    _programs: Arc<Programs>,
}

impl AsRef<dyn AnyGame> for DrawnGame {
    fn as_ref(&self) -> &(dyn AnyGame + 'static) {
        &*self.game
    }
}

/// Starts the package of a setup, if a game is shown with boards and the package draws them.
pub async fn watched_package(
    setup: &v1::TournamentSetup,
    programs: Arc<Programs>,
    format: Format,
    watch: Watch,
) -> Option<DrawnGame> {
    if format != Format::Table {
        return None;
    }
    if watch.watch && setup.rules.is_some() && !draws(setup) {
        note(format!(
            "no boards: the rules of {} draw none",
            setup.ruleset
        ));
    }
    drawing_package(setup, programs).await
}

/// Starts the package of a setup, if it draws boards. If it does not start, games are shown without
/// boards, and a note names the reason.
pub async fn drawing_package(
    setup: &v1::TournamentSetup,
    programs: Arc<Programs>,
) -> Option<DrawnGame> {
    if !draws(setup) || setup.hash_only {
        return None;
    }
    let started = start_package(setup, programs).await;
    let failed = started.as_ref().err();
    failed.inspect(|failure| note(format!("no boards: {failure}")));
    started.ok()
}

/// Starts the package of a setup.
pub async fn start_package(
    setup: &v1::TournamentSetup,
    programs: Arc<Programs>,
) -> Outcome<DrawnGame> {
    let options = AgentOptions::of_executable(std::env::current_exe()?).confined();
    let game = package_game(setup.clone(), &*programs, &options).await;
    Ok(DrawnGame {
        game: game.map_err(Failure::unreachable)?,
        _programs: programs,
    })
}

/// True if the rules are a package that draws boards.
fn draws(setup: &v1::TournamentSetup) -> bool {
    let rules = setup.rules.as_ref();
    let described = rules.map(|rules| RulesDescription::parse(&rules.description));
    matches!(described, Some(Ok(described)) if described.draws)
}
