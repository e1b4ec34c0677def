//! Games of agents against each other.

use arena_agents::{Bot, play_out};
use arena_engine::{AgentRng, Finished, Game, GameKeys, Match, Setup, options::Options};

/// Agents by name, options behind a colon as `key=value`.
pub(crate) fn bots<G: Game>(names: &[&str], game: &G) -> Vec<Box<dyn Bot<G>>> {
    let bot = |name: &&str| {
        let (name, options) = name.split_once(':').unwrap_or((name, ""));
        let mut given = Options::new();
        for pair in options.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').expect("key=value");
            given.insert(key.to_owned(), value.into());
        }
        arena_agents::bot(name, &given, game).expect("an agent of this game")
    };
    names.iter().map(bot).collect()
}

/// A game of agents drawn from the list, from a number.
pub(crate) fn game<G: Game>(game: &G, bots: &mut [Box<dyn Bot<G>>], number: u64) -> Finished {
    let mut rng = AgentRng::new(number);
    let seats: Vec<usize> = (0..game.seats())
        .map(|_| rng.below(bots.len() as u32) as usize)
        .collect();
    let keys = GameKeys::drawn(&mut rng);
    seated(game, bots, &seats, keys, 0)
}

/// A game of the agents with these places in the list, after so many random
/// plies.
pub(crate) fn seated<G: Game>(
    game: &G,
    bots: &mut [Box<dyn Bot<G>>],
    seats: &[usize],
    keys: GameKeys,
    opening_plies: u32,
) -> Finished {
    let setup = Setup::new(keys, arena_engine::Opening::Drawn(opening_plies));
    play_out(Match::new(game.clone(), setup), |decision| {
        bots[seats[usize::from(decision.seat)]].choose(decision)
    })
    .expect("an agent of ours chooses what is legal")
}
