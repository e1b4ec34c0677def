//! Compiles `proto/` with protox, so that no protoc is needed.

use std::{env, error::Error, fs, path::PathBuf};

const FILES: &[&str] = &[
    "arena/v1/agent.proto",
    "arena/v1/coordinator.proto",
    "arena/v1/record.proto",
    "arena/v1/worker.proto",
    "arena/games/v1/cowry.proto",
    "arena/games/v1/kalah.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo::rerun-if-changed={}", root.display());
    let descriptors = protox::compile(FILES, [&root])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(
        out.join("descriptors.bin"),
        prost::Message::encode_to_vec(&descriptors),
    )?;
    let grpc = env::var_os("CARGO_FEATURE_GRPC").is_some();
    tonic_prost_build::configure()
        .build_client(grpc)
        .build_server(grpc)
        .btree_map(".")
        .compile_fds(descriptors)?;
    Ok(())
}
