use arena_store::{MemoryStore, Store};
use http_body::Body as HttpBody;

use super::*;
use crate::{door::Access, limits::RoleLimits};

fn gate(games_max: u64) -> Arc<Gate> {
    let metrics = CoordinatorMetrics::new(&arena_telemetry::Registry::new(), ["cowry"]);
    let metrics = Arc::new(metrics.expect("a fresh registry"));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new().expect("a memory store"));
    let door = Door::load(&Access::Open, &RoleLimits::default(), &store).expect("an empty store");
    let trail = Trail::open(None).expect("nothing to open");
    Gate::new(games_max, 100, metrics, door, trail)
}

#[tokio::test]
async fn excess_reports_wait_for_room() {
    let gate = gate(100);
    let first = gate.admit().expect("room");
    first.has(60);
    let second = gate.admit().expect("room");
    second.has(60);
    let wait = gate.admit().err().expect("no room");
    assert!((WAIT.0..=WAIT.1).contains(&wait), "{wait:?}");
    drop(first);
    assert!(gate.admit().is_ok(), "room again");
}

#[tokio::test]
async fn unread_reports_count_as_average() {
    let gate = gate(100);
    for _ in 0..64 {
        gate.admit().expect("room").has(50);
    }
    let unread: Vec<_> = std::iter::from_fn(|| gate.admit().ok()).collect();
    assert_eq!(unread.len(), 2);
    drop(unread);
    let held = gate.lock();
    assert_eq!((held.reports, held.games, held.bytes), (0, 0, 0));
}

#[tokio::test]
async fn gate_bounds_and_releases_bytes() {
    let gate = gate(100);
    let first = gate.admit().expect("room");
    assert!(first.read(BYTES_MAX));
    assert!(gate.admit().is_err(), "no room");
    assert!(!first.read(BYTES_MAX), "too much");
    drop(first);
    assert_eq!(gate.lock().bytes, 0);
}

#[tokio::test]
async fn stalled_report_is_aborted() {
    let gate = gate(100);
    let now = Instant::now();
    // First a pause that is too long, then a body that takes too long in total.
    for (since, drops) in [(now - PAUSE_MAX, 0), (now - READ_MAX, 1)] {
        let mut admitted = gate.admit().expect("room");
        Arc::get_mut(&mut admitted).expect("alone").since = since;
        let (sender, frames) = tokio::sync::mpsc::channel(1);
        for _ in 0..drops {
            let frame = Frame::data(Bytes::from_static(b"x"));
            sender.send(frame).await.expect("it is read");
        }
        let body = Body::new(Dripping(frames));
        let mut body = Metered::new(body, admitted);
        for _ in 0..drops {
            let frame = next(&mut body).await.expect("a frame");
            assert!(frame.is_ok(), "{frame:?}");
        }
        let status = next(&mut body)
            .await
            .expect("no end")
            .expect_err("no frame");
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
        drop((body, sender));
        assert_eq!(gate.lock().reports, 0);
    }
}

async fn next(body: &mut Metered) -> Option<Result<Frame<Bytes>, Status>> {
    std::future::poll_fn(|context| HttpBody::poll_frame(Pin::new(body), context)).await
}

/// A body whose frames come from a channel.
struct Dripping(tokio::sync::mpsc::Receiver<Frame<Bytes>>);

impl HttpBody for Dripping {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.0.poll_recv(context).map(|frame| frame.map(Ok))
    }
}

#[tokio::test]
async fn large_report_is_taken_alone() {
    let gate = gate(100);
    for _ in 0..64 {
        gate.admit().expect("alone").has(1_000);
    }
}
