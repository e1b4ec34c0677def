//! Starts of an agent: the first one, those after a failure, and those after a failed batch.

use std::time::{Duration, Instant};

use arena_engine::FaultKind;
use tokio::time;

use super::{
    Event, Token,
    client::AgentTask,
    connection::{self, AgentConnection, Down, Source, Start},
    question::BatchFailure,
    window::Window,
};

/// Failed starts in a row after which the agent counts as not started.
const STARTS: u32 = 3;
/// Pause after a failed start, doubled each time.
const BACK_OFF: Duration = Duration::from_millis(200);
/// The same for an endpoint, which its operator may be restarting.
const BACK_OFF_ENDPOINT: Duration = Duration::from_secs(1);
/// A process floods if it exceeds the output limit. The agent is given up after this many floods
/// in a row, unless a question asked alone of a fresh process explains them.
const FLOODS: u32 = 3;
/// The count of floods starts again if a process ran longer than this before it flooded.
const FLOOD_ROW: Duration = Duration::from_secs(60);

impl AgentTask {
    /// Starts or connects the agent unless it is connected already. Returns the last failure if
    /// [`STARTS`] attempts failed.
    pub(super) async fn ensure_connected(&mut self) -> Result<(), Down> {
        let connection = self.connection.as_ref();
        if connection.is_some_and(|connection| !connection.is_dead()) {
            return Ok(());
        }
        self.disconnect().await;
        let mut wait = match self.setup.source {
            Source::Endpoint(_) => BACK_OFF_ENDPOINT,
            Source::Program { .. } | Source::Binary { .. } => BACK_OFF,
        };
        let mut attempt = 1;
        let connection = loop {
            let how = Start {
                name: &self.setup.name,
                own_cores: self.setup.own_cores,
            };
            let open = AgentConnection::open(how, &self.setup.source, &self.environment);
            match connection::warn_while_waiting(&self.setup.name, open).await {
                Err(Down::Agent(fault_report)) if attempt < STARTS => {
                    tracing::info!(agent = self.setup.name, attempt, "{}", fault_report.message);
                    time::sleep(wait).await;
                    wait *= 2;
                    attempt += 1;
                }
                connected => break connected?,
            }
        };
        if connection.is_process() {
            let metrics = &self.environment.metrics;
            metrics.add_agent_processes(&self.setup.label, 1);
            if self.has_run {
                metrics.agent_restarted(&self.setup.label);
            }
        }
        let replica = self.client.replicas.get(self.replica);
        replica.connected(connection.output().cloned());
        self.has_run = true;
        self.up_since = Instant::now();
        self.connection = Some(connection);
        self.start_load();
        Ok(())
    }

    /// Ends the agent's process or the connection.
    pub(super) async fn disconnect(&mut self) {
        self.client.replicas.get(self.replica).disconnected();
        if let Some(connection) = self.connection.take() {
            if connection.is_process() {
                let metrics = &self.environment.metrics;
                metrics.add_agent_processes(&self.setup.label, -1);
            }
            connection.close().await;
        }
    }

    /// Counts a flood. Returns true if there were [`FLOODS`] in a row, so that another restart
    /// would not help.
    pub(super) fn flooded_again(&mut self) -> bool {
        if self.up_since.elapsed() > FLOOD_ROW {
            self.floods = 0;
        }
        self.floods += 1;
        self.floods >= FLOODS
    }

    /// Returns the unanswered questions of a failed batch to the driver, which asks them again
    /// alone. If the batch failed or was late, restarts the agent, and also returns the waiting
    /// questions.
    pub(super) async fn ask_again(&mut self, mut unanswered: Vec<Token>, why: BatchFailure) {
        match why {
            BatchFailure::Single => {
                if let Some(connection) = &mut self.connection {
                    connection.single = true;
                }
            }
            BatchFailure::Failed(status) => {
                if let Some(connection) = &self.connection {
                    let fault_report = connection.fault_report(&status).await;
                    if fault_report.kind == FaultKind::OutputLimit && self.flooded_again() {
                        self.client.broken.replace(Some(fault_report));
                    } else {
                        tracing::info!(
                            agent = self.setup.name,
                            "a batch failed ({}): asking its questions alone",
                            fault_report.message
                        );
                    }
                }
                self.restart(&mut unanswered).await;
            }
            BatchFailure::Late(limit) => {
                tracing::info!(
                    agent = self.setup.name,
                    "no answer to a batch within {limit:?}: asking its questions alone"
                );
                self.restart(&mut unanswered).await;
            }
        }
        if !unanswered.is_empty() {
            self.send_event(Event::Unanswered(unanswered));
        }
    }

    async fn restart(&mut self, unanswered: &mut Vec<Token>) {
        unanswered.extend(self.client.inbox.borrow_mut().take_batched());
        self.client.asks_alone.set(true);
        // Starts again with single questions, so that an agent that hangs is found early.
        *self.client.window.borrow_mut() = Window::new(self.batch_max);
        self.set_room();
        self.disconnect().await;
    }
}
