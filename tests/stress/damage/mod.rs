//! Truncated files, flipped bits, and wrong entries in the database.

mod change;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use arena_store::{
    Collection, Options, SledStore, Store, StoreError, StoredGame,
    testing::{Entry, FaultInjection, Piece, pieces},
};
use arena_wire::AgentRng;
use tempfile::TempDir;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{World, spec};
use change::Change;

/// A store that takes longer to open hangs.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The commands are tested in one of this many cases.
const COMMANDS_EVERY: u64 = 12;

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Damage {
    /// Blocks of the tournament in the store, of six games each
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// Step in bytes at which the newest file is truncated
    #[arg(long, default_value_t = 1)]
    stride: usize,
    /// Number of bits to flip, anywhere in any file
    #[arg(long, default_value_t = 3000)]
    flips: u32,
    /// Number of bits to flip in entries through the database, whose checksums do not notice; each
    /// entry is also truncated, moved, copied and removed
    #[arg(long, default_value_t = 1000)]
    wrong: u32,
    /// Seed of the bits
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl StressTest for Damage {
    const PROMISE: &'static str = "with truncated files, flipped bits or wrong database \
                                   entries, a store opens undamaged, or names the damage and repairs \
                                   it, and loses only the damaged packs";

    fn quick() -> Self {
        Self {
            blocks: 5,
            stride: 4001,
            flips: 30,
            wrong: 20,
            seed: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let world = World::new();
        let spec = spec(
            "damage",
            "cowry",
            self.blocks,
            &["random", "aggressive", "mixed"],
            "",
        );
        let (id, _, _) = world.tournament(&spec, "whole", &[]);
        let mut trial = Trial::new(&world, &id)?;
        let mut rng = AgentRng::new(self.seed);
        let newest = trial.newest()?;
        for length in (0..used(&newest)?).rev().step_by(self.stride.max(1)) {
            trial.case(&Change::Cut(newest.clone(), length))?;
        }
        for _ in 0..self.flips {
            let file = trial.files[rng.below(trial.files.len() as u32) as usize].clone();
            // Most of a file may never have been written.
            let reach = used(&file)?.max(1);
            let at = rng.below(u32::try_from(reach).unwrap_or(u32::MAX)) as usize;
            trial.case(&Change::Turn(file, at, rng.below(8) as u8))?;
        }
        let entries = trial.entries.clone();
        for entry in &entries {
            for change in Change::all(entry, &entries) {
                trial.case(&change)?;
            }
        }
        for _ in 0..self.wrong {
            let entry = &entries[rng.below(entries.len() as u32) as usize];
            let at = rng.below(entry.value.len() as u32) as usize;
            trial.case(&Change::turned(entry, at, rng.below(8) as u8))?;
        }
        Ok(Outcome::Holds(trial.figures()))
    }
}

/// The content of a store.
#[derive(Debug, PartialEq)]
struct Holding {
    games: BTreeMap<u64, StoredGame>,
    documents: Vec<(Collection, String, Vec<u8>)>,
}

struct Trial<'a> {
    world: &'a World,
    id: String,
    /// The undamaged store, and a copy to damage.
    whole: PathBuf,
    copy: PathBuf,
    /// The folder of the copy: in memory, if the system has such a folder.
    _fast: TempDir,
    files: Vec<PathBuf>,
    entries: Vec<Entry>,
    /// The entries that a repair can find in the files.
    pieces: Vec<Piece>,
    holding: Holding,
    cases: u64,
    wrong: u64,
    survived: u64,
    named: u64,
    kept: u64,
    lost: u64,
    lost_by_a_bit: usize,
    commands: u64,
}

impl<'a> Trial<'a> {
    fn new(world: &'a World, id: &str) -> Result<Self, Broken> {
        let whole = world.folder().join("whole");
        let store = SledStore::open(&whole, &Options::default()).map_err(Broken::new)?;
        let holding = hold(&store, id).map_err(Broken::new)?;
        drop(store);
        let database = FaultInjection::open(&whole).map_err(Broken::new)?;
        let entries = database.entries().map_err(Broken::new)?;
        drop(database);
        let pieces = pieces(&whole).map_err(Broken::new)?;
        let mut files = Vec::new();
        list(&whole, &mut files).map_err(Broken::new)?;
        files.retain(|path| !path.ends_with("lock") && !path.ends_with("listen"));
        files.retain(|path| fs::metadata(path).is_ok_and(|it| it.len() > 0));
        files.sort();
        let memory = Path::new("/dev/shm");
        let fast = tempfile::tempdir_in(if memory.is_dir() {
            memory
        } else {
            world.folder()
        })
        .map_err(Broken::new)?;
        Ok(Self {
            world,
            id: id.to_owned(),
            whole,
            copy: fast.path().join("copy"),
            _fast: fast,
            files,
            entries,
            pieces,
            holding,
            cases: 0,
            wrong: 0,
            survived: 0,
            named: 0,
            kept: 0,
            lost: 0,
            lost_by_a_bit: 0,
            commands: 0,
        })
    }

    /// The file that grows: the log of the database.
    fn newest(&self) -> Result<PathBuf, Broken> {
        let log = self.files.iter().find(|path| path.ends_with("sled/db"));
        log.cloned()
            .ok_or_else(|| Broken::new("the store has no log"))
    }

    fn case(&mut self, change: &Change) -> Result<(), Broken> {
        self.cases += 1;
        self.attempt(change)
            .map_err(|Broken(seen)| Broken(format!("{change}: {seen}")))
    }

    fn attempt(&mut self, change: &Change) -> Result<(), Broken> {
        self.damaged(change)?;
        let before = contents(&self.copy).map_err(Broken::new)?;
        let copy = self.copy.clone();
        let verified = within(move || arena_store::verify(copy))?;
        if contents(&self.copy).map_err(Broken::new)? != before {
            return Err(Broken::new("verification changed the store"));
        }
        let report = match verified {
            Ok(report) => report,
            // A label that names a later format is believed.
            Err(StoreError::NewerVersion { .. }) if change.is_to_label() => {
                self.named += 1;
                return Ok(());
            }
            Err(error) => return Err(Broken::new(error)),
        };
        if let Some(name) = change.named_as() {
            self.wrong += 1;
            if !report
                .damage_report
                .iter()
                .any(|damage| change::names(damage, &name))
            {
                return Err(Broken::new(format_args!(
                    "verify does not name {name:?}: {report:?}"
                )));
            }
        }
        if self.cases.is_multiple_of(COMMANDS_EVERY) {
            return self.commands(change, report.is_sound());
        }
        let (copy, id) = (self.copy.clone(), self.id.clone());
        let opened = within(move || {
            let store = SledStore::open(copy, &Options::default())?;
            hold(&store, &id)
        })?;
        match opened {
            Ok(found) if found == self.holding => {
                if !report.is_sound() {
                    return Err(Broken::new(format_args!(
                        "it opens, but verify reports {report:?}"
                    )));
                }
                self.survived += 1;
                Ok(())
            }
            Ok(_) => Err(Broken::new("it opens, but data is lost without an error")),
            Err(StoreError::Corrupt { damage, remedy, .. }) => {
                if damage.is_empty() || !remedy.contains("arena store verify --repair") {
                    return Err(Broken::new(format_args!("named as {damage:?}, {remedy:?}")));
                }
                if report.is_sound() {
                    return Err(Broken::new(format_args!(
                        "verify finds no damage, but opening reports {damage}"
                    )));
                }
                self.named += 1;
                self.damaged(change)?;
                self.repaired(change)
            }
            Err(error) => Err(Broken::new(error)),
        }
    }

    /// Makes a new copy with the damage.
    fn damaged(&self, change: &Change) -> Result<(), Broken> {
        let copied = || -> std::io::Result<()> {
            if self.copy.exists() {
                fs::remove_dir_all(&self.copy)?;
            }
            let mut files = Vec::new();
            list(&self.whole, &mut files)?;
            for from in files {
                let to = self
                    .copy
                    .join(from.strip_prefix(&self.whole).unwrap_or(&from));
                fs::create_dir_all(to.parent().unwrap_or(&self.copy))?;
                fs::copy(&from, to)?;
            }
            Ok(())
        };
        copied().map_err(Broken::new)?;
        change.apply(&self.whole, &self.copy)
    }

    /// Repairs the copy, and checks that it then has all remaining data, without errors.
    fn repaired(&mut self, change: &Change) -> Result<(), Broken> {
        let (copy, id) = (self.copy.clone(), self.id.clone());
        let (lost, found) = within(move || {
            let repaired = arena_store::repair(&copy)?;
            let store = SledStore::open(&copy, &Options::default())?;
            Ok((repaired.has_losses(), hold(&store, &id)?))
        })?
        .map_err(|error: StoreError| Broken::new(format_args!("repaired: {error}")))?;
        self.count(change, &found, lost)
    }

    /// A repair keeps every entry that is intact in the files, invents nothing, and reports whether
    /// anything is lost.
    fn count(&mut self, change: &Change, found: &Holding, lost: bool) -> Result<(), Broken> {
        for (index, game) in &found.games {
            if self.holding.games.get(index) != Some(game) {
                return Err(Broken::new(format_args!("a repair invented game {index}")));
            }
        }
        let whole = |piece: &&Piece| !piece.places.iter().all(|place| change.spoils(place));
        for (_, index) in self.pieces.iter().filter(whole).flat_map(|it| &it.games) {
            if !found.games.contains_key(index) {
                return Err(Broken::new(format_args!(
                    "a repair lost game {index}, whose pack is intact"
                )));
            }
        }
        let mut newest: BTreeMap<&[u8], &Piece> = BTreeMap::new();
        for piece in self.pieces.iter().filter(|piece| piece.games.is_empty()) {
            let known = newest.entry(&piece.key).or_insert(piece);
            if known.version < piece.version {
                *known = piece;
            }
        }
        for document in &self.holding.documents {
            let key = [&[document.0 as u8], document.1.as_bytes()].concat();
            let there = newest.get(&*key).is_some_and(&whole);
            if there && !found.documents.contains(document) {
                return Err(Broken::new(format_args!(
                    "a repair lost the document {}, which is intact",
                    document.1
                )));
            }
        }
        let games = self.holding.games.len() - found.games.len();
        let documents = self.holding.documents.iter();
        let less = games > 0 || !documents.clone().all(|it| found.documents.contains(it));
        if less && !lost {
            return Err(Broken::new("a repair lost data without a message"));
        }
        self.kept += found.games.len() as u64;
        self.lost += games as u64;
        if matches!(change, Change::Turn(..)) {
            self.lost_by_a_bit = self.lost_by_a_bit.max(games);
        }
        Ok(())
    }

    /// The same with the commands of users.
    fn commands(&mut self, change: &Change, sound: bool) -> Result<(), Broken> {
        self.commands += 1;
        let data = self.copy.to_str().expect("UTF-8").to_owned();
        let verified = self.world.arena(&["store", "verify", "--data", &data]);
        let expected = if sound { Some(0) } else { Some(3) };
        let named = sound || verified.stderr.contains("arena store verify --repair");
        if verified.code != expected || !named {
            return Err(Broken::new(verified.transcript()));
        }
        let export = ["export", &self.id, "--data", &data];
        if sound {
            let lines = self.world.arena(&export).ok().stdout.lines().count();
            self.survived += 1;
            return match lines == self.holding.games.len() {
                true => Ok(()),
                false => Err(Broken::new(format_args!("{lines} games are exported"))),
            };
        }
        self.named += 1;
        let refused = self.world.arena(&export);
        if refused.code == Some(0) || !refused.stderr.contains("is damaged") {
            return Err(Broken::new(refused.transcript()));
        }
        let repaired = self
            .world
            .arena(&["store", "verify", "--repair", "--data", &data]);
        let again = self.world.arena(&["store", "verify", "--data", &data]);
        let lost = match repaired.code {
            Some(0) => Some(false),
            Some(3) if repaired.stderr.contains("are lost") => Some(true),
            _ => None,
        };
        let (Some(lost), Some(0)) = (lost, again.code) else {
            return Err(Broken::new(format_args!(
                "{}\n{}",
                repaired.transcript(),
                again.transcript()
            )));
        };
        let store = SledStore::open(&self.copy, &Options::default()).map_err(Broken::new)?;
        let found = hold(&store, &self.id).map_err(Broken::new)?;
        self.count(change, &found, lost)
    }

    fn figures(self) -> Vec<Figure> {
        vec![
            Figure::new("games in the store", self.holding.games.len()),
            Figure::new("damages tried", self.cases),
            Figure::new(
                "of them wrong entries, written through the database",
                self.wrong,
            ),
            Figure::new("survived with everything", self.survived),
            Figure::new("named, with the command that repairs", self.named),
            Figure::new("of them tried by the commands too", self.commands),
            Figure::new("games kept by repairs", self.kept),
            Figure::new("games lost by damage, to be played again", self.lost),
            Figure::new("most games lost by one bit", self.lost_by_a_bit),
        ]
    }
}

fn hold(store: &SledStore, id: &str) -> Result<Holding, StoreError> {
    let games = store.games(id, 0, usize::MAX)?;
    let mut documents = Vec::new();
    for &collection in Collection::ALL {
        let listed = store.list(collection)?.into_iter();
        documents.extend(listed.map(|(key, value)| (collection, key, value)));
    }
    Ok(Holding {
        games: games.into_iter().map(|game| (game.index, game)).collect(),
        documents,
    })
}

/// Returns the result of a call; fails if it panics or hangs.
fn within<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> Result<T, Broken> {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        // The receiver may have given up.
        let _ = sender.send(call());
    });
    match receiver.recv_timeout(TIMEOUT) {
        Ok(value) => {
            let _ = thread.join();
            Ok(value)
        }
        Err(mpsc::RecvTimeoutError::Timeout) => Err(Broken::new("it hangs")),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(Broken::new("it panics")),
    }
}

/// Bytes of a file up to the last that is not zero.
fn used(file: &Path) -> Result<usize, Broken> {
    let bytes = fs::read(file).map_err(Broken::new)?;
    Ok(bytes
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(0, |at| at + 1))
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => list(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

/// Every file of a folder except the lock.
fn contents(folder: &Path) -> std::io::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    files.retain(|path| !path.ends_with("lock"));
    files
        .into_iter()
        .map(|path| Ok((path.clone(), fs::read(path)?)))
        .collect()
}
