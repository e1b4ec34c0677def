//! Reports: new games go to the disk, and the sender is answered when they are durable.

use std::rc::Rc;

use arena_coordinator::ledger::{Failed, ReportId, ReportedGames, State};
use arena_worker::protocol::Refusal;

use super::{Caller, Coordinator, Wrong};
use crate::stress::simulate::{
    counts::Happening,
    disk::{Disk, Job},
    games::{FORFEIT, REFUSED, UNREADY, VOID},
    net::{Down, Life, Net, Played, Up},
};

impl Coordinator {
    pub(super) fn report(
        &mut self,
        net: &mut Net,
        disk: &mut Disk,
        who: Life,
        message: Up,
    ) -> Result<(), Wrong> {
        let Up::Report {
            report,
            attempt,
            known,
            lease,
            tournament,
            games,
        } = message
        else {
            return Ok(());
        };
        let Some(account) = &self.accounts[tournament] else {
            net.down(who, Down::NotReported(report, attempt, Refusal::Never));
            return Ok(());
        };
        if known.1 != self.epoch {
            net.counts.add(Happening::LateReport);
        }
        if games.iter().any(|(_, hash)| *hash == REFUSED) {
            net.down(who, Down::NotReported(report, attempt, Refusal::Contents));
            return Ok(());
        }
        // A void record before its time is a failed attempt.
        let acknowledged: Rc<[Played]> = games.iter().copied().filter(is_record).collect();
        let caller = |id| Caller {
            id,
            who,
            report,
            attempt,
            known,
            tournament,
            games: acknowledged.clone(),
        };
        let Some(number) = account.number else {
            let finished = account.state == State::Finished;
            let played = games.iter().filter(|game| finished && is_record(game));
            let compare = played.map(|(index, _)| *index).collect();
            return self.compare(net, disk, caller(0), compare);
        };
        if account.state == State::Cancelled {
            net.counts.add(Happening::UnwantedReport);
        }
        let played = games
            .iter()
            .filter(|(_, hash)| ![0, UNREADY].contains(hash));
        let played: Vec<(u64, [u8; 32])> =
            played.map(|&(index, hash)| (index, long(hash))).collect();
        let voids = games.iter().filter(|(_, hash)| *hash == VOID);
        let voids: Vec<u64> = voids.map(|(index, _)| *index).collect();
        let spec = account.spec.clone();
        let failed = games.iter().filter(|(_, hash)| [0, UNREADY].contains(hash));
        let failed: Vec<Failed> = failed
            .map(|&(index, hash)| Failed {
                index,
                unready: (hash == UNREADY).then(|| spec.agent(index)),
            })
            .collect();
        let whole = games
            .iter()
            .filter(|(_, hash)| ![0, UNREADY, VOID, FORFEIT].contains(hash));
        let agents: Vec<u16> = whole.map(|(index, _)| spec.agent(*index)).collect();
        let accounted = ReportedGames {
            tournament: number,
            by: self.find(known)?,
            process: self.ledger.process(known.0, known.1),
            lease,
            games: &played,
            voids: &voids,
            failed: &failed,
            agents: &agents,
        };
        let sorted = self.reports.sort(&self.ledger, &accounted);
        let id = sorted.id;
        if sorted.fresh.len() < played.len() && account.state != State::Cancelled {
            net.counts.add(Happening::DuplicateReport);
        }
        if !sorted.fresh.is_empty() {
            if disk.is_full_up() {
                net.counts.add(Happening::Busy);
                let busy = Refusal::Busy { after: None };
                net.down(who, Down::NotReported(report, attempt, busy));
                return Ok(());
            }
            let fresh = sorted.fresh.iter().map(|&place| {
                let (index, hash) = played[place];
                (index, short(&hash))
            });
            let fresh: Vec<Played> = fresh.collect();
            for &(index, hash) in &fresh {
                if hash == spec.result(index) && hash != VOID {
                    continue;
                }
                let excused = match hash {
                    VOID => self.fault_attribution.was_void(tournament, index),
                    FORFEIT => net.charged.contains(&(tournament, spec.agent(index))),
                    _ => false,
                };
                if !excused {
                    return Err(format!(
                        "game {tournament}/{index} has the result {hash:x} without a reason"
                    ));
                }
                disk.kept[tournament].excused.insert(index, hash);
            }
            let job = Job::Games {
                report: id,
                tournament,
                games: fresh,
            };
            disk.append(net, self.boot, job);
        } else if !played.is_empty() && self.reports.writes(number) {
            net.counts.add(Happening::PendingReport);
        }
        for &place in &sorted.fresh {
            self.fault_attribution.came(tournament, played[place].0);
        }
        let now = self.now(net);
        if accounted.by.is_some() {
            let process = who.process();
            for failed in &failed {
                if let Some(agent) = failed.unready {
                    self.fault_attribution
                        .unready(now, (tournament, agent), process);
                }
            }
            let games = (tournament, &*games);
            self.fault_attribution
                .reported(process, lease, &spec, games);
        }
        self.fault_attribution
            .ran(who.process(), &spec, (tournament, &games));
        let taken = self.reports.take(&mut self.ledger, now, &accounted, sorted);
        self.unpark = true;
        match taken.answer {
            Some(compare) => self.compare(net, disk, caller(id), compare),
            None => {
                self.callers.push(caller(id));
                Ok(())
            }
        }
    }

