use arena_engine::{AgentRng, Game, Node, options::Value};
use arena_games::{
    Ruleset,
    oware::{Abapa, AnanAnan, Core, Phase},
};

use super::{
    features::{Features, Weights, sum},
    search::Terminal,
    weights,
};
use crate::{
    bot::{Bot, Decision, Stop},
    catalogue::bot,
    tests::{game, options, play},
};

fn make<G: Ruleset>(given: &str, game: &G) -> Box<dyn Bot<G>> {
    bot("oware-minimax", &options(given), game).expect("a bot")
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    let words = text.split_whitespace().filter(|word| *word != "|");
    let read = words.map(|word| word.parse().unwrap_or_else(|_| panic!("{word} in {text}")));
    read.collect()
}

/// A position with these pits and scores.
fn position<G: Features>(game: &G, pits: &str, scores: &str, to_move: u8) -> Core {
    let pits: Vec<u8> = numbers(pits);
    let scores: Vec<u8> = numbers(scores);
    Core {
        pits: pits.try_into().expect("twelve pits"),
        score: scores.try_into().expect("two scores"),
        to_move,
        ..*game.core(&game.initial())
    }
}

/// Checks a line of the features' data.
fn check_features<G: Features + Ruleset>(line: &str) {
    let fields: Vec<&str> = line.split(" : ").collect();
    let &[_, given, pits, scores, agent, expected] = &fields[..] else {
        panic!("six fields in {line}");
    };
    let game: G = game(given, 2);
    let expected: Vec<f64> = numbers(expected);
    let agent = agent.parse().expect("a seat");
    // Features are static: the seat to move makes no difference.
    for to_move in 0..2 {
        let core = position(&game, pits, scores, to_move);
        let features = game.features(&core, agent);
        assert_eq!(features.as_ref(), expected, "{line}");
    }
}

#[test]
fn features_match_hand_computation() {
    let lines = include_str!("../../data/oware_features.txt").lines();
    let mut count = 0;
    for line in lines.filter(|line| !line.starts_with('#')) {
        match line.split(' ').next() {
            Some(Abapa::NAME) => check_features::<Abapa>(line),
            Some(AnanAnan::NAME) => check_features::<AnanAnan>(line),
            other => panic!("no game {other:?}"),
        }
        count += 1;
    }
    assert_eq!(count, 112);
}

/// Checks the published weights of a game.
fn check_weights<G: Features>(rows: &[(String, Vec<f64>)]) {
    for (name, expected) in rows.iter().filter(|(name, _)| name.contains(&G::NAME[6..])) {
        let found = weights::named::<G>(name);
        assert_eq!(found[..expected.len()], expected[..], "{name}");
        assert!(found[expected.len()..].iter().all(|&weight| weight == 0.0));
    }
}

#[test]
fn published_weights_match_the_paper() {
    let table = include_str!("../../data/oware_weights.csv");
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows: Vec<(String, Vec<f64>)> = rows
        .map(|row| {
            let fields: Vec<&str> = row.split(',').collect();
            let weights = fields[2..].iter().filter(|text| !text.is_empty());
            (
                format!("ainooson-{}-d{}", &fields[0][6..], fields[1]),
                weights.map(|text| text.parse().expect(text)).collect(),
            )
        })
        .collect();
    assert_eq!(rows.len(), 4);
    check_weights::<Abapa>(&rows);
    check_weights::<AnanAnan>(&rows);
}

/// Plain minimax without pruning.
struct Plain<'a, G: Features> {
    game: &'a G,
    agent: usize,
    depth: u32,
    weights: &'a G::Weights,
    terminal: Terminal,
    nodes: u64,
}

