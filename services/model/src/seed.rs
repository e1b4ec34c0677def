//! Seeds, and the keys that derive from them.
//!
//! The key derivation is HMAC-SHA-256 (RFC 2104) over labels, each written as
//! its length in four little-endian bytes followed by its bytes:
//!
//! - block seed = first 8 bytes, big-endian, of `H(tournament seed, "block", k)`
//!   with k as 8 little-endian bytes; with `paired = false` the game's seed is
//!   that of `H(block seed, "rotation", r)`, with r as 4 little-endian bytes;
//! - keys of a game, from its 8-byte big-endian seed: `("dice", seat)`,
//!   `("table")`, `("opening")`, `("substitute", seat)`, and, on another
//!   branch, `("agent", names in seat order…, seat)`; seats are one byte;
//! - seeds of a knockout that are drawn: the agents by the first 8 bytes,
//!   big-endian, of `H(tournament seed, "seeding", place in the spec)`;
//! - the openings of a tournament without chance, in order: the key
//!   `H(tournament seed, "openings")`; which of them a group has in its k-th block:
//!   the first 8 bytes, big-endian, of `H(tournament seed, "opening order")`;
//! - of an evolution, from its seed: the key of what is drawn to make
//!   generation g `("evolution", g)`, and the seed of its tournament
//!   `("generation", g)`, with g as 8 little-endian bytes.
//!
//! The seed of an agent for a seat's n-th decision is word n of the ChaCha8 stream of its agent
//! key. The dice cannot be derived from it.

use std::{fmt, str::FromStr};

use arena_engine::{GameKeys, Key, StreamOf};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Text that is no seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not a seed: expected 0x and 1 to {digits} hexadecimal digits, or a decimal \
     number below 2^64"
)]
pub struct SeedError {
    text: String,
    digits: usize,
}

/// The seed of a tournament: 256 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TournamentSeed([u8; 32]);

impl TournamentSeed {
    /// A seed from its bytes, most significant first.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The commitment to this seed: the SHA-256 of a label, a nonce and the seed. Without the nonce,
    /// no guess of the seed can be compared with it.
    #[must_use]
    pub fn commitment(&self, nonce: &[u8; 32]) -> [u8; 32] {
        let digest = Sha256::new().chain_update(b"arena seed commitment v1\0");
        digest
            .chain_update(nonce)
            .chain_update(self.0)
            .finalize()
            .into()
    }

    /// The seed of a block.
    #[must_use]
    pub fn block(&self, number: u64) -> BlockSeed {
        BlockSeed(first_word(&derive(
            &self.0,
            &[b"block", &number.to_le_bytes()],
        )))
    }

    /// The number by which an agent, given by its place in the spec, is seeded if seeds are drawn:
    /// the smallest is the best seed.
    #[must_use]
    pub fn seeding(&self, agent: u64) -> u64 {
        first_word(&derive(&self.0, &[b"seeding", &agent.to_le_bytes()]))
    }

    /// The key of the order of the openings in a tournament without chance.
    #[must_use]
    pub fn openings(&self) -> Key {
        derive(&self.0, &[b"openings"])
    }

    /// The number from which the order of a group's openings is drawn.
    #[must_use]
    pub fn opening_order(&self) -> u64 {
        first_word(&derive(&self.0, &[b"opening order"]))
    }

    /// The key for drawing a generation of an evolution.
    #[must_use]
    pub fn evolution(&self, generation: u64) -> Key {
        derive(&self.0, &[b"evolution", &generation.to_le_bytes()])
    }

    /// The seed of the tournament of a generation of an evolution.
    #[must_use]
    pub fn generation(&self, generation: u64) -> Self {
        Self(derive(&self.0, &[b"generation", &generation.to_le_bytes()]))
    }
}

impl FromStr for TournamentSeed {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Self, SeedError> {
        let mut bytes = [0; 32];
        parse_hex(text, 64)
            .and_then(|digits| hex::decode_to_slice(digits, &mut bytes).ok())
            .ok_or_else(|| SeedError {
                text: text.to_owned(),
                digits: 64,
            })?;
        Ok(Self(bytes))
    }
}

/// The hexadecimal digits of `0x…` or of a decimal number, padded with zeros on the left.
fn parse_hex(text: &str, width: usize) -> Option<String> {
    if text.bytes().all(|c| c.is_ascii_digit()) {
        return Some(format!("{:0>width$x}", text.parse::<u64>().ok()?));
    }
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    ((1..=width).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_hexdigit()))
        .then(|| format!("{digits:0>width$}"))
}

impl fmt::Display for TournamentSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = hex::encode(self.0);
        let digits = digits.trim_start_matches('0');
        write!(f, "0x{}", if digits.is_empty() { "0" } else { digits })
    }
}

/// The seed of a block (or of one game, if unpaired): 64 bits, `0x` and 16 hexadecimal digits as
/// text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BlockSeed(pub u64);

impl BlockSeed {
    /// The seed of one rotation that shares no dice with the others.
    #[must_use]
    pub fn rotation(self, rotation: u32) -> Self {
        Self(first_word(&derive(
            &self.0.to_be_bytes(),
            &[b"rotation", &rotation.to_le_bytes()],
        )))
    }

