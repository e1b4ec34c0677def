//! The roles of methods, as the proto files name them.

use std::collections::HashMap;

use arena_wire::{DESCRIPTORS, v1::Role};
use prost::Message;

use super::ROLES;
use crate::principal::role_name;

/// Services of others: health is open, and reflection is for viewers.
const HEALTH: &str = "/grpc.health.v1.Health/";
const REFLECTION: &str = "/grpc.reflection.";

/// Who may call a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Method {
    roles: Vec<Role>,
    /// True if no token is needed.
    pub(super) open: bool,
    /// True if the answer is a stream.
    pub(super) streams: bool,
    /// True if the request is a stream.
    receives: bool,
    /// True if calls belong into the audit trail: what changes something, and joins of workers.
    pub(super) is_recorded: bool,
}

impl Method {
    /// True if calls take a place of a stream.
    pub(super) fn is_stream(&self) -> bool {
        self.streams || self.receives
    }

    /// The roles that may call it, for a reader.
    pub(super) fn needed(&self) -> String {
        let admitted = ROLES.into_iter().filter(|&role| self.admits(role));
        let names: Vec<&str> = admitted.map(role_name).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    pub(super) fn admits(&self, role: Role) -> bool {
        let as_viewer = role == Role::Submitter && self.roles.contains(&Role::Viewer);
        self.roles.contains(&role) || as_viewer || (role == Role::Admin && !self.roles.is_empty())
    }
}

/// The methods by path.
pub(super) struct Methods {
    known: HashMap<String, Method>,
    health: Method,
    reflection: Method,
    other: Method,
}

impl Methods {
    pub(super) fn of_descriptors() -> Self {
        let streams = true;
        Self {
            known: read(),
            health: Method {
                open: true,
                streams,
                ..Method::default()
            },
            reflection: Method {
                roles: vec![Role::Viewer],
                streams,
                ..Method::default()
            },
            other: Method::default(),
        }
    }

    pub(super) fn is_known(&self, path: &str) -> bool {
        self.known.contains_key(path)
    }

    /// A method; an unknown one admits no role.
    pub(super) fn find(&self, path: &str) -> &Method {
        self.known.get(path).unwrap_or_else(|| {
            if path.starts_with(HEALTH) {
                &self.health
            } else if path.starts_with(REFLECTION) {
                &self.reflection
            } else {
                &self.other
            }
        })
    }
}

/// The parts of descriptors that matter here. The usual messages do not keep the options of other
/// packages.
#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(message, repeated, tag = "1")]
    files: Vec<File>,
}

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(string, tag = "2")]
    package: String,
    #[prost(message, repeated, tag = "6")]
    services: Vec<ServiceOf>,
}

#[derive(Clone, PartialEq, Message)]
struct ServiceOf {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    methods: Vec<MethodOf>,
}

#[derive(Clone, PartialEq, Message)]
struct MethodOf {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "4")]
    options: Option<OptionsOf>,
    #[prost(bool, tag = "5")]
    receives: bool,
    #[prost(bool, tag = "6")]
    streams: bool,
}

#[derive(Clone, PartialEq, Message)]
struct OptionsOf {
    /// `arena.v1.role`
    #[prost(enumeration = "Role", repeated, tag = "50001")]
    roles: Vec<i32>,
}

fn read() -> HashMap<String, Method> {
    let files = Files::decode(DESCRIPTORS).expect("our own descriptors are well formed");
    let mut known = HashMap::new();
    for file in files.files {
        for service in file.services {
            for method in service.methods {
                let path = format!("/{}.{}/{}", file.package, service.name, method.name);
                let roles: Vec<Role> = method.options.iter().flat_map(OptionsOf::roles).collect();
                let by_worker = roles.contains(&Role::Worker) && method.name != "Join";
                let of = Method {
                    is_recorded: !roles.is_empty() && !roles.contains(&Role::Viewer) && !by_worker,
                    roles,
                    open: false,
                    streams: method.streams,
                    receives: method.receives,
                };
                known.insert(path, of);
            }
        }
    }
    known
}

/// The paths of all methods.
#[cfg(test)]
pub(crate) fn paths() -> Vec<String> {
    read().into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(path: &str) -> Vec<Role> {
        let methods = Methods::of_descriptors();
        let method = methods.find(path);
        ROLES
            .into_iter()
            .filter(|&role| method.admits(role))
            .collect()
    }

    #[test]
    fn roles_come_from_proto_files() {
        let all = Methods::of_descriptors();
        // Served by agents and by rules.
        let others = ["/arena.v1.AgentService/", "/arena.v1.RulesService/"];
        for (path, method) in &all.known {
            assert!(
                others.iter().any(|other| path.starts_with(other)) || !method.roles.is_empty(),
                "{path} has no role"
            );
        }
        let read = [Role::Viewer, Role::Submitter, Role::Admin];
        assert_eq!(admitted("/arena.v1.CoordinatorService/GetGame"), read);
        let change = [Role::Submitter, Role::Admin];
        assert_eq!(
            admitted("/arena.v1.CoordinatorService/StartTournament"),
            change
        );
        let play = [Role::Worker, Role::Admin];
        assert_eq!(admitted("/arena.v1.WorkerService/Lease"), play);
        let fetch = [Role::Submitter, Role::Worker, Role::Admin];
        assert_eq!(admitted("/arena.v1.WorkerService/FetchBinary"), fetch);
        assert_eq!(
            admitted("/arena.v1.AdminService/CreateToken"),
            [Role::Admin]
        );
        assert_eq!(admitted("/externalscaler.ExternalScaler/IsActive"), read);
    }

    #[test]
    fn unknown_methods_admit_no_role() {
        for path in [
            "/arena.v1.CoordinatorService/Other",
            "/arena.v1.AgentService/ChooseMove",
            "/arena.v1.RulesService/Apply",
            "/other",
            "",
        ] {
            assert_eq!(admitted(path), [], "{path}");
        }
    }
}
