//! Boards of games whose ruleset is a package. The coordinator starts no package, so a worker that
//! replays records draws a board when a reader asks for it. Records that wait for a replay come first.
//!
//! A board is for people alone: if there is none, the answer names the reason, and nothing else changes.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use arena_wire::v1;

use super::{
    super::{Core, levels},
    jobs::Reliability,
};
use crate::{info::Info, ledger::WorkerId, messages::Reply};

/// Maximum time until a board is there.
const DRAWN_MAX: Duration = Duration::from_secs(10);
/// Maximum number of boards that wait.
const WAITING_MAX: usize = 16;
/// Maximum bytes of a board as text, as SVG, and of a problem. A worker may send anything.
const TEXT_BYTES_MAX: usize = 64 << 10;
const SVG_BYTES_MAX: usize = 256 << 10;
const PROBLEM_BYTES_MAX: usize = 400;

/// A board that a reader wants.
pub(crate) struct Drawing {
    pub(crate) info: Arc<Info>,
    pub(crate) record: v1::GameRecord,
    /// The number of plies before it.
    pub(crate) after: u64,
}

/// A board that is not there yet.
struct Waiting {
    drawing: Drawing,
    until: Duration,
    /// The worker that draws it.
    at: Option<WorkerId>,
    reply: Reply<v1::Board>,
}

/// The boards that readers wait for, by their jobs.
#[derive(Default)]
pub(crate) struct Drawings(BTreeMap<u64, Waiting>);

/// The answer if there is no board.
pub(crate) fn without(problem: &str) -> v1::Board {
    v1::Board {
        problem: problem.to_owned(),
        ..v1::Board::default()
    }
}

/// A board of a worker, within the bounds.
fn bounded(mut board: v1::Board) -> v1::Board {
    if board.text.len() > TEXT_BYTES_MAX || board.svg.len() > SVG_BYTES_MAX {
        return without("the worker sent too large a board");
    }
    let problem = &mut board.problem;
    problem.truncate(problem.floor_char_boundary(PROBLEM_BYTES_MAX));
    board
}

impl Core {
    /// Lets a worker draw a board.
    pub(crate) fn draw(&mut self, drawing: Drawing, reply: Reply<v1::Board>) {
        // A caller that is gone needs no answer.
        let refuse = |reply: Reply<v1::Board>, problem| drop(reply.send(Ok(without(problem))));
        if self.drawings.0.len() >= WAITING_MAX {
            return refuse(
                reply,
                "too many boards are being drawn; load the page again",
            );
        }
        if !self.has_drawer(&drawing.info) {
            return refuse(
                reply,
                "no connected worker can start the package of the rules",
            );
        }
        self.replays.jobs_ever += 1;
        let waiting = Waiting {
            drawing,
            until: self.now() + DRAWN_MAX,
            at: None,
            reply,
        };
        self.drawings.0.insert(self.replays.jobs_ever, waiting);
        self.pass_on_drawings();
    }

    /// True if a worker is present that can draw boards of a tournament.
    fn has_drawer(&self, info: &Info) -> bool {
        let now = self.now();
        let mut replayers = self.replays.replayers.iter();
        replayers.any(|(&worker, of)| {
            of.is_present(now, Reliability::default()) && self.can_draw(worker, info)
        })
    }

    fn can_draw(&self, worker: WorkerId, info: &Info) -> bool {
        let (present, entry) = (self.workers.get(&worker), self.tournaments.get(&*info.id));
        let (Some(present), Some(entry)) = (present, entry) else {
            return false;
        };
        present.sandbox >= levels::least(entry, self.sandbox)
            && levels::plays_tournament(&present.request.rulesets, &entry.info)
            && !self.ledger.is_worker_quarantined(worker)
    }

    /// Passes waiting boards to workers that have nothing to replay.
    pub(super) fn pass_on_drawings(&mut self) {
        let open = self.drawings.0.iter().filter(|(_, it)| it.at.is_none());
        let open: Vec<u64> = open.map(|(&id, _)| id).collect();
        for id in open {
            let Some(waiting) = self.drawings.0.get(&id) else {
                continue;
            };
            let info = Arc::clone(&waiting.drawing.info);
            let replayers = self.replays.replayers.iter();
            let mut free = replayers.filter(|(_, it)| it.is_free()).map(|(&id, _)| id);
            if let Some(worker) = free.find(|&worker| self.can_draw(worker, &info)) {
                self.send_drawing(id, worker);
            }
        }
    }

    fn send_drawing(&mut self, id: u64, worker: WorkerId) {
        let now = self.now();
        let replayer = self.replays.replayers.get_mut(&worker);
        let (Some(replayer), Some(waiting)) = (replayer, self.drawings.0.get_mut(&id)) else {
            return;
        };
        let Some(request) = replayer.waiting.take() else {
            return;
        };
        let Drawing {
            info,
            record,
            after,
        } = &waiting.drawing;
        let tournament_id = info.id.to_string();
        let job = v1::ReplayJob {
            job_id: id,
            setup: (!request.known.contains(&tournament_id)).then(|| info.setup.clone()),
            tournament_id,
            records: vec![v1::RecordToReplay {
                record: Some(record.clone()),
                from_book: false,
            }],
            draw_after: Some(*after),
        };
        let response = v1::ReplayResponse { job: Some(job) };
        if request.reply.send(Ok(response)).is_ok() {
            replayer.job = Some((id, now));
            waiting.at = Some(worker);
        }
    }

    /// The package whose board a job draws, if it draws one.
    pub(super) fn package_of_drawing(&self, id: u64) -> Option<&v1::BinarySource> {
        self.drawings.0.get(&id)?.drawing.info.package()
    }

    /// Takes the board of a job, if it draws one; none if the worker did not answer.
    pub(super) fn take_board(&mut self, id: u64, board: Option<v1::Board>) {
        if let Some(waiting) = self.drawings.0.remove(&id) {
            let none = || without("the worker that was to draw the board gave it up");
            let board = board.map_or_else(none, bounded);
            drop(waiting.reply.send(Ok(board)));
        }
    }

    /// Answers readers that have waited long enough.
    pub(in crate::core) fn look_after_drawings(&mut self) {
        let now = self.now();
        let late = self.drawings.0.iter();
        let late = late.filter(|(_, it)| now >= it.until || it.reply.is_closed());
        let late: Vec<u64> = late.map(|(&id, _)| id).collect();
        for id in late {
            self.take_board(id, Some(without("no worker drew the board in time")));
        }
    }
}
