//! Small disks for one test: a file with ext4 on it, or memory with a limit.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::Duration,
};

use nix::sys::statvfs::statvfs;

/// How a disk loses its power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Data in memory is lost, including the journal.
    Everything,
    /// The journal reaches the disk, data in memory does not.
    AllButJournal,
    /// Everything up to now reaches the disk, and nothing later.
    Nothing,
}

/// A mounted disk. It is unmounted when dropped, and also if this process is killed, by a small
/// process at the other end of a pipe.
#[derive(Debug)]
pub struct Disk {
    mount: PathBuf,
    /// The image of an ext4; none for memory.
    image: Option<PathBuf>,
    /// The setting that limits requests of the loop device, with its previous value.
    limited: Option<(PathBuf, String)>,
    watch: Option<(Child, ChildStdin)>,
}

/// The largest request to a loop device in KiB: one page of the image.
const REQUEST_KIB: &str = "4";

/// Ends when its input ends, and unmounts the disk, which also removes the loop device of the
/// image. The last line of its input, if any, is a setting of that device with its previous value,
/// which lives longer than the mount. It ignores signals to its terminal's process group.
const WATCH: &str = r#"trap '' INT TERM HUP
while read -r line; do last=$line; done
[ -z "$last" ] || echo "${last#* }" > "${last% *}"
for _ in 1 2 3 4 5 6 7 8 9 10; do
    mountpoint -q "$0" || exit 0
    umount "$0" 2>/dev/null && exit 0
    sleep 0.1
done
umount -l "$0""#;

/// `EXT4_IOC_SHUTDOWN` of Linux (fs/ext4/ext4.h), on the folder `argv[1]` with
/// the flags `argv[2]`.
const SHUTDOWN: &str = "import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', int(sys.argv[2])))";

impl Disk {
    /// Makes an ext4 of a number of MiB in `folder` and mounts it.
    ///
    /// # Errors
    /// The reason why this machine cannot.
    pub fn ext4(folder: &Path, mebibytes: u64) -> Result<Self, String> {
        // Without space that is reserved for root.
        Self::ext4_made(folder, mebibytes, &["-m", "0"], "rw")
    }

    /// Makes an ext4 without a journal, which continues after errors. Its blocks use space in
    /// `folder` when they are written. Without space, writes fail that the system has already
    /// accepted.
    ///
    /// Linux's loop device reports a request as done if the image took only its first part (seen
    /// with 6.18): with space for one page of several, a sync succeeds without the others.
    /// Therefore no request has more than one page, and none crosses a page boundary.
    ///
    /// # Errors
    /// The reason why this machine cannot.
    pub fn thin(folder: &Path, mebibytes: u64) -> Result<Self, String> {
        let how = ["-m", "0", "-b", "4096", "-O", "^has_journal"];
        let mut disk = Self::ext4_made(folder, mebibytes, &how, "errors=continue")?;
        disk.limit_requests()?;
        Ok(disk)
    }

    fn limit_requests(&mut self) -> Result<(), String> {
        let device = self.device()?;
        let limit = PathBuf::from(format!("/sys/block/{device}/queue/max_sectors_kb"));
        let before = fs::read_to_string(&limit).map_err(|e| e.to_string())?;
        let before = before.trim().to_owned();
        self.write_watch(&format!("{} {before}", limit.display()))?;
        fs::write(&limit, REQUEST_KIB).map_err(|e| e.to_string())?;
        self.limited = Some((limit, before));
        Ok(())
    }

    /// Sends the watching process the setting to restore.
    fn write_watch(&mut self, line: &str) -> Result<(), String> {
        let (_, input) = self
            .watch
            .as_mut()
            .ok_or("the process that watches the disk is missing")?;
        writeln!(input, "{line}").map_err(|e| e.to_string())
    }

    fn ext4_made(
        folder: &Path,
        mebibytes: u64,
        how: &[&str],
        mounted: &str,
    ) -> Result<Self, String> {
        let image = folder.join("disk.image");
        File::create(&image)
            .and_then(|file| file.set_len(mebibytes << 20))
            .map_err(|e| e.to_string())?;
        ran(Command::new("mkfs.ext4")
            .args(["-q", "-F"])
            .args(how)
            .arg(&image))?;
        ran(Command::new("python3").args(["-c", "import fcntl"]))?;
        let mut disk = Self::at(folder.join("disk"), Some(image))?;
        disk.mount_again(mounted)?;
        Ok(disk)
    }

