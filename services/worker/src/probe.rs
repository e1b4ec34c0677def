//! One process of an agent that is asked without a game, for checks of the agent.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arena_engine::FaultKind;
use arena_telemetry::{Registry, WorkerMetrics};
use arena_wire::v1::{self, agent_setup};
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, SysconfVar, sysconf},
};
use prost::{Message, bytes::Bytes};
use tokio::time;

use crate::{
    agent::{
        connection::{AgentConnection, Source, Start},
        link::Link,
    },
    environment::{AgentOptions, BinaryProvider, Environment},
    player::DescribeError,
};

/// A field that no message has: number 999 with the value 7.
const UNKNOWN_FIELD: [u8; 3] = [0xb8, 0x3e, 7];

/// A running process of an agent, or a connection to its endpoint.
#[derive(Debug)]
pub struct Probe {
    connection: AgentConnection,
    has_unknown_fields: bool,
    /// Time from the start until it was ready.
    pub started_in: Duration,
}

/// How a process is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By SIGTERM.
    Signal,
    /// By the end of its standard input; only for lines.
    Input,
}

/// What the answers to questions were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The move for each decision, in the order of the decisions.
    pub moves: Vec<u32>,
    /// Time until the last answer.
    pub took: Duration,
}

impl Probe {
    /// Starts or reaches an agent, as a worker does for a game.
    ///
    /// # Errors
    /// [`DescribeError`].
    pub async fn start(
        source: agent_setup::Source,
        binaries: Arc<dyn BinaryProvider>,
        options: AgentOptions,
    ) -> Result<Self, DescribeError> {
        let metrics =
            WorkerMetrics::new(&Registry::new(), ["none"; 0]).map_err(DescribeError::ours)?;
        let environment = Environment::new(options, binaries, Arc::new(metrics));
        let source = Source::of(source, &environment);
        let how = Start {
            name: "agent",
            own_cores: None,
        };
        let start = Instant::now();
        let connection = AgentConnection::open(how, &source, &environment).await?;
        Ok(Self {
            connection,
            has_unknown_fields: false,
            started_in: start.elapsed(),
        })
    }

