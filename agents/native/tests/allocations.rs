//! Baselines reuse their memory: after the first decisions, they allocate nothing.

use arena_agents::{Decision, Stop, bot};
use arena_engine::{AgentRng, Game, Node, options::Options};
use arena_games::{Cowry, Kalah, Ruleset};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// The decisions of a random game: position, seat and actions.
fn decisions<G: Game>(game: &G) -> Vec<(G::State, u8, Vec<u16>)> {
    let mut rng = AgentRng::new(1);
    let mut state = game.initial();
    let (mut legal, mut all) = (Vec::new(), Vec::new());
    while all.len() < 40 {
        match game.node(&state) {
            Node::Over(_) => break,
            Node::Chance(_) => {
                let outcome = rng.below(game.weights(&state).len() as u32);
                game.apply_outcome(&mut state, outcome as u16);
            }
            Node::Decision(seat) => {
                game.legal(&state, &mut legal);
                all.push((state.clone(), seat, legal.clone()));
                game.apply(&mut state, rng.pick(&legal));
            }
        }
    }
    all
}

fn check<G: Ruleset>(given: &Options) {
    let (resolved, seats) = arena_games::resolve(G::NAME, given, None).expect("options fit");
    let game = G::with_options(&resolved, seats).expect("resolved options");
    let decisions = decisions(&game);
    for name in ["greedy", "expectimax", "mcts"] {
        let mut bot = bot(name, &Options::new(), &game).expect("a bot");
        let mut choose_all = || {
            for (state, seat, legal) in &decisions {
                bot.choose(&Decision {
                    game: &game,
                    state,
                    seat: *seat,
                    number: 0,
                    seed: 5,
                    legal,
                    stop: Stop::NEVER,
                });
            }
        };
        choose_all();
        let region = Region::new(ALLOCATOR);
        choose_all();
        let change = region.change();
        assert_eq!(change.allocations, 0, "{name}, {}: {change:?}", G::NAME);
        assert_eq!(change.reallocations, 0, "{name}, {}: {change:?}", G::NAME);
    }
}

#[test]
fn baselines_allocate_nothing_once_warm() {
    check::<Kalah>(&Options::new());
    check::<Cowry>(&Options::new());
    let doubles = [("preset".to_owned(), "doubles".into())].into();
    check::<Cowry>(&doubles);
}
