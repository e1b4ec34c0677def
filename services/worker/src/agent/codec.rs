//! Messages as bytes. Questions are already encoded; decoding here distinguishes unreadable answers
//! from errors that the agent returns.

use arena_wire::{batch::Answers, v1};
use prost::{Message, bytes::Bytes};
use tonic::{Code, Status, codegen::http::uri::PathAndQuery};

pub(super) use arena_wire::raw::Raw;

pub(super) const CHOOSE_MOVE: PathAndQuery =
    PathAndQuery::from_static("/arena.v1.AgentService/ChooseMove");
pub(super) const CHOOSE_MOVES: PathAndQuery =
    PathAndQuery::from_static("/arena.v1.AgentService/ChooseMoves");

/// Maximum bytes of one answer, with details of its search.
const ANSWER_BYTES: usize = 1 << 10;
/// Maximum bytes of any message.
const MESSAGE_BYTES: usize = 64 << 10;

/// Maximum bytes of the answer to this many decisions. The limit is low, because a decoded message
/// needs much more memory than its bytes.
pub(super) fn answer_bytes_max(decisions: usize) -> usize {
    MESSAGE_BYTES + decisions * ANSWER_BYTES
}

/// Decodes the answer to a question asked alone.
pub(super) fn read_move(bytes: Bytes) -> Result<v1::ChooseMoveResponse, String> {
    let answer = v1::ChooseMoveResponse::decode(bytes);
    answer.map_err(|error| format!("the answer is not a ChooseMoveResponse: {error}"))
}

/// Decodes answers of a batch.
pub(super) fn read_moves(bytes: &[u8], answers: &mut Answers) -> Result<(), String> {
    let read = answers.read(bytes);
    read.map_err(|error| format!("the answer is not a ChooseMovesResponse: {error}"))
}

/// True if the answer could not be decoded; tonic reports that with this text.
pub(crate) fn unreadable(status: &Status) -> bool {
    let text = status.message();
    match status.code() {
        Code::OutOfRange => text.contains("decoded message length too large"),
        Code::Internal | Code::Unknown => text.starts_with("protocol error"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_answer_is_reported() {
        assert!(read_move(Bytes::from_static(b"\x08\x07")).is_ok_and(|it| it.move_id == 7));
        for garbage in [&b"\x08"[..], b"\xff\xff\xff", b"\x0a\xff\x01"] {
            assert!(read_move(Bytes::from_static(garbage)).is_err());
            assert!(read_moves(garbage, &mut Answers::default()).is_err());
        }
    }
}
