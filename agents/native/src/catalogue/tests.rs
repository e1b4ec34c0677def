use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arena_engine::{
    Game,
    options::{Options, Value},
};
use arena_games::{Kalah, RulesetInfo};

use super::*;
use crate::{
    bot::{Chosen, Decision},
    tests::{game, options, play, plays, quick, quick_variants},
};

/// Every number of seats with the defaults, every preset, and options far from the
/// defaults.
fn variants(info: &RulesetInfo) -> Vec<(String, Option<usize>)> {
    let mut variants: Vec<_> = (info.seats.0..=info.seats.1)
        .map(|seats| ("-".to_owned(), Some(seats)))
        .collect();
    let presets = info.presets.iter();
    variants.extend(presets.map(|preset| (format!("preset={}", preset.name), None)));
    let far: &[&str] = match info.name {
        "chinese-ludo" => &[
            "launch=even;start=ring1;finish=bounce;hit_squares=ends",
            "launch=five-six;finish=over;three_sixes=hangar;starter=random",
            "three_sixes=end-turn;fly_hits_path=true;max_rolls=50",
        ],
        "cowry" => &[
            "board=7;safe=corners;throw_mode=immediate",
            "board=9;inner=spiral;variant=doubles;end=all",
            "board=11;pieces=3;end=ranking;starter=random",
            "variant=doubles;block=void-turn;double_move=half;max_throws=200",
            "pieces=10;deadlock=open-gate",
            "pieces=1",
        ],
        "kalah" => &[
            "pits=1;stones=1",
            "pits=8;stones=8;empty_capture=always",
            "pits=3;remaining=emptier;max_plies=9",
            "early_stop=true;remaining=none",
        ],
        _ => &[],
    };
    variants.extend(far.iter().map(|given| ((*given).to_owned(), None)));
    variants
}

/// Plays games of one bot alternately against itself and `random`; `play` checks that every
/// choice is legal.
struct Play<'a> {
    info: &'a BotInfo,
    bot_options: &'a Options,
}

impl Visitor for Play<'_> {
    type Out = ();

    fn visit<G: Game>(self, game: G) {
        let make = |name, options: &Options| bot(name, options, &game).expect("a bot");
        for number in 0..4 {
            let mut bots: Vec<_> = (0..game.seats())
                .map(|seat| {
                    if (seat as u64 + number) % 3 == 2 {
                        make("random", &Options::new())
                    } else {
                        make(self.info.name, self.bot_options)
                    }
                })
                .collect();
            play(&game, &mut bots, number);
        }
    }
}

#[test]
fn bots_play_legal_moves_everywhere() {
    for info in bots() {
        let rulesets = arena_games::rulesets().iter();
        let claimed = rulesets
            .filter(|ruleset| info.rulesets.is_empty() || info.rulesets.contains(&ruleset.name));
        for ruleset in claimed {
            for (variant, seats) in variants(ruleset) {
                let (resolved, seats) =
                    arena_games::resolve(ruleset.name, &options(&variant), seats)
                        .expect("a variant that exists");
                for bot_options in &quick_variants(info) {
                    if !plays(info, bot_options, (ruleset.name, &resolved, seats)) {
                        continue;
                    }
                    let play = Play { info, bot_options };
                    arena_games::visit(ruleset.name, &resolved, seats, play)
                        .expect("a game of resolved options");
                }
            }
        }
    }
}

#[test]
fn bot_options_are_checked_with_the_game() {
    let cowry = |given: &str, seats| {
        arena_games::resolve("cowry", &options(given), Some(seats)).expect("it exists")
    };
    let check = |name: &str, given: &str, (resolved, seats): (Options, usize)| {
        check(name, &options(given), "cowry", &resolved, seats).map_err(|error| error.to_string())
    };
    check("chowka-naive", "-", cowry("preset=cb2012", 2)).expect("it plays that");
    let error = check("chowka-naive", "-", cowry("board=7", 2)).expect_err("another board");
    assert!(error.contains("board 7"), "{error}");
    let error = check("mixed", "form=prob;weights=1", cowry("-", 2)).expect_err("too few");
    assert!(error.contains("5 numbers"), "{error}");
}

