//! Users: each has a tournament, pauses, resumes or cancels it, and repeats requests until they are
//! answered.

use std::collections::VecDeque;

use super::{
    counts::Happening,
    net::{Event, Net, SECOND, trace_event},
    random::Random,
};

/// A user's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Start,
    Pause,
    Resume,
    Cancel,
}

/// A request with its id, which is the same each time it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) id: u32,
    pub(super) op: Op,
    pub(super) tournament: usize,
}

pub(super) struct User {
    /// The next request, and the event at which it is sent.
    plan: VecDeque<(u64, Request)>,
    /// The request that waits for an answer, and how often it was sent.
    open: Option<(Request, u32)>,
}

impl User {
    /// Draws the requests for a tournament, and for a second start of it, if there is one.
    pub(super) fn draw(
        random: &mut Random,
        tournament: usize,
        again: Option<usize>,
        events: u64,
    ) -> Self {
        let mut at = random.below(events / 4 + 1);
        let mut id = 1000 * tournament as u32;
        let mut plan = VecDeque::new();
        let mut want = |random: &mut Random, op, tournament| {
            id += 1;
            plan.push_back((at, Request { id, op, tournament }));
            at += random.below(events / 3 + 1);
        };
        want(random, Op::Start, tournament);
        while random.permille(300) {
            want(random, Op::Pause, tournament);
            let op = random.pick(&[Op::Resume, Op::Start]);
            want(random, op, tournament);
        }
        if again.is_some() || random.permille(100) {
            want(random, Op::Cancel, tournament);
        }
        if let Some(again) = again {
            want(random, Op::Start, again);
        }
        Self { plan, open: None }
    }

    pub(super) fn is_done(&self) -> bool {
        self.plan.is_empty() && self.open.is_none()
    }

    /// Whether a request waits for an answer.
    pub(super) fn waits(&self) -> bool {
        self.open.is_some()
    }

    /// Sends the due request.
    pub(super) fn go_on(&mut self, net: &mut Net, events: u64, calm: bool) {
        if self.open.is_none()
            && let Some((_, request)) = self.plan.pop_front_if(|(at, _)| calm || *at <= events)
        {
            self.open = Some((request, 0));
            self.send(net);
        }
    }

    fn send(&mut self, net: &mut Net) {
        if let Some((request, tries)) = &mut self.open {
            *tries += 1;
            trace_event!(net, "a user asks: {request:?}");
            net.user(Event::User(*request));
            net.after(3 * SECOND, Event::AskAgain(request.id, *tries));
        }
    }

    /// No answer arrived in time.
    pub(super) fn ask_again(&mut self, net: &mut Net, id: u32, tries: u32) {
        let open = self.open.filter(|(it, sent)| it.id == id && *sent == tries);
        if open.is_some() {
            net.counts.add(Happening::UserRetry);
            self.send(net);
        }
    }

    /// An answer arrived. Returns the request, if it was waiting.
    pub(super) fn answered(&mut self, id: u32) -> Option<Request> {
        let (request, _) = self.open.filter(|(request, _)| request.id == id)?;
        self.open = None;
        Some(request)
    }
}
