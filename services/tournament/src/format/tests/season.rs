//! Open ladders: seasons in simulated time.

use arena_model::{
    AgentChange, ChangeKind, EntryState, Tournament,
    format::{Format, Ladder, Settings},
};

use crate::{
    Stages,
    elo::ELO,
    format::{SeasonStanding, season::VERSION},
    stages::tests::with,
    tests::{Draws, result},
};

const AGENTS: usize = 40;

/// An open ladder before its first change.
fn open(agents: usize, blocks: u64, step: u64) -> Tournament {
    let ladder = Settings::Ladder(Ladder {
        blocks_total: Some(blocks),
        step: Some(step),
        open: true,
    });
    with(Format::Ladder, agents, 2, 1, Some(ladder))
}

/// Draws a normal number.
fn normal(draws: &mut Draws) -> f64 {
    let twelve = (0..12).map(|_| draws.below(1 << 32) as f64 / f64::from(u32::MAX));
    twelve.sum::<f64>() - 6.0
}

/// A season: its tournament as it grows, and the strengths of its agents.
struct Season {
    tournament: Tournament,
    strengths: Vec<f64>,
    states: Vec<EntryState>,
    draws: Draws,
}

impl Season {
    /// `spread` is the standard deviation of the strengths of the first agents.
    fn new(seed: u64, blocks: u64, step: u64, spread: f64) -> Self {
        let mut draws = Draws(seed);
        Self {
            tournament: open(AGENTS, blocks, step),
            strengths: (0..AGENTS).map(|_| spread * normal(&mut draws)).collect(),
            states: vec![EntryState::Active; AGENTS],
            draws,
        }
    }

    fn active(&self) -> Vec<u16> {
        let entries = (0..).zip(&self.states);
        let active = entries.filter(|(_, state)| **state == EntryState::Active);
        active.map(|(entry, _)| entry).collect()
    }

    /// A new entry of this strength.
    fn enter(&mut self, strength: f64) -> u16 {
        let entry = self.tournament.agents.len() as u16;
        let mut agent = self.tournament.agents[0].clone();
        agent.name = format!("a{entry}").parse().expect("a name");
        self.tournament.agents.push(agent);
        self.strengths.push(strength);
        self.states.push(EntryState::Waiting);
        entry
    }

    fn change(&mut self, at_blocks: u64, kind: ChangeKind, entry: u16) {
        let change = AgentChange {
            at_blocks,
            entry,
            kind,
            agent: None,
        };
        change.apply(&mut self.states);
        self.tournament.changes.push(change);
    }

    /// A random agent is replaced by a version of it that is stronger or weaker, as the prior says.
    fn replace(&mut self, at_blocks: u64) {
        let active = self.active();
        let old = active[self.draws.below(active.len() as u64) as usize];
        let strength = self.strengths[usize::from(old)] + VERSION * normal(&mut self.draws);
        let new = self.enter(strength);
        self.change(at_blocks, ChangeKind::Replace(old), new);
    }

    /// A random change; the number of active agents stays.
    fn random_change(&mut self, at_blocks: u64) {
        let active = self.active();
        let one = active[self.draws.below(active.len() as u64) as usize];
        let benched = self.states.iter().position(|it| *it == EntryState::Benched);
        match (self.draws.below(10), benched) {
            (0, _) => {
                let reason = "it answers with another program".to_owned();
                self.change(at_blocks, ChangeKind::Ban(reason), one);
                let strength = normal(&mut self.draws);
                let new = self.enter(strength);
                self.change(at_blocks, ChangeKind::Add, new);
            }
            (1, None) => self.change(at_blocks, ChangeKind::Bench, one),
            (_, Some(entry)) => self.change(at_blocks, ChangeKind::Return, entry as u16),
            _ => self.replace(at_blocks),
        }
    }

    /// The first place of a game, which depends only on its seed and seats.
    fn placement(&self, game: &crate::ScheduledGame) -> [u8; 2] {
        let [one, other] = [0, 1].map(|seat| self.strengths[usize::from(game.seats[seat])]);
        let chance = 1.0 / (1.0 + libm::exp(other - one));
        let mut draws = Draws(game.seed.0 ^ (u64::from(game.rotation) << 40));
        let drawn = draws.below(1 << 32) as f64 / f64::from(u32::MAX);
        if drawn < chance { [1, 2] } else { [2, 1] }
    }
}

/// How results come, and when the coordinator is killed.
#[derive(Clone, Copy, PartialEq)]
enum Course {
    /// One worker: in order. Each change is made when it applies.
    OneWorker,
    /// Three workers, and all changes are known before.
    KnownBefore,
    /// Three workers; the coordinator is killed so many times.
    ThreeWorkers(u64),
}

