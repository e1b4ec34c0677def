//! The first corpus.

use std::{env, fs, path::Path};

/// Writes inputs from real games to the folder in `ARENA_FUZZ_SEEDS`, before libFuzzer reads it.
///
/// # Panics
/// If a file cannot be written.
pub fn write_if_asked(seeds: fn() -> Vec<Vec<u8>>) {
    let Some(folder) = env::var_os("ARENA_FUZZ_SEEDS") else {
        return;
    };
    for (number, seed) in seeds().iter().enumerate() {
        let path = Path::new(&folder).join(format!("{number:05}"));
        fs::write(&path, seed).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
