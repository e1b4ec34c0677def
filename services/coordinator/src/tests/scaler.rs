//! KEDA's external scaler, driven by a client of its protocol.

use std::time::Duration;

use arena_wire::{
    keda::{
        GetMetricsRequest, IsActiveResponse, MetricSpec, ScaledObjectRef,
        external_scaler_client::ExternalScalerClient,
    },
    reasons, v1,
};
use tokio::time::timeout;
use tonic::{Code, Status, Streaming, transport::Channel};

use super::{
    door::{Guarded, of_role},
    fixture::{Fixture, SPEC, memory, options, refused},
};

/// Maximum time until a change is sent. It takes a few milliseconds.
const LIMIT: Duration = Duration::from_secs(20);
const METRIC: &str = "arena-work-seconds";

fn trigger(metadata: &[(&str, &str)]) -> ScaledObjectRef {
    let metadata = metadata.iter();
    ScaledObjectRef {
        name: "arena-worker".to_owned(),
        namespace: "arena".to_owned(),
        scaler_metadata: metadata
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

/// What KEDA sends besides the keys of a scaler.
fn of_keda() -> ScaledObjectRef {
    trigger(&[
        ("scalerAddress", "arena-coordinator:7600"),
        ("enableTLS", "true"),
    ])
}

async fn scaler(arena: &Fixture) -> ExternalScalerClient<Channel> {
    ExternalScalerClient::new(arena.channel().await)
}

async fn work(
    scaler: &mut ExternalScalerClient<Channel>,
    of: ScaledObjectRef,
    metric: &str,
) -> Result<f64, Status> {
    let request = GetMetricsRequest {
        scaled_object_ref: Some(of),
        metric_name: metric.to_owned(),
    };
    let values = scaler.get_metrics(request).await?.into_inner();
    let [value] = &*values.metric_values else {
        panic!("one value: {values:?}");
    };
    assert_eq!(value.metric_name, metric);
    assert_eq!(value.metric_value, value.metric_value_float.ceil() as i64);
    Ok(value.metric_value_float)
}

async fn is_active(scaler: &mut ExternalScalerClient<Channel>) -> bool {
    let answer = scaler.is_active(of_keda()).await.expect("answered");
    answer.into_inner().result
}

async fn next(changes: &mut Streaming<IsActiveResponse>) -> Option<bool> {
    let next = timeout(LIMIT, changes.message()).await.expect("in time");
    next.expect("no error").map(|it| it.result)
}

#[tokio::test]
async fn workers_come_with_a_start_and_go_with_the_last_game() {
    let mut arena = Fixture::new().await;
    let mut scaler = scaler(&arena).await;
    let changes = scaler.stream_is_active(of_keda()).await.expect("open");
    let mut changes = changes.into_inner();
    assert_eq!(next(&mut changes).await, Some(false));
    assert!(!is_active(&mut scaler).await);
    assert_eq!(
        work(&mut scaler, of_keda(), METRIC).await.expect("known"),
        0.0
    );

    let id = arena.start(SPEC).await.tournament_id;
    assert_eq!(next(&mut changes).await, Some(true));
    assert!(is_active(&mut scaler).await);
    let first = work(&mut scaler, of_keda(), METRIC).await.expect("known");
    assert_eq!((first / 60.0).ceil(), 1.0, "one worker: {first}");

    arena.pause(&id).await;
    assert_eq!(next(&mut changes).await, Some(false));
    assert_eq!(
        work(&mut scaler, of_keda(), METRIC).await.expect("known"),
        0.0
    );
    arena.resume(&id).await;
    assert_eq!(next(&mut changes).await, Some(true));

    arena.join("one").await.play_all().await;
    assert_eq!(next(&mut changes).await, Some(false));
    assert!(!is_active(&mut scaler).await);
    assert_eq!(
        work(&mut scaler, of_keda(), METRIC).await.expect("known"),
        0.0
    );

    arena.stop().await;
    let end = timeout(LIMIT, changes.message()).await.expect("it ends");
    assert!(matches!(end, Ok(None)), "without an error: {end:?}");
}

#[tokio::test]
async fn work_is_measured() {
    let mut arena = Fixture::new().await;
    let mut scaler = scaler(&arena).await;
    arena
        .start(&SPEC.replace("blocks = 20", "blocks = 5000"))
        .await;
    let mut worker = arena.join("one").await;
    let took = Duration::from_millis(500);
    for _ in 0..3 {
        let request = v1::LeaseRequest {
            worker_id: worker.id.clone(),
            boot_epoch: worker.boot_epoch,
            session: worker.session.clone(),
            games: 10,
            ..Default::default()
        };
        let lease = worker.client.lease(request).await.expect("answered");
        let lease = lease.into_inner().lease.expect("games");
        assert_eq!(lease.games.len(), 10);
        tokio::time::sleep(took).await;
        worker.play(&lease).await;
    }
    // Ten games in half a second. Requests take time as well, on a busy machine more than this.
    let work = work(&mut scaler, of_keda(), METRIC).await.expect("known");
    let least = 9_970.0 * took.as_secs_f64() / 10.0;
    assert!((least..10.0 * least).contains(&work), "{work}, {least}");
}

#[tokio::test]
async fn restarted_coordinator_has_work_at_once() {
    let store = memory();
    let mut arena = Fixture::with(options(store.clone())).await;
    arena.start(SPEC).await;
    arena.stop().await;
    let arena = Fixture::with(options(store)).await;
    assert!(is_active(&mut scaler(&arena).await).await);
}

#[tokio::test]
async fn metadata_sets_the_work_of_a_worker() {
    let arena = Fixture::new().await;
    let mut scaler = scaler(&arena).await;
    for (of, seconds) in [
        (of_keda(), 60),
        (trigger(&[("secondsPerWorker", "300")]), 300),
    ] {
        let expected = MetricSpec {
            metric_name: METRIC.to_owned(),
            target_size: seconds,
            target_size_float: seconds as f64,
        };
        let specs = scaler.get_metric_spec(of.clone()).await.expect("answered");
        let pushed = scaler.stream_metric_spec(of).await.expect("open");
        let pushed = pushed.into_inner().message().await.expect("open");
        assert_eq!(pushed.as_ref(), Some(specs.get_ref()));
        assert_eq!(specs.into_inner().metric_specs, [expected]);
    }
    let wrong = [
        ("secondsPerWorker", "0", "an integer from 1 to 86400"),
        ("secondsPerWorker", "86401", "an integer from 1 to 86400"),
        ("secondsPerWorker", "1.5", "an integer from 1 to 86400"),
        ("secondsPerWorker", "", "an integer from 1 to 86400"),
        ("gamesPerWorker", "5", "\"gamesPerWorker\""),
    ];
    let code = Code::InvalidArgument;
    let reason = reasons::REQUEST_INVALID;
    for (key, value, expected) in wrong {
        let of = trigger(&[(key, value)]);
        let messages = [
            refused(scaler.is_active(of.clone()).await, code, reason),
            refused(scaler.stream_is_active(of.clone()).await, code, reason),
            refused(scaler.get_metric_spec(of.clone()).await, code, reason),
            refused(scaler.stream_metric_spec(of.clone()).await, code, reason),
            refused(work(&mut scaler, of, METRIC).await, code, reason),
        ];
        for message in messages {
            assert!(message.contains(expected), "{message}");
        }
    }
    let message = refused(work(&mut scaler, of_keda(), "games").await, code, reason);
    assert!(message.contains(METRIC), "{message}");
    let none = GetMetricsRequest {
        scaled_object_ref: None,
        metric_name: METRIC.to_owned(),
    };
    scaler.get_metrics(none).await.expect("the defaults");
}

#[tokio::test]
async fn streams_of_a_token_are_limited() {
    let arena = Guarded::new().await;
    let token = v1::TokenInfo {
        limits: Some(v1::TokenLimits {
            streams: Some(1),
            ..Default::default()
        }),
        ..of_role(v1::Role::Viewer)
    };
    let token = arena.try_create(token, 0).await.expect("created");
    let mut scaler = ExternalScalerClient::new(arena.connection(&token));
    let open = scaler.stream_is_active(of_keda()).await.expect("open");
    let second = scaler.stream_metric_spec(of_keda()).await;
    refused(second, Code::ResourceExhausted, reasons::LIMIT_REACHED);
    drop(open);
    let again = async {
        while scaler.stream_metric_spec(of_keda()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LIMIT, again)
        .await
        .expect("the place is free again");
}
