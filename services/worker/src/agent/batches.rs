//! Questions in batches, over one stream, with at most two batches in flight.

use std::{
    collections::VecDeque,
    mem,
    time::{Duration, Instant},
};

use arena_telemetry::MoveTiming;
use arena_wire::batch::Answers;
use prost::bytes::Bytes;
use tokio::time;
use tonic::{Code, Status};

use super::{
    Chosen, Event,
    client::AgentTask,
    codec,
    link::Stream,
    question::{Batch, BatchFailure},
};
use crate::clock::whole_micros;

/// Maximum batches in flight.
const IN_FLIGHT: usize = 2;
/// Failed batches in a row after which the worker sends single questions for some time, because
/// each failed batch costs a restart.
const BATCHES_FAILED: u32 = 3;
/// Time for which the worker then sends single questions.
const BATCHES_REST: Duration = Duration::from_secs(30);
/// Maximum time for a batch.
const TIMEOUT_MAX: Duration = Duration::from_secs(60);

/// A batch in flight.
struct Sent {
    number: u64,
    batch: Batch,
    message: Bytes,
    /// Number of questions without an answer.
    left: usize,
    /// Time at which the batch was sent.
    since: Instant,
}

impl AgentTask {
    /// Sends waiting questions and receives answers until nothing is in flight, or a question has
    /// to be asked alone.
    pub(super) async fn ask_batches(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let rests = |again: Instant| again > Instant::now();
        if connection.single || self.batches_again.is_some_and(rests) {
            return self.ask_single().await;
        }
        connection.fresh = false;
        let mut stream = connection.link.stream(IN_FLIGHT, self.batch_max);
        let mut sent: VecDeque<Sent> = VecDeque::with_capacity(IN_FLIGHT);
        let mut answers = Answers::default();
        // Start of the timeout of the first batch in flight.
        let mut since = Instant::now();
        let why = loop {
            while sent.len() < IN_FLIGHT
                && let Some(batch) = self.next_batch(sent.front())
            {
                if sent.is_empty() {
                    since = Instant::now();
                }
                let entry = self.send(batch, &stream);
                sent.push_back(entry);
            }
            let Some(first) = sent.front() else {
                if self.client.inbox.borrow().has_alone() {
                    return;
                }
                self.flush_metrics(Duration::ZERO);
                self.client.replicas.get(self.replica).set_busy(false);
                tokio::select! {
                    () = self.client.woken(self.replica) => continue,
                    // No answer is due. If the stream ends, it is opened again.
                    _ = stream.next() => return,
                }
            };
            let limit = self.batch_timeout(first.batch.len());
            let number = first.number;
            let answer = tokio::select! {
                answer = stream.next() => answer,
                () = self.client.woken(self.replica) => continue,
                () = time::sleep_until((since + limit).into()) => break BatchFailure::Late(limit),
            };
            let read = match answer {
                Ok(bytes) => codec::read_moves(&bytes, &mut answers).map_err(Status::data_loss),
                Err(status) if status.code() == Code::Unimplemented => break BatchFailure::Single,
                Err(status) => break BatchFailure::Failed(status),
            };
            if let Err(status) = read.and_then(|()| self.take_answers(&mut sent, &answers)) {
                break BatchFailure::Failed(status);
            }
            if sent.front().is_none_or(|first| first.number != number) {
                since = Instant::now();
            }
            self.flush_metrics(Duration::from_millis(100));
        };
        let left = sent.iter().flat_map(|sent| &sent.batch.tokens);
        let unanswered = left.flatten().copied().collect();
        drop(stream);
        self.count_failed(&why);
        self.ask_again(unanswered, why).await;
    }

    /// Counts a failed batch.
    fn count_failed(&mut self, why: &BatchFailure) {
        if matches!(why, BatchFailure::Single) {
            return;
        }
        self.batches_failed += 1;
        if self.batches_failed >= BATCHES_FAILED {
            tracing::info!(
                agent = self.setup.name,
                "{BATCHES_FAILED} batches in a row failed: asking single questions from now on"
            );
            self.batches_again = Some(Instant::now() + BATCHES_REST);
        }
    }

