//! The paths from which this user registered agents and rulesets, so that a command can say that one
//! has changed since. The coordinator does not know them.

use std::{
    collections::BTreeMap,
    env, fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use arena_report::whole_file;
use arena_wire::v1::{self, agent_setup::Source};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{check::Target, failure::Outcome, package};

/// Maximum paths that are remembered; the oldest one is forgotten.
const SOURCES_MAX: usize = 1000;

/// Where registered content came from.
#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    path: PathBuf,
    /// True if it was registered with `--uci`.
    #[serde(default)]
    uci: bool,
    /// The SHA-256 of the path's file, if the content was written from it, as with `--pettingzoo`.
    #[serde(default)]
    file: Option<String>,
    /// Unix time of the registration, in seconds.
    at: u64,
}

/// The origins by SHA-256 of the content.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Origins(BTreeMap<String, Origin>);

/// Remembers the path of content that was registered. Without a home folder, or if it cannot be
/// written, nothing is remembered.
pub fn remember(target: &Target, sha256: &str) {
    if let Some((path, uci)) = target.path() {
        insert(path, uci, None, sha256);
    }
}

/// Remembers the file from which the content of a package was written, as [`remember`] does.
pub fn remember_file(path: &Path, sha256: &str) {
    if let Ok((_, of_file)) = whole_file::sha256(path) {
        insert(path, false, Some(of_file), sha256);
    }
}

fn insert(path: &Path, uci: bool, of_file: Option<String>, sha256: &str) {
    let (Some(file), Ok(path)) = (origins_file(), path.canonicalize()) else {
        return;
    };
    let at = SystemTime::now().duration_since(UNIX_EPOCH);
    let origin = Origin {
        path,
        uci,
        file: of_file,
        at: at.map_or(0, |since| since.as_secs()),
    };
    let mut origins = Origins::read(&file);
    origins.0.insert(sha256.to_owned(), origin);
    origins.bound();
    // Only a note of later commands depends on it.
    let _ = origins.write(&file);
}

/// Notes on agents and rules of a tournament whose path on this machine has other content now.
pub fn changed(setup: &v1::TournamentSetup) -> Vec<String> {
    let Some(file) = origins_file() else {
        return Vec::new();
    };
    let origins = Origins::read(&file);
    let agents = setup.agents.iter().filter_map(|agent| match &agent.source {
        Some(Source::Binary(binary)) => Some((&agent.name, binary)),
        _ => None,
    });
    let rules = setup.rules.as_ref().and_then(|rules| {
        let package = rules.package.as_ref()?;
        Some((&setup.ruleset, package))
    });
    let changed = agents.chain(rules).filter_map(|(name, source)| {
        let origin = origins.0.get(&source.sha256)?;
        // What was deleted since, or is not complete at the moment, has not changed.
        let same = match &origin.file {
            Some(sha256) => whole_file::sha256(&origin.path).ok()?.1 == *sha256,
            None => digest(&origin.path, origin.uci).ok()? == source.sha256,
        };
        if same {
            return None;
        }
        let path = origin.path.display();
        Some(format!(
            "{name}: {path} has changed since it was registered; the registered content plays. To play \
             the new content, register it again with --replace"
        ))
    });
    changed.collect()
}

/// The SHA-256 of the content that would be registered.
fn digest(path: &Path, uci: bool) -> Outcome<String> {
    let content = package::read(path)?;
    let content = if uci { content.into_uci()? } else { content };
    Ok(hex::encode(Sha256::digest(&content.bytes)))
}

/// `arena/sources.json` below `$XDG_STATE_HOME`, or `~/.local/state`.
fn origins_file() -> Option<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("arena/sources.json"))
}

impl Origins {
    /// Reads the file. What is not readable is forgotten.
    fn read(file: &Path) -> Self {
        let text = fs::read(file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn bound(&mut self) {
        while self.0.len() > SOURCES_MAX {
            let oldest = self.0.iter().min_by_key(|(_, origin)| origin.at);
            let Some(oldest) = oldest.map(|(sha256, _)| sha256.clone()) else {
                return;
            };
            self.0.remove(&oldest);
        }
    }

    /// Replaces the file at once, so that commands at the same time read all of it.
    fn write(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let mut create = fs::DirBuilder::new();
        create.recursive(true).mode(0o700).create(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut new, self)?;
        new.persist(file)?;
        Ok(())
    }
}
