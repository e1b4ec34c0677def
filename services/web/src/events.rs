//! Standings as server-sent events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};
use tokio_stream::wrappers::ReceiverStream;

use crate::{
    answer::{Failure, protect},
    site::Site,
};

/// Duration of an answer. Browsers ask again by themselves.
const DURATION: Duration = Duration::from_secs(60);
/// Time between two looks at the shared standings.
const STEP: Duration = Duration::from_secs(1);
/// Milliseconds after which a browser asks again.
const RETRY: &[u8] = b"retry: 1000\n\n";

/// Sends the standings at once, unless the browser has them, and after changes, while it may read.
pub(crate) async fn answer(
    site: &Arc<Site>,
    id: &str,
    headers: &HeaderMap,
    is_public: bool,
    may_read: impl Fn() -> bool + Send + 'static,
) -> Result<Response, Failure> {
    // An unknown tournament is no stream.
    site.snapshot(id).await?;
    let known = headers.get("last-event-id");
    let known = known.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let (sender, events) = mpsc::channel(1);
    tokio::spawn(send(
        Arc::clone(site),
        id.to_owned(),
        known,
        sender,
        may_read,
    ));
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(events)));
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    protect(&mut response, is_public, false);
    Ok(response)
}

async fn send(
    site: Arc<Site>,
    id: String,
    mut known: Option<String>,
    sender: mpsc::Sender<Result<Bytes, Infallible>>,
    may_read: impl Fn() -> bool,
) {
    let end = Instant::now() + DURATION;
    if sender.send(Ok(Bytes::from_static(RETRY))).await.is_err() {
        return;
    }
    while Instant::now() < end {
        let Ok(snapshot) = site.snapshot(&id).await else {
            // The browser asks again, and gets the reason.
            return;
        };
        if known.as_ref() != Some(&snapshot.version) {
            known = Some(snapshot.version.clone());
            if sender.send(Ok(snapshot.event.clone())).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = sleep(STEP) => {}
            () = sender.closed() => return,
        }
        // Its token may have been revoked.
        if !may_read() {
            return;
        }
    }
}
