//! Compression of packs, with limits in both directions: nothing is allocated for a length that no
//! pack has.

use std::{cell::RefCell, io};

use zstd::bulk::{Compressor, Decompressor};

use crate::VALUE_BYTES_MAX;

/// Higher levels save a tenth more, at half as much time again.
const LEVEL: i32 = 1;
/// Minimum saving of compression, as a part of the whole: one in eight. Below that, it is not worth
/// the time of reading.
const LEAST_SAVED: usize = 8;
/// Smaller inputs are not compressed.
const LEAST_BYTES: usize = 256;
/// Maximum input: a pack's bodies, or one large game.
pub(crate) const RAW_BYTES_MAX: usize = VALUE_BYTES_MAX;

/// Compresses if that saves enough.
pub(crate) struct PackCompressor(Compressor<'static>);

impl PackCompressor {
    pub(crate) fn new() -> io::Result<Self> {
        Compressor::new(LEVEL).map(Self)
    }

    /// The compressed bytes; none if compression does not pay.
    pub(crate) fn compress(&mut self, raw: &[u8]) -> Option<Vec<u8>> {
        if !(LEAST_BYTES..=RAW_BYTES_MAX).contains(&raw.len()) {
            return None;
        }
        let compressed = self.0.compress(raw).ok()?;
        (compressed.len() <= raw.len() - raw.len() / LEAST_SAVED).then_some(compressed)
    }
}

/// Length of the compressed part, if the bytes start with one.
pub(crate) fn compressed_length(bytes: &[u8]) -> Option<usize> {
    zstd::zstd_safe::find_frame_compressed_size(bytes).ok()
}

/// The inverse of [`PackCompressor::compress`]; none unless the result has exactly `length` bytes.
pub(crate) fn decompress(compressed: &[u8], length: usize) -> Option<Vec<u8>> {
    thread_local! {
        /// Creating one costs as much as using it several times.
        static CONTEXT: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    }
    if length > RAW_BYTES_MAX {
        return None;
    }
    CONTEXT.with_borrow_mut(|context| {
        let context = match context {
            Some(context) => context,
            None => context.insert(Decompressor::new().ok()?),
        };
        let raw = context.decompress(compressed, length).ok()?;
        (raw.len() == length).then_some(raw)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    /// Bytes that do not compress.
    fn noise(count: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let step = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        };
        (0..count).map(step).collect()
    }

    #[test]
    fn compression_round_trips() {
        let mut compressor = PackCompressor::new().unwrap();
        for length in [LEAST_BYTES, 5_000, RAW_BYTES_MAX] {
            let raw: Vec<u8> = (0..length).map(|place| (place % 7) as u8).collect();
            let compressed = compressor.compress(&raw).unwrap();
            assert!(compressed.len() < raw.len() / 4);
            assert_eq!(decompress(&compressed, length), Some(raw));
        }
    }

    #[test]
    fn small_gain_is_not_compressed() {
        let mut compressor = PackCompressor::new().unwrap();
        assert_eq!(compressor.compress(&noise(20_000)), None);
        assert_eq!(compressor.compress(&vec![0; LEAST_BYTES - 1]), None);
        assert_eq!(compressor.compress(&vec![0; RAW_BYTES_MAX + 1]), None);
        let saves = |zeros: usize| {
            let raw = [noise(16_000 - zeros), vec![0; zeros]].concat();
            PackCompressor::new().unwrap().compress(&raw).is_some()
        };
        assert!(!saves(1_800));
        assert!(saves(2_300));
    }

    #[test]
    fn wrong_length_is_refused_early() {
        let compressed = PackCompressor::new()
            .unwrap()
            .compress(&[0; 1_000])
            .unwrap();
        for wrong in [0, 999, 1_001, RAW_BYTES_MAX + 1, usize::MAX] {
            assert_eq!(decompress(&compressed, wrong), None, "{wrong}");
        }
        // A frame that claims a size above the limit.
        let bomb = zstd::bulk::compress(&vec![0; 64 << 20], LEVEL).unwrap();
        assert!(bomb.len() < 10_000);
        assert_eq!(decompress(&bomb, 64 << 20), None);
        assert_eq!(decompress(&bomb, RAW_BYTES_MAX), None);
        assert_eq!(decompress(b"no frame", 1_000), None);
        assert_eq!(decompress(&compressed, 1_000), Some(vec![0; 1_000]));
    }
}
