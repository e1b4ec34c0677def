//! Disputed games that survive a restart, and what follows from their third play.

use std::collections::{BTreeMap, BTreeSet};

use arena_store::{Change, Collection, Store, StoreError};
use arena_wire::v1::{self, ThirdPlay};

use super::{Core, change};
use crate::{
    info::Info,
    ledger::{Charge, Charged, Confirmed, Dispute, Suspicion, WorkerProcess, ppm},
};

/// Prefix of the keys of disputed games.
pub(super) const PREFIX: &str = "disputes/";
/// Prefix of the keys of processes that a third play charged.
const QUARANTINE: &str = "quarantine/";
/// Length of a stored process.
const PROCESS_BYTES: usize = 9;
/// Length of a stored dispute without a third record.
const BYTES: usize = 1 + 2 * PROCESS_BYTES + 4 + 32;
/// The number of an unknown agent.
const NO_AGENT: u32 = u32::MAX;
/// Maximum number of disputes that a note names.
const NAMED_MAX: usize = 3;

/// A dispute with the result of its third play, if there was one, and whether it charges an agent.
pub(super) struct StoredDispute {
    pub(super) dispute: Dispute,
    pub(super) third_play: Option<(Confirmed, bool)>,
}

impl StoredDispute {
    /// True if the difference names the agent whose move differs first.
    pub(super) fn names_agent(&self) -> bool {
        self.third_play
            .is_none_or(|(_, charges_agent)| charges_agent)
    }

