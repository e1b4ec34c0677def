//! Number of games in a pack.

use std::io;

use crate::{
    StoredGame,
    packing::compress::PackCompressor,
    packing::pack::{self, ENTRY_BYTES, Encoded, Tip},
};

/// Maximum games of a pack.
const PACK_GAMES_MAX: usize = 256;

/// Stored bytes at which a pack is closed. A leaf of the database holds up to 27 packs before it
/// splits. Together they stay below the size (512 KiB) from which sled moves a leaf to a file of
/// its own, and sled's cache, which keeps at least one leaf in each of its 256 shards, stays small.
pub(crate) const PACK_BYTES: usize = 16 << 10;

/// Maximum excess of a pack before it is packed again with fewer games.
const PACK_BYTES_OVER: usize = 1 << 10;

/// Maximum bytes of records in a pack before compression: reading one game means reading its pack.
const PACK_RAW_BYTES: usize = 64 << 10;

/// The whole of [`Packer::share`].
const WHOLE: usize = 1 << 10;

/// Cuts games into packs.
pub(crate) struct Packer {
    compressor: PackCompressor,
    /// Compression ratio of the last pack's bodies, in parts of [`WHOLE`]: the games of a store are
    /// similar.
    share: usize,
}

impl Packer {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            compressor: PackCompressor::new()?,
            share: WHOLE,
        })
    }

    /// Packs games from the front of `games`, which must not be empty. Returns their number.
    pub(crate) fn pack(&mut self, games: &[StoredGame], tip: &Tip) -> (usize, Encoded) {
        let mut count = self.fits(games);
        loop {
            let encoded = pack::encode(&games[..count], tip, &mut self.compressor);
            let raw: usize = games[..count].iter().map(pack::body).sum();
            self.share = (encoded.stored * WHOLE).div_ceil(raw.max(1)).min(WHOLE);
            if count == 1 || encoded.bytes.len() <= PACK_BYTES + PACK_BYTES_OVER {
                return (count, encoded);
            }
            count = self.fits(games).clamp(1, count - 1);
        }
    }

    /// Estimated number of games for a pack; at least one.
    fn fits(&self, games: &[StoredGame]) -> usize {
        let (mut raw, mut stored) = (0, 0);
        let fits = games.iter().take(PACK_GAMES_MAX).take_while(|game| {
            let body = pack::body(game);
            raw += body;
            stored += ENTRY_BYTES + body * self.share / WHOLE;
            raw <= PACK_RAW_BYTES && stored <= PACK_BYTES
        });
        fits.count().max(1)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn game(record: Vec<u8>) -> StoredGame {
        StoredGame {
            tournament: "cup".into(),
            index: 0,
            hash: [1; 32],
            record,
            side: Vec::new(),
        }
    }

    fn noise(seed: usize, count: usize) -> Vec<u8> {
        let mut state = seed as u64;
        let step = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..count).map(step).collect()
    }

    /// The number of games of each pack, and the size of the largest pack in bytes.
    fn packs(games: &[StoredGame]) -> (Vec<usize>, usize) {
        let (mut left, mut tip) = (games, Tip::default());
        let mut packer = Packer::new().unwrap();
        let (mut counts, mut largest) = (Vec::new(), 0);
        while !left.is_empty() {
            let (count, encoded) = packer.pack(left, &tip);
            counts.push(count);
            largest = largest.max(encoded.bytes.len());
            (left, tip) = (&left[count..], encoded.tip);
        }
        assert_eq!(tip.games as usize, games.len());
        (counts, largest)
    }

    #[test]
    fn packs_close_by_count_and_size() {
        let alike = |length: usize, count: usize| vec![game(vec![0; length]); count];
        assert_eq!(packs(&alike(10, 1_000)).0, [256, 256, 256, 232]);
        // If records compress to almost nothing, their raw size closes the pack.
        let (counts, _) = packs(&alike(PACK_RAW_BYTES / 3, 10));
        assert_eq!(counts, [1, 3, 3, 3]);
        let noisy: Vec<_> = (0..10)
            .map(|seed| game(noise(seed, PACK_BYTES / 3)))
            .collect();
        assert_eq!(packs(&noisy).0, [2; 5]);
        let (counts, _) = packs(&[game(noise(0, PACK_BYTES * 4)), game(vec![1])]);
        assert_eq!(counts, [1, 1]);
    }

    #[test]
    fn packs_fit_into_a_leaf() {
        // Records that compress well, then records that do not, then the first kind again.
        let games: Vec<StoredGame> = (0..3_000)
            .map(|seed| {
                let zeros = if seed / 1_000 == 1 { 0 } else { 250 };
                game([noise(seed, 300 - zeros), vec![0; zeros]].concat())
            })
            .collect();
        let (counts, largest) = packs(&games);
        assert!(largest <= PACK_BYTES + PACK_BYTES_OVER, "{largest} bytes");
        // The packs are nearly full, although the packer has to learn the ratio.
        let mean = games.len() / counts.len();
        assert!(mean > 60, "{mean} games a pack");
    }
}
