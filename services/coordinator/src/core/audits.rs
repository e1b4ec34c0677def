//! Stores the results of audits, so that they survive a restart: eight sets of games, with one bit for
//! each game and set.

use std::{collections::BTreeSet, sync::Arc};

use arena_store::Change;
use arena_telemetry::AuditOutcome;
use arena_tournament::Rate;
use arena_wire::v1;

use super::{
    Core,
    bits::{self, Documents},
    disputes,
    entry::{TournamentEntry, is_over},
};
use crate::{
    blocking::with_store,
    error::Error,
    info::Info,
    ledger::{
        AuditSample, Audited, Bitmap, Continuation, Contradicted, Owner, RecordStatus,
        RestoredAudits, Settled, State, Suspicion, TournamentNo, WorkerId, ppm,
    },
    messages::{AuditStatus, Comparison, OneSided, Reply},
    principal::Principal,
    stored_game,
};

/// Prefix of the keys of audits.
pub(super) const PREFIX: &str = "audits/";
/// Number of the set of claimed games.
pub(super) const CLAIMED: usize = 6;
/// Document of the key that decides which games are audited.
pub(super) const KEY: &str = "audit_key";

/// What compared games showed.
#[derive(Default)]
struct Settlement {
    /// The changes to store.
    changes: Vec<Change>,
    /// Games whose record was a third play.
    thirds: BTreeSet<u64>,
    /// Games that differ, and whose difference names the agent whose move differs first. If both records
    /// come from one process, or from one of several owners, the difference names no agent.
    named: BTreeSet<u64>,
}

impl Core {
    /// Restores the audits of a tournament in the ledger. `rates` has, for each agent, how often it had a
    /// fault that may be that of a host. If the store has lost an audited game, the game is played again. Then
    /// its audit does not count, because it did not compare the new record.
    pub(super) async fn restore_audits(
        &mut self,
        id: &str,
        before: &Documents,
        rates: &[Rate],
    ) -> Result<(), Error> {
        let claims = self.stored_claims(id, before).await?;
        let entry = self.tournaments.get_mut(id);
        let Some((number, entry)) = entry.and_then(|it| Some((it.number?, it))) else {
            return Ok(());
        };
        let games = entry.info.games();
        let durable = |index| self.ledger.verdict(number, index) == RecordStatus::Done;
        let sets = [0, 1, 2, 3, 4, 5, 6, 7].map(|set| bits::set_where(before, set, games, durable));
        let lost = bits::set(before, 0, games).count() - sets[0].count();
        let mut changes = Vec::new();
        if lost > 0 {
            let is_in = |index| sets.each_ref().map(|set| set.contains(index));
            let documents = before.keys();
            let key = &entry.info.key;
            changes.extend(documents.map(|&it| bits::store(PREFIX, key, it, is_in)));
        }
        let share = entry.document.audit_share.map_or(self.audit_ppm, ppm);
        let sample = AuditSample::new(&self.audit_key, &entry.info.key, share);
        let [
            audited,
            differing,
            sampled,
            refuted,
            own,
            contradicted,
            claimed,
            doubted,
        ] = sets;
        let restored = RestoredAudits {
            sample: entry.info.audit_sample(sample),
            audited,
            differing,
            sampled,
            refuted,
            own,
            contradicted,
            claimed,
            doubted,
            disputes: std::mem::take(&mut entry.disputes),
        };
        self.ledger.restore_audits(number, restored);
        self.ledger.restore_claims(number, rates, claims);
        let audited = self.ledger.audited(number).unwrap_or_default();
        entry.audit_status = entry.audit_state(audited);
        if changes.is_empty() {
            return Ok(());
        }
        self.persist(changes).await
    }

    /// The claimed games in the store, each with the process that played it and its owner.
    async fn stored_claims(
        &self,
        id: &str,
        before: &Documents,
    ) -> Result<Vec<(u64, u64, Owner)>, Error> {
        let Some(entry) = self.tournaments.get(id) else {
            return Ok(Vec::new());
        };
        let claimed: Vec<u64> = bits::set(before, CLAIMED, entry.info.games())
            .iter()
            .collect();
        if claimed.is_empty() {
            return Ok(Vec::new());
        }
        let key = Arc::clone(&entry.info.key);
        let read = with_store(Arc::clone(&self.store), move |store| {
            let mut claims = Vec::new();
            for index in claimed {
                let Some(game) = store.game(&key, index)? else {
                    continue;
                };
                let side = stored_game::read_side(&game);
                if !side.owner.is_empty() {
                    claims.push((index, side.process, side.owner.into()));
                }
            }
            Ok(claims)
        });
        read.await.ok_or(Error::Draining)?
    }

