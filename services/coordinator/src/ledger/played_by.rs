//! Which process played each game of a tournament.

use std::collections::BTreeMap;

use super::WorkerProcess;

/// The processes that played the games of a tournament in this start of the coordinator.
#[derive(Debug, Default)]
pub(super) struct PlayedBy {
    /// Processes by number; number 0 stands for an unknown process.
    processes: Vec<WorkerProcess>,
    numbers: BTreeMap<WorkerProcess, u32>,
    /// The number of each game's process.
    games: Vec<u32>,
}

impl PlayedBy {
    pub(super) fn insert(&mut self, index: u64, process: WorkerProcess) {
        let number = *self.numbers.entry(process).or_insert_with(|| {
            self.processes.push(process);
            self.processes.len() as u32
        });
        let place = index as usize;
        if self.games.len() <= place {
            self.games.resize(place + 1, 0);
        }
        self.games[place] = number;
    }

    /// The process that played a game.
    pub(super) fn process(&self, index: u64) -> WorkerProcess {
        let number = self.games.get(index as usize).copied().unwrap_or(0);
        let place = (number as usize).checked_sub(1);
        place.map_or(WorkerProcess::Unknown, |place| self.processes[place])
    }

    /// The games that a process played.
    pub(super) fn games(&self, process: WorkerProcess) -> Vec<u64> {
        let Some(of_process) = self.numbers.get(&process) else {
            return Vec::new();
        };
        let games = (0..).zip(&self.games);
        let own = games.filter(|&(_, number)| number == of_process);
        own.map(|(index, _)| index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_found_by_process() {
        let [one, two] = [1, 2].map(WorkerProcess::Process);
        let mut played_by = PlayedBy::default();
        for (index, process) in [(3, one), (0, two), (7, one)] {
            played_by.insert(index, process);
        }
        assert_eq!(played_by.games(one), [3, 7]);
        assert_eq!(played_by.games(two), [0]);
        assert_eq!(played_by.games(WorkerProcess::Unknown), [0; 0]);
        let processes = [0, 3, 4, 9].map(|index| played_by.process(index));
        let unknown = WorkerProcess::Unknown;
        assert_eq!(processes, [two, one, unknown, unknown]);
    }
}
