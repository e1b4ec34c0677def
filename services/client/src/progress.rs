//! Follows a tournament to its end.

mod view;

use arena_report::state;
use arena_report::{estimates, units};
use std::{
    error::Error,
    time::{Duration, Instant},
};

use arena_wire::v1::{self, TournamentState};
use indicatif::{ProgressBar, ProgressStyle};
use tonic::{Code, Status};

use crate::{
    access::Client,
    failure::{Failure, Outcome},
    output::{drawable, interactive, note},
};

use view::ProgressView;

/// Maximum time without progress for which audits of claims are awaited.
const AUDITS_MAX: Duration = Duration::from_secs(60);
/// How the note begins by which the coordinator says why no connected worker can play.
const WAITS: &str = "its games wait";
/// Interval between lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A line that updates in place, or plain lines if stderr is not a terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Replaces the bar if the command shows nothing else.
    view: Option<ProgressView>,
    last_line: Option<Instant>,
    started: Instant,
    /// Why the games wait, as last shown.
    waits: Option<String>,
    /// True if it is only a part of the work, which is reported elsewhere.
    part: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            bar: interactive().then(|| bar("{pos}/{len} games {wide_bar} {msg}")),
            view: None,
            last_line: None,
            started: Instant::now(),
            waits: None,
            part: false,
        }
    }
}

impl Progress {
    /// The progress of a watched tournament: the full view, drawn in place.
    pub fn watched() -> Self {
        Self {
            bar: None,
            view: drawable().then(ProgressView::new),
            ..Self::default()
        }
    }

    /// The progress of one of many tournaments. If stderr is not a terminal, it prints
    /// nothing.
    pub fn of_part(name: String) -> Self {
        let style = "{prefix} {pos}/{len} games {wide_bar} {msg}";
        Self {
            bar: interactive().then(|| bar(style).with_prefix(name)),
            part: true,
            ..Self::default()
        }
    }

    fn update(&mut self, event: &v1::WatchTournamentResponse) {
        if let Some(view) = &mut self.view {
            view.draw(event);
            return;
        }
        self.show_wait(event);
        let mut rest = pace(event);
        if let Some(standings) = &event.standings {
            let course = standings.course.iter();
            rest.extend({ course.map(|it| it.text.clone()) }.filter(|text| !text.is_empty()));
            let first = standings.agents.first();
            let leader = first.filter(|it| it.score.is_some() && it.place.is_some());
            rest.extend(leader.map(|agent| {
                // A watcher looks repeatedly, so the intervals are anytime-valid.
                let score = units::share(estimates::score(agent), true);
                format!("{} leads with {score}", agent.agent)
            }));
        }
        let rest = rest.join(", ");
        if let Some(bar) = &self.bar {
            bar.set_length(event.games_total);
            bar.set_position(event.games_done);
            bar.set_message(rest);
            return;
        }
        let since = self.last_line.map(|last| last.elapsed());
        if !self.part && since.is_none_or(|since| since >= LINE_EVERY) {
            self.last_line = Some(Instant::now());
            note(format!("{}, {rest}", games(event)));
        }
    }

    /// Notes why games wait, when that has changed.
    fn show_wait(&mut self, event: &v1::WatchTournamentResponse) {
        let mut notes = event.standings.iter().flat_map(|it| &it.notes);
        let waits = notes.find(|note| note.starts_with(WAITS)).cloned();
        if waits != self.waits {
            self.waits = waits;
            if let Some(waits) = &self.waits {
                match &self.bar {
                    Some(bar) => bar.suspend(|| note(waits)),
                    None => note(waits),
                }
            }
        }
    }