    /// Adds a finished tournament to the ledger for its remaining audits. Its results stay in the
    /// store until they are requested.
    pub(super) async fn go_on_auditing(
        &mut self,
        id: &str,
        before: &Documents,
    ) -> Result<(), Error> {
        let share = self.audit_ppm;
        let entry = self.entry_mut(id)?;
        if entry.document.state() != v1::TournamentState::Finished {
            entry.audit_status = entry.stored_audit_state(before);
            return Ok(());
        }
        let is_audited = entry.document.audit_share.map_or(share, ppm) > 0;
        if !is_audited && before.is_empty() {
            return Ok(());
        }
        // A tournament that lacks games is not finished any more; see `start`.
        let done = Bitmap::full(entry.info.games());
        let timeouts = entry.info.progress_timeouts();
        let number = self
            .ledger
            .add(done, State::Finished, Continuation::Last, timeouts);
        self.entry_mut(id)?.number = Some(number);
        self.numbers.insert(number, id.to_owned());
        self.restore_audits(id, before, &[]).await
    }

    /// State of the audits of a tournament; none if there are none.
    pub(super) fn audits(&self, entry: &TournamentEntry) -> Option<v1::Audits> {
        let known = entry.number.and_then(|number| self.ledger.audited(number));
        let known = known.unwrap_or_else(|| entry.audit_status.done());
        let is_cancelled = entry.document.state() == v1::TournamentState::Cancelled;
        (known != Audited::default()).then(|| entry.audit_status.shown(known, is_cancelled))
    }

    /// True if a caller sees which share of a tournament's games is drawn for audits. Others see it once the
    /// tournament is over: a worker must not learn whether the game that it just reported is drawn.
    pub(crate) fn sees_audits(&self, id: &str, by: &Principal) -> Result<bool, Error> {
        let document = &self.entry(id)?.document;
        Ok(is_over(document.state()) || by.check_owner(&document.owner, id).is_ok())
    }

    /// Number of games of a tournament that differ and are not listed.
    pub(crate) fn unlisted(&self, id: &str) -> Result<u64, Error> {
        Ok(self.entry(id)?.audit_status.unlisted)
    }

    /// Stores differences and results of audits after comparisons, all at once. Answers when they
    /// and all earlier changes are durable.
    pub(crate) fn compared(&mut self, compared: &Comparison, reply: Reply<()>) {
        let Settlement {
            mut changes,
            thirds,
            named,
        } = match self.audited(compared) {
            Ok(settlement) => settlement,
            Err(error) => {
                let _ = reply.send(Err(error));
                return;
            }
        };
        for (index, difference) in &compared.differences {
            // The difference of a third play is that of the dispute.
            if !thirds.contains(index) {
                changes.extend(self.differs(difference, named.contains(index)));
            }
        }
        let id = &compared.info.id;
        let Some(entry) = self.tournaments.get_mut(&**id) else {
            let _ = reply.send(Ok(()));
            return;
        };
        let audited = entry.number.and_then(|number| self.ledger.audited(number));
        let status = entry.audit_state(audited.unwrap_or_default());
        self.writer.put(changes, (id.to_string(), status), reply);
    }

    /// Results of comparisons are durable: they may be shown.
    pub(super) fn compared_durably(&mut self, id: &str, status: AuditStatus) {
        let Some(entry) = self.tournaments.get_mut(id) else {
            return;
        };
        if status.number < entry.audit_status.number {
            return;
        }
        let before = std::mem::replace(&mut entry.audit_status, status);
        let metrics = &self.metrics;
        let now = &entry.audit_status;
        // What the same owner audited may be audited again, and games may be contradicted no more.
        let agreed = now.agreed.saturating_sub(before.agreed);
        metrics.audited(AuditOutcome::Agreed, agreed);
        let differing = now.differing.saturating_sub(before.differing);
        metrics.audited(AuditOutcome::Differing, differing);
        let contradicted = now.contradicted.saturating_sub(before.contradicted);
        metrics.audited(AuditOutcome::Contradicted, contradicted);
        entry.touch();
    }

