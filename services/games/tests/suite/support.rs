//! What the tests share: keys, random play, options from data files.

use std::{fs, path::PathBuf};

use arena_engine::{
    ActionId, AgentRng, Finished, Game, GameKeys, Match, Setup, Status, options::Options,
};
use arena_games::{Ruleset, resolve};

/// Keys that are all different, from one number.
pub(crate) fn keys(seed: u64) -> GameKeys {
    GameKeys::drawn(&mut AgentRng::new(seed))
}

/// A plain game on the keys of a number.
pub(crate) fn setup(seed: u64) -> Setup {
    Setup::new(keys(seed), arena_engine::Opening::NONE)
}

/// Plays a game in which every seat picks uniformly, with its own seeds.
pub(crate) fn play_at_random<G: Game>(game: &G, setup: Setup) -> Finished {
    play(game, setup, |_, legal, rng| rng.pick(legal))
}

/// Plays a game in which every seat chooses the same way.
pub(crate) fn play<G: Game>(
    game: &G,
    setup: Setup,
    mut choose: impl FnMut(&G::State, &[ActionId], &mut AgentRng) -> ActionId,
) -> Finished {
    let mut play = Match::new(game.clone(), setup);
    while let Status::Asks(question) = play.status() {
        let mut rng = AgentRng::new(question.seed);
        let action = choose(play.state(), play.legal(), &mut rng);
        play.answer(action.into()).expect("a legal action");
    }
    play.finish()
}

/// Options from `name=value` words, as on a command line.
pub(crate) fn options(words: &str) -> Options {
    words
        .split_whitespace()
        .map(|word| {
            let (name, value) = word.split_once('=').expect("name=value");
            (name.to_owned(), value.into())
        })
        .collect()
}

/// The ruleset with these options.
pub(crate) fn game<R: Ruleset>(words: &str, seats: usize) -> R {
    let (options, seats) = resolve(R::NAME, &options(words), Some(seats)).expect("options fit");
    R::with_options(&options, seats).expect("options go together")
}

/// The path of a data file.
pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// The lines of a data file that are neither empty nor comments, as fields
/// separated by `|`.
pub(crate) fn rows(name: &str) -> Vec<Vec<String>> {
    let path = data(name);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            line.split('|')
                .map(|field| field.trim().to_owned())
                .collect()
        })
        .collect()
}
