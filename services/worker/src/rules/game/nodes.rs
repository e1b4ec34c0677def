//! Nodes of a game: known ones, and those that the rules are asked for.

use std::sync::Arc;

use arena_engine::Node;

use super::{PackageGame, PackageState, Trail};
use crate::{
    lock,
    rules::{
        RulesCause, RulesFailure,
        cache::{Key, key},
        known::Known,
        messages::{Answer, Ask, Next, NodeMessage},
        pending::Place,
        question,
    },
};

impl PackageGame {
    /// Waits for the node of a question.
    pub(super) fn ask(&self, ask: &Ask<'_>) -> Place {
        self.read(ask, self.rules.service.ask(&self.rules.opened, ask))
    }

    /// The node of an answer.
    pub(super) fn read(&self, ask: &Ask<'_>, answer: Result<Answer, RulesFailure>) -> Place {
        let inner = &*self.rules;
        if let Err(failure) = &answer {
            question::fail(&failure.message);
        }
        let problem = match answer {
            Ok(Answer::Node(message)) => {
                let is_seen = self.is_seen(&message);
                match Known::new(*message, &inner.rules, inner.seats) {
                    Ok(_) if !is_seen => {
                        "a decision has no position, and information is hidden".to_owned()
                    }
                    Ok(known) => return Place::Known(Arc::new(known)),
                    Err(problem) => problem,
                }
            }
            Ok(Answer::Drawing(_)) => "a drawing instead of a node".to_owned(),
            Err(failure) => return Place::Failed(failure),
        };
        let failure = RulesFailure::new(RulesCause::Bounds, problem).asked(ask);
        question::fail(&failure.message);
        Place::Failed(inner.service.refuse(failure))
    }

    /// False if the agent of a decision would know nothing: where information is hidden, it sees the
    /// position alone.
    fn is_seen(&self, message: &NodeMessage) -> bool {
        let inner = &*self.rules;
        !inner.opened.positions
            || inner.rules.information.is_perfect()
            || message.next != Next::Decision
            || !message.position.is_null()
    }

    /// The node of a state, or the node after an event, as the rules know it.
    pub(super) fn find(&self, state: &str, event: Option<u32>) -> Place {
        let key = key(state, event);
        if let Some(known) = lock(&self.rules.cache).get(&key) {
            return Place::Known(known);
        }
        let ask = match event {
            Some(event) => Ask::Apply { state, event },
            None => Ask::Look { state },
        };
        let place = self.ask(&ask);
        self.keep(key, &place);
        place
    }

    pub(super) fn keep(&self, key: Key, place: &Place) {
        if let Place::Known(known) = place {
            lock(&self.rules.cache).add(key, known.clone());
        }
    }

    /// As [`Self::find`] for an event, or the question about it.
    fn find_later(&self, before: &Arc<Known>, event: u32) -> Place {
        let Some(queue) = &self.queue else {
            return self.find(&before.state, Some(event));
        };
        let key = key(&before.state, Some(event));
        let known = lock(&self.rules.cache).get(&key);
        match known {
            Some(known) => Place::Known(known),
            None => Place::Pending(queue.add(key, before, event)),
        }
    }

    /// Applies an event; the position after it is pending, if it may be.
    pub(super) fn advance(&self, state: &mut PackageState, event: u16, may_wait: bool) {
        let Place::Known(known) = &state.place else {
            return;
        };
        let (seat, name) = match known.node {
            Node::Decision(seat) => (Some(seat), known.name_of(event)),
            Node::Chance(seat) => (seat, &*known.names[usize::from(event)]),
            Node::Over(_) => return,
        };
        let trail = Arc::new(Trail {
            before: state.trail.take(),
            seat,
            name: name.to_owned(),
        });
        let most = self.rules.rules.events_max;
        let event = known.id_for_rules(event);
        let place = match state.events >= most {
            true => {
                let problem = format!("a game has more than {most} events");
                let failure = RulesFailure::new(RulesCause::Length, problem);
                let state = &known.state;
                let failure = failure.asked(&Ask::Apply { state, event });
                question::fail(&failure.message);
                Place::Failed(self.rules.service.refuse(failure))
            }
            false if may_wait => self.find_later(known, event),
            false => self.find(&known.state, Some(event)),
        };
        *state = PackageState {
            place,
            trail: Some(trail),
            events: state.events + 1,
        };
    }
}