    /// Handles an audit of which only one record has a fault: the audit's or the durable one. Returns the
    /// games whose claims changed.
    fn contradicted(
        &mut self,
        id: &str,
        number: TournamentNo,
        OneSided {
            index,
            agents,
            is_new,
        }: &OneSided,
        worker: WorkerId,
    ) -> Vec<u64> {
        let by = self.ledger.player(number, *index);
        let Contradicted {
            is_contradicted,
            quarantine,
            changed,
        } = self
            .ledger
            .contradict(number, *index, (agents, *is_new), worker);
        if !is_contradicted {
            return changed;
        }
        let owner_of = |process| self.ledger.owner_of_process(process).map_or("", |it| it);
        let auditor = self
            .workers
            .get(&worker)
            .map(|it| (it.process, &*it.request.name));
        let (of, auditor) = auditor.unwrap_or_default();
        tracing::warn!(
            game = %format_args!("{id}/{index}"),
            player = self.process_name(by),
            player_owner = owner_of(by),
            auditor,
            auditor_owner = owner_of(of),
            fault_of = if *is_new { "auditor" } else { "player" },
            "a fault happened on a worker of one owner, and not on one of another"
        );
        if let Some(process) = quarantine {
            let name = self.process_name(process);
            let problem = "workers of other owners did not have the faults that it reported";
            self.quarantine(process, Suspicion::Impossible, &name, problem);
        }
        changed
    }

    /// Selects the games that are durable and in which this agent plays.
    fn games_with(&self, id: &str, agent: u16, games: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let entry = self.tournaments.get(id);
        let Some((entry, number)) = entry.and_then(|it| Some((it, it.number?))) else {
            return Vec::new();
        };
        let schedule = entry.info.schedule();
        let is_durable = |&index: &u64| self.ledger.verdict(number, index) == RecordStatus::Done;
        let games = games.into_iter().filter(is_durable);
        games
            .filter(|&index| schedule.game(index).seats.contains(&agent))
            .collect()
    }

    /// Marks games as contradicted once all games are played: those of an agent that fails more or less often
    /// on the workers of one owner than on others, and those of an agent whose scores after faults differ
    /// between workers. Returns the changes to store.
    pub(super) fn contradict_uneven(&mut self, id: &str) -> Vec<Change> {
        let entry = self.tournaments.get(id);
        let Some((info, number)) = entry.and_then(|it| Some((Arc::clone(&it.info), it.number?)))
        else {
            return Vec::new();
        };
        let mut changed = Vec::new();
        for (agent, owner, games) in self.ledger.uneven(number) {
            let games = self.games_with(id, agent, games);
            tracing::warn!(
                tournament = id,
                agent = info.agents.get(usize::from(agent)),
                owner = &*owner,
                games = games.len(),
                "fails more or less often on the workers of one owner than on others"
            );
            changed.extend(self.ledger.contradict_all(number, &games));
        }
        for (agent, worker) in self.deviating_after_faults(id) {
            let games = self.games_with(id, agent, 0..info.games());
            tracing::warn!(
                tournament = id,
                agent = info.agents.get(usize::from(agent)),
                worker,
                games = games.len(),
                "scores after faults differ between one worker and the others"
            );
            changed.extend(self.ledger.contradict_all(number, &games));
        }
        let audited = self.ledger.audited(number).unwrap_or_default();
        if let Some(entry) = self.tournaments.get_mut(id) {
            let status = entry.audit_state(audited);
            self.compared_durably(id, status);
        }
        self.stored_audits(&info, number, changed)
    }

    /// The agents whose scores on the games of one worker differ from those on other workers, with the worker.
    /// Only for tournaments in which a replay proves everything but the moves after a fault, so that the
    /// difference is in these moves.
    fn deviating_after_faults(&self, id: &str) -> Vec<(u16, String)> {
        let Some(entry) = self.tournaments.get(id) else {
            return Vec::new();
        };
        let info = &entry.info;
        let results = entry.results.as_ref();
        let results = results.filter(|_| info.replay_proves(0..info.agents.len() as u16));
        let found = results.map(|it| it.deviations(info, &entry.second_plays));
        let found = found.into_iter().flatten();
        found.map(|it| (it.agent, it.worker)).collect()
    }

    /// The changes that store the audits of games.
    pub(super) fn stored_audits(
        &self,
        info: &Info,
        number: TournamentNo,
        games: impl IntoIterator<Item = u64>,
    ) -> Vec<Change> {
        let documents: BTreeSet<u64> = games.into_iter().map(bits::document_of).collect();
        let sets = |index| self.ledger.audit_sets(number, index);
        let documents = documents.into_iter();
        documents
            .map(|document| bits::store(PREFIX, &info.key, document, sets))
            .collect()
    }