/// The games, the verdict and the standings of a season.
type Played = (Vec<(u64, Vec<u16>)>, String, Vec<SeasonStanding>);

/// Plays a season whose changes are known, and makes them one after another.
fn play(season: &Season, course: Course) -> Played {
    let all = &season.tournament;
    // As the coordinator knows it so far.
    let mut known = match course {
        Course::KnownBefore => all.clone(),
        _ => open(AGENTS, 1, 1),
    };
    known.settings.clone_from(&all.settings);
    let mut stages = Stages::new(&known).expect("a season");
    let mut draws = Draws(7);
    let (mut played, mut kills) = (0, 0);
    while stages.verdict().is_none() {
        // Changes whose turn comes with the next stage, or some stages later.
        let now = stages.schedule().blocks() + draws.below(3) * 24;
        let made = { all.changes.iter() }.take_while(|it| it.at_blocks <= now);
        let made = made.count().max(known.changes.len());
        known.changes = all.changes[..made].to_vec();
        let added = known.changes.iter().filter(|it| it.adds()).count();
        known.agents = all.agents[..AGENTS + added].to_vec();
        stages.follow_changes(&known);
        let games = stages.schedule().games();
        let mut indices: Vec<u64> = (played..games).collect();
        if course != Course::OneWorker {
            draws.shuffle(&mut indices);
        }
        let killed_at = match course {
            Course::ThreeWorkers(times) if kills < times => draws.below(2 * indices.len() as u64),
            _ => u64::MAX,
        };
        for (number, index) in (0..).zip(indices) {
            let game = stages.schedule().game(index);
            let placement = season.placement(&game);
            stages.add(&result(game, &placement, 1));
            if number == killed_at {
                kills += 1;
                let state = serde_json::to_string(&stages.state()).expect("JSON");
                let state = serde_json::from_str(&state).expect("the same");
                let resumed = Stages::resume(&known, state).expect("a season");
                stages = resumed.expect("its own state");
            }
        }
        played = games;
        stages.advance().expect("few games");
    }
    if let Course::ThreeWorkers(times) = course {
        assert_eq!(kills, times);
    }
    let games = stages.schedule().iter();
    let games = games.map(|game| (game.seed.0, game.seats)).collect();
    let verdict = stages.verdict().expect("over").to_json();
    (games, verdict, stages.season())
}

#[test]
fn season_is_a_function_of_spec_changes_and_results() {
    let mut season = Season::new(1, 120 * 24, 24, 1.0);
    for number in 0..400 {
        season.random_change(24 + number * 6);
    }
    let changes = &season.tournament.changes;
    assert!(changes.len() >= 400, "{}", changes.len());
    let one = play(&season, Course::OneWorker);
    let three = play(&season, Course::ThreeWorkers(50));
    assert_eq!(one, three);
    assert_eq!(one, play(&season, Course::KnownBefore));
    let (games, verdict, standings) = one;
    assert_eq!(games.len(), 120 * 24 * 2);
    // Nothing is scheduled for an entry before it is added, or after it has left.
    for (entry, standing) in standings.iter().enumerate() {
        let mut changes = changes.iter();
        let at = |kind: fn(&ChangeKind) -> bool| {
            let mut own = season.tournament.changes.iter();
            own.find(|it| usize::from(it.entry) == entry && kind(&it.kind))
        };
        let added = at(|it| matches!(it, ChangeKind::Add | ChangeKind::Replace(_)));
        let banned = at(|it| matches!(it, ChangeKind::Ban(_)));
        let replaced = changes.find(|it| it.kind == ChangeKind::Replace(entry as u16));
        let blocks = (0..)
            .zip(&games)
            .filter(|(_, (_, seats))| seats.contains(&(entry as u16)));
        let blocks: Vec<u64> = blocks.map(|(index, _)| index / 2).collect();
        assert_eq!(blocks.len() as u64, 2 * standing.blocks, "entry {entry}");
        if let (Some(first), Some(added)) = (blocks.first(), added) {
            assert!(*first >= added.at_blocks, "entry {entry} plays early");
        }
        for gone in banned.iter().chain(&replaced) {
            // A stage that was drawn before is played to its end.
            let drawn = gone.at_blocks.next_multiple_of(24);
            assert!(
                blocks.last().is_none_or(|last| *last < drawn),
                "entry {entry}"
            );
        }
    }
    for state in ["active", "replaced", "banned"] {
        assert!(
            verdict.contains(&format!("\"state\":\"{state}\"")),
            "{state}"
        );
    }
}

