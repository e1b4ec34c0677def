//! Thousands of connections that only wait, and certificates that are replaced.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use super::{Abuse, Target};
use crate::{
    DEADLINE, World,
    h2::PREFACE,
    stress::{Broken, Figure},
    until, within,
};

/// The start of a handshake that does not go on.
const HALF_HELLO: &[u8] = &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
/// Maximum time for the last tenth of a crowd.
const FILLING_MAX: Duration = Duration::from_secs(2);
/// Connections that a crowd makes in turn.
const AT_ONCE: usize = 500;
/// What memory may grow by during a crowd: this, and this for each connection. A stalled handshake takes 16 KiB.
const GROWTH_MIB: u64 = 32;
const CONNECTION_KIB: u64 = 32;
/// Users at the same time while certificates are replaced.
const USERS: usize = 4;

/// Connections that are made again when they are closed.
struct Crowd<'a> {
    target: &'a Target,
    size: usize,
    /// They are open.
    stands: AtomicBool,
    ends: AtomicBool,
    /// How often a connection was made again.
    renewed: AtomicU64,
}

impl Crowd<'_> {
    fn connect(&self) -> std::io::Result<TcpStream> {
        let mut stream = TcpStream::connect(self.target.address())?;
        stream.set_nonblocking(true)?;
        stream.write_all(match self.target.tls {
            Some(_) => HALF_HELLO,
            None => &PREFACE[..7],
        })?;
        Ok(stream)
    }

    fn run(&self) -> std::io::Result<()> {
        let mut streams = Vec::with_capacity(self.size);
        while !self.ends.load(Ordering::Relaxed) {
            streams.retain(is_open);
            let missing = self.size - streams.len();
            // A few at a time, so that closed ones are noticed meanwhile.
            for _ in 0..missing.min(AT_ONCE) {
                streams.push(self.connect()?);
            }
            if missing > AT_ONCE {
                continue;
            }
            if self.stands.swap(true, Ordering::Relaxed) {
                self.renewed.fetch_add(missing as u64, Ordering::Relaxed);
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

fn is_open(mut stream: &TcpStream) -> bool {
    let mut buffer = [0; 64];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

impl Abuse {
    /// Measures connects of a healthy user while other connections stall.
    pub(super) fn crowds(
        &self,
        target: &Target,
        figures: &mut Vec<Figure>,
        wrong: &mut Vec<String>,
    ) -> Result<(), Broken> {
        let files = target.baseline();
        target.forget_peak()?;
        let before = target.memory()?.rss_bytes;
        let user = target.user()?;
        let calm = self.connects(&user)?;
        let crowd = Crowd {
            target,
            size: self.crowd,
            stands: AtomicBool::new(false),
            ends: AtomicBool::new(false),
            renewed: AtomicU64::new(0),
        };
        let (times, open) = thread::scope(|scope| {
            let standing = scope.spawn(|| crowd.run());
            let accepted = || target.files() >= files + self.crowd * 9 / 10;
            let stood = within(DEADLINE, || {
                (crowd.stands.load(Ordering::Relaxed) && accepted() || standing.is_finished())
                    .then_some(())
            });
            // Usually the rest follows at once.
            let all = || target.files() >= files + self.crowd;
            let _ = within(FILLING_MAX, || all().then_some(()));
            let open = target.files().saturating_sub(files);
            let times = self.connects(&user);
            crowd.ends.store(true, Ordering::Relaxed);
            let ended = standing.join().expect("a crowd does not panic");
            ended.map_err(|error| Broken::new(format_args!("the crowd: {error}")))?;
            if stood.is_none() {
                let name = target.name;
                return Err(Broken::new(format!(
                    "{name}: only {open} of the crowd are open"
                )));
            }
            Ok::<_, Broken>((times?, open))
        })?;
        let grown = (target.memory()?.rss_peak_bytes.saturating_sub(before)) >> 20;
        // Its last connection ends with it.
        drop(user);
        until("the descriptors of the crowd", || {
            (target.files() <= files).then_some(())
        });
        let name = target.name;
        let p99 = percentile(&times, 99);
        if self.p99_ms_max > 0 && p99 >= Duration::from_millis(self.p99_ms_max) {
            wrong.push(format!(
                "{name}: a healthy connect takes {p99:?} at the 99th percentile during {open} \
                 stalled ones"
            ));
        }
        let grown_max = GROWTH_MIB + ((self.crowd as u64 * CONNECTION_KIB) >> 10);
        if grown > grown_max {
            wrong.push(format!(
                "{name}: memory grew by {grown} MiB during {open} stalled connections, more than \
                 {grown_max}"
            ));
        }
        for (state, times) in [("alone", &calm), ("with the crowd", &times)] {
            let shown = [50, 99].map(|percent| format!("{:?}", percentile(times, percent)));
            let figure = format!("{name}: connect and call {state}, p50 and p99");
            figures.push(Figure::new(&figure, shown.join(", ")));
        }
        let renewed = crowd.renewed.load(Ordering::Relaxed);
        figures.extend([
            Figure::new(&format!("{name}: stalled connections open"), open),
            Figure::new(&format!("{name}: stalled connections made again"), renewed),
            Figure::new(&format!("{name}: growth by them, MiB"), grown),
        ]);
        Ok(())
    }

    /// The sorted times of healthy connects.
    fn connects(&self, user: &super::target::User) -> Result<Vec<Duration>, Broken> {
        let mut times = Vec::new();
        for _ in 0..self.connects {
            times.push(user.connect_and_call()?);
        }
        times.sort();
        Ok(times)
    }

    /// Replaces the certificate while users connect and call.
    pub(super) fn rotate(
        &self,
        world: &World,
        target: &Target,
        figures: &mut Vec<Figure>,
    ) -> Result<(), Broken> {
        let ends = AtomicBool::new(false);
        let calls = AtomicU64::new(0);
        let called = thread::scope(|scope| {
            let users: Vec<_> = (0..USERS)
                .map(|_| {
                    scope.spawn(|| {
                        let mut user = target.user()?;
                        while !ends.load(Ordering::Relaxed) {
                            user.call()?;
                            user.connect_and_call()?;
                            calls.fetch_add(2, Ordering::Relaxed);
                        }
                        Ok::<_, Broken>(())
                    })
                })
                .collect();
            for round in 1..=self.rotations {
                let _ = world.arena(&["tls", "init", "tls"]).ok();
                // The listener and that of the metrics follow the files.
                until("the new certificate", || {
                    let replaced = target.coordinator.log().matches("was replaced").count();
                    (replaced >= 2 * round || users.iter().any(|user| user.is_finished()))
                        .then_some(())
                });
            }
            ends.store(true, Ordering::Relaxed);
            users
                .into_iter()
                .try_for_each(|user| user.join().expect("a user does not panic"))
        });
        called.map_err(|broken| broken.of("while certificates were replaced"))?;
        figures.extend([
            Figure::new("certificates replaced", self.rotations),
            Figure::new(
                "calls meanwhile, none failed",
                calls.load(Ordering::Relaxed),
            ),
        ]);
        Ok(())
    }
}

/// A percentile of sorted times.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let place = times.len() * percent / 100;
    times[place.min(times.len() - 1)]
}
