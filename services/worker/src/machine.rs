//! What a worker has for its agents: cores and memory.
//!
//! A worker counts the cores of its affinity mask, as far as the quota of its control group goes.
//! Under strict timing, one part of them is for the worker's own threads, and each process of an
//! agent has its cores among the others to itself while it thinks.

mod cores;
mod limits;

use std::{
    fs,
    sync::{Arc, Mutex},
};

use nix::{
    errno::Errno,
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use cores::CoreSet;

use crate::lock;

/// Memory of an agent's process that declares none.
const MEMORY_USUAL: u64 = 1 << 30;
/// One core in so many is for the worker's own threads under strict timing.
const OWN_SHARE: usize = 16;

/// Why a worker cannot use the cores that it was given.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The system does not give them to this process.
    #[error(
        "cannot use cores {missing}: this process may only run on {available}; change --cores, or \
         the affinity mask or cpuset of the process"
    )]
    Missing {
        /// Cores that it may not use.
        missing: CoreSet,
        /// Cores that it may use.
        available: CoreSet,
    },
    /// The system refuses the affinity mask.
    #[error("cannot set the affinity mask to {cores}: {}", source.desc())]
    Refused {
        /// The cores.
        cores: CoreSet,
        /// The error.
        source: Errno,
    },
}

/// The cores and the memory of a worker.
#[derive(Clone, Debug)]
pub struct Machine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    cores: CoreSet,
    /// For the worker's own threads under strict timing.
    own: CoreSet,
    /// For agents under strict timing.
    thinking: Vec<Core>,
    memory_bytes: u64,
    /// Number of processes at home on each of the thinking cores.
    homes: Mutex<Vec<usize>>,
}

#[derive(Debug)]
struct Core {
    id: usize,
    /// Taken while a process thinks on the core.
    idle: Arc<Semaphore>,
}

impl Machine {
    /// All that this process has.
    #[must_use]
    pub fn detect() -> Self {
        Self::of(available())
    }

    /// The given cores of those that this process has, and one core only of those that share
    /// execution units if `smt` is false. Confines all threads of this process to them.
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn confined(cores: Option<&CoreSet>, smt: bool) -> Result<Self, MachineError> {
        let available = available();
        if cores.is_none() && smt {
            return Ok(Self::of(available));
        }
        let mut wanted = match cores {
            None => available,
            Some(cores) => {
                let missing: CoreSet = cores.iter().filter(|&it| !available.has(it)).collect();
                if !missing.is_empty() {
                    return Err(MachineError::Missing { missing, available });
                }
                cores.clone()
            }
        };
        if !smt {
            wanted = wanted.without_siblings(siblings);
        }
        for thread in threads() {
            let refused = |source| MachineError::Refused {
                cores: wanted.clone(),
                source,
            };
            match confine(thread, &wanted) {
                // It has ended meanwhile.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(refused(error)),
            }
        }
        Ok(Self::of(wanted))
    }

    fn of(cores: CoreSet) -> Self {
        let count = cores.len();
        let own_count = match count {
            0 | 1 => 0,
            _ => count.div_ceil(OWN_SHARE),
        };
        let thinking: Vec<Core> = { cores.iter().skip(own_count) }
            .map(|id| Core {
                id,
                idle: Arc::new(Semaphore::new(1)),
            })
            .collect();
        let own = cores.iter().take(own_count.max(1)).collect();
        Self(Arc::new(Inner {
            own,
            homes: Mutex::new(vec![0; thinking.len()]),
            thinking,
            memory_bytes: limits::memory_bytes(),
            cores,
        }))
    }

    /// All its cores.
    #[must_use]
    pub fn cores(&self) -> &CoreSet {
        &self.0.cores
    }

    /// Number of its cores.
    #[must_use]
    pub fn core_count(&self) -> usize {
        self.0.cores.len().max(1)
    }

    /// Cores for the worker's own threads under strict timing.
    #[must_use]
    pub fn own_cores(&self) -> &CoreSet {
        &self.0.own
    }

    /// Number of cores on which agents think under strict timing.
    #[must_use]
    pub fn thinking_count(&self) -> usize {
        self.0.thinking.len()
    }

