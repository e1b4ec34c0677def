//! A tournament with everything resolved that can change a record.

use arena_engine::options::Options;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    canonical::canonical_json,
    content::Registration,
    format::{Format, Settings},
    name::AgentName,
    returns::Returns,
    season::AgentChange,
    seed::TournamentSeed,
    spec::Play,
};

/// An agent as far as it can change a record. How it is reached is not part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentRef {
    /// Unique in the tournament.
    pub name: AgentName,
    /// The bot of its process; empty: the process has only one.
    pub bot: String,
    /// Resolved options of the bot.
    pub options: Options,
    /// The version that the agent states: a label, except for a built-in bot, whose identity it is.
    pub version: String,
    /// Whether its answers depend on the seed of a request; none if unknown, and if the game has
    /// chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_seed: Option<bool>,
    /// For a registered binary, its [`Package::digest`](crate::Package::digest), which is its
    /// identity; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// For an endpoint, its registration, which is its identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<Registration>,
}

/// A spec with presets, defaults and seed resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tournament {
    /// For people; not part of the hash.
    pub name: AgentName,
    /// Name of the ruleset.
    pub ruleset: String,
    /// Version of the rules.
    pub rules_version: u32,
    /// The digest of the rules, if they are a package: [`Package::digest`](crate::Package::digest).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_digest: Option<String>,
    /// Resolved options of the ruleset.
    pub options: Options,
    /// The source of all randomness.
    pub seed: TournamentSeed,
    /// Who plays whom.
    pub format: Format,
    /// The settings of the format; none if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Blocks for each group.
    pub blocks: u64,
    /// Seats of a game.
    pub seats: usize,
    /// In the order of the spec.
    pub agents: Vec<AgentRef>,
    /// The settings of play.
    pub play: Play,
    /// The openings; none if the game has chance, and in tournaments of earlier releases. Each
    /// block of a group has the next one, and the first again after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openings: Option<Openings>,
    /// The bounds of returns, if they decide the places; none: ranks do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Returns>,
    /// What was changed about the agents of an open ladder, in order. The id is that of the tournament
    /// without these changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<AgentChange>,
}

/// The openings of a tournament without chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Openings {
    /// Number of openings.
    pub size: u64,
    /// True if these are all openings of `opening_plies` moves; else they are a sample.
    pub complete: bool,
    /// True if chance names the starter of each game, and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starter_drawn: bool,
}