    fn finish(&self, event: &v1::WatchTournamentResponse) {
        self.clear();
        if self.part {
            return;
        }
        let (state, games) = (state::state_name(event.state()), games(event));
        let took = units::duration(self.started.elapsed().as_secs_f64());
        note(format!("{state}: {games} in {took}"));
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The number of finished games, out of all.
fn games(event: &v1::WatchTournamentResponse) -> String {
    let [done, total] = [event.games_done, event.games_total].map(units::count);
    format!("{done}/{total} games")
}

/// The rate of a tournament in games and in decisions, the time left, its workers and faults.
fn pace(event: &v1::WatchTournamentResponse) -> Vec<String> {
    let rate = event.games_per_second;
    let digits = usize::from(rate > 0.0 && rate < 10.0);
    let decisions = units::count(event.decisions_per_second.round() as u64);
    let mut pace = vec![format!("{rate:.digits$} games/s, {decisions} decisions/s")];
    let left = event.games_total.saturating_sub(event.games_done);
    if rate > 0.0 && left > 0 {
        pace.push(format!("{} left", units::duration(left as f64 / rate)));
    }
    pace.push(units::plural(event.workers.into(), "worker"));
    pace.push(units::plural(event.faults, "fault"));
    pace
}

/// A progress bar with a spinner.
pub fn bar(style: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(&format!("{{spinner}} {style}"));
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

/// Fails unless the followed tournament is finished.
pub fn check_finished(last: &v1::WatchTournamentResponse) -> Outcome {
    let id = &last.tournament_id;
    match (last.state(), &last.pause) {
        (TournamentState::Finished, _) => Ok(()),
        (_, Some(pause)) => Err(paused(id, pause)),
        (state, None) => {
            let state = state::state_name(state);
            Err(Failure::failed(format!("tournament {id} is {state}")))
        }
    }
}

/// The failure if the tournament paused itself.
pub fn paused(id: &str, pause: &v1::Pause) -> Failure {
    let pause = state::format_pause(pause);
    Failure::failed(format!("tournament {id} is paused: {pause}"))
}

/// Watches a tournament until it is no longer running; survives restarts of the
/// coordinator.
pub async fn follow(
    client: &mut Client,
    id: &str,
    progress: &mut Progress,
    connect_timeout: Duration,
) -> Outcome<v1::WatchTournamentResponse> {
    let mut lost_since: Option<Instant> = None;
    loop {
        match watch_once(client, id, progress, &mut lost_since).await {
            Ok(Some(last)) => {
                if last.state() == TournamentState::Finished {
                    await_audits(client, id).await;
                }
                return Ok(last);
            }
            Ok(None) => {}
            Err(status) if lost(&status) => {}
            Err(status) => return Err(status.into()),
        }
        let since = *lost_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= connect_timeout {
            return Err(Failure::unreachable(format!(
                "no answer from the coordinator for {}; the tournament continues when it answers \
                 again",
                units::duration(connect_timeout.as_secs_f64())
            )));
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// Waits until workers of other owners have replayed the games that are drawn for audits, and those with faults
/// that one owner alone reported, while there is progress. What is left then makes the standings not final.
async fn await_audits(client: &mut Client, id: &str) {
    let mut least = u64::MAX;
    let mut since = Instant::now();
    while since.elapsed() < AUDITS_MAX {
        let request = v1::GetTournamentRequest {
            tournament_id: id.to_owned(),
        };
        // What cannot be asked is not final either.
        let Ok(found) = client.get_tournament(request).await else {
            return;
        };
        let audits = found.into_inner().tournament.and_then(|it| it.audits);
        match audits.map_or(0, |audits| audits.claims + audits.pending) {
            0 => return,
            open if open < least => (least, since) = (open, Instant::now()),
            _ => {}
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// True if the connection broke, whatever the status code.
fn lost(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::Cancelled | Code::Aborted
    ) || status.source().is_some()
}

/// One watch; `None` if its stream ended before the tournament did.
async fn watch_once(
    client: &mut Client,
    id: &str,
    progress: &mut Progress,
    lost_since: &mut Option<Instant>,
) -> Result<Option<v1::WatchTournamentResponse>, tonic::Status> {
    let request = v1::WatchTournamentRequest {
        tournament_id: id.to_owned(),
    };
    let mut events = client.watch_tournament(request).await?.into_inner();
    while let Some(event) = events.message().await? {
        *lost_since = None;
        progress.update(&event);
        // A tournament that paused itself waits for a user.
        let ends = [TournamentState::Finished, TournamentState::Cancelled];
        if event.pause.is_some() || ends.contains(&event.state()) {
            progress.finish(&event);
            return Ok(Some(event));
        }
    }
    Ok(None)
}
