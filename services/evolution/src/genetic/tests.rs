use super::*;

const GENES: usize = 12;
const BOUNDS: (f64, f64) = (-1e6, 1e6);

fn genes(bounds: (f64, f64), count: usize) -> Vec<Gene> {
    let gene = Gene {
        start: None,
        bounds,
    };
    vec![gene; count]
}

fn evolution(settings: Settings) -> Evolution {
    evolution_of(settings, GENES)
}

fn evolution_of(settings: Settings, count: usize) -> Evolution {
    let seed = "0x5eed".parse().expect("a seed");
    Evolution::new(settings, seed, genes(BOUNDS, count)).expect("settings")
}

/// Points that order the players without a pattern and with ties.
fn points(generation: &Generation) -> Vec<u64> {
    let number = u64::from(generation.number);
    let players = 0..generation.players.len() as u64;
    players
        .map(|player| (player * 7 + number * 5) % 13 * 3)
        .collect()
}

fn run(evolution: &Evolution, generations: u32) -> Vec<Generation> {
    let mut all = vec![evolution.first()];
    for _ in 1..generations {
        let last = &all[all.len() - 1];
        all.push(evolution.next(last, &points(last)));
    }
    all
}

#[test]
fn defaults_are_the_papers_numbers() {
    let settings = Settings::default();
    assert_eq!((settings.population, settings.kept()), (20, 5));
    assert_eq!(settings.generations, 250);
    assert_eq!((settings.win, settings.draw, settings.loss), (3, 1, 0));
    assert_eq!((settings.gene_min, settings.gene_max), (-1.0, 1.0));
    assert_eq!((settings.crossover, settings.mutation_size), (0.5, 0.05));
    assert_eq!(settings.parents, Parents::Rest);
}

#[test]
fn first_genes_fill_their_range_evenly() {
    let evolution = evolution(Settings {
        population: 1000,
        ..Settings::default()
    });
    let first = evolution.first();
    assert_eq!(first.number, 0);
    assert!(first.players.iter().all(|player| player.len() == GENES));
    let genes: Vec<f64> = first.players.into_iter().flatten().collect();
    assert!(genes.iter().all(|gene| (-1.0..=1.0).contains(gene)));
    for tenth in 0..10 {
        let from = -1.0 + 0.2 * f64::from(tenth);
        let inside = genes
            .iter()
            .filter(|&&gene| gene >= from && gene < from + 0.2);
        // Six standard deviations of a binomial draw of 12,000.
        assert!(inside.count().abs_diff(1200) < 197, "tenth {tenth}");
    }
}

#[test]
fn elites_and_population_size_stay() {
    for (population, elites) in [(20, 5), (6, 0), (7, 5), (2, 0)] {
        let evolution = evolution(Settings {
            population,
            elites: Some(elites),
            ..Settings::default()
        });
        let all = run(&evolution, 8);
        for pair in all.windows(2) {
            let order = ranking(&points(&pair[0]));
            assert_eq!(pair[1].players.len(), population);
            assert_eq!(pair[1].number, pair[0].number + 1);
            for (place, &player) in order[..elites].iter().enumerate() {
                assert_eq!(pair[1].players[place], pair[0].players[player]);
            }
        }
    }
}

#[test]
fn crossover_takes_genes_of_two_parents() {
    for parents in [Parents::Rest, Parents::All] {
        let evolution = evolution(Settings {
            mutation: 0.0,
            parents,
            ..Settings::default()
        });
        let mut from_elite = 0;
        for pair in run(&evolution, 40).windows(2) {
            let order = ranking(&points(&pair[0]));
            let of = |players: &[usize], child: &Genes| {
                let has = |player: &usize, gene: usize| {
                    pair[0].players[*player][gene].to_bits() == child[gene].to_bits()
                };
                let mut pairs = players.iter().enumerate().flat_map(|(place, first)| {
                    players[place + 1..]
                        .iter()
                        .map(move |second| (first, second))
                });
                pairs.any(|(first, second)| {
                    (0..GENES).all(|gene| has(first, gene) || has(second, gene))
                })
            };
            for child in &pair[1].players[5..] {
                assert!(of(&order, child), "two parents have all of its genes");
                from_elite += usize::from(!of(&order[5..], child));
            }
        }
        match parents {
            Parents::Rest => assert_eq!(from_elite, 0),
            // Without mutation, players become similar, so fewer children identify parents.
            Parents::All => assert!(from_elite > 20, "{from_elite}"),
        }
    }
}

#[test]
fn parents_give_genes_at_the_set_rate() {
    for (crossover, range) in [(0.0, 0..1), (0.25, 22_000..28_000), (1.0, 100_000..100_001)] {
        let evolution = evolution(Settings {
            crossover,
            ..Settings::default()
        });
        let (first, second) = (vec![1.0; 100_000], vec![2.0; 100_000]);
        let mut draws = Draws::of("0x1".parse().expect("a seed"), 1);
        let child = evolution.crossed(&first, &second, &mut draws);
        let firsts = child.iter().filter(|&&gene| gene == 1.0).count();
        assert!(range.contains(&firsts), "{crossover}: {firsts}");
    }
}

