//! The header is what cbindgen makes of the source.

use std::{env, fs, path::Path};

#[test]
fn header_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a config");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(folder.join("src/lib.rs"))
        .generate()
        .expect("a header");
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = String::from_utf8(made).expect("UTF-8");
    let path = folder.join("include/arena_rules.h");
    if env::var_os("ARENA_UPDATE").is_some() {
        fs::write(&path, &made).expect("a header");
    }
    let current = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == current,
        "c/include/arena_rules.h is old: ARENA_UPDATE=1 cargo test -p arena-rules-c"
    );
}
