//! Checks of records against the rules.

use arena_engine::{AnyGame, Checked, Described, Termination, forfeit_placement};
use sha2::{Digest, Sha256};

use super::{
    GameRecord, LineWriter, RecordHeader,
    adjudication::Policies,
    verify_error::{VerifyError, same},
    write::write_tail,
};
use crate::spec::GamePlay;

impl GameRecord {
    /// See [`RecordHeader::check`]; `has_luck` is true if the record has to state its luck.
    pub(super) fn check_luck(
        &self,
        game: &dyn AnyGame,
        has_luck: bool,
        policies: Policies,
    ) -> Result<(), VerifyError> {
        let own = self.own_game(game)?;
        let game = own.as_deref().unwrap_or(game);
        let keys = self.seed.chance_keys();
        let checked = game.check(&self.events, &keys, &mut |_| {})?;
        self.check_result(checked, game, has_luck, policies)
    }

    /// Compares the record with what its events lead to.
    fn check_result(
        &self,
        Checked { outcome, luck }: Checked,
        game: &dyn AnyGame,
        has_luck: bool,
        policies: Policies,
    ) -> Result<(), VerifyError> {
        self.check_no_adjudication()?;
        if self.termination == Termination::Void {
            return same("plies", &self.plies, &0);
        }
        same("plies", &self.plies, &outcome.plies)?;
        same("decisions", &self.decisions, &outcome.decisions)?;
        same("scores", &self.scores, &outcome.scores)?;
        if has_luck {
            same("luck", &self.luck, &luck)?;
        }
        self.check_block()?;
        self.check_faults(game, outcome.to_move, policies)?;
        if self.termination == Termination::Adjudication {
            return self.check_adjudication(game, &outcome, policies);
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
            let computed = computed.map_or("unfinished", Termination::name);
            let stated = self.termination.name();
            return Err(VerifyError::differs("termination", stated, computed));
        }
        same("placement", &self.placement, &outcome.placement)
    }

    /// A block has one game for each rotation of the seats, or one game only.
    fn check_block(&self) -> Result<(), VerifyError> {
        let blocks = [self.index / self.seats.len() as u64, self.index];
        if blocks.contains(&self.block) {
            return Ok(());
        }
        let computed = format!("{} or {}", blocks[0], blocks[1]);
        Err(VerifyError::differs("block", self.block, computed))
    }
}

/// Verifies the records of one tournament: what they share is computed once.
#[derive(Clone, Debug)]
pub struct RecordVerifier {
    lines: LineWriter,
    /// True if every record states its luck.
    has_luck: bool,
    policies: Policies,
}

impl RecordVerifier {
    /// A verifier of records with this header.
    ///
    /// # Errors
    /// [`VerifyError::Version`] if the rules are of another version.
    pub fn new(header: &RecordHeader, game: &dyn AnyGame) -> Result<Self, VerifyError> {
        header.check_version(game)?;
        Ok(Self {
            lines: LineWriter::new(header),
            has_luck: header.setup.is_some(),
            policies: header.policies(),
        })
    }

    /// Replays a packed record's events and checks result and hash. `line` is overwritten.
    ///
    /// # Errors
    /// [`VerifyError`] at the first contradiction.
    pub fn verify(
        &self,
        record: &GameRecord,
        game: &dyn AnyGame,
        line: &mut String,
    ) -> Result<(), VerifyError> {
        let own = record.own_game(game)?;
        let game = own.as_deref().unwrap_or(game);
        let checked = self.replay(record, game, line)?;
        write_tail(line, record, None);
        let hash: [u8; 32] = Sha256::digest(line.as_bytes()).into();
        if hash != record.hash {
            return Err(VerifyError::Hash {
                stated: hex::encode(record.hash),
                computed: hex::encode(hash),
            });
        }
        let has_luck = self.has_luck || !record.luck.is_empty();
        record.check_result(checked, game, has_luck, self.policies)
    }

    /// Replays the events of a record that has neither luck nor hash, checks its result, and adds
    /// its hash and, if `luck` is true, its luck. `line` is overwritten.
    ///
    /// # Errors
    /// [`VerifyError`] at the first contradiction.
    pub fn complete(
        &self,
        record: &mut GameRecord,
        game: &dyn AnyGame,
        luck: bool,
        line: &mut String,
    ) -> Result<(), VerifyError> {
        let own = record.own_game(game)?;
        let game = own.as_deref().unwrap_or(game);
        let mut checked = self.replay(record, game, line)?;
        record.luck = match luck && record.termination != Termination::Void {
            true => std::mem::take(&mut checked.luck),
            false => Vec::new(),
        };
        record.check_result(checked, game, false, self.policies)?;
        write_tail(line, record, None);
        record.hash = Sha256::digest(line.as_bytes()).into();
        Ok(())
    }

    /// Replays a record, and writes its line up to its events.
    fn replay(
        &self,
        record: &GameRecord,
        game: &dyn AnyGame,
        line: &mut String,
    ) -> Result<Checked, VerifyError> {
        line.clear();
        let keys = record.seed.chance_keys();
        let check = |visit: &mut dyn FnMut(Described<'_>)| game.check(&record.events, &keys, visit);
        Ok(self.lines.write_to_events(record, game, line, check)?)
    }
}

impl RecordHeader {
    /// Replays a packed record's events and checks result and hash.
    ///
    /// # Errors
    /// [`VerifyError`] at the first contradiction.
    pub fn verify(&self, record: &GameRecord, game: &dyn AnyGame) -> Result<(), VerifyError> {
        RecordVerifier::new(self, game)?.verify(record, game, &mut String::new())
    }

    /// Replays the events of a packed record: the rules have to allow them, the seed has to draw their
    /// dice, and result and luck have to follow from them. The hash is not checked.
    ///
    /// # Errors
    /// [`VerifyError`] at the first contradiction.
    pub fn check(&self, record: &GameRecord, game: &dyn AnyGame) -> Result<(), VerifyError> {
        record.check_luck(game, !record.luck.is_empty(), self.policies())
    }

    /// Checks that these are the rules of the header.
    pub(super) fn check_version(&self, game: &dyn AnyGame) -> Result<(), VerifyError> {
        if self.rules_version == game.version() {
            return Ok(());
        }
        Err(VerifyError::Version {
            ruleset: self.ruleset.clone(),
            stated: self.rules_version,
            known: game.version(),
        })
    }

    /// The settings of play; the default in records of version 1.
    pub(super) fn policies(&self) -> Policies {
        let play = self.setup.as_ref().map(|setup| setup.play.as_str());
        let play = play.and_then(|play| serde_json::from_str::<GamePlay>(play).ok());
        play.as_ref().map(Policies::from).unwrap_or_default()
    }
}
