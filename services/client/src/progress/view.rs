//! A view of a tournament, redrawn in place on a terminal.
//!
//! The view changes no terminal setting that must be restored: after each drawing the
//! cursor is below it, at the start of a line.

use arena_report::{estimates, state, units};
use std::fmt::Write;

use arena_model::printable;
use arena_wire::v1;
use console::{Alignment, Term, measure_text_width, pad_str, truncate_str};

use crate::output::or_dash;

/// Number of lines besides the agents'.
const OTHER_LINES: usize = 8;
/// Minimum and maximum width of a progress bar.
const BAR: (usize, usize) = (8, 40);

/// The view and its last drawing.
pub(super) struct ProgressView {
    term: Term,
    drawn: Vec<String>,
}

impl ProgressView {
    pub(super) fn new() -> Self {
        Self {
            term: Term::stderr(),
            drawn: Vec::new(),
        }
    }

    /// Draws the tournament's state over the previous drawing.
    pub(super) fn draw(&mut self, event: &v1::WatchTournamentResponse) {
        let (height, width) = self.term.size();
        let (height, width) = (usize::from(height), usize::from(width).max(20));
        // The last column stays free, because some terminals wrap when it is written.
        let lines = frame(event, height, width - 1);
        let cut = |line: &String| {
            truncate_str(printable(line.trim_end()).as_ref(), width - 1, "…").into_owned()
        };
        let lines: Vec<String> = lines.iter().map(cut).collect();
        let mut out = String::new();
        // If the terminal became narrower, lines take more rows than before.
        let rows = |line: &String| measure_text_width(line).max(1).div_ceil(width);
        let rows: usize = self.drawn.iter().map(rows).sum();
        if rows > 0 {
            let _ = write!(out, "\x1b[{}F", rows.min(height.saturating_sub(1)));
        }
        out.push_str("\x1b[0J");
        out.extend(lines.iter().flat_map(|line| [line, "\r\n"]));
        // A closed terminal must not end the watched work.
        let _ = self.term.write_str(&out);
        self.drawn = lines;
    }
}

/// The lines of a drawing.
fn frame(event: &v1::WatchTournamentResponse, height: usize, width: usize) -> Vec<String> {
    let state = state::state_name(event.state());
    let mut lines = vec![
        format!("{}  {state}", event.tournament_id),
        progress(event, width),
        pace(event),
    ];
    if let Some(pause) = &event.pause {
        lines.extend(state::format_pause(pause).lines().map(str::to_owned));
    }
    let Some(standings) = &event.standings else {
        return lines;
    };
    lines.extend(course(standings));
    lines.push(String::new());
    let room = height.saturating_sub(OTHER_LINES).max(1);
    lines.extend(agents(standings, room));
    let mut notes = standings.notes.iter();
    let waits = notes.find(|note| note.starts_with(super::WAITS));
    let note = waits.or(standings.notes.first());
    lines.extend(note.map(|note| format!("note: {note}")));
    lines
}

fn progress(event: &v1::WatchTournamentResponse, width: usize) -> String {
    let share = event.games_done as f64 / event.games_total.max(1) as f64;
    let [done, total] = [event.games_done, event.games_total].map(units::count);
    // 100 % is shown only at the end.
    let text = format!(" {done} of {total} games, {:.0}%", (share * 100.0).floor());
    let room = width.saturating_sub(text.chars().count() + 2);
    let length = room.clamp(BAR.0, BAR.1);
    let full = ((share * length as f64) as usize).min(length);
    format!("[{}{}]{text}", "#".repeat(full), "-".repeat(length - full))
}

fn pace(event: &v1::WatchTournamentResponse) -> String {
    let mut pace = super::pace(event);
    if event.workers == 0 && event.games_done < event.games_total {
        pace.push("start `arena worker` to play".to_owned());
    }
    pace.join(", ")
}

/// The format's progress, if it has more than games.
fn course(standings: &v1::Standings) -> Option<String> {
    let course = standings.course.as_ref()?;
    if let (Some(llr), Some(low), Some(high)) = (course.llr, course.llr_low, course.llr_high) {
        return Some(format!(
            "check {}: LLR {llr:+.2} of [{low:+.2}, {high:+.2}]",
            // The current round ends with the next one.
            course.round.saturating_sub(1)
        ));
    }
    Some(course.text.clone()).filter(|text| !text.is_empty())
}

