//! The rulesets: those of this program, and registered packages. The coordinator starts no package: it
//! uses what each said of itself at its registration.

use std::{collections::BTreeMap, ops::Bound};

use arena_games::{GamesError, RulesetInfo};
use arena_model::{
    AgentRef,
    engine::options::{Options, Value, nearest},
    rules::{RulesDescription, RulesError},
};
use arena_wire::{convert::rules_content, v1};
use prost::Message;

use crate::{binaries::check_binary, error::Error};

/// Maximum bytes of a registration, with its description.
const RULESET_BYTES_MAX: usize = 1 << 20;
/// Maximum number of files that a package has loaded.
const LOADED_MAX: usize = 512;
/// Prefix of the documents of registered rulesets.
pub(crate) const PREFIX: &str = "rulesets/";
/// Number of digits of a digest that are shown.
const SHOWN: usize = 12;

/// The registered rulesets by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rulesets(BTreeMap<String, v1::Ruleset>);

/// The rules of a tournament.
pub(crate) enum FoundRuleset {
    Listed(&'static RulesetInfo),
    Package(Box<Package>),
}

/// A registered package.
pub(crate) struct Package {
    name: String,
    rules: v1::RulesPackage,
    description: RulesDescription,
}

impl FoundRuleset {
    /// All options with their values, and the number of seats.
    pub(crate) fn resolve(
        &self,
        given: &Options,
        seats: Option<usize>,
    ) -> Result<(Options, usize), Error> {
        Ok(match self {
            Self::Listed(info) => arena_games::resolve(info.name, given, seats)?,
            Self::Package(package) => package.description.resolve(&package.name, given, seats)?,
        })
    }

    pub(crate) fn version(&self) -> u32 {
        match self {
            Self::Listed(info) => info.version,
            Self::Package(package) => package.description.version,
        }
    }

    pub(crate) fn package(&self) -> Option<&v1::RulesPackage> {
        match self {
            Self::Listed(_) => None,
            Self::Package(package) => Some(&package.rules),
        }
    }

    pub(crate) fn description(&self) -> Option<&RulesDescription> {
        match self {
            Self::Listed(_) => None,
            Self::Package(package) => Some(&package.description),
        }
    }

