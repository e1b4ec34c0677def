//! The damage to a copy of a store.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use arena_store::testing::{Entry, FaultInjection};

use crate::stress::Broken;

/// One kind of damage. Files are those of the undamaged store.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A file is cut to a number of bytes.
    Cut(PathBuf, usize),
    /// A bit of a byte of a file is flipped.
    Turn(PathBuf, usize, u8),
    /// An entry is written through the database, so that the database's checksums agree.
    Put(&'static str, Entry),
    /// An entry is removed through the database.
    Remove(Entry),
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut(file, length) => write!(formatter, "{} cut to {length}", file.display()),
            Self::Turn(file, at, bit) => {
                write!(formatter, "{}, byte {at}, bit {bit}", file.display())
            }
            Self::Put(how, entry) => write!(formatter, "{} {how}", name(entry)),
            Self::Remove(entry) => write!(formatter, "{} removed", name(entry)),
        }
    }
}

impl Change {
    /// All changes of one kind for an entry.
    pub(super) fn all(entry: &Entry, entries: &[Entry]) -> Vec<Self> {
        let value = &entry.value;
        let with = |value: &[u8]| entry.alike(entry.key.clone(), value.to_vec());
        let mut changes = vec![
            Self::Remove(entry.clone()),
            Self::Put("cut by a byte", with(&value[..value.len() - 1])),
            Self::Put("emptied", with(&[])),
            Self::Put("longer by a byte", with(&[&value[..], &[0]].concat())),
        ];
        let alike = |other: &&Entry| other.pack().is_some() == entry.pack().is_some();
        let other = entries.iter().filter(alike).find(|it| it.value != *value);
        if let Some(other) = other {
            changes.push(Self::Put("with another's value", with(&other.value)));
        }
        let packs = entries.iter().filter_map(Entry::pack).count() as u64;
        let free = match entry.pack() {
            Some(_) => packs.to_be_bytes().to_vec(),
            None => [&entry.key[..], b"-2"].concat(),
        };
        let copy = entry.alike(free, value.clone());
        changes.push(Self::Put("written once more", copy));
        changes
    }

    /// One bit of an entry.
    pub(super) fn turned(entry: &Entry, at: usize, bit: u8) -> Self {
        let mut turned = entry.clone();
        turned.value[at] ^= 1 << bit;
        Self::Put("with a bit turned", turned)
    }

    /// Applies the damage to a copy of the store.
    pub(super) fn apply(&self, whole: &Path, copy: &Path) -> Result<(), Broken> {
        match self {
            Self::Cut(file, length) => rewrite(file, whole, copy, |bytes| bytes.truncate(*length)),
            Self::Turn(file, at, bit) => rewrite(file, whole, copy, |bytes| bytes[*at] ^= 1 << bit),
            Self::Put(_, entry) => FaultInjection::open(copy)
                .and_then(|database| database.put(entry))
                .map_err(Broken::new),
            Self::Remove(entry) => FaultInjection::open(copy)
                .and_then(|database| database.remove(entry))
                .map_err(Broken::new),
        }
    }

    /// The words that the report must have. A change through the database damages no file, so that
    /// only the store's own checks notice it.
    pub(super) fn named_as(&self) -> Option<String> {
        match self {
            Self::Cut(..) | Self::Turn(..) => None,
            Self::Put(_, entry) | Self::Remove(entry) => Some(match entry.pack() {
                Some(pack) => format!("results pack {pack} "),
                None => "document".to_owned(),
            }),
        }
    }

    /// Whether it damages an entry at its place. A change through the database does not.
    pub(super) fn spoils(&self, (file, offset, length): &(PathBuf, u64, usize)) -> bool {
        let bytes = *offset as usize..*offset as usize + length;
        match self {
            Self::Cut(cut, end) => cut == file && *end < bytes.end,
            Self::Turn(turned, at, _) => turned == file && bytes.contains(at),
            Self::Put(..) | Self::Remove(_) => false,
        }
    }

    /// Whether it affects the store's label.
    pub(super) fn is_to_label(&self) -> bool {
        match self {
            Self::Cut(file, _) | Self::Turn(file, ..) => file.ends_with("store.json"),
            Self::Put(..) | Self::Remove(_) => false,
        }
    }
}

/// Whether a line of a report names this entry, alone or in a range of packs with the same fault.
pub(super) fn names(damage: &str, name: &str) -> bool {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let pack = name.strip_prefix("results pack ").and_then(number);
    let row = || {
        let (first, rest) = damage.split_once("results packs ")?.1.split_once(" to ")?;
        let (last, _) = rest.split_once(' ')?;
        Some(number(first)?..=number(last)?)
    };
    damage.contains(name) || pack.is_some_and(|pack| row().is_some_and(|row| row.contains(&pack)))
}

#[test]
fn pack_is_named_alone_or_in_a_row() {
    for (damage, named) in [
        ("results pack 3 is missing", true),
        ("results packs 2 to 4 are missing", true),
        (
            "the records of results packs 3 to 3 cannot be decompressed",
            true,
        ),
        ("results packs 4 to 13 are missing", false),
        ("results pack 13 is missing", false),
        ("3 acknowledged games are missing", false),
    ] {
        assert_eq!(names(damage, "results pack 3 "), named, "{damage}");
    }
}

fn name(entry: &Entry) -> String {
    match entry.pack() {
        Some(pack) => format!("results pack {pack}"),
        None => format!("document {:?}", String::from_utf8_lossy(&entry.key)),
    }
}

fn rewrite(
    file: &Path,
    whole: &Path,
    copy: &Path,
    change: impl FnOnce(&mut Vec<u8>),
) -> Result<(), Broken> {
    let within = file.strip_prefix(whole).map_err(Broken::new)?;
    let mut bytes = fs::read(file).map_err(Broken::new)?;
    change(&mut bytes);
    fs::write(copy.join(within), bytes).map_err(Broken::new)
}
