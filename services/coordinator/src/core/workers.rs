//! The workers: joining, leases, heartbeats, leaving.

use std::{collections::BTreeMap, time::Duration};

use arena_model::{RECORD_VERSION, SandboxLevel, UnknownLevel};
use arena_wire::v1::{self, join_response::Notice};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::{Core, books::BOOK_WAIT, connected::ConnectedWorker, entry::TournamentEntry, levels};
use crate::{
    error::Error,
    ledger::{Ask, Grant, Owner, Suspicion, TournamentNo, WorkerId, WorkerProcess},
    messages::{Caller, Presence, Reply, at_once, session_of},
    random,
};

/// Maximum notices that wait for a worker. A worker that reads none learns from its
/// heartbeats that leases have ended.
const NOTICES_MAX: usize = 64;
/// Maximum time for serving waiting requests before other messages are handled.
const SERVE_MAX: Duration = Duration::from_millis(20);
/// Maximum time that a request for games waits.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Maximum length of a worker's name.
const NAME_BYTES_MAX: usize = 256;
/// Maximum number of rulesets that a worker names, with their versions.
const RULESETS_MAX: usize = 512;
/// Maximum number of tournaments that a waiting request names, and bytes of each.
const KNOWN_MAX: usize = 256;
const KNOWN_BYTES_MAX: usize = 128;
/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The major and minor version: programs that share them work together.
fn release(version: &str) -> Option<(&str, &str)> {
    let (major, rest) = version.split_once('.')?;
    Some((major, rest.split_once('.').map_or(rest, |(minor, _)| minor)))
}

/// The tournaments that a worker knows, which are kept while it waits: those of others are sent again.
pub(super) fn known(mut tournaments: Vec<String>) -> Vec<String> {
    tournaments.truncate(KNOWN_MAX);
    tournaments.retain(|id| id.len() <= KNOWN_BYTES_MAX);
    tournaments.iter_mut().for_each(String::shrink_to_fit);
    tournaments.shrink_to_fit();
    tournaments
}

/// The same with the number of agents of each setup; 0 if the worker does not say it.
fn known_setups(tournaments: Vec<String>, agents: &[u32]) -> Vec<(String, u32)> {
    let agents = agents.iter().copied().chain(std::iter::repeat(0));
    let setups = tournaments.into_iter().zip(agents).take(KNOWN_MAX);
    let mut setups: Vec<_> = setups
        .filter(|(id, _)| id.len() <= KNOWN_BYTES_MAX)
        .collect();
    setups.iter_mut().for_each(|(id, _)| id.shrink_to_fit());
    setups.shrink_to_fit();
    setups
}

/// A waiting request for games.
pub(super) struct Parked {
    ask: Ask,
    known: Vec<(String, u32)>,
    since: Duration,
    until: Duration,
    reply: Reply<v1::LeaseResponse>,
}

impl Parked {
    /// Answers that there are no games now. The worker may be gone.
    pub(super) fn answer_none(self) {
        let _ = self.reply.send(Ok(v1::LeaseResponse::default()));
    }
}

/// The worker's id in messages.
pub(super) fn worker_text(worker: WorkerId) -> String {
    format!("w{worker}")
}

pub(super) fn worker_number(id: &str) -> Option<WorkerId> {
    id.strip_prefix('w')?.parse().ok()
}

impl Core {
    /// The worker that makes a call; none if it joined another start, left, or is not the one
    /// that it says it is.
    pub(super) fn find_worker(&self, caller: &Caller) -> Option<WorkerId> {
        let number = worker_number(&caller.worker_id)?;
        let worker = self.ledger.present(number, caller.boot_epoch)?;
        // Digests are compared, so that the time of a comparison shows nothing of the session.
        let session: [u8; 32] = Sha256::digest(&caller.session).into();
        (self.workers.get(&worker)?.session == session).then_some(worker)
    }

    pub(super) fn known_worker(&self, caller: &Caller) -> Result<WorkerId, Error> {
        let worker = self.find_worker(caller);
        worker.ok_or_else(|| Error::UnknownWorker(caller.worker_id.clone()))
    }

