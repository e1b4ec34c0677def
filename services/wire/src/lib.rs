//! The protobuf messages of Arena and, with the feature `grpc`, its gRPC stubs.

/// Package `arena.v1`: agents, workers, coordinator, records.
#[expect(missing_docs, clippy::all, reason = "generated")]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/arena.v1.rs"));
}

/// Package `arena.games.v1`: one position and one move for each ruleset.
pub mod games {
    include!(concat!(env!("OUT_DIR"), "/arena.games.v1.rs"));
}

/// The encoded `FileDescriptorSet` of all of it, for server reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