    /// Bytes of memory for agents.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes
    }

    /// Number of processes of an agent for which there are cores.
    pub(crate) fn replicas_by_cores(&self, cpus: usize, strict: bool) -> usize {
        let cores = match strict {
            true => self.thinking_count(),
            false => self.core_count(),
        };
        (cores / cpus.max(1)).max(1)
    }

    /// Number of processes of each agent for which there is memory, if one process of each needs
    /// this much together.
    pub(crate) fn replicas_by_memory(&self, bytes: u64) -> usize {
        let replicas = self.0.memory_bytes / bytes.max(1);
        usize::try_from(replicas).unwrap_or(usize::MAX).max(1)
    }

    /// Cores of its own for a process that starts: those on which the fewest are at home.
    pub(crate) fn home(&self, cpus: usize) -> Result<Home, String> {
        let count = self.thinking_count();
        if cpus > count {
            return Err(format!(
                "each process needs {cpus} cores for strict timing, and this worker has {count} \
                 for agents: give the worker more cores, or use timing = \"throughput\""
            ));
        }
        let mut homes = lock(&self.0.homes);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&place| homes[place]);
        let mut places: Vec<usize> = order.into_iter().take(cpus.max(1)).collect();
        // All processes lock their cores in this order.
        places.sort_unstable();
        for &place in &places {
            homes[place] += 1;
        }
        drop(homes);
        Ok(Home {
            machine: self.clone(),
            places,
        })
    }

    /// Confines this thread to the worker's own cores, or lets it run on all of its cores.
    pub(crate) fn confine_thread(&self, own: bool) {
        let cores = if own { self.own_cores() } else { self.cores() };
        if let Err(error) = confine(Pid::from_raw(0), cores) {
            tracing::warn!(%cores, "cannot set the affinity mask of a thread: {}", error.desc());
        }
    }
}

/// What each process of an agent needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) cpus: usize,
    pub(crate) memory_bytes: u64,
}

impl Need {
    /// 0 is the default.
    pub(crate) fn new(cpus: u32, memory_bytes: u64) -> Self {
        Self {
            cpus: cpus.max(1) as usize,
            memory_bytes: match memory_bytes {
                0 => MEMORY_USUAL,
                bytes => bytes,
            },
        }
    }
}

/// The cores of one process under strict timing.
#[derive(Debug)]
pub(crate) struct Home {
    machine: Machine,
    places: Vec<usize>,
}

impl Home {
    /// The ids of the cores.
    pub(crate) fn cores(&self) -> CoreSet {
        let thinking = &self.machine.0.thinking;
        self.places
            .iter()
            .map(|&place| thinking[place].id)
            .collect()
    }

    /// Waits until no other process thinks on these cores. Others wait until the result is
    /// dropped.
    pub(crate) async fn take(&self) -> Vec<OwnedSemaphorePermit> {
        let mut taken = Vec::with_capacity(self.places.len());
        for &place in &self.places {
            let idle = self.machine.0.thinking[place].idle.clone();
            // Nothing closes the semaphores.
            taken.extend(idle.acquire_owned().await);
        }
        taken
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let mut homes = lock(&self.machine.0.homes);
        for &place in &self.places {
            homes[place] -= 1;
        }
    }
}

/// Runs work on this thread while it is confined to some cores, which processes that it starts
/// inherit.
pub(crate) fn on_cores<T>(cores: &CoreSet, work: impl FnOnce() -> T) -> Result<T, Errno> {
    let this = Pid::from_raw(0);
    let before = sched_getaffinity(this)?;
    confine(this, cores)?;
    let out = work();
    sched_setaffinity(this, &before)?;
    Ok(out)
}

fn confine(thread: Pid, cores: &CoreSet) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for core in cores.iter() {
        set.set(core)?;
    }
    sched_setaffinity(thread, &set)
}

