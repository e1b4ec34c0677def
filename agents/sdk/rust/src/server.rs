//! The gRPC server around an agent.

use std::{
    future::Future,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::{Server, server::TcpIncoming};
use tonic_health::ServingStatus;

use crate::{
    agent::Process,
    choosers::SharedChoosers,
    listen::{LISTEN_VARIABLE, Listen, ListenError, Listener, Socket},
    service::AgentService,
};

/// Maximum number of concurrent calls of one connection; more calls wait.
const STREAMS_MAX: u32 = 256;
/// Maximum number of calls that a client may begin and drop before its connection is
/// closed.
const RESETS_MAX: usize = 256;
/// Flow-control window for batches, of one stream and of a connection.
const WINDOW_BYTES: u32 = 1 << 20;
/// Time limit for pending answers once the process must end.
const GRACE: Duration = Duration::from_secs(5);

/// The services that reflection lists, without the other ones in the descriptors.
const SERVICES: [&str; 4] = [
    "arena.v1.AgentService",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
];

/// A server that could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The listen address is not usable.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The server failed.
    #[error("the server failed: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// Reflection could not be set up.
    #[error("cannot serve reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// An error of the runtime, signals or standard output.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Serves until `stop` is ready, then finishes pending answers.
///
/// # Errors [`ServeError`].
pub async fn serve<P: Process>(
    process: P,
    listener: Listener,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let (end, ending) = watch::channel(false);
    let shared = Arc::new(SharedChoosers::new(process, ending)?);
    let ended = shared.ended();
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<AgentService<P>>().await;
    let reflection = || {
        let builder = tonic_reflection::server::Builder::configure()
            .include_reflection_service(false)
            .register_encoded_file_descriptor_set(arena_wire::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(
                tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
            );
        SERVICES
            .iter()
            .fold(builder, |builder, name| builder.with_service_name(*name))
    };
    let router = Server::builder()
        .max_concurrent_streams(STREAMS_MAX)
        .http2_max_local_error_reset_streams(Some(RESETS_MAX))
        .http2_max_pending_accept_reset_streams(Some(RESETS_MAX))
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(4 * WINDOW_BYTES)
        .add_service(AgentService(shared))
        .add_service(health_service)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?);
    let stopped = async {
        stop.await;
        health
            .set_service_status("", ServingStatus::NotServing)
            .await;
        // The receivers may already be gone.
        let _ = end.send(true);
        tokio::time::sleep(GRACE).await;
    };
    let served = async {
        match listener.socket {
            Socket::Tcp(socket) => {
                let incoming = TcpIncoming::from(socket).with_nodelay(Some(true));
                router.serve_with_incoming_shutdown(incoming, ended).await
            }
            Socket::Unix(socket, _file) => {
                let incoming = UnixListenerStream::new(socket);
                router.serve_with_incoming_shutdown(incoming, ended).await
            }
        }
    };
    tokio::select! {
        served = served => Ok(served?),
        () = stopped => Ok(()),
    }
}

/// Ready at the first SIGTERM or SIGINT.
///
/// # Errors If the system does not allow signal handlers.
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Prints `{"listen":"…"}` as a line on standard output, so that the parent process learns
/// the port.
///
/// # Errors If standard output is closed.
pub fn announce(listener: &Listener) -> io::Result<()> {
    let address = listener.address().to_string();
    let escaped = address.replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = io::stdout().lock();
    writeln!(out, "{{\"listen\":\"{escaped}\"}}")?;
    out.flush()
}

/// Runs an agent as a process: listens on the address in [`LISTEN_VARIABLE`], and serves
/// until SIGTERM or SIGINT.
///
/// Exit codes: 0 when asked to stop, 2 if [`LISTEN_VARIABLE`] is not an address, 1 for
/// other failures; the reason is on standard error.
pub fn run(process: impl Process) -> ExitCode {
    match run_until_stopped(process) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the message is lost.
            let _ = writeln!(io::stderr(), "error: {error}");
            match error {
                ServeError::Listen(ListenError::Address(_)) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn run_until_stopped(process: impl Process) -> Result<(), ServeError> {
    let reported = Listen::from_env()?;
    // One thread: a second would cost more per call than it saves.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let stop = stop_signal()?;
        let listener = Listener::bind(reported.as_ref().unwrap_or(&Listen::default())).await?;
        if reported.is_none() {
            writeln!(
                io::stderr(),
                "{LISTEN_VARIABLE} is not set, so a free port is used; to play, run: arena agent \
                 register NAME --endpoint http://{}",
                listener.address(),
            )?;
        }
        announce(&listener)?;
        serve(process, listener, stop).await
    })
}
