//! Standings for requests and for watchers.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use arena_tournament::{
    Compared, Comparison, Evidence, Wanted,
    places::By,
    ratings::{ELO, PRIOR},
};
use arena_wire::v1;

use crate::{
    core::{ComparedStandings, Core},
    error::Error,
    handle::Handle,
    info::Info,
    loading::reload,
    places,
    principal::Principal,
    rpc::{comparisons::Of, estimates::flat},
    season,
};

/// Maximum number of agents with which pairs are reported without being requested.
const AGENTS_PAIRED: usize = 32;
/// Maximum number of agents with which the pairs fit a message.
const AGENTS_PAIRED_MAX: usize = 200;

/// The standings with all comparisons between agents.
pub(crate) async fn get(
    handle: &Handle,
    request: v1::GetStandingsRequest,
    by: &Principal,
) -> Result<v1::Standings, Error> {
    let newest = handle.info(&request.tournament_id).await?;
    let is_newest = request.generation == 0 || request.generation == newest.generation;
    let ComparedStandings {
        mut standings,
        evidence,
        changes,
    } = match is_newest {
        true => loaded(handle, &request.tournament_id, Core::compared_standings).await?,
        false => earlier(handle, &newest, &request).await?,
    };
    let agents = standings.agents.len();
    if request.pairs && agents > AGENTS_PAIRED_MAX {
        return Err(Error::Request(format!(
            "{agents} agents have too many pairs to show; the limit is {AGENTS_PAIRED_MAX} \
             agents: omit --pairs and --crosstable"
        )));
    }
    let anchor = match request.anchor.as_str() {
        "" => None,
        name => Some(evidence.agent(name).ok_or_else(|| {
            Error::Request(format!(
                "the anchor {name:?} is not an agent of tournament {}",
                request.tournament_id
            ))
        })?),
    };
    let wanted = Wanted {
        pairs: request.pairs || agents <= AGENTS_PAIRED,
        anchor,
    };
    // With many agents this takes a while, and other requests must not wait for it.
    let of = Of {
        tournament: newest.id.to_string(),
        generation: match is_newest {
            true => newest.generation,
            false => request.generation,
        },
        changes,
        pairs: wanted.pairs,
        anchor,
    };
    let comparisons = Arc::clone(&handle.comparisons);
    let (compared, evidence) = handle
        .compute(by, move |_| {
            let compared = comparisons.get(of, agents, || evidence.compare(wanted));
            Ok((compared, evidence))
        })
        .await?;
    let unrated = unrated(&evidence, &compared);
    let linked = compared.ratings.as_ref().is_none_or(|it| it.sets() <= 1);
    add(&mut standings, &evidence, &compared);
    if standings.opponents_differ
        && standings.ratings.is_some()
        && places::verdict(&standings).is_none()
    {
        let by_return = standings.agents.iter().any(|it| it.return_mean.is_some());
        if !by_return {
            places::arrange(&mut standings, By::Rating, None);
        }
        // Ratings are of ranks.
        if by_return || !linked {
            places::clear_places(&mut standings);
        }
    }
    // After places are decided, which do not depend on the anchor.
    let unknown = |standing: &&mut v1::AgentStanding| unrated.contains(&standing.agent);
    let unknown = standings.agents.iter_mut().filter(unknown);
    unknown.for_each(places::unrate);
    rate(&mut standings);
    season::arrange(&mut standings);
    places::unrank(&mut standings);
    Ok(standings)
}

/// Updates the places of a verdict with ratings, and sorts the standings by them.
fn rate(standings: &mut v1::Standings) {
    let Some(mut verdict) = places::verdict(standings).filter(|_| standings.ratings.is_some())
    else {
        return;
    };
    let before = verdict.clone();
    let agents = standings.agents.iter();
    let ratings: HashMap<&str, Option<f64>> = agents.map(|it| (&*it.agent, it.rating)).collect();
    verdict.rate(|agent| *ratings.get(agent)?);
    if verdict != before {
        places::arrange(standings, By::Verdict, Some(&verdict));
        standings.verdict_json = verdict.to_json();
    }
}

