//! Which process played each game of a tournament.

use std::collections::BTreeMap;

use super::WorkerProcess;

/// The processes that played the games of a tournament in this start of the coordinator. Leases
/// are ranges of games, so few ranges describe many games.
#[derive(Debug, Default)]
pub(super) struct PlayedBy {
    /// Ranges of games by their first game: the game after the last one, and the process.
    ranges: BTreeMap<u64, (u64, WorkerProcess)>,
}

impl PlayedBy {
    /// Adds a game that is not in it.
    pub(super) fn insert(&mut self, index: u64, process: WorkerProcess) {
        let (mut first, mut end) = (index, index + 1);
        let before = self.ranges.range(..index).next_back();
        if let Some((&start, &before)) = before
            && before == (index, process)
        {
            first = start;
        }
        if let Some(&(after, of)) = self.ranges.get(&end)
            && of == process
        {
            self.ranges.remove(&end);
            end = after;
        }
        self.ranges.insert(first, (end, process));
    }

    /// The process that played a game.
    pub(super) fn process(&self, index: u64) -> WorkerProcess {
        let range = self.ranges.range(..=index).next_back();
        let (_, &(end, process)) = range.unwrap_or((&0, &(0, WorkerProcess::Unknown)));
        match index < end {
            true => process,
            false => WorkerProcess::Unknown,
        }
    }

    /// Number of ranges.
    pub(super) fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// The games of the processes for which `is` is true.
    pub(super) fn games_where(&self, is: impl Fn(WorkerProcess) -> bool) -> Vec<u64> {
        let ranges = self.ranges.iter();
        let own = ranges.filter(|(_, (_, of))| is(*of));
        own.flat_map(|(&first, &(end, _))| first..end).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_found_by_process() {
        let [one, two] = [1, 2].map(WorkerProcess::Process);
        let mut played_by = PlayedBy::default();
        for (index, process) in [(3, one), (0, two), (7, one), (5, one), (4, one)] {
            played_by.insert(index, process);
        }
        assert_eq!(played_by.ranges.len(), 3);
        let games = |process| played_by.games_where(|it| it == process);
        assert_eq!(games(one), [3, 4, 5, 7]);
        assert_eq!(games(two), [0]);
        assert_eq!(games(WorkerProcess::Unknown), [0; 0]);
        let processes = [0, 4, 6, 9].map(|index| played_by.process(index));
        let unknown = WorkerProcess::Unknown;
        assert_eq!(processes, [two, one, unknown, unknown]);
    }
}
