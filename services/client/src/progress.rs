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

/// Interval between lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A line that updates in place, or plain lines if stderr is not a terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Replaces the bar if the command shows nothing else.
    view: Option<ProgressView>,
    last_line: Option<Instant>,
    started: Instant,
    /// True if it is only a part of the work, which is reported elsewhere.
    part: bool,
}

impl Default for Progress {
    fn default() -> Self {
        let bar = interactive().then(|| {
            let style = "{spinner} {pos}/{len} games {wide_bar} {msg}";
            ProgressBar::new(0).with_style(
                ProgressStyle::with_template(style)
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            )
        });
        Self {
            bar,
            view: None,
            last_line: None,
            started: Instant::now(),
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
        let mut progress = Self::default();
        progress.part = true;
        progress.bar = progress.bar.map(|bar| {
            let style = "{spinner} {prefix} {pos}/{len} games {wide_bar} {msg}";
            let style = ProgressStyle::with_template(style);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_prefix(name)
        });
        progress
    }

    fn update(&mut self, event: &v1::WatchTournamentResponse) {
        if let Some(view) = &mut self.view {
            view.draw(event);
            return;
        }
        let rate = event.games_per_second;
        let left = event.games_total.saturating_sub(event.games_done);
        let eta = if rate > 0.0 && left > 0 {
            format!(", {} left", units::duration(left as f64 / rate))
        } else {
            String::new()
        };
        let leader = event
            .standings
            .as_ref()
            .and_then(|standings| standings.agents.first())
            .filter(|agent| agent.score.is_some() && agent.place.is_some())
            .map_or_else(String::new, |agent| {
                // A watcher looks repeatedly, so the intervals are anytime-valid.
                let score = units::share(estimates::score(agent), true);
                format!(", {} leads with {score}", agent.agent)
            });
        let course = event
            .standings
            .as_ref()
            .and_then(|standings| standings.course.as_ref())
            .filter(|course| !course.text.is_empty())
            .map_or_else(String::new, |course| format!(", {}", course.text));
        let rest = format!(
            "{}{eta}, {}, {}{course}{leader}",
            pace(event),
            units::plural(event.workers.into(), "worker"),
            units::plural(event.faults, "fault")
        );
        if let Some(bar) = &self.bar {
            bar.set_length(event.games_total);
            bar.set_position(event.games_done);
            bar.set_message(rest);
            return;
        }
        let due = self
            .last_line
            .is_none_or(|last| last.elapsed() >= LINE_EVERY);
        if due && !self.part {
            self.last_line = Some(Instant::now());
            note(format!(
                "{}/{} games, {rest}",
                units::count(event.games_done),
                units::count(event.games_total)
            ));
        }
    }

    pub fn finish(&self, state: TournamentState, done: u64, total: u64) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.part {
            return;
        }
        note(format!(
            "{}: {}/{} games in {}",
            state::state_name(state),
            units::count(done),
            units::count(total),
            units::duration(self.started.elapsed().as_secs_f64())
        ));
    }

    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Formats the rate of a tournament, in games and in decisions.
pub fn pace(event: &v1::WatchTournamentResponse) -> String {
    let games = event.games_per_second;
    let digits = usize::from(games > 0.0 && games < 10.0);
    format!(
        "{games:.digits$} games/s, {} decisions/s",
        units::count(event.decisions_per_second.round() as u64)
    )
}

/// Fails unless the followed tournament is finished.
pub fn check_finished(last: &v1::WatchTournamentResponse) -> Outcome {
    let id = &last.tournament_id;
    match (last.state(), &last.pause) {
        (TournamentState::Finished, _) => Ok(()),
        (_, Some(pause)) => Err(paused(id, pause)),
        (state, None) => Err(Failure::failed(format!(
            "tournament {id} is {}",
            state::state_name(state)
        ))),
    }
}

/// The failure if the tournament paused itself.
pub fn paused(id: &str, pause: &v1::Pause) -> Failure {
    Failure::failed(format!(
        "tournament {id} is paused: {}",
        state::format_pause(pause)
    ))
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
            Ok(Some(last)) => return Ok(last),
            Ok(None) => {}
            Err(status) if lost(&status) => {}
            Err(status) => return Err(status.into()),
        }
        let since = *lost_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= connect_timeout {
            return Err(Failure::unreachable(format!(
                "the coordinator has not answered for {}; the tournament goes on when it does",
                units::duration(connect_timeout.as_secs_f64())
            )));
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
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
        let over = event.pause.is_some()
            || matches!(
                event.state(),
                TournamentState::Finished | TournamentState::Cancelled
            );
        if over {
            progress.finish(event.state(), event.games_done, event.games_total);
            return Ok(Some(event));
        }
    }
    Ok(None)
}
