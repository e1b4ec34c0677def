//! Questions and answers, read and written in place: there are millions of them, so nothing is
//! allocated for a decision, and buffers are reused.
//!
//! `ChooseMoveRequest` and `ChooseMovesRequest` use the same field numbers for context, decision
//! and time budget; `ChooseMoveResponse` and `Choice` differ only in the slot.

use std::ops::Range;

use prost::{
    Message,
    bytes::BufMut,
    encoding::{WireType, encode_key, encode_varint, encoded_len_varint},
};

use crate::{
    fields::{FieldError, Fields},
    v1,
};

/// A `ChooseMovesRequest`, or a `ChooseMoveRequest`, as the positions of its parts.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    contexts: Vec<Range<usize>>,
    decisions: Vec<Range<usize>>,
    /// The value in the message; 0: no limit.
    pub time_budget_us: u64,
    /// Number of the batch; 0 for a single question.
    pub batch: u64,
}

impl Questions {
    /// Finds the parts of a message; its contexts and decisions are not read.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), FieldError> {
        self.contexts.clear();
        self.decisions.clear();
        self.time_budget_us = 0;
        self.batch = 0;
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next() {
            let end = bytes.len() - fields.left();
            let range = |part: &[u8]| end - part.len()..end;
            match field? {
                (1, value) => self.contexts.push(range(value.bytes()?)),
                (2, value) => self.decisions.push(range(value.bytes()?)),
                (3, value) => self.time_budget_us = value.number()?,
                (4, value) => self.batch = value.number()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Positions of the encoded contexts.
    #[must_use]
    pub fn contexts(&self) -> &[Range<usize>] {
        &self.contexts
    }

    /// Positions of the encoded decisions.
    #[must_use]
    pub fn decisions(&self) -> &[Range<usize>] {
        &self.decisions
    }
}

/// The answer to one decision, as far as the asking side needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// Slot of the decision.
    pub slot: u32,
    /// The chosen move.
    pub move_id: u32,
    /// The agent's thinking time, if it states one.
    pub thinking_us: Option<u64>,
    /// The score that it reports, if any.
    pub score: Option<f64>,
}

/// A `ChooseMovesResponse`.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Number of the batch that was answered.
    pub batch: u64,
    /// In the order of the message.
    pub choices: Vec<Answer>,
    /// The agent's thinking time for all of them, if it states one.
    pub thinking_us: Option<u64>,
    /// True if nothing more follows for the batch.
    pub last: bool,
}

impl Answers {
    /// Decodes a whole message.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), FieldError> {
        self.batch = 0;
        self.choices.clear();
        self.thinking_us = None;
        self.last = false;
        for field in Fields::of(bytes) {
            match field? {
                (1, value) => self.batch = value.number()?,
                (2, value) => self.choices.push(choice(value.bytes()?)?),
                (3, value) => self.thinking_us = Some(value.number()?),
                (4, value) => self.last = value.number()? != 0,
                _ => {}
            }
        }
        Ok(())
    }
}

fn choice(bytes: &[u8]) -> Result<Answer, FieldError> {
    let mut answer = Answer::default();
    for field in Fields::of(bytes) {
        match field? {
            // As in protobuf, larger numbers lose their upper half.
            (1, value) => answer.slot = value.number()? as u32,
            (2, value) => answer.move_id = value.number()? as u32,
            (3, value) => {
                let info = v1::SearchInfo::decode(value.bytes()?)?;
                answer.thinking_us = info.thinking_us.or(answer.thinking_us);
                answer.score = info.score.or(answer.score);
            }
            _ => {}
        }
    }
    Ok(answer)
}

/// Starts a `ChooseMovesResponse`.
pub fn write_batch(out: &mut impl BufMut, batch: u64) {
    write_number(out, 1, batch);
}

/// Adds a choice to a `ChooseMovesResponse`.
pub fn write_choice(out: &mut impl BufMut, slot: u32, move_id: u32, info: Option<&v1::SearchInfo>) {
    let number = |value: u32| match value {
        0 => 0,
        value => 1 + encoded_len_varint(value.into()),
    };
    let info_len = info.map(Message::encoded_len);
    let reported = info_len.map_or(0, |len| 1 + encoded_len_varint(len as u64) + len);
    encode_key(2, WireType::LengthDelimited, out);
    encode_varint((number(slot) + number(move_id) + reported) as u64, out);
    write_number(out, 1, slot.into());
    write_number(out, 2, move_id.into());
    if let Some((info, len)) = info.zip(info_len) {
        encode_key(3, WireType::LengthDelimited, out);
        encode_varint(len as u64, out);
        info.encode_raw(out);
    }
}

