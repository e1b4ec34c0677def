//! The files of `agents/kits`, as they are in this program.

use arena_engine::options::nearest;
use itertools::Itertools;

use super::folder::{Kit, KitFile, Named};
use crate::failure::{Failure, Outcome};

/// The name of the agent in the files of kits.
const TEMPLATE_NAME: &str = "my-agent";

/// A kit with the common files, and those of its language.
macro_rules! kit {
    ($lang:literal $aliases:expr, $policy:literal: $($path:literal)*) => {
        Kit {
            lang: $lang,
            aliases: &$aliases,
            policy: $policy,
            files: &[
                KitFile { is_executable: true, ..file!($lang, "check") },
                file!($lang, ".arenaignore"),
                file!($lang, "README.md"),
                file!($lang, "arena-agent.toml"),
                $(file!($lang, $path),)*
            ],
        }
    };
}

macro_rules! file {
    ($lang:literal, $path:literal) => {
        KitFile {
            path: $path,
            is_executable: false,
            text: include_str!(concat!("../../../../agents/kits/", $lang, "/", $path)),
        }
    };
}

/// All kits, in the order of their list.
const KITS: &[Kit] = &[
    kit!("python" ["py"], "agent.py": "agent.py" "arena.py"),
    kit!("typescript" ["ts"], "agent.ts": ".gitignore" "agent.ts" "arena.ts" "package.json" "tsconfig.json"),
    kit!("javascript" ["js", "node"], "agent.js": "agent.js" "arena.js"),
    kit!("rust" ["rs"], "src/main.rs": ".gitignore" "Cargo.toml" "src/arena.rs" "src/arena/json.rs" "src/main.rs"),
    kit!("cpp" ["c++"], "agent.cpp": ".gitignore" "agent.cpp" "arena.hpp"),
    kit!("c" [], "agent.c": ".gitignore" "agent.c" "arena.h"),
    kit!("go" ["golang"], "agent.go": ".gitignore" "agent.go" "arena.go" "go.mod"),
    kit!("java" [], "Agent.java": ".gitignore" "Agent.java" "Arena.java"),
    kit!("bash" ["sh"], "agent.sh": "agent.sh" "arena.sh"),
];

/// What folders of agents are made for.
pub const AGENT: Named = Named {
    what: "an agent",
    template: TEMPLATE_NAME,
    before_digit: "",
    bytes_max: 63,
    is_taken: |name| {
        let is_ruleset = arena_games::ruleset(name).is_ok();
        name == arena_model::PERSON || arena_agents::bot_info(name).is_ok() || is_ruleset
    },
    advice: "choose another one with --name",
};

/// The kit of a language.
pub fn kit(lang: &str) -> Outcome<&'static Kit> {
    let lower = lang.to_lowercase();
    let is_known = |kit: &&Kit| kit.lang == lower || kit.aliases.contains(&&*lower);
    KITS.iter().find(is_known).ok_or_else(|| {
        let known = KITS
            .iter()
            .flat_map(|kit| kit.aliases.iter().chain([&kit.lang]));
        let meant = nearest(&lower, known.copied());
        let meant = meant.map_or_else(
            || ".".to_owned(),
            |meant| format!(", did you mean \"{meant}\"?"),
        );
        let list = KITS.iter().map(|kit| kit.lang).join(", ");
        Failure::usage(format!(
            "unknown language \"{lang}\"{meant} Languages: {list}; for any other, agents/PROTOCOL.md \
             describes the protocol"
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, path::Path};

    use arena_model::AgentName;

    use super::*;
    use crate::kits::folder::name_of;

    /// Adds the files below a folder, without what a build writes.
    fn add(folder: &Path, prefix: &str, files: &mut BTreeSet<(String, bool)>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("UTF-8");
            let built = [
                "target",
                "node_modules",
                "dist",
                "classes",
                "agent",
                "__pycache__",
            ];
            if built.contains(&&*name) || name.ends_with(".lock") {
                continue;
            }
            let metadata = entry.metadata().expect("metadata");
            match metadata.is_dir() {
                true => add(&entry.path(), &format!("{prefix}{name}/"), files),
                false => {
                    let is_executable = metadata.permissions().mode() & 0o100 != 0;
                    files.insert((format!("{prefix}{name}"), is_executable));
                }
            }
        }
    }

    #[test]
    fn kits_have_all_files_of_their_folders() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/kits");
        for kit in KITS {
            let mut files = BTreeSet::new();
            add(&root.join(kit.lang), "", &mut files);
            let has = kit.files.iter();
            let has = has.map(|file| (file.path.to_owned(), file.is_executable));
            assert_eq!(has.collect::<BTreeSet<_>>(), files, "{}", kit.lang);
            assert!(files.iter().any(|(path, _)| path == kit.policy));
        }
        let folders = fs::read_dir(&root).expect("a folder").flatten();
        let folders = folders.filter(|entry| entry.path().is_dir());
        assert_eq!(folders.count(), KITS.len());
    }

    #[test]
    fn names_of_folders_become_valid() {
        for (folder, name) in [
            ("mine", "mine"),
            ("My Agent_2", "my-agent-2"),
            ("--x--", "x"),
            ("日本", "my-agent"),
            ("", "my-agent"),
            (&"ab".repeat(40), &"ab".repeat(40)[..63]),
        ] {
            assert_eq!(name_of(folder.as_ref(), &AGENT), name);
            let _: AgentName = name.parse().expect("a valid name");
        }
    }
}
