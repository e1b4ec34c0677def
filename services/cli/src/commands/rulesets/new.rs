//! `arena rulesets new`

use std::path::PathBuf;

use arena_client::kits::{PYTHON, RULES, make_folder};
use clap::Args;

use crate::{
    failure::{Failure, Outcome},
    output,
};

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Folder to make
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Language: python
    #[arg(long)]
    lang: String,
}

impl NewArgs {
    pub(crate) fn run(self) -> Outcome {
        let lang = self.lang.to_lowercase();
        if lang != PYTHON.lang && !PYTHON.aliases.contains(&&*lang) {
            return Err(Failure::usage(format!(
                "unknown language \"{}\". Languages: python. Rules in Rust need no package: see \
                 services/games/docs/own-ruleset.md",
                self.lang
            )));
        }
        let made = make_folder(&self.folder, &PYTHON, &RULES, None)?;
        if made.is_renamed {
            output::note(format!(
                "the ruleset is called {}, because names have lower-case letters, digits and dashes",
                made.name
            ));
        }
        let (shown, name) = (self.folder.display(), made.name);
        let folder = made.quoted;
        output::write(&format!(
            "made the rules {name} in {shown}: the game is {}. Next:\n  (cd {folder} && ./check)\n  \
             arena rulesets register {name} --package {folder}\n",
            PYTHON.policy,
        ))
    }
}