    /// Fails unless a tournament of a worker's leases needs a binary.
    pub(crate) fn check_fetch(&self, caller: &Caller, sha256: &str) -> Result<(), Error> {
        let worker = self.known_worker(caller)?;
        let needs = |number| {
            let id = self.numbers.get(&number);
            let entry = id.and_then(|id| self.tournaments.get(id));
            entry.is_some_and(|entry| entry.info.uses_binary(sha256))
        };
        match self.ledger.tournaments_of(worker).any(needs) || self.replays_need(worker, sha256) {
            true => Ok(()),
            false => Err(Error::NotReader {
                sha256: sha256.to_owned(),
            }),
        }
    }

    pub(crate) fn join(
        &mut self,
        request: v1::JoinRequest,
        owner: Owner,
    ) -> Result<Presence, Error> {
        if self.draining() {
            return Err(Error::Draining);
        }
        // Before anything of it is logged or kept.
        let texts = [&request.version, &request.name].into_iter();
        if request.rulesets.len() > RULESETS_MAX
            || texts
                .chain(request.rulesets.keys())
                .any(|it| it.len() > NAME_BYTES_MAX)
        {
            return Err(Error::Request(format!(
                "a worker has a name, a version and at most {RULESETS_MAX} rulesets, each with at most \
                 {NAME_BYTES_MAX} bytes"
            )));
        }
        if release(&request.version) != release(VERSION) {
            return Err(Error::WorkerVersion {
                name: request.name,
                version: request.version,
                ours: VERSION,
            });
        }
        if request.version != VERSION {
            tracing::warn!(
                name = request.name,
                version = request.version,
                ours = VERSION,
                "a worker of another version joins; it works together with this one"
            );
        }
        if request.record_version != RECORD_VERSION {
            return Err(Error::WorkerOutdated {
                name: request.name,
                version: request.version,
                writes: request.record_version.max(1),
            });
        }
        let process = match request.process {
            // Each join of a worker without a number is another process.
            0 => u64::from_le_bytes(random::bytes()?),
            process => process,
        };
        let process = WorkerProcess::of_owner(process, &owner);
        let sandbox = match request.sandbox.as_str() {
            "" => SandboxLevel::None,
            text => {
                { text.parse() }.map_err(|error: UnknownLevel| Error::Request(error.to_string()))?
            }
        };
        let session: [u8; 32] = random::bytes()?;
        let bound = Sha256::digest(session_of(&session, &owner)).into();
        let earlier: Vec<WorkerId> = self.ledger.workers_of(process).collect();
        let capacity = request.capacity as usize;
        let worker = self.ledger.join_of(Some(owner), process, capacity);
        let (sender, notices) = mpsc::channel(NOTICES_MAX);
        let present = ConnectedWorker {
            request,
            process,
            sandbox,
            session: bound,
            notices: sender,
            parked: None,
            games_reported: 0,
            decisions: BTreeMap::new(),
        };
        present.notify(Notice::Welcome(v1::Welcome {
            worker_id: worker_text(worker),
            boot_epoch: self.boot_epoch,
            lease_deadline_ms: self.lease_deadline.as_millis() as u32,
            session: session.to_vec(),
            missing_rulesets: Self::missing_rulesets(&present.request.rulesets),
        }));
        tracing::info!(worker, name = present.request.name, "worker joined");
        self.workers.insert(worker, present);
        self.replayer_joined(worker);
        self.touch_running();
        // A process has one session.
        earlier.into_iter().for_each(|worker| self.left(worker));
        let signals = self.signals.clone();
        // Without a receiver the coordinator is gone as well.
        let left = move || drop(signals.send(at_once(move |core: &mut Self| core.left(worker))));
        Ok(Presence {
            notices,
            leave: Some(Box::new(left)),
        })
    }

    /// A worker's stream ended.
    pub(crate) fn left(&mut self, worker: WorkerId) {
        let lost = self.ledger.leave(worker).len();
        self.forget(worker, lost);
    }

    fn forget(&mut self, worker: WorkerId, leases: usize) {
        let Some(present) = self.workers.remove(&worker) else {
            return;
        };
        if let Some(place) = present.parked {
            self.parked.remove(&place);
        }
        self.replayer_left(worker);
        self.touch_running();
        self.unpark = true;
        tracing::info!(worker, name = present.request.name, leases, "worker left");
    }

