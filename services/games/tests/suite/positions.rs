//! Encoded positions: the ruleset's own message, which reads back as the same.

use arena_engine::{ActionId, Game, Node};
use arena_wire::games::{
    ChessPosition, ChineseLudoPosition, CowryPosition, KalahPosition, OwareAbapaPosition,
    OwareAnanAnanPosition,
};
use prost::Message;

/// Checks both forms of a position.
pub(crate) fn check<G: Game>(game: &G, state: &G::State, label: &str) {
    let mut legal = Vec::new();
    if matches!(game.node(state), Node::Decision(_)) {
        game.legal(state, &mut legal);
    }
    // Encoding appends: what was there before stays.
    let mut bytes = vec![0xff];
    for moves in [false, true] {
        bytes.truncate(1);
        game.encode(state, moves, &mut bytes);
        assert_eq!(bytes[0], 0xff, "{label}");
        let decoded = game.decode(&bytes[1..]);
        assert_eq!(decoded.as_ref(), Ok(state), "{label}");
        let (canonical, ids) = canonical(game.name(), &bytes[1..]).expect("a message");
        assert_eq!(canonical, bytes[1..], "{label}: as prost writes it");
        let listed: &[ActionId] = if moves { &legal } else { &[] };
        let listed: Vec<u32> = listed.iter().map(|&id| id.into()).collect();
        assert_eq!(ids, listed, "{label}: details of each legal move");
    }
}

/// The bytes as prost writes the message it reads from them, and the ids of
/// the moves in it.
pub(crate) fn canonical(
    ruleset: &str,
    bytes: &[u8],
) -> Result<(Vec<u8>, Vec<u32>), prost::DecodeError> {
    Ok(match ruleset {
        "chess" => {
            let message = ChessPosition::decode(bytes)?;
            let ids = message.moves.iter().map(|step| step.id).collect();
            (message.encode_to_vec(), ids)
        }
        "chinese-ludo" => {
            let message = ChineseLudoPosition::decode(bytes)?;
            let ids = message.moves.iter().map(|step| step.id).collect();
            (message.encode_to_vec(), ids)
        }
        "cowry" => {
            let message = CowryPosition::decode(bytes)?;
            let ids = message.moves.iter().map(|step| step.id).collect();
            (message.encode_to_vec(), ids)
        }
        "kalah" => {
            let message = KalahPosition::decode(bytes)?;
            let ids = message.moves.iter().map(|step| step.id).collect();
            (message.encode_to_vec(), ids)
        }
        "oware-abapa" => {
            let message = OwareAbapaPosition::decode(bytes)?;
            let ids = message.moves.iter().map(|sown| sown.id).collect();
            (message.encode_to_vec(), ids)
        }
        "oware-anan-anan" => {
            let message = OwareAnanAnanPosition::decode(bytes)?;
            let ids = message.moves.iter().map(|sown| sown.id).collect();
            (message.encode_to_vec(), ids)
        }
        other => panic!("add the message of {other} here"),
    })
}
