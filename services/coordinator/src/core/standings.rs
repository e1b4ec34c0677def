//! Standings of tournaments.

use std::{cmp::Reverse, collections::VecDeque, sync::Arc, time::Duration};

use arena_tournament::{Deviation, Evidence, places::By};
use arena_wire::v1;
use tokio::sync::watch;

use super::{
    Core,
    entry::{TournamentEntry, is_over},
    kept::Kept,
};
use crate::{
    error::Error,
    info::Info,
    messages::{ListedTournament, Version},
    places,
    results::Results,
    season,
};

/// Time over which the speed is averaged.
const PACE_WINDOW: Duration = Duration::from_secs(5);
/// Minimum interval between two measurements of the pace.
const PACE_STEP: Duration = Duration::from_millis(200);

/// Maximum age of standings for watchers, which bounds the work for any number of watchers.
const SHOWN_AGE_MAX: Duration = Duration::from_millis(200);

/// Standings that take longer are kept, and computed again only after [`SHARE`] times as long:
/// so they take a small share of the state's task, for any number of groups and requests.
const COSTLY: Duration = Duration::from_millis(20);
const SHARE: u32 = 10;

/// Standings with the evidence that compares agents, and the state of the results that they show.
pub(crate) struct ComparedStandings {
    pub(crate) standings: v1::Standings,
    pub(crate) evidence: Arc<Evidence>,
    pub(crate) changes: u64,
}

impl Kept {
    fn holds(&self, entry: &TournamentEntry, now: Duration) -> bool {
        let state = entry.document.state();
        let recent = !is_over(state) && now < self.at + self.took * SHARE;
        self.state == state && (recent || self.changes == entry.version.borrow().changes)
    }
}

/// Maximum number of deviating workers that standings name.
const DEVIATIONS_NAMED: usize = 5;

/// Maximum number of open tournaments in metrics, newest first.
const LISTED_OPEN: usize = 100;
/// Maximum number of ended tournaments in metrics, newest first.
const LISTED_OVER: usize = 20;

impl Core {
    /// The tournaments that metrics show: open ones, and those that ended last.
    pub(crate) fn listed(&self) -> Vec<ListedTournament> {
        let listed = |entry: &TournamentEntry| {
            let number = entry.number.filter(|_| !is_over(entry.document.state()));
            let progress = number.and_then(|number| self.ledger.progress(number));
            let done = self.games_done(entry);
            ListedTournament {
                info: Arc::clone(&entry.info),
                state: entry.document.state(),
                changes: entry.version.borrow().changes,
                created_unix_us: entry.document.created_unix_us,
                finished_unix_us: entry.document.finished_unix_us,
                games: progress.map_or([done, 0, 0], |it| [it.done, it.leased, it.waiting]),
            }
        };
        let (mut over, mut open): (Vec<&TournamentEntry>, Vec<&TournamentEntry>) = self
            .tournaments
            .values()
            .partition(|entry| is_over(entry.document.state()));
        open.sort_by_key(|entry| Reverse(entry.document.created_unix_us));
        over.sort_by_key(|entry| Reverse(entry.document.finished_unix_us));
        let open = open.into_iter().take(LISTED_OPEN);
        let over = over.into_iter().take(LISTED_OVER);
        open.chain(over).map(listed).collect()
    }

    /// Notifies of changes of a tournament.
    pub(crate) fn watch(&self, id: &str) -> Result<watch::Receiver<Version>, Error> {
        Ok(self.entry(id)?.version.subscribe())
    }

    /// Current standings, or those of a moment ago; none if its results have to be loaded first.
    pub(crate) fn shown(&mut self, id: &str) -> Result<Option<v1::WatchTournamentResponse>, Error> {
        let now = self.now();
        let entry = self.entry(id)?;
        if let Some((until, shown)) = &entry.shown
            && now < *until
            && shown.state == i32::from(entry.document.state())
        {
            return Ok(Some(shown.clone()));
        }
        let standing = self.standing(id)?;
        if let Some(shown) = &standing {
            let done = self.now();
            let until = done + SHOWN_AGE_MAX.max((done - now) * SHARE);
            self.entry_mut(id)?.shown = Some((until, shown.clone()));
        }
        Ok(standing)
    }

    /// Current standings with the evidence that compares agents; none if its results have to be
    /// loaded first.
    pub(crate) fn compared_standings(
        &mut self,
        id: &str,
    ) -> Result<Option<ComparedStandings>, Error> {
        let at = self.now();
        let entry = self.entry(id)?;
        if let Some(kept) = entry.costly.as_ref().filter(|kept| kept.holds(entry, at)) {
            return Ok(Some(ComparedStandings {
                standings: kept.standings.clone(),
                evidence: Arc::clone(&kept.evidence),
                changes: kept.changes,
            }));
        }
        let standings = self.standing(id)?.and_then(|message| message.standings);
        let results = self.entry(id)?.results.as_ref();
        let evidence = results.map(|results| Arc::new(results.tally.evidence()));
        let Some((standings, evidence)) = standings.zip(evidence) else {
            return Ok(None);
        };
        let took = self.now().saturating_sub(at);
        let entry = self.entry_mut(id)?;
        let changes = entry.version.borrow().changes;
        entry.costly = (took > COSTLY).then(|| Kept {
            at: at + took,
            took,
            changes,
            state: entry.document.state(),
            standings: standings.clone(),
            evidence: Arc::clone(&evidence),
        });
        Ok(Some(ComparedStandings {
            standings,
            evidence,
            changes,
        }))
    }