    /// Checks that a built-in bot plays a package.
    pub(crate) fn check_native(&self, agent: &AgentRef) -> Result<(), Error> {
        let Self::Package(package) = self else {
            return Ok(());
        };
        let Package {
            name, description, ..
        } = &**package;
        let reason = match &*agent.bot {
            "random" => return Ok(()),
            "greedy" | "expectimax" | "mcts" if !description.information.is_perfect() => {
                format!("it looks at whole states, and seats of {name} see only a part of them")
            }
            "greedy" | "expectimax" | "mcts" if description.values => return Ok(()),
            "mcts" if plays_to_the_end(agent) => return Ok(()),
            "mcts" => format!(
                "the rules of {name} give no values of positions: give it `options = {{ rollout = \"random\" }}`, \
                 which plays random games to the end instead"
            ),
            "greedy" | "expectimax" => format!("the rules of {name} give no values of positions"),
            bot => {
                format!("{bot} does not play rules that are a package; random and mcts do")
            }
        };
        Err(Error::BotRefuses {
            agent: agent.name.to_string(),
            reason,
        })
    }
}

/// True if `mcts` has options with which it evaluates only ends of games.
fn plays_to_the_end(agent: &AgentRef) -> bool {
    let rollout = agent.options.get("rollout");
    matches!(rollout, Some(Value::Text(rollout)) if rollout == "random")
}

impl Rulesets {
    pub(crate) fn new(registered: Vec<v1::Ruleset>) -> Self {
        let named = registered.into_iter();
        Self(named.map(|it| (it.name.clone(), it)).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&v1::Ruleset> {
        self.0.get(name)
    }

    /// The registered rulesets after a name in ascending order of names. Each is copied when it is
    /// asked for.
    pub(crate) fn after(&self, name: &str) -> impl Iterator<Item = v1::Ruleset> {
        let rest = (Bound::Excluded(name), Bound::Unbounded);
        let rulesets = self.0.range::<str, _>(rest);
        rulesets.map(|(_, ruleset)| ruleset.clone())
    }

    pub(crate) fn insert(&mut self, ruleset: v1::Ruleset) {
        self.0.insert(ruleset.name.clone(), ruleset);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Number of registered rulesets of an owner.
    pub(crate) fn owned_by(&self, owner: &str) -> u64 {
        self.0.values().filter(|it| it.owner == owner).count() as u64
    }

    /// SHA-256 of their packages.
    pub(crate) fn binaries(&self) -> impl Iterator<Item = &str> {
        let packages = self.0.values().filter_map(package);
        packages.map(|package| &*package.sha256)
    }

    /// The rules of this name: of this program, or a package.
    pub(crate) fn find(&self, name: &str) -> Result<FoundRuleset, Error> {
        let Some(ruleset) = self.0.get(name) else {
            return match arena_games::ruleset(name) {
                Ok(info) => Ok(FoundRuleset::Listed(info)),
                Err(GamesError::Unknown { name, known, .. }) => {
                    let known: Vec<String> =
                        known.into_iter().chain(self.0.keys().cloned()).collect();
                    let nearest = nearest(&name, known.iter().map(String::as_str));
                    Err(Error::RulesetUnknown(GamesError::Unknown {
                        name,
                        nearest,
                        known,
                    }))
                }
                Err(error) => Err(error.into()),
            };
        };
        let rules = ruleset.rules.clone().unwrap_or_default();
        let description = RulesDescription::parse(&rules.description)?;
        Ok(FoundRuleset::Package(Box::new(Package {
            name: name.to_owned(),
            rules,
            description,
        })))
    }

    /// The error for an unknown ruleset.
    pub(crate) fn not_found(&self, name: &str) -> Error {
        let known: Vec<String> = self.0.keys().cloned().collect();
        Error::RulesetNotFound {
            name: name.to_owned(),
            nearest: nearest(name, known.iter().map(String::as_str)),
        }
    }

    /// Checks a registration. Returns the ruleset to be stored: the known one if nothing is new.
    /// `uploaded` returns true if the coordinator has a binary.
    pub(crate) fn check(
        &self,
        mut ruleset: v1::Ruleset,
        replace: bool,
        now_unix_us: u64,
        uploaded: impl Fn(&[u8; 32]) -> bool,
    ) -> Result<v1::Ruleset, Error> {
        let name = ruleset.name.clone();
        if !arena_games::is_ruleset_name(&name) {
            let near = name.to_lowercase().replace(['_', ' ', '.'], "-");
            let near = match arena_games::is_ruleset_name(&near) {
                true => format!(", such as \"{near}\""),
                false => String::new(),
            };
            return Err(Error::Request(format!(
                "\"{name}\" cannot be the name of a ruleset: use 1 to 40 lower-case letters, digits \
                 and dashes, and begin with a letter{near}"
            )));
        }
        if arena_games::ruleset(&name).is_ok() {
            return Err(Error::RulesetConflict(format!(
                "\"{name}\" is a ruleset of Arena: choose another name"
            )));
        }
        if ruleset.encoded_len() > RULESET_BYTES_MAX {
            return Err(Error::Request(format!(
                "the description of ruleset \"{name}\" exceeds {RULESET_BYTES_MAX} bytes"
            )));
        }
        let Some(rules) = &mut ruleset.rules else {
            return Err(Error::Request(format!("ruleset \"{name}\" has no package")));
        };
        // Only known fields are stored.
        rules.description = RulesDescription::parse(&rules.description)?.to_json();
        let package = rules.package.as_ref();
        let package =
            package.ok_or_else(|| Error::Request(format!("ruleset \"{name}\" has no package")))?;
        check_binary("ruleset", &name, package, uploaded)?;
        check_loaded(&name, &rules.loaded)?;
        rules.digest = rules_content(rules);
        let now = rules.digest.clone();
        ruleset.registered_unix_us = now_unix_us;
        match self.0.get(&name) {
            Some(known) if digest(known) == now => Ok(known.clone()),
            Some(known) if !replace => Err(Error::RulesetConflict(format!(
                "ruleset \"{name}\" is already registered with content {}, the new one has {}: choose \
                 another name, or use --replace",
                &digest(known)[..SHOWN],
                &now[..SHOWN],
            ))),
            _ => Ok(ruleset),
        }
    }
}

/// Checks the files that a package had loaded.
fn check_loaded(name: &str, loaded: &[v1::LoadedFile]) -> Result<(), Error> {
    let is_name = |text: &str| {
        (1..=255).contains(&text.len()) && !text.contains('/') && !text.contains(char::is_control)
    };
    let are_files = loaded
        .iter()
        .all(|it| is_name(&it.name) && it.sha256.len() == 32);
    let is_sorted = loaded.is_sorted_by(|a, b| (&a.name, &a.sha256) < (&b.name, &b.sha256));
    match are_files && is_sorted && loaded.len() <= LOADED_MAX {
        true => Ok(()),
        false => Err(Error::Request(format!(
            "the loaded files of ruleset \"{name}\" are no list of at most {LOADED_MAX} names without folders, \
             each with 32 bytes of SHA-256, in ascending order"
        ))),
    }
}

fn package(ruleset: &v1::Ruleset) -> Option<&v1::BinarySource> {
    ruleset.rules.as_ref()?.package.as_ref()
}

fn digest(ruleset: &v1::Ruleset) -> &str {
    ruleset.rules.as_ref().map_or("", |rules| &rules.digest)
}

impl From<RulesError> for Error {
    fn from(error: RulesError) -> Self {
        match error {
            RulesError::Description(_) => Self::Request(error.to_string()),
            RulesError::Options { .. } => Self::RulesOptions(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaded_files_are_checked() {
        let file = |name: &str, bytes: usize| v1::LoadedFile {
            name: name.to_owned(),
            sha256: vec![7; bytes],
        };
        let of = |files: &[v1::LoadedFile]| check_loaded("pig", files).is_ok();
        let [libc, libm] = ["libc.so.6", "libm.so.6"].map(|name| file(name, 32));
        assert!(of(&[]));
        assert!(of(&[libc.clone(), libm.clone()]));
        assert!(!of(&[libm, libc.clone()]), "not in order");
        assert!(!of(&[libc.clone(), libc]), "twice");
        for wrong in [
            file("libc.so.6", 31),
            file("", 32),
            file("/lib/libc.so.6", 32),
            file("lib\nc", 32),
            file(&"x".repeat(256), 32),
        ] {
            assert!(!of(std::slice::from_ref(&wrong)), "{wrong:?}");
        }
        let many: Vec<_> = (0..=LOADED_MAX)
            .map(|number| file(&format!("{number:05}"), 32))
            .collect();
        assert!(of(&many[1..]));
        assert!(!of(&many));
    }
}
