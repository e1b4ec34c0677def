//! The root of a strict sandbox: a tmpfs with the readable folders of the host.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    mount::{MntFlags, MsFlags, mount, umount2},
    sys::statvfs::{FsFlags, statvfs},
    unistd::{chdir, chown, pivot_root},
};

use crate::{Layer, Missing, PACKAGE, Plan, RUN, SCRATCH, paths};

/// Where the next stage finds the program of this one.
pub(crate) const PROGRAM: &str = "/.arena";
/// Folder on which the new root is mounted, below that of the agent.
pub(crate) const ROOT: &str = "root";
/// Size of the root, which has empty folders and links only.
const ROOT_SIZE: &str = "size=4m,nr_inodes=4k,mode=755";
/// Size of the scratch folder without a limit.
const DISK_BYTES: u64 = 1 << 30;
/// Space beyond the limit, for the time until the guard measures it.
const SLACK_BYTES: u64 = 64 << 20;
/// Maximum number of files in the scratch folder.
const INODES: u64 = 65_536;
/// Devices that exist in it.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];
/// Links below `/dev`.
const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

const NOTHING: Option<&str> = None;

/// Makes the root and enters it.
pub(crate) fn enter(plan: &Plan) -> Result<&'static str, Missing> {
    let at = |step: &str| {
        let step = step.to_owned();
        move |error: io::Error| {
            crate::filesystem::eprint(&format!("{step}: {error}"));
            Missing {
                layer: Layer::MountNamespace,
                errno: error.raw_os_error().unwrap_or(0),
            }
        }
    };
    let root = plan.folder.join(ROOT);
    fs::create_dir_all(&root).map_err(at("the folder of the root"))?;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NOTHING, "/", NOTHING, private, NOTHING).map_err(|error| at("mounts")(error.into()))?;
    tmpfs(&root, ROOT_SIZE).map_err(at("a tmpfs as root"))?;
    fill(plan, &root).map_err(at("the root"))?;
    scratch(plan, &root).map_err(|error| {
        crate::filesystem::eprint(&format!("the scratch folder: {error}"));
        Missing::at(Layer::Scratch)(error)
    })?;
    // The system allows this only where the old one is seen whole.
    let (proc, flags) = (root.join("proc"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV);
    let mounted = mount(
        Some("proc"),
        &proc,
        Some("proc"),
        flags | MsFlags::MS_NOEXEC,
        NOTHING,
    );
    mounted.map_err(|error| Missing {
        layer: Layer::PidNamespace,
        errno: error as i32,
    })?;
    let pivot = || -> Result<(), Errno> {
        chdir(&root)?;
        pivot_root(".", ".")?;
        // The old root is above the new one.
        umount2(".", MntFlags::MNT_DETACH)?;
        chdir("/")?;
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        let flags = flags | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(NOTHING, "/", NOTHING, flags, NOTHING)
    };
    pivot().map_err(|error| at("the new root")(error.into()))?;
    Ok(PROGRAM)
}

fn tmpfs(at: &Path, options: &str) -> io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    Ok(mount(
        Some("tmpfs"),
        at,
        Some("tmpfs"),
        flags,
        Some(options),
    )?)
}

fn fill(plan: &Plan, root: &Path) -> io::Result<()> {
    let inside = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
    for folder in ["proc", "dev", "tmp"] {
        fs::create_dir(root.join(folder))?;
    }
    for device in DEVICES {
        let path = Path::new("/dev").join(device);
        bind(&path, &inside(&path), MsFlags::empty())?;
    }
    for (name, target) in LINKS {
        symlink(target, root.join("dev").join(name))?;
    }
    let program = std::env::current_exe()?;
    bind(&program, &inside(Path::new(PROGRAM)), MsFlags::MS_RDONLY)?;
    let system = paths::SYSTEM.iter().map(PathBuf::from);
    let facts = paths::FACTS.iter().map(PathBuf::from);
    let package = plan.folder.join(PACKAGE);
    let readable = system.chain(facts).chain(plan.readable.iter().cloned());
    for path in readable.chain([package]) {
        let to = inside(&path);
        if to.symlink_metadata().is_ok() {
            // Below a folder that is there already.
            continue;
        }
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        if found.is_symlink() && path.parent() == Some(Path::new("/")) {
            symlink(fs::read_link(&path)?, &to)?;
        } else {
            bind(&path, &to, MsFlags::MS_RDONLY)?;
        }
    }
    let run = plan.folder.join(RUN);
    bind(&run, &inside(&run), MsFlags::empty())
}

/// Shows a file or folder of the host at another place.
fn bind(from: &Path, to: &Path, flags: MsFlags) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), Named(from.to_owned(), error));
    if from.metadata().map_err(named)?.is_dir() {
        fs::create_dir_all(to)?;
    } else {
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(to, "")?;
    }
    let all = MsFlags::MS_BIND | MsFlags::MS_REC;
    let bound = mount(Some(from), to, NOTHING, all, NOTHING);
    bound.map_err(|error| named(error.into()))?;
    // A user namespace may not remove flags of the host's mount.
    let there = statvfs(to)?.flags();
    let kept = [
        (FsFlags::ST_RDONLY, MsFlags::MS_RDONLY),
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ];
    let kept = kept.iter().filter(|(flag, _)| there.contains(*flag));
    let kept: MsFlags = kept.map(|&(_, flag)| flag).collect();
    let flags = flags | kept | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_NOSUID;
    let remounted = mount(NOTHING, to, NOTHING, flags, NOTHING);
    remounted.map_err(|error| named(error.into()))
}

/// The scratch folder, in memory.
fn scratch(plan: &Plan, root: &Path) -> io::Result<()> {
    let work = plan.folder.join(SCRATCH);
    let to = root.join(work.strip_prefix("/").unwrap_or(&work));
    fs::create_dir_all(&to)?;
    symlink(&work, root.join("dev/shm"))?;
    if !plan.has(Layer::Scratch) {
        return bind(&work, &to, MsFlags::empty());
    }
    let bytes = match plan.limits.disk_bytes {
        0 => DISK_BYTES,
        bytes => bytes,
    };
    // More than the limit: exceeding the limit is a fault, not an error of the system.
    let size = bytes.saturating_add(bytes / 8 + SLACK_BYTES);
    tmpfs(&to, &format!("size={size},nr_inodes={INODES},mode=700"))?;
    if let Some((user, group)) = plan.owner() {
        chown(&to, Some(user), Some(group))?;
    }
    Ok(())
}

/// An error with its path, and with the number of the system's error.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", .0.display(), .1)]
struct Named(PathBuf, io::Error);
