//! The memory that a worker may use: that of the machine, or of its control group.

use std::{
    fs,
    path::{Path, PathBuf},
};

use procfs::{Current, Meminfo};

const GROUPS: &str = "/sys/fs/cgroup";

/// Bytes of memory for this process.
pub(super) fn memory_bytes() -> u64 {
    let machine = Meminfo::current().map_or(u64::MAX, |info| info.mem_total);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    machine.min(limit(&groups, Path::new(GROUPS)))
}

/// The lowest limit of the control groups in a file like `/proc/self/cgroup`, and of those above
/// them.
fn limit(groups: &str, root: &Path) -> u64 {
    let mut lowest = u64::MAX;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            some if some.split(',').any(|it| it == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group: PathBuf = root.join(group.trim_start_matches('/'));
        let above = group.ancestors().take_while(|it| it.starts_with(&root));
        for folder in above {
            let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
            // "max" is no limit.
            lowest = lowest.min(text.trim().parse().unwrap_or(u64::MAX));
        }
    }
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_limit_counts() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |folder: &str, file: &str, text: &str| {
            let folder = root.path().join(folder);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(file), text).expect("a file");
        };
        write("pod/worker", "memory.max", "max\n");
        write("pod", "memory.max", "4096\n");
        write("memory/old", "memory.limit_in_bytes", "1024\n");
        let limit = |groups| limit(groups, root.path());
        assert_eq!(limit("0::/pod/worker\n"), 4096);
        assert_eq!(limit("3:cpu,memory:/old\n0::/pod\n"), 1024);
        assert_eq!(limit("3:cpu:/old\n"), u64::MAX);
        assert_eq!(limit("0::/elsewhere\n"), u64::MAX);
    }
}