/// The cores that this process may use: those of its affinity mask, and not more than the quota of
/// its control group.
fn available() -> CoreSet {
    let mask = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    let quota = std::thread::available_parallelism().map_or(1, usize::from);
    let in_mask = |&core: &usize| mask.is_set(core).unwrap_or_default();
    (0..CpuSet::count()).filter(in_mask).take(quota).collect()
}

/// The threads of this process.
fn threads() -> Vec<Pid> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return vec![Pid::from_raw(0)];
    };
    let ids = tasks.flatten().filter_map(|task| {
        let id = task.file_name().to_str()?.parse().ok()?;
        Some(Pid::from_raw(id))
    });
    ids.collect()
}

/// The cores that share execution units with a core, and the core itself.
fn siblings(core: usize) -> CoreSet {
    let path = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    let listed = fs::read_to_string(path).ok();
    let listed = listed.and_then(|text| text.trim().parse().ok());
    listed.unwrap_or_else(|| [core].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cores: &str, memory_bytes: u64) -> Machine {
        let mut machine = Machine::of(cores.parse().expect("cores"));
        Arc::get_mut(&mut machine.0)
            .expect("one owner")
            .memory_bytes = memory_bytes;
        machine
    }

    #[test]
    fn strict_timing_leaves_cores_for_the_worker() {
        for (cores, own, thinking) in [
            ("3", "3", 1),
            ("0-1", "0", 1),
            ("0-7", "0", 7),
            ("0-31", "0-1", 30),
        ] {
            let machine = machine(cores, 1);
            assert_eq!(machine.own_cores().to_string(), own, "{cores}");
            assert_eq!(machine.thinking_count(), thinking, "{cores}");
        }
    }

    #[test]
    fn replicas_fit_cores_and_memory() {
        let machine = machine("0-7", 8 << 30);
        let by_cores = |cpus, strict| machine.replicas_by_cores(cpus, strict);
        assert_eq!([by_cores(1, false), by_cores(1, true)], [8, 7]);
        assert_eq!([by_cores(3, false), by_cores(9, false)], [2, 1]);
        let usual = Need::new(0, 0);
        assert_eq!((usual.cpus, usual.memory_bytes), (1, 1 << 30));
        assert_eq!(machine.replicas_by_memory(2 * usual.memory_bytes), 4);
        assert_eq!(machine.replicas_by_memory(9 << 30), 1, "it may try");
    }

    #[tokio::test]
    async fn one_process_thinks_on_a_core() {
        let machine = machine("0-2", 1);
        let homes: Vec<Home> = [1, 1, 1]
            .map(|cpus| machine.home(cpus).expect("a core"))
            .into();
        let cores: Vec<String> = homes.iter().map(|home| home.cores().to_string()).collect();
        assert_eq!(cores, ["1", "2", "1"], "processes are spread");
        let first = homes[0].take().await;
        let _other = homes[1].take().await;
        let waits = tokio::time::timeout(std::time::Duration::from_millis(20), homes[2].take());
        assert!(waits.await.is_err(), "the first process thinks there");
        drop(first);
        let _third = homes[2].take().await;
        let wide = machine.home(2).expect("two cores");
        assert_eq!(wide.cores().to_string(), "1-2");
        drop(homes);
        assert_eq!(machine.home(1).expect("a core").cores().to_string(), "1");
        assert!(machine.home(3).is_err(), "there are two");
    }

    #[test]
    fn child_gets_cores_of_its_starter() {
        let Some(core) = available().iter().next_back() else {
            panic!("a core");
        };
        let cores: CoreSet = [core].into_iter().collect();
        let before = sched_getaffinity(Pid::from_raw(0)).expect("a mask");
        let listed = on_cores(&cores, || {
            let command = std::process::Command::new("cat")
                .arg("/proc/self/status")
                .output();
            String::from_utf8(command.expect("cat").stdout).expect("text")
        });
        let listed = listed.expect("a mask");
        let line = listed
            .lines()
            .find(|line| line.starts_with("Cpus_allowed_list:"));
        let line = line.expect("a line");
        assert_eq!(line.split_whitespace().last(), Some(&*core.to_string()));
        let after = sched_getaffinity(Pid::from_raw(0)).expect("a mask");
        assert_eq!(before, after);
    }
}
