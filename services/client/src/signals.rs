//! Signals: the first SIGINT or SIGTERM requests a graceful stop, the second ends the
//! program.

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use crate::failure::{Kind, Outcome};

/// Signals that a stop was requested.
#[derive(Clone)]
pub struct Interrupt(watch::Receiver<bool>);

impl Interrupt {
    /// Listens for signals from now on.
    pub fn listen() -> Outcome<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let (sender, reported) = watch::channel(false);
        tokio::spawn(async move {
            for asked in 1.. {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if asked > 1 {
                    std::process::exit(Kind::Interrupted as i32);
                }
                sender.send_replace(true);
            }
        });
        Ok(Self(reported))
    }

    /// Waits until a stop is requested.
    pub async fn asked(&mut self) {
        // The sender belongs to a task that lives as long as the program.
        let _ = self.0.wait_for(|&asked| asked).await;
    }
}
