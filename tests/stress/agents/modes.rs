//! The fault that each misbehaviour is charged with, and whether a record has it.

use serde::Deserialize;
use serde_json::Value;

/// The agent's decision at which it misbehaves.
const DUE: u64 = 5;

/// The table of `tests/data/misbehaviour.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) bounds: Bounds,
    #[serde(rename = "mode")]
    pub(super) modes: Vec<Mode>,
}

/// The largest accepted memory, in MiB.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bounds {
    pub(super) worker_mib: u64,
    pub(super) coordinator_mib: u64,
}

/// One misbehaviour.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mode {
    pub(super) name: String,
    fault: Option<String>,
    when: Option<When>,
    /// The second argument; default: the decision at which it misbehaves.
    pub(super) argument: Option<u64>,
    pub(super) start_timeout_s: Option<u64>,
    pub(super) memory_mib: Option<u64>,
    pub(super) processes: Option<u32>,
    #[serde(default)]
    connects: bool,
    #[serde(default)]
    only_grpc: bool,
}

/// The agents that play together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Agents that speak gRPC, in a sandbox.
    Grpc,
    /// Those that connect to themselves, which a sandbox forbids.
    Connects,
    /// Agents that speak lines, in a sandbox.
    Lines,
}

impl Part {
    pub(super) const ALL: [Self; 3] = [Self::Grpc, Self::Connects, Self::Lines];

    /// The level of the sandbox.
    pub(super) fn level(self) -> &'static str {
        match self {
            Self::Grpc | Self::Lines => "kernel",
            Self::Connects => "none",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Grpc => "gRPC, sandbox kernel",
            Self::Connects => "gRPC, sandbox none",
            Self::Lines => "lines, sandbox kernel",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum When {
    Decision,
    Start,
}

impl Table {
    /// The modes of a part.
    pub(super) fn read(part: Part) -> Self {
        let table = include_str!("../../data/misbehaviour.toml");
        let mut table: Self = toml::from_str(table).expect("the table is TOML");
        table.modes.retain(|mode| match part {
            Part::Grpc => !mode.connects,
            Part::Connects => mode.connects,
            Part::Lines => !mode.only_grpc,
        });
        table
    }

    /// The mode in an agent's name.
    fn mode(&self, agent: &str) -> Option<&Mode> {
        let name = agent.strip_suffix(SINGLE).unwrap_or(agent);
        self.modes.iter().find(|mode| mode.name == name)
    }

    /// Returns what is wrong with the faults of a game, and their number.
    pub(super) fn judge(&self, game: &Value, forfeit: bool) -> Result<u64, String> {
        if game["termination"] == "void" {
            return Err("it is void".to_owned());
        }
        let seats = game["seats"].as_array().ok_or("no seats")?;
        let mut count = 0;
        for (seat, agent) in seats.iter().enumerate() {
            let agent = agent.as_str().ok_or("no name")?;
            let faults = faults(game, seat as u64);
            count += faults.len() as u64;
            let wrong = |expected: &str| {
                let few = &faults[..faults.len().min(3)];
                Err(format!(
                    "{agent} at seat {seat} should be charged with \
                     {expected}, and is {} times, first {few:?}",
                    faults.len()
                ))
            };
            // An agent of the papers has no faults.
            let mode = self.mode(agent);
            let expected = mode.and_then(|mode| Some((mode.fault.as_deref()?, mode.when?)));
            let Some((kind, when)) = expected else {
                if faults.is_empty() {
                    continue;
                }
                return wrong("nothing");
            };
            if faults.iter().any(|fault| fault.kind != kind) {
                return wrong(kind);
            }
            // No agent is asked if passing is the only action.
            let passes: Vec<bool> = moves(game)
                .filter(|event| event["seat"] == seat)
                .map(|event| event["move"] == "pass")
                .collect();
            let asked = passes.iter().filter(|pass| !**pass).count();
            let fits = match (when, faults.as_slice()) {
                // The game had ended before, or had no decision for the agent.
                (When::Decision, []) => passes.get(DUE as usize).is_none_or(|pass| *pass),
                (When::Decision, [one]) => one.before == DUE,
                (When::Decision, _) => false,
                (When::Start, []) => asked == 0,
                (When::Start, [one]) if forfeit => {
                    passes.iter().position(|pass| !pass) == Some(one.before as usize)
                        || one.before as usize == passes.len()
                }
                (When::Start, all) => !forfeit && all.len() == asked,
            };
            if !fits {
                return wrong(&format!("{kind} ({when:?})"));
            }
        }
        Ok(count)
    }
}

/// The end of the name of an agent without batches.
pub(super) const SINGLE: &str = "-single";

#[derive(Debug)]
struct Fault {
    kind: String,
    /// Decisions of a seat before an action.
    before: u64,
}

/// The actions of a game.
fn moves(game: &Value) -> impl Iterator<Item = &Value> {
    let events = game["events"].as_array().into_iter().flatten();
    events.filter(|event| !event["action"].is_null())
}

/// The faults of a seat.
fn faults(game: &Value, seat: u64) -> Vec<Fault> {
    let actions: Vec<&Value> = moves(game).collect();
    let all = game["fault"].as_array().into_iter().flatten();
    all.filter(|fault| fault["seat"] == seat)
        .map(|fault| {
            let ply = fault["ply"].as_u64().unwrap_or_default() as usize;
            let before = actions.iter().take(ply);
            Fault {
                kind: fault["kind"].as_str().unwrap_or_default().to_owned(),
                before: before.filter(|event| event["seat"] == seat).count() as u64,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn game(fault: Value, plies: u64) -> Value {
        let events: Vec<Value> = (0..plies)
            .map(|ply| json!({"seat": ply % 2, "action": 0, "move": "0"}))
            .collect();
        json!({
            "seats": ["crash", "good"], "events": events, "termination": "normal",
            "fault": fault,
        })
    }

    #[test]
    fn fault_needs_kind_decision_and_agent() {
        let table = Table::read(Part::Grpc);
        let judge = |fault, plies| table.judge(&game(fault, plies), true);
        let fault = |ply, seat, kind| json!([{"ply": ply, "seat": seat, "kind": kind}]);
        assert_eq!(judge(fault(10, 0, "crash"), 12), Ok(1));
        assert_eq!(judge(Value::Null, 10), Ok(0));
        for (fault, why) in [
            (Value::Null, "no fault"),
            (fault(8, 0, "crash"), "too early"),
            (fault(10, 0, "timeout"), "another kind"),
            (fault(10, 1, "crash"), "another agent"),
        ] {
            assert!(judge(fault, 12).is_err(), "{why}");
        }
    }
}
