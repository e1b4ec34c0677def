//! Remarks below standings.

use arena_wire::v1;
use itertools::Itertools;

use crate::{
    standings::{audits::format_audits, verdict},
    state,
};

/// What the reader of the remarks knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemarkOptions {
    /// True if a single worker played all games and no other one will join.
    pub alone: bool,
    /// True if the caller prints why the tournament is paused.
    pub omits_pause: bool,
}

/// Remarks below the table of standings, a line each: generation, pause, verdict, faults, audits and notes.
#[must_use]
pub fn remarks(standings: &v1::Standings, options: RemarkOptions) -> String {
    let mut text = String::new();
    if standings.generations > 1 {
        text += &format!(
            "generation {} of {}\n",
            standings.generation, standings.generations
        );
    }
    if let Some(pause) = standings.pause.as_ref().filter(|_| !options.omits_pause) {
        text += &format!("paused: {}\n", state::format_pause(pause));
    }
    if let Some(verdict) = verdict::text(&standings.verdict_json) {
        text += &format!("{verdict}\n");
    }
    for agent in &standings.agents {
        if agent.faults > 0 {
            let kinds = agent.faults_by_kind.iter();
            let kinds = kinds.map(|(kind, count)| format!("{count} {kind}"));
            text += &format!("{}: {}", agent.agent, kinds.format(", "));
            if !agent.last_fault.is_empty() {
                text += &format!("; last: {}", agent.last_fault.replace('\n', "\n    "));
            }
            text.push('\n');
        }
        if agent.voids > 0 {
            text += &format!("{}: {} void games\n", agent.agent, agent.voids);
        }
        if agent.non_deterministic {
            text += &format!(
                "{}: not deterministic: an audit replayed a game with different moves, and no \
                 worker is charged\n",
                agent.agent
            );
        }
    }
    // No second worker can audit the games of the only worker.
    let audits = standings.audits.as_ref();
    let audits = audits.filter(|audits| !options.alone || audits.agreed + audits.differing > 0);
    if let Some(audits) = audits {
        text += &format!("{}\n", format_audits(audits));
    }
    for remark in &standings.notes {
        text += &format!("note: {remark}\n");
    }
    text
}
