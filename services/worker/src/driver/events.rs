//! Handling of events of agents and of the pool.

use std::panic::resume_unwind;

use super::*;

impl Driver {
    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::Moves(moves) => {
                let first = moves.first().map(|&(token, _)| token);
                self.measured(first, moves.len(), |this| {
                    for (token, action) in moves {
                        this.answer(token, action);
                    }
                });
            }
            Event::Unanswered(tokens) => {
                for token in tokens {
                    self.ask_alone(token);
                }
            }
            Event::Answers(answers) => {
                let first = answers.first().map(|&(token, _)| token);
                self.measured(first, answers.len(), |this| {
                    for (token, verdict) in answers {
                        this.judge(token, verdict);
                    }
                });
            }
            Event::Games {
                tournament,
                lease,
                count,
                reports,
            } => {
                let mut tournaments = self.tournaments.values();
                let of_id =
                    tournaments.find(|it| it.context().tournament_id() == tournament.as_str());
                if let Some(tournament) = of_id {
                    self.environment
                        .metrics
                        .games_played(&tournament.context().wire().ruleset, reports.len() as u64);
                    let records = reports.iter().filter_map(|report| report.record.as_ref());
                    let decisions = records.flat_map(|record| &record.decisions);
                    tournament.count_decisions(decisions.map(|&count| u64::from(count)).sum());
                }
                self.settle(lease, count, reports);
            }
            Event::Panicked(panic) => resume_unwind(panic),
        }
    }

    /// Handles moves of one tournament, and measures the worker's own time for one of them.
    fn measured(&mut self, first: Option<Token>, moves: usize, handle: impl FnOnce(&mut Self)) {
        let active = first.and_then(|token| self.games.get_mut(token));
        let tournament = active.map(|active| active.tournament.clone());
        let start = Instant::now();
        handle(self);
        if let Some(tournament) = tournament {
            let each = start.elapsed().as_secs_f64() / moves as f64;
            tournament.overhead().observe(each, moves as u64);
        }
    }

    /// An answer of a batch: if it is illegal, the question is asked again alone.
    fn answer(&mut self, token: Token, action: Chosen) {
        let Some(active) = self.games.get_mut(token) else {
            return;
        };
        if active.answer(action).is_err() {
            return self.ask_alone(token);
        }
        active.lease.count_ply(self.index);
        active.tournament.count_decisions(1);
        let status = active.ask(token);
        self.follow(token, status);
    }

    fn ask_alone(&mut self, token: Token) {
        if let Some(active) = self.games.get_mut(token) {
            active.ask_alone(token);
        }
    }

    /// The result of a question asked alone is final.
    fn judge(&mut self, token: Token, verdict: DecisionResult) {
        let Some(active) = self.games.get_mut(token) else {
            return;
        };
        match verdict {
            DecisionResult::Move(action, spent) => {
                active.time(spent, action.note());
                if let Err(error) = active.answer(action) {
                    active.fault(FaultReport::new(FaultKind::IllegalMove, error.to_string()));
                }
            }
            DecisionResult::Fault(fault_report, spent) => {
                active.time(spent, v1::SearchNote::default());
                active.fault(fault_report);
            }
            DecisionResult::Unready(fault_report) if self.shared.alone.load(Ordering::Relaxed) => {
                active.time(Spent::default(), v1::SearchNote::default());
                active.fault(fault_report);
            }
            DecisionResult::Unready(fault_report) => {
                return self.remove(token, |_, active| active.unready(fault_report));
            }
            DecisionResult::Void(why) => {
                return self.remove(token, |_, active| active.unplayed(why));
            }
        }
        active.lease.count_ply(self.index);
        active.tournament.count_decisions(1);
        self.go_on(token);
    }
}