impl<G: Features> Plain<'_, G> {
    fn value(&mut self, core: &Core, ply: u32) -> f64 {
        self.nodes += 1;
        let lead = f64::from(core.score[self.agent]) - f64::from(core.score[1 - self.agent]);
        if core.phase != Phase::Move && self.terminal == Terminal::WinInf {
            return match lead {
                lead if lead > 0.0 => 1e6 + lead,
                lead if lead < 0.0 => -1e6 + lead,
                _ => 0.0,
            };
        }
        if core.phase != Phase::Move || ply == self.depth {
            return sum(self.weights, &self.game.features(core, self.agent));
        }
        let values = self.children(core, ply).into_iter().map(|(_, value)| value);
        if usize::from(core.to_move) == self.agent {
            values.fold(f64::NEG_INFINITY, f64::max)
        } else {
            values.fold(f64::INFINITY, f64::min)
        }
    }

    fn children(&mut self, core: &Core, ply: u32) -> Vec<(u16, f64)> {
        let legal = self.game.legal_mask(core);
        let actions = (0..8).filter(|action| legal >> action & 1 == 1);
        actions
            .map(|action| {
                let mut child = *core;
                self.game.play(&mut child, action);
                (action, self.value(&child, ply + 1))
            })
            .collect()
    }
}

/// Plays random games, and compares every choice with plain minimax.
fn check_search<G: Features + Ruleset>(given: &str, depth: u32, terminal: &str, games: u64) {
    let game: G = game(given, 2);
    let mut rng = AgentRng::new(7);
    let (mut plain_nodes, mut nodes) = (0, 0);
    for number in 0..games {
        let weights: Vec<f64> = match number % 3 {
            0 => weights::named::<G>("score").to_vec(),
            // Coarse weights, for many ties.
            1 => (0..G::Weights::COUNT)
                .map(|_| f64::from(rng.below(3)) - 1.0)
                .collect(),
            _ => (0..G::Weights::COUNT)
                .map(|_| f64::from(rng.below(2_000_001)) * 1e-6 - 1.0)
                .collect(),
        };
        let mut options = options(&format!("depth={depth};terminal={terminal}"));
        options.insert("weights".to_owned(), Value::Numbers(weights.clone()));
        let mut searcher = bot("oware-minimax", &options, &game).expect("a bot");
        let weights = G::Weights::from_slice(&weights);
        let mut state = game.initial();
        let mut legal = Vec::new();
        while let Node::Decision(seat) = game.node(&state) {
            game.legal(&state, &mut legal);
            let chosen = searcher.choose(&Decision {
                game: &game,
                state: &state,
                seat,
                number: 0,
                seed: 0,
                legal: &legal,
                stop: Stop::NEVER,
            });
            if legal.len() > 1 {
                let mut plain = Plain {
                    game: &game,
                    agent: seat.into(),
                    depth,
                    weights: &weights,
                    terminal: match terminal {
                        "eval" => Terminal::Eval,
                        _ => Terminal::WinInf,
                    },
                    nodes: 1,
                };
                let children = plain.children(game.core(&state), 0);
                let most = children.iter().map(|(_, value)| *value);
                let most = most.fold(f64::NEG_INFINITY, f64::max);
                let first = children.iter().find(|(_, value)| *value == most);
                let first = first.expect("a best pit").0;
                assert_eq!(
                    (chosen.action, chosen.score),
                    (first, Some(most)),
                    "{given} depth {depth} in {state:?}: {children:?}"
                );
                plain_nodes += plain.nodes;
                nodes += chosen.nodes.expect("a search counts");
            }
            game.apply(&mut state, rng.pick(&legal));
        }
    }
    assert!(nodes <= plain_nodes, "{nodes} of {plain_nodes} positions");
    assert!(
        depth < 3 || nodes < plain_nodes / 2,
        "{nodes} of {plain_nodes} positions"
    );
}

#[test]
fn pruning_changes_nothing_in_abapa() {
    check_search::<Abapa>("-", 1, "win-inf", 3);
    check_search::<Abapa>("-", 2, "eval", 3);
    check_search::<Abapa>("-", 3, "win-inf", 6);
    check_search::<Abapa>("grand_slam=allow", 4, "win-inf", 3);
    check_search::<Abapa>("grand_slam=illegal;must_feed=false", 3, "eval", 3);
    check_search::<Abapa>("repetition=off;remaining=none", 3, "win-inf", 3);
}

