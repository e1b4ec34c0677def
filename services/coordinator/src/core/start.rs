//! Builds the state from the store.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use arena_store::{Collection, Positions, Store};
use arena_telemetry::CoordinatorMetrics;
use arena_wire::v1;
use prost::Message;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use super::{
    Command, Core,
    answers::Answers,
    audits,
    bits::{self, Documents},
    books::Books,
    differences,
    disputes::{self, StoredDispute},
    entry::TournamentEntry,
    removal,
    writer::Writer,
};
use crate::{
    agents::Agents,
    binaries::Uploads,
    blocking::with_store,
    directory::Directory,
    error::{Error, StartError},
    info::Info,
    ledger::{Bitmap, Ledger, LedgerSettings, Reports, Suspicion, WorkerProcess},
    messages::{AuditStatus, at_once},
    options::Options,
    random,
    results::Results,
    rulesets::{self, Rulesets},
    tickets::{self, Tickets},
};

/// Contents of the store.
struct Found {
    agents: Vec<v1::Agent>,
    rulesets: Vec<v1::Ruleset>,
    ticket_key: [u8; 32],
    audit_key: [u8; 32],
    answers: Answers,
    uploads: Uploads,
    audits: BTreeMap<String, Documents>,
    quarantined: Vec<WorkerProcess>,
    tournaments: Vec<(TournamentEntry, Option<Open>)>,
    removed: removal::Removed,
}

/// A tournament that is not over.
struct Open {
    results: Results,
    done: Bitmap,
    /// True if it was over, and the store has lost games since.
    again: bool,
}

/// Reads the store and builds the state.
pub(crate) async fn load(
    options: &Options,
    metrics: Arc<CoordinatorMetrics>,
    settings: LedgerSettings,
    directory: Arc<Directory>,
    signals: mpsc::UnboundedSender<Command>,
    stopping: watch::Sender<bool>,
) -> Result<Core, StartError> {
    let store = Arc::clone(&options.store);
    let found = with_store(Arc::clone(&store), read).await;
    let found = found.ok_or_else(|| StartError::unreadable("what is", "the program ends"))??;
    let epoch = random::bytes().map_err(|error| StartError::Random(error.to_string()))?;
    let boot_epoch = u64::from_le_bytes(epoch);
    let positions = store.positions();
    watch(&*store, &metrics);
    let lost = signals.clone();
    store.on_loss(Box::new(move |error| {
        // Without a receiver, the coordinator is gone, too.
        let _ = lost.send(at_once(move |core: &mut Core| core.store_failed(&error)));
    }));
    let mut core = Core {
        writer: Writer::new(Arc::clone(&store), signals.clone()),
        books: Books::new(store.blocks(), signals.clone()),
        store,
        position: positions.as_ref().map(Positions::now),
        positions,
        checkpoint_games: options.checkpoint_games.max(1),
        keeping: None,
        metrics,
        directory,
        signals,
        stopping,
        active: watch::Sender::new(false),
        boot_epoch,
        tickets: Tickets::new(found.ticket_key, boot_epoch),
        uploads: found.uploads,
        audit_key: found.audit_key,
        audit_ppm: settings.audit_ppm,
        sandbox: options.sandbox,
        lease_deadline: settings.lease_deadline,
        started: Instant::now(),
        turned: Instant::now(),
        agents: Arc::new(
            Agents::new(options.native.clone(), options.check_native, found.agents)
                .within(options.agent_networks.clone()),
        ),
        rulesets: Arc::new(Rulesets::new(found.rulesets)),
        answers: found.answers,
        ledger: Ledger::new(settings, boot_epoch),
        tournaments: BTreeMap::new(),
        removed: found.removed,
        numbers: BTreeMap::new(),
        failing: BTreeSet::new(),
        broken: BTreeMap::new(),
        confirmed: BTreeSet::new(),
        workers: BTreeMap::new(),
        parked: BTreeMap::new(),
        parked_ever: 0,
        replays: super::replays::Replays::default(),
        drawings: super::replays::drawings::Drawings::default(),
        disputed: BTreeMap::new(),
        unpark: false,
        behind: None,
        looked_after: Duration::ZERO,
        binaries_due: Duration::ZERO,
        reports: Reports::default(),
        replies: HashMap::new(),
        batches: HashMap::new(),
        cancels: Vec::new(),
        last_report: Duration::ZERO,
        failed: None,
        games_written: 0,
    };
    for process in found.quarantined {
        core.ledger.quarantine(process, Suspicion::ThirdPlay);
    }
    let none = Documents::new();
    for (mut entry, open) in found.tournaments {
        entry.dormant = options.only_started;
        let id = entry.info.id.to_string();
        let audits = found.audits.get(&*entry.info.key).unwrap_or(&none);
        core.directory.add(&entry.info);
        core.tournaments.insert(id.clone(), entry);
        let unstored = |error: Error| StartError::unreadable(format!("tournament {id}"), error);
        if let Some(Open {
            results,
            done,
            again,
        }) = open
        {
            if again {
                core.reopen(&id).await.map_err(unstored)?;
            }
            tracing::info!(
                tournament = id,
                done = done.count(),
                kept = results.kept,
                "tournament goes on"
            );
            // With workers of its own only, no earlier worker can return.
            core.account(&id, (done, results), !options.only_started, audits)
                .await
                .map_err(unstored)?;
        } else {
            core.go_on_auditing(&id, audits).await.map_err(unstored)?;
        }
    }
    core.update_active();
    Ok(core)
}

