//! `arena completions` and `arena man`

use std::{fs, io, path::PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::{
    failure::{Failure, Outcome},
    output::note,
};

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  arena completions bash > ~/.local/share/bash-completion/completions/arena
  arena completions zsh > ~/.zfunc/_arena          # with ~/.zfunc in fpath
  arena completions fish > ~/.config/fish/completions/arena.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the script
    #[arg(value_enum)]
    shell: Shell,
}

/// Write the manual pages of all commands
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  arena man ~/.local/share/man/man1 && man arena-run")]
pub(crate) struct ManArgs {
    /// Folder for the pages; created if it does not exist
    dir: PathBuf,
}

impl CompletionsArgs {
    pub(crate) fn run(self, mut command: Command) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "arena", &mut script);
        crate::output::write(&String::from_utf8_lossy(&script))
    }
}

impl ManArgs {
    pub(crate) fn run(self, command: Command) -> Outcome {
        let failed = |error: io::Error| {
            Failure::failed(format!("cannot write to {}: {error}", self.dir.display()))
        };
        fs::create_dir_all(&self.dir).map_err(failed)?;
        clap_mangen::generate_to(command, &self.dir).map_err(failed)?;
        note(format!("wrote the manual pages to {}", self.dir.display()));
        Ok(())
    }
}
