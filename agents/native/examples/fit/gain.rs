//! How much of what scores vary by luck explains.

use arena_agents::Bot;
use arena_engine::{AgentRng, Game, GameKeys};
use arena_games::{ChineseLudo, Cowry, Ruleset, resolve};

use crate::play;

/// Prints it for pairs of agents: of single games, and of blocks.
pub(crate) fn show(blocks: u64) {
    let cowry = ["mixed:", "aggressive", "move-first", "greedy", "random"];
    for (key, value, seats) in [
        ("variant", "basic", 2),
        ("preset", "doubles", 2),
        ("preset", "cb2012", 2),
        ("board", "7", 2),
        ("variant", "basic", 3),
        ("preset", "basic", 4),
        ("preset", "basic_single", 4),
        ("variant", "doubles", 4),
    ] {
        let given = [(key.to_owned(), value.into())].into();
        let (options, seats) = resolve("cowry", &given, Some(seats)).expect("options");
        let game = Cowry::with_options(&options, seats).expect("resolved");
        pairs(&format!("cowry {value} {seats}"), &game, &cowry, blocks);
    }
    let (options, _) = resolve("chinese-ludo", &Default::default(), None).expect("options");
    let game = ChineseLudo::with_options(&options, 2).expect("resolved");
    let ludo = ["ludo-threat", "move-first", "greedy", "random"];
    pairs("chinese-ludo", &game, &ludo, blocks);
}

fn pairs<G: Game>(label: &str, game: &G, names: &[&str], blocks: u64) {
    for one in 0..names.len() {
        let other = (one + 1) % names.len();
        let mut bots = play::bots(&[names[one], names[other]], game);
        let (single, block) = explained(game, &mut bots, blocks);
        println!(
            "{label:<24} {:<12} {:<12} games {single:.3}, blocks {block:.3}",
            names[one], names[other]
        );
    }
}

/// Share of the variance of the first agent's score that its luck explains.
fn explained<G: Game>(game: &G, bots: &mut [Box<dyn Bot<G>>], blocks: u64) -> (f64, f64) {
    let mut single = Sums::default();
    let mut whole = Sums::default();
    let seats = game.seats();
    for block in 0..blocks {
        let keys = GameKeys::drawn(&mut AgentRng::new(block));
        let (mut score, mut luck) = (0.0, 0.0);
        for rotation in 0..seats {
            let order: Vec<usize> = (0..seats)
                .map(|seat| usize::from((seat + rotation) % seats != 0))
                .collect();
            let own = (seats - rotation) % seats;
            let finished = play::seated(game, bots, &order, keys.clone(), 0);
            let rank = finished.placement[own];
            let units = finished
                .placement
                .iter()
                .map(|&other| match other.cmp(&rank) {
                    std::cmp::Ordering::Less => 0,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => 2,
                });
            let of_game = f64::from(units.sum::<i32>() - 1);
            let lucky = f64::from(finished.luck[own]);
            single.add(of_game, lucky);
            score += of_game;
            luck += lucky;
        }
        whole.add(score, luck);
    }
    (single.share(), whole.share())
}

#[derive(Default)]
struct Sums {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Sums {
    fn add(&mut self, y: f64, x: f64) {
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    fn share(&self) -> f64 {
        let of = |both: f64, one: f64, other: f64| both / self.n - one * other / self.n / self.n;
        let both = of(self.xy, self.x, self.y);
        both * both / of(self.xx, self.x, self.x) / of(self.yy, self.y, self.y)
    }
}
