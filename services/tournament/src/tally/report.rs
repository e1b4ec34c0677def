//! Standings of the games added so far.

use super::*;

impl Tally {
    /// The standings. The state is `finished` if every game has a result, otherwise
    /// `running`; the attempt is the first. The caller sets another id and state,
    /// latencies, non-determinism and the last fault, which results do not contain.
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
        let blocks: Vec<(AgentBlocks, f64)> = blocks.into_iter().zip(shapes).collect();
        let agents: Vec<AgentStanding> = self
            .names
            .iter()
            .zip(self.agents.iter().zip(&self.tuning_horizons.agents))
            .zip(blocks.iter().zip(&held))
            .map(
                |((name, (sums, &tuning_horizon)), ((blocks, shape), held))| {
                    let mut standing =
                        self.standing(name, &sums.without(held), (blocks, *shape), tuning_horizon);
                    standing.games_repeated = held.games;
                    standing
                },
            )
            .collect();
        let agents = places::arrange(agents, By::Score, rank_key, |standing, place| {
            standing.place = place;
        });
        let total = self.schedule.games();
        let notes = self.notes(luck::note(&agents));
        Standings {
            tournament_id: self.tournament_id.clone(),
            state: if self.games == total {
                TournamentState::Finished
            } else {
                TournamentState::Running
            },
            games: self.games,
            games_total: total,
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
            let (score_low, score_high) = stretched(blocks.fixed(), score);
            let anytime = blocks.anytime(self.tuning_horizons.of_seat(self.seats.len()));
            let (score_anytime_low, score_anytime_high) = stretched(anytime, score);
            SeatStanding {
                seat: seat as u32,
                games,
                score,
                score_low,
                score_high,
                score_anytime_low,
                score_anytime_high,
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
        name: &str,
        sums: &Sums,
        (blocks, shape): (&AgentBlocks, f64),
        tuning_horizon: f64,
    ) -> AgentStanding {
        let games = sums.wins + sums.draws + sums.losses;
        let score = mean(sums.score, sums.sat * PARTS);
        let win_rate = mean(sums.won, sums.sat * PARTS);
        let (score_low, score_high) = stretched(blocks.score.fixed(), score);
        let (score_anytime_low, score_anytime_high) =
            stretched(blocks.score.anytime(tuning_horizon), score);
        let (win_rate_low, win_rate_high) = stretched(blocks.wins.fixed(), win_rate);
        let adjusted = blocks.adjusting.adjusted(tuning_horizon);
        let has_luck = !self.luck.is_empty();
        // If luck cannot be adjusted for, the raw score.
        let shown = adjusted.map_or(
            (
                score,
                score_low,
                score_high,
                score_anytime_low,
                score_anytime_high,
            ),
            |of| {
                let [low, high] = [of.fixed, of.anytime].map(|ends| (Some(ends.0), Some(ends.1)));
                (Some(of.score), low.0, low.1, high.0, high.1)
            },
        );
        let shown = if has_luck { shown } else { Default::default() };
        let explained = blocks.adjusting.explained(shape);
        let share = explained.map_or([None; 3], |of| of.share().map(Some));
        let saved = explained.map_or([None; 3], |of| of.games_saved(games));
        AgentStanding {
            agent: name.to_owned(),
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
            score_low,
            score_high,
            points: sums.score as f64 / PARTS as f64,
            score_anytime_low,
            score_anytime_high,
            ranks: sums.ranks[..self.seats.len()].to_vec(),
            win_rate,
            win_rate_low,
            win_rate_high,
            plies_mean: mean(sums.plies, games),
            blocks: blocks.score.count(),
            games_repeated: 0,
            score_df: blocks.score.spread().1,
            tuning_horizon,
            latency_us_p50: None,
            latency_us_p99: None,
            non_deterministic: false,
            last_fault: None,
            score_adjusted: shown.0,
            score_adjusted_low: shown.1,
            score_adjusted_high: shown.2,
            score_adjusted_anytime_low: shown.3,
            score_adjusted_anytime_high: shown.4,
            score_adjusted_is_raw: has_luck && adjusted.is_none() && score.is_some(),
            luck_mean: blocks.adjusting.luck_mean(),
            luck_share: share[0],
            luck_share_low: share[1],
            luck_share_high: share[2],
            luck_games_saved: saved[0],
            luck_games_saved_low: saved[1],
            luck_games_saved_high: saved[2],
        }
    }
}

fn rank_key(standing: &AgentStanding) -> RankKey<'_> {
    RankKey {
        agent: &standing.agent,
        score: standing.score,
        ..RankKey::default()
    }
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
