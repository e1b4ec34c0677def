//! What a token may use, by its role.

use arena_wire::{
    limits::{self, Limit},
    v1::{Role, TokenLimits},
};

use crate::{
    demands,
    principal::{UPLOAD_IDLE_SECONDS, role_name},
};

/// The limits of tokens and certificates that have no own ones. Administrators have none.
#[derive(Clone, Debug)]
pub struct RoleLimits([(Role, TokenLimits); 3]);

impl Default for RoleLimits {
    fn default() -> Self {
        let viewer = TokenLimits {
            streams: Some(256),
            requests_per_second: Some(500),
            ..TokenLimits::default()
        };
        let submitter = TokenLimits {
            agents: Some(100),
            tournaments: Some(10),
            games: Some(10_000_000),
            stored_tournaments: Some(1_000),
            upload_bytes: Some(4 << 30),
            upload_idle_seconds: Some(UPLOAD_IDLE_SECONDS),
            // Half of the places for transfers stay free for others.
            streams: Some(16),
            requests_per_second: Some(500),
            agent_memory_mib: Some(demands::MEMORY_MIB_MAX),
            agent_scratch_mib: Some(demands::SCRATCH_MIB_MAX),
            agent_processes: Some(demands::PROCESSES_MAX),
            agent_cpus: Some(demands::CPUS_MAX),
            agent_cpu_seconds: Some(limits::UNLIMITED),
            agent_start_seconds: Some(demands::START_SECONDS_MAX),
        };
        let worker = TokenLimits {
            // A token is often used by many workers.
            streams: Some(10_000),
            requests_per_second: Some(20_000),
            ..TokenLimits::default()
        };
        Self([
            (Role::Viewer, viewer),
            (Role::Submitter, submitter),
            (Role::Worker, worker),
        ])
    }
}

impl RoleLimits {
    /// Changes a limit, as `ROLE.NAME=VALUE` says.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let wrong = || {
            let roles = self.0.each_ref().map(|(role, _)| role_name(*role));
            let shown = text.escape_debug();
            format!(
                "\"{shown}\" is not a limit: expected ROLE.NAME=VALUE, such as \
                 submitter.agents=200; the roles are {}",
                roles.join(", ")
            )
        };
        let (role, rest) = text.split_once('.').ok_or_else(wrong)?;
        let known = self.0.iter().position(|(it, _)| role_name(*it) == role);
        let known = known.ok_or_else(wrong)?;
        let (limit, value) = limits::parse(rest).map_err(|error| error.to_string())?;
        let (role, limits) = &mut self.0[known];
        check(*role, limits, limit)?;
        limit.set(limits, Some(value));
        Ok(())
    }

    /// The limits of a token with a role and limits of its own; none for administrators.
    pub(crate) fn of(&self, role: Role, own: Option<&TokenLimits>) -> Option<TokenLimits> {
        let (_, limits) = self.0.iter().find(|(it, _)| *it == role)?;
        Some(own.copied().unwrap_or_default().or(limits))
    }

    /// Fails unless a token of a role can have these limits.
    pub(crate) fn check(&self, role: Role, own: &TokenLimits) -> Result<(), String> {
        let known = self.of(role, None).unwrap_or_default();
        for (limit, value) in own.entries() {
            check(role, &known, limit)?;
            if !limit.allows(value) {
                return Err(format!("the limit {} cannot be {value}", limit.name));
            }
        }
        Ok(())
    }
}

/// Fails unless a role has a limit.
fn check(role: Role, limits: &TokenLimits, limit: &Limit) -> Result<(), String> {
    if limit.of(limits).is_some() {
        return Ok(());
    }
    let role = role_name(role);
    let names: Vec<_> = limits.entries().map(|(it, _)| it.name).collect();
    let names = match names.is_empty() {
        true => "no limits".to_owned(),
        false => format!("only the limits {}", names.join(" and ")),
    };
    Err(format!(
        "a token of the role {role} has {names}, not {}",
        limit.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_set_by_role() {
        let mut limits = RoleLimits::default();
        limits.set("worker.streams=7").expect("a limit");
        limits
            .set("submitter.agents=unlimited")
            .expect("no maximum");
        let of = |role| limits.of(role, None).expect("limits");
        assert_eq!(of(Role::Worker).streams, Some(7));
        assert_eq!(of(Role::Submitter).streams, Some(16));
        assert_eq!(of(Role::Submitter).agents, Some(limits::UNLIMITED));
        assert_eq!(limits.of(Role::Admin, None), None);
        for (text, expected) in [
            ("agents=1", "expected ROLE.NAME=VALUE"),
            ("admin.agents=1", "the roles are viewer, submitter, worker"),
            (
                "submitter.agent=1",
                "unknown limit \"agent\": expected agents,",
            ),
            ("submitter.agents=x", "expected a number"),
            (
                "worker.agents=1",
                "only the limits streams and requests-per-second, not agents",
            ),
        ] {
            let error = limits.set(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn own_limits_have_precedence() {
        let limits = RoleLimits::default();
        let own = TokenLimits {
            agents: Some(3),
            ..TokenLimits::default()
        };
        assert_eq!(limits.check(Role::Submitter, &own), Ok(()));
        let all = limits.of(Role::Submitter, Some(&own)).expect("limits");
        assert_eq!((all.agents, all.tournaments), (Some(3), Some(10)));
        assert!(limits.check(Role::Viewer, &own).is_err());
        let error = limits.check(Role::Admin, &own).expect_err("no limits");
        assert!(error.contains("admin has no limits"), "{error}");
    }

    /// The table of the documentation has these values.
    #[test]
    fn table_shows_defaults() {
        let page = include_str!("../../../deploy/OTHERS.md");
        let roles = RoleLimits::default();
        for limit in limits::LIMITS {
            let values = roles.0.each_ref().map(|(_, limits)| {
                let value = limit.of(limits);
                value.map_or_else(|| "–".to_owned(), limits::format)
            });
            let row = format!("| `{}` | {} |", limit.name, values.join(" | "));
            assert!(page.contains(&row), "deploy/OTHERS.md lacks {row}");
        }
    }
}
