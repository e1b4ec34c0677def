//! What the core knows of one tournament.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use arena_store::{Change as Stored, Collection};
use arena_tournament::WorkerScores;
use arena_wire::v1::{self, TournamentState};
use prost::Message;
use tokio::sync::watch;

use super::{bits, change, differences::Differing, kept::Kept, sealed_spec::SealedSpec, unix_us};
use crate::{
    info::Info,
    ledger::{Audited, Dispute, Owner, TournamentNo, WorkerProcess},
    messages::{AuditStatus, Version},
    results::Results,
};

/// Maximum number of workers that a message names.
const WORKERS_NAMED: usize = 5;

/// States with the names that metrics give them.
pub(super) const STATES: [(TournamentState, &str); 4] = [
    (TournamentState::Running, "running"),
    (TournamentState::Paused, "paused"),
    (TournamentState::Finished, "finished"),
    (TournamentState::Cancelled, "cancelled"),
];

/// A tournament in the core.
pub(super) struct TournamentEntry {
    pub(super) info: Arc<Info>,
    /// The spec without its seed, once it was asked for.
    pub(super) sealed_spec: Mutex<Option<SealedSpec>>,
    /// The document as it is stored; only its number of games done differs.
    pub(super) document: v1::Tournament,
    /// Number of the tournament in the ledger; none if it was over when the coordinator started.
    pub(super) number: Option<TournamentNo>,
    /// The results. Those of a tournament that was over when the coordinator started are loaded when
    /// they are requested.
    pub(super) results: Option<Results>,
    /// True if no game is leased until a user starts or resumes the tournament.
    pub(super) dormant: bool,
    /// Agents that did not start on some worker.
    pub(super) unready: BTreeMap<u16, Unready>,
    /// The workers on which the package of the rules did not start, with the newest failure.
    pub(super) rules_unready: Unready,
    /// The processes of these workers since the last pause. They get no games of the tournament.
    pub(super) lacks_rules: BTreeSet<WorkerProcess>,
    /// Owners of the workers on which the package of the rules failed, since the last pause.
    pub(super) rules_failed_for: BTreeSet<Option<Owner>>,
    /// Owners whose workers reported games since the coordinator started: at most two.
    pub(super) reported_by: BTreeSet<Owner>,
    /// Agents that the ledger gave up: they start on no worker, and lose their games.
    pub(super) given_up: Vec<u16>,
    /// Number of games that an agent lost without an answer and that another owner has not confirmed
    /// yet.
    pub(super) unconfirmed: u64,
    pub(super) differing: Differing,
    /// Open disputes from before the coordinator started, until they are in the ledger.
    pub(super) disputes: Vec<(u64, Dispute)>,
    /// Scores of games that were played a second time since the coordinator started, because a replay
    /// proves nothing.
    pub(super) second_plays: WorkerScores,
    pub(super) audit_status: AuditStatus,
    /// How many states of the audits there were; the newest state has this number.
    audit_states: u64,
    /// The number of visible changes so far; watchers wait for it to grow.
    pub(super) version: watch::Sender<Version>,
    /// The last message to watchers, and the time until which further watchers get it, too.
    pub(super) shown: Option<(Duration, v1::WatchTournamentResponse)>,
    /// The last standings, if they took long to compute.
    pub(super) costly: Option<Kept>,
    /// Number of decisions that workers reported.
    pub(super) decisions: u64,
    /// Games done and decisions over time, for the rate.
    pub(super) pace: VecDeque<(Duration, [u64; 2])>,
}

impl TournamentEntry {
    pub(super) fn new(info: Info, document: v1::Tournament) -> Self {
        Self {
            differing: Differing::new(info.games_most),
            disputes: Vec::new(),
            second_plays: WorkerScores::new(info.schedule().rotations()),
            info: Arc::new(info),
            sealed_spec: Mutex::default(),
            document,
            number: None,
            results: None,
            audit_status: AuditStatus::default(),
            audit_states: 0,
            dormant: false,
            unready: BTreeMap::new(),
            rules_unready: Unready::default(),
            lacks_rules: BTreeSet::new(),
            rules_failed_for: BTreeSet::new(),
            reported_by: BTreeSet::new(),
            given_up: Vec::new(),
            unconfirmed: 0,
            version: watch::Sender::default(),
            shown: None,
            costly: None,
            decisions: 0,
            pace: VecDeque::new(),
        }
    }

    /// Makes the next state of the audits from these numbers.
    pub(super) fn audit_state(&mut self, audited: Audited) -> AuditStatus {
        self.audit_states += 1;
        AuditStatus {
            number: self.audit_states,
            ..AuditStatus::of(&self.differing).and(audited)
        }
    }

    /// Makes the next state of the audits from the stored sets of games.
    pub(super) fn stored_audit_state(&mut self, documents: &bits::Documents) -> AuditStatus {
        let games = self.info.games();
        let [audited, differing, sampled, refuted, own, contradicted] =
            [0, 1, 2, 3, 4, 5].map(|set| bits::set(documents, set, games).count());
        self.audit_state(Audited {
            agreed: audited.saturating_sub(differing + sampled),
            differing,
            sampled,
            disputed: self.disputes.len() as u64,
            refuted,
            own,
            contradicted,
            ..Audited::default()
        })
    }

    /// Notifies watchers.
    pub(super) fn touch(&self) {
        let state = self.document.state();
        self.version.send_modify(|version| {
            version.changes += 1;
            version.over = is_over(state);
        });
    }

    /// The document with another state, and the change that stores it.
    pub(super) fn stored_as(&self, state: TournamentState) -> (v1::Tournament, Stored) {
        let mut document = self.document.clone();
        document.set_state(state);
        if state != TournamentState::Paused {
            document.pause = None;
        }
        if is_over(state) {
            document.finished_unix_us = unix_us();
        }
        let change = stored(&document);
        (document, change)
    }
}

/// The name of a state in metrics and messages.
pub(crate) fn state_name(state: TournamentState) -> Option<&'static str> {
    let known = STATES.iter().find(|(known, _)| *known == state)?;
    Some(known.1)
}

/// True if a tournament is finished or cancelled.
pub(crate) fn is_over(state: TournamentState) -> bool {
    matches!(
        state,
        TournamentState::Finished | TournamentState::Cancelled
    )
}

pub(super) fn stored(document: &v1::Tournament) -> Stored {
    let value = Some(document.encode_to_vec());
    change(Collection::Tournaments, &document.tournament_id, value)
}

/// An agent, or the rules, that did not start on some workers.
#[derive(Default)]
pub(super) struct Unready {
    /// The newest failure.
    pub(super) agent: v1::UnreadyAgent,
    /// Names of the workers on which it did not start.
    pub(super) workers: Vec<String>,
}

impl Unready {
    pub(super) fn add(&mut self, agent: v1::UnreadyAgent, worker: &str) {
        self.agent = agent;
        if self.workers.len() < WORKERS_NAMED && !self.workers.iter().any(|it| it == worker) {
            self.workers.push(worker.to_owned());
        }
    }
}
