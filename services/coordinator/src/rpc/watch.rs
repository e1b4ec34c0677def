//! Standings that are sent after each change.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use arena_wire::v1;
use prost::Message;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio_stream::Stream;
use tonic::Status;

use super::{audits, standings::loaded};
use crate::{
    core::{Core, is_over},
    error::Error,
    handle::Handle,
    messages::Version,
    principal::Principal,
};

/// Interval between two messages of a watch.
const STEP: Duration = Duration::from_millis(250);

/// The room that a message takes until its reader asks for the next one; none for administrators.
type Room = Option<OwnedSemaphorePermit>;

/// A tournament that is watched.
pub(crate) struct Watched {
    pub(super) id: String,
    pub(super) versions: watch::Receiver<Version>,
    pub(super) sees_audits: bool,
    pub(super) by: Principal,
}

/// The messages of a watch.
pub(crate) struct Messages {
    receiver: mpsc::Receiver<(Result<v1::WatchTournamentResponse, Status>, Room)>,
    /// Of the message that is being sent.
    room: Room,
}

impl Messages {
    /// The standings at once and after changes, until the tournament is over or the coordinator stops.
    pub(super) fn of(handle: Handle, watched: Watched) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            match send(&handle, watched, &sender).await {
                Ok(()) | Err(Error::Draining) => {}
                // A watcher that is gone needs no reason.
                Err(error) => drop(sender.send((Err(error.into()), None)).await),
            }
        });
        Self {
            receiver,
            room: None,
        }
    }
}

impl Stream for Messages {
    type Item = Result<v1::WatchTournamentResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // The connection asks for another message when it has sent the one before.
        self.room = None;
        let next = self.receiver.poll_recv(context);
        next.map(|next| {
            let (message, room) = next?;
            self.room = room;
            Some(message)
        })
    }
}

async fn send(
    handle: &Handle,
    Watched {
        id,
        mut versions,
        sees_audits,
        by,
    }: Watched,
    sender: &mpsc::Sender<(Result<v1::WatchTournamentResponse, Status>, Room)>,
) -> Result<(), Error> {
    let mut stopping = handle.stopping.clone();
    let mut changed = true;
    let mut room = None;
    loop {
        changed |= matches!(versions.has_changed(), Ok(true));
        versions.mark_unchanged();
        let mut standing = loaded(handle, &id, Core::shown).await?;
        if room.is_none()
            && let Some((all, kib)) = by.room(standing.encoded_len())
        {
            let Ok(taken) = all.clone().try_acquire_many_owned(kib) else {
                // Other messages of this token have to be read first. This one is not kept meanwhile.
                drop(standing);
                tokio::select! {
                    taken = all.acquire_many_owned(kib) => room = taken.ok(),
                    () = sender.closed() => return Ok(()),
                    _ = stopping.changed() => return Ok(()),
                }
                continue;
            };
            room = Some(taken);
        }
        let over = is_over(standing.state());
        if !sees_audits && !over {
            let standings = standing.standings.as_mut();
            standings
                .into_iter()
                .for_each(|it| audits::hide_open(&mut it.audits));
        }
        let sent = sender.send((Ok(standing), room.take())).await;
        if sent.is_err() || over || *stopping.borrow_and_update() {
            return Ok(());
        }
        // A receiver of its own: `wait_for` marks each change that it looks at as seen.
        let mut ends = versions.clone();
        tokio::select! {
            () = tokio::time::sleep(STEP) => {}
            // The end is sent at once, because callers often wait for it.
            _ = ends.wait_for(|version| version.over) => changed = true,
            _ = stopping.changed() => continue,
            () = sender.closed() => return Ok(()),
        }
        // The message may have been slightly old. After this interval, which is longer than that,
        // the standings are sent once more.
        if std::mem::take(&mut changed) {
            continue;
        }
        tokio::select! {
            ended = versions.changed() => match ended {
                Ok(()) => changed = true,
                Err(_) => return Ok(()),
            },
            _ = stopping.changed() => {}
            () = sender.closed() => return Ok(()),
        }
    }
}
