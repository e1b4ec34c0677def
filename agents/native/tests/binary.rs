//! The binary `arena-agents` as a process.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use arena_sdk::v1::{DescribeRequest, agent_service_client::AgentServiceClient};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::task::spawn_blocking;
use tonic::transport::Endpoint;

/// A process that is ended with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arena-agents"));
    command.env_remove("ARENA_LISTEN");
    command
}

fn start(command: &mut Command) -> (Process, String) {
    let child = command.stdout(Stdio::piped()).spawn().expect("a process");
    let mut process = Process(child);
    let stdout = process.0.stdout.take().expect("a pipe");
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let address: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let address = address["listen"].as_str().expect("an address").to_owned();
    (process, address)
}

async fn described(uri: String) -> Vec<String> {
    let channel = Endpoint::from_shared(uri)
        .expect("an address")
        .connect()
        .await;
    let mut agent = AgentServiceClient::new(channel.expect("a connection"));
    let reported = agent.describe(DescribeRequest {}).await.expect("an answer");
    reported
        .into_inner()
        .bots
        .into_iter()
        .map(|bot| bot.name)
        .collect()
}

#[tokio::test]
async fn serves_at_address_until_sigterm() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = format!("unix:{}", folder.path().join("agents.sock").display());
    for (listen, by_environment) in [("127.0.0.1:0", false), (socket.as_str(), true)] {
        let mut command = command();
        if by_environment {
            command.env("ARENA_LISTEN", listen);
        } else {
            command.args(["--listen", listen]);
        }
        let (mut process, address) = start(command.args(["--bot", "mixed"]));
        let uri = match address.strip_prefix("unix:") {
            Some(path) => format!("unix://{path}"),
            None => format!("http://{address}"),
        };
        assert_eq!(described(uri).await, ["mixed"]);
        kill(Pid::from_raw(process.0.id() as i32), Signal::SIGTERM).expect("a signal");
        // The connection is still open, and its end must be able to answer.
        let ended = spawn_blocking(move || process.0.wait().expect("an end"));
        assert!(ended.await.expect("no panic").success());
    }
    assert!(!folder.path().join("agents.sock").exists());
}

#[test]
fn wrong_arguments_exit_with_2() {
    for (arguments, reason) in [
        (
            ["--bot", "randm"],
            "unknown bot \"randm\", did you mean \"random\"?",
        ),
        (["--listen", "nowhere"], "expected unix:PATH or HOST:PORT"),
    ] {
        let output = command().args(arguments).output().expect("a process");
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(reason), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

#[tokio::test]
async fn port_in_use_exits_with_1() {
    let (_process, address) = start(command().args(["--listen", "127.0.0.1:0"]));
    let output = command()
        .args(["--listen", &address])
        .output()
        .expect("a process");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains(&address) && stderr.contains("another process"),
        "{stderr}"
    );
}
