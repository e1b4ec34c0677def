//! Thousands of random histories of losses, duplicates, reordering and restarts.

use std::{collections::BTreeMap, time::Duration};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use super::{START, grant, running, settings};
use crate::ledger::{
    Bitmap, Continuation, Failed, Grant, LEASE_GAMES_MAX, LeaseId, Ledger, ProgressTimeouts,
    RecordStatus, State, TournamentNo, WorkerId, WorkerProcess,
};

/// The simulated world, with the records that are really on the disk.
struct World {
    rng: ChaCha8Rng,
    ledger: Ledger,
    tournament: TournamentNo,
    games: u64,
    /// The durable games, each with the number of times that it was written.
    disk: BTreeMap<u64, u32>,
    /// Games that were passed to the writer and are not yet durable.
    writing: Vec<(u64, WorkerId)>,
    workers: Vec<WorkerId>,
    /// Reports in flight, in any order, some of them twice.
    network: Vec<(LeaseId, WorkerId, u64)>,
    held: Vec<(WorkerId, Grant)>,
    /// In half of the histories, the first worker plays nothing and invents progress.
    lies: bool,
    liar: Option<WorkerId>,
    /// Leases of such workers.
    invented: Vec<(WorkerId, LeaseId)>,
    now: Duration,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let games = u64::from(rng.next_u32() % 60);
        let mut world = Self {
            rng,
            ledger: Ledger::new(settings(200_000), 1),
            tournament: 0,
            games,
            disk: BTreeMap::new(),
            writing: Vec::new(),
            workers: Vec::new(),
            network: Vec::new(),
            held: Vec::new(),
            lies: seed % 2 == 1,
            liar: None,
            invented: Vec::new(),
            now: START,
        };
        world.tournament = running(&mut world.ledger, games);
        world
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.next_u32() as usize % bound
    }

    fn pick<T>(&mut self, from: fn(&mut Self) -> &mut Vec<T>) -> Option<T> {
        let count = from(self).len();
        if count == 0 {
            return None;
        }
        let place = self.below(count);
        Some(from(self).swap_remove(place))
    }

    fn step(&mut self, calm: bool) {
        let plies = self.now.as_millis() as u64;
        for &(worker, lease) in &self.invented {
            self.ledger.advance(self.now, worker, lease, plies);
        }
        match self.below(if calm { 12 } else { 20 }) {
            0 if self.workers.len() < 5 => {
                let lies = self.lies && self.liar.is_none();
                let owner = if lies { "liar" } else { "honest" };
                let process = WorkerProcess::Unknown;
                let worker = self
                    .ledger
                    .join_of(Some(owner.into()), process, LEASE_GAMES_MAX);
                if lies {
                    self.liar = Some(worker);
                }
                self.workers.push(worker);
            }
            0..=2 => self.assign(),
            3..=6 => self.play(),
            7..=9 => self.deliver(),
            10 | 11 => self.write(),
            12 => {
                if let Some(worker) = self.pick(|world| &mut world.workers) {
                    self.ledger.leave(worker);
                    self.held.retain(|(by, _)| *by != worker);
                    self.invented.retain(|(by, _)| *by != worker);
                    self.liar = self.liar.filter(|liar| *liar != worker);
                }
            }
            13 => self.crash(),
            14 => drop(self.pick(|world| &mut world.network)),
            15 => {
                if let Some(message) = self.pick(|world| &mut world.network) {
                    self.network.extend([message, message]);
                }
            }
            16 => self.now += Duration::from_secs(4),
            17 => {
                self.ledger.expire(self.now);
                self.ledger.mark_overdue(self.now);
            }
            18 => {
                if let Some((_, grant)) = self.held.last() {
                    let (lease, index) = (grant.lease, grant.games[0].index);
                    let failed = Failed {
                        index,
                        unready: None,
                    };
                    self.ledger
                        .failed(self.now, grant.tournament, lease, failed);
                }
            }
            _ => {
                self.ledger.pause(self.tournament);
                self.ledger.resume(self.tournament);
            }
        }
    }

    fn assign(&mut self) {
        if self.workers.is_empty() {
            return;
        }
        let place = self.below(self.workers.len());
        let worker = self.workers[place];
        if let Some(grant) = grant(&mut self.ledger, self.now, worker) {
            if self.liar == Some(worker) {
                self.invented.push((worker, grant.lease));
            } else {
                self.held.push((worker, grant));
            }
        }
    }

    fn play(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let place = self.below(self.held.len());
        let (worker, grant) = &mut self.held[place];
        if let Some(game) = grant.games.pop() {
            self.network.push((grant.lease, *worker, game.index));
        }
        if grant.games.is_empty() {
            self.held.swap_remove(place);
        }
    }

    fn deliver(&mut self) {
        let Some((lease, worker, index)) = self.pick(|world| &mut world.network) else {
            return;
        };
        let verdict = self
            .ledger
            .report(self.now, self.tournament, lease, index, [7; 32]);
        match verdict {
            RecordStatus::New => {
                assert!(
                    !self.disk.contains_key(&index),
                    "a durable game is new again"
                );
                self.writing.push((index, worker));
            }
            RecordStatus::Pending(_) => {
                assert!(self.writing.iter().any(|(writing, _)| *writing == index));
            }
            RecordStatus::Done => {
                assert!(self.disk.contains_key(&index), "acknowledged, not durable")
            }
            RecordStatus::Unwanted | RecordStatus::Outside => panic!("{verdict:?}"),
        }
    }

    fn write(&mut self) {
        if let Some((index, worker)) = self.pick(|world| &mut world.writing) {
            *self.disk.entry(index).or_insert(0) += 1;
            let process = self.ledger.process(worker, 1);
            self.ledger.durable(self.tournament, index, process);
        }
    }

    /// Kills the coordinator: leases and results that are not on the disk are lost. Reports in
    /// flight still arrive.
    fn crash(&mut self) {
        self.writing.clear();
        self.workers.clear();
        self.held.clear();
        self.liar = None;
        self.invented.clear();
        for message in &mut self.network {
            message.0 = 0;
        }
        let mut done = Bitmap::new(self.games);
        for &index in self.disk.keys() {
            done.insert(index);
        }
        self.ledger = Ledger::new(settings(200_000), 1);
        self.tournament = self.ledger.add(
            done,
            State::Running,
            Continuation::Last,
            ProgressTimeouts::default(),
        );
    }

    fn check(&self) {
        let progress = self.ledger.progress(self.tournament).expect("added");
        assert_eq!(progress.done, self.disk.len() as u64);
        assert_eq!(
            progress.done + self.writing.len() as u64 + progress.leased + progress.waiting,
            self.games,
            "every game is in exactly one place"
        );
        assert!(self.disk.values().all(|&times| times == 1), "counted twice");
    }
}

#[test]
fn random_histories_lose_and_double_no_game() {
    for seed in 0..4_000 {
        let mut world = World::new(seed);
        for _ in 0..300 {
            world.step(false);
            world.check();
        }
        // Without further disturbances, every history has to end.
        for _ in 0..100_000 {
            let progress = world.ledger.progress(world.tournament).expect("added");
            if progress.state == State::Finished {
                break;
            }
            world.step(true);
            world.now += Duration::from_millis(200);
            world.ledger.expire(world.now);
            world.ledger.mark_overdue(world.now);
        }
        world.check();
        let progress = world.ledger.progress(world.tournament).expect("added");
        assert_eq!(progress.state, State::Finished, "seed {seed}: {progress:?}");
        assert_eq!(world.disk.len() as u64, world.games, "seed {seed}");
    }
}
