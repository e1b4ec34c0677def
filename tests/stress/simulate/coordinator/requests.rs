//! Requests of users about tournaments, and their effects.

use arena_coordinator::ledger::{ReportId, State};

use super::{Account, After, Coordinator};
use crate::stress::simulate::{
    counts::Happening,
    disk::{Disk, Job},
    games::Spec,
    net::{Event, Net, trace_event},
    users::{Op, Request},
};

impl Coordinator {
    pub(super) fn finish(
        &mut self,
        net: &mut Net,
        disk: &mut Disk,
        place: usize,
        acknowledged: Vec<(ReportId, Vec<u64>)>,
    ) {
        trace_event!(net, "tournament {place} is finished");
        let job = Job::Document {
            tournament: place,
            state: Some(State::Finished),
            request: None,
        };
        self.blocked = Some(After::Finished(place, acknowledged));
        disk.append(net, self.boot, job);
    }

    /// Handles a user's request.
    pub(super) fn request(&mut self, net: &mut Net, disk: &mut Disk, request: &Request) {
        let request = *request;
        let place = request.tournament;
        if self.answers.contains(&request.id) {
            return self.answer(net, request);
        }
        let before = self.accounts[place].as_ref().map(|account| account.state);
        let after = match (request.op, before) {
            (Op::Start, None | Some(State::Running | State::Paused)) => State::Running,
            (Op::Start, Some(state)) => state,
            (Op::Pause, Some(State::Running | State::Paused)) => State::Paused,
            (Op::Resume, Some(State::Running | State::Paused)) => State::Running,
            (Op::Cancel, Some(State::Running | State::Paused | State::Cancelled)) => {
                State::Cancelled
            }
            _ => {
                net.user(Event::Answer(request.id));
                return;
            }
        };
        self.answers.push(request.id);
        let changes = before != Some(after);
        self.blocked = Some(if changes {
            After::Changed(request, after)
        } else {
            After::Answer(request)
        });
        let job = Job::Document {
            tournament: place,
            state: changes.then_some(after),
            request: Some(request.id),
        };
        disk.append(net, self.boot, job);
    }

    pub(super) fn change(
        &mut self,
        net: &mut Net,
        request: &Request,
        state: State,
        specs: &[Spec],
        disk: &Disk,
    ) {
        let place = request.tournament;
        trace_event!(net, "tournament {place} is {state:?}");
        let Some(account) = &mut self.accounts[place] else {
            self.accounts[place] = Some(Account::new(
                &specs[place],
                state,
                vec![0; specs[place].games],
            ));
            return self.account(place, &disk.kept[place]);
        };
        account.state = state;
        let Some(number) = account.number else { return };
        let ended = match state {
            State::Paused => {
                net.counts.add(Happening::Pause);
                self.ledger.pause(number)
            }
            State::Cancelled => {
                net.counts.add(Happening::Cancel);
                self.ledger.cancel(number)
            }
            State::Running => {
                net.counts.add(Happening::Resume);
                self.ledger.resume(number);
                self.unpark = true;
                Vec::new()
            }
            State::Finished | State::Held => Vec::new(),
        };
        self.send_ended(net, &ended);
    }

    /// Answers a user. A cancellation is answered when all pending results are durable.
    pub(super) fn answer(&mut self, net: &mut Net, request: Request) {
        let account = self.accounts[request.tournament].as_ref();
        let writes = account
            .filter(|account| account.state == State::Cancelled)
            .and_then(|account| account.number)
            .is_some_and(|number| self.reports.writes(number));
        if writes {
            net.counts.add(Happening::CancelInWrite);
            self.cancels.push(request);
        } else {
            net.user(Event::Answer(request.id));
        }
    }
}