/// Agents without any information on their rating.
fn unrated(evidence: &Evidence, compared: &Comparison) -> HashSet<String> {
    let agents = compared.ratings.iter().flat_map(|ratings| {
        let agents = 0..ratings.agents.len();
        agents.filter(|&agent| ratings.known(agent).is_none())
    });
    agents
        .map(|agent| evidence.name(agent).to_owned())
        .collect()
}

/// Adds comparisons to standings.
fn add(standings: &mut v1::Standings, evidence: &Evidence, compared: &Comparison) {
    let places = evidence.agents();
    for standing in &mut standings.agents {
        let Some(&agent) = places.get(&*standing.agent) else {
            continue;
        };
        if let Some(ratings) = &compared.ratings {
            let rating = flat(Some(ratings.agents[agent]));
            standing.rating = rating.value;
            standing.rating_low = rating.low;
            standing.rating_high = rating.high;
            standing.rating_anytime_low = rating.anytime_low;
            standing.rating_anytime_high = rating.anytime_high;
        }
        standing.nash = compared.nash.as_ref().map(|nash| nash[agent]);
    }
    standings.ratings = compared.ratings.as_ref().map(|ratings| v1::Ratings {
        model: ratings.model.name().to_owned(),
        anchor: ratings
            .anchor
            .map_or_else(String::new, |agent| evidence.name(agent).to_owned()),
        prior_elo: PRIOR * ELO,
        ties: ratings.ties.to_vec(),
        components: ratings.sets() as u32,
        fit: ratings.goodness.as_ref().map(|of| v1::RatingFit {
            pairs: of.pairs,
            statistic: of.statistic,
            df: of.df,
            df_residual: of.df_residual,
            p: of.p,
            worst: of
                .worst
                .iter()
                .map(|&agent| evidence.name(agent).to_owned())
                .collect(),
        }),
    });
    standings.adaptive = evidence.adaptive;
    standings.pairs = compared.pairs.iter().cloned().map(pair).collect();
    standings.notes.extend_from_slice(&compared.notes);
}

fn pair(compared: Compared) -> v1::PairStanding {
    let Compared { pair, rating } = compared;
    let rating_difference = flat(rating.map(|rating| rating.rating));
    let elo = flat(rating.map(|rating| rating.elo));
    let score = flat(pair.score);
    let difference = flat(pair.difference);
    let score_adjusted = flat(pair.score_adjusted);
    let difference_adjusted = flat(pair.difference_adjusted);
    v1::PairStanding {
        agent: pair.agent,
        opponent: pair.opponent,
        games: pair.games,
        wins: pair.wins,
        draws: pair.draws,
        losses: pair.losses,
        blocks: pair.blocks,
        blocks_played: pair.blocks_played,
        distinct_games: pair.distinct_games,
        distinct_games_more: pair.distinct_games_more,
        score: score.value,
        score_low: score.low,
        score_high: score.high,
        score_anytime_low: score.anytime_low,
        score_anytime_high: score.anytime_high,
        difference: difference.value,
        difference_low: difference.low,
        difference_high: difference.high,
        difference_anytime_low: difference.anytime_low,
        difference_anytime_high: difference.anytime_high,
        rating_difference: rating_difference.value,
        rating_difference_low: rating_difference.low,
        rating_difference_high: rating_difference.high,
        superiority: pair.superiority,
        rating_superiority: rating.and_then(|rating| rating.superiority),
        score_adjusted: score_adjusted.value,
        score_adjusted_low: score_adjusted.low,
        score_adjusted_high: score_adjusted.high,
        difference_adjusted: difference_adjusted.value,
        difference_adjusted_low: difference_adjusted.low,
        difference_adjusted_high: difference_adjusted.high,
        score_adjusted_anytime_low: score_adjusted.anytime_low,
        score_adjusted_anytime_high: score_adjusted.anytime_high,
        score_adjusted_is_raw: pair.score_adjusted_is_raw,
        difference_adjusted_is_raw: pair.difference_adjusted_is_raw,
        score_df: pair.score_df,
        score_tuning_horizon: pair.score_tuning_horizon,
        elo_difference: elo.value,
        elo_difference_low: elo.low,
        elo_difference_high: elo.high,
        elo_difference_anytime_low: elo.anytime_low,
        elo_difference_anytime_high: elo.anytime_high,
        rating_df: rating.map_or(0, |rating| rating.df),
        rating_blocks: rating.map_or(0.0, |rating| rating.blocks),
        rating_tuning_horizon: rating.map_or(0.0, |rating| rating.tuning_horizon),
        rating_is_open: rating.is_some_and(|rating| rating.is_open),
    }
}

