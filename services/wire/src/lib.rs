//! The protobuf messages of Arena, their conversions, and, with the feature `grpc`, the gRPC stubs.

pub mod batch;
#[cfg(feature = "grpc")]
pub mod bounds;
pub mod convert;
pub mod fields;
#[cfg(feature = "json")]
pub mod json;
pub mod limits;
#[cfg(feature = "networks")]
pub mod networks;
#[cfg(feature = "grpc")]
pub mod pages;
#[cfg(feature = "grpc")]
pub mod raw;
pub mod reasons;
mod rules;

/// The random numbers of agents, for authors of agents.
pub use arena_model::engine::AgentRng;

/// Package `arena.v1`: agents, workers, coordinator, records.
#[expect(clippy::all, reason = "generated")]
#[expect(missing_docs, reason = "`proto/arena/v1` documents the messages")]
#[cfg_attr(
    feature = "grpc",
    expect(clippy::allow_attributes, reason = "generated")
)]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/arena.v1.rs"));
}

/// Package `arena.games.v1`: one position and one move for each ruleset.
#[expect(missing_docs, reason = "`proto/arena/games/v1` documents the messages")]
pub mod games {
    include!(concat!(env!("OUT_DIR"), "/arena.games.v1.rs"));
}

/// Package `externalscaler`: the interface by which KEDA asks how many workers to run.
#[expect(missing_docs, reason = "`proto/externalscaler` documents the messages")]
#[cfg_attr(
    feature = "grpc",
    expect(clippy::allow_attributes, reason = "generated")
)]
pub mod keda {
    include!(concat!(env!("OUT_DIR"), "/externalscaler.rs"));
}

/// The encoded `FileDescriptorSet` of all files, for server reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// Minimum number of failed attempts before a game is void. A worker does not play a game with
/// this many `attempts`: it reports the game as void.
pub const ATTEMPTS_MAX: u32 = 5;
