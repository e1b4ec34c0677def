//! `arena tournament verify-seed`

use arena_model::Tournament;
use arena_report::records;
use clap::Args;
use serde_json::json;

use crate::{
    access::{AccessArgs, Client},
    failure::{Failure, Outcome},
    ids,
    output::{self, Format},
};

#[derive(Debug, Args)]
pub(crate) struct VerifySeedArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    id: String,

    /// The commitment that you noted at the start [default: the one that the coordinator
    /// shows now]
    #[arg(long, value_name = "HEX")]
    commitment: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl VerifySeedArgs {
    pub(super) async fn run(self, client: &mut Client) -> Outcome {
        let id = ids::tournament(client, &self.id).await?;
        let found = records::tournament(client, &id).await?;
        let id = &found.tournament_id;
        if found.seed_commitment.is_empty() {
            return Err(Failure::usage(format!(
                "tournament {id} has no commitment: its seed was given, not drawn"
            )));
        }
        let (spec, seed) = Tournament::shown(&found.spec_json).map_err(Failure::failed)?;
        let mut nonce = [0; 32];
        let (Some(seed), Ok(())) = (seed, hex::decode_to_slice(&found.seed_nonce, &mut nonce))
        else {
            return Err(Failure::usage(format!(
                "the seed of tournament {id} is sealed until it is finished or cancelled"
            )));
        };
        let commitment = self.commitment.unwrap_or(found.seed_commitment);
        let computed = hex::encode(seed.commitment(&nonce));
        let is_committed = commitment.eq_ignore_ascii_case(&computed);
        // The id follows from the seed, and was shown at the start, too.
        let first = spec.id(1);
        let is_seed_of_id = *id == first || id.starts_with(&format!("{first}-"));
        let value = json!({
            "tournament_id": id,
            "seed": seed.to_string(),
            "seed_nonce": found.seed_nonce,
            "seed_commitment": commitment,
            "computed": computed,
            "verified": is_committed && is_seed_of_id,
        });
        match self.output {
            Format::Json => output::json(&value)?,
            Format::Jsonl => output::json_line(&value)?,
            Format::Csv => output::write(&format!(
                "tournament,seed,commitment,verified\n{id},{seed},{commitment},{}\n",
                is_committed && is_seed_of_id
            ))?,
            Format::Table if is_committed && is_seed_of_id => {
                output::write(&format!(
                    "{id}: seed {seed} fits the commitment {commitment}\n"
                ))?;
            }
            Format::Table => {}
        }
        if !is_committed {
            return Err(Failure::differs(format!(
                "the commitment to seed {seed} of {id} is {computed}, not {commitment}: another \
                 seed was promised"
            )));
        }
        if !is_seed_of_id {
            return Err(Failure::differs(format!(
                "the id {id} does not follow from seed {seed}: expected {first}"
            )));
        }
        Ok(())
    }
}
