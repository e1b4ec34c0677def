//! Control groups: hard limits of memory, processes and cores of an agent.
//!
//! Both versions are written by this module. In version 1, each controller is a tree of its own.
//! In version 2, one tree has all controllers, if the system delegates a part of it to the worker.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{Plan, TreeLimit, TreeLimits};

/// Prefix of the names of groups.
const PREFIX: &str = "arena-agent-";
/// Threads above the limit of processes: runtimes start many.
const THREADS: u64 = 1024;
/// Where the system mounts control groups.
const MOUNTS: &str = "/sys/fs/cgroup";
/// Attempts to remove a group whose processes are about to end.
const ATTEMPTS: u32 = 100;
/// Time in which a group gets its cores, in microseconds. A group that has used them up waits for the
/// rest of it, so it is short.
const PERIOD_US: u64 = 20_000;
/// Cores of a group for each one that the agent declares, in percent: the runtimes of some languages
/// collect garbage and compile while another thread thinks.
const CORES_PERCENT: u64 = 125;

/// Where this worker can create groups: a folder for each controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    folders: Vec<PathBuf>,
}

/// The group of an agent, removed when it is dropped.
#[derive(Debug)]
pub struct Group {
    folders: Vec<PathBuf>,
}

impl Base {
    /// The folders of this process in which it can create groups; none if there are no memory and
    /// pids controllers, or they are not writable. The cpu controller is used where it is there.
    #[must_use]
    pub fn find() -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        Self::find_in(Path::new(MOUNTS), &own)
    }

    fn find_in(mounts: &Path, own: &str) -> Option<Self> {
        let path_of = |wanted: &str| {
            own.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                let controllers = parts.next()?;
                let path = parts.next()?;
                let has = controllers.split(',').any(|name| name == wanted);
                has.then(|| path.trim_start_matches('/').to_owned())
            })
        };
        let [memory, pids, cpu] = ["memory", "pids", "cpu"].map(|name| {
            let mount = mounts.join(name);
            let folder = mount.join(path_of(name)?);
            // A container sees its own group as the root of the tree.
            let folder = if folder.is_dir() { folder } else { mount };
            is_writable(&folder).then_some(folder)
        });
        if let (Some(memory), Some(pids)) = (memory, pids) {
            let mut folders = vec![memory, pids];
            folders.extend(cpu);
            return Some(Self { folders });
        }
        let own = mounts.join(path_of("")?);
        let is_delegated = |folder: &&Path| {
            let controllers = fs::read_to_string(folder.join("cgroup.subtree_control"));
            let controllers = controllers.unwrap_or_default();
            let has = |wanted| controllers.split_whitespace().any(|name| name == wanted);
            has("memory") && has("pids") && is_writable(folder)
        };
        // A group with processes has no groups with limits, so a worker is in a group of its own
        // below the one that is delegated.
        let folders = [own.as_path(), own.parent().unwrap_or(mounts)];
        let folder = folders.iter().find(|folder| is_delegated(folder))?;
        Some(Self {
            folders: vec![folder.to_path_buf()],
        })
    }

    /// Creates a group with limits; `name` is unique on this machine.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn create(&self, name: &str, limits: &TreeLimits) -> io::Result<Group> {
        let mut group = Group {
            folders: Vec::new(),
        };
        for base in &self.folders {
            let folder = base.join(format!("{PREFIX}{name}"));
            fs::create_dir(&folder)?;
            group.folders.push(folder);
        }
        if limits.memory_bytes > 0 {
            let bytes = limits.memory_bytes.saturating_add(limits.memory_bytes / 8);
            group.set("memory.limit_in_bytes", "memory.max", bytes)?;
        }
        if limits.processes > 0 {
            let most = limits.processes.saturating_add(THREADS);
            group.set("pids.max", "pids.max", most)?;
        }
        if limits.cpus > 0 {
            group.limit_cores(limits.cpus)?;
        }
        Ok(group)
    }

    /// Removes the group of a guard that did not remove it.
    pub fn sweep(&self, name: &str) {
        let folders = self.folders.iter();
        drop(Group {
            folders: folders
                .map(|base| base.join(format!("{PREFIX}{name}")))
                .collect(),
        });
    }
}