    pub(super) fn written(
        &mut self,
        net: &mut Net,
        disk: &mut Disk,
        id: ReportId,
    ) -> Result<(), Wrong> {
        let number_games = self.reports.games(id).map(<[u64]>::to_vec);
        let (Some(games), Some(written)) =
            (number_games, self.reports.written(&mut self.ledger, id))
        else {
            return Ok(());
        };
        let place = self.numbers[written.tournament as usize];
        let caller = self.callers.iter().find(|caller| caller.id == id);
        let of_this_start = caller.filter(|caller| caller.known.1 == self.epoch);
        let by = of_this_start.map(|caller| caller.who.process());
        if let Some(account) = &mut self.accounts[place] {
            for index in games {
                account.by[index as usize] = by;
                account.tally[index as usize] += 1;
                if account.tally[index as usize] > 1 {
                    return Err(format!("game {place}/{index} was counted twice"));
                }
            }
        }
        if self.came(net, disk, place, written.came) {
            self.finish(net, disk, place, written.acknowledged);
        } else {
            self.acknowledge(net, disk, written.acknowledged)?;
        }
        Ok(())
    }

    pub(super) fn acknowledge(
        &mut self,
        net: &mut Net,
        disk: &Disk,
        acknowledged: Vec<(ReportId, Vec<u64>)>,
    ) -> Result<(), Wrong> {
        for (id, compare) in acknowledged {
            let place = self.callers.iter().position(|caller| caller.id == id);
            if let Some(place) = place {
                let caller = self.callers.swap_remove(place);
                self.compare(net, disk, caller, compare)?;
            }
        }
        for request in std::mem::take(&mut self.cancels) {
            self.answer(net, request);
        }
        Ok(())
    }
}

/// Acknowledges a report, which has to be durable.
pub(super) fn acknowledge(net: &mut Net, disk: &Disk, caller: &Caller) -> Result<(), Wrong> {
    let kept = &disk.kept[caller.tournament];
    let lost = caller.games.iter().find(|&&(index, hash)| {
        hash != 0 && kept.games[index as usize] == 0 && kept.state != Some(State::Cancelled)
    });
    if let Some((index, _)) = lost {
        let place = caller.tournament;
        return Err(format!(
            "game {place}/{index} was acknowledged before it was durable"
        ));
    }
    net.down(caller.who, Down::Reported(caller.report, caller.attempt));
    Ok(())
}

/// Whether to acknowledge this when it is durable.
fn is_record((_, hash): &Played) -> bool {
    ![0, UNREADY, VOID].contains(hash)
}

/// A hash in the ledger's type.
fn long(hash: u64) -> [u8; 32] {
    let mut long = [0; 32];
    long[..8].copy_from_slice(&hash.to_le_bytes());
    long
}

fn short(hash: &[u8; 32]) -> u64 {
    let mut short = [0; 8];
    short.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(short)
}
