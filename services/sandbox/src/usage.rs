//! What the processes of an agent use together, and which limit they exceed.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use nix::sys::{resource::UsageWho, statvfs::statvfs};
use procfs::process::{MMapPath, Process};

use crate::{Layer, Plan, TreeLimit};

/// Interval at which a guard measures. A limit is exceeded for at most a few of them.
pub const INTERVAL: Duration = Duration::from_millis(50);
/// Between two walks through the scratch folder, this many times the duration of a walk passes.
const REST: u32 = 20;
/// Maximum number of entries of a scratch folder. More are counted as too much.
const ENTRIES_MAX: u64 = 65_536;
/// Space that an entry takes at least, so that empty files count as well.
const ENTRY_BYTES: u64 = 4096;

/// A limit that is exceeded, with the value that was measured.
pub type Exceeded = (TreeLimit, u64);

/// Measures an agent.
#[derive(Debug)]
pub struct Meter {
    plan: Plan,
    tick_ms: u64,
    /// CPU time of each living process, by its number and its start.
    cpu: HashMap<(i32, u64), u64>,
    /// CPU time of processes that ended.
    cpu_ended: u64,
    next_walk: Instant,
}

impl Meter {
    /// A meter for a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self {
            plan: plan.clone(),
            tick_ms: 1000 / procfs::ticks_per_second().max(1),
            cpu: HashMap::new(),
            cpu_ended: 0,
            next_walk: Instant::now(),
        }
    }

    /// Measures these processes. `first` is the oldest of them. Returns a limit that they exceed.
    pub fn measure(&mut self, first: i32, processes: &[i32]) -> Option<Exceeded> {
        let limits = self.plan.limits;
        let count = processes.len() as u64;
        let is_measured = self.plan.has(Layer::TreeLimits);
        // Without a sandbox, only processes are limited.
        let counts = is_measured || self.plan.layers.is_empty();
        if counts && limits.processes > 0 && count > limits.processes {
            return Some((TreeLimit::Processes, count));
        }
        if !is_measured {
            return None;
        }
        let mut memory = 0;
        let mut living = HashMap::new();
        for &pid in processes {
            let Ok(process) = Process::new(pid) else {
                continue;
            };
            if limits.memory_bytes > 0 {
                memory += anonymous(&process);
            }
            if limits.cpu_ms > 0
                && let Ok(stat) = process.stat()
            {
                let ticks = stat.utime + stat.stime;
                living.insert((pid, stat.starttime), ticks * self.tick_ms);
            }
        }
        if limits.memory_bytes > 0 && memory > limits.memory_bytes {
            // Pages of several processes were counted more than once.
            let memory = processes.iter().map(|&pid| proportional(pid)).sum();
            if memory > limits.memory_bytes {
                return Some((TreeLimit::Memory, memory));
            }
        }
        if limits.cpu_ms > 0 {
            let ended = self.cpu.iter().filter(|(key, _)| !living.contains_key(key));
            self.cpu_ended += ended.map(|(_, &ms)| ms).sum::<u64>();
            self.cpu = living;
            let ms = self.cpu_ended + self.cpu.values().sum::<u64>();
            let ms = ms.max(waited_ms());
            if ms > limits.cpu_ms {
                return Some((TreeLimit::Cpu, ms));
            }
        }
        let bytes = self.disk(first, processes)?;
        (bytes > limits.disk_bytes).then_some((TreeLimit::Disk, bytes))
    }

    /// Bytes in the scratch folder, if it is time to measure them, with those of removed files that
    /// processes still have.
    fn disk(&mut self, first: i32, processes: &[i32]) -> Option<u64> {
        if self.plan.limits.disk_bytes == 0 || Instant::now() < self.next_walk {
            return None;
        }
        let work = self.plan.scratch();
        if self.plan.has(Layer::Scratch) {
            let inside = PathBuf::from(format!("/proc/{first}/root{}", work.display()));
            if device(&inside)? == device(&work)? {
                // Process 1 has not mounted it yet: this would be the use of the machine's disk.
                return None;
            }
            let size = statvfs(&inside).ok()?;
            return Some((size.blocks() - size.blocks_free()) * size.fragment_size());
        }
        let start = Instant::now();
        let removed: u64 = device(&work).map_or(0, |device| removed(device, processes));
        let bytes = walk(&work).saturating_add(removed);
        let rest = (start.elapsed() * REST).min(Duration::from_secs(5));
        self.next_walk = Instant::now() + rest;
        Some(bytes)
    }
}

