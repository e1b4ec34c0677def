//! The layers of a sandbox. Both levels are lists of them.

use std::fmt;

use arena_model::SandboxLevel;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// One mechanism that confines an agent.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Layer {
    /// Only a short list of variables is passed on.
    Environment,
    /// Only standard input, output and error are passed on.
    Descriptors,
    /// Limits of each process, such as core files and the size of a file.
    Rlimits,
    /// Limits of all processes of the agent together, measured by its guard.
    TreeLimits,
    /// Programs with setuid or file capabilities give no privileges.
    NoNewPrivileges,
    /// No process of the agent has a capability.
    Capabilities,
    /// Landlock: files outside the agent's own folder and the system's programs are out of reach.
    Landlock,
    /// Landlock: signals and abstract sockets of other processes are out of reach.
    Scope,
    /// Seccomp: only listed system calls are possible.
    Seccomp,
    /// A user namespace.
    UserNamespace,
    /// A pid namespace with its own `/proc`.
    PidNamespace,
    /// A mount namespace whose root is a tmpfs with the readable folders.
    MountNamespace,
    /// A network namespace without a network.
    NetNamespace,
    /// A namespace of System V IPC and POSIX message queues.
    IpcNamespace,
    /// A namespace of the host name.
    UtsNamespace,
    /// A scratch folder in memory with a maximum size.
    Scratch,
    /// A user id for this process alone, if the worker is root.
    Uid,
    /// A control group for all processes of the agent, if the worker can create one.
    Cgroup,
}

impl Layer {
    /// All layers, in the order of the documentation.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Name in lists, messages and tests.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The lowest level that has this layer.
    #[must_use]
    pub fn level(self) -> SandboxLevel {
        match self {
            Self::Environment
            | Self::Descriptors
            | Self::Rlimits
            | Self::TreeLimits
            | Self::NoNewPrivileges
            | Self::Capabilities
            | Self::Landlock
            | Self::Scope
            | Self::Seccomp => SandboxLevel::Kernel,
            _ => SandboxLevel::Strict,
        }
    }

    /// The layers of a level.
    #[must_use]
    pub fn of(level: SandboxLevel) -> Vec<Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|layer| layer.level() <= level).collect()
    }

    /// What the layer stops, for people.
    #[must_use]
    pub fn stops(self) -> &'static str {
        match self {
            Self::Environment => "reading variables of the worker, such as passwords",
            Self::Descriptors => "using files and sockets that the worker inherited",
            Self::Rlimits => "core files, huge files, locked memory, message queues",
            Self::TreeLimits => "using more memory, processes, disk or CPU time than allowed",
            Self::NoNewPrivileges => "gaining privileges by setuid programs",
            Self::Capabilities => "everything that needs a privilege of root",
            Self::Landlock => {
                "reading or writing other files, ptrace and memory of other processes"
            }
            Self::Scope => "signals to other processes, abstract sockets",
            Self::Seccomp => {
                "connecting, other sockets, ptrace, mounts, namespaces, keys, bpf, io_uring, perf, \
                 calls of other ABIs"
            }
            Self::UserNamespace => "privileges of the host in files, devices and namespaces",
            Self::PidNamespace => "seeing or signalling processes of the host",
            Self::MountNamespace => "seeing files of the host, such as other agents' folders",
            Self::NetNamespace => "seeing or using interfaces and sockets of the host",
            Self::IpcNamespace => "seeing shared memory and queues of the host",
            Self::UtsNamespace => "seeing or changing the host name",
            Self::Scratch => "filling the disk",
            Self::Uid => "acting as the user of the worker or of another agent",
            Self::Cgroup => "exceeding memory, processes and cores between two measurements",
        }
    }

    /// What to do if the layer cannot be set up.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Landlock => {
                "use Linux 5.13 or newer with \"landlock\" in the kernel's list of security \
                 modules (boot parameter lsm=landlock,…), and allow landlock calls in the \
                 container's seccomp profile"
            }
            Self::Seccomp => "use a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64",
            Self::UserNamespace => {
                "allow unprivileged user namespaces (sysctl user.max_user_namespaces, \
                 kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), \
                 or start the worker as root"
            }
            Self::PidNamespace | Self::MountNamespace => {
                "allow namespaces, and an unmasked /proc (Docker: --security-opt \
                 systempaths=unconfined --security-opt seccomp=unconfined; Kubernetes: procMount: \
                 Unmasked), or use --sandbox kernel"
            }
            Self::NetNamespace | Self::IpcNamespace | Self::UtsNamespace | Self::Scratch => {
                "allow namespaces (in containers: a seccomp profile that permits unshare and \
                 mount), or use --sandbox kernel"
            }
            Self::Cgroup => "give the worker a writable cgroup (systemd: Delegate=yes)",
            Self::Rlimits => "raise the limits of the worker (ulimit, LimitNOFILE=)",
            Self::Capabilities | Self::Uid => {
                "start the worker as an unprivileged user, or with the capabilities SETUID, \
                 SETGID and SETPCAP"
            }
            _ => "please report this as a defect, with the version of the kernel",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_contain_each_other() {
        assert!(Layer::of(SandboxLevel::None).is_empty());
        let kernel = Layer::of(SandboxLevel::Kernel);
        let strict = Layer::of(SandboxLevel::Strict);
        assert!(kernel.contains(&Layer::Landlock) && !kernel.contains(&Layer::Cgroup));
        assert!(kernel.iter().all(|layer| strict.contains(layer)));
        assert_eq!(strict.len(), Layer::ALL.len());
    }
}
