//! A worker: the real protocol, with the service's other work in its order, and simulated games.

mod hand;

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use arena_wire::ATTEMPTS_MAX;
use arena_worker::protocol::{
    Action, CallNo, Ending, Playing, Protocol, ProtocolSettings, Refusal, RefusedReport, ReportNo,
    StayNo,
};

use super::{
    counts::Happening,
    games::{FORFEIT, Host, Spec, UNREADY, VOID},
    net::{Down, Event, Known, Leased, Life, MILLI, Net, Played, SECOND, Up, trace_event},
};

use hand::{Game, Hand, Held};

struct Sent {
    known: Known,
    lease: u64,
    tournament: usize,
    games: Rc<[Played]>,
    attempt: u32,
    on_its_way: bool,
}

impl Sent {
    /// A report of other games from the same lease, which was not sent before.
    fn with(&self, games: Rc<[Played]>) -> Self {
        Self {
            games,
            attempt: 0,
            on_its_way: false,
            ..*self
        }
    }
}

/// A worker's process.
pub(super) struct Worker {
    pub(super) who: Life,
    pub(super) host: Host,
    protocol: Protocol<Played>,
    hand: Hand,
    started: u64,
    /// The offset of its clock.
    pub(super) ahead: i64,
    stay: Option<StayNo>,
    asking: Option<CallNo>,
    reports: BTreeMap<ReportNo, Sent>,
    /// When it wakes next.
    wake: u64,
    /// Results that it dropped although they were not refused.
    pub(super) given_up: usize,
}

impl Worker {
    pub(super) fn start(net: &mut Net, who: Life, capacity: usize, host: Host) -> Self {
        trace_event!(net, "worker {} starts", who.place);
        let patient = !net.random.permille(200);
        let lingers = net.random.permille(400);
        let worker = Self {
            who,
            host,
            protocol: Protocol::new(ProtocolSettings {
                capacity,
                connect_timeout: Duration::from_secs(if patient { 30 } else { 4 }),
                drain_limit: Duration::from_secs(if lingers { 10 } else { 0 }),
                seed: net.random.next(),
            }),
            hand: Hand {
                capacity,
                ..Hand::default()
            },
            started: net.now,
            ahead: 0,
            stay: None,
            asking: None,
            reports: BTreeMap::new(),
            wake: net.now,
            given_up: 0,
        };
        net.after(0, Event::Wake(who));
        worker
    }

    /// Whether it has ended all its work.
    pub(super) fn is_quiet(&self) -> bool {
        self.hand.unfinished() == 0 && self.protocol.unanswered() == 0
    }

    /// Reports without an answer at the end.
    pub(super) fn owes(&self) -> usize {
        let open: usize = self.reports.values().map(|sent| sent.games.len()).sum();
        open + self.given_up
    }

    /// The session whose stream is open or opening.
    pub(super) fn stay(&self) -> Option<StayNo> {
        self.stay
    }

    /// Lets its current games continue until they are dropped.
    pub(super) fn get_stuck(&mut self) {
        let playing = self.hand.playing.iter().map(|game| game.lease);
        self.hand.stuck.extend(playing);
    }

    pub(super) fn drain(&mut self, net: &Net) {
        let now = self.now(net);
        self.protocol.drain(now);
    }

    fn now(&self, net: &Net) -> Duration {
        let since = (net.now - self.started) as i64 + self.ahead;
        Duration::from_micros(since.max(0) as u64)
    }

    /// A game has ended. Returns whether it killed the worker.
    pub(super) fn over(&mut self, net: &mut Net, specs: &[Spec], token: u64) -> bool {
        let playing = &mut self.hand.playing;
        let Some(place) = playing.iter().position(|game| game.token == token) else {
            return false;
        };
        if self.hand.stuck.contains(&playing[place].lease) {
            net.after(SECOND, Event::Over(self.who, token));
            return false;
        }
        let game = &playing[place];
        let (spec, index) = (&specs[game.tournament], game.game.index);
        if spec.poison == Some(index) && game.game.attempts < ATTEMPTS_MAX {
            return true;
        }
        let game = playing.swap_remove(place);
        let hash = spec.attempt(game.game, self.host, &game.given_up);
        match hash {
            0 => net.counts.add(Happening::FailedAttempt),
            UNREADY => net.counts.add(Happening::Unready),
            VOID => net.counts.add(Happening::Void),
            FORFEIT => net.counts.add(Happening::Forfeit),
            _ => {}
        }
        trace_event!(
            net,
            "worker {} played {}/{index}: {hash:x}",
            self.who.place,
            game.tournament
        );
        self.hand.settle(game.lease, 1);
        let now = self.now(net);
        let bytes = spec.bytes(index);
        self.protocol
            .finished(now, game.lease, (index, hash), bytes);
        false
    }

