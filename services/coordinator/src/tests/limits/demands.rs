//! What an agent may ask for at its registration.

use arena_wire::{
    limits::{self, Limit, PROCESS_DEFAULTS},
    v1::{self, AgentLimits, agent::Source},
};
use tonic::Status;

use super::{User, content, guarded, limit_reached, limited, upload};

/// Registers an agent of the uploaded binary.
async fn register(user: &mut User, limits: Option<AgentLimits>, cpus: u32) -> Result<(), Status> {
    let agent = v1::Agent {
        name: "mine".to_owned(),
        cpus,
        source: Some(Source::Binary(v1::BinarySource {
            sha256: super::sha256(&content("a")),
            file_name: "program".to_owned(),
            limits,
            ..Default::default()
        })),
        ..Default::default()
    };
    let request = v1::RegisterAgentRequest {
        agent: Some(agent),
        replace: true,
        ..Default::default()
    };
    user.register_agent(request).await.map(drop)
}

#[tokio::test]
async fn agents_ask_for_no_more_than_their_token_allows() {
    type Ask = fn(u64) -> (AgentLimits, u32);
    const ASKED: u64 = 7;
    let asks: [(&Limit, Ask); 6] = [
        (&limits::AGENT_MEMORY, |mib| {
            let limits = AgentLimits {
                memory_bytes: mib << 20,
                ..PROCESS_DEFAULTS
            };
            (limits, 1)
        }),
        (&limits::AGENT_SCRATCH, |mib| {
            let limits = AgentLimits {
                disk_bytes: mib << 20,
                ..PROCESS_DEFAULTS
            };
            (limits, 1)
        }),
        (&limits::AGENT_PROCESSES, |processes| {
            let limits = AgentLimits {
                processes: processes as u32,
                ..PROCESS_DEFAULTS
            };
            (limits, 1)
        }),
        (&limits::AGENT_CPUS, |cpus| (PROCESS_DEFAULTS, cpus as u32)),
        (&limits::AGENT_CPU_TIME, |seconds| {
            let limits = AgentLimits {
                cpu_us: seconds * 1_000_000,
                ..PROCESS_DEFAULTS
            };
            (limits, 1)
        }),
        (&limits::AGENT_START, |seconds| {
            let limits = AgentLimits {
                start_timeout_us: seconds * 1_000_000,
                ..PROCESS_DEFAULTS
            };
            (limits, 1)
        }),
    ];
    for (limit, ask) in asks {
        let arena = guarded().await;
        let mut user = limited(&arena, limit, ASKED).await;
        upload(&mut user, "a").await.expect("no limit");
        let (limits, cpus) = ask(ASKED + 1);
        let excess = register(&mut user, Some(limits), cpus).await;
        limit_reached(excess, limit, ASKED);
        // Without a value, the default counts: one core, and no end of CPU time.
        let absent = register(&mut user, None, 0).await;
        match limit.name {
            "agent-cpus" => absent.expect("one core"),
            _ => limit_reached(absent, limit, ASKED),
        }
        let (limits, cpus) = ask(ASKED);
        register(&mut user, Some(limits), cpus)
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", limit.name));
    }
}
