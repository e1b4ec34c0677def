//! Games of chess in Portable Game Notation, for other chess programs.

use std::fmt::{Display, Write};

use arena_engine::{FaultKind, Game, Node, Termination, replay};
use arena_games::{Chess, Ruleset};
use arena_model::GameRecord;
use arena_wire::v1;

use crate::{
    error::{ReportError, Result},
    records::TournamentRecords,
};

/// Maximum length of a line of moves.
const WIDTH: usize = 79;

/// Reads the rules of a tournament that can be exported.
///
/// # Errors
/// [`ReportError::Usage`] for any other ruleset than chess.
pub fn rules(rules: &TournamentRecords) -> Result<Chess> {
    let header = &rules.header;
    if (header.ruleset.as_str(), header.rules_version) != (Chess::NAME, Chess::VERSION) {
        return Err(ReportError::usage(format!(
            "{} plays {}: PGN is a format for chess; use --format jsonl or csv",
            header.tournament_id, header.ruleset
        )));
    }
    Chess::with_options(&header.options, 2).map_err(|error| ReportError::failed(error.to_string()))
}

/// A game with its tags, and an empty line after it. If its times are known, moves have comments such as
/// `{+0.35/12 0.204s}`: score in pawns from the view of the side that moves, depth, and time.
///
/// # Errors
/// [`ReportError::Differs`] if the record cannot be replayed.
pub fn game(
    chess: &Chess,
    rules: &TournamentRecords,
    record: &GameRecord,
    timing: &v1::GameTiming,
) -> Result<String> {
    let header = &rules.header;
    let failed = |problem: &dyn Display| {
        ReportError::differs(format!(
            "game {}/{} cannot be replayed: {problem}",
            header.tournament_id, record.index
        ))
    };
    let own = record.start.as_ref().map(|start| chess.with_start(start));
    let own = own.transpose().map_err(|problem| failed(&problem))?;
    let chess = own.as_ref().map_or(chess, |(own, _)| own);
    let name = |seat: usize| {
        let agent = record.seats.get(seat).map(|&agent| usize::from(agent));
        let agent = agent.and_then(|agent| header.agents.get(agent));
        agent.map_or("?", String::as_str)
    };
    let mut start = chess.initial();
    if let (Node::Chance(_), Some(first)) = (chess.node(&start), record.events.first()) {
        chess.apply_outcome(&mut start, first.id());
    }
    let result = result(record);
    let mut out = String::with_capacity(2048);
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(out, "[{name} \"{value}\"]");
    };
    tag("Event", &header.tournament_id);
    tag("Site", "?");
    tag("Date", "????.??.??");
    tag("Round", &(record.block + 1).to_string());
    tag("White", name(0));
    tag("Black", name(1));
    tag("Result", result);
    if chess.is_chess960() {
        tag("Variant", "Chess960");
    }
    if let Some(fen) = chess.setup(&start) {
        tag("SetUp", "1");
        tag("FEN", &fen);
    }
    tag("PlyCount", &record.plies.to_string());
    tag("TimeControl", &time_control(&rules.play));
    tag("Termination", termination(record));
    tag(
        "GameId",
        &format!("{}/{}", header.tournament_id, record.index),
    );
    out.push('\n');

    let mut lines = Lines::new(&mut out);
    let (mut first, mut ply) = (true, 0);
    let mut decisions = 0..timing.latencies_us.len();
    let replayed = replay(chess, &record.events, |state, described| {
        if !described.event.is_action() {
            return;
        }
        let number = state.board.fullmove_number();
        match described.seat {
            Some(0) => lines.add(&format!("{number}.")),
            _ if first => lines.add(&format!("{number}...")),
            _ => {}
        }
        first = false;
        lines.add(described.name);
        // Other moves were played without asking.
        let mut legal = Vec::new();
        chess.legal(state, &mut legal);
        let is_asked = ply >= record.opening_plies && (legal.len() > 1 || rules.play.ask_forced);
        ply += 1;
        if let Some(decision) = is_asked.then(|| decisions.next()).flatten() {
            lines.add(&comment(timing, decision));
        }
    });
    replayed.map_err(|error| failed(&error))?;
    lines.add(result);
    out.push_str("\n\n");
    Ok(out)
}

/// The result for White and Black; `*` for a game that could not be played.
fn result(record: &GameRecord) -> &'static str {
    match record.placement[..] {
        [white, black] if white < black => "1-0",
        [white, black] if white > black => "0-1",
        [_, _] => "1/2-1/2",
        _ => "*",
    }
}

/// The word of the standard for how the game ended.
fn termination(record: &GameRecord) -> &'static str {
    let last = record.faults.last().map(|fault| fault.kind);
    match (record.termination, last) {
        (Termination::Void, _) => "unterminated",
        (Termination::Cap | Termination::Adjudication, _) => "adjudication",
        (Termination::Forfeit, Some(FaultKind::Timeout)) => "time forfeit",
        (Termination::Forfeit, Some(FaultKind::IllegalMove)) => "rules infraction",
        (Termination::Forfeit, _) => "abandoned",
        _ => "normal",
    }
}

/// What an agent reported at a decision, and its time.
fn comment(timing: &v1::GameTiming, decision: usize) -> String {
    let search = timing.searches.get(decision).copied().unwrap_or_default();
    let seconds = f64::from(timing.latencies_us[decision]) / 1e6;
    // Engines count in hundredths of a pawn.
    let score = search.score_thousandths.map(|score| score as f64 / 1e5);
    match score {
        Some(score) => format!("{{{score:+.2}/{} {seconds:.3}s}}", search.depth),
        None => format!("{{{seconds:.3}s}}"),
    }
}

/// The standard's words for a time control: moves, seconds and increment; `-` without one.
fn time_control(play: &v1::PlaySettings) -> String {
    let seconds = |us: u64| us as f64 / 1e6;
    match &play.clock {
        Some(clock) => {
            let moves = Some(clock.moves).filter(|&moves| moves > 0);
            let moves = moves.map_or_else(String::new, |moves| format!("{moves}/"));
            let increment = Some(clock.increment_us).filter(|&us| us > 0);
            let increment = increment.map_or_else(String::new, |us| format!("+{}", seconds(us)));
            format!("{moves}{}{increment}", seconds(clock.base_us))
        }
        // So many seconds for each move.
        None if play.move_time_us > 0 => format!("1/{}", seconds(play.move_time_us)),
        None => "-".to_owned(),
    }
}

/// Words in lines of limited length.
struct Lines<'a> {
    out: &'a mut String,
    length: usize,
}

impl<'a> Lines<'a> {
    fn new(out: &'a mut String) -> Self {
        Self { out, length: 0 }
    }

    fn add(&mut self, word: &str) {
        if self.length + 1 + word.len() > WIDTH {
            self.out.push('\n');
            self.length = 0;
        } else if self.length > 0 {
            self.out.push(' ');
            self.length += 1;
        }
        self.out.push_str(word);
        self.length += word.len();
    }
}