/// Counts every commit.
fn watch(store: &dyn Store, metrics: &Arc<CoordinatorMetrics>) {
    let metrics = Arc::clone(metrics);
    store.watch(Box::new(move |commit| {
        metrics.store_committed(commit.took(), commit.games as u64);
        for (phase, took) in commit.phases() {
            metrics.store_phase(phase, took);
        }
    }));
}

fn read(store: &dyn Store) -> Result<Found, StartError> {
    let mut agents = Vec::new();
    for (name, bytes) in store.list(Collection::Agents)? {
        agents.push(decode("agent", &name, &bytes)?);
    }
    let meta = store.list(Collection::Meta)?;
    let rulesets = meta
        .iter()
        .filter(|(key, _)| key.starts_with(rulesets::PREFIX));
    let rulesets = rulesets.map(|(key, bytes)| decode("ruleset", key, bytes));
    let rulesets = rulesets.collect::<Result<_, _>>()?;
    let unlisted = bits::read(&meta, differences::PREFIX);
    let mut differences: BTreeMap<String, Vec<(String, v1::Difference)>> = BTreeMap::new();
    for (key, bytes) in store.list(Collection::Differences)? {
        let difference = decode("difference", &key, &bytes)?;
        let tournament = key.split('/').next().unwrap_or_default().to_owned();
        let of = differences.entry(tournament).or_default();
        of.push((key, difference));
    }
    let mut tournaments = Vec::new();
    for (id, bytes) in store.list(Collection::Tournaments)? {
        let document: v1::Tournament = decode("tournament", &id, &bytes)?;
        let state = document.state();
        let mut entry = TournamentEntry::new(Info::read(&document)?, document);
        if let Some(documents) = unlisted.get(&*entry.info.key) {
            entry.differing.unlisted = bits::set(documents, 0, entry.info.games_most);
        }
        let known = disputes::read(&meta, &entry.info.key);
        for (key, difference) in differences.remove(&*entry.info.key).unwrap_or_default() {
            let mut agents = entry.info.agents.iter();
            let named = agents.position(|name| *name == difference.agent);
            let index = difference.game_id.rsplit_once('/');
            let index = index.and_then(|(_, index)| index.parse().ok());
            let dispute = index.and_then(|index| known.get(&index));
            let named = named.or_else(|| dispute.and_then(StoredDispute::charged_agent));
            if let Some((agent, index)) = named.zip(index)
                && dispute.is_none_or(StoredDispute::names_agent)
            {
                entry.differing.name(agent, index);
            }
            entry.differing.kept.insert(key);
        }
        let open = known.into_iter().filter(|(_, it)| it.third_play.is_none());
        entry.disputes = open.map(|(index, it)| (index, it.dispute)).collect();
        entry.audit_status = AuditStatus::of(&entry.differing);
        let again = state == v1::TournamentState::Finished
            && store.count(&entry.info.key) < entry.document.games_total;
        let goes_on = matches!(
            state,
            v1::TournamentState::Running | v1::TournamentState::Paused
        );
        let open = if goes_on || again {
            let (results, done) = Results::load(&entry.info, store)?;
            Some(Open {
                results,
                done,
                again,
            })
        } else {
            // The games of an adaptive tournament follow only from these results.
            if entry.info.tournament.format.looks_at_results() {
                entry.results = Some(Results::load(&entry.info, store)?.0);
            }
            None
        };
        tournaments.push((entry, open));
    }
    let key = |document: &str| {
        random::stored_key(store, document)
            .map_err(|error| StartError::unreadable(format!("key {document}"), error))
    };
    let ids = tournaments.iter().map(|(entry, _)| &*entry.info.id);
    let ids: BTreeSet<&str> = ids.collect();
    Ok(Found {
        removed: removal::read(&meta, |id| ids.contains(id)),
        agents,
        rulesets,
        ticket_key: key(tickets::KEY)?,
        audit_key: key(audits::KEY)?,
        answers: Answers::new(store.list(Collection::Requests)?),
        audits: bits::read(&meta, audits::PREFIX),
        uploads: Uploads::read(&meta, store),
        quarantined: disputes::quarantined(&meta),
        tournaments,
    })
}

fn decode<T: Message + Default>(kind: &str, key: &str, bytes: &[u8]) -> Result<T, StartError> {
    T::decode(bytes).map_err(|error| StartError::unreadable(format!("{kind} {key}"), error))
}
