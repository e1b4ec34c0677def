//! `arena tournament archive`

use std::path::PathBuf;

use arena_client::archive::{self, SUMS};
use arena_report::{records, state::state_name};
use arena_wire::v1::TournamentState;
use clap::Args;
use serde_json::json;

use super::remove;
use crate::{
    access::{AccessArgs, Client},
    failure::{Failure, Outcome},
    ids,
    output::{self, Format, note},
};

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    id: String,

    #[command(flatten)]
    pub(super) access: AccessArgs,

    /// Folder in which to make the archive, a folder with the name of the tournament
    #[arg(long, value_name = "DIR")]
    into: PathBuf,

    /// Remove the tournament once its archive is complete
    #[arg(long)]
    remove: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl ArchiveArgs {
    pub(super) async fn run(self, client: &mut Client) -> Outcome {
        let id = ids::tournament(client, &self.id).await?;
        let tournament = records::tournament(client, &id).await?;
        let state = tournament.state();
        if !matches!(
            state,
            TournamentState::Finished | TournamentState::Cancelled
        ) {
            return Err(Failure::usage(format!(
                "tournament {id} is {}, and only one that has ended can be archived: wait for its \
                 end, or cancel it with `arena tournament cancel {id}`",
                state_name(state)
            )));
        }
        let (folder, sums) = match archive::write(client, &tournament, &self.into).await {
            Ok(archive) => archive,
            Err(failure) if self.remove => {
                note("the archive is not complete, so the tournament was not removed");
                return Err(failure);
            }
            Err(failure) => return Err(failure),
        };
        if self.remove {
            remove::remove(client, id.clone(), sums.clone()).await?;
        }
        let games = tournament.games_done;
        match self.output {
            Format::Json | Format::Jsonl => output::json_line(&json!({
                "tournament_id": id,
                "archive": folder,
                "sha256": sums,
                "games": games,
                "removed": self.remove,
            })),
            Format::Csv => output::write(&format!(
                "tournament_id,sha256,games,removed\n{id},{sums},{games},{}\n",
                self.remove
            )),
            Format::Table => output::write(&format!(
                "{}: {games} games, SHA-256 of {SUMS} {sums}{}\n",
                folder.display(),
                if self.remove {
                    "; the tournament is removed"
                } else {
                    ""
                }
            )),
        }
    }
}