    /// The keys of a game between agents of these names, in seat order. The names matter only for
    /// the keys of agents.
    #[must_use]
    pub fn keys(self, names: &[&str]) -> GameKeys {
        let root = Root::new(&self.0.to_be_bytes());
        let mut agents = root.clone();
        agents.label(b"agent");
        for name in names {
            agents.label(name.as_bytes());
        }
        GameKeys::new(move |of| match of {
            StreamOf::Dice(seat) => root.derive(&[b"dice", &[seat]]),
            StreamOf::Table => root.derive(&[b"table"]),
            StreamOf::Opening => root.derive(&[b"opening"]),
            StreamOf::Agent(seat) => agents.derive(&[&[seat]]),
            StreamOf::Substitute(seat) => root.derive(&[b"substitute", &[seat]]),
        })
    }

    /// The keys of a game's chance and of its drawn opening; those of agents do not belong to it.
    #[must_use]
    pub fn chance_keys(self) -> GameKeys {
        self.keys(&[])
    }
}

impl FromStr for BlockSeed {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Self, SeedError> {
        parse_hex(text, 16)
            .and_then(|digits| u64::from_str_radix(&digits, 16).ok())
            .map(Self)
            .ok_or_else(|| SeedError {
                text: text.to_owned(),
                digits: 16,
            })
    }
}

impl fmt::Display for BlockSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}

/// Conversions of seeds from and to their text.
macro_rules! as_text {
    ($($seed:ty),*) => {$(
        impl TryFrom<String> for $seed {
            type Error = SeedError;

            fn try_from(text: String) -> Result<Self, SeedError> {
                text.parse()
            }
        }

        impl From<$seed> for String {
            fn from(seed: $seed) -> Self {
                seed.to_string()
            }
        }

        impl fmt::Debug for $seed {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

as_text!(TournamentSeed, BlockSeed);

fn derive(key: &[u8], labels: &[&[u8]]) -> Key {
    Root::new(key).derive(labels)
}

/// The root of several keys: the key is absorbed once.
#[derive(Clone)]
struct Root(Hmac<Sha256>);

impl Root {
    fn new(key: &[u8]) -> Self {
        Self(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    fn label(&mut self, label: &[u8]) {
        self.0.update(&(label.len() as u32).to_le_bytes());
        self.0.update(label);
    }

    fn derive(&self, labels: &[&[u8]]) -> Key {
        let mut branch = self.clone();
        labels.iter().for_each(|label| branch.label(label));
        branch.0.finalize().into_bytes().into()
    }
}

fn first_word(key: &Key) -> u64 {
    u64::from_be_bytes(key[..8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Golden {
        seed: TournamentSeed,
        block: u64,
        block_seed: BlockSeed,
        rotation_1: BlockSeed,
        names: Vec<String>,
        dice: Vec<String>,
        table: String,
        opening: String,
        agents: Vec<String>,
        substitute: Vec<String>,
    }

    #[test]
    fn derived_keys_are_pinned() {
        let golden: Vec<Golden> =
            serde_json::from_str(include_str!("../data/keys.json")).expect("golden data");
        assert!(!golden.is_empty());
        for case in golden {
            let block = case.seed.block(case.block);
            assert_eq!(block, case.block_seed);
            assert_eq!(block.rotation(1), case.rotation_1);
            let names: Vec<&str> = case.names.iter().map(String::as_str).collect();
            let (keys, chance) = (block.keys(&names), block.chance_keys());
            let key = |of| hex::encode(keys.key(of));
            assert_eq!(key(StreamOf::Table), case.table);
            assert_eq!(chance.key(StreamOf::Table), keys.key(StreamOf::Table));
            assert_eq!(key(StreamOf::Opening), case.opening);
            for (place, seat) in (0..names.len()).zip(0..) {
                let dice = StreamOf::Dice(seat);
                assert_eq!(key(dice), case.dice[place]);
                assert_eq!(chance.key(dice), keys.key(dice));
                assert_eq!(key(StreamOf::Agent(seat)), case.agents[place]);
                assert_eq!(key(StreamOf::Substitute(seat)), case.substitute[place]);
            }
        }
    }

    #[test]
    fn evolution_keys_are_pinned() {
        // Computed by an independent implementation.
        let seed: TournamentSeed = "0x5eed".parse().expect("a seed");
        assert_eq!(
            hex::encode(seed.evolution(17)),
            "00d8a0a40cdf585f91ecbf927500bcd06efd98983287e5c4305d956716ede131"
        );
        assert_eq!(
            seed.generation(17).to_string(),
            "0x37428d9994e7e2a9dfc81e64f040441756fe22b2a59e81aeb121fde339046ac8"
        );
    }

    #[test]
    fn commitment_is_pinned() {
        // Computed by an independent implementation.
        let seed: TournamentSeed = "0x5eed".parse().expect("a seed");
        let commitment = hex::encode(seed.commitment(&[7; 32]));
        assert_eq!(
            commitment,
            "2776e5904220f4260cc68a209e3e45bcf11900bdda5080abac942572de7d4328"
        );
        assert_ne!(hex::encode(seed.commitment(&[8; 32])), commitment);
    }

    #[test]
    fn seeds_round_trip() {
        for text in [
            "0x5eed",
            "0x0",
            "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ] {
            assert_eq!(
                text.parse::<TournamentSeed>().expect(text).to_string(),
                text
            );
        }
        assert_eq!(
            "0x00005EED"
                .parse::<TournamentSeed>()
                .expect("a seed")
                .to_string(),
            "0x5eed"
        );
        assert_eq!(
            "10".parse::<TournamentSeed>().expect("a seed").to_string(),
            "0xa"
        );
        let long = format!("0x{}", "0".repeat(65));
        for text in ["", "0x", "5eed", "0xg", "-1", "18446744073709551616", &long] {
            assert!(text.parse::<TournamentSeed>().is_err(), "{text}");
        }
    }
}
