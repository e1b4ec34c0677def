//! A disk in virtual time: games become durable some time after they are appended, in order. A
//! crash may keep some of the pending games without an acknowledgement.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use arena_store::{
    BinaryUpload, Change, Collection, Documents, Done, Sha256Digest, Stats, Store, StoreError,
    StoredGame,
};
use tokio::time::{self, Instant};

use super::case::Draws;

/// A coordinator's disk, which survives the coordinator.
#[derive(Clone)]
pub(super) struct Disk(Arc<Mutex<Contents>>);

struct Contents {
    documents: Documents,
    /// Pending games in the order of arrival.
    games: Vec<StoredGame>,
    places: BTreeMap<(Arc<str>, u64), usize>,
    waiting: VecDeque<(Vec<StoredGame>, Done)>,
    /// When the last pending game is written, in this run of the host.
    written: Option<Instant>,
    /// Games that were appended although they were durable or pending.
    twice: BTreeSet<u64>,
    draws: Draws,
}

impl Disk {
    pub(super) fn new(draws: Draws) -> Self {
        // A coordinator draws its secrets, so that two runs with one seed would differ.
        let secret = |key: &str| Change {
            collection: Collection::Meta,
            key: key.to_owned(),
            value: Some(vec![7; 32]),
        };
        let mut documents = Documents::default();
        documents.apply(["tickets", "audit_key"].map(secret).to_vec());
        Self(Arc::new(Mutex::new(Contents {
            documents,
            games: Vec::new(),
            places: BTreeMap::new(),
            waiting: VecDeque::new(),
            written: None,
            twice: BTreeSet::new(),
            draws,
        })))
    }

    /// Applies the end of the coordinator to pending games.
    pub(super) fn crash(&self) {
        let mut contents = self.contents();
        let waiting = std::mem::take(&mut contents.waiting);
        contents.written = None;
        let on_the_way: u64 = waiting.iter().map(|(games, _)| games.len() as u64).sum();
        let kept = contents.draws.below(on_the_way + 1) as usize;
        let games = waiting.into_iter().flat_map(|(games, _)| games);
        for game in games.take(kept) {
            contents.keep(game);
        }
    }

    pub(super) fn has(&self, tournament: &str, index: u64) -> bool {
        self.contents()
            .places
            .contains_key(&(tournament.into(), index))
    }

    /// Games that were appended again.
    pub(super) fn twice(&self) -> BTreeSet<u64> {
        self.contents().twice.clone()
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn keep(&mut self, game: StoredGame) {
        let key = (game.tournament.clone(), game.index);
        if !self.places.contains_key(&key) {
            self.places.insert(key, self.games.len());
            self.games.push(game);
        }
    }

    /// When games appended now will be durable: mostly soon, sometimes after more than a second.
    fn due(&mut self) -> Instant {
        let took = match self.draws.below(20) {
            0 => 200 + self.draws.below(1300),
            _ => self.draws.below(30),
        };
        let due = Instant::now() + Duration::from_millis(took);
        let due = self.written.map_or(due, |written| due.max(written));
        self.written = Some(due);
        due
    }
}

impl Store for Disk {
    fn blocks(&self) -> bool {
        false
    }

    fn put_many(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.contents().documents.apply(changes);
        Ok(())
    }

    fn get(&self, collection: Collection, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.contents().documents.get(collection, key))
    }

    fn list_with(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        Ok(self.contents().documents.list_with(collection, prefix))
    }

    fn begin_binary(&self, _: Sha256Digest) -> Result<BinaryUpload, StoreError> {
        Err(StoreError::Closed)
    }

    fn binary_path(&self, _: &Sha256Digest) -> Option<PathBuf> {
        None
    }

    fn append(&self, batch: Vec<StoredGame>, done: Done) -> Result<(), StoreError> {
        let mut contents = self.contents();
        let waiting: BTreeSet<u64> = contents
            .waiting
            .iter()
            .flat_map(|(games, _)| games)
            .map(|game| game.index)
            .collect();
        for game in &batch {
            let known = (game.tournament.clone(), game.index);
            if waiting.contains(&game.index) || contents.places.contains_key(&known) {
                contents.twice.insert(game.index);
            }
        }
        contents.waiting.push_back((batch, done));
        let due = contents.due();
        drop(contents);
        let this = self.clone();
        // The task ends with its host.
        tokio::spawn(async move {
            time::sleep_until(due).await;
            let mut contents = this.contents();
            let Some((games, done)) = contents.waiting.pop_front() else {
                return;
            };
            for game in games {
                contents.keep(game);
            }
            drop(contents);
            done(Ok(()));
        });
        Ok(())
    }

    fn games(
        &self,
        tournament: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredGame>, StoreError> {
        let contents = self.contents();
        let from = (Arc::from(tournament), from);
        let all = contents.places.range(from..);
        let ours = all.take_while(|((of, _), _)| &**of == tournament);
        Ok(ours
            .take(limit)
            .map(|(_, &place)| contents.games[place].clone())
            .collect())
    }

    fn scan(&self, tournament: &str, visit: &mut dyn FnMut(StoredGame)) -> Result<(), StoreError> {
        let games = self.contents().games.clone();
        games
            .into_iter()
            .filter(|game| &*game.tournament == tournament)
            .for_each(visit);
        Ok(())
    }

    fn count(&self, tournament: &str) -> u64 {
        let contents = self.contents();
        let ours = |game: &&StoredGame| &*game.tournament == tournament;
        contents.games.iter().filter(ours).count() as u64
    }

    fn stats(&self) -> Stats {
        Stats {
            games: self.contents().games.len() as u64,
            ..Stats::default()
        }
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
