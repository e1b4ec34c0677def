//! Seccomp: the system calls that an agent may make. All others answer "not implemented", so that
//! runtimes fall back to older calls. Calls of another architecture end the process.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

use crate::{Layer, Missing, Plan, filesystem};

/// Names a list of calls with their numbers.
macro_rules! calls {
    ($($name:ident)*) => {
        &[$((stringify!($name), libc::$name)),*]
    };
}

/// Calls that are allowed with any arguments.
pub const ALLOWED: &[(&str, i64)] = calls! {
    SYS_accept SYS_accept4 SYS_bind SYS_brk SYS_capget SYS_chdir SYS_clock_getres
    SYS_clock_gettime SYS_clock_nanosleep SYS_close SYS_close_range SYS_copy_file_range SYS_dup
    SYS_dup3 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2
    SYS_execve SYS_exit SYS_exit_group SYS_faccessat SYS_faccessat2 SYS_fadvise64 SYS_fallocate
    SYS_fchdir SYS_fdatasync SYS_fgetxattr SYS_flistxattr SYS_flock SYS_fstat SYS_fstatfs
    SYS_fsync SYS_ftruncate SYS_futex SYS_futex_waitv
    SYS_get_mempolicy SYS_get_robust_list SYS_getcpu SYS_getcwd SYS_getdents64 SYS_getegid
    SYS_geteuid SYS_getgid SYS_getgroups SYS_getitimer SYS_getpeername SYS_getpgid SYS_getpid
    SYS_getppid SYS_getpriority SYS_getrandom SYS_getresgid SYS_getresuid SYS_getrlimit
    SYS_getrusage SYS_getsid SYS_getsockname SYS_getsockopt SYS_gettid SYS_gettimeofday SYS_getuid
    SYS_getxattr SYS_lgetxattr SYS_linkat SYS_listen SYS_listxattr SYS_llistxattr SYS_lseek
    SYS_madvise SYS_mbind SYS_membarrier SYS_mincore SYS_mkdirat SYS_mlock SYS_mlock2 SYS_mlockall
    SYS_mmap SYS_mprotect SYS_mremap SYS_mseal SYS_msync SYS_munlock SYS_munlockall SYS_munmap
    SYS_nanosleep SYS_newfstatat SYS_pipe2 SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect
    SYS_ppoll SYS_pread64 SYS_preadv SYS_preadv2 SYS_pselect6 SYS_pwrite64 SYS_pwritev
    SYS_pwritev2 SYS_read SYS_readahead SYS_readlinkat SYS_readv SYS_recvfrom SYS_recvmmsg
    SYS_recvmsg SYS_remap_file_pages SYS_renameat SYS_renameat2 SYS_restart_syscall SYS_rseq
    SYS_rt_sigaction SYS_rt_sigpending SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigsuspend
    SYS_rt_sigtimedwait SYS_sched_get_priority_max SYS_sched_get_priority_min
    SYS_sched_getaffinity SYS_sched_getattr SYS_sched_getparam SYS_sched_getscheduler
    SYS_sched_rr_get_interval SYS_sched_yield SYS_sendfile SYS_set_robust_list SYS_set_tid_address
    SYS_setitimer SYS_setpgid SYS_setrlimit SYS_setsid SYS_setsockopt SYS_shutdown SYS_sigaltstack
    SYS_signalfd4 SYS_splice SYS_statfs SYS_statx SYS_symlinkat SYS_sync_file_range SYS_sysinfo
    SYS_tee SYS_timer_create SYS_timer_delete SYS_timer_getoverrun SYS_timer_gettime
    SYS_timer_settime SYS_timerfd_create SYS_timerfd_gettime SYS_timerfd_settime SYS_times
    SYS_umask SYS_uname SYS_unlinkat SYS_wait4 SYS_waitid SYS_write SYS_writev
};

/// Older calls that only x86_64 has.
#[cfg(target_arch = "x86_64")]
pub(crate) const OLDER: &[(&str, i64)] = calls! {
    SYS_access SYS_alarm SYS_arch_prctl SYS_creat SYS_dup2 SYS_epoll_create SYS_epoll_wait
    SYS_eventfd SYS_fork SYS_getdents SYS_getpgrp SYS_link SYS_lstat SYS_mkdir SYS_pause SYS_pipe
    SYS_poll SYS_readlink SYS_rename SYS_rmdir SYS_select SYS_signalfd SYS_stat SYS_symlink
    SYS_time SYS_unlink SYS_vfork
};
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const OLDER: &[(&str, i64)] = &[];

/// Calls that send signals. Landlock decides which processes get them, or else only the own process
/// does.
const SIGNALS: &[(&str, i64)] = calls! { SYS_kill SYS_tgkill SYS_rt_tgsigqueueinfo };

/// Flags of `clone` that make namespaces.
const NAMESPACES: u64 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u32 as u64;
/// The bits of a socket's type; the others are flags.
const SOCKET_TYPE: u64 = 0xf;
/// A flag of `sendto` and `sendmsg` that connects.
const FAST_OPEN: u64 = libc::MSG_FASTOPEN as u32 as u64;

/// A command of `fcntl` that `libc` does not name.
const F_SETOWN_EX: u64 = 15;

/// What `prctl` may change or show: names of threads and of memory, time slack, huge pages,
/// capabilities and descendants of the process itself.
const PROCESS_OPTIONS: &[i32] = &[
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_SET_VMA,
    libc::PR_GET_DUMPABLE,
    libc::PR_GET_PDEATHSIG,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_GET_SECCOMP,
    libc::PR_GET_TIMERSLACK,
    libc::PR_SET_TIMERSLACK,
    libc::PR_GET_THP_DISABLE,
    libc::PR_SET_THP_DISABLE,
    libc::PR_CAPBSET_READ,
    libc::PR_GET_KEEPCAPS,
    libc::PR_GET_CHILD_SUBREAPER,
];

