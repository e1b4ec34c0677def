//! Changes of a tournament's state: pausing, resuming and cancelling.

use arena_store::Change as Stored;
use arena_wire::v1::{self, TournamentState};

use crate::{
    core::{Core, entry::state_name},
    error::Error,
    ledger::{AfterGame, Ended},
    messages::Reply,
    principal::Principal,
};

impl Core {
    /// Pauses, resumes or cancels a tournament, by the state that follows. A cancelled tournament
    /// counts no game after the answer, so games that are being written become durable first.
    pub(crate) async fn change(
        &mut self,
        after: TournamentState,
        request_id: String,
        tournament: String,
        by: Principal,
        reply: Reply<v1::Tournament>,
    ) {
        let changed = self.change_state(after, &request_id, &tournament, &by);
        let answer = changed.await;
        self.answer_change(tournament, answer, reply);
    }

    async fn change_state(
        &mut self,
        after: TournamentState,
        request_id: &str,
        tournament: &str,
        by: &Principal,
    ) -> Result<v1::Tournament, Error> {
        let method = match after {
            TournamentState::Paused => "PauseTournament",
            TournamentState::Cancelled => "CancelTournament",
            _ => "ResumeTournament",
        };
        let request = v1::GetTournamentRequest {
            tournament_id: tournament.to_owned(),
        };
        let known: Option<v1::GetTournamentRequest> =
            self.answers.recall(request_id, by, method, &request)?;
        if known.is_some() {
            return self.tournament(tournament);
        }
        self.check_owner(tournament, by)?;
        let before = self.entry(tournament)?.document.state();
        let is_open = matches!(before, TournamentState::Running | TournamentState::Paused);
        if !is_open && before != after {
            let state = state_name(before).unwrap_or("in an unknown state");
            return Err(Error::State(format!("tournament {tournament} is {state}")));
        }
        if before == TournamentState::Paused && after == TournamentState::Running {
            self.check_running(by, self.entry(tournament)?.document.games_total)?;
        }
        let answers = self
            .answers
            .remember(request_id, by, method, &request, &request);
        if after == TournamentState::Running {
            self.wake(tournament)?;
        }
        if before != after {
            if after == TournamentState::Running {
                self.entry_mut(tournament)?.accept_unplayed();
                self.resume(tournament, answers).await?;
            } else {
                self.set_state(tournament, after, answers).await?;
            }
            tracing::info!(tournament, ?after, "tournament changed");
        } else if !answers.is_empty() {
            self.persist(answers).await?;
        }
        self.tournament(tournament)
    }

    pub(super) async fn resume(&mut self, id: &str, changes: Vec<Stored>) -> Result<(), Error> {
        let came = self
            .set_state(id, TournamentState::Running, changes)
            .await?;
        self.came(id, came).await
    }

    /// Leases games of a tournament of an earlier start.
    pub(super) fn wake(&mut self, tournament: &str) -> Result<(), Error> {
        self.entry_mut(tournament)?.dormant = false;
        self.unpark = true;
        Ok(())
    }

    /// Stores a new state, then applies it. Returns the consequence of a resume.
    pub(in crate::core) async fn set_state(
        &mut self,
        id: &str,
        state: TournamentState,
        mut changes: Vec<Stored>,
    ) -> Result<AfterGame, Error> {
        let (document, change) = self.entry(id)?.stored_as(state);
        changes.push(change);
        self.persist(changes).await?;
        let entry = self.entry_mut(id)?;
        let held = document.pause.is_some();
        entry.document = document;
        let number = entry.number;
        let mut came = AfterGame::Nothing;
        if let Some(number) = number {
            let ended = match state {
                TournamentState::Paused if held => self.ledger.hold(number),
                TournamentState::Paused => self.ledger.pause(number),
                TournamentState::Cancelled => self.ledger.cancel(number),
                TournamentState::Running => {
                    came = self.ledger.resume(number);
                    self.unpark = true;
                    Vec::new()
                }
                TournamentState::Finished | TournamentState::Unspecified => Vec::new(),
            };
            self.send_ended(&ended);
        }
        let entry = self.entry(id)?;
        if state != TournamentState::Running {
            self.books.forget(&entry.info);
        }
        entry.touch();
        Ok(came)
    }

    /// Notifies workers of leases that ended.
    pub(in crate::core) fn send_ended(&self, ended: &[Ended]) {
        for Ended { worker, lease } in ended {
            if let Some(worker) = self.workers.get(worker) {
                worker.notify(v1::join_response::Notice::LeasesEnded(v1::LeasesEnded {
                    lease_ids: vec![*lease],
                }));
            }
        }
    }
}
