//! Tokens in folders that agents may read.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum size of a file that has only a token.
const TOKEN_BYTES_MAX: u64 = 256;
/// Levels of folders that are searched: a folder, and those in it.
const LEVELS: u32 = 2;
/// Maximum number of files and folders that are looked at.
const ENTRIES_MAX: usize = 20_000;

/// The files with a token of Arena among paths that agents may read, and in their folders. Folders
/// further below are not searched.
pub(super) fn tokens(readable: &[PathBuf]) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), ENTRIES_MAX);
    for path in readable {
        search(path, LEVELS, &mut left, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn search(path: &Path, levels: u32, left: &mut usize, found: &mut Vec<PathBuf>) {
    let Some(rest) = left.checked_sub(1) else {
        return;
    };
    *left = rest;
    let Ok(about) = fs::metadata(path) else {
        return;
    };
    if about.is_file() && about.len() <= TOKEN_BYTES_MAX && arena_access::read_token(path).is_ok() {
        found.push(path.to_owned());
    }
    if !about.is_dir() || levels == 0 {
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        search(&entry.path(), levels - 1, left, found);
    }
}

#[cfg(test)]
mod tests {
    use arena_access::Token;

    use super::*;

    #[test]
    fn tokens_in_readable_folders_are_found() {
        let temp = tempfile::tempdir().expect("a folder");
        let root = temp.path();
        let token = Token::draw().expect("random numbers").text();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("a file");
            path
        };
        let inside = write("bin/worker.token", &token);
        let below = write("bin/arena-data/admin.token", &format!("{token}\n"));
        let alone = write("elsewhere/one.token", &token);
        write("elsewhere/two.token", &token);
        write("bin/program", "#!/bin/sh\n");
        write("bin/long", &format!("{token}{}", " ".repeat(300)));
        let readable = [root.join("bin"), alone.clone(), root.join("nowhere")];
        assert_eq!(tokens(&readable), [below, inside, alone]);
    }
}