/// Ends the last `ChooseMovesResponse` of a batch.
pub fn write_end(out: &mut impl BufMut, thinking_us: u64) {
    encode_key(3, WireType::Varint, out);
    encode_varint(thinking_us, out);
    write_number(out, 4, true.into());
}

fn write_number(out: &mut impl BufMut, tag: u32, value: u64) {
    if value != 0 {
        encode_key(tag, WireType::Varint, out);
        encode_varint(value, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> v1::ChooseMovesResponse {
        let choice = |slot, move_id, info| v1::Choice {
            slot,
            move_id,
            info,
        };
        let info = v1::SearchInfo {
            score: Some(-0.5),
            depth: Some(3),
            nodes: Some(1 << 40),
            variation: vec!["a".to_owned(), "b".to_owned()],
            thinking_us: Some(77),
        };
        v1::ChooseMovesResponse {
            batch: 1 << 33,
            choices: vec![
                choice(0, 0, None),
                choice(300, 7, Some(info)),
                choice(2, 70_000, Some(v1::SearchInfo::default())),
            ],
            thinking_us: Some(0),
            last: true,
        }
    }

    #[test]
    fn encoded_answers_equal_their_message() {
        let message = sample();
        let mut out = Vec::new();
        write_batch(&mut out, message.batch);
        for choice in &message.choices {
            write_choice(&mut out, choice.slot, choice.move_id, choice.info.as_ref());
        }
        write_end(&mut out, message.thinking_us.expect("a time"));
        assert_eq!(out, message.encode_to_vec());
    }

    #[test]
    fn decoded_answers_equal_their_message() {
        let message = sample();
        let mut answers = Answers::default();
        // Twice, because buffers are reused.
        for _ in 0..2 {
            answers.read(&message.encode_to_vec()).expect("answers");
            assert_eq!(answers.batch, message.batch);
            assert_eq!(answers.thinking_us, message.thinking_us);
            assert!(answers.last);
            assert_eq!(answers.choices.len(), message.choices.len());
            for (answer, choice) in answers.choices.iter().zip(&message.choices) {
                let info = choice.info.clone().unwrap_or_default();
                let wanted = (choice.slot, choice.move_id, info.thinking_us, info.score);
                let found = (
                    answer.slot,
                    answer.move_id,
                    answer.thinking_us,
                    answer.score,
                );
                assert_eq!(found, wanted);
            }
        }
    }

    #[test]
    fn questions_are_found_in_their_message() {
        let decision = |slot| v1::Decision {
            slot,
            position: vec![1, 2, 3],
            legal_moves: vec![1, 200, 30_000],
            ..Default::default()
        };
        let message = v1::ChooseMovesRequest {
            contexts: vec![v1::GameContext {
                ruleset: "kalah".to_owned(),
                ..Default::default()
            }],
            decisions: (0..3).map(decision).collect(),
            time_budget_us: 1 << 40,
            batch: 9,
        };
        let bytes = message.encode_to_vec();
        let mut questions = Questions::default();
        for _ in 0..2 {
            questions.read(&bytes).expect("questions");
            assert_eq!((questions.time_budget_us, questions.batch), (1 << 40, 9));
            let decode = |range: &Range<usize>| v1::Decision::decode(&bytes[range.clone()]);
            let decisions: Result<Vec<_>, _> = questions.decisions().iter().map(decode).collect();
            assert_eq!(decisions.expect("decisions"), message.decisions);
            let context = &bytes[questions.contexts()[0].clone()];
            assert_eq!(
                v1::GameContext::decode(context).expect("a context"),
                message.contexts[0]
            );
        }
    }

    #[test]
    fn garbled_bytes_are_no_message() {
        let bytes = sample().encode_to_vec();
        let mut answers = Answers::default();
        for length in 1..bytes.len() {
            // Some cuts fall between two fields.
            let read = answers.read(&bytes[..length]).is_ok();
            let decoded = v1::ChooseMovesResponse::decode(&bytes[..length]).is_ok();
            assert_eq!(read, decoded, "{length} bytes");
        }
        for garbage in [&b"\x08"[..], b"\xff\xff\xff", b"\x0a\xff\x01", b"\x12\x01"] {
            assert!(answers.read(garbage).is_err());
            assert!(Questions::default().read(garbage).is_err());
        }
    }
}
