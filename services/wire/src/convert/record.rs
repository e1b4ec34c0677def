//! Packed records of games.

use arena_model::{
    Beginning, BlockSeed, GameRecord,
    engine::{ADJUDICATION_MOVES_MAX, Event, Score, ScoredMove, SeatFault, Transcript},
};

use super::{
    ConvertError,
    endings::{fault_kind, termination},
    wrong,
};
use crate::v1;

/// Maximum number of scored moves of a record.
const EVIDENCE_MAX: usize = 2 * (ADJUDICATION_MOVES_MAX as usize + 1);
/// Maximum bytes of a start position.
const START_BYTES_MAX: usize = 1024;
/// The hash of a record that has none yet: what replays it computes it.
const NO_HASH: [u8; 32] = [0; 32];

impl From<&GameRecord> for v1::GameRecord {
    fn from(record: &GameRecord) -> Self {
        Self {
            index: record.index,
            block: record.block,
            seed: record.seed.0,
            seats: record.seats.iter().map(|&agent| agent.into()).collect(),
            events: record
                .events
                .iter()
                .map(|event| event.to_bits().into())
                .collect(),
            opening_plies: record.opening_plies,
            placement: record.placement.iter().map(|&rank| rank.into()).collect(),
            scores: record.scores.clone(),
            luck: record.luck.clone(),
            plies: record.plies,
            decisions: record.decisions.clone(),
            termination: v1::Termination::from(record.termination).into(),
            faults: record
                .faults
                .iter()
                .map(|fault| v1::Fault {
                    ply: fault.ply,
                    seat: fault.seat.into(),
                    kind: v1::FaultKind::from(fault.kind).into(),
                })
                .collect(),
            adjudication: record
                .adjudication
                .iter()
                .map(|scored| v1::ScoredMove {
                    ply: scored.ply,
                    seat: scored.seat.into(),
                    score_thousandths: scored.score.map(Score::thousandths),
                })
                .collect(),
            hash: match record.hash == NO_HASH {
                true => Vec::new(),
                false => record.hash.to_vec(),
            },
            start: record.start.as_deref().unwrap_or_default().to_owned(),
            course: record.course,
            beginning: record.beginning.numbers().to_vec(),
            transcript: record.transcript.as_deref().map(v1::Transcript::from),
        }
    }
}

impl TryFrom<&v1::GameRecord> for GameRecord {
    type Error = ConvertError;

    fn try_from(message: &v1::GameRecord) -> Result<Self, ConvertError> {
        const MESSAGE: &str = "GameRecord";
        fn narrow<T: TryFrom<u32>>(values: &[u32], field: &str) -> Result<Vec<T>, ConvertError> {
            let narrow = |&value: &u32| {
                T::try_from(value).or_else(|_| wrong(MESSAGE, format!("{field} holds {value}")))
            };
            values.iter().map(narrow).collect()
        }
        let seats: Vec<u16> = narrow(&message.seats, "seats")?;
        let placement: Vec<u8> = narrow(&message.placement, "placement")?;
        let events: Vec<u16> = narrow(&message.events, "events")?;
        if message.decisions.len() != seats.len()
            || message.scores.len() != seats.len()
            || !(placement.is_empty() || placement.len() == seats.len())
            || !(message.luck.is_empty() || message.luck.len() == seats.len())
        {
            let problem = "decisions, scores, luck and placement need one value for each seat";
            return wrong(MESSAGE, problem);
        }
        let Some(termination) = termination(message.termination()) else {
            return wrong(MESSAGE, "no termination");
        };
        let fault = |fault: &v1::Fault| {
            let seat = u8::try_from(fault.seat).ok();
            Some(SeatFault {
                ply: fault.ply,
                seat: seat.filter(|&seat| usize::from(seat) < seats.len())?,
                kind: fault_kind(fault.kind())?,
            })
        };
        let faults: Option<_> = message.faults.iter().map(fault).collect();
        let Some(faults) = faults else {
            let problem = "a fault has an unknown seat or an unknown kind";
            return wrong(MESSAGE, problem);
        };
        let scored = |scored: &v1::ScoredMove| {
            let seat = u8::try_from(scored.seat).ok();
            Some(ScoredMove {
                ply: scored.ply,
                seat: seat.filter(|&seat| usize::from(seat) < seats.len())?,
                score: scored.score_thousandths.map(Score::from_thousandths),
            })
        };
        let adjudication = message.adjudication.iter().map(scored);
        let Some(adjudication) = adjudication.collect() else {
            return wrong(MESSAGE, "a score has an unknown seat");
        };
        if message.adjudication.len() > EVIDENCE_MAX {
            return wrong(MESSAGE, "there is too much evidence of an adjudication");
        }
        if message.start.len() > START_BYTES_MAX {
            return wrong(MESSAGE, "the start position is too long");
        }
        let hash = match message.hash.as_slice() {
            [] => NO_HASH,
            hash => match hash.try_into() {
                Ok(hash) => hash,
                Err(_) => return wrong(MESSAGE, "the hash must have 32 bytes"),
            },
        };
        Ok(Self {
            index: message.index,
            block: message.block,
            seed: BlockSeed(message.seed),
            seats,
            start: Some(message.start.as_str())
                .filter(|start| !start.is_empty())
                .map(Box::from),
            events: events.into_iter().map(Event::from_bits).collect(),
            opening_plies: message.opening_plies,
            placement,
            scores: message.scores.clone(),
            luck: message.luck.clone(),
            plies: message.plies,
            decisions: message.decisions.clone(),
            termination,
            faults,
            adjudication,
            hash,
            course: message.course,
            beginning: Beginning::new(message.beginning.iter().copied()),
            transcript: match &message.transcript {
                Some(transcript) => Some(Box::new(Transcript::try_from(transcript)?)),
                None => None,
            },
        })
    }
}
