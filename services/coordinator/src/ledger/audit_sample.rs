//! Which games of a tournament are audited.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The games of a tournament that are audited. They follow from a secret key, so the sample is
/// not stored, and a worker cannot know whether a game that it plays will be audited.
#[derive(Clone, Copy, Default)]
pub struct AuditSample {
    /// Key of this tournament.
    key: [u8; 32],
    /// Share of the games, in parts per million.
    pub(super) ppm: u32,
    /// Number of consecutive games that are drawn together, less one.
    together: u64,
}

/// A share in parts per million.
#[must_use]
pub fn ppm(share: f64) -> u32 {
    (share * 1e6) as u32
}

impl fmt::Debug for AuditSample {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key is a secret.
        write!(to, "AuditSample({} ppm)", self.ppm)
    }
}

impl AuditSample {
    /// The sample of a tournament; `secret` is the same in every start of the coordinator.
    ///
    /// # Panics
    /// Never: any length is a key.
    #[must_use]
    pub fn new(secret: &[u8; 32], tournament: &str, ppm: u32) -> Self {
        let mut code = Hmac::<Sha256>::new_from_slice(secret).expect("any length is a key");
        code.update(b"arena audit sample\0");
        code.update(tournament.as_bytes());
        let key = code.finalize().into_bytes().into();
        Self {
            key,
            ppm,
            together: 0,
        }
    }

    /// The same share of blocks of so many games.
    #[must_use]
    pub fn of_blocks(self, games: u64) -> Self {
        Self {
            together: games.saturating_sub(1),
            ..self
        }
    }

    /// True if a game is in the sample.
    pub(super) fn contains(&self, index: u64) -> bool {
        self.is_below(index, self.ppm)
    }

    /// True if a game is in the sample of another share. Larger samples contain the smaller ones.
    pub(super) fn is_below(&self, index: u64, ppm: u32) -> bool {
        if matches!(ppm, 0 | 1_000_000..) {
            return ppm > 0;
        }
        let digest = Sha256::new()
            .chain_update(self.key)
            .chain_update((index / (self.together + 1)).to_le_bytes())
            .finalize();
        let (words, _) = digest.as_chunks::<8>();
        u64::from_le_bytes(words[0]) % 1_000_000 < u64::from(ppm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(sample: &AuditSample) -> Vec<u64> {
        (0..40).filter(|&it| sample.contains(it)).collect()
    }

    #[test]
    fn audit_sample_is_pinned() {
        let sample = AuditSample::new(&[7; 32], "cup-1", 300_000);
        assert_eq!(games(&sample), [3, 4, 5, 7, 9, 12, 15, 31, 33, 36, 38]);
        assert_eq!(format!("{sample:?}"), "AuditSample(300000 ppm)");
    }

    #[test]
    fn audit_sample_needs_the_secret() {
        let sample = |secret, tournament| AuditSample::new(&[secret; 32], tournament, 500_000);
        let known = games(&sample(7, "cup-1"));
        assert_ne!(games(&sample(8, "cup-1")), known, "another secret");
        assert_ne!(games(&sample(7, "cup-2")), known, "another tournament");
    }

    #[test]
    fn blocks_are_drawn_as_a_whole() {
        let sample = AuditSample::new(&[7; 32], "cup-1", 300_000);
        let blocks = sample.of_blocks(3);
        let mut all = 0..120;
        assert!(all.all(|it| blocks.contains(it) == sample.contains(it / 3)));
    }

    #[test]
    fn audit_samples_are_nested() {
        let sample = |ppm| AuditSample::new(&[7; 32], "cup-1", ppm);
        let shares = [0, 10_000, 100_000, 1_000_000];
        for pair in shares.windows(2) {
            let (small, large) = (sample(pair[0]), sample(pair[1]));
            let mut games = 0..10_000;
            assert!(games.all(|it| !small.contains(it) || large.contains(it)));
        }
        let tenth = (0..10_000).filter(|&it| sample(100_000).contains(it));
        let tenth = tenth.count();
        assert!((900..1_100).contains(&tenth), "{tenth}");
        assert_eq!(games(&sample(0)), [0; 0]);
        assert_eq!(games(&sample(1_000_000)).len(), 40);
    }
}