#[test]
fn bots_refuse_unclaimed_rulesets() {
    struct Refuse(&'static BotInfo);
    impl Visitor for Refuse {
        type Out = ();

        fn visit<G: Game>(self, game: G) {
            let made = bot(self.0.name, &Options::new(), &game);
            let claims = self.0.rulesets.is_empty() || self.0.rulesets.contains(&game.name());
            match made {
                Ok(_) => assert!(claims, "{} plays {}", self.0.name, game.name()),
                Err(error) => {
                    assert!(!claims, "{error}");
                    let plays = self.0.rulesets.join(", ");
                    let expected = format!(
                        "bot {} does not play {}; it plays {plays}",
                        self.0.name,
                        game.name()
                    );
                    assert_eq!(error.to_string(), expected);
                }
            }
        }
    }
    for info in bots() {
        for ruleset in arena_games::rulesets() {
            let resolved = arena_games::resolve(ruleset.name, &Options::new(), None);
            let (resolved, seats) = resolved.expect("defaults go together");
            let visited: Result<(), GamesError> =
                arena_games::visit(ruleset.name, &resolved, seats, Refuse(info));
            visited.expect("a game of resolved options");
        }
    }
}

#[test]
fn errors_name_problem_and_choices() {
    let kalah: Kalah = game("-", 2);
    let error = |name: &str, given: &str| {
        let made = bot(name, &options(given), &kalah);
        made.err().expect("an error").to_string()
    };
    assert_eq!(
        error("kalah-minmax", "-"),
        "unknown bot \"kalah-minmax\", did you mean \"kalah-minimax\"?",
    );
    let known: Vec<_> = bots().iter().map(|info| info.name).collect();
    assert_eq!(
        error("stockfish-17", "-"),
        format!(
            "unknown bot \"stockfish-17\"; there are {}",
            known.join(", ")
        ),
    );
    assert_eq!(
        error("kalah-minimax", "dept=3"),
        "bot kalah-minimax: unknown option \"dept\", did you mean \"depth\"?",
    );
    assert_eq!(
        error("kalah-minimax", "depth=99"),
        "bot kalah-minimax: option \"depth\": \"99\" is not a whole number from 1 to 20",
    );
}

#[test]
fn names_are_unique_and_rulesets_exist() {
    let names: BTreeSet<&str> = bots().iter().map(|info| info.name).collect();
    assert_eq!(names.len(), bots().len());
    for name in bots().iter().flat_map(|info| &info.rulesets) {
        arena_games::ruleset(name).expect("a ruleset");
    }
}

#[test]
fn random_bot_draws_moves_uniformly() {
    let kalah: Kalah = game("-", 2);
    let state = kalah.initial();
    let legal = [0, 1, 2, 3, 4, 5];
    let mut random = bot("random", &Options::new(), &kalah).expect("a bot");
    let mut counts = [0u32; 6];
    for seed in 0..60_000 {
        let chosen = random.choose(&crate::Decision {
            game: &kalah,
            state: &state,
            seat: 0,
            number: 0,
            seed,
            legal: &legal,
            stop: crate::Stop::NEVER,
        });
        counts[usize::from(chosen.action)] += 1;
    }
    for count in counts {
        // Six standard deviations of a binomial draw.
        assert!(count.abs_diff(10_000) < 548, "{counts:?}");
    }
}

/// Records the choices of a bot.
struct Noted<G: Game> {
    bot: Box<dyn Bot<G>>,
    /// FNV-1a over the choices (Fowler, Noll, Vo 1991).
    hash: Arc<AtomicU64>,
}

impl<G: Game> Bot<G> for Noted<G> {
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen {
        let chosen = self.bot.choose(decision);
        let hash = self.hash.load(Ordering::Relaxed) ^ u64::from(chosen.action);
        self.hash
            .store(hash.wrapping_mul(0x0100_0000_01b3), Ordering::Relaxed);
        chosen
    }
}

/// Plays two games of a bot against itself, and hashes its choices.
struct Behaviour<'a>(&'a BotInfo, Arc<AtomicU64>);

impl Visitor for Behaviour<'_> {
    type Out = ();

    fn visit<G: Game>(self, game: G) {
        for number in 0..2 {
            let seat = |_| -> Box<dyn Bot<G>> {
                Box::new(Noted {
                    bot: bot(self.0.name, &quick(self.0), &game).expect("a bot"),
                    hash: Arc::clone(&self.1),
                })
            };
            let mut bots: Vec<_> = (0..game.seats()).map(seat).collect();
            play(&game, &mut bots, number);
        }
    }
}

