//! `arena agent serve`

use arena_agents::serve::{ServeBotsError, serve};
use arena_sdk::{Listen, ListenError, ServeError};
use clap::Args;

use crate::failure::{Failure, Outcome};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on: unix:PATH or HOST:PORT; port 0 picks a free port
    #[arg(long, env = "ARENA_LISTEN", default_value_t = Listen::default(), value_name = "ADDR")]
    listen: Listen,

    /// Serve this bot; may be repeated, the first is the default bot [default: all]
    #[arg(long = "bot", value_name = "BOT")]
    bots: Vec<String>,
}

impl ServeArgs {
    pub(crate) async fn run(self) -> Outcome {
        serve(&self.listen, &self.bots)
            .await
            .map_err(|error| match error {
                ServeBotsError::Bot(_)
                | ServeBotsError::Serve(ServeError::Listen(ListenError::Address(_))) => {
                    Failure::usage(error)
                }
                ServeBotsError::Serve(_) => Failure::failed(error),
            })
    }
}
