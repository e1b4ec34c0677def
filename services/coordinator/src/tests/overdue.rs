//! A worker that invents progress.

use std::time::Duration;

use arena_wire::v1::TournamentState;

use super::{
    contest::Contest,
    fixture::{memory, options},
};
use crate::Options;

#[tokio::test]
async fn worker_that_invents_progress_does_not_hold_up_a_tournament() {
    let contest = Contest::with(Options {
        lease_deadline: Duration::from_millis(200),
        audit_share: 0.0,
        ..options(memory())
    })
    .await;
    let mut liar = contest.join("liar", 1).await;
    let mut leases = Vec::new();
    while let Some(lease) = liar.try_lease(0).await.expect("answered") {
        leases.push(lease);
    }
    assert!(!leases.is_empty());
    let mut worker = contest.join("honest", 2).await;
    let mut plies = 0;
    while contest.state().await == TournamentState::Running {
        plies += 1;
        assert!(plies < 1000, "the liar holds its games");
        for lease in &leases {
            liar.beat(lease, plies).await;
        }
        worker.play_all().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(contest.state().await, TournamentState::Finished);
    for lease in &leases {
        assert_eq!(liar.beat(lease, plies + 1).await, [lease.lease_id]);
    }
}