/// CPU time of processes and of those they waited for, in units of 10 ms.
#[must_use]
pub fn cpu_time(processes: &[i32]) -> Duration {
    let stats = processes
        .iter()
        .filter_map(|&pid| Process::new(pid).and_then(|process| process.stat()).ok());
    let ticks: u64 = stats
        .map(|stat| stat.utime + stat.stime + (stat.cutime + stat.cstime).max(0) as u64)
        .sum();
    Duration::from_millis(ticks * 1000 / procfs::ticks_per_second().max(1))
}

/// The file system of a folder.
fn device(path: &Path) -> Option<u64> {
    Some(path.metadata().ok()?.dev())
}

/// Bytes of writable memory of a process, with those of shared memory.
fn anonymous(process: &Process) -> u64 {
    let Ok(status) = process.status() else {
        return 0;
    };
    let parts = [status.rssanon, status.rssshmem, status.vmswap];
    parts.into_iter().flatten().sum::<u64>() << 10
}

/// The same, with shared pages divided by the number of processes that have them.
fn proportional(pid: i32) -> u64 {
    let Ok(process) = Process::new(pid) else {
        return 0;
    };
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
    let Ok(text) = text else {
        // It belongs to another user.
        return anonymous(&process);
    };
    let names = ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"];
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        names
            .contains(&name)
            .then_some(words.next()?.parse::<u64>().ok()?)
    });
    lines.sum::<u64>() << 10
}

/// CPU time of all processes that this process has waited for.
fn waited_ms() -> u64 {
    let usage = nix::sys::resource::getrusage(UsageWho::RUSAGE_CHILDREN);
    usage.map_or(0, |usage| {
        let (user, system) = (usage.user_time(), usage.system_time());
        let us = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
        u64::try_from((us(user) + us(system)) / 1000).unwrap_or(0)
    })
}

/// Bytes of files on this device that have no name any more, and that processes hold open or in memory.
fn removed(device: u64, processes: &[i32]) -> u64 {
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    for pid in processes {
        let open = fs::read_dir(format!("/proc/{pid}/fd"));
        for entry in open.into_iter().flatten().flatten() {
            // The file itself, not the link.
            let Ok(file) = fs::metadata(entry.path()) else {
                continue;
            };
            let is_removed = file.is_file() && file.nlink() == 0 && file.dev() == device;
            if is_removed && seen.insert(file.ino()) {
                bytes += (file.blocks() * 512).max(ENTRY_BYTES);
            }
        }
        let maps = Process::new(*pid).and_then(|process| process.maps());
        for map in maps.into_iter().flatten() {
            let (major, minor) = map.dev;
            let device_of = nix::sys::stat::makedev(major as u64, minor as u64);
            let is_removed = matches!(&map.pathname, MMapPath::Path(path) if path
                .to_string_lossy()
                .ends_with(" (deleted)"));
            if is_removed && device_of == device && seen.insert(map.inode) {
                bytes += map.address.1 - map.address.0;
            }
        }
    }
    bytes
}