    /// Mounts memory of a number of MiB in `folder`.
    ///
    /// # Errors
    /// The reason why this machine cannot.
    pub fn memory(folder: &Path, mebibytes: u64) -> Result<Self, String> {
        let disk = Self::at(folder.join("memory"), None)?;
        let size = format!("size={mebibytes}m");
        ran(Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&disk.mount))?;
        Ok(disk)
    }

    fn at(mount: PathBuf, image: Option<PathBuf>) -> Result<Self, String> {
        fs::create_dir_all(&mount).map_err(|e| e.to_string())?;
        let mut watch = Command::new("sh")
            .args(["-c", WATCH])
            .arg(&mount)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        let input = watch.stdin.take().ok_or("no pipe")?;
        Ok(Self {
            mount,
            image,
            limited: None,
            watch: Some((watch, input)),
        })
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.mount
    }

    /// A path on it, as an argument.
    ///
    /// # Panics
    /// Where the path is not UTF-8.
    #[must_use]
    pub fn join(&self, name: &str) -> String {
        let path = self.mount.join(name);
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    /// Cuts the power of an ext4: every access fails from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn cut(&self, cut: Cut) -> Result<(), String> {
        let flags = match cut {
            Cut::Nothing => "0",
            Cut::AllButJournal => "1",
            Cut::Everything => "2",
        };
        ran(Command::new("python3")
            .args(["-c", SHUTDOWN])
            .arg(&self.mount)
            .arg(flags))
    }

    /// Makes an ext4 find an error, after which it is read-only.
    ///
    /// # Errors
    /// If the system has no such switch.
    pub fn fail(&self) -> Result<(), String> {
        self.remount("errors=remount-ro")?;
        fs::write(
            format!("/sys/fs/ext4/{}/trigger_fs_error", self.device()?),
            "a stress test of Arena",
        )
        .map_err(|e| e.to_string())
    }

    /// The name of an ext4's loop device.
    fn device(&self) -> Result<String, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|e| e.to_string())?;
        let mount = self.mount.to_string_lossy();
        let device = mounts
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(_, rest)| rest.split(' ').next() == Some(&mount))
            .and_then(|(device, _)| device.strip_prefix("/dev/"))
            .ok_or("it is not mounted")?;
        Ok(device.to_owned())
    }

    /// Unmounts an ext4 and mounts it again, which replays its journal.
    ///
    /// # Errors
    /// If it is still in use, or the file system is broken.
    pub fn power_on(&mut self) -> Result<(), String> {
        self.unmount()?;
        self.mount_again("rw")
    }

    fn mount_again(&mut self, how: &str) -> Result<(), String> {
        let image = self
            .image
            .as_ref()
            .ok_or("a disk in memory cannot be mounted again")?;
        ran(Command::new("mount")
            .args(["-t", "ext4", "-o", &format!("loop,{how}")])
            .args([image, &self.mount]))
    }

    /// Remounts it with other options: `ro`, `rw`, `size=…`.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remount(&self, options: &str) -> Result<(), String> {
        ran(Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(&self.mount))
    }

    fn unmount(&mut self) -> Result<(), String> {
        // The device still belongs to this disk.
        if let Some((limit, before)) = self.limited.take() {
            fs::write(limit, before).map_err(|e| e.to_string())?;
            self.write_watch("")?;
        }
        let mut result = Ok(());
        for _ in 0..100 {
            result = ran(Command::new("umount").arg(&self.mount));
            if result.is_ok() {
                break;
            }
            // A process that used it is just ending.
            thread::sleep(Duration::from_millis(50));
        }
        result
    }

    /// Free bytes.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub fn free(&self) -> Result<u64, String> {
        let it = statvfs(&self.mount).map_err(|e| e.to_string())?;
        Ok(it.blocks_available() * it.fragment_size())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Some((mut watch, input)) = self.watch.take() {
            drop(input);
            // An error cannot be reported here.
            let _ = watch.wait();
        }
    }
}

fn ran(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!(
            "{program}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::{io::Write, os::unix::fs::FileExt};

    use super::*;

    const PAGE: usize = 4096;

    /// The stress test `full` relies on this: a successful sync means that the data is on the disk.
    #[test]
    fn thin_disk_reports_lost_pages() {
        let folder = tempfile::tempdir().unwrap();
        // Only root may mount, and not on every machine.
        let Ok(below) = Disk::memory(folder.path(), 16) else {
            return;
        };
        let Ok(mut disk) = Disk::thin(below.path(), 64) else {
            return;
        };
        let (limit, before) = disk.limited.clone().unwrap();
        let file = File::create_new(disk.path().join("file")).unwrap();
        file.write_all_at(&[1; PAGE], 0).unwrap();
        file.sync_all().unwrap();
        let mut filler = File::create(below.path().join("filler")).unwrap();
        while filler.write_all(&[1; PAGE]).is_ok() {}
        // The first page has its space already.
        file.write_all_at(&[2; 4 * PAGE], 0).unwrap();
        assert!(file.sync_all().is_err());
        drop((file, filler));
        disk.unmount().unwrap();
        assert_eq!(fs::read_to_string(limit).unwrap().trim(), before);
    }
}
