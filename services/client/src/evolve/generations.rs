//! Plays the generations of an evolution, each as a tournament of a coordinator.

use std::time::Duration;

use arena_evolution::{
    Champion, Evolution, EvolveSpec, Fitness, Generation, Genome, player_name, ranking,
};
use arena_model::TournamentSeed;
use arena_report::standings::sound::check_sound;
use arena_wire::v1::{GetStandingsRequest, PlanTournamentRequest, Standings, TournamentState};

use super::report::{EvolutionReporter, PlayedGeneration};
use crate::{
    access::{self, Client},
    failure::{Failure, Outcome},
    output::note,
    progress::{self, Progress},
};

/// Maximum time to wait for a coordinator that does not answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The generations of an evolution, played by a coordinator.
pub struct Generations {
    spec: EvolveSpec,
    genome: Genome,
    evolution: Evolution,
    /// The seed of all random draws.
    pub seed: TournamentSeed,
    /// The first generation.
    pub first: Generation,
}

impl Generations {
    /// The generations of an evolution.
    ///
    /// # Errors
    /// If a fixed option evolves, too.
    pub fn new(
        spec: EvolveSpec,
        genome: Genome,
        evolution: Evolution,
        seed: TournamentSeed,
    ) -> Outcome<Self> {
        let free = spec.player.check_free(genome.options());
        free.map_err(Failure::usage)?;
        let first = evolution.first();
        Ok(Self {
            spec,
            genome,
            evolution,
            seed,
            first,
        })
    }

    /// Asks the coordinator to plan the first tournament, which finds errors in ruleset, options
    /// and bot before anything is stored. The last tournament is built too, because it has the
    /// longest name.
    pub async fn check(&self, client: &mut Client) -> Outcome {
        let last = Generation {
            number: self.evolution.settings().generations - 1,
            ..self.first.clone()
        };
        self.tournament(&last)?;
        let request = PlanTournamentRequest {
            spec_toml: self.tournament(&self.first)?,
            seed: String::new(),
        };
        let planned = client.plan_tournament(request).await;
        planned.map(drop).map_err(Failure::from).map_err(|failure| {
            // All players have these options, so the message must not name the first player.
            let text = failure.to_string();
            let text = text.replace("agent \"p00\"", "the players of [player]");
            Failure::new(failure.kind(), text)
        })
    }

    fn tournament(&self, generation: &Generation) -> Outcome<String> {
        let seed = self.seed.generation(generation.number.into());
        let spec = self.spec.tournament(&self.genome, generation, seed)?;
        Ok(spec.to_toml())
    }

    /// Plays the generations that no earlier run has played, and returns the champion.
    pub async fn play(
        &self,
        client: &mut Client,
        report: &mut EvolutionReporter<'_>,
    ) -> Outcome<Champion> {
        let generations = self.evolution.settings().generations;
        let mut generation = self.first.clone();
        loop {
            let (standings, before) = self.generation(client, &generation).await?;
            let points = self.points(&standings, &generation)?;
            let order = ranking(&points);
            let (first, games) = (order[0], standings.games);
            report.played(&PlayedGeneration {
                number: generation.number,
                tournament: &standings.tournament_id,
                games,
                fitness: Fitness::of(&points),
                first,
                genes: &generation.players[first],
                points: &points,
                before,
            })?;
            if generation.number + 1 < generations {
                generation = self.evolution.next(&generation, &points);
                continue;
            }
            let players = points.len() as u64;
            let settings = self.evolution.settings();
            let most = settings.win.max(settings.draw).max(settings.loss);
            let (name, genes) = (self.spec.name.clone(), &generation.players[first]);
            return Ok(Champion {
                variant: self.spec.variant(name, &self.genome, genes),
                points: points[first],
                points_max: 2 * games / players * u64::from(most),
                generations,
                tournament: standings.tournament_id.clone(),
                seed: self.seed,
                ruleset: self.spec.ruleset.clone(),
            });
        }
    }

    /// Plays the tournament of a generation, unless an earlier run has played it.
    ///
    /// Returns its standings, and true if an earlier run played it.
    async fn generation(
        &self,
        client: &mut Client,
        generation: &Generation,
    ) -> Outcome<(Standings, bool)> {
        let spec = self.tournament(generation)?;
        let started = access::start_tournament(client, spec, None, false).await?;
        let started = started.tournament.unwrap_or_default();
        let id = started.tournament_id.clone();
        let before = started.state() == TournamentState::Finished;
        if !before {
            let mut progress = Progress::of_part(format!(
                "generation {}/{}",
                generation.number + 1,
                self.evolution.settings().generations
            ));
            let last = progress::follow(client, &id, &mut progress, CONNECT_TIMEOUT).await?;
            progress::check_finished(&last)?;
        }
        let request = GetStandingsRequest {
            tournament_id: id,
            ..Default::default()
        };
        let standings = client.get_standings(request).await?.into_inner().standings;
        let standings = standings.unwrap_or_default();
        check_sound(&standings)?;
        Ok((standings, before))
    }

    /// Points of each player, by the player's number.
    fn points(&self, standings: &Standings, generation: &Generation) -> Outcome<Vec<u64>> {
        let id = &standings.tournament_id;
        let agents = &standings.agents;
        let voids: u64 = agents.iter().map(|agent| agent.voids).sum();
        if voids > 0 {
            return Err(Failure::failed(format!(
                "tournament {id} has void games, so its best player is unknown; see `arena \
                 standings {id}`"
            )));
        }
        let faults: u64 = agents.iter().map(|agent| agent.faults).sum();
        if faults > 0 {
            note(format!(
                "{faults} faults in tournament {id} cost games: another run may have another \
                 result"
            ));
        }
        let points = |player| {
            let name = player_name(player)?;
            let agent = agents.iter().find(|it| it.agent == name.as_str());
            let absent = || Failure::failed(format!("tournament {id} has no result of {name}"));
            let agent = agent.ok_or_else(absent)?;
            Ok(self.evolution.points(agent.wins, agent.draws, agent.losses))
        };
        (0..generation.players.len()).map(points).collect()
    }
}