    /// The protocol that it speaks.
    #[must_use]
    pub fn protocol(&self) -> &'static str {
        match self.connection.link {
            Link::Grpc(_) => "gRPC",
            Link::Lines(..) => "lines",
        }
    }

    /// Adds fields to the following questions that this version of Arena does not have.
    pub fn add_unknown_fields(&mut self) {
        self.has_unknown_fields = true;
        if let Link::Lines(lines, _) = &self.connection.link {
            lines.add_unknown_fields();
        }
    }

    /// Asks each decision alone.
    ///
    /// # Errors
    /// [`DescribeError`]: the fault that it would be in a game.
    pub async fn ask_alone(
        &self,
        context: &v1::GameContext,
        decisions: &[v1::Decision],
        limit: Duration,
    ) -> Result<Asked, DescribeError> {
        let mut moves = Vec::with_capacity(decisions.len());
        let mut took = Duration::ZERO;
        for decision in decisions {
            let start = Instant::now();
            let message = self.message(context, std::slice::from_ref(decision), limit, 0);
            let answer = self.connection.link.clone().choose_move(message, limit);
            let answer = time::timeout(limit, answer).await;
            let answer = answer.map_err(|_| late(limit))?;
            let answer = match answer {
                Ok(answer) => v1::ChooseMoveResponse::decode(answer).map_err(garbled)?,
                Err(status) => return Err(self.fault(&status).await),
            };
            moves.push(answer.move_id);
            took = took.max(start.elapsed());
        }
        Ok(Asked { moves, took })
    }

    /// Asks all decisions in one batch. None if the agent has no batches, or does not answer each
    /// decision of one.
    ///
    /// # Errors
    /// As [`Probe::ask_alone`].
    pub async fn ask_together(
        &self,
        context: &v1::GameContext,
        decisions: &[v1::Decision],
        limit: Duration,
    ) -> Result<Option<Asked>, DescribeError> {
        let numbered = decisions.iter().enumerate();
        let numbered = numbered.map(|(slot, decision)| v1::Decision {
            slot: slot as u32,
            ..decision.clone()
        });
        let numbered: Vec<_> = numbered.collect();
        let mut stream = self.connection.link.stream(1, numbered.len());
        let start = Instant::now();
        stream.send(&self.message(context, &numbered, limit, 1));
        let mut moves = vec![None; numbered.len()];
        while moves.contains(&None) {
            let answer = time::timeout_at((start + limit).into(), stream.next()).await;
            let answer = match answer.map_err(|_| late(limit))? {
                Ok(answer) => v1::ChooseMovesResponse::decode(answer).map_err(garbled)?,
                Err(status) if status.code() == tonic::Code::Unimplemented => return Ok(None),
                Err(status) => return Err(self.fault(&status).await),
            };
            for choice in &answer.choices {
                let place = moves.get_mut(choice.slot as usize);
                let place = place.filter(|place| place.is_none()).ok_or_else(|| {
                    garbled(format!("answer to slot {}, which is not open", choice.slot))
                })?;
                *place = Some(choice.move_id);
            }
            if answer.last && moves.contains(&None) {
                return Ok(None);
            }
        }
        Ok(Some(Asked {
            moves: moves.into_iter().flatten().collect(),
            took: start.elapsed(),
        }))
    }

    /// The encoded request, which serves for one question and for a batch.
    fn message(
        &self,
        context: &v1::GameContext,
        decisions: &[v1::Decision],
        limit: Duration,
        batch: u64,
    ) -> Bytes {
        let message = v1::ChooseMovesRequest {
            contexts: vec![context.clone()],
            decisions: decisions.to_vec(),
            time_budget_us: limit.as_micros() as u64,
            batch,
        };
        let mut bytes = message.encode_to_vec();
        if self.has_unknown_fields && matches!(self.connection.link, Link::Grpc(_)) {
            bytes.extend(UNKNOWN_FIELD);
        }
        bytes.into()
    }

    async fn fault(&self, status: &tonic::Status) -> DescribeError {
        let fault_report = self.connection.fault_report(status).await;
        DescribeError {
            kind: Some(fault_report.kind),
            message: fault_report.message,
            stderr_tail: fault_report.tail,
        }
    }

    /// Memory of its processes, in bytes; none for an endpoint.
    #[must_use]
    pub fn memory_bytes(&self) -> Option<u64> {
        let process = self.connection.process()?;
        let page = sysconf(SysconfVar::PAGE_SIZE)
            .ok()
            .flatten()
            .unwrap_or(4096) as u64;
        let resident = |pid: i32| {
            let process = procfs::process::Process::new(pid).ok()?;
            Some(process.statm().ok()?.resident * page)
        };
        Some(process.processes().into_iter().filter_map(resident).sum())
    }

    /// Asks the process to end. Returns the time until it had ended; none if it had not within the
    /// limit. Then it is killed.
    pub async fn end(self, how: Ending, limit: Duration) -> Option<Duration> {
        let start = Instant::now();
        let process = self.connection.process()?;
        match (how, &self.connection.link) {
            (Ending::Input, Link::Lines(lines, _)) => lines.close("the check ends it"),
            (Ending::Input, Link::Grpc(_)) => {}
            (Ending::Signal, _) => {
                for pid in process.processes() {
                    let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
                }
            }
        }
        let ended = process.exit_within(limit).await;
        let took = start.elapsed();
        self.connection.close().await;
        ended.map(|_| took)
    }

    /// Ends the process as a worker does.
    pub async fn stop(self) {
        self.connection.close().await;
    }
}

fn late(limit: Duration) -> DescribeError {
    DescribeError {
        kind: Some(FaultKind::Timeout),
        message: format!("no answer within {limit:?}"),
        stderr_tail: String::new(),
    }
}

fn garbled(problem: impl ToString) -> DescribeError {
    DescribeError {
        kind: Some(FaultKind::Garbled),
        message: problem.to_string(),
        stderr_tail: String::new(),
    }
}