#[test]
fn changes_keep_the_games_that_are_scheduled() {
    let mut season = Season::new(2, 10 * 24, 24, 1.0);
    let before = play(&season, Course::OneWorker).0;
    season.replace(5 * 24);
    let after = play(&season, Course::OneWorker).0;
    assert_eq!(before[..5 * 48], after[..5 * 48]);
    assert_ne!(before, after);
}

/// Plays a season with two replacements in each stage. Returns how many intervals of agents that replaced
/// others contain the true rating, and how many there are, over all stages.
fn coverage(seed: u64, spread: f64) -> (u64, u64) {
    let mut season = Season::new(seed, 60 * 40, 40, spread);
    let mut stages = Stages::new(&season.tournament).expect("a season");
    let (mut inside, mut all, mut played) = (0, 0, 0);
    while stages.verdict().is_none() {
        let games = stages.schedule().games();
        for index in played..games {
            let game = stages.schedule().game(index);
            let placement = season.placement(&game);
            stages.add(&result(game, &placement, 1));
        }
        played = games;
        stages.advance().expect("few games");
        // All changes so far apply now.
        let active = season.active();
        let strengths = active.iter().map(|&it| season.strengths[usize::from(it)]);
        let mean = strengths.sum::<f64>() / active.len() as f64;
        for (entry, standing) in stages.season().iter().enumerate() {
            let looked = standing.predecessor.is_some() && standing.state == EntryState::Active;
            if let Some([_, low, high]) = standing.rating.filter(|_| looked) {
                let truth = (season.strengths[entry] - mean) * ELO;
                inside += u64::from((low..=high).contains(&truth));
                all += 1;
            }
        }
        let now = stages.schedule().blocks();
        if now < 60 * 40 {
            season.replace(now);
            season.replace(now);
            stages.follow_changes(&season.tournament);
        }
    }
    (inside, all)
}

/// Intervals of agents that replaced others contain the true rating about as often as they say, at
/// all times: right after the change, and later; whether the agents are close to each other or not.
#[test]
#[expect(clippy::print_stdout, reason = "README.md names these shares")]
fn intervals_of_replaced_agents_hold() {
    let mut sum = (0, 0);
    for (number, spread) in (0..).zip([0.5, 1.0, 2.0]) {
        let seasons = (0..6).map(|seed| coverage(100 * number + seed, spread));
        let (inside, all) = seasons.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let share = inside as f64 / all as f64;
        println!("spread {spread}: {inside} of {all} intervals contain the rating, {share:.3}");
        assert!((0.92..=0.97).contains(&share), "spread {spread}: {share}");
        sum = (sum.0 + inside, sum.1 + all);
    }
    let share = sum.0 as f64 / sum.1 as f64;
    println!("all: {share:.3} of {}", sum.1);
    assert!((0.93..=0.97).contains(&share), "{share}");
}

#[test]
fn successor_begins_with_rating_and_more_uncertainty() {
    let mut season = Season::new(3, 20 * 40, 40, 1.0);
    season.replace(10 * 40);
    let old = match season.tournament.changes[0].kind {
        ChangeKind::Replace(old) => usize::from(old),
        _ => unreachable!("a replacement"),
    };
    let mut stages = Stages::new(&season.tournament).expect("a season");
    let mut played = 0;
    while stages.schedule().blocks() <= 10 * 40 {
        let before = stages.season();
        assert_eq!(before[AGENTS].rating, None);
        assert_eq!(before[AGENTS].state, EntryState::Waiting);
        let games = stages.schedule().games();
        for index in played..games {
            let game = stages.schedule().game(index);
            let placement = season.placement(&game);
            stages.add(&result(game, &placement, 1));
        }
        played = games;
        stages.advance().expect("few games");
    }
    let after = stages.season();
    assert_eq!(after[old].state, EntryState::Replaced(AGENTS as u16));
    assert_eq!(after[AGENTS].predecessor, Some(old as u16));
    let [was, low, high] = after[old].rating.expect("a rating");
    let [now, lower, higher] = after[AGENTS].rating.expect("a rating");
    assert!((was - now).abs() < 5.0, "{was} and {now}");
    // The variances differ by about that of a version.
    let deviation = |low: f64, high: f64| (high - low) / 2.0 / 1.96;
    let more = deviation(lower, higher).powi(2) - deviation(low, high).powi(2);
    assert!((more.sqrt() - 100.0).abs() < 5.0, "{more}");
}

#[test]
fn closed_ladder_has_no_season() {
    let mut tournament = open(6, 100, 10);
    assert_eq!(
        Stages::new(&tournament).expect("a season").season().len(),
        6
    );
    tournament.settings = Some(Settings::Ladder(Ladder {
        blocks_total: Some(100),
        step: Some(10),
        open: false,
    }));
    assert!(
        Stages::new(&tournament)
            .expect("a ladder")
            .season()
            .is_empty()
    );
}