/// Requests of `ioctl`: of terminals, those that a program makes to find out that it has none.
const REQUESTS: &[u64] = &[
    libc::TCGETS,
    libc::TIOCGWINSZ,
    libc::TIOCGPGRP,
    libc::FIONREAD,
    libc::FIONBIO,
    libc::FIOCLEX,
    libc::FIONCLEX,
];

type SyscallRules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, seccompiler::BackendError>;

fn equal(argument: u8, value: u64) -> Built<SeccompCondition> {
    SeccompCondition::new(argument, Width::Dword, Op::Eq, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Built<SeccompCondition> {
    SeccompCondition::new(argument, Width::Dword, Op::MaskedEq(mask), value)
}

fn rules(plan: &Plan) -> Built<SyscallRules> {
    let only_own = plan.has(Layer::Scope) && !filesystem::has_scopes();
    let signals = if only_own { &[] } else { SIGNALS };
    let any = ALLOWED.iter().chain(OLDER).chain(signals);
    let mut rules: SyscallRules = any.map(|&(_, nr)| (nr, Vec::new())).collect();
    let mut allow = |call: i64, conditions: Vec<SeccompCondition>| -> Built<()> {
        rules
            .entry(call)
            .or_default()
            .push(SeccompRule::new(conditions)?);
        Ok(())
    };
    allow(libc::SYS_clone, vec![masked(0, NAMESPACES, 0)?])?;
    for &option in PROCESS_OPTIONS {
        allow(libc::SYS_prctl, vec![equal(0, option as u32 as u64)?])?;
    }
    for &request in REQUESTS {
        allow(libc::SYS_ioctl, vec![equal(1, request)?])?;
    }
    // An agent listens; it connects to nothing. A stream between two of its own processes is none.
    let stream = libc::SOCK_STREAM as u64;
    let families: &[i32] = match plan.port {
        None => &[libc::AF_UNIX],
        Some(_) => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6],
    };
    for &family in families {
        let family = equal(0, family as u64)?;
        allow(
            libc::SYS_socket,
            vec![family, masked(1, SOCKET_TYPE, stream)?],
        )?;
    }
    let pair = vec![
        equal(0, libc::AF_UNIX as u64)?,
        masked(1, SOCKET_TYPE, stream)?,
    ];
    allow(libc::SYS_socketpair, pair)?;
    for (call, flags) in [
        (libc::SYS_sendto, 3),
        (libc::SYS_sendmsg, 2),
        (libc::SYS_sendmmsg, 3),
    ] {
        allow(call, vec![masked(flags, FAST_OPEN, 0)?])?;
    }
    // Opening for reading alone must not empty a file: old versions of Landlock do not check that.
    let opens: &[(i64, u8)] = &[
        (libc::SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 1),
    ];
    for &(call, flags) in opens {
        allow(call, vec![masked(flags, libc::O_TRUNC as u64, 0)?])?;
        for mode in [libc::O_WRONLY, libc::O_RDWR] {
            allow(
                call,
                vec![masked(flags, libc::O_ACCMODE as u64, mode as u64)?],
            )?;
        }
    }
    // Only of the process itself: a user may change other processes of the same user.
    allow(libc::SYS_prlimit64, vec![equal(0, 0)?])?;
    let own = vec![equal(0, libc::PRIO_PROCESS as u64)?, equal(1, 0)?];
    allow(libc::SYS_setpriority, own)?;
    // The owner of a descriptor gets signals.
    let differs = |value| SeccompCondition::new(1, Width::Dword, Op::Ne, value);
    let owner = [libc::F_SETOWN as u64, F_SETOWN_EX].map(differs);
    allow(libc::SYS_fcntl, owner.into_iter().collect::<Built<_>>()?)?;
    if only_own {
        let own = std::process::id();
        for &(_, call) in SIGNALS {
            allow(call, vec![equal(0, own.into())?])?;
        }
    }
    Ok(rules)
}

fn program(plan: &Plan) -> Built<BpfProgram> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let other = SeccompAction::Errno(libc::ENOSYS as u32);
    let filter = SeccompFilter::new(rules(plan)?, other, SeccompAction::Allow, architecture)?;
    filter.try_into()
}

/// Allows only the calls of the list from now on.
pub(crate) fn restrict(plan: &Plan) -> Result<(), Missing> {
    let missing = |problem: String| {
        filesystem::eprint(&format!("seccomp: {problem}"));
        Missing {
            layer: Layer::Seccomp,
            errno: 0,
        }
    };
    let program = program(plan).map_err(|error| missing(error.to_string()))?;
    apply_filter(&program).map_err(|error| missing(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn list_has_no_dangerous_call() {
        let listed: BTreeSet<&str> = ALLOWED.iter().chain(OLDER).map(|(name, _)| *name).collect();
        for dangerous in include_str!("../data/dangerous.txt").lines() {
            let name = format!("SYS_{dangerous}");
            assert!(!listed.contains(&*name), "{dangerous}");
        }
    }

    #[test]
    fn filter_fits_for_both_kinds_of_sockets() {
        for port in [None, Some(1)] {
            let plan = Plan {
                port,
                ..Plan::default()
            };
            let program = program(&plan).expect("a filter");
            assert!(program.len() < 4096, "{}", program.len());
        }
    }
}