    /// The connection broke: its calls get no answers.
    pub(super) fn lost(&mut self, net: &mut Net) {
        if let Some(call) = self.asking {
            self.hear(net, Down::NotLeased(call, Refusal::Failed));
        }
        let open = self.reports.iter().filter(|(_, sent)| sent.on_its_way);
        let open: Vec<(ReportNo, u32)> = open.map(|(&id, sent)| (id, sent.attempt)).collect();
        for (report, attempt) in open {
            self.hear(net, Down::NotReported(report, attempt, Refusal::Failed));
        }
        if let Some(stay) = self.stay {
            self.hear(net, Down::Parted(stay, Refusal::Failed));
        }
    }

    pub(super) fn hear(&mut self, net: &mut Net, message: Down) {
        let now = self.now(net);
        match message {
            Down::Welcome {
                stay,
                known: (worker, epoch),
                deadline,
            } => {
                if self.stay == Some(stay) {
                    let deadline = Duration::from_micros(deadline);
                    self.protocol
                        .welcomed(stay, worker.to_string(), epoch, Vec::new(), deadline);
                }
            }
            Down::Ended(stay, lease) => self.protocol.leases_ended(stay, &[lease]),
            Down::Stops(stay) => self.protocol.coordinator_stops(stay),
            Down::Parted(stay, refusal) => {
                if self.stay == Some(stay) {
                    self.stay = None;
                    net.after(0, Event::Gone(self.who, stay));
                }
                self.protocol.parted(now, stay, refusal, "lost");
            }
            Down::Leased(call, leased) => self.take(net, call, leased),
            Down::NotLeased(call, refusal) => {
                self.asking = self.asking.filter(|asking| *asking != call);
                self.protocol.not_leased(now, call, refusal);
            }
            Down::Reported(report, attempt) => {
                if self.take_answer(report, attempt) {
                    self.reports.remove(&report);
                    self.protocol.reported(report);
                }
            }
            Down::NotReported(report, attempt, refusal) => {
                if self.take_answer(report, attempt) {
                    self.not_reported(net, report, refusal);
                }
            }
            Down::Beaten(stay, ended) => self.protocol.leases_ended(stay, &ended),
            Down::NotBeaten(stay, refusal) => self.protocol.not_beaten(now, stay, refusal),
            Down::TookLeave => self.protocol.took_leave(now),
        }
    }

    fn not_reported(&mut self, net: &mut Net, report: ReportNo, refusal: Refusal) {
        let fate = self.protocol.not_reported(self.now(net), report, refusal);
        let Some(sent) = self.reports.remove(&report) else {
            return;
        };
        match fate {
            RefusedReport::Again => {
                self.reports.insert(report, sent);
            }
            RefusedReport::Split { first, halves } => {
                net.counts.add(Happening::Split);
                let (one, other) = sent.games.split_at(first);
                for (half, games) in halves.into_iter().zip([one, other]) {
                    self.reports.insert(half, sent.with(games.into()));
                }
            }
            RefusedReport::Replaced => {
                net.counts.add(Happening::Refused);
                let failed = sent.games.iter().map(|(index, _)| (*index, 0));
                let games = failed.collect();
                self.reports.insert(report, Sent { games, ..sent });
            }
            RefusedReport::Dropped => {
                if refusal != Refusal::Never {
                    self.given_up += sent.games.len();
                }
            }
        }
    }

    /// Whether this answers the current call; answers to earlier calls are ignored.
    fn take_answer(&mut self, report: ReportNo, attempt: u32) -> bool {
        let sent = self.reports.get_mut(&report);
        sent.is_some_and(|sent| {
            sent.attempt == attempt && std::mem::replace(&mut sent.on_its_way, false)
        })
    }

    fn take(&mut self, net: &mut Net, call: CallNo, leased: Option<Leased>) {
        if self.asking == Some(call) {
            self.asking = None;
        }
        let Some(leased) = leased else {
            self.protocol.nothing_leased(call);
            return;
        };
        let name = leased.tournament.to_string();
        let Some(lease) = self.protocol.leased(call, leased.lease, &name, Vec::new()) else {
            net.counts.add(Happening::LostAnswer);
            return;
        };
        self.hand.held.push(Held {
            lease,
            plies: 0,
            left: leased.games.len(),
        });
        let waiting = leased.games.iter().map(|&game| Game {
            lease,
            tournament: leased.tournament,
            game,
            given_up: leased.given_up.clone(),
            token: 0,
        });
        self.hand.waiting.extend(waiting);
    }

    fn play(&mut self, net: &mut Net, specs: &[Spec]) {
        while !self.protocol.holds() && self.hand.playing.len() < self.hand.capacity {
            let Some(mut game) = self.hand.waiting.pop_front() else {
                return;
            };
            self.hand.tokens += 1;
            game.token = self.hand.tokens;
            let takes = match self.host {
                Host::Bad => MILLI,
                _ => specs[game.tournament].takes(game.game.index),
            };
            net.after(takes, Event::Over(self.who, game.token));
            self.hand.playing.push(game);
        }
    }

