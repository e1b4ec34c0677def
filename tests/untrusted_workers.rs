//! A worker that lies about the games it was leased.

use std::collections::{BTreeMap, BTreeSet};

use arena_model::{
    GameRecord,
    engine::{Event, FaultKind, SeatFault, Termination},
    record::LineWriter,
};
use arena_report::records::TournamentRecords;
use arena_tests::{
    JoinedWorker, World,
    fleet::{Book, tournament},
    spec,
};
use arena_wire::{reasons, v1};
use prost::Message;
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// A joined worker with a lease.
struct Liar {
    worker: JoinedWorker,
    lease: v1::Lease,
}

impl Liar {
    async fn join(url: &str, process: u64) -> Result<Self, Status> {
        let mut worker = JoinedWorker::join(url, "liar", process).await?;
        let lease = worker.lease(16, 10_000).await?;
        let lease = lease.expect("there are games");
        Ok(Self { worker, lease })
    }

    async fn report(&mut self, game: v1::GameReport) -> Result<(), Status> {
        self.worker.report(&self.lease, vec![game]).await
    }
}

/// The only lie that a record without a hash does not show: its luck is computed.
const LUCK: &str = "luck changed";

type Lie = fn(&mut GameRecord);

/// Lies about a game of two seats, by name. The hash of each is that of the false record.
fn lies() -> BTreeMap<&'static str, Lie> {
    BTreeMap::from([
        ("places exchanged", (|it| it.placement.reverse()) as Lie),
        ("both first", |it| it.placement = vec![1, 1]),
        ("place 0", |it| it.placement = vec![0, 0]),
        ("place 255", |it| it.placement = vec![255, 255]),
        ("scores exchanged", |it| it.scores.reverse()),
        ("score changed", |it| it.scores[0] += 1),
        (LUCK, |it| {
            it.luck.iter_mut().for_each(|luck| *luck += 1);
            it.luck.is_empty().then(|| it.luck = vec![1, -1]);
        }),
        ("a ply more", |it| it.plies += 1),
        ("a decision more", |it| it.decisions[1] += 1),
        ("ended by repetition", |it| {
            it.termination = other_than(it.termination, Termination::Repetition);
        }),
        ("ended by the cap", |it| {
            it.termination = other_than(it.termination, Termination::Cap);
        }),
        ("void", |it| it.termination = Termination::Void),
        ("forfeit without a fault", |it| {
            it.termination = Termination::Forfeit
        }),
        ("a fault after the end", |it| {
            it.termination = Termination::Forfeit;
            it.faults = vec![fault(it.plies, 0), fault(it.plies, 1)];
        }),
        ("faults without end", |it| {
            it.faults = (0..100_000).map(|ply| fault(ply, 0)).collect();
        }),
        ("the last event missing", |it| {
            it.events.pop();
        }),
        ("all events missing", |it| it.events.clear()),
        ("an event after the end", |it| {
            it.events.push(Event::action(0))
        }),
        ("an illegal move", |it| {
            let last = it.events.iter().rposition(|event| event.is_action());
            it.events[last.expect("a move")] = Event::action(30_000);
        }),
        ("moves exchanged for chance", |it| {
            for event in &mut it.events {
                *event = match event.is_action() {
                    true => Event::chance(event.id()),
                    false => Event::action(event.id()),
                };
            }
        }),
        ("a die changed", |it| {
            let die = it.events.iter().position(|event| !event.is_action());
            match die {
                Some(die) => it.events[die] = Event::chance(it.events[die].id() ^ 1),
                None => it.events.insert(0, Event::chance(0)),
            }
        }),
        ("an opening that was not played", |it| it.opening_plies = 3),
        ("another seed", |it| it.seed.0 ^= 1),
        ("another block", |it| it.block += 1),
        ("other seats", |it| it.seats.reverse()),
    ])
}

