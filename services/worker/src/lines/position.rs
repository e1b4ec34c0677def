//! Positions as JSON.

use arena_wire::games;
use prost::Message;
use serde::Serialize;

/// A position of a ruleset.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Position {
    ChineseLudo(games::ChineseLudoPosition),
    Cowry(games::CowryPosition),
    Kalah(games::KalahPosition),
    OwareAbapa(games::OwareAbapaPosition),
    OwareAnanAnan(games::OwareAnanAnanPosition),
}

impl Position {
    /// Decodes the position of a ruleset.
    pub(super) fn decode(ruleset: &str, bytes: &[u8]) -> Result<Self, String> {
        let decoded = match ruleset {
            "chinese-ludo" => Message::decode(bytes).map(Self::ChineseLudo),
            "cowry" => Message::decode(bytes).map(Self::Cowry),
            "kalah" => Message::decode(bytes).map(Self::Kalah),
            "oware-abapa" => Message::decode(bytes).map(Self::OwareAbapa),
            "oware-anan-anan" => Message::decode(bytes).map(Self::OwareAnanAnan),
            _ => return Err(format!("positions of {ruleset} cannot be written as JSON")),
        };
        decoded.map_err(|error| format!("a position of {ruleset}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ruleset_has_positions_in_json() {
        for info in arena_games::rulesets() {
            assert!(Position::decode(info.name, &[]).is_ok(), "{}", info.name);
        }
    }

    #[test]
    fn values_are_numbers_lists_and_words() {
        let position = games::CowryPosition {
            board: 5,
            pieces: vec![0, 24],
            phase: games::CowryPhase::Move.into(),
            ..games::CowryPosition::default()
        };
        let position = Position::decode("cowry", &position.encode_to_vec()).expect("a position");
        let json = serde_json::to_value(&position).expect("JSON");
        assert_eq!(json["pieces"], serde_json::json!([0, 24]));
        assert_eq!(
            (&json["phase"], &json["throws"]),
            (&"move".into(), &0.into())
        );
        assert_eq!(json["may_pass"], serde_json::json!([]));
        assert!(
            json.get("moves").is_none(),
            "left out with omit_move_details"
        );
    }
}