#[test]
fn pruning_changes_nothing_in_anan_anan() {
    check_search::<AnanAnan>("-", 1, "win-inf", 3);
    check_search::<AnanAnan>("-", 2, "eval", 3);
    check_search::<AnanAnan>("-", 3, "win-inf", 6);
    check_search::<AnanAnan>("remaining=none;no_capture_limit=20", 3, "eval", 3);
    check_search::<AnanAnan>("remaining=stop-at-four;empty_row=end", 4, "win-inf", 3);
}

/// The choice in a position, and its score.
fn choose(given: &str, pits: &str, scores: &str, to_move: u8) -> (u16, f64) {
    let game: AnanAnan = game("remaining=none", 2);
    let core = position(&game, pits, scores, to_move);
    let mut legal = Vec::new();
    game.legal(&core, &mut legal);
    let chosen = make(given, &game).choose(&Decision {
        game: &game,
        state: &core,
        seat: to_move,
        number: 0,
        seed: 0,
        legal: &legal,
        stop: Stop::NEVER,
    });
    (chosen.action, chosen.score.expect("a score"))
}

#[test]
fn first_of_equal_pits_is_chosen() {
    let zeros = "depth=1;weights=0 0 0 0 0 0 0 0 0 0 0 0 0 0";
    assert_eq!(
        choose(zeros, "0 1 0 0 0 3 | 3 0 0 0 0 0", "0 0", 0),
        (1, 0.0)
    );
}

#[test]
fn win_outweighs_all_features() {
    // Pit 5 makes four in pit 6 and wins with 27 to 10; pit 0 does nothing.
    let (pits, scores) = ("1 0 0 0 0 1 | 3 0 0 0 0 0", "23 10");
    let lazy = "depth=1;weights=0 -9 0 0 0 0 0 0 0 0 0 0 0 0";
    assert_eq!(choose(lazy, pits, scores, 0), (5, 1e6 + 17.0));
    let eval = format!("{lazy};terminal=eval");
    assert_eq!(choose(&eval, pits, scores, 0), (0, -9.0 * 23.0));
}

#[test]
fn published_weights_beat_random() {
    for weights in ["ainooson-abapa-d3", "ainooson-abapa-d5", "score"] {
        let game: Abapa = game("-", 2);
        let mut won = 0;
        for number in 0..40 {
            let searcher = make(&format!("depth=3;weights={weights}"), &game);
            let random = bot("random", &options("-"), &game).expect("a bot");
            let seat = (number % 2) as usize;
            let mut bots = if seat == 0 {
                [searcher, random]
            } else {
                [random, searcher]
            };
            let last = play(&game, &mut bots, number);
            won += usize::from(game.placement(&last)[seat] == 1);
        }
        assert!(won >= 36, "{weights}: {won} of 40");
    }
}

#[test]
fn unsuitable_weights_are_refused_by_name() {
    let abapa: Abapa = game("-", 2);
    let anan_anan: AnanAnan = game("-", 2);
    let refused = |given: &str| {
        let made = bot("oware-minimax", &options(given), &abapa);
        made.err().expect("an error").to_string()
    };
    assert_eq!(
        refused("weights=1 2 3"),
        "bot oware-minimax: option \"weights\": a list of 3 numbers is not a list of 12 numbers \
         from -1000 to 1000 or one of ainooson-abapa-d3, ainooson-abapa-d5, score, as required for oware-abapa"
    );
    for (given, word) in [
        ("weights=ainooson-anan-anan-d3", "ainooson-abapa-d3"),
        ("weights=ainooson-abapa-d4", "ainooson-abapa-d3"),
        ("weights=1 2 3 4 5 6 7 8 9 10 11 1001", "from -1000 to 1000"),
        ("depth=0", "a whole number from 1 to 15"),
        ("depth=16", "a whole number from 1 to 15"),
        ("terminal=win", "win-inf"),
    ] {
        let shown = refused(given);
        assert!(shown.contains(word), "{given}: {shown}");
    }
    let fourteen = options("weights=1 2 3 4 5 6 7 8 9 10 11 12 13 14");
    assert!(bot("oware-minimax", &fourteen, &anan_anan).is_ok());
    assert!(bot("oware-minimax", &fourteen, &abapa).is_err());
}
