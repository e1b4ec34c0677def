//! The size of reports, and refused games.

use super::*;

/// Reports games of these sizes at once. Returns the games of each report.
fn reports_of(sizes: impl Iterator<Item = usize>) -> Vec<Vec<u64>> {
    let mut worker = Worker::leased(0);
    let lease = worker.hand.lease;
    for (game, size) in sizes.enumerate() {
        let now = Duration::ZERO;
        worker.protocol.finished(now, lease, game as u64, size);
    }
    let mut reports = Vec::new();
    while let Some(action) = worker.next(Duration::ZERO) {
        if let Action::Report { report, games, .. } = action {
            reports.push(games);
            worker.protocol.reported(report);
        }
    }
    assert_eq!(worker.protocol.unanswered(), 0);
    reports
}

#[test]
fn reports_are_bounded_in_games_and_bytes() {
    let counts = |sizes: &[usize]| -> Vec<usize> {
        let reports = reports_of(sizes.iter().copied());
        let all: Vec<u64> = reports.iter().flatten().copied().collect();
        assert_eq!(all, (0..sizes.len() as u64).collect::<Vec<_>>(), "in order");
        reports.iter().map(Vec::len).collect()
    };
    assert_eq!(counts(&[100; 600]), [256, 256, 88]);
    let mega = 1 << 20;
    assert_eq!(counts(&[mega; 9]), [4, 4, 1]);
    assert_eq!(counts(&[1, 30 * mega, 1, 1]), [1, 1, 2]);
}

/// Reports games until each is accepted or dropped; the coordinator refuses some of them.
/// Returns the accepted games, the replaced games, and the maximum number of simultaneous
/// reports.
fn with_refused(games: u64, refused: &[u64]) -> (Vec<u64>, Vec<u64>, usize) {
    let mut worker = Worker::leased(0);
    let (now, lease) = (Duration::ZERO, worker.hand.lease);
    for game in 0..games {
        worker.protocol.finished(now, lease, game, 100);
    }
    // Each game, and whether it is reported as a failed attempt.
    let mut kept: BTreeMap<ReportNo, Vec<(u64, bool)>> = BTreeMap::new();
    let (mut taken, mut replaced, mut most) = (Vec::new(), Vec::new(), 0);
    while worker.protocol.unanswered() > 0 {
        let mut on_the_way = Vec::new();
        while let Some(action) = worker.next(now) {
            match action {
                Action::Report { report, games, .. } => {
                    kept.insert(report, games.into_iter().map(|it| (it, false)).collect());
                    on_the_way.push(report);
                }
                Action::ReportAgain { report, .. } => on_the_way.push(report),
                _ => {}
            }
        }
        most = most.max(on_the_way.len());
        assert!(!on_the_way.is_empty(), "it owes games and sends none");
        for report in on_the_way {
            let mut games = kept.remove(&report).expect("sent");
            let wrong = |(game, failed): &(u64, bool)| refused.contains(game) && !failed;
            if !games.iter().any(wrong) {
                worker.protocol.reported(report);
                taken.extend(games.iter().filter(|it| !it.1).map(|it| it.0));
                continue;
            }
            match worker.protocol.not_reported(now, report, Refusal::Contents) {
                RefusedReport::Split { first, halves } => {
                    let rest = games.split_off(first);
                    assert!(!games.is_empty() && !rest.is_empty());
                    kept.extend(halves.into_iter().zip([games, rest]));
                }
                RefusedReport::Replaced => {
                    assert_eq!(games.len(), 1, "the culprit alone");
                    replaced.push(games[0].0);
                    kept.insert(report, vec![(games[0].0, true)]);
                }
                fate => panic!("{fate:?}"),
            }
        }
    }
    taken.sort_unstable();
    replaced.sort_unstable();
    (taken, replaced, most)
}

#[test]
fn backlog_stops_new_games() {
    // The limit is 128 games or 32 MB.
    for (owed, bytes) in [(128, 100), (32, 1 << 20)] {
        let mut worker = Worker::leased(0);
        let (now, lease) = (Duration::ZERO, worker.hand.lease);
        for game in 0..owed {
            worker.protocol.finished(now, lease, game, bytes);
        }
        assert!(!worker.protocol.holds());
        worker.protocol.finished(now, lease, owed, bytes);
        assert!(worker.protocol.holds());
        let asks = |it: &Action<u64>| matches!(it, Action::Ask { .. });
        let actions = worker.all(now);
        assert!(!actions.iter().any(asks), "{actions:?}");
        let report = actions.iter().find_map(|it| match it {
            Action::Report { report, .. } => Some(*report),
            _ => None,
        });
        // The halves still count until the coordinator has accepted them.
        let report = report.expect("it reports");
        let fate = worker.protocol.not_reported(now, report, Refusal::Contents);
        assert!(worker.protocol.holds());
        let RefusedReport::Split { halves, .. } = fate else {
            panic!("{fate:?}");
        };
        for half in halves {
            worker.protocol.reported(half);
        }
        assert!(!worker.protocol.holds());
        assert!(worker.all(now).iter().any(asks));
    }
}

#[test]
fn refused_game_costs_no_other() {
    let all: Vec<u64> = (0..256).collect();
    for refused in [&[][..], &[0], &[255], &[100, 101], &[3, 77, 200], &all] {
        let (taken, replaced, most) = with_refused(256, refused);
        assert_eq!(replaced, refused);
        let others = all.iter().copied().filter(|game| !refused.contains(game));
        assert_eq!(taken, others.collect::<Vec<_>>());
        assert!(most <= 4, "{most} reports at a time");
    }
}

#[test]
fn refused_attempt_is_dropped() {
    let mut worker = Worker::leased(0);
    let (now, lease) = (Duration::ZERO, worker.hand.lease);
    worker.protocol.finished(now, lease, 1, 100);
    let Some(Action::Report { report, .. }) = worker.next(now) else {
        panic!("it reports");
    };
    let mut refuse = || worker.protocol.not_reported(now, report, Refusal::Contents);
    assert_eq!(
        [refuse(), refuse()],
        [RefusedReport::Replaced, RefusedReport::Dropped]
    );
    assert_eq!(worker.protocol.unanswered(), 0);
}
