//! Proofs that games were leased to a worker process. A ticket needs no memory: it names its games
//! and is authenticated with a key that the store keeps, so that results may arrive after the
//! lease, the worker's stay or this start of the coordinator has ended.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::ledger::{Owner, WorkerProcess};

/// Document of the key.
pub(crate) const KEY: &str = "tickets";
/// Length of the code that authenticates a ticket.
const CODE_BYTES: usize = 16;

/// Issues and reads tickets.
#[derive(Clone)]
pub(crate) struct Tickets {
    key: [u8; 32],
    /// Numbers of joins are those of one start.
    boot_epoch: u64,
}

/// What a ticket proves.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Leased {
    /// The process that the games were leased to.
    pub(crate) process: WorkerProcess,
    /// The owner of its token: no other token can use the ticket.
    pub(crate) owner: Owner,
    /// Name of the worker.
    pub(crate) worker: String,
    /// The games, as ascending ranges: first and number.
    ranges: Vec<(u64, u64)>,
}

impl Leased {
    pub(crate) fn covers(&self, index: u64) -> bool {
        let after = self.ranges.partition_point(|&(first, _)| first <= index);
        after.checked_sub(1).is_some_and(|place| {
            let (first, games) = self.ranges[place];
            index - first < games
        })
    }
}

impl Tickets {
    pub(crate) fn new(key: [u8; 32], boot_epoch: u64) -> Self {
        Self { key, boot_epoch }
    }

    /// A ticket for games of a tournament, in any order.
    pub(crate) fn issue(
        &self,
        tournament: &str,
        process: WorkerProcess,
        (owner, worker): (&str, &str),
        games: impl IntoIterator<Item = u64>,
    ) -> Vec<u8> {
        let (kind, number) = match process {
            WorkerProcess::Unknown => (0, 0),
            WorkerProcess::Process(number) => (1, number),
            WorkerProcess::Join(number) => (2, number),
        };
        let mut games: Vec<u64> = games.into_iter().collect();
        games.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for index in games {
            match ranges.last_mut() {
                Some((first, games)) if *first + *games == index => *games += 1,
                _ => ranges.push((index, 1)),
            }
        }
        let mut ticket = vec![kind];
        ticket.extend(number.to_le_bytes());
        ticket.extend(self.boot_epoch.to_le_bytes());
        for name in [owner, worker] {
            ticket.extend((name.len() as u16).to_le_bytes());
            ticket.extend(name.as_bytes());
        }
        for (first, games) in ranges {
            ticket.extend(first.to_le_bytes());
            ticket.extend(games.to_le_bytes());
        }
        let code = self.code(tournament, &ticket).finalize().into_bytes();
        ticket.extend(&code[..CODE_BYTES]);
        ticket
    }

    /// What a ticket proves; none if it was not issued for this tournament.
    pub(crate) fn read(&self, tournament: &str, ticket: &[u8]) -> Option<Leased> {
        let (content, code) = ticket.split_at_checked(ticket.len().checked_sub(CODE_BYTES)?)?;
        self.code(tournament, content)
            .verify_truncated_left(code)
            .ok()?;
        let (&kind, content) = content.split_first()?;
        let (&number, content) = content.split_first_chunk()?;
        let (&boot_epoch, content) = content.split_first_chunk()?;
        let (owner, content) = name(content)?;
        let (worker, ranges) = name(content)?;
        let [number, boot_epoch] = [number, boot_epoch].map(u64::from_le_bytes);
        let (ranges, _) = ranges.as_chunks::<8>();
        let mut numbers = ranges.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let process = match kind {
            1 => WorkerProcess::Process(number),
            2 if boot_epoch == self.boot_epoch => WorkerProcess::Join(number),
            _ => WorkerProcess::Unknown,
        };
        let mut ranges = Vec::new();
        while let (Some(first), Some(games)) = (numbers.next(), numbers.next()) {
            ranges.push((first, games));
        }
        Some(Leased {
            process,
            owner: owner.into(),
            worker: worker.to_owned(),
            ranges,
        })
    }

    fn code(&self, tournament: &str, content: &[u8]) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.key).expect("any length is a key");
        code.update(b"arena lease ticket 3\0");
        code.update(&(tournament.len() as u64).to_le_bytes());
        code.update(tournament.as_bytes());
        code.update(content);
        code
    }
}

/// A name behind its length, and the bytes after it.
fn name(content: &[u8]) -> Option<(&str, &[u8])> {
    let (&length, content) = content.split_first_chunk()?;
    let (name, rest) = content.split_at_checked(u16::from_le_bytes(length).into())?;
    Some((str::from_utf8(name).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: WorkerProcess = WorkerProcess::Process(7);

    #[test]
    fn ticket_covers_exactly_its_games() {
        let tickets = Tickets::new([1; 32], 5);
        let games = [3, 4, 5, 9, 11, u64::MAX];
        // Retried games are leased before others.
        let ticket = tickets.issue(
            "cup-1",
            PROCESS,
            ("ann", "host"),
            [11, 3, u64::MAX, 4, 5, 9],
        );
        let leased = tickets.read("cup-1", &ticket).expect("its own ticket");
        assert_eq!(leased.process, PROCESS);
        assert_eq!((&*leased.owner, &*leased.worker), ("ann", "host"));
        let around = (0..20).chain([u64::MAX - 1, u64::MAX]);
        let covered: Vec<u64> = around.filter(|&index| leased.covers(index)).collect();
        assert_eq!(covered, games);
    }

    #[test]
    fn forged_tickets_prove_nothing() {
        let tickets = Tickets::new([1; 32], 5);
        let ticket = tickets.issue("cup-1", PROCESS, ("ann", "host"), [3, 4]);
        assert_eq!(tickets.read("cup-2", &ticket), None, "another tournament");
        let others = Tickets::new([2; 32], 5);
        assert_eq!(others.read("cup-1", &ticket), None, "another key");
        for place in 0..ticket.len() {
            let mut changed = ticket.clone();
            changed[place] ^= 1;
            assert_eq!(tickets.read("cup-1", &changed), None, "byte {place}");
            assert_eq!(tickets.read("cup-1", &ticket[..place]), None, "cut");
        }
    }

    #[test]
    fn restart_keeps_tickets_but_no_join_numbers() {
        let (before, after) = (Tickets::new([1; 32], 1), Tickets::new([1; 32], 2));
        let ticket = |process| before.issue("cup-1", process, ("", ""), [0]);
        let read = |process| {
            after
                .read("cup-1", &ticket(process))
                .expect("valid")
                .process
        };
        assert_eq!(read(PROCESS), PROCESS);
        assert_eq!(read(WorkerProcess::Join(7)), WorkerProcess::Unknown);
    }
}
