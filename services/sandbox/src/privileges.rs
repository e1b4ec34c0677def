//! User and capabilities of an agent.

use caps::{CapSet, Capability, CapsHashSet};
use nix::unistd::{Uid, setgroups, setresgid, setresuid};

use crate::{Layer, Missing, Plan};

/// Becomes the user of the plan, for good.
pub(crate) fn change_user(plan: &Plan) -> Result<(), Missing> {
    let Some((uid, gid)) = plan.owner() else {
        return Ok(());
    };
    let missing = Missing::at(Layer::Uid);
    setgroups(&[]).map_err(&missing)?;
    setresgid(gid, gid, gid).map_err(&missing)?;
    setresuid(uid, uid, uid).map_err(&missing)?;
    // The system makes files in /proc/self those of root then.
    nix::sys::prctl::set_dumpable(true).map_err(&missing)
}

/// Lets the next program keep the capabilities that it needs to make namespaces: a user that is not
/// root would lose them. They count only in the user namespace of this process.
pub(crate) fn pass_capabilities() -> Result<(), Missing> {
    let missing = |_| Missing {
        layer: Layer::UserNamespace,
        errno: nix::errno::Errno::EPERM as i32,
    };
    for capability in [Capability::CAP_SYS_ADMIN, Capability::CAP_SETPCAP] {
        for set in [CapSet::Inheritable, CapSet::Ambient] {
            caps::raise(None, set, capability).map_err(missing)?;
        }
    }
    Ok(())
}

/// Gives up every capability of this process and of all programs that it starts.
///
/// # Errors
/// If the process has a capability afterwards, or root would get it back with the next program.
pub fn drop_capabilities() -> Result<(), Missing> {
    let missing = |_| Missing {
        layer: Layer::Capabilities,
        errno: nix::errno::Errno::EPERM as i32,
    };
    let can_bound = caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP);
    if can_bound.map_err(missing)? {
        for capability in caps::runtime::thread_all_supported() {
            caps::drop(None, CapSet::Bounding, capability).map_err(missing)?;
        }
    }
    // Without them, the ambient set is empty as well.
    for set in [CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        caps::set(None, set, &CapsHashSet::new()).map_err(missing)?;
    }
    let mut left = CapsHashSet::new();
    for set in [CapSet::Effective, CapSet::Permitted, CapSet::Inheritable] {
        left.extend(caps::read(None, set).map_err(missing)?);
    }
    if Uid::effective().is_root() {
        left.extend(caps::read(None, CapSet::Bounding).map_err(missing)?);
    }
    match left.is_empty() {
        true => Ok(()),
        false => Err(missing("capabilities are left".into())),
    }
}
