//! KEDA's external scaler: how many workers the work needs.

use std::{collections::BTreeMap, pin::Pin};

use arena_wire::keda::{self, external_scaler_server::ExternalScaler};
use tokio::sync::mpsc;
use tokio_stream::{Stream, wrappers::ReceiverStream};
use tonic::{Request, Response, Status};

use super::Answer;
use crate::{error::Error, handle::Handle};

/// The only metric.
const METRIC: &str = "arena-work-seconds";
/// The only key of a trigger's metadata that is not KEDA's.
const KEY: &str = "secondsPerWorker";
/// Keys that KEDA itself reads, and sends as well.
const KEDA_KEYS: [&str; 7] = [
    "scalerAddress",
    "enableTLS",
    "unsafeSsl",
    "caCert",
    "tlsCertFile",
    "tlsClientCert",
    "tlsClientKey",
];
/// Seconds of work for one worker by default.
const PER_WORKER: u32 = 60;
/// Maximum seconds of work for one worker.
const PER_WORKER_MAX: u32 = 86_400;

/// The service.
pub(crate) struct ScalerRpc {
    pub(crate) handle: Handle,
}

/// The answers of a stream.
type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl ExternalScaler for ScalerRpc {
    async fn is_active(
        &self,
        request: Request<keda::ScaledObjectRef>,
    ) -> Answer<keda::IsActiveResponse> {
        per_worker(&request.get_ref().scaler_metadata)?;
        let result = *self.handle.active.borrow();
        Ok(Response::new(keda::IsActiveResponse { result }))
    }

    type StreamIsActiveStream = Answers<keda::IsActiveResponse>;

    async fn stream_is_active(
        &self,
        request: Request<keda::ScaledObjectRef>,
    ) -> Answer<Self::StreamIsActiveStream> {
        per_worker(&request.get_ref().scaler_metadata)?;
        let mut active = self.handle.active.clone();
        Ok(self.stream(async move |sender: mpsc::Sender<_>| {
            loop {
                let result = *active.borrow_and_update();
                let sent = sender.send(Ok(keda::IsActiveResponse { result })).await;
                // Without a receiver or a coordinator, the stream ends.
                if sent.is_err() || active.changed().await.is_err() {
                    return;
                }
            }
        }))
    }

    async fn get_metric_spec(
        &self,
        request: Request<keda::ScaledObjectRef>,
    ) -> Answer<keda::GetMetricSpecResponse> {
        Ok(Response::new(spec(request.get_ref())?))
    }

    type StreamMetricSpecStream = Answers<keda::GetMetricSpecResponse>;

    async fn stream_metric_spec(
        &self,
        request: Request<keda::ScaledObjectRef>,
    ) -> Answer<Self::StreamMetricSpecStream> {
        let spec = spec(request.get_ref())?;
        Ok(self.stream(async move |sender: mpsc::Sender<_>| {
            if sender.send(Ok(spec)).await.is_ok() {
                sender.closed().await;
            }
        }))
    }

    async fn get_metrics(
        &self,
        request: Request<keda::GetMetricsRequest>,
    ) -> Answer<keda::GetMetricsResponse> {
        let keda::GetMetricsRequest {
            scaled_object_ref,
            metric_name,
        } = request.into_inner();
        let metadata = scaled_object_ref.unwrap_or_default().scaler_metadata;
        let per_worker = per_worker(&metadata)?;
        if metric_name != METRIC {
            return Err(Error::Request(format!(
                "the metric {metric_name:?} does not exist; ask for {METRIC:?}"
            ))
            .into());
        }
        let work = self
            .handle
            .ask(move |core| Ok(core.work_seconds(per_worker.into())))
            .await?;
        Ok(Response::new(keda::GetMetricsResponse {
            metric_values: vec![keda::MetricValue {
                metric_name,
                metric_value: work.ceil() as i64,
                metric_value_float: work,
            }],
        }))
    }
}

impl ScalerRpc {
    /// The answers that `send` sends, until it returns, the caller leaves or the coordinator stops.
    fn stream<T: Send + 'static, F>(
        &self,
        send: impl FnOnce(mpsc::Sender<Result<T, Status>>) -> F,
    ) -> Response<Answers<T>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(1);
        let mut stopping = self.handle.stopping.clone();
        let left = sender.clone();
        let sending = send(sender);
        tokio::spawn(async move {
            tokio::select! {
                () = sending => {}
                () = left.closed() => {}
                // Without a sender, the coordinator has ended.
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
        });
        Response::new(Box::pin(ReceiverStream::new(receiver)))
    }
}

/// The metric, with its value for one worker.
fn spec(of: &keda::ScaledObjectRef) -> Result<keda::GetMetricSpecResponse, Error> {
    let per_worker = per_worker(&of.scaler_metadata)?;
    Ok(keda::GetMetricSpecResponse {
        metric_specs: vec![keda::MetricSpec {
            metric_name: METRIC.to_owned(),
            target_size: per_worker.into(),
            target_size_float: per_worker.into(),
        }],
    })
}

/// Seconds of work for one worker, from the metadata of a trigger.
fn per_worker(metadata: &BTreeMap<String, String>) -> Result<u32, Error> {
    let is_unknown = |key: &&String| **key != KEY && !KEDA_KEYS.contains(&key.as_str());
    if let Some(key) = metadata.keys().find(is_unknown) {
        return Err(Error::Request(format!(
            "the metadata of the trigger has the unknown key {key:?}; remove it: the only key of \
             Arena is {KEY}"
        )));
    }
    let Some(text) = metadata.get(KEY) else {
        return Ok(PER_WORKER);
    };
    let seconds = text.parse().ok();
    let seconds = seconds.filter(|seconds| (1..=PER_WORKER_MAX).contains(seconds));
    seconds.ok_or_else(|| {
        Error::Request(format!(
            "the metadata of the trigger has {KEY} {text:?}; set it to an integer from 1 to \
             {PER_WORKER_MAX}"
        ))
    })
}
