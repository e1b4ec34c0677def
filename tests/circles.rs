//! Files of a crate that import each other, directly or through others.
//!
//! A module and its descendants are one unit to a reader, so imports of one's own ancestors do not
//! count. Imports through `pub use` count as imports of the file that defines the name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use arena_tests::repository;

/// Maximum number of circles in all crates, and of files of each.
const CIRCLES_MAX: usize = 6;
const FILES_MAX: usize = 4;

type Module = Vec<String>;

/// The names that a file uses, as paths, and those that it passes on.
#[derive(Default)]
struct Names {
    used: Vec<Vec<String>>,
    /// Paths by the name under which others import them.
    passed_on: BTreeMap<String, Vec<String>>,
}

/// The modules of a crate, without tests.
fn modules(source: &Path, module: &Module, found: &mut BTreeMap<Module, Names>) {
    for entry in fs::read_dir(source).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        let is_test = name == "tests" || name == "testing" || name.ends_with("_tests");
        if is_test {
            continue;
        }
        let child = || {
            let own = (!matches!(&*name, "lib" | "main" | "mod")).then(|| name.to_string());
            module.iter().cloned().chain(own).collect::<Module>()
        };
        if path.is_dir() {
            modules(&path, &child(), found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).expect("text");
            found.insert(child(), names(&text));
        }
    }
}

/// The names in a text of Rust, without comments and tests.
fn names(text: &str) -> Names {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut names = Names::default();
    let mut rest = String::new();
    for statement in text.split_inclusive(';') {
        let Some((before, tree)) = statement
            .rsplit_once("use ")
            .filter(|(before, _)| before.is_empty() || before.ends_with(['\n', ' ']))
        else {
            rest += statement;
            continue;
        };
        let is_passed_on = before
            .rsplit('\n')
            .next()
            .is_some_and(|it| it.starts_with("pub"));
        for (path, name) in imports(tree.trim_end_matches(';')) {
            if is_passed_on {
                names.passed_on.insert(name, path);
            } else {
                names.passed_on.entry(name).or_insert_with(|| path.clone());
                names.used.push(path);
            }
        }
        rest += before;
    }
    // Paths in the code itself.
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    for word in rest.split(|c| !is_part(c)).filter(|it| it.contains("::")) {
        let path: Vec<String> = word.split("::").map(str::to_owned).collect();
        names.used.push(path);
    }
    names
}

/// The paths of a tree of imports, each with its name here.
fn imports(tree: &str) -> Vec<(Vec<String>, String)> {
    let Some((head, body)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path: Vec<String> = path.trim().split("::").map(str::to_owned).collect();
        let last = path.last().cloned().unwrap_or_default();
        let name = if name.is_empty() {
            last
        } else {
            name.trim().to_owned()
        };
        return vec![(path, name)];
    };
    let body = body.rsplit_once('}').map_or(body, |(body, _)| body);
    let mut depth = 0;
    let items = body.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let items = items.filter(|item| !item.trim().is_empty());
    let of = |item: &str| imports(&format!("{}{}", head.trim(), item.trim()));
    items.flat_map(of).collect()
}

/// The module that defines what a path names, if it is of this crate.
fn target(
    all: &BTreeMap<Module, Names>,
    module: &Module,
    path: &[String],
    depth: u32,
) -> Option<Module> {
    let mut at: Module;
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => (at, rest) = (Module::new(), &path[1..]),
        "self" => (at, rest) = (module.clone(), &path[1..]),
        "super" => {
            at = module.clone();
            while rest.first().is_some_and(|it| it == "super") {
                at.pop();
                rest = &rest[1..];
            }
        }
        first => {
            at = module.clone();
            let child = [&module[..], &[first.to_owned()]].concat();
            if !all.contains_key(&child) {
                return None;
            }
        }
    }
    while let Some(part) = rest.first() {
        let child = [&at[..], std::slice::from_ref(part)].concat();
        if all.contains_key(&child) {
            (at, rest) = (child, &rest[1..]);
        } else {
            break;
        }
    }
    let passed_on = rest
        .first()
        .and_then(|name| all.get(&at)?.passed_on.get(name));
    match passed_on {
        // A name of another crate is of no file here.
        Some(next) if depth < 8 => target(all, &at, next, depth + 1),
        _ => Some(at),
    }
}

/// The circles of a crate.
fn circles(source: &Path) -> Vec<BTreeSet<String>> {
    let mut all = BTreeMap::new();
    modules(source, &Module::new(), &mut all);
    let imports: BTreeMap<&Module, BTreeSet<Module>> = all
        .iter()
        .map(|(module, names)| {
            let of = names
                .used
                .iter()
                .filter_map(|path| target(&all, module, path, 0));
            let others = of.filter(|it| all.contains_key(it) && !module.starts_with(it));
            (module, others.collect())
        })
        .collect();
    let reached = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            let new = imports[&module].iter().filter(|it| !seen.contains(*it));
            let new: Vec<Module> = new.cloned().collect();
            seen.extend(new.iter().cloned());
            open.extend(new);
        }
        seen
    };
    let reached: BTreeMap<&Module, _> = all.keys().map(|it| (it, reached(it))).collect();
    let circle = |module: &Module| {
        let others = reached[module]
            .iter()
            .filter(|it| reached[*it].contains(module));
        others.map(|it| it.join("::")).collect::<BTreeSet<String>>()
    };
    let circles: BTreeSet<_> = all.keys().map(circle).collect();
    circles.into_iter().filter(|it| it.len() > 1).collect()
}

#[test]
fn few_files_import_each_other() {
    let mut found = Vec::new();
    for folder in ["services", "agents"] {
        for entry in fs::read_dir(repository().join(folder)).expect("a folder") {
            let source = entry.expect("an entry").path().join("src");
            if source.is_dir() {
                found.extend(circles(&source));
            }
        }
    }
    let longest = found.iter().map(BTreeSet::len).max().unwrap_or_default();
    assert!(
        found.len() <= CIRCLES_MAX && longest <= FILES_MAX,
        "at most {CIRCLES_MAX} circles of at most {FILES_MAX} files may import each other; move what \
         both sides need into a file of its own: {found:#?}"
    );
}

#[test]
fn circles_through_others_and_reexports_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Three;"),
        (
            "a.rs",
            "use crate::{Three, b::{Other, Two as Second}};\nmod inner;",
        ),
        ("a/inner.rs", "use super::Own;"),
        ("b.rs", "fn f() { crate::c::g() } // crate::a::Own"),
        (
            "c.rs",
            "use std::fmt;\n#[cfg(test)]\nmod tests { use crate::a::Own; }",
        ),
    ];
    let write = |files: &[(&str, &str)]| {
        fs::create_dir_all(folder.path().join("a")).expect("a folder");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("written");
        }
    };
    write(&files);
    assert_eq!(circles(folder.path()), []);
    write(&[("c.rs", "pub struct Three;\nuse super::a::Own;")]);
    let circle = BTreeSet::from(["a", "b", "c"].map(str::to_owned));
    assert_eq!(circles(folder.path()), [circle]);
}