    fn standing(&mut self, id: &str) -> Result<Option<v1::WatchTournamentResponse>, Error> {
        let now = self.now();
        let workers = self.workers.len() as u32;
        let entry = self.entry(id)?;
        let done = self.games_done(entry);
        let Some(results) = &entry.results else {
            return Ok(None);
        };
        let state = entry.document.state();
        let flagged = |agent: usize| entry.audit_status.flagged.contains(&agent);
        let mut standings = results.standings(&entry.info, state, flagged);
        standings.audits = self.audits(entry);
        standings.notes.extend(self.dispute_notes(id));
        standings.notes.extend(self.waiting_note(entry));
        standings.notes.extend(self.unverified_note(entry));
        standings.notes.extend(Self::package_notes(entry));
        let deviations = results.deviations(&entry.info, &entry.second_plays);
        standings.workers_deviating = deviations.len() as u32;
        standings
            .notes
            .extend(deviation_notes(&entry.info, deviations));
        standings.games_total = entry.document.games_total;
        standings
            .verdict_json
            .clone_from(&entry.document.verdict_json);
        if let Some(verdict) = places::verdict(&standings) {
            places::arrange(&mut standings, By::Verdict, Some(&verdict));
        } else if standings.opponents_differ {
            // Ratings decide places; they are computed on request.
            places::clear_places(&mut standings);
        }
        season::arrange(&mut standings);
        places::unrank(&mut standings);
        standings.pause.clone_from(&entry.document.pause);
        standings.generation = entry.info.generation;
        standings.generations = entry.info.generation;
        let mut message = v1::WatchTournamentResponse {
            tournament_id: id.to_owned(),
            state: state.into(),
            games_total: entry.document.games_total,
            games_done: done,
            games_per_second: 0.0,
            workers,
            faults: results.counts.faults,
            standings: Some(standings),
            pause: entry.document.pause.clone(),
            decisions_per_second: 0.0,
        };
        let entry = self.entry_mut(id)?;
        let counts = [done, entry.decisions];
        let rates = pace(&mut entry.pace, now, counts);
        [message.games_per_second, message.decisions_per_second] = rates;
        Ok(Some(message))
    }

    /// Adds the results of a tournament that was over at the start.
    pub(crate) fn loaded(&mut self, info: &Arc<Info>, results: Results) {
        if let Some(entry) = self.tournaments.get_mut(&*info.id)
            && entry.results.is_none()
        {
            entry.results = Some(results);
        }
        if let Some(change) = self.last_checkpoint(&info.id) {
            self.keep(vec![change]);
        }
    }
}

/// Notes about workers whose games have other results than those of the others.
fn deviation_notes(info: &Info, mut deviations: Vec<Deviation>) -> Vec<String> {
    let more = deviations.len().saturating_sub(DEVIATIONS_NAMED);
    deviations.truncate(DEVIATIONS_NAMED);
    let note = |it: Deviation| {
        let agent = info.agents.get(usize::from(it.agent));
        let name = match &*it.worker {
            "" => "workers without a name",
            name => name,
        };
        format!(
            "worker {name}: {} scored {:.3} in its {} blocks, and all workers lead to expect {:.3} \
             (p = {:.0e}): its host differs, or it does not play as its agents would",
            agent.map_or("an agent", |it| it),
            it.score,
            it.blocks,
            it.expected,
            it.p
        )
    };
    let mut notes: Vec<String> = deviations.into_iter().map(note).collect();
    if more > 0 {
        notes.push(format!("{more} more such deviations of workers"));
    }
    notes
}

/// Games and decisions per second over the last seconds.
fn pace(points: &mut VecDeque<(Duration, [u64; 2])>, now: Duration, counts: [u64; 2]) -> [f64; 2] {
    if points
        .back()
        .is_none_or(|(last, _)| *last + PACE_STEP <= now)
    {
        points.push_back((now, counts));
    }
    while points.len() > 2 && points[0].0 + PACE_WINDOW < now {
        points.pop_front();
    }
    let Some(&(since, before)) = points.front() else {
        return [0.0; 2];
    };
    let seconds = now.saturating_sub(since).as_secs_f64();
    [0, 1].map(|place: usize| {
        let more = counts[place].saturating_sub(before[place]);
        if seconds > 0.0 {
            more as f64 / seconds
        } else {
            0.0
        }
    })
}