    /// Notifies watchers of running tournaments: what their games wait for may have changed.
    fn touch_running(&self) {
        let running =
            |entry: &&TournamentEntry| entry.document.state() == v1::TournamentState::Running;
        self.tournaments
            .values()
            .filter(running)
            .for_each(TournamentEntry::touch);
    }

    /// A worker leaves in order.
    pub(crate) fn leave(&mut self, request: &v1::LeaveRequest) -> Result<(), Error> {
        let worker = self.known_worker(&Caller {
            worker_id: request.worker_id.clone(),
            boot_epoch: request.boot_epoch,
            session: request.session.clone(),
        })?;
        let ended = self.ledger.take_leave(worker);
        self.forget(worker, ended.len());
        Ok(())
    }

    pub(crate) fn lease(&mut self, request: v1::LeaseRequest, reply: Reply<v1::LeaseResponse>) {
        let caller = Caller {
            worker_id: request.worker_id,
            boot_epoch: request.boot_epoch,
            session: request.session,
        };
        let worker = match self.known_worker(&caller) {
            Ok(worker) => worker,
            Err(error) => return drop(reply.send(Err(error))),
        };
        if self.ledger.is_worker_quarantined(worker) {
            return drop(reply.send(Err(Error::Quarantined)));
        }
        let wait = Duration::from_millis(request.wait_ms.into()).min(WAIT_MAX);
        let now = self.now();
        let parked = Parked {
            ask: Ask {
                worker,
                wanted: request.games as usize,
                call: request.call,
                sated: request
                    .sated_tournaments
                    .iter()
                    .filter_map(|id| self.tournaments.get(id)?.number)
                    .collect(),
            },
            known: known_setups(request.known_tournaments, &request.known_agents),
            since: now,
            until: now + wait,
            reply,
        };
        if self.draining() {
            parked.answer_none();
            return;
        }
        // A worker sends one request at a time: it has given up its earlier request.
        let before = self
            .workers
            .get_mut(&worker)
            .and_then(|present| present.parked.take());
        if let Some(parked) = before.and_then(|place| self.parked.remove(&place)) {
            parked.answer_none();
        }
        match self.try_grant(parked) {
            Some(parked) if self.waits(&parked, now) => self.park(parked),
            Some(parked) => parked.answer_none(),
            None => {}
        }
    }

    /// True if a request waits on. A drawn book may bring games soon.
    fn waits(&self, parked: &Parked, now: Duration) -> bool {
        now < parked.until || self.books.are_drawn() && now < parked.since + BOOK_WAIT
    }

    fn park(&mut self, parked: Parked) {
        let place = self.parked_ever;
        self.parked_ever += 1;
        if let Some(present) = self.workers.get_mut(&parked.ask.worker) {
            present.parked = Some(place);
            self.parked.insert(place, parked);
        }
    }

    /// Serves a request, or returns it if no game can be leased.
    fn try_grant(&mut self, parked: Parked) -> Option<Parked> {
        if parked.reply.is_closed() {
            return None;
        }
        let now = self.now();
        let (numbers, tournaments) = (&self.numbers, &self.tournaments);
        let (workers, agents, books) = (&self.workers, &self.agents, &self.books);
        let default_level = self.sandbox;
        let suits = |worker: WorkerId, number: TournamentNo| {
            let entry = numbers.get(&number).and_then(|id| tournaments.get(id));
            entry
                .zip(workers.get(&worker))
                .is_some_and(|(entry, present)| {
                    let tournament = &entry.info.tournament;
                    let knows = levels::may_play(entry, present, default_level);
                    // A finished tournament has only audits left. An endpoint that was registered
                    // again would answer them as another agent.
                    let over = entry.document.state() == v1::TournamentState::Finished;
                    let closed = entry.dormant || over && agents.lacks_endpoint_of(tournament);
                    knows && !closed
                })
        };
        // Only a tournament that could be leased draws its book.
        let ready = |number: TournamentNo| {
            let entry = numbers.get(&number).and_then(|id| tournaments.get(id));
            entry.is_some_and(|entry| books.has(&entry.info))
        };
        let ask = parked.ask.clone();
        let grant = self.ledger.grant_ready(now, ask, suits, ready);
        let Some(grant) = grant else {
            return Some(parked);
        };
        self.log_given_up(grant.tournament);
        let lease = self.lease_message(parked.ask.worker, &grant, &parked.known);
        self.metrics.lease_granted(now.saturating_sub(parked.since));
        if parked.reply.send(Ok(v1::LeaseResponse { lease })).is_err() {
            // The lease's deadline returns the games.
            tracing::debug!(
                lease = grant.lease,
                "the worker left before its lease arrived"
            );
        }
        None
    }