    /// Does the pending work. Returns whether the worker has ended.
    pub(super) fn go_on(&mut self, net: &mut Net, specs: &[Spec]) -> Option<Ending> {
        self.play(net, specs);
        let now = self.now(net);
        while let Some(action) = self.protocol.next(now, &mut self.hand) {
            if let Action::End(ending) = action {
                return Some(ending);
            }
            self.perform(net, action);
        }
        let wait = self.protocol.wake(now).map_or(SECOND, |wake| {
            (wake.saturating_sub(now).as_micros() as u64).clamp(1, SECOND)
        });
        let wake = net.now + wait;
        if wake < self.wake || self.wake <= net.now {
            self.wake = wake;
            net.at(wake, Event::Wake(self.who));
        }
        None
    }

    /// Whether this is the scheduled wake-up.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.wake == now
    }

    fn perform(&mut self, net: &mut Net, action: Action<Played>) {
        let who = self.who;
        match action {
            Action::Join { stay, timeout } => {
                self.stay = Some(stay);
                net.up(who, Up::Join(stay, who.process(), self.hand.capacity));
                self.times_out(net, timeout, Down::Parted(stay, Refusal::Failed), true);
            }
            Action::Leave(stay) => {
                net.counts.add(Happening::UnknownWorker);
                self.stay = None;
                net.after(0, Event::Gone(who, stay));
            }
            Action::Ask {
                call,
                stay,
                games,
                wait,
                timeout,
            } => {
                self.asking = Some(call);
                let ask = Up::Ask {
                    call,
                    known: known(&stay.worker_id, stay.boot_epoch),
                    wanted: games,
                    wait: wait.as_micros() as u64,
                };
                net.up(who, ask);
                self.times_out(net, timeout, Down::NotLeased(call, Refusal::Failed), false);
            }
            Action::TakeLeave { stay, timeout } => {
                let leave = Up::Leave(known(&stay.worker_id, stay.boot_epoch));
                net.up(who, leave);
                self.times_out(net, timeout, Down::TookLeave, false);
            }
            Action::AskNoMore => self.asking = None,
            Action::DropWaiting => self.hand.drop_waiting(),
            Action::Drop(lease) => {
                trace_event!(net, "worker {} drops its lease {lease}", who.place);
                self.hand.drop_lease(lease);
                if self.hand.stuck.contains(&lease) {
                    self.hand.stuck.retain(|stuck| *stuck != lease);
                    net.counts.add(Happening::Stuck);
                }
            }
            Action::Report {
                report,
                lease,
                games,
                timeout,
            } => {
                let sent = Sent {
                    known: known(&lease.stay.worker_id, lease.stay.boot_epoch),
                    lease: lease.lease_id,
                    tournament: lease.tournament.parse().unwrap_or_default(),
                    games: games.into(),
                    attempt: 0,
                    on_its_way: false,
                };
                self.reports.insert(report, sent);
                self.report(net, report, timeout);
            }
            Action::ReportAgain { report, timeout } => self.report(net, report, timeout),
            Action::Beat {
                stay,
                leases,
                settled,
                ..
            } => {
                let beat = Up::Beat {
                    stay: stay.number,
                    known: known(&stay.worker_id, stay.boot_epoch),
                    leases: leases.into(),
                    settled,
                };
                net.up(who, beat);
            }
            // The caller handles the end.
            Action::End(_) => {}
        }
    }

    fn report(&mut self, net: &mut Net, report: ReportNo, timeout: Duration) {
        let Some(sent) = self.reports.get_mut(&report) else {
            return;
        };
        sent.attempt += 1;
        sent.on_its_way = true;
        let attempt = sent.attempt;
        let message = Up::Report {
            report,
            attempt,
            known: sent.known,
            lease: sent.lease,
            tournament: sent.tournament,
            games: sent.games.clone(),
        };
        net.up(self.who, message);
        let failed = Down::NotReported(report, attempt, Refusal::Failed);
        self.times_out(net, timeout, failed, false);
    }

    /// Events of a call without an answer. A join has only failed without a welcome.
    fn times_out(&self, net: &mut Net, timeout: Duration, heard: Down, join: bool) {
        let timeout = timeout.as_micros() as u64;
        let event = match (join, heard) {
            (true, Down::Parted(stay, _)) => Event::NotWelcome(self.who, stay),
            (_, heard) => Event::Down(self.who, heard),
        };
        net.after(timeout, event);
    }

    /// No welcome arrived in time.
    pub(super) fn not_welcome(&mut self, net: &mut Net, stay: StayNo) {
        if self.stay == Some(stay) && !self.protocol.joined() {
            self.hear(net, Down::Parted(stay, Refusal::Failed));
        }
    }
}

fn known(worker_id: &str, epoch: u64) -> Known {
    (worker_id.parse().unwrap_or_default(), epoch)
}