/// True if a group can be created in a folder.
fn is_writable(folder: &Path) -> bool {
    let probe = folder.join(format!("{PREFIX}probe-{}", std::process::id()));
    fs::create_dir(&probe)
        .and_then(|()| fs::remove_dir(&probe))
        .is_ok()
}

impl Group {
    /// Writes a limit to the file of either version.
    fn set(&self, version1: &str, version2: &str, value: u64) -> io::Result<()> {
        for folder in &self.folders {
            for name in [version1, version2] {
                let file = folder.join(name);
                if file.exists() {
                    return fs::write(file, value.to_string());
                }
            }
        }
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("the control group has no {version1} or {version2}"),
        ))
    }

    /// Limits the cores, if the group has the cpu controller.
    fn limit_cores(&self, cpus: u32) -> io::Result<()> {
        let quota = u64::from(cpus) * PERIOD_US * CORES_PERCENT / 100;
        let version1 = ("cpu.cfs_quota_us", quota.to_string());
        let version2 = ("cpu.max", format!("{quota} {PERIOD_US}"));
        for folder in &self.folders {
            let period = folder.join("cpu.cfs_period_us");
            if period.exists() {
                fs::write(period, PERIOD_US.to_string())?;
            }
            for (name, text) in [&version1, &version2] {
                let file = folder.join(name);
                if !file.exists() {
                    continue;
                }
                match fs::write(file, text) {
                    // In version 1, a group above allows fewer cores, and limits this one too.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                    written => written?,
                }
            }
        }
        Ok(())
    }

    /// Moves a process into the group.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&self, pid: u32) -> io::Result<()> {
        for folder in &self.folders {
            fs::write(folder.join("cgroup.procs"), pid.to_string())?;
        }
        Ok(())
    }

    /// The limit that the system enforced by ending or refusing a process, if any.
    #[must_use]
    pub fn enforced(&self) -> Option<TreeLimit> {
        let count = |file: &str, key: &str| {
            let texts = self.folders.iter();
            let texts = texts.filter_map(|folder| fs::read_to_string(folder.join(file)).ok());
            let found: u64 = texts
                .flat_map(|text| {
                    let value = |line: &str| line.strip_prefix(key)?.trim().parse::<u64>().ok();
                    text.lines().filter_map(value).collect::<Vec<_>>()
                })
                .sum();
            found > 0
        };
        let memory =
            count("memory.oom_control", "oom_kill ") || count("memory.events", "oom_kill ");
        if memory {
            return Some(TreeLimit::Memory);
        }
        count("pids.events", "max ").then_some(TreeLimit::Processes)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            for _ in 0..ATTEMPTS {
                match fs::remove_dir(folder) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// The group for a plan, if it has the layer and this machine can.
///
/// # Errors
/// If the group cannot be created although the folder is writable.
pub fn group(plan: &Plan, name: &str) -> io::Result<Option<Group>> {
    if !plan.has(crate::Layer::Cgroup) {
        return Ok(None);
    }
    let base = Base::find();
    base.map(|base| base.create(name, &plan.limits)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: TreeLimits = TreeLimits {
        memory_bytes: 800,
        processes: 4,
        disk_bytes: 0,
        cpu_ms: 0,
        cpus: 2,
    };

    /// A folder with files as the system would create them in each new group.
    fn create(mounts: &Path, own: &str, files: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        let base = Base::find_in(mounts, own)?;
        for (folder, file) in files {
            let folder = mounts.join(folder).join(format!("{PREFIX}x"));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(file), "").expect("a file");
        }
        let group = Group {
            folders: base
                .folders
                .iter()
                .map(|base| base.join("arena-agent-x"))
                .collect(),
        };
        group
            .set("memory.limit_in_bytes", "memory.max", LIMITS.memory_bytes)
            .expect("a limit");
        group
            .set("pids.max", "pids.max", LIMITS.processes)
            .expect("a limit");
        group.limit_cores(LIMITS.cpus).expect("a limit");
        let read = |(folder, file): &(&str, &str)| {
            let path = mounts.join(folder).join(format!("{PREFIX}x")).join(file);
            (
                (*file).to_owned(),
                fs::read_to_string(path).expect("a file"),
            )
        };
        std::mem::forget(group);
        Some(files.iter().map(read).collect())
    }

    #[test]
    fn both_versions_are_written() {
        let temp = tempfile::tempdir().expect("a folder");
        for folder in ["one/memory/a", "one/pids/b", "one/cpu/d", "two/c", "three"] {
            fs::create_dir_all(temp.path().join(folder)).expect("a folder");
        }
        fs::create_dir_all(temp.path().join("two/c/worker")).expect("a folder");
        let own = "8:pids:/b\n4:memory:/a\n2:cpu,cpuacct:/d\n0::/\n";
        let files = [
            ("memory/a", "memory.limit_in_bytes"),
            ("pids/b", "pids.max"),
            ("cpu/d", "cpu.cfs_period_us"),
            ("cpu/d", "cpu.cfs_quota_us"),
        ];
        let written = create(&temp.path().join("one"), own, &files).expect("version 1");
        let expected = [
            ("memory.limit_in_bytes", "800"),
            ("pids.max", "4"),
            ("cpu.cfs_period_us", "20000"),
            ("cpu.cfs_quota_us", "50000"),
        ];
        assert_eq!(
            written,
            expected.map(|(file, text)| (file.to_owned(), text.to_owned()))
        );
        let control = temp.path().join("two/c/cgroup.subtree_control");
        fs::write(&control, "cpu memory pids\n").expect("a file");
        let files = [("c", "memory.max"), ("c", "pids.max"), ("c", "cpu.max")];
        let written =
            create(&temp.path().join("two"), "0::/c/worker\n", &files).expect("version 2");
        let expected = [
            ("memory.max", "800"),
            ("pids.max", "4"),
            ("cpu.max", "50000 20000"),
        ];
        assert_eq!(
            written,
            expected.map(|(file, text)| (file.to_owned(), text.to_owned()))
        );
        fs::write(&control, "cpu\n").expect("a file");
        assert_eq!(Base::find_in(&temp.path().join("two"), "0::/c\n"), None);
        assert_eq!(Base::find_in(&temp.path().join("three"), "0::/c\n"), None);
    }

    /// On a machine with writable groups of this version; otherwise skipped by name.
    fn check_real_group(version: u8) {
        use std::io::Write;
        let is_of_version = |base: &Base| version == if base.folders.len() > 1 { 1 } else { 2 };
        let Some(base) = Base::find().filter(is_of_version) else {
            let mut out = io::stderr();
            let _ = writeln!(
                out,
                "skipped real_group_of_version_{version}: no writable cgroup of this version"
            );
            return;
        };
        let limits = TreeLimits {
            memory_bytes: 64 << 20,
            processes: 3,
            cpus: 1,
            ..TreeLimits::default()
        };
        let name = format!("test-{}", std::process::id());
        let group = base.create(&name, &limits).expect("a group");
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("sleep");
        group.add(child.id()).expect("moved");
        let own = fs::read_to_string(format!("/proc/{}/cgroup", child.id())).expect("its groups");
        assert_eq!(own.matches(&name).count(), base.folders.len(), "{own}");
        assert_eq!(group.enforced(), None);
        let last = base.folders.last().expect("a folder");
        let limits = ["cpu.cfs_quota_us", "cpu.max"].map(|file| {
            let text = fs::read_to_string(last.join(format!("{PREFIX}{name}")).join(file));
            text.ok().map(|text| text.trim().to_owned())
        });
        match limits {
            [Some(quota), None] => assert_eq!(quota, "25000"),
            [None, Some(max)] => assert_eq!(max, "25000 20000"),
            _ => {
                let mut out = io::stderr();
                let _ = writeln!(out, "skipped its limit of cores: no cpu controller");
            }
        }
        child.kill().expect("kill");
        child.wait().expect("its end");
        let folders = group.folders.clone();
        drop(group);
        assert!(folders.iter().all(|folder| !folder.exists()));
    }

    #[test]
    fn real_group_of_version_1_takes_a_process() {
        check_real_group(1);
    }

    #[test]
    fn real_group_of_version_2_takes_a_process() {
        check_real_group(2);
    }
}
