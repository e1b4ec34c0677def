//! Holding a record against the rules.

use std::fmt::Debug;

use arena_engine::{
    AnyGame, CheckError, Checked, DiceError, ReplayError, Termination, forfeit_placement,
};

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
    /// There are no events to apply.
    #[error("the record keeps no moves (records = \"hash\")")]
    NoEvents,
    /// The rules do not allow these events.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// The seed draws other dice.
    #[error("{0}")]
    Dice(#[from] DiceError),
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

impl From<CheckError> for VerifyError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Replay(error) => Self::Replay(error),
            CheckError::Dice(error) => Self::Dice(error),
        }
    }
}

impl GameRecord {
    /// Applies the events again: the rules have to allow them, the seed has to
    /// draw their dice, and result and luck have to be what follows. The hash is
    /// left alone.
    ///
    /// # Errors
    /// [`VerifyError`] at the first thing that is wrong.
    pub fn check(&self, game: &dyn AnyGame) -> Result<(), VerifyError> {
        self.check_luck(game, !self.luck.is_empty())
    }

    /// As [`Self::check`]; `has_luck` says whether the record has to state its luck.
    pub(super) fn check_luck(&self, game: &dyn AnyGame, has_luck: bool) -> Result<(), VerifyError> {
        let keys = self.seed.chance_keys(self.seats.len());
        let Checked { outcome, luck } = game.check(&self.events, &keys)?;
        if self.termination == Termination::Void {
            return same("plies", &self.plies, &0);
        }
        same("plies", &self.plies, &outcome.plies)?;
        same("decisions", &self.decisions, &outcome.decisions)?;
        same("scores", &self.scores, &outcome.scores)?;
        if has_luck {
            same("luck", &self.luck, &luck)?;
        }
        if self.termination == Termination::Forfeit {
            let forfeited: Vec<bool> = (0..self.seats.len())
                .map(|seat| self.faults.iter().any(|of| usize::from(of.seat) == seat))
                .collect();
            let placement = forfeit_placement(&forfeited, &outcome.placement);
            return same("placement", &self.placement, &placement);
        }
        let computed = outcome.ending.map(Termination::from);
        if Some(self.termination) != computed {
            return Err(VerifyError::Differs {
                key: "termination",
                stated: self.termination.name().to_owned(),
                computed: computed.map_or("unfinished", Termination::name).to_owned(),
            });
        }
        same("placement", &self.placement, &outcome.placement)
    }
}

fn same<T: PartialEq + Debug>(
    key: &'static str,
    stated: &T,
    computed: &T,
) -> Result<(), VerifyError> {
    if stated == computed {
        return Ok(());
    }
    Err(VerifyError::Differs {
        key,
        stated: format!("{stated:?}"),
        computed: format!("{computed:?}"),
    })
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
        record.check_luck(game, self.setup.is_some() || !record.luck.is_empty())
    }
}