impl Tournament {
    /// Reads a tournament as a coordinator shows it, and its seed; none while the seed is sealed.
    /// The tournament then has the seed 0.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn shown(json: &str) -> serde_json::Result<(Self, Option<TournamentSeed>)> {
        let mut value: serde_json::Value = serde_json::from_str(json)?;
        let is_sealed = value.get("seed").is_none();
        if is_sealed {
            value["seed"] = "0x0".into();
        }
        let tournament: Self = serde_json::from_value(value)?;
        let seed = (!is_sealed).then_some(tournament.seed);
        Ok((tournament, seed))
    }

    /// True if agents meet different opponents, or some more often than others, so that their
    /// scores do not order them.
    #[must_use]
    pub fn opponents_differ(&self) -> bool {
        match &self.settings {
            Some(Settings::Fixed(fixed)) => !fixed.is_even(),
            _ => self.format.opponents_differ(),
        }
    }

    /// True if agents may be added, replaced, benched and banned while it runs.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(&self.settings, Some(Settings::Ladder(ladder)) if ladder.open)
    }

    /// `<name>-<ten hex digits>`, and from the second attempt on `-<attempt>`.
    #[must_use]
    pub fn id(&self, attempt: u32) -> String {
        let mut value = serde_json::to_value(self).expect("plain data is JSON");
        if let Some(fields) = value.as_object_mut() {
            fields.remove("name");
            // An open ladder keeps the id with which it started.
            fields.remove("changes");
        }
        if let Some(agents) = value["agents"].as_array_mut() {
            agents.truncate(self.listed_entries());
        }
        let agents = value["agents"].as_array_mut().into_iter().flatten();
        for agent in agents.filter_map(|agent| agent.as_object_mut()) {
            // An agent with an identity of its own has a version that is only a label.
            if agent.contains_key("content") || agent.contains_key("registration") {
                agent.remove("version");
            }
        }
        let digest = Sha256::digest(canonical_json(&value));
        let digits = &hex::encode(digest)[..10];
        Self::attempt_id(&format!("{}-{digits}", self.name), attempt)
    }

    /// The id of an attempt, from that of the first one.
    #[must_use]
    pub fn attempt_id(first: &str, attempt: u32) -> String {
        match attempt {
            0..=1 => first.to_owned(),
            _ => format!("{first}-{attempt}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChangeKind, EntryState, format::Swiss};

    fn tournament() -> Tournament {
        Tournament {
            name: "cup".parse().expect("a name"),
            ruleset: "kalah".to_owned(),
            rules_version: 1,
            rules_digest: None,
            options: Options::from([("pits".to_owned(), 6.into())]),
            seed: "0x5eed".parse().expect("a seed"),
            format: Format::RoundRobin,
            settings: None,
            blocks: 10,
            seats: 2,
            agents: vec![AgentRef {
                name: "random".parse().expect("a name"),
                bot: "random".to_owned(),
                options: Options::new(),
                version: "1".to_owned(),
                uses_seed: None,
                content: String::new(),
                registration: None,
            }],
            play: Play {
                opening_plies: Some(0),
                ..Play::default()
            },
            openings: None,
            returns: None,
            changes: Vec::new(),
        }
    }

    #[test]
    fn ids_are_pinned_and_count_attempts() {
        let id = tournament().id(1);
        assert_eq!(id, "cup-7093e63df5");
        assert_eq!(tournament().id(3), format!("{id}-3"));
    }

    #[test]
    fn id_covers_everything_but_the_name() {
        let id = tournament().id(1);
        let changes: [fn(&mut Tournament); 15] = [
            |t| t.ruleset.push('x'),
            |t| t.rules_version += 1,
            |t| t.rules_digest = Some("aa".to_owned()),
            |t| t.options.clear(),
            |t| t.seed = TournamentSeed::from_bytes([1; 32]),
            |t| t.blocks += 1,
            |t| t.seats += 1,
            |t| {
                t.returns = Some(Returns {
                    min: -1,
                    max: 1,
                    parts: 1,
                })
            },
            |t| t.play.opening_plies = Some(1),
            |t| t.settings = Some(Settings::Swiss(Swiss { rounds: Some(3) })),
            |t| t.agents[0].bot.push('x'),
            |t| t.agents[0].version.push('x'),
            |t| t.agents[0].content.push('x'),
            |t| t.agents[0].registration = Some(registration(1)),
            |t| {
                t.agents[0].options.insert("depth".to_owned(), 3.into());
            },
        ];
        for (place, change) in changes.into_iter().enumerate() {
            let mut other = tournament();
            change(&mut other);
            assert_ne!(other.id(1), id, "change {place}");
        }
        let mut renamed = tournament();
        renamed.name = "pot".parse().expect("a name");
        assert_eq!(renamed.id(1).strip_prefix("pot"), id.strip_prefix("cup"));
    }

    #[test]
    fn changes_keep_the_id_and_the_entries() {
        let mut season = tournament();
        season.agents.push(season.agents[0].clone());
        let (id, listed) = (season.id(1), season.agents.len());
        let mut change = |at_blocks, entry, kind: ChangeKind| {
            let change = AgentChange {
                at_blocks,
                entry,
                kind,
                agent: None,
            };
            if change.adds() {
                season.agents.push(season.agents[0].clone());
            }
            season.changes.push(change);
        };
        change(10, 2, ChangeKind::Add);
        change(20, 3, ChangeKind::Replace(0));
        change(20, 1, ChangeKind::Bench);
        change(30, 2, ChangeKind::Ban("it copies".to_owned()));
        change(40, 1, ChangeKind::Return);
        assert_eq!(season.id(1), id);
        assert_eq!(season.listed_entries(), listed);
        let names = |blocks| -> Vec<&str> {
            let states = season.entry_states(blocks);
            states.iter().map(EntryState::name).collect()
        };
        assert_eq!(names(9), ["active", "active", "waiting", "waiting"]);
        assert_eq!(names(10), ["active", "active", "active", "waiting"]);
        assert_eq!(names(20), ["replaced", "benched", "active", "active"]);
        assert_eq!(names(39), ["replaced", "benched", "banned", "active"]);
        assert_eq!(names(40), ["replaced", "active", "banned", "active"]);
        // A stored tournament without changes reads as before.
        let json = canonical_json(&tournament());
        assert!(!json.contains("changes") && !json.contains("open\":"));
        let season: Tournament = serde_json::from_str(&canonical_json(&season)).expect("JSON");
        assert_eq!(season.changes.len(), 5);
    }

    fn registration(registered_unix_us: u64) -> Registration {
        Registration {
            name: "far".to_owned(),
            url: "http://127.0.0.1:1".to_owned(),
            registered_unix_us,
        }
    }

    #[test]
    fn version_is_only_a_label() {
        let with_content = |content: &str, version: &str| {
            let mut other = tournament();
            content.clone_into(&mut other.agents[0].content);
            version.clone_into(&mut other.agents[0].version);
            other.id(1)
        };
        assert_eq!(with_content("aa", "1"), with_content("aa", "2"));
        assert_ne!(with_content("aa", "1"), with_content("bb", "1"));
        let registered = |at: u64, version: &str| {
            let mut other = tournament();
            other.agents[0].registration = Some(registration(at));
            version.clone_into(&mut other.agents[0].version);
            other.id(1)
        };
        assert_eq!(registered(1, "1"), registered(1, "2"));
        assert_ne!(registered(1, "1"), registered(2, "1"));
    }
}