    /// The next batch to send: all waiting questions if nothing is in flight, else a batch that is
    /// large enough.
    fn next_batch(&self, first: Option<&Sent>) -> Option<Batch> {
        let mut inbox = self.client.inbox.borrow_mut();
        if inbox.has_alone() {
            return None;
        }
        let at_least = first.map_or(1, |first| first.batch.len().div_ceil(2));
        inbox.take_batch(at_least)
    }

    fn send(&mut self, mut batch: Batch, stream: &Stream) -> Sent {
        self.batches += 1;
        self.client.replicas.get(self.replica).set_busy(true);
        let count = batch.len();
        self.count_batch(count);
        let budget = whole_micros(self.batch_timeout(count));
        let message = batch.take_message(budget, self.batches);
        stream.send(&message);
        Sent {
            number: self.batches,
            left: count,
            batch,
            message,
            since: Instant::now(),
        }
    }

    /// Handles the answers in a message. Fails if the message names a question that is not open.
    fn take_answers(&mut self, sent: &mut VecDeque<Sent>, answer: &Answers) -> Result<(), Status> {
        let number = answer.batch;
        let Some(place) = sent.iter().position(|sent| sent.number == number) else {
            let problem = format!("answer to batch {number}, which is not open");
            return Err(Status::data_loss(problem));
        };
        let entry = &mut sent[place];
        let (since, asked) = (entry.since, entry.batch.len());
        let now = Instant::now();
        let began = since.max(mem::replace(&mut self.last_answer, now));
        let clock = Clock::new(now, now - began, answer);
        let mut moves = Vec::with_capacity(answer.choices.len());
        let mut wrong = None;
        // Decisions in a row that took the same time.
        let mut alike: Option<(MoveTiming, u64)> = None;
        for choice in &answer.choices {
            let slot = choice.slot as usize;
            let token = entry.batch.tokens.get_mut(slot).and_then(Option::take);
            let Some(token) = token else {
                wrong = Some(choice.slot);
                break;
            };
            let timing = clock.timing(entry.batch.wanted[slot], choice.thinking_us);
            match &mut alike {
                Some((last, count)) if *last == timing => *count += 1,
                _ => {
                    if let Some((last, count)) = alike.replace((timing, 1)) {
                        self.setup.meter.moves.timed(last, count);
                    }
                }
            }
            moves.push((token, Chosen::of_score(choice.move_id, choice.score)));
        }
        if let Some((last, count)) = alike {
            self.setup.meter.moves.timed(last, count);
        }
        entry.left -= moves.len();
        let mut unanswered = Vec::new();
        if entry.left == 0 || answer.last && wrong.is_none() {
            if let Some(Sent {
                mut batch, message, ..
            }) = sent.remove(place)
            {
                unanswered.extend(batch.tokens.iter_mut().filter_map(Option::take));
                batch.return_message(message);
                self.client.inbox.borrow_mut().keep(batch);
            }
            // The answer to a batch of one question does not show that larger batches work.
            if asked > 1 {
                self.batches_failed = 0;
            }
            let now = Instant::now();
            self.answered(asked, now - since.max(self.served));
            self.served = now;
        }
        if !moves.is_empty() {
            self.send_event(Event::Moves(moves));
        }
        if !unanswered.is_empty() {
            self.send_event(Event::Unanswered(unanswered));
        }
        let problem = |slot| Status::data_loss(format!("answer to slot {slot}, which is not open"));
        wrong.map_or(Ok(()), |slot| Err(problem(slot)))
    }

    /// Maximum time for this many decisions.
    pub(super) fn batch_timeout(&self, decisions: usize) -> Duration {
        let count = u32::try_from(decisions).unwrap_or(u32::MAX);
        let each = self.setup.time_control.longest_move();
        each.saturating_mul(count).min(TIMEOUT_MAX.max(each))
    }
}