    fn lease_message(
        &self,
        worker: WorkerId,
        grant: &Grant,
        known: &[(String, u32)],
    ) -> Option<v1::Lease> {
        let id = self.numbers.get(&grant.tournament)?;
        let entry = self.tournaments.get(id)?;
        let info = &entry.info;
        let schedule = info.schedule();
        let games = grant.games.iter().map(|assigned| {
            let game = schedule.game(assigned.index);
            let opening = info.opening(game.opening);
            v1::GameAssignment {
                index: game.index,
                block: game.block,
                seed: game.seed.0,
                seats: game.seats.into_iter().map(u32::from).collect(),
                attempts: assigned.attempts,
                opening: opening.moves.into_iter().map(u32::from).collect(),
                start: opening.start.map(String::from).unwrap_or_default(),
            }
        });
        let process = self.ledger.process(worker, self.boot_epoch);
        let indices = grant.games.iter().map(|assigned| assigned.index);
        let name = self.workers.get(&worker).map(|it| &*it.request.name);
        let name = name.filter(|name| !name.is_empty());
        let name = name.map_or_else(|| worker_text(worker), str::to_owned);
        let owner = self.ledger.owner_of(worker).map_or("", |owner| owner);
        // An open ladder may have more agents since.
        let agents = info.setup.agents.len() as u32;
        let is_whole = |count: u32| count == agents || count == 0 && !info.tournament.is_open();
        let knows = |(known, count): &(String, u32)| known == id && is_whole(*count);
        Some(v1::Lease {
            ticket: self
                .tickets
                .issue(&info.key, process, (owner, &name), indices),
            lease_id: grant.lease,
            tournament_id: id.clone(),
            setup: (!known.iter().any(knows)).then(|| info.setup.clone()),
            games: games.collect(),
            given_up: grant
                .given_up
                .iter()
                .filter_map(|agent| entry.unready.get(agent))
                .map(|unready| unready.agent.clone())
                .collect(),
        })
    }

    /// Serves waiting requests again, and answers those that have waited long enough.
    pub(super) fn serve_parked(&mut self) {
        let now = self.now();
        let first = self.behind.take().unwrap_or(0);
        let (before, behind) = (self.parked.range(..first), self.parked.range(first..));
        let places: Vec<u64> = behind.chain(before).map(|(&place, _)| place).collect();
        for place in places {
            if self.now() > now + SERVE_MAX {
                self.behind = Some(place);
                return;
            }
            let Some(parked) = self.parked.remove(&place) else {
                continue;
            };
            let worker = parked.ask.worker;
            match self.try_grant(parked) {
                Some(parked) if self.waits(&parked, now) => {
                    self.parked.insert(place, parked);
                    continue;
                }
                Some(parked) => parked.answer_none(),
                None => {}
            }
            if let Some(present) = self.workers.get_mut(&worker) {
                present.parked = None;
            }
        }
    }

    /// A process sent a record that cannot have happened, or that a third play refuted.
    pub(crate) fn quarantine(
        &mut self,
        process: WorkerProcess,
        suspicion: Suspicion,
        name: &str,
        problem: &str,
    ) {
        let Some(ended) = self.ledger.quarantine(process, suspicion) else {
            return;
        };
        let owner = self.ledger.owner_of_process(process);
        tracing::warn!(
            name,
            owner = owner.map(|owner| &**owner),
            problem,
            leases = ended.len(),
            "a worker process is in quarantine; other processes play its games again"
        );
        let of: Vec<WorkerId> = self.ledger.workers_of(process).collect();
        for worker in of {
            self.replayer_left(worker);
        }
        self.send_ended(&ended);
        self.unpark = true;
        for entry in self.tournaments.values() {
            entry.touch();
        }
    }
}