/// A table of as many agents as there is room for.
fn agents(standings: &v1::Standings, room: usize) -> Vec<String> {
    let rated = standings.ratings.is_some();
    // A watcher looks repeatedly, so the intervals are anytime-valid.
    let cells = |agent: &v1::AgentStanding| {
        let mut cells = vec![
            or_dash(agent.place),
            agent.agent.clone(),
            units::share(estimates::score(agent), true),
        ];
        if rated {
            cells.push(rating(agent));
        }
        cells.extend([units::count(agent.games), units::count(agent.faults)]);
        cells
    };
    let mut header = vec!["#", "agent", "score [95%, any time]"];
    if rated {
        header.push("rating [95%, any time]");
    }
    header.extend(["games", "faults"]);
    let mut table = vec![header.into_iter().map(str::to_owned).collect()];
    table.extend(standings.agents.iter().take(room).map(cells));
    let mut lines = aligned(&table);
    if standings.agents.len() > room {
        lines.push(format!("… and {} more", standings.agents.len() - room));
    }
    lines
}

fn rating(agent: &v1::AgentStanding) -> String {
    let rating = estimates::rating(agent);
    match (agent.rating, rating.and_then(|rating| rating.anytime)) {
        (Some(rating), Some(ends)) => {
            let [rating, low, high] = [rating, ends.low, ends.high].map(units::whole);
            format!("{rating:+} [{low:+}, {high:+}]")
        }
        (Some(rating), None) => format!("{:+}", units::whole(rating)),
        _ => "–".to_owned(),
    }
}

/// Aligns columns to their widest cell, names to the left, numbers to the right.
fn aligned(table: &[Vec<String>]) -> Vec<String> {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row: &Vec<String>| row.get(column));
        cells.map(|cell| measure_text_width(cell)).max()
    };
    let widths: Vec<usize> = (0..columns).filter_map(width).collect();
    let line = |row: &Vec<String>| {
        let padded = |(column, cell): (usize, &String)| {
            let side = match column {
                1 => Alignment::Left,
                _ => Alignment::Right,
            };
            pad_str(cell, widths[column], side, None).into_owned() + "  "
        };
        row.iter().enumerate().map(padded).collect()
    };
    table.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(agents: usize, done: u64) -> v1::WatchTournamentResponse {
        let agent = |number: usize| v1::AgentStanding {
            agent: format!("agent-{number}"),
            games: done,
            score: Some(0.5),
            score_low: Some(0.4),
            score_high: Some(0.6),
            score_anytime_low: Some(0.25),
            score_anytime_high: Some(0.75),
            ..v1::AgentStanding::default()
        };
        v1::WatchTournamentResponse {
            tournament_id: "cup-0123456789".to_owned(),
            state: v1::TournamentState::Running.into(),
            games_total: 1000,
            games_done: done,
            games_per_second: 50.0,
            decisions_per_second: 1234.4,
            workers: 2,
            standings: Some(v1::Standings {
                agents: (0..agents).map(agent).collect(),
                ..v1::Standings::default()
            }),
            ..v1::WatchTournamentResponse::default()
        }
    }

    #[test]
    fn view_shows_progress_pace_standings() {
        let text = frame(&event(2, 500), 24, 79).join("\n");
        for part in [
            "cup-0123456789  running",
            "500 of 1,000 games, 50%",
            "50 games/s, 1,234 decisions/s, 10s left, 2 workers, 0 faults",
            "50.0% [25.0, 75.0]",
            "agent-1",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn view_of_sprt_shows_llr_once() {
        let mut event = event(3, 500);
        if let Some(standings) = &mut event.standings {
            standings.course = Some(v1::Course {
                round: 4,
                llr: Some(1.5),
                llr_low: Some(-2.94),
                llr_high: Some(2.94),
                text: "LLR 1.50 of -2.94 to 2.94".to_owned(),
                ..v1::Course::default()
            });
            for (agent, place) in standings.agents.iter_mut().zip([1, 1, 3]) {
                agent.place = Some(place);
            }
        }
        let lines = frame(&event, 24, 79);
        assert_eq!(lines.join("\n").matches("LLR").count(), 1, "{lines:?}");
        assert!(
            lines[3].starts_with("check 3: LLR +1.50 of [-2.94"),
            "{lines:?}"
        );
        let places = lines.iter().filter(|line| line.contains("agent-"));
        let places = places.filter_map(|line| line.split_whitespace().next());
        assert_eq!(places.collect::<Vec<_>>(), ["1", "1", "3"]);
    }

    #[test]
    fn view_fits_small_terminals() {
        for height in [1, 5, 10, 24] {
            let lines = frame(&event(40, 999), height, 30);
            assert!(lines.len() <= height.max(OTHER_LINES + 1), "{height}");
            assert!(lines[1].chars().count() <= 40, "{}", lines[1]);
            assert!(lines.iter().any(|line| line.contains(" more")));
            assert!(lines[1].contains("99%"), "{}", lines[1]);
        }
    }

    #[test]
    fn view_without_workers_says_what_to_do() {
        let mut event = event(2, 0);
        event.workers = 0;
        assert!(frame(&event, 24, 79)[2].contains("arena worker"));
    }
}
