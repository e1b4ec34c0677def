//! The first SIGINT or SIGTERM asks a program to end well, the second ends it.

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use crate::failure::{Kind, Outcome};

/// Tells when the program was asked to end.
#[derive(Clone)]
pub(crate) struct Interrupt(watch::Receiver<bool>);

impl Interrupt {
    /// Listens for signals from now on.
    pub(crate) fn listen() -> Outcome<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let (tell, reported) = watch::channel(false);
        tokio::spawn(async move {
            for asked in 1.. {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if asked > 1 {
                    std::process::exit(Kind::Interrupted as i32);
                }
                tell.send_replace(true);
            }
        });
        Ok(Self(reported))
    }

    /// Waits until the program is asked to end.
    pub(crate) async fn asked(&mut self) {
        // The sender lives in a task that never ends before the program does.
        let _ = self.0.wait_for(|&asked| asked).await;
    }
}