    /// The agent that the third play charges, by number.
    pub(super) fn charged_agent(&self) -> Option<usize> {
        let charged = self.third_play.filter(|(_, charges_agent)| *charges_agent);
        charged.and(self.dispute.agent).map(usize::from)
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.push(match self.third_play {
            None => 0,
            Some((confirmed, charges_agent)) => 1 + 2 * confirmed as u8 + u8::from(charges_agent),
        });
        for process in [self.dispute.first, self.dispute.second] {
            bytes.extend(encoded(process));
        }
        let agent = self.dispute.agent.map_or(NO_AGENT, u32::from);
        bytes.extend(agent.to_le_bytes());
        bytes.extend(self.dispute.hash);
        if let Some((process, hash)) = self.dispute.third {
            bytes.extend(encoded(process));
            bytes.extend(hash);
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (&result, bytes) = bytes.split_first()?;
        let (first, bytes) = bytes.split_first_chunk()?;
        let (second, bytes) = bytes.split_first_chunk()?;
        let (agent, bytes) = bytes.split_first_chunk()?;
        let (hash, bytes) = bytes.split_first_chunk()?;
        let third = match bytes.split_first_chunk() {
            Some((process, hash)) => Some((decoded(process), hash.try_into().ok()?)),
            None => None,
        };
        let confirmed = match result {
            0 => None,
            1 | 2 => Some(Confirmed::Durable),
            3 | 4 => Some(Confirmed::Other),
            _ => Some(Confirmed::Neither),
        };
        let dispute = Dispute {
            first: decoded(first),
            second: decoded(second),
            hash: *hash,
            agent: u16::try_from(u32::from_le_bytes(*agent)).ok(),
            third,
        };
        Some(Self {
            dispute,
            third_play: confirmed.map(|confirmed| (confirmed, result % 2 == 0)),
        })
    }

    fn store(&self, info: &Info, index: u64) -> Change {
        change(Collection::Meta, key(&info.key, index), Some(self.encode()))
    }
}

/// A process. Numbers of joins are those of one start, and are not stored.
fn encoded(process: WorkerProcess) -> [u8; PROCESS_BYTES] {
    let mut bytes = [0; PROCESS_BYTES];
    if let WorkerProcess::Process(number) = process {
        bytes[0] = 1;
        bytes[1..].copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

fn decoded(bytes: &[u8; PROCESS_BYTES]) -> WorkerProcess {
    match *bytes {
        [1, ref number @ ..] => WorkerProcess::Process(u64::from_le_bytes(*number)),
        _ => WorkerProcess::Unknown,
    }
}

fn key(tournament: &str, index: u64) -> String {
    format!("{PREFIX}{tournament}/{index:0>20}")
}

/// The disputes of a tournament, by game.
pub(super) fn read(meta: &[(String, Vec<u8>)], tournament: &str) -> BTreeMap<u64, StoredDispute> {
    let prefix = format!("{PREFIX}{tournament}/");
    let from = meta.partition_point(|(key, _)| **key < *prefix);
    let of = meta[from..].iter().map_while(|(key, bytes)| {
        let index = key.strip_prefix(&prefix)?.parse().ok();
        Some((index, bytes))
    });
    of.filter_map(|(index, bytes)| Some((index?, StoredDispute::decode(bytes)?)))
        .collect()
}

/// The processes that a third play charged in an earlier start.
pub(super) fn quarantined(meta: &[(String, Vec<u8>)]) -> Vec<WorkerProcess> {
    let numbers = meta
        .iter()
        .filter_map(|(key, _)| key.strip_prefix(QUARANTINE));
    let numbers = numbers.filter_map(|number| u64::from_str_radix(number, 16).ok());
    numbers.map(WorkerProcess::Process).collect()
}

/// Adds the result of its third play to a difference, if there was one.
pub(crate) fn add_third_play(
    store: &dyn Store,
    tournament: &str,
    difference: &mut v1::Difference,
) -> Result<(), StoreError> {
    let index = difference.game_id.rsplit_once('/');
    let Some(index) = index.and_then(|(_, index)| index.parse().ok()) else {
        return Ok(());
    };
    let stored = store.get(Collection::Meta, &key(tournament, index))?;
    let dispute = stored.and_then(|bytes| StoredDispute::decode(&bytes));
    let Some((dispute, (confirmed, charges_agent))) =
        dispute.and_then(|it| Some((it.dispute, it.third_play?)))
    else {
        return Ok(());
    };
    if difference.other_hash != hex::encode(dispute.hash) {
        // Another report of the game.
        return Ok(());
    }
    difference.charges_agent = charges_agent;
    difference.set_third_play(match confirmed {
        Confirmed::Durable => ThirdPlay::Durable,
        Confirmed::Other => ThirdPlay::Other,
        Confirmed::Neither => ThirdPlay::Neither,
    });
    Ok(())
}

/// The change that stores a new dispute.
pub(super) fn open(info: &Info, index: u64, dispute: &Dispute) -> Change {
    let stored = StoredDispute {
        dispute: *dispute,
        third_play: None,
    };
    stored.store(info, index)
}

impl Core {
    /// Applies the result of a third play. Returns the changes to store.
    pub(super) fn settled(
        &mut self,
        info: &Info,
        index: u64,
        dispute: Dispute,
        confirmed: Confirmed,
        charged: Charged,
    ) -> Vec<Change> {
        let game = format!("{}/{index}", info.id);
        let charges_agent = charged == Charged::Agent;
        let stored = StoredDispute {
            dispute,
            third_play: Some((confirmed, charges_agent)),
        };
        let mut changes = Vec::new();
        if let Some(entry) = self.tournaments.get_mut(&*info.id) {
            // What is not listed needs no result.
            changes.push(match entry.differing.lists(&info.key, index) {
                true => stored.store(info, index),
                false => change(Collection::Meta, key(&info.key, index), None),
            });
            match dispute.agent.filter(|_| charges_agent) {
                Some(agent) => entry.differing.name(agent.into(), index),
                None if !charges_agent => entry.differing.acquit(index),
                None => {}
            }
        }
        let processes = match charged {
            Charged::Process(process) => vec![process],
            Charged::Both(processes) => processes.to_vec(),
            Charged::Agent => {
                let agent = dispute
                    .agent
                    .and_then(|it| info.agents.get(usize::from(it)));
                tracing::warn!(
                    game,
                    agent,
                    "an agent is not deterministic: all plays of a game differ"
                );
                changes.extend(self.acquit(info));
                return changes;
            }
        };
        for process in processes {
            let name = self.process_name(process);
            tracing::warn!(
                game,
                worker = name,
                ?confirmed,
                "other plays refuted a worker's record"
            );
            if let WorkerProcess::Process(number) = process {
                let key = format!("{QUARANTINE}{number:x}");
                changes.push(change(Collection::Meta, key, Some(Vec::new())));
            }
            let problem = format!("other plays refuted its record of game {game}");
            self.quarantine(process, Suspicion::ThirdPlay, &name, &problem);
        }
        changes
    }

    /// Acquits the processes that were charged for games of an agent that is not deterministic.
    /// Returns the changes to store.
    fn acquit(&mut self, info: &Info) -> Vec<Change> {
        let number = self.tournaments.get(&*info.id).and_then(|it| it.number);
        let Some(number) = number else {
            return Vec::new();
        };
        let charges = self.ledger.acquit(number);
        let acquitted: BTreeSet<_> = charges.iter().map(|charge| charge.process).collect();
        let mut changes = Vec::new();
        for process in acquitted {
            tracing::warn!(
                worker = self.process_name(process),
                "a worker process leaves quarantine: an agent caused the differences"
            );
            self.unpark = true;
            if let WorkerProcess::Process(number) = process {
                let key = format!("{QUARANTINE}{number:x}");
                changes.push(change(Collection::Meta, key, None));
            }
        }
        let mut games = Vec::new();
        for Charge {
            index,
            dispute,
            confirmed,
            ..
        } in charges
        {
            let stored = StoredDispute {
                dispute,
                third_play: Some((confirmed, true)),
            };
            let entry = self.tournaments.get(&*info.id);
            if entry.is_some_and(|entry| entry.differing.lists(&info.key, index)) {
                changes.push(stored.store(info, index));
            }
            games.push(index);
        }
        changes.extend(self.stored_audits(info, number, games));
        changes
    }

    /// Name of a worker process for people.
    pub(super) fn process_name(&self, process: WorkerProcess) -> String {
        let named = self.ledger.workers_of(process).next();
        let present = named.and_then(|worker| self.workers.get(&worker));
        present.map_or_else(
            || "a worker that is not connected".to_owned(),
            |present| present.request.name.clone(),
        )
    }

    /// Notes about disputed and refuted games of a tournament.
    pub(super) fn dispute_notes(&self, id: &str) -> Vec<String> {
        let Some(entry) = self.tournaments.get(id) else {
            return Vec::new();
        };
        let mut notes = Vec::new();
        let share = entry.document.audit_share;
        if share.map_or(self.audit_ppm, ppm) == 0 && entry.reported_by.len() > 1 {
            notes.push(
                "no game is audited (audit_share = 0): what workers of different owners reported was \
                 not compared"
                    .to_owned(),
            );
        }
        let status = &entry.audit_status;
        if status.refuted > 0 {
            notes.push(format!(
                "not sound: scores and verdict contain refuted records: {}; `arena tournament \
                 retry {id}` replays these games",
                status.refuted
            ));
        }
        if status.contradicted > 0 {
            notes.push(format!(
                "not sound: crashes, timeouts or failed starts, or what followed them, differ between workers \
                 of different owners: {} games; `arena export --with-timing` names their workers, the coordinator's log \
                 their owners, and `arena tournament retry {id}` replays these games; if it stays so, revoke \
                 the token that you do not trust first",
                status.contradicted
            ));
        }
        let Some(number) = entry.number else {
            return notes;
        };
        let stuck = self.ledger.disputes(number);
        let stuck: Vec<_> = stuck
            .filter(|(_, it)| !self.ledger.has_third(number, it))
            .collect();
        if stuck.is_empty() {
            return notes;
        }
        let agent = |dispute: &Dispute| {
            let agent = dispute.agent.map(usize::from);
            agent.and_then(|agent| entry.info.agents.get(agent))
        };
        let named = stuck.iter().take(NAMED_MAX).map(|(index, dispute)| {
            let [first, second] = [dispute.first, dispute.second].map(|it| self.process_name(it));
            let agent = agent(dispute).map_or("an unknown agent", |it| it);
            format!("game {index} ({first} against {second}, {agent})")
        });
        let named: Vec<String> = named.collect();
        notes.push(format!(
            "disputed games: {}; workers reported different records, and no further worker \
             process is connected that may settle who is wrong (of another owner, if owners \
             disagree): {}",
            stuck.len(),
            named.join(", ")
        ));
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_dispute_is_read_again() {
        let dispute = Dispute {
            first: WorkerProcess::Process(7),
            second: WorkerProcess::Unknown,
            hash: [3; 32],
            agent: Some(2),
            third: None,
        };
        let results = [
            None,
            Some((Confirmed::Durable, false)),
            Some((Confirmed::Other, true)),
            Some((Confirmed::Neither, true)),
        ];
        for third_play in results {
            let stored = StoredDispute {
                dispute,
                third_play,
            };
            let bytes = stored.encode();
            assert_eq!(bytes.len(), BYTES);
            let read = StoredDispute::decode(&bytes).expect("whole");
            assert_eq!((read.dispute, read.third_play), (dispute, third_play));
            assert!(StoredDispute::decode(&bytes[1..]).is_none());
        }
        let third = Some((WorkerProcess::Process(9), [4; 32]));
        let stored = StoredDispute {
            dispute: Dispute { third, ..dispute },
            third_play: None,
        };
        let read = StoredDispute::decode(&stored.encode()).expect("whole");
        assert_eq!(read.dispute, stored.dispute);
    }

    #[test]
    fn quarantine_is_read_again() {
        let meta = [format!("{QUARANTINE}{:x}", 0xfeed), "quarantine".to_owned()];
        let meta = meta.map(|key| (key, Vec::new()));
        assert_eq!(quarantined(&meta), [WorkerProcess::Process(0xfeed)]);
    }
}
