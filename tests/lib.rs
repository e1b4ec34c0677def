//! Shared code of tests across processes. A [`World`] is the folder of one test with all processes
//! that it starts there. They end with it, however the test ends.

/// Simulated workers.
pub mod fleet;

/// Stress tests, each with a command.
#[path = "stress/mod.rs"]
pub mod stress;

/// Attacks, with the checks that prevent them.
#[path = "guards/table.rs"]
pub mod attacks;

/// HTTP/2 frame by frame.
#[path = "harness/h2.rs"]
pub mod h2;

#[path = "harness/disk.rs"]
mod disk;
#[path = "harness/http.rs"]
mod http;
#[path = "harness/joined.rs"]
mod joined;
#[path = "harness/output.rs"]
mod output;
#[path = "harness/program.rs"]
mod program;
#[path = "harness/server.rs"]
mod server;
#[path = "harness/tournament.rs"]
mod tournament;
#[path = "harness/wait.rs"]
mod wait;
#[path = "harness/world.rs"]
mod world;

pub use disk::{Cut, Disk};
pub use http::get;
pub use joined::JoinedWorker;
pub use output::{Output, errors};
pub use program::{arena, find, is_long, lacks, python, python_path, repository};
pub use server::Server;
pub use tournament::{Games, PAPER_000, sha256, spec};
pub use wait::{DEADLINE, until, within};
pub use world::{Started, World};