/// Divides the time in which an agent worked on an answer among the decisions of the answer.
struct Clock {
    now: Instant,
    /// Time in which the agent worked on the answer.
    busy: Duration,
    /// Thinking time of each decision, if the agent reports one time for all of them.
    each: Option<Duration>,
    /// Share of each decision in the time that no reported thinking time covers.
    rest: Duration,
}

impl Clock {
    fn new(now: Instant, busy: Duration, answer: &Answers) -> Self {
        let count = u32::try_from(answer.choices.len().max(1)).unwrap_or(u32::MAX);
        let each = answer.thinking_us.map(Duration::from_micros);
        let each = each.map(|all| all.min(busy) / count);
        let own = |us: Option<u64>| us.map(Duration::from_micros).or(each);
        let thought = answer.choices.iter().filter_map(|it| own(it.thinking_us));
        let thought = thought.fold(Duration::ZERO, Duration::saturating_add);
        Self {
            now,
            busy,
            each,
            rest: busy.saturating_sub(thought) / count,
        }
    }

    /// Times of a decision that was requested at `wanted`, with the thinking time that the agent
    /// reports.
    fn timing(&self, wanted: Instant, thinking_us: Option<u64>) -> MoveTiming {
        let own = thinking_us.map(Duration::from_micros).or(self.each);
        // The agent may report any time, but it did not work longer than `busy`.
        let thinking = own.map(|own| own.min(self.busy));
        let round_trip = self.rest + thinking.unwrap_or_default();
        let total = self.now.saturating_duration_since(wanted);
        MoveTiming {
            waiting: total.saturating_sub(round_trip),
            round_trip,
            thinking,
        }
    }
}

#[cfg(test)]
mod tests {
    use arena_wire::batch::Answer;

    use super::*;

    fn answers(all: Option<u64>, own: [Option<u64>; 4]) -> Answers {
        let choice = |thinking_us| Answer {
            thinking_us,
            ..Answer::default()
        };
        Answers {
            thinking_us: all,
            choices: own.into_iter().map(choice).collect(),
            ..Answers::default()
        }
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Timings of four decisions that were requested 200 ms ago; the round trip took 80 ms.
    fn timings(answers: &Answers) -> Vec<MoveTiming> {
        let now = Instant::now();
        let clock = Clock::new(now, ms(80), answers);
        let wanted = now - ms(200);
        let choices = answers.choices.iter();
        choices
            .map(|choice| clock.timing(wanted, choice.thinking_us))
            .collect()
    }

    #[test]
    fn batch_time_is_shared_by_decisions() {
        for timing in timings(&answers(None, [None; 4])) {
            let expected = MoveTiming {
                waiting: ms(180),
                round_trip: ms(20),
                thinking: None,
            };
            assert_eq!(timing, expected);
        }
    }

    #[test]
    fn stated_thinking_time_is_used() {
        for timing in timings(&answers(Some(60_000), [None; 4])) {
            let expected = MoveTiming {
                waiting: ms(180),
                round_trip: ms(20),
                thinking: Some(ms(15)),
            };
            assert_eq!(timing, expected);
        }
        let own = [Some(50_000), Some(10_000), Some(0), Some(16_000)];
        let reported = timings(&answers(Some(70_000), own));
        let thinking: Vec<Duration> = reported.iter().filter_map(|it| it.thinking).collect();
        assert_eq!(thinking, [ms(50), ms(10), ms(0), ms(16)]);
        let round_trips: Duration = reported.iter().map(|it| it.round_trip).sum();
        assert_eq!(round_trips, ms(80), "the whole round trip, once");
        assert!(
            reported
                .iter()
                .all(|it| it.waiting + it.round_trip == ms(200))
        );
    }

    #[test]
    fn thinking_time_is_at_most_round_trip() {
        let reported = timings(&answers(None, [Some(9_000_000), None, None, None]));
        assert_eq!(reported[0].thinking, Some(ms(80)));
        assert_eq!(reported[1].round_trip, ms(0));
    }
}
