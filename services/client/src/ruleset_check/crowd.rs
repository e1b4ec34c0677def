//! Random games of a package, many at once. Each answer is checked against the bounds, as in a tournament, and one of
//! 100 is asked of a second process.

use std::{
    iter,
    panic::resume_unwind,
    sync::atomic::{AtomicU64, Ordering},
    thread::{self, ScopedJoinHandle},
};

use arena_engine::{AgentRng, Event, Game, Node};
use arena_games::Visitor;
use indicatif::ProgressBar;

use super::Found;

/// Games that a thread plays at once: their questions share messages.
const AT_ONCE: usize = 128;

/// Plays random games to their ends, with a thread for each core.
pub(super) struct Crowd<'a, 'r> {
    pub(super) games: u64,
    pub(super) found: &'a mut Found<'r>,
    pub(super) bar: &'a ProgressBar,
}

impl Visitor for Crowd<'_, '_> {
    type Out = ();

    fn visit<G: Game>(self, game: G) {
        let Self { games, found, bar } = self;
        // Other seeds than those of the games before.
        let (first, next) = (found.games, AtomicU64::new(0));
        let draw = || {
            let number = next.fetch_add(1, Ordering::Relaxed);
            (number < games).then(|| AgentRng::new(first + number))
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let played: Vec<Played> = thread::scope(|scope| {
            let start = || scope.spawn(|| play(&game.deferring(), &draw, bar));
            let threads: Vec<_> = (0..cores).map(|_| start()).collect();
            let join = |thread: ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|it| resume_unwind(it))
            };
            threads.into_iter().map(join).collect()
        });
        found.games += games.min(next.into_inner());
        for part in played {
            found.games_ended += part.ended;
            found.positions += part.positions;
            found.events_most = found.events_most.max(part.events_most);
        }
    }
}

/// What a thread played.
#[derive(Default)]
struct Played {
    ended: u64,
    positions: u64,
    events_most: u32,
}

/// A game that is being played.
struct Playing<G: Game> {
    state: G::State,
    rng: AgentRng,
    events: u32,
}

/// Plays games until there is no further one, or the rules fail.
fn play<G: Game>(game: &G, draw: &impl Fn() -> Option<AgentRng>, bar: &ProgressBar) -> Played {
    let mut played = Played::default();
    let open = |rng| Playing::<G> {
        state: game.initial(),
        rng,
        events: 0,
    };
    let (mut games, mut legal) = (Vec::new(), Vec::new());
    loop {
        let free = AT_ONCE - games.len();
        games.extend(iter::from_fn(draw).take(free).map(open));
        if games.is_empty() {
            return played;
        }
        let mut place = 0;
        while let Some(playing) = games.get_mut(place) {
            if !game.is_known(&mut playing.state) {
                place += 1;
                continue;
            }
            // The rules have kept the failure.
            if game.failure(&playing.state).is_some() {
                return played;
            }
            played.positions += 1;
            let event = match game.node(&playing.state) {
                Node::Over(_) => {
                    played.ended += 1;
                    played.events_most = played.events_most.max(playing.events);
                    bar.inc(1);
                    games.swap_remove(place);
                    continue;
                }
                Node::Chance(_) => {
                    let outcome = playing.rng.weighted(game.weights(&playing.state));
                    Event::chance(outcome as u16)
                }
                Node::Decision(_) => {
                    game.legal(&playing.state, &mut legal);
                    Event::action(playing.rng.pick(&legal))
                }
            };
            game.apply_later(&mut playing.state, event);
            playing.events += 1;
        }
        game.find_pending();
    }
}
