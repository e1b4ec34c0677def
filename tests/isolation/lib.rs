//! A network that leads nowhere, for tests of addresses outside this machine: no packet leaves it,
//! even if the check that a test is about is broken.

use std::{fs, io, process::Command};

use nix::sched::{CloneFlags, unshare};

/// Moves this thread to a new network that has only a loopback interface. Threads and processes that
/// it starts afterwards are there, too. Returns false if this user or machine cannot have such a
/// network: the test has to end then. The output names it as skipped.
///
/// # Panics
/// If the new network has a route.
#[expect(
    clippy::print_stderr,
    reason = "the output of a test names what it skips"
)]
#[must_use]
pub fn leave_network(test: &str) -> bool {
    if let Err(reason) = enter_empty_network() {
        eprintln!("skipped: {test}: there is no network namespace for it: {reason}");
        return false;
    }
    let routes = routes().expect("the routes of this thread");
    assert!(routes.is_empty(), "the new network has routes: {routes:?}");
    true
}

fn enter_empty_network() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    let up = ["link", "set", "lo", "up"];
    let status = Command::new("ip").args(up).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("`ip link set lo up`: {status}"))),
    }
}

/// The routes of this thread's network, without those of the loopback interface.
fn routes() -> io::Result<Vec<String>> {
    // `/proc/net` shows the network of the process.
    let read = |file: &str| fs::read_to_string(format!("/proc/thread-self/net/{file}"));
    // The first line has the names of the columns.
    let v4 = read("route")?;
    // A machine without IPv6 has no such file.
    let v6 = read("ipv6_route").unwrap_or_default();
    let v4 = v4.lines().skip(1);
    let v6 = v6.lines().filter(|route| !route.ends_with(" lo"));
    Ok(v4.chain(v6).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn only_loopback_is_left() {
        if !leave_network("only_loopback_is_left") {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("an address");
        assert!(TcpStream::connect(address).is_ok());
        // The network is that of threads which this one starts.
        let far = std::thread::spawn(|| TcpStream::connect("192.0.2.1:9"));
        let error = far.join().expect("no panic").expect_err("no route");
        assert_eq!(error.kind(), io::ErrorKind::NetworkUnreachable, "{error}");
    }
}