/// Bytes in a folder. One that cannot be listed, because its path is too long or its owner forbids it,
/// counts as too much: it could hide any number of files.
fn walk(folder: &Path) -> u64 {
    let mut open = vec![folder.to_owned()];
    let (mut bytes, mut entries) = (0, 0);
    while let Some(folder) = open.pop() {
        let listed = match fs::read_dir(folder) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => return u64::MAX,
        };
        for entry in listed.flatten() {
            entries += 1;
            if entries > ENTRIES_MAX {
                return u64::MAX;
            }
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            bytes += (metadata.blocks() * 512).max(ENTRY_BYTES);
            if metadata.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::TreeLimits;

    fn measure(limits: TreeLimits, folder: &Path) -> Option<Exceeded> {
        let plan = Plan {
            layers: vec![Layer::TreeLimits],
            folder: folder.to_owned(),
            limits,
            ..Plan::default()
        };
        let me = std::process::id() as i32;
        Meter::new(&plan).measure(me, &[me])
    }

    #[test]
    fn each_limit_is_measured() {
        let temp = tempfile::tempdir().expect("a folder");
        let work = temp.path().join(crate::SCRATCH);
        fs::create_dir(&work).expect("a folder");
        fs::write(work.join("file"), vec![1; 100_000]).expect("a file");
        let none = TreeLimits::default();
        assert_eq!(measure(none, temp.path()), None);
        let block = vec![1_u8; 4 << 20];
        let memory = |memory_bytes| TreeLimits {
            memory_bytes,
            ..none
        };
        let exceeded = measure(memory(1 << 20), temp.path());
        assert!(matches!(exceeded, Some((TreeLimit::Memory, bytes)) if bytes > 4 << 20));
        assert_eq!(measure(memory(1 << 40), temp.path()), None);
        drop(block);
        let disk = |disk_bytes| TreeLimits { disk_bytes, ..none };
        let exceeded = measure(disk(50_000), temp.path());
        assert!(matches!(exceeded, Some((TreeLimit::Disk, bytes)) if bytes >= 100_000));
        assert_eq!(measure(disk(200_000), temp.path()), None);
        // On a busy machine, CPU time takes longer.
        let used = || {
            let usage = nix::sys::resource::getrusage(UsageWho::RUSAGE_SELF).expect("usage");
            (usage.user_time().tv_sec(), usage.user_time().tv_usec())
        };
        let start = used();
        while used() < (start.0, start.1 + 60_000) {}
        let cpu = |cpu_ms| TreeLimits { cpu_ms, ..none };
        let exceeded = measure(cpu(10), temp.path());
        assert!(
            matches!(exceeded, Some((TreeLimit::Cpu, _))),
            "{exceeded:?}"
        );
    }

    #[test]
    fn removed_and_deeply_nested_files_count() {
        let temp = tempfile::tempdir().expect("a folder");
        let work = temp.path().join(crate::SCRATCH);
        fs::create_dir(&work).expect("a folder");
        let limits = TreeLimits {
            disk_bytes: 1 << 20,
            ..TreeLimits::default()
        };
        let (name, block) = (work.join("file"), vec![1; 2 << 20]);
        fs::write(&name, &block).expect("a file");
        let open = fs::File::open(&name).expect("the file");
        fs::remove_file(&name).expect("removed");
        let exceeded = measure(limits, temp.path());
        assert!(
            matches!(exceeded, Some((TreeLimit::Disk, bytes)) if bytes >= 2 << 20),
            "{exceeded:?}"
        );
        drop(open);
        assert_eq!(measure(limits, temp.path()), None);
        // Paths of more than 4,096 bytes cannot be opened at once.
        let script = "i=0; while [ $i -lt 50 ]; do n=$(printf %0100d $i); mkdir $n; cd -P $n || exit 1; \
                      i=$((i + 1)); done";
        let made = Command::new("sh")
            .args(["-c", script])
            .current_dir(&work)
            .status();
        assert!(made.expect("a shell").success());
        let exceeded = measure(limits, temp.path());
        assert_eq!(exceeded, Some((TreeLimit::Disk, u64::MAX)));
    }

    #[test]
    fn disk_of_the_machine_does_not_count_before_the_scratch_folder_is_mounted() {
        let temp = tempfile::tempdir().expect("a folder");
        fs::create_dir(temp.path().join(crate::SCRATCH)).expect("a folder");
        let plan = Plan {
            layers: vec![Layer::TreeLimits, Layer::Scratch],
            folder: temp.path().to_owned(),
            limits: TreeLimits {
                disk_bytes: 1,
                ..TreeLimits::default()
            },
            ..Plan::default()
        };
        let me = std::process::id() as i32;
        assert_eq!(Meter::new(&plan).measure(me, &[me]), None);
    }

    #[test]
    fn processes_are_counted() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let pids = [std::process::id() as i32, child.id() as i32];
        let plan = Plan {
            layers: vec![Layer::TreeLimits],
            limits: TreeLimits {
                processes: 1,
                ..TreeLimits::default()
            },
            ..Plan::default()
        };
        let exceeded = Meter::new(&plan).measure(pids[0], &pids);
        assert_eq!(exceeded, Some((TreeLimit::Processes, 2)));
        child.kill().expect("kill");
        child.wait().expect("its end");
    }
}