/// All native bots are identified by one version, so that version must change if one of
/// them plays differently. Tournaments of the old bots are then different tournaments.
/// ARENA_UPDATE=1 rewrites the file.
#[test]
fn version_changes_when_a_bot_plays_differently() {
    let mut text = format!("version {VERSION}\n");
    for info in bots() {
        let hash = Arc::new(AtomicU64::new(0xcbf2_9ce4_8422_2325));
        for ruleset in arena_games::rulesets() {
            let name = ruleset.name;
            let claims = info.rulesets.is_empty() || info.rulesets.contains(&name);
            let given = match info.name {
                "chowka-naive" | "chowka-expectiminimax" | "chowka-random-dup" => "preset=cb2012",
                _ => "-",
            };
            if claims {
                let (resolved, seats) =
                    arena_games::resolve(name, &options(given), None).expect("options that exist");
                let behaviour = Behaviour(info, Arc::clone(&hash));
                arena_games::visit(name, &resolved, seats, behaviour).expect("a game");
            }
        }
        text += &format!("{} {:016x}\n", info.name, hash.load(Ordering::Relaxed));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/behaviour.txt");
    if std::env::var_os("ARENA_UPDATE").is_some() {
        std::fs::write(path, &text).expect("the data folder");
    }
    let known = std::fs::read_to_string(path).expect("the data file");
    assert_eq!(
        known, text,
        "a bot is new or plays differently: raise VERSION in catalogue.rs if a bot changed, and run \
         this test with ARENA_UPDATE=1 to write {path}"
    );
}

/// Plays 20 games of a bot against itself that differ only in their seeds.
struct Courses<'a>(&'a BotInfo, &'a Options);

impl Visitor for Courses<'_> {
    type Out = Option<usize>;

    /// Number of distinct games; `None` if the rules have chance.
    fn visit<G: Game>(self, game: G) -> Option<usize> {
        if game.has_chance() {
            return None;
        }
        let courses = (0..20).map(|number| {
            let hash = Arc::new(AtomicU64::new(0xcbf2_9ce4_8422_2325));
            let seat = |_| -> Box<dyn Bot<G>> {
                Box::new(Noted {
                    bot: bot(self.0.name, self.1, &game).expect("a bot"),
                    hash: Arc::clone(&hash),
                })
            };
            let mut bots: Vec<_> = (0..game.seats()).map(seat).collect();
            play(&game, &mut bots, number);
            hash.load(Ordering::Relaxed)
        });
        let courses: BTreeSet<u64> = courses.collect();
        Some(courses.len())
    }
}

#[test]
fn bots_use_seeds_as_declared() {
    for info in bots() {
        let explores = Options::from([("explore".to_owned(), Value::Real(0.5))]);
        let draws_if = info
            .options
            .iter()
            .any(|spec| spec.name == "explore" && spec.uses_seed);
        let mut cases = vec![(quick(info), info.uses_seed)];
        if draws_if {
            cases.push((quick(info).into_iter().chain(explores).collect(), true));
        }
        for ruleset in arena_games::rulesets() {
            let name = ruleset.name;
            if !(info.rulesets.is_empty() || info.rulesets.contains(&name)) {
                continue;
            }
            for (given, uses_seed) in &cases {
                let (resolved, seats) =
                    arena_games::resolve(name, &Options::new(), None).expect("defaults");
                let courses = Courses(info, given);
                let different = arena_games::visit(name, &resolved, seats, courses);
                if let Some(different) = different.ok().flatten() {
                    assert_eq!(different > 1, *uses_seed, "{} on {name}", info.name);
                }
            }
        }
    }
}

#[test]
fn bots_for_any_ruleset_play_added_games() {
    add_game::<Kalah>();
    let own = OWN.read().expect("no panic");
    let added: BTreeSet<_> = own.iter().map(|(bot, _)| *bot).collect();
    let any = bots().iter().filter(|info| info.rulesets.is_empty());
    assert_eq!(added, any.map(|info| info.name).collect());
}
