//! The identity of a registered agent: its content, or its registration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::canonical::canonical_json;

/// The content of a registered agent and how it is started: everything outside a tournament's
/// spec that can change how it plays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Package<'a> {
    /// SHA-256 of each file in lower-case hex, by its path in the package.
    pub files: BTreeMap<String, &'a str>,
    /// Arguments, in order.
    pub args: &'a [String],
    /// Limits of its process that differ from the defaults, by name.
    pub limits: BTreeMap<&'static str, u64>,
}

impl Package<'_> {
    /// The path of the file in a package of one file: `agent` with the extension of the registered
    /// file. An agent is started by this name, so the rest of its file name has no effect.
    #[must_use]
    pub fn path(file_name: &str) -> String {
        let extension = file_name.rsplit_once('.').map(|(_, extension)| extension);
        let plain = |text: &&str| {
            (1..=16).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_alphanumeric())
        };
        extension.filter(plain).map_or_else(
            || "agent".to_owned(),
            |extension| format!("agent.{extension}"),
        )
    }

    /// SHA-256 over the canonical JSON of the package, in lower-case hex.
    #[must_use]
    pub fn digest(&self) -> String {
        hex::encode(Sha256::digest(canonical_json(self)))
    }
}

/// The identity of rules that are a package: its digest, and the files with code that it has loaded.
#[derive(Debug, Serialize)]
pub struct RulesContent<'a> {
    /// [`Package::digest`].
    pub package: &'a str,
    /// Names and SHA-256 in lower-case hex, in ascending order.
    pub loaded: Vec<(&'a str, String)>,
}

impl RulesContent<'_> {
    /// That of the package if nothing else is known, else SHA-256 over the canonical JSON of both, in lower-case
    /// hex.
    #[must_use]
    pub fn digest(&self) -> String {
        match self.loaded.is_empty() {
            true => self.package.to_owned(),
            false => hex::encode(Sha256::digest(canonical_json(self))),
        }
    }
}

/// The registration of an endpoint. Its program can change unnoticed, so each registration is an
/// agent of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The registered name.
    pub name: String,
    /// Its URL.
    pub url: String,
    /// Time of the registration, in microseconds since 1970.
    pub registered_unix_us: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(path: &str, sha256: &str, args: &[&str], memory: u64) -> String {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let limits = (memory > 0).then_some(("memory_bytes", memory));
        Package {
            files: BTreeMap::from([(path.to_owned(), sha256)]),
            args: &args,
            limits: limits.into_iter().collect(),
        }
        .digest()
    }

    #[test]
    fn digest_follows_files_arguments_and_limits() {
        let same = digest("agent", "aa", &["a", "b"], 0);
        assert_eq!(same, digest("agent", "aa", &["a", "b"], 0));
        for other in [
            digest("agent.py", "aa", &["a", "b"], 0),
            digest("agent", "ab", &["a", "b"], 0),
            digest("agent", "aa", &["b", "a"], 0),
            digest("agent", "aa", &["a b"], 0),
            digest("agent", "aa", &["a", "b"], 1),
        ] {
            assert_ne!(other, same);
        }
    }

    /// Pinned, because stored tournaments are found by it. Computed with
    /// `printf '{"args":["--fast"],"files":{"agent.py":"aa"},"limits":{}}' | sha256sum`.
    #[test]
    fn digest_is_the_sha256_of_canonical_json() {
        assert_eq!(
            digest("agent.py", "aa", &["--fast"], 0),
            "b2ebfd433e212593e4b201a9c3cd511a2d80e94fe3854ec8682b84e91cf63db8"
        );
    }

    #[test]
    fn path_keeps_only_the_extension() {
        for (file_name, path) in [
            ("greedy.py", "agent.py"),
            ("other.name.py", "agent.py"),
            ("greedy", "agent"),
            ("greedy.", "agent"),
            ("greedy.p y", "agent"),
        ] {
            assert_eq!(Package::path(file_name), path, "{file_name}");
        }
    }
}
