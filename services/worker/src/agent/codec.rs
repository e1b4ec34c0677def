//! Messages as bytes: questions are encoded where they arise, and an answer
//! that cannot be read is told apart from an agent's error.

use arena_wire::v1;
use prost::{
    Message,
    bytes::{Buf, BufMut, Bytes},
};
use tonic::{
    Code, Status,
    codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::http::uri::PathAndQuery,
};

pub(super) const CHOOSE_MOVE: PathAndQuery =
    PathAndQuery::from_static("/arena.v1.AgentService/ChooseMove");
pub(super) const CHOOSE_MOVES: PathAndQuery =
    PathAndQuery::from_static("/arena.v1.AgentService/ChooseMoves");

/// What one answer may take, whatever it tells of its search.
const ANSWER_BYTES: usize = 1 << 10;
/// What any message may take.
const MESSAGE_BYTES: usize = 64 << 10;

/// The largest answer to so many decisions. Small, since decoded messages take
/// many times the space of their bytes.
pub(super) fn answer_bytes_max(decisions: usize) -> usize {
    MESSAGE_BYTES + decisions * ANSWER_BYTES
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// Reads the answer to a solitary question.
pub(super) fn read_move(bytes: Bytes) -> Result<v1::ChooseMoveResponse, String> {
    v1::ChooseMoveResponse::decode(bytes)
        .map_err(|error| format!("the answer is no ChooseMoveResponse: {error}"))
}

/// Reads answers of a batch.
pub(super) fn read_moves(bytes: Bytes) -> Result<v1::ChooseMovesResponse, String> {
    v1::ChooseMovesResponse::decode(bytes)
        .map_err(|error| format!("the answer is no ChooseMovesResponse: {error}"))
}

/// True where our side could not make out what came: tonic names it so.
pub(super) fn unreadable(status: &Status) -> bool {
    match status.code() {
        Code::OutOfRange => status
            .message()
            .contains("decoded message length too large"),
        Code::Internal | Code::Unknown => status.message().starts_with("protocol error"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_answer_are_told() {
        assert!(read_move(Bytes::from_static(b"\x08\x07")).is_ok_and(|it| it.move_id == 7));
        for garbage in [&b"\x08"[..], b"\xff\xff\xff", b"\x0a\xff\x01"] {
            assert!(read_move(Bytes::from_static(garbage)).is_err());
            assert!(read_moves(Bytes::from_static(garbage)).is_err());
        }
    }
}
