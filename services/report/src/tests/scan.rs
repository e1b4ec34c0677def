use arena_engine::{FaultKind, SeatFault, Termination};
use arena_model::GameRecord;
use arena_wire::v1;

use crate::scan::Scan;

fn record(index: u64, seats: [u16; 2], placement: [u8; 2]) -> GameRecord {
    GameRecord {
        index,
        block: index / 2,
        seed: "0x0123456789abcdef".parse().expect("a seed"),
        seats: seats.to_vec(),
        events: Vec::new(),
        start: None,
        opening_plies: 0,
        placement: placement.to_vec(),
        scores: vec![0, 0],
        luck: Vec::new(),
        plies: 10 + index as u32,
        decisions: vec![5, 5],
        termination: Termination::Normal,
        faults: vec![SeatFault {
            ply: 3,
            seat: 1,
            kind: FaultKind::Crash,
        }],
        adjudication: Vec::new(),
        hash: [0; 32],
        course: 0,
        beginning: arena_model::Beginning::default(),
        transcript: None,
    }
}

#[test]
fn scan_sums_all_games() {
    let names = vec!["one".to_owned(), "two".to_owned()];
    let mut scan = Scan::new("cup-0123456789", &names, 2, 4, None);
    let results = [
        ([0, 1], [1, 2]),
        ([1, 0], [1, 2]),
        ([0, 1], [1, 1]),
        ([1, 0], [2, 1]),
    ];
    for (index, (seats, placement)) in (0..).zip(results) {
        let side = v1::GameReport {
            fault_details: vec![v1::FaultDetail {
                seat: 1,
                message: "it died".to_owned(),
                stderr_tail: "why\n".to_owned(),
            }],
            ..v1::GameReport::default()
        };
        scan.add(&record(index, seats, placement), &side, "line");
    }
    assert_eq!(scan.games, 4);
    assert_eq!(scan.by_seat(0), [Some(0.75), Some(0.5)]);
    assert_eq!(scan.by_seat(1), [Some(0.5), Some(0.25)]);
    let course = scan.course(0);
    let last = course.last().copied().flatten();
    assert_eq!(
        (course.first().copied().flatten(), last),
        (Some(1.0), Some(0.625))
    );
    assert_eq!(
        scan.lengths.keys().copied().collect::<Vec<_>>(),
        [10, 11, 12, 13]
    );
    let groups = &scan.faults.groups;
    let faulty: Vec<(&str, u64)> = groups
        .iter()
        .map(|fault| (fault.agent.as_str(), fault.count))
        .collect();
    assert_eq!(faulty, [("two", 2), ("one", 2)]);
    assert_eq!(
        (groups[0].message.as_str(), groups[0].stderr.as_str()),
        ("it died", "why")
    );
    assert_eq!(
        scan.digest(),
        hex::encode(<sha2::Sha256 as sha2::Digest>::digest("line\n".repeat(4)))
    );
}
