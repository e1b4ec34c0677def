//! Holding a record against the rules.

use arena_engine::{AnyGame, ReplayError, Termination};

use super::{GameRecord, LineWriter, RecordHeader};

/// A record that does not hold.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The content was changed.
    #[error("the record does not hash to {stated} as it says, but to {computed}")]
    Hash {
        /// What the record says.
        stated: String,
        /// What its content gives.
        computed: String,
    },
    /// The rules do not allow these events.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// The rules give another result.
    #[error("{key} is {stated} in the record, but the rules give {computed}")]
    Differs {
        /// Key of the record.
        key: &'static str,
        /// What the record says.
        stated: String,
        /// What the rules give.
        computed: String,
    },
    /// Played by rules of another version.
    #[error("the record is of {ruleset} rules version {stated}, this program has version {known}")]
    Version {
        /// Name of the ruleset.
        ruleset: String,
        /// The record's version.
        stated: u32,
        /// This program's.
        known: u32,
    },
}

/// Holds a record's result against the rules.
pub(super) fn check_result(record: &GameRecord, game: &dyn AnyGame) -> Result<(), VerifyError> {
    let outcome = game.replay(&record.events, &mut |_| {})?;
    let differs = |key, stated: String, computed: String| {
        if stated == computed {
            Ok(())
        } else {
            Err(VerifyError::Differs {
                key,
                stated,
                computed,
            })
        }
    };
    if record.termination == Termination::Void {
        return differs("plies", record.plies.to_string(), "0".to_owned());
    }
    differs("plies", record.plies.to_string(), outcome.plies.to_string())?;
    differs(
        "decisions",
        format!("{:?}", record.decisions),
        format!("{:?}", outcome.decisions),
    )?;
    differs(
        "scores",
        format!("{:?}", record.scores),
        format!("{:?}", outcome.scores),
    )?;
    if !record.luck.is_empty() {
        differs(
            "luck",
            format!("{:?}", record.luck),
            format!("{:?}", game.luck(&record.events)?),
        )?;
    }
    if record.termination == Termination::Forfeit {
        return Ok(());
    }
    let computed = outcome.ending.map(Termination::from);
    differs(
        "termination",
        record.termination.name().to_owned(),
        computed.map_or("unfinished", Termination::name).to_owned(),
    )?;
    differs(
        "placement",
        format!("{:?}", record.placement),
        format!("{:?}", outcome.placement),
    )
}

impl RecordHeader {
    /// Applies a packed record's events again and checks result and hash.
    ///
    /// # Errors
    /// [`VerifyError`] at the first thing that does not hold.
    pub fn verify(&self, record: &GameRecord, game: &dyn AnyGame) -> Result<(), VerifyError> {
        if self.rules_version != game.version() {
            return Err(VerifyError::Version {
                ruleset: self.ruleset.clone(),
                stated: self.rules_version,
                known: game.version(),
            });
        }
        let mut copy = record.clone();
        LineWriter::new(self).seal(&mut copy, game)?;
        if copy.hash != record.hash {
            return Err(VerifyError::Hash {
                stated: hex::encode(record.hash),
                computed: hex::encode(copy.hash),
            });
        }
        check_result(record, game)
    }
}
