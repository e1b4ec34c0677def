//! Tests of the list of audits.

use std::collections::BTreeSet;

use super::{
    super::{AuditRecord, Settled, agent_starts::AgentStarts, worker_processes::WorkerProcesses},
    failed::FAILED_MAX,
    *,
};

const GAMES: u64 = 10_000;
const ONE: WorkerProcess = WorkerProcess::Process(1);
const TWO: WorkerProcess = WorkerProcess::Process(2);

fn audits(ppm: u32, games: u64) -> Audits {
    Audits::new(AuditSample::new(&[7; 32], "cup-1", ppm), games)
}

/// Calls `ask` for a process whose owner is unknown.
fn of<T>(process: WorkerProcess, ask: impl FnOnce(&Auditor<'_>) -> T) -> T {
    let (processes, agents) = (WorkerProcesses::default(), AgentStarts::default());
    ask(&Auditor::new(process, &processes, &agents))
}

fn take(audits: &mut Audits, count: usize, process: WorkerProcess) -> Vec<Assigned> {
    of(process, |auditor| audits.take(count, auditor))
}

fn take_alone(audits: &mut Audits, process: WorkerProcess) -> Vec<Assigned> {
    of(process, |auditor| audits.take_alone(auditor))
}

/// An attempt of a process whose owner is unknown fails.
fn fail(audits: &mut Audits, index: u64) {
    let (processes, agents) = (WorkerProcesses::default(), AgentStarts::default());
    audits.fail(index, TWO, &processes, &agents);
}

fn listed_for(audits: &Audits, process: WorkerProcess) -> usize {
    of(process, |auditor| audits.listed_for(auditor))
}

fn has_alone_for(audits: &Audits, process: WorkerProcess) -> bool {
    of(process, |auditor| audits.has_alone_for(auditor))
}

const OTHER: AuditRecord = AuditRecord::Differs {
    hash: [2; 32],
    agent: Some(0),
};

/// Settles an audit by process 2. Returns the process that played the game first.
fn settle(
    audits: &mut Audits,
    index: u64,
    worker: WorkerId,
    record: AuditRecord,
) -> Option<WorkerProcess> {
    let (settled, first) = audits.settle(
        index,
        worker,
        TWO,
        record,
        &WorkerProcesses::default(),
        &AgentStarts::default(),
    );
    (settled != Settled::Nothing).then_some(first)
}

fn all(audits: &mut Audits, process: WorkerProcess) -> BTreeSet<u64> {
    let worker = 9;
    let mut taken = BTreeSet::new();
    loop {
        audits.find(|_| true);
        let mut some = take(audits, 100, process);
        some.extend(take_alone(audits, process));
        if some.is_empty() {
            return taken;
        }
        for game in some {
            assert!(taken.insert(game.index), "once each");
            audits.reported(game.index, worker);
            assert!(settle(audits, game.index, worker, AuditRecord::Same).is_some());
        }
    }
}

#[test]
fn audit_sample_survives_restart() {
    let mut whole = audits(300_000, GAMES);
    let mut before = audits(300_000, GAMES);
    for index in 0..GAMES {
        whole.durable(index, ONE);
        before.durable(index, ONE);
    }
    let expected = all(&mut whole, TWO);
    let share = expected.len() as u64;
    assert!((2_800..3_200).contains(&share), "{share}");
    assert_eq!(whole.so_far().waiting(), 0);
    let mut first = BTreeSet::new();
    for game in take(&mut before, 500, TWO) {
        before.reported(game.index, 2);
        let record = match game.index % 2 {
            0 => OTHER,
            _ => AuditRecord::Same,
        };
        settle(&mut before, game.index, 2, record);
        first.insert(game.index);
    }
    let mut after = audits(0, GAMES);
    let [mut audited, mut differing] = [Bitmap::new(GAMES), Bitmap::new(GAMES)];
    for &index in &first {
        audited.insert(index);
        if before.sets(index)[1] {
            differing.insert(index);
        }
    }
    let disputes = before.disputes.iter();
    let restored = RestoredAudits {
        sample: whole.sample,
        audited,
        differing,
        sampled: Bitmap::new(GAMES),
        refuted: Bitmap::new(GAMES),
        own: Bitmap::new(GAMES),
        contradicted: Bitmap::new(GAMES),
        claimed: Bitmap::new(GAMES),
        doubted: Bitmap::new(GAMES),
        disputes: disputes.map(|(index, dispute)| (index, *dispute)).collect(),
    };
    assert!(restored.disputes.len() > 200);
    after.restore(restored, &Bitmap::full(GAMES), |_| true);
    assert_eq!(after.so_far(), before.so_far());
    let rest = all(&mut after, ONE);
    assert!(first.is_disjoint(&rest));
    assert_eq!(
        first.union(&rest).copied().collect::<BTreeSet<_>>(),
        expected
    );
}

#[test]
fn game_that_waits_for_another_process_keeps_no_audit_back() {
    let mut audits = audits(1_000_000, 10);
    let none = || Bitmap::new(10);
    let restored = RestoredAudits {
        sample: audits.sample,
        audited: none(),
        differing: none(),
        sampled: none(),
        refuted: none(),
        own: none(),
        contradicted: none(),
        claimed: none(),
        doubted: none(),
        disputes: Vec::new(),
    };
    audits.restore(restored, &Bitmap::full(10), |index| index > 0);
    // Only another process than this one may replay it.
    audits.durable(0, TWO);
    audits.find(|_| true);
    assert_eq!(
        (listed_for(&audits, TWO), listed_for(&audits, ONE)),
        (9, 10)
    );
}

#[test]
fn process_does_not_audit_itself() {
    let mut audits = audits(1_000_000, 10);
    (0..10).for_each(|index| audits.durable(index, ONE));
    assert_eq!(
        (listed_for(&audits, ONE), listed_for(&audits, TWO)),
        (0, 10)
    );
    assert!(take(&mut audits, 10, ONE).is_empty());
    let leased = take(&mut audits, 4, TWO);
    assert_eq!((leased.len(), listed_for(&audits, TWO)), (4, 6));
    audits.give_back(leased[0].index);
    audits.reported(leased[1].index, 2);
    for left in (0..FAILED_MAX).rev() {
        fail(&mut audits, leased[2].index);
        assert!(!has_alone_for(&audits, ONE));
        assert_eq!(take_alone(&mut audits, TWO).len(), usize::from(left > 0));
    }
    let settled = leased[1].index;
    assert_eq!(
        settle(&mut audits, settled, 3, AuditRecord::Same),
        None,
        "not its sender"
    );
    assert_eq!(settle(&mut audits, settled, 2, OTHER), Some(ONE));
    assert_eq!(
        settle(&mut audits, settled, 2, OTHER),
        None,
        "settled already"
    );
    assert_eq!(
        settle(&mut audits, leased[3].index, 2, OTHER),
        None,
        "not reported"
    );
    let shown = audits.so_far();
    assert_eq!((shown.agreed, shown.differing, shown.waiting()), (0, 1, 8));
    assert_eq!(shown.given_up, 1, "no longer waits");
    assert_eq!(
        listed_for(&audits, TWO),
        7,
        "all but the leased, settled and given-up games"
    );
}

#[test]
fn only_poisonous_audit_is_given_up() {
    let mut audits = audits(1_000_000, 8);
    (0..8).for_each(|index| audits.durable(index, ONE));
    take(&mut audits, 8, TWO);
    (0..8).for_each(|index| audits.lose(index));
    assert_eq!((listed_for(&audits, TWO), audits.so_far().given_up), (0, 0));
    let poison = 5;
    while let [game] = take_alone(&mut audits, TWO)[..] {
        if game.index == poison {
            fail(&mut audits, poison);
        } else {
            audits.reported(game.index, 2);
            settle(&mut audits, game.index, 2, AuditRecord::Same);
        }
        audits.find(|_| true);
        assert_eq!(listed_for(&audits, TWO), 0, "none is listed twice");
    }
    let shown = audits.so_far();
    assert_eq!((shown.agreed, shown.given_up, shown.waiting()), (7, 1, 0));
}

#[test]
fn uncompared_audit_of_lost_worker_is_repeated() {
    let mut audits = audits(1_000_000, 4);
    (0..4).for_each(|index| audits.durable(index, ONE));
    let leased = take(&mut audits, 2, TWO);
    audits.reported(leased[0].index, 2);
    audits.reported(leased[1].index, 2);
    assert!(settle(&mut audits, leased[0].index, 2, AuditRecord::Same).is_some());
    audits.left(3);
    assert_eq!(listed_for(&audits, TWO), 2, "worker 3 sent none of them");
    audits.left(2);
    assert_eq!(listed_for(&audits, TWO), 3);
    assert_eq!(
        settle(&mut audits, leased[1].index, 2, OTHER),
        None,
        "waits again"
    );
    assert_eq!(all(&mut audits, TWO).len(), 3);
    assert_eq!(audits.so_far().waiting(), 0);
}

/// A game of process 1 whose audit by process 2 gave another record.
fn disputed() -> Audits {
    let mut audits = audits(1_000_000, 1);
    audits.durable(0, ONE);
    take(&mut audits, 1, TWO);
    audits.reported(0, 2);
    let settled = audits
        .settle(
            0,
            2,
            TWO,
            OTHER,
            &WorkerProcesses::default(),
            &AgentStarts::default(),
        )
        .0;
    assert!(matches!(settled, Settled::Disputed(_)), "{settled:?}");
    audits
}

#[test]
fn third_process_settles_a_dispute() {
    let three = WorkerProcess::Process(3);
    for (record, refuted) in [(OTHER, 1), (AuditRecord::Same, 0)] {
        let mut audits = disputed();
        assert!(audits.is_open());
        assert_eq!((listed_for(&audits, ONE), listed_for(&audits, TWO)), (0, 0));
        // Lost with others, and sent by a worker that left before it was compared.
        take(&mut audits, 1, three);
        audits.lose(0);
        assert_eq!(take_alone(&mut audits, TWO), []);
        assert_eq!(take_alone(&mut audits, three).len(), 1);
        audits.reported(0, 3);
        audits.left(3);
        audits.find(|_| true);
        assert_eq!(take(&mut audits, 8, three).len(), 1, "listed once");
        audits.reported(0, 4);
        let settled = audits
            .settle(
                0,
                4,
                three,
                record,
                &WorkerProcesses::default(),
                &AgentStarts::default(),
            )
            .0;
        assert!(matches!(settled, Settled::Last(..)), "{settled:?}");
        let shown = audits.so_far();
        assert_eq!(
            (shown.differing, shown.disputed, shown.refuted),
            (1, 0, refuted)
        );
        assert!(!audits.is_open());
    }
}

#[test]
fn failing_third_play_is_given_up() {
    let three = WorkerProcess::Process(3);
    let mut audits = disputed();
    take(&mut audits, 1, three);
    for _ in 0..FAILED_MAX {
        fail(&mut audits, 0);
        take_alone(&mut audits, three);
    }
    assert!(!audits.is_open());
    let shown = audits.so_far();
    assert_eq!((shown.disputed, shown.given_up, shown.waiting()), (1, 0, 0));
}

#[test]
fn samples_do_not_count_as_agreed() {
    let mut audits = audits(1_000_000, 1);
    audits.durable(0, ONE);
    take(&mut audits, 1, TWO);
    audits.reported(0, 2);
    assert_eq!(settle(&mut audits, 0, 2, AuditRecord::Sample), Some(ONE));
    let shown = audits.so_far();
    assert_eq!((shown.sampled, shown.agreed, shown.waiting()), (1, 0, 0));
}

#[test]
fn game_that_another_owner_cannot_play_is_unverified_until_a_worker_joins() {
    for (auditor, unverified) in [("owner", 0), ("another owner", 1)] {
        let mut processes = WorkerProcesses::default();
        processes.set_owner(ONE, "owner".into());
        processes.set_owner(TWO, auditor.into());
        let agents = AgentStarts::default();
        let mut audits = audits(1_000_000, 1);
        audits.durable(0, ONE);
        take(&mut audits, 1, TWO);
        for _ in 0..FAILED_MAX {
            audits.fail(0, TWO, &processes, &agents);
            take_alone(&mut audits, TWO);
        }
        let shown = audits.so_far();
        assert_eq!((shown.given_up, shown.unverified), (1, unverified));
        audits.try_again();
        let shown = audits.so_far();
        assert_eq!(
            (shown.given_up, shown.unverified, shown.waiting()),
            (0, 0, 1)
        );
        assert_eq!(take_alone(&mut audits, TWO).len(), 1);
        audits.fail(0, TWO, &processes, &agents);
        assert_eq!(audits.so_far().unverified, unverified, "one more attempt");
    }
}
