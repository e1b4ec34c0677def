//! Who is charged for disputed games.

use super::*;

const ONE: WorkerProcess = WorkerProcess::Process(1);
const TWO: WorkerProcess = WorkerProcess::Process(2);
const THREE: WorkerProcess = WorkerProcess::Process(3);
const FOUR: WorkerProcess = WorkerProcess::Process(4);

fn unowned(_: WorkerProcess) -> Option<Owner> {
    None
}

/// Each process has an owner.
fn owned(process: WorkerProcess) -> Option<Owner> {
    match process {
        WorkerProcess::Process(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// So many owners, all of whom are connected.
fn known(owners: usize) -> (usize, impl Fn(&BTreeSet<Option<Owner>>) -> bool) {
    (owners, move |among: &BTreeSet<Option<Owner>>| {
        among.len() < owners
    })
}

fn charged(played: Option<Played>) -> (Confirmed, Charged) {
    match played {
        Some(Played::Last(_, confirmed, charged)) => (confirmed, charged),
        other => panic!("{other:?}"),
    }
}

fn dispute(first: WorkerProcess, second: WorkerProcess) -> Dispute {
    Dispute {
        first,
        second,
        hash: [2; 32],
        agent: Some(0),
        third: None,
    }
}

#[test]
fn third_play_settles_who_is_charged() {
    let mut disputes = Disputes::default();
    let between = dispute(ONE, TWO);
    let cases = [
        (None, Confirmed::Durable, Charged::Process(TWO)),
        (Some([2; 32]), Confirmed::Other, Charged::Process(ONE)),
        (Some([3; 32]), Confirmed::Neither, Charged::Agent),
    ];
    for (hash, confirmed, charged) in cases {
        disputes.charged.clear();
        assert!(disputes.add(7, between));
        assert_eq!(
            disputes.settle(7, hash, THREE, unowned, known(1)),
            Some(Played::Last(between, confirmed, charged))
        );
        let again = disputes.settle(7, hash, THREE, unowned, known(1));
        assert_eq!(again, None, "settled already");
        assert_eq!((disputes.len(), disputes.waiting()), (0, 0));
    }
}

#[test]
fn agent_is_charged_after_a_second_process() {
    let mut disputes = Disputes::default();
    let settle = |disputes: &mut Disputes, index, first, second| {
        disputes.add(index, dispute(first, second));
        charged(disputes.settle(index, Some([2; 32]), THREE, unowned, known(1))).1
    };
    let unknown = WorkerProcess::Unknown;
    let mut settle = |index, first, second| settle(&mut disputes, index, first, second);
    assert_eq!(settle(6, unknown, TWO), Charged::Process(unknown));
    assert_eq!(settle(7, ONE, TWO), Charged::Process(ONE));
    assert_eq!(settle(8, ONE, TWO), Charged::Process(ONE));
    assert_eq!(settle(9, TWO, ONE), Charged::Agent);
    assert_eq!(settle(10, ONE, TWO), Charged::Agent, "for good");
    let games = |disputes: &mut Disputes| -> Vec<u64> {
        let charges = disputes.take_acquitted();
        charges.iter().map(|charge| charge.index).collect()
    };
    assert_eq!(games(&mut disputes), [7, 8]);
    assert_eq!(games(&mut disputes), [0; 0]);
}

#[test]
fn processes_of_a_liar_do_not_acquit_each_other() {
    let mut disputes = Disputes::default();
    // The liar has the even processes; the others have an owner each.
    let owner = |process| match process {
        WorkerProcess::Process(number) if number % 2 == 0 => Some("liar".into()),
        WorkerProcess::Process(number) => Some(number.to_string().into()),
        _ => None,
    };
    let mut settle = |index, [first, second, third]: [u64; 3]| {
        let [first, second, third] = [first, second, third].map(WorkerProcess::Process);
        disputes.add(index, dispute(first, second));
        charged(disputes.settle(index, Some([2; 32]), third, owner, known(3))).1
    };
    for (index, process) in [2, 4, 6, 2].into_iter().enumerate() {
        assert_eq!(
            settle(index as u64, [process, 1, 3]),
            Charged::Process(WorkerProcess::Process(process))
        );
    }
    // Processes of the liar cannot charge one of their own instead of the agent.
    assert_eq!(settle(7, [8, 10, 3]), Charged::Agent);
    let games = disputes.take_acquitted();
    let games: Vec<u64> = games.iter().map(|charge| charge.index).collect();
    assert_eq!(games, [0, 1, 2, 3]);
}

#[test]
fn two_records_of_one_owner_charge_no_agent() {
    let owner = |process| match process {
        WorkerProcess::Process(number) if number < 3 => Some("liar".into()),
        WorkerProcess::Process(number) => Some(number.to_string().into()),
        _ => None,
    };
    let settle = |disputes: &mut Disputes, [first, second]: [_; 2], hash, owned: bool| {
        disputes.add(7, dispute(first, second));
        let owner = |process| owner(process).filter(|_| owned);
        charged(disputes.settle(7, hash, THREE, owner, known(2)))
    };
    let neither = Some([3; 32]);
    let mut disputes = Disputes::default();
    for by in [[ONE, ONE], [TWO, TWO], [ONE, TWO]] {
        let process = Charged::Process(by[0]);
        let settled = settle(&mut disputes, by, neither, true);
        assert_eq!(settled, (Confirmed::Neither, process));
    }
    assert!(disputes.take_acquitted().is_empty());
    // Without owners, the records of two processes are those of strangers.
    let mut disputes = Disputes::default();
    let settled = settle(&mut disputes, [ONE, TWO], neither, false);
    assert_eq!(settled.1, Charged::Agent);
    let settled = settle(&mut disputes, [ONE, ONE], neither, false);
    assert_eq!(settled.1, Charged::Process(ONE));
}

#[test]
fn agent_is_charged_after_a_second_owner() {
    let mut disputes = Disputes::default();
    let mut settle = |index, first, second, third| {
        disputes.add(index, dispute(first, second));
        charged(disputes.settle(index, Some([2; 32]), third, owned, known(3))).1
    };
    assert_eq!(settle(0, ONE, TWO, THREE), Charged::Process(ONE));
    assert_eq!(settle(1, TWO, ONE, THREE), Charged::Agent);
}

#[test]
fn two_of_four_owners_cannot_charge_an_agent() {
    let mut disputes = Disputes::default();
    let mut settle = |index, first, second, third| {
        disputes.add(index, dispute(first, second));
        charged(disputes.settle(index, Some([2; 32]), third, owned, known(4))).1
    };
    assert_eq!(settle(0, ONE, THREE, FOUR), Charged::Process(ONE));
    assert_eq!(settle(1, TWO, THREE, FOUR), Charged::Process(TWO));
    assert_eq!(settle(2, ONE, THREE, FOUR), Charged::Process(ONE));
    assert_eq!(settle(3, THREE, ONE, FOUR), Charged::Agent, "a third owner");
}

#[test]
fn fourth_owner_settles_three_different_records() {
    let hashes = [None, Some([2; 32]), Some([3; 32]), Some([4; 32])];
    let expected = [
        (Confirmed::Durable, Charged::Both([TWO, THREE])),
        (Confirmed::Other, Charged::Both([ONE, THREE])),
        (Confirmed::Neither, Charged::Both([ONE, TWO])),
        (Confirmed::Neither, Charged::Agent),
    ];
    for (hash, expected) in hashes.into_iter().zip(expected) {
        let mut disputes = Disputes::default();
        disputes.add(7, dispute(ONE, TWO));
        let played = disputes.settle(7, Some([3; 32]), THREE, owned, known(4));
        let Some(Played::Third(open)) = played else {
            panic!("{played:?}");
        };
        assert_eq!(open.third, Some((THREE, [3; 32])));
        assert_eq!((disputes.len(), disputes.waiting()), (1, 1));
        let settled = charged(disputes.settle(7, hash, FOUR, owned, known(4)));
        assert_eq!(settled, expected, "{hash:?}");
    }
    // Without a fourth owner, nothing more can be found out.
    let mut disputes = Disputes::default();
    disputes.add(7, dispute(ONE, TWO));
    let settled = charged(disputes.settle(7, Some([3; 32]), THREE, owned, known(3)));
    assert_eq!(settled, (Confirmed::Neither, Charged::Agent));
}

#[test]
fn open_disputes_are_bounded() {
    let mut disputes = Disputes::default();
    let added = (0..5_000).filter(|&index| disputes.add(index, dispute(ONE, TWO)));
    assert_eq!(added.count(), OPEN_MAX);
    assert!(disputes.give_up(3) && disputes.give_up(3));
    assert_eq!(
        (disputes.len(), disputes.waiting()),
        (OPEN_MAX, OPEN_MAX - 1)
    );
}
