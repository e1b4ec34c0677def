use http_body::Body as HttpBody;

use super::*;

fn reports(games_max: u64) -> Arc<Reports> {
    let metrics = CoordinatorMetrics::new(&arena_telemetry::Registry::new(), ["cowry"]);
    Reports::new(games_max, Arc::new(metrics.expect("a fresh registry")))
}

fn admit(reports: &Arc<Reports>) -> Result<Arc<Admitted>, Duration> {
    reports.admit(&"one".into())
}

#[tokio::test]
async fn excess_reports_wait_for_room() {
    let reports = reports(100);
    let first = admit(&reports).expect("room");
    first.has(60);
    let second = admit(&reports).expect("room");
    second.has(60);
    let wait = admit(&reports).err().expect("no room");
    assert!((WAIT.0..=WAIT.1).contains(&wait), "{wait:?}");
    drop(first);
    assert!(admit(&reports).is_ok(), "room again");
}

#[tokio::test]
async fn unread_reports_take_half_of_the_room() {
    let reports = reports(100);
    for _ in 0..64 {
        admit(&reports).expect("room").has(50);
    }
    let unread = [(); 9].map(|()| admit(&reports).expect("room"));
    let read = admit(&reports).expect("room");
    read.has(50);
    assert!(admit(&reports).is_err(), "no room");
    drop(unread);
    assert!(admit(&reports).is_ok(), "room again");
    drop(read);
    let unread: Vec<_> = std::iter::from_fn(|| admit(&reports).ok()).collect();
    assert_eq!(unread.len() as u64, UNREAD_MAX);
    drop(unread);
    let held = reports.lock();
    assert_eq!(
        (held.unread, held.read, held.games, held.bytes),
        (0, 0, 0, 0)
    );
}

#[tokio::test]
async fn unfinished_reports_of_one_caller_leave_room_for_others() {
    let reports = reports(100);
    let [one, two]: [Arc<str>; 2] = ["one".into(), "two".into()];
    let mut open = Vec::new();
    while let Ok(admitted) = reports.admit(&one) {
        assert!(open.len() < 32, "too many");
        // A message of 1 MiB of which nothing comes.
        let (sender, frames) = tokio::sync::mpsc::channel(1);
        let prefix = Frame::data(Bytes::from_static(&[0, 0, 0x10, 0, 0]));
        sender.send(prefix).await.expect("it is read");
        let mut body = admitted.metered(Body::new(Dripping(frames)), &one);
        let frame = std::future::poll_fn(|context| {
            let frame = HttpBody::poll_frame(Pin::new(&mut body), context);
            assert!(frame.is_ready());
            assert!(HttpBody::poll_frame(Pin::new(&mut body), context).is_pending());
            frame
        });
        frame.await.expect("a frame").expect("the prefix");
        open.push((admitted, body, sender));
    }
    assert!(open.len() > 8, "{}", open.len());
    let other = reports.admit(&two).expect("room for others");
    other.has(100);
    drop((open, other));
    assert!(reports.admit(&one).is_ok(), "room again");
}

#[tokio::test]
async fn bytes_are_bounded_and_released() {
    let reports = reports(100);
    let first = admit(&reports).expect("room");
    assert!(first.read(BYTES_MAX));
    assert!(admit(&reports).is_err(), "no room");
    assert!(!first.read(BYTES_MAX), "too much");
    drop(first);
    assert_eq!(reports.lock().bytes, 0);
}

#[tokio::test]
async fn stalled_report_is_aborted() {
    let reports = reports(100);
    let now = Instant::now();
    // First a pause that is too long, then a body that takes too long in total.
    for (since, drops) in [(now - PAUSE_MAX, 0), (now - READ_MAX, 1)] {
        let mut admitted = admit(&reports).expect("room");
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
        assert_eq!(reports.lock().unread, 0);
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
    let reports = reports(100);
    for _ in 0..64 {
        admit(&reports).expect("alone").has(1_000);
    }
}

#[tokio::test]
async fn reports_that_wait_for_replays_leave_room_for_others() {
    let reports = reports(100);
    let [one, two, three]: [Arc<str>; 3] = ["one", "two", "three"].map(Into::into);
    let read = |caller: &Arc<str>| {
        let report = reports.admit(caller).expect("room");
        report.has(100);
        assert!(report.read(ASIDE_CALLER_BYTES_MAX / 2));
        report
    };
    let first = read(&one);
    let first_aside = first.set_aside(&one).expect("room");
    let second = read(&one);
    let second_aside = second.set_aside(&one).expect("room");
    let third = read(&one);
    let refused = third.set_aside(&one).err();
    assert!(
        matches!(refused, Some(Error::Overloaded { .. })),
        "half is for other callers: {refused:?}"
    );
    drop(third);
    let other = read(&two);
    let other_aside = other.set_aside(&two).expect("room");
    let last = read(&two);
    let last_aside = last.set_aside(&two).expect("room");
    let none = read(&three);
    let refused = none.set_aside(&three).err();
    assert!(
        matches!(refused, Some(Error::Overloaded { .. })),
        "{refused:?}"
    );
    drop((none, first_aside, second_aside, other_aside, last_aside));
    drop((first, second, other, last));
    let held = reports.lock();
    assert_eq!((held.read, held.games, held.bytes), (0, 0, 0));
    assert!(held.aside.is_empty());
}
