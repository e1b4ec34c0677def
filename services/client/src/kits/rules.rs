//! The files of `services/games/kits`, as they are in this program.

use super::folder::{Kit, KitFile, Named};

/// What folders of rules are made for.
pub const RULES: Named = Named {
    what: "rules",
    template: "my-game",
    before_digit: "game-",
    bytes_max: 40,
    is_taken: |name| arena_games::ruleset(name).is_ok(),
    advice: "name the folder after your game, such as my-game",
};

macro_rules! file {
    ($path:literal) => {
        KitFile {
            path: $path,
            is_executable: false,
            text: include_str!(concat!("../../../games/kits/python/", $path)),
        }
    };
}

/// The kit of rules in Python.
pub static PYTHON: Kit = Kit {
    lang: "python",
    aliases: &["py"],
    policy: "game.py",
    files: &[
        KitFile {
            is_executable: true,
            ..file!("check")
        },
        file!(".arenaignore"),
        file!("README.md"),
        file!("arena-agent.toml"),
        file!("arena_game.py"),
        file!("game.py"),
    ],
};
