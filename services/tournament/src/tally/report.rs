//! Standings of the games added so far.

use super::*;

impl Tally {
    /// The standings.
    #[must_use]
    pub fn standings(&self) -> Standings {
        let rotations = u64::from(self.schedule.rotations());
        let mut blocks = vec![AgentBlocks::default(); self.agents.len()];
        for (id, group) in &self.groups {
            let luck = self.luck.get(id);
            for (place, share) in group.shares(rotations).into_iter().enumerate() {
                let of_agent = &mut blocks[usize::from(share.agent)];
                of_agent.score.add(share.sums.units, share.most(rotations));
                of_agent.wins.add(share.sums.wins, share.seats * rotations);
                of_agent.adjusting.add(
                    (share.sums.units, share.most(rotations)),
                    luck.and_then(|luck| luck.agent(place)),
                    share.luck_games(self.seats.len(), rotations),
                );
            }
        }
        let held = self.held();
        let mut shapes = vec![0.0; self.agents.len()];
        for (id, group) in &self.groups {
            let Some(luck) = self.luck.get(id) else {
                continue;
            };
            for (place, share) in group.shares(rotations).into_iter().enumerate() {
                let agent = usize::from(share.agent);
                let scale = (
                    share.most(rotations),
                    share.luck_games(self.seats.len(), rotations),
                );
                let more = blocks[agent].adjusting.shape(place, luck, scale);
                shapes[agent] += more.unwrap_or(0.0);
            }
        }
        let agents = (0..self.agents.len())
            .map(|agent| self.standing(agent, &held[agent], &blocks[agent], shapes[agent]))
            .collect();
        let agents = places::arrange(agents, By::Score, rank_key, |standing, place| {
            standing.place = place;
        });
        let notes = self.notes(luck::note(&agents));
        Standings {
            games: self.games,
            games_total: self.schedule.games(),
            agents,
            notes,
            seats: self.seat_standings(),
            openings: self.openings.map(|openings| OpeningsStanding {
                plies: self.opening_plies,
                size: openings.size,
                complete: openings.complete,
            }),
            pairing: self.pairing(),
        }
    }

    fn seat_standings(&self) -> Vec<SeatStanding> {
        let most = self.units_most();
        let rotations = u64::from(self.schedule.rotations());
        let standing = |((seat, sums), (games, units)): ((usize, &SeatSums), (u64, u64))| {
            let games = sums.games - games;
            let score = mean(sums.units - units, games * most);
            let mut blocks = Blocks::default();
            blocks.add(sums.blocks, rotations * most);
            let tuning_horizon = self.tuning_horizons.of_seat(self.seats.len());
            SeatStanding {
                seat: seat as u32,
                games,
                score: score.map(|score| blocks.estimate(score, tuning_horizon)),
            }
        };
        let seats = self.seats.iter().enumerate();
        seats.zip(self.held_by_seat()).map(standing).collect()
    }

    /// Maximum units of one game.
    fn units_most(&self) -> u64 {
        2 * (self.seats.len() as u64 - 1)
    }

    fn standing(
        &self,
        agent: usize,
        held: &HeldSums,
        blocks: &AgentBlocks,
        shape: f64,
    ) -> AgentStanding {
        let sums = &self.agents[agent].without(held);
        let tuning_horizon = self.tuning_horizon(agent);
        let games = sums.wins + sums.draws + sums.losses;
        let score = mean(sums.score, sums.sat * PARTS)
            .map(|score| blocks.score.estimate(score, tuning_horizon));
        let win_rate = mean(sums.won, sums.sat * PARTS)
            .map(|rate| blocks.wins.estimate(rate, tuning_horizon).fixed_only());
        let adjusted = blocks.adjusting.adjusted(tuning_horizon);
        let has_luck = !self.luck.is_empty();
        let left = blocks.adjusting.left_share(shape);
        AgentStanding {
            agent: self.names[agent].clone(),
            place: None,
            games,
            wins: sums.wins,
            draws: sums.draws,
            losses: sums.losses,
            voids: sums.voids,
            faults: sums.faults.values().sum(),
            faults_by_kind: sums
                .faults
                .iter()
                .map(|(&kind, &count)| (kind.to_owned(), count))
                .collect(),
            score,
            points: sums.score as f64 / PARTS as f64,
            ranks: sums.ranks[..self.seats.len()].to_vec(),
            win_rate,
            plies_mean: mean(sums.plies, games),
            blocks: blocks.score.count(),
            games_repeated: held.games,
            score_df: blocks.score.spread().1,
            tuning_horizon,
            // If luck cannot be adjusted for, the raw score.
            score_adjusted: adjusted.or(score).filter(|_| has_luck),
            score_adjusted_is_raw: has_luck && adjusted.is_none() && score.is_some(),
            luck_mean: blocks.adjusting.luck_mean(),
            luck_share: left.map(|left| left.turned(1.0)),
            luck_games_saved: left
                .map(|left| GamesSaved::of(games, left))
                .unwrap_or_default(),
        }
    }
}

fn rank_key(standing: &AgentStanding) -> RankKey<'_> {
    RankKey {
        agent: &standing.agent,
        score: standing.score.map(|score| score.value),
        ..RankKey::default()
    }
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
