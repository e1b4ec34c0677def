//! Checks of the faults of a record.

use arena_engine::{
    ActionId, AnyGame, Choice, FaultPolicy, Opening, Seat, Setup, Status, Termination,
};

use super::{GameRecord, VerifyError, adjudication::Policies};

impl GameRecord {
    /// Checks that each fault belongs to a seat that had to decide, and that the game went
    /// on as the policy says. `to_move` is the seat to decide after the last event.
    pub(super) fn check_faults(
        &self,
        game: &dyn AnyGame,
        to_move: Option<Seat>,
        policies: Policies,
    ) -> Result<(), VerifyError> {
        let is_forfeit = self.termination == Termination::Forfeit;
        // Records of version 1 do not name the policy.
        let on_fault = policies.on_fault;
        let forfeits = on_fault.map_or(is_forfeit, |policy| policy == FaultPolicy::Forfeit);
        if is_forfeit != (forfeits && !self.faults.is_empty()) {
            let computed = match self.faults.is_empty() {
                true => "a game without a fault",
                false if forfeits => "forfeit, because of its fault",
                false => "a game with on_fault = \"random-move\"",
            };
            let stated = self.termination.name();
            return Err(VerifyError::differs("termination", stated, computed));
        }
        if self.faults.is_empty() {
            return Ok(());
        }
        let mut deciding: Vec<(Option<Seat>, Choice)> = Vec::new();
        game.replay(&self.events, &mut |described| {
            if described.event.is_action() {
                deciding.push((described.seat, described.choice));
            }
        })?;
        deciding.push((to_move, Choice::Unknown));
        let mut before: Option<u32> = None;
        for (place, fault) in self.faults.iter().enumerate() {
            let deciding = deciding.get(fault.ply as usize);
            let is_asked = deciding.and_then(|(_, choice)| choice.is_asked(policies.ask_forced));
            let problem = match deciding.and_then(|(seat, _)| *seat) {
                None => Some(format!(
                    "no seat decides at that ply (the game has {} plies)",
                    self.plies
                )),
                Some(seat) if seat != fault.seat => {
                    Some(format!("seat {seat} decides at that ply"))
                }
                Some(_) if fault.ply < self.opening_plies => {
                    Some("moves of the opening are not chosen by agents".to_owned())
                }
                Some(_) if on_fault.is_some() && is_asked == Some(false) => {
                    Some("no agent is asked for the only legal move".to_owned())
                }
                Some(_) if before.is_some_and(|before| fault.ply <= before) => Some(
                    "a move has at most one fault, and faults are in the order of plies".to_owned(),
                ),
                Some(_)
                    if forfeits && self.faults[..place].iter().any(|it| it.seat == fault.seat) =>
                {
                    Some("the seat forfeited before".to_owned())
                }
                Some(_) => {
                    let ends = forfeits && self.seats.len() == 2;
                    match fault.ply == self.plies {
                        at_end if at_end == ends => None,
                        true => {
                            Some("a random move replaces it, but the record has none".to_owned())
                        }
                        false => Some("it ends the game, but the record continues".to_owned()),
                    }
                }
            };
            before = Some(fault.ply);
            if let Some(problem) = problem {
                return Err(VerifyError::Fault {
                    kind: fault.kind.name(),
                    seat: fault.seat,
                    ply: fault.ply,
                    problem,
                });
            }
        }
        match forfeits {
            true if self.seats.len() == 2 => Ok(()),
            true => self.check_substitutes(game, FaultPolicy::Forfeit),
            false => self.check_substitutes(game, FaultPolicy::RandomMove),
        }
    }

    /// Plays the game again from its seed, with the same answers and faults: the moves in place of a
    /// faulty agent's have to be those that the seed draws. A record that describes itself is not
    /// checked, as its rules are not here.
    fn check_substitutes(
        &self,
        game: &dyn AnyGame,
        on_fault: FaultPolicy,
    ) -> Result<(), VerifyError> {
        let actions = self.events.iter().filter(|event| event.is_action());
        let actions: Vec<ActionId> = actions.map(|event| event.id()).collect();
        let opening = &actions[..self.opening_plies as usize];
        let setup = Setup {
            on_fault,
            ask_forced: true,
            luck: false,
            ..Setup::new(self.seed.chance_keys(), Opening::Given(opening.to_vec()))
        };
        if !game.has_rules() {
            return Ok(());
        }
        // The events were replayed before, so that all of them are legal.
        let Ok(mut again) = game.open(setup) else {
            return Ok(());
        };
        let mut faults = self.faults.iter().peekable();
        let (mut last, mut known) = (None, 0);
        while let Status::Asks(_) = again.status() {
            let ply = again.plies();
            if let Some(fault) = faults.next_if(|fault| fault.ply == ply) {
                again.fault(fault.kind);
                last = Some(fault);
            } else {
                let action = actions.get(ply as usize);
                if action.is_none_or(|&action| again.answer(action.into()).is_err()) {
                    break;
                }
            }
            let stated = self.events.get(known..).unwrap_or_default();
            let mut events = again.events()[known..].iter().zip(stated);
            if let Some(fault) = last
                && events.any(|(drawn, stated)| drawn != stated)
            {
                return Err(VerifyError::Fault {
                    kind: fault.kind.name(),
                    seat: fault.seat,
                    ply: fault.ply,
                    problem: "the seed draws another random move in its place".to_owned(),
                });
            }
            known = again.events().len();
        }
        Ok(())
    }
}
