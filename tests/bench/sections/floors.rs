//! What the machine itself can do: two processes that only answer each other.

use std::{
    io::{Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use arena_tests::World;
use tonic::transport::{Channel, Endpoint};

use self::empty::{AgentServiceClient, ChooseMoveRequest, ChooseMovesRequest, Decision};
use crate::{
    Settings, note,
    report::{Figure, Measured, median},
    usage::cpu_seconds,
};

mod empty;

/// Decisions of a batch, and batches in flight, as in a worker.
const BATCH: u64 = 256;
const BATCHES: usize = 4;

/// Average size of a cowry decision of two seats, in bytes.
const DECISION_BYTES: usize = 51;

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let world = World::new();
    let mut take = |what: &str, run: &dyn Fn(f64) -> anyhow::Result<Figure>| {
        note(format!("  {what}"));
        let runs = (0..settings.runs()).map(|_| run(settings.seconds()));
        let figure = runs
            .collect::<anyhow::Result<Vec<_>>>()
            .and_then(|runs| median(runs).context("no run"));
        measured.take(
            what,
            figure.map(|figure| {
                vec![Figure {
                    what: what.to_owned(),
                    ..figure
                }]
            }),
        );
    };
    take("a byte through a pipe and back", &pipe);
    for (id, what, outstanding) in [
        ("unary-1", "bare gRPC unary, empty message, 1 in flight", 1),
        (
            "unary-64",
            "bare gRPC unary, empty message, 64 in flight",
            64,
        ),
    ] {
        take(what, &|seconds| unary(&world, id, outstanding, seconds));
    }
    for (id, what, outstanding) in [
        (
            "stream-1",
            "bare gRPC stream, empty message, 1 in flight",
            1,
        ),
        (
            "stream-64",
            "bare gRPC stream, empty message, 64 in flight",
            64,
        ),
    ] {
        take(what, &|seconds| stream(&world, id, outstanding, 0, seconds));
    }
    let what = "bare gRPC stream, as many bytes as 256 decisions a message, 4 in flight";
    let bytes = BATCH as usize * DECISION_BYTES;
    take(what, &|seconds| {
        stream(&world, "stream-batch", BATCHES, bytes, seconds)
    });
}

/// The server side, in its own process.
pub(crate) fn serve(kind: &str) -> anyhow::Result<()> {
    match kind {
        "pipe" => {
            let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
            let mut byte = [0];
            while input.read(&mut byte)? == 1 {
                output.write_all(&byte)?;
                output.flush()?;
            }
            Ok(())
        }
        socket => runtime()?.block_on(empty::serve(Path::new(socket))),
    }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    Ok(builder.enable_all().build()?)
}

/// A child process that is killed when dropped.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        // An error means that it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(kind: &str, pipes: bool) -> anyhow::Result<Other> {
    let pipe = || if pipes { Stdio::piped() } else { Stdio::null() };
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--serve-floor", kind]);
    Ok(Other(command.stdin(pipe()).stdout(pipe()).spawn()?))
}

/// Measures time and CPU of this process and another one.
struct Clock {
    other: u32,
    cpu_seconds: f64,
    started: Instant,
}

impl Clock {
    fn new(other: u32) -> Self {
        Self {
            other,
            cpu_seconds: cpu_seconds(std::process::id()) + cpu_seconds(other),
            started: Instant::now(),
        }
    }

    fn figure(&self, id: &str, unit: &'static str, count: u64) -> Figure {
        let seconds = self.started.elapsed().as_secs_f64();
        let cpu = cpu_seconds(std::process::id()) + cpu_seconds(self.other) - self.cpu_seconds;
        Figure {
            id: format!("floors.{id}"),
            unit,
            per_second: count as f64 / seconds,
            cpu_us: Some(cpu * 1e6 / count.max(1) as f64),
            ..Figure::default()
        }
    }
}

fn pipe(seconds: f64) -> anyhow::Result<Figure> {
    let mut other = start("pipe", true)?;
    let mut input = other.0.stdin.take().context("a pipe")?;
    let mut output = other.0.stdout.take().context("a pipe")?;
    let mut byte = [7];
    let clock = Clock::new(other.0.id());
    let limit = Duration::from_secs_f64(seconds);
    let mut count = 0;
    while clock.started.elapsed() < limit {
        input.write_all(&byte)?;
        output.read_exact(&mut byte)?;
        count += 1;
    }
    Ok(clock.figure("pipe", "round trips", count))
}

/// A server in its own process, and a connection to it.
async fn connect(world: &World) -> anyhow::Result<(Other, Channel)> {
    static SOCKETS: AtomicU64 = AtomicU64::new(0);
    let number = SOCKETS.fetch_add(1, Ordering::Relaxed);
    let socket = world.folder().join(format!("floor-{number}"));
    let socket = socket.to_str().context("a path in UTF-8")?;
    let mut other = start(socket, false)?;
    let endpoint = Endpoint::from_shared(format!("unix://{socket}"))?;
    loop {
        match endpoint.connect().await {
            Ok(channel) => return Ok((other, channel)),
            Err(error) => {
                if let Some(status) = other.0.try_wait()? {
                    bail!("the server of the floors ended with {status}: {error}");
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
}

fn unary(world: &World, id: &str, outstanding: usize, seconds: f64) -> anyhow::Result<Figure> {
    runtime()?.block_on(async {
        let (other, channel) = connect(world).await?;
        let clock = Clock::new(other.0.id());
        let end = clock.started + Duration::from_secs_f64(seconds);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..outstanding {
            let mut agent = AgentServiceClient::new(channel.clone());
            tasks.spawn(async move {
                let mut count = 0_u64;
                while Instant::now() < end {
                    agent.choose_move(ChooseMoveRequest::default()).await?;
                    count += 1;
                }
                Ok::<_, tonic::Status>(count)
            });
        }
        let mut count = 0;
        while let Some(joined) = tasks.join_next().await {
            count += joined??;
        }
        Ok(clock.figure(id, "round trips", count))
    })
}

fn stream(
    world: &World,
    id: &str,
    outstanding: usize,
    bytes: usize,
    seconds: f64,
) -> anyhow::Result<Figure> {
    let mut message = ChooseMovesRequest::default();
    if bytes > 0 {
        message.decisions.push(Decision {
            position: vec![7; bytes],
            ..Decision::default()
        });
    }
    runtime()?.block_on(async {
        let (other, channel) = connect(world).await?;
        let (send, receive) = tokio::sync::mpsc::channel(outstanding);
        for _ in 0..outstanding {
            send.send(message.clone()).await?;
        }
        let messages = tokio_stream::wrappers::ReceiverStream::new(receive);
        let mut agent = AgentServiceClient::new(channel);
        let mut answers = agent.choose_moves(messages).await?.into_inner();
        let clock = Clock::new(other.0.id());
        let limit = Duration::from_secs_f64(seconds);
        let mut count = 0;
        while clock.started.elapsed() < limit {
            answers.message().await?.context("the stream ended")?;
            send.send(message.clone()).await?;
            count += 1;
        }
        if bytes > 0 {
            return Ok(clock.figure(id, "decisions", count * BATCH));
        }
        Ok(clock.figure(id, "round trips", count))
    })
}
