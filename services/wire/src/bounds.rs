//! The memory of requests: a few bytes of a message may become hundreds in memory, so requests are
//! measured before they are decoded.

use std::{any::type_name, marker::PhantomData};

use prost::{
    Message,
    bytes::Buf,
    encoding::{WireType, decode_key, decode_varint},
};
use tonic::{
    Status,
    codec::{BufferSettings, Codec, DecodeBuf, Decoder},
};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

/// Bytes that any request may need in memory, and further ones for each encoded byte.
const BYTES: u64 = 16 << 20;
const BYTES_PER_BYTE: u64 = 4;
/// Messages within messages. The library decodes no more.
const DEPTH_MAX: u32 = 100;

/// What a field has.
enum Part {
    /// A message of this number.
    Message(usize),
    /// A string, or bytes.
    Bytes,
    /// Numbers, each of so many bytes in memory.
    Numbers(u64),
}

/// A message: its bytes in memory without those of its lists and texts, and the fields that have them.
struct Shape {
    bytes: u64,
    parts: &'static [(u32, Part)],
}

include!(concat!(env!("OUT_DIR"), "/shapes.rs"));

/// A request is refused before it is decoded if it needed too much memory.
fn check(message: usize, encoded: &[u8]) -> Result<(), Status> {
    let most = BYTES + BYTES_PER_BYTE * encoded.len() as u64;
    let mut left = most;
    match spend(&mut left, message, encoded, 0) {
        Some(()) => Ok(()),
        // As the library refuses what it cannot decode.
        None => Err(Status::internal(format!(
            "the request has so many parts that it would need more than {most} bytes of memory: send \
             fewer at a time"
        ))),
    }
}

/// Subtracts the memory of a message. None if it is too much. What is malformed is left to the decoder.
fn spend(left: &mut u64, message: usize, mut encoded: &[u8], depth: u32) -> Option<()> {
    let Shape { bytes, parts } = &SHAPES[message];
    *left = left.checked_sub(*bytes)?;
    while encoded.has_remaining() {
        let Ok((field, wire_type)) = decode_key(&mut encoded) else {
            return Some(());
        };
        let part = parts.iter().find(|(number, _)| *number == field);
        let part = part.map(|(_, part)| part);
        let length = match wire_type {
            WireType::Varint => {
                if decode_varint(&mut encoded).is_err() {
                    return Some(());
                }
                0
            }
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            WireType::LengthDelimited => match decode_varint(&mut encoded) {
                Ok(length) => length,
                Err(_) => return Some(()),
            },
            WireType::StartGroup | WireType::EndGroup => return Some(()),
        };
        let Some((inner, rest)) = encoded.split_at_checked(length as usize) else {
            return Some(());
        };
        encoded = rest;
        match (part, wire_type) {
            (Some(Part::Message(inside)), WireType::LengthDelimited) if depth < DEPTH_MAX => {
                spend(left, *inside, inner, depth + 1)?;
            }
            (Some(Part::Bytes), WireType::LengthDelimited) => {
                *left = left.checked_sub(24 + length)?;
            }
            (Some(Part::Numbers(each)), WireType::LengthDelimited) => {
                *left = left.checked_sub(each.saturating_mul(length))?;
            }
            (Some(Part::Numbers(each)), _) => *left = left.checked_sub(*each)?,
            _ => {}
        }
    }
    Some(())
}

/// The codec of all services. Requests of the coordinator are measured first.
#[derive(Debug, Clone)]
pub struct MeasuredCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for MeasuredCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for MeasuredCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = MeasuredDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::raw_encoder(BufferSettings::default())
    }

    fn decoder(&mut self) -> Self::Decoder {
        let name = type_name::<U>().rsplit("::").next().unwrap_or_default();
        let requests = REQUESTS.iter();
        MeasuredDecoder {
            message: { requests }.find(|(of, _)| *of == name).map(|it| it.1),
            inner: ProstCodec::<T, U>::raw_decoder(BufferSettings::default()),
        }
    }
}

/// See [`MeasuredCodec`].
#[derive(Debug)]
pub struct MeasuredDecoder<U> {
    /// The number of the message, if it is a request.
    message: Option<usize>,
    inner: ProstDecoder<U>,
}

impl<U: Message + Default> Decoder for MeasuredDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        if let Some(message) = self.message {
            let encoded = source.chunk();
            match encoded.len() == source.remaining() {
                true => check(message, encoded)?,
                // The library keeps a message in one piece.
                false => return Err(Status::internal("a request in several pieces")),
            }
        }
        self.inner.decode(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1;

    fn shape_of(name: &str) -> usize {
        let found = REQUESTS.iter().find(|(of, _)| *of == name);
        found.expect("a request").1
    }

    #[test]
    fn empty_parts_are_refused_and_full_ones_pass() {
        let games = |count: usize| v1::ReportRequest {
            games: vec![v1::GameReport::default(); count],
            ..Default::default()
        };
        let report = shape_of("ReportRequest");
        assert!(check(report, &games(4096).encode_to_vec()).is_ok());
        assert!(check(report, &games(1_000_000).encode_to_vec()).is_err());
        let mut full = games(4096);
        for game in &mut full.games {
            game.record = Some(v1::GameRecord {
                hash: vec![7; 32],
                ..Default::default()
            });
            let note = v1::SearchNote {
                score_thousandths: Some(-12_000),
                depth: 20,
                nodes: 3_000_000,
            };
            game.timing = Some(v1::GameTiming {
                latencies_us: vec![1; 200],
                searches: vec![note; 200],
                ..Default::default()
            });
        }
        assert!(check(report, &full.encode_to_vec()).is_ok());
        // Parts of parts.
        let faults = v1::GameReport {
            fault_details: vec![v1::FaultDetail::default(); 1_000_000],
            ..Default::default()
        };
        let nested = v1::ReportRequest {
            games: vec![faults],
            ..Default::default()
        };
        assert!(check(report, &nested.encode_to_vec()).is_err());
        let known = v1::ReplayRequest {
            known_tournaments: vec![String::new(); 2_000_000],
            ..Default::default()
        };
        assert!(check(shape_of("ReplayRequest"), &known.encode_to_vec()).is_err());
        let spec = v1::StartTournamentRequest {
            spec_toml: "x".repeat(4 << 20),
            ..Default::default()
        };
        assert!(check(shape_of("StartTournamentRequest"), &spec.encode_to_vec()).is_ok());
    }

    #[test]
    fn malformed_requests_are_left_to_the_decoder() {
        let report = shape_of("ReportRequest");
        for encoded in [&[0xff; 20][..], &[0x2a, 0xff], &[0x2a], &[0x2b, 1], &[]] {
            assert!(check(report, encoded).is_ok(), "{encoded:?}");
        }
    }
}
