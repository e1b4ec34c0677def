//! Compiles `proto/` with protox, so that no protoc is needed.

use std::{env, error::Error, fs, path::PathBuf};

/// A new file in one of these is compiled without being named anywhere.
const FOLDERS: &[&str] = &["arena/v1", "arena/games/v1"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "proto")
            {
                files.push(path);
            }
        }
    }
    // The order of a folder is not the same everywhere.
    files.sort();
    let mut compiler = protox::Compiler::new([&root])?;
    compiler.include_imports(true).open_files(files)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // Encoded by the compiler, because the messages of `prost-types` drop our method options.
    let encoded = compiler.encode_file_descriptor_set();
    fs::write(out.join("descriptors.bin"), encoded)?;
    let grpc = env::var_os("CARGO_FEATURE_GRPC").is_some();
    tonic_prost_build::configure()
        .build_client(grpc)
        .build_server(grpc)
        .btree_map(".")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
