//! What is known of an evolution before the first game.

use arena_evolution::{Evolution, EvolveSpec, Genome};
use arena_model::{TournamentSeed, engine::options::nearest};
use arena_wire::v1::{self, GetAgentRequest};
use itertools::Itertools;
use tonic::Code;

use super::generations::Generations;
use crate::{
    access::Client,
    failure::{Failure, Outcome},
};

/// Draws a seed.
pub fn drawn() -> Outcome<TournamentSeed> {
    let mut bytes = [0; 32];
    let filled = getrandom::fill(&mut bytes);
    let failed = "the system provides no random numbers for a seed";
    filled.map_err(|error| Failure::failed(format!("{failed}: {error}")))?;
    Ok(TournamentSeed::from_bytes(bytes))
}

/// Checks everything that can be checked before the first game.
pub async fn prepare(
    client: &mut Client,
    spec: &EvolveSpec,
    seed: TournamentSeed,
) -> Outcome<Generations> {
    let genome = genome(client, spec).await?;
    let evolution = Evolution::new(spec.evolution.clone(), seed, genome.genes())?;
    let generations = Generations::new(spec.clone(), genome, evolution, seed)?;
    generations.check(client).await?;
    Ok(generations)
}

/// Asks the coordinator for the bot, and returns its options that evolve.
async fn genome(client: &mut Client, spec: &EvolveSpec) -> Outcome<Genome> {
    let player = &spec.player;
    let from = player.from.as_ref();
    let name = from.map_or(player.bot.as_str(), |from| from.as_str());
    let request = GetAgentRequest {
        name: name.to_owned(),
    };
    let agent = match client.get_agent(request).await {
        Ok(answer) => answer.into_inner().agent,
        Err(status) if status.code() == Code::NotFound => {
            return Err(unknown(client, name).await?);
        }
        Err(status) => return Err(status.into()),
    };
    let described = agent.and_then(|agent| agent.description);
    let bots = described.map_or_else(Vec::new, |described| described.bots);
    let Some(bot) = bots.iter().find(|bot| bot.name == player.bot) else {
        let known = match bots.len() {
            0 => "none that it describes".to_owned(),
            _ => bots.iter().map(|bot| &bot.name).join(", "),
        };
        return Err(Failure::usage(format!(
            "[player] agent \"{name}\" has no bot \"{}\"; its bots are {known}",
            player.bot
        )));
    };
    Ok(Genome::new(bot, &spec.ruleset, player.evolve.as_ref())?)
}

/// The error for an unknown agent, with the nearest known name.
async fn unknown(client: &mut Client, name: &str) -> Outcome<Failure> {
    let request = v1::ListAgentsRequest {
        page_size: 200,
        page_token: String::new(),
    };
    let agents = client.list_agents(request).await?.into_inner().agents;
    let known = agents.iter().map(|agent| agent.name.as_str());
    let hint = nearest(name, known).map_or_else(
        || "; `arena agent list` shows all".to_owned(),
        |nearest| format!(", did you mean \"{nearest}\"?"),
    );
    Ok(Failure::usage(format!(
        "[player] no agent \"{name}\"{hint}"
    )))
}
