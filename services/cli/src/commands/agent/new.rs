//! `arena agent new`

use std::path::PathBuf;

use arena_client::kits::{AGENT, kit, make_folder};
use arena_model::AgentName;
use clap::Args;

use crate::{failure::Outcome, output};

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Folder to make
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Language: python, typescript, javascript, rust, cpp, c, go, java or bash
    #[arg(long)]
    lang: String,

    /// Name of the agent: lower-case letters, digits and dashes [default: the name of DIR]
    #[arg(long)]
    name: Option<AgentName>,
}

impl NewArgs {
    pub(crate) async fn run(self) -> Outcome {
        let kit = kit(&self.lang)?;
        let name = self.name.as_ref().map(ToString::to_string);
        let made = make_folder(&self.folder, kit, &AGENT, name)?;
        if self.name.is_none() && made.is_renamed {
            output::note(format!(
                "the agent is called {}, because names have lower-case letters, digits and dashes; \
                 --name chooses another name",
                made.name
            ));
        }
        let (name, folder, shown) = (made.name, made.quoted, self.folder.display());
        let check = match &*folder {
            "." => "./check".to_owned(),
            folder => format!("(cd {folder} && ./check)"),
        };
        output::write(&format!(
            "made the agent {name} in {shown}: its policy is {}. Next:\n  \
             {check}\n  \
             arena agent register {name} --binary {folder}\n",
            kit.policy,
        ))
    }
}