/// The state of results that do not change any more.
const NO_MORE: u64 = u64::MAX;

/// Asks for something of a tournament's results, which are loaded first if needed.
pub(super) async fn loaded<T: Send + 'static>(
    handle: &Handle,
    id: &str,
    read: impl Fn(&mut Core, &str) -> Result<Option<T>, Error> + Copy + Send + 'static,
) -> Result<T, Error> {
    loop {
        let asked = id.to_owned();
        if let Some(found) = handle.ask(move |core| read(core, &asked)).await? {
            return Ok(found);
        }
        let info = handle.info(id).await?;
        let of = Arc::clone(&info);
        let (results, _) = handle.with_store(move |store| reload(&of, store)).await?;
        let keep = move |core: &mut Core| {
            core.loaded(&info, results);
            Ok(())
        };
        handle.ask(keep).await?;
    }
}

/// The standings of an earlier generation, with the evidence that compares agents.
async fn earlier(
    handle: &Handle,
    newest: &Arc<Info>,
    request: &v1::GetStandingsRequest,
) -> Result<ComparedStandings, Error> {
    let info = newest.generation(request.generation)?;
    let key = (newest.id.to_string(), info.generation);
    let mut kept = handle.comparisons.earlier.lock().await;
    if let Some((standings, evidence)) = kept.find(&key) {
        return Ok(ComparedStandings {
            standings: v1::Standings {
                generations: newest.generation,
                ..standings
            },
            evidence,
            changes: NO_MORE,
        });
    }
    let generations = newest.generation;
    let id = request.tournament_id.clone();
    let document = handle.ask(move |core| core.tournament(&id)).await?;
    let mut all = document.earlier.iter();
    let of = all.find(|it| it.number == info.generation);
    let verdict = of.map_or_else(String::new, |it| it.verdict_json.clone());
    // What was replaced because its workers are not trusted.
    let audits = of.filter(|it| it.unsound > 0).map(|it| v1::Audits {
        due: it.unsound,
        differing: it.unsound,
        refuted: it.unsound,
        ..v1::Audits::default()
    });
    let found = handle
        .with_store(move |store| {
            let (results, _) = reload(&info, store)?;
            let state = match verdict.is_empty() {
                true => v1::TournamentState::Paused,
                false => v1::TournamentState::Finished,
            };
            let mut standings = results.standings(&info, state, |_| false);
            standings.verdict_json = verdict;
            standings.audits = audits;
            if let Some(verdict) = places::verdict(&standings) {
                places::arrange(&mut standings, By::Verdict, Some(&verdict));
            }
            places::unrank(&mut standings);
            standings.generation = info.generation;
            standings.generations = generations;
            Ok((standings, Arc::new(results.tally.evidence())))
        })
        .await?;
    kept.keep(key, found.clone());
    let (standings, evidence) = found;
    Ok(ComparedStandings {
        standings,
        evidence,
        changes: NO_MORE,
    })
}