    /// Stores the sets of games whose claims changed.
    pub(super) fn store_claims(&mut self, id: &str, games: Vec<u64>) {
        let Some(entry) = self.tournaments.get(id) else {
            return;
        };
        let Some(number) = entry.number.filter(|_| !games.is_empty()) else {
            return;
        };
        let changes = self.stored_audits(&entry.info, number, games);
        let audited = self.ledger.audited(number).unwrap_or_default();
        let Some(entry) = self.tournaments.get_mut(id) else {
            return;
        };
        let status = entry.audit_state(audited);
        // No caller waits for it.
        let (reply, _) = tokio::sync::oneshot::channel();
        self.writer.put(changes, (id.to_owned(), status), reply);
    }

    /// Settles the audits among compared games. Opens a dispute about every other durable game whose record
    /// differs.
    fn audited(&mut self, compared: &Comparison) -> Result<Settlement, Error> {
        let id = &*compared.info.id;
        let Some(number) = self.entry(id)?.number else {
            return Ok(Settlement::default());
        };
        self.ledger.know_owner(compared.process, &compared.owner);
        let worker = self.find_worker(&compared.by);
        let mut changed = match worker {
            Some(worker) => self.repeated_faults(compared, number, worker),
            // Its audits wait again.
            None => BTreeSet::new(),
        };
        let mut all = Settlement::default();
        for &(index, record) in &compared.games {
            let mut settled = worker.map_or(Settled::Nothing, |worker| {
                self.ledger.settle_audit(number, index, worker, record)
            });
            if settled == Settled::Nothing {
                let player = compared.players.get(&index).copied().unwrap_or_default();
                let both = [player, compared.process];
                settled = self.ledger.dispute_report(number, index, both, record);
            }
            match settled {
                Settled::Nothing => continue,
                Settled::Sampled => {
                    let mut samples = compared.samples.iter();
                    let result = samples.find(|it| it.index == index);
                    if let Some((entry, result)) = self.tournaments.get_mut(id).zip(result) {
                        let owner = worker.and_then(|worker| self.ledger.owner_of(worker));
                        let owner = owner.map_or("", |owner| owner);
                        entry.second_plays.add(owner, &compared.worker, result);
                    }
                }
                Settled::Disputed(dispute) => {
                    all.changes
                        .push(disputes::open(&compared.info, index, &dispute));
                    if !self.ledger.contradicts_itself(&dispute) {
                        all.named.insert(index);
                    }
                }
                Settled::Third(dispute) => {
                    all.changes
                        .push(disputes::open(&compared.info, index, &dispute));
                }
                Settled::Last(dispute, confirmed, charged) => {
                    all.thirds.insert(index);
                    all.changes.extend(self.settled(
                        &compared.info,
                        index,
                        dispute,
                        confirmed,
                        charged,
                    ));
                }
                Settled::Agreed => {}
                Settled::Differs => {
                    all.named.insert(index);
                }
            }
            changed.insert(index);
        }
        all.changes
            .extend(self.stored_audits(&compared.info, number, changed));
        Ok(all)
    }

    /// Counts faults that only one record of a game has, or both. Returns the games whose claims changed.
    fn repeated_faults(
        &mut self,
        compared: &Comparison,
        number: TournamentNo,
        worker: WorkerId,
    ) -> BTreeSet<u64> {
        let id = &*compared.info.id;
        let mut changed = BTreeSet::new();
        for (index, agents, failed) in &compared.again {
            let both = (&agents[..], &failed[..]);
            let (agents, others) = self.ledger.asked_again(number, *index, both, worker);
            changed.extend(others);
            for agent in agents {
                let games = self.games_with(id, agent, 0..compared.info.games());
                let new = self.ledger.contradict_all(number, &games);
                if !new.is_empty() {
                    tracing::warn!(
                        tournament = id,
                        agent = compared.info.agents.get(usize::from(agent)),
                        "fails more often in audits than in games, so that its games cannot be verified"
                    );
                }
                changed.extend(new);
            }
        }
        for game in &compared.contradicted {
            changed.extend(self.contradicted(id, number, game, worker));
        }
        for (index, agents) in &compared.confirmed {
            let (counts, others) = self.ledger.confirm(number, *index, agents, worker);
            changed.extend(others);
            if counts {
                // It counts towards a pause now.
                self.confirmed.insert(id.to_owned());
            }
        }
        for &index in &compared.unread {
            self.ledger.abandon_audit(number, index, worker);
        }
        changed
    }
}