#[test]
fn mutation_keeps_sign_and_share() {
    let evolution = evolution_of(Settings::default(), 50_000);
    let mut draws = Draws::of("0x2".parse().expect("a seed"), 1);
    let genes: Vec<f64> = (0..50_000)
        .map(|number| (f64::from(number) - 25_000.0) * 1e-3)
        .collect();
    let mutated = evolution.mutated(genes.clone(), &mut draws);
    let (mut larger, mut smaller) = (0, 0);
    for (before, after) in genes.iter().zip(&mutated) {
        assert!((after - before).abs() <= 0.05 * before.abs() * (1.0 + 1e-12));
        assert!(before * after > 0.0 || (*before == 0.0 && *after == 0.0));
        larger += u32::from(after.abs() > before.abs());
        smaller += u32::from(after.abs() < before.abs());
    }
    // Six standard deviations of a binomial draw of 50,000.
    assert!(larger.abs_diff(25_000) < 671, "{larger} larger");
    assert!(smaller.abs_diff(25_000) < 671, "{smaller} smaller");
}

#[test]
fn mutation_keeps_rate_and_bounds() {
    let settings = Settings {
        mutation: 0.3,
        ..Settings::default()
    };
    let evolution = evolution_of(settings, 100_000);
    let mut draws = Draws::of("0x3".parse().expect("a seed"), 1);
    let mutated = evolution.mutated(vec![1.0; 100_000], &mut draws);
    let changed = mutated.iter().filter(|&&gene| gene != 1.0).count();
    // Six standard deviations of a binomial draw of 100,000.
    assert!(changed.abs_diff(30_000) < 870, "{changed}");
    let at_bound = evolution.mutated([1e6, -1e6].repeat(1000), &mut draws);
    assert!(at_bound.iter().all(|gene| gene.abs() <= 1e6));
}

#[test]
fn same_seed_makes_same_generations() {
    let evolution = evolution(Settings::default());
    let all = run(&evolution, 30);
    assert_eq!(run(&evolution, 30), all);
    let taken_up = evolution.next(&all[17], &points(&all[17]));
    assert_eq!(taken_up, all[18]);
    let other = "0x5eee".parse().expect("a seed");
    let other = Evolution::new(Settings::default(), other, genes(BOUNDS, GENES)).expect("settings");
    assert_ne!(other.first(), all[0]);
}

#[test]
fn equal_fitness_ranks_lowest_number_first() {
    assert_eq!(ranking(&[3, 9, 9, 0, 3]), [1, 2, 0, 4, 3]);
    let evolution = evolution(Settings::default());
    assert_eq!(evolution.points(5, 2, 31), 17);
}

#[test]
fn fitness_has_best_mean_and_deviation() {
    let fitness = Fitness::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
    assert_eq!((fitness.best, fitness.mean, fitness.spread), (9, 5.0, 2.0));
}

#[test]
fn invalid_settings_are_named() {
    type Change = fn(&mut Settings);
    let with = |change: Change| {
        let mut settings = Settings::default();
        change(&mut settings);
        let seed = "0x1".parse().expect("a seed");
        let made = Evolution::new(settings, seed, genes((-8.0, 8.0), GENES));
        made.map(drop).expect_err("not possible").to_string()
    };
    let cases: [(Change, &str); 9] = [
        (
            |s| s.population = 1,
            "population = 1: must be from 2 to 1000",
        ),
        (|s| s.generations = 0, "generations = 0: must be from 1"),
        (|s| s.elites = Some(19), "elites = 19: must be from 0 to 18"),
        (|s| s.gene_min = -9.0, "gene_min = -9: must be from -8 to 8"),
        (|s| s.gene_max = -2.0, "gene_max = -2: must be from -1 to 8"),
        (|s| s.gene_max = f64::NAN, "gene_max = NaN: must be"),
        (
            |s| s.crossover = 1.5,
            "crossover = 1.5: must be from 0 to 1",
        ),
        (
            |s| s.mutation = -0.5,
            "mutation = -0.5: must be from 0 to 1",
        ),
        (
            |s| s.mutation_size = 2.0,
            "mutation_size = 2: must be from 0 to 1",
        ),
    ];
    for (change, expected) in cases {
        let reported = with(change);
        assert!(
            reported.starts_with(&format!("[evolution] {expected}")),
            "{reported}"
        );
    }
}

#[test]
fn gene_range_bounds_the_gene() {
    let seed = "0x5eed".parse().expect("a seed");
    let own = Gene {
        start: Some((2.0, 3.0)),
        bounds: (2.0, 3.0),
    };
    let mixed = vec![genes(BOUNDS, 1)[0], own];
    let evolution = Evolution::new(Settings::default(), seed, mixed).expect("settings");
    for generation in run(&evolution, 30) {
        for player in &generation.players {
            assert!((2.0..=3.0).contains(&player[1]), "{player:?}");
        }
    }
    let first = evolution.first();
    assert!(first.players.iter().all(|player| player[0].abs() <= 1.0));
}
