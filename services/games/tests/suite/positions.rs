//! Encoded positions: the ruleset's own message, which reads back as the same.

use arena_engine::{ActionId, Game, Node};
use arena_wire::games::{
    ChineseLudoPosition, CowryPosition, KalahPosition, OwareAbapaPosition, OwareAnanAnanPosition,
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
        let (canonical, ids) = canonical(G::NAME, &bytes[1..]);
        assert_eq!(canonical, bytes[1..], "{label}: as prost writes it");
        let expected: &[ActionId] = if moves { &legal } else { &[] };
        assert_eq!(ids, expected, "{label}: details of each legal move");
    }
}

/// The bytes as prost writes the message it reads from them, and the ids of
/// the moves in it.
fn canonical(ruleset: &str, bytes: &[u8]) -> (Vec<u8>, Vec<ActionId>) {
    let id = |id: u32| ActionId::try_from(id).expect("an action's id");
    match ruleset {
        "chinese-ludo" => {
            let message = ChineseLudoPosition::decode(bytes).expect("a message");
            let ids = message.moves.iter().map(|step| id(step.id)).collect();
            (message.encode_to_vec(), ids)
        }
        "cowry" => {
            let message = CowryPosition::decode(bytes).expect("a message");
            let ids = message.moves.iter().map(|step| id(step.id)).collect();
            (message.encode_to_vec(), ids)
        }
        "kalah" => {
            let message = KalahPosition::decode(bytes).expect("a message");
            let ids = message.moves.iter().map(|step| id(step.id)).collect();
            (message.encode_to_vec(), ids)
        }
        "oware-abapa" => {
            let message = OwareAbapaPosition::decode(bytes).expect("a message");
            let ids = message.moves.iter().map(|sown| id(sown.id)).collect();
            (message.encode_to_vec(), ids)
        }
        "oware-anan-anan" => {
            let message = OwareAnanAnanPosition::decode(bytes).expect("a message");
            let ids = message.moves.iter().map(|sown| id(sown.id)).collect();
            (message.encode_to_vec(), ids)
        }
        other => panic!("tell here which message {other} uses"),
    }
}
