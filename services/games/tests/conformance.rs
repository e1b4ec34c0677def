//! What holds for every ruleset of the list, with every preset.

use arena_engine::{
    AgentRng, AnyGame, GameKeys, Match, Node, PositionError, Setup, Status, replay,
};
use arena_engine::{FaultPolicy, Game, MAX_SEATS, options::Options};
use arena_games::{Visitor, resolve, rulesets, visit};

/// Keys that are all different, from one number.
fn keys(seed: u64) -> GameKeys {
    let mut rng = AgentRng::new(seed);
    let mut key = || {
        let mut key = [0; 32];
        for chunk in key.chunks_exact_mut(8) {
            chunk.copy_from_slice(&rng.word().to_le_bytes());
        }
        key
    };
    GameKeys {
        dice: [(); MAX_SEATS].map(|()| key()),
        table: key(),
        opening: key(),
        agents: [(); MAX_SEATS].map(|()| key()),
        substitute: [(); MAX_SEATS].map(|()| key()),
    }
}

fn setup(seed: u64) -> Setup {
    Setup {
        keys: keys(seed),
        opening_plies: 0,
        on_fault: FaultPolicy::Forfeit,
        ask_forced: false,
    }
}

struct PlayAtRandom(u64);

impl Visitor for PlayAtRandom {
    type Out = ();

    fn visit<G: Game>(self, game: G) {
        let mut play = Match::new(game.clone(), setup(self.0));
        while let Status::Asks(question) = play.status() {
            let action = AgentRng::new(question.seed).pick(play.legal());
            play.answer(action.into()).expect("a legal action");
        }
        let finished = play.finish();
        let mut bytes = Vec::new();
        let outcome = replay(&game, &finished.events, |state, _| {
            bytes.clear();
            game.encode(state, true, &mut bytes);
            let decoded: Result<G::State, PositionError> = game.decode(&bytes);
            assert_eq!(decoded.as_ref(), Ok(state));
            assert!(!matches!(game.node(state), Node::Over(_)));
        })
        .expect("what was played can be replayed");
        assert_eq!(outcome.placement, finished.placement);
        assert_eq!(outcome.scores, finished.scores);
        assert_eq!(AnyGame::seats(&game), finished.placement.len());
    }
}

#[test]
fn random_games_of_every_ruleset_end_and_replay() {
    for info in rulesets() {
        for seats in info.seats.0..=info.seats.1 {
            let (options, seats) =
                resolve(info.name, &Options::new(), Some(seats)).expect("defaults");
            for seed in 0..20 {
                visit(info.name, &options, seats, PlayAtRandom(seed)).expect("options resolved");
            }
        }
    }
}