fn other_than(before: Termination, wanted: Termination) -> Termination {
    match before == wanted {
        true => Termination::Deadlock,
        false => wanted,
    }
}

fn fault(ply: u32, seat: u8) -> SeatFault {
    let kind = FaultKind::Crash;
    SeatFault { ply, seat, kind }
}

/// Joins, reports every lie about every game of a lease, and then the truth.
fn lies_are_refused(ruleset: &str) {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let spec = spec("lies", ruleset, 4, &["random", "greedy"], "");
    let id = world.start_tournament("lies", &spec, &url);
    let book = Book::new(&tournament(&url, &id).expect("it runs")).expect("built-in bots");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut tried = BTreeSet::new();
    let done = || tournament(&url, &id).expect("it runs").games_done;
    let mut liar = runtime.block_on(Liar::join(&url, 1)).expect("joins");
    runtime.block_on(async {
        let setup = liar.lease.setup.clone().expect("new to it");
        let rules = TournamentRecords::new(&setup).expect("known rules");
        for game in liar.lease.games.clone() {
            let played = book.game(game.index).expect("a game");
            let truth = v1::GameReport::decode(&*played.report).expect("a report");
            let message = truth.record.clone().expect("a record");
            let record = GameRecord::try_from(&message).expect("a record");
            for (name, lie) in lies() {
                let mut forged = record.clone();
                lie(&mut forged);
                // What cannot be replayed has no line; a liar sends any hash.
                let sealed = LineWriter::new(&rules.header).seal(&mut forged, &*rules.game);
                if sealed.is_ok() && forged == record {
                    // A draw with its places exchanged is no lie.
                    continue;
                }
                tried.insert(name);
                let with_hash = v1::GameRecord::from(&forged);
                // Without a hash, the coordinator adds luck and hash to what it replayed.
                let without = v1::GameRecord {
                    hash: Vec::new(),
                    ..with_hash.clone()
                };
                let both = [with_hash, without];
                for message in both.into_iter().take(if name == LUCK { 1 } else { 2 }) {
                    let report = v1::GameReport {
                        record: Some(message),
                        ..truth.clone()
                    };
                    let Err(status) = liar.report(report).await else {
                        // A void record of a game that is not given up is a failed attempt.
                        assert_eq!(name, "void");
                        continue;
                    };
                    assert_eq!(status.code(), Code::InvalidArgument, "{name}: {status}");
                    let info = status.get_details_error_info().expect("a reason");
                    let known = [reasons::RECORD_INVALID, reasons::REQUEST_INVALID];
                    assert!(known.contains(&&*info.reason), "{name}: {status}");
                }
            }
        }
    });
    assert_eq!(done(), 0, "lies count");
    assert_eq!(tried.len(), lies().len(), "{tried:?}");
    let truth = |index| {
        let played = book.game(index).expect("a game");
        v1::GameReport::decode(&*played.report).expect("a report")
    };
    let mut honest = runtime.block_on(Liar::join(&url, 2)).expect("joins");
    runtime.block_on(async {
        let index = liar.lease.games[0].index;
        let status = liar.report(truth(index)).await.expect_err("in quarantine");
        let info = status.get_details_error_info().expect("a reason");
        assert_eq!(info.reason, reasons::WORKER_QUARANTINED);
        for game in honest.lease.games.clone() {
            honest.report(truth(game.index)).await.expect("the truth");
        }
    });
    assert_eq!(done(), honest.lease.games.len() as u64);
}

#[test]
fn lies_about_cowry_are_refused() {
    lies_are_refused("cowry");
}

#[test]
fn lies_about_chinese_ludo_are_refused() {
    lies_are_refused("chinese-ludo");
}

#[test]
fn lies_about_kalah_are_refused() {
    lies_are_refused("kalah");
}

#[test]
fn lies_about_oware_are_refused() {
    lies_are_refused("oware-abapa");
    lies_are_refused("oware-anan-anan");
}
