//! Writing protobuf fields directly into a buffer, and buffers for parsed ones.
//!
//! Fields are as `prost` writes them: ascending, defaults left out, repeated numbers packed.

use prost::encoding::{WireType, encode_key, encode_varint};

/// Refuses a position with a reason unless the condition is true.
pub(crate) fn expect(holds: bool, reason: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(reason.to_owned())
    }
}

/// A number, unless it is 0.
pub(crate) fn number(tag: u32, value: u32, out: &mut Vec<u8>) {
    if value == 0 {
        return;
    }
    if tag < 16 && value < 128 {
        // Key and value take one byte each.
        out.extend_from_slice(&[(tag << 3) as u8, value as u8]);
    } else {
        encode_key(tag, WireType::Varint, out);
        encode_varint(u64::from(value), out);
    }
}

/// Bytes from several pieces, unless there are none.
pub(crate) fn bytes<'a>(
    tag: u32,
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
    out: &mut Vec<u8>,
) {
    let length: usize = pieces.clone().map(<[u8]>::len).sum();
    if length > 0 {
        encode_key(tag, WireType::LengthDelimited, out);
        encode_varint(length as u64, out);
        pieces.for_each(|piece| out.extend_from_slice(piece));
    }
}

/// Packed numbers, unless there are none.
pub(crate) fn numbers(tag: u32, values: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    let start = out.len();
    encode_key(tag, WireType::LengthDelimited, out);
    let body = reserve_length(out);
    values.for_each(|value| encode_varint(u64::from(value), out));
    if out.len() == body {
        out.truncate(start);
    } else {
        set_length(body, out);
    }
}

/// A nested message of fewer than 128 bytes.
pub(crate) fn message(tag: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    encode_key(tag, WireType::LengthDelimited, out);
    let body = reserve_length(out);
    write(out);
    set_length(body, out);
}

/// Reserves one byte for a length. Returns the start of the measured part.
fn reserve_length(out: &mut Vec<u8>) -> usize {
    out.push(0);
    out.len()
}

fn set_length(body: usize, out: &mut [u8]) {
    let length = out.len() - body;
    debug_assert!(length < 128, "length {length} needs more than a byte");
    out[body - 1] = length as u8;
}

/// The numbers of a repeated field that is always short.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Few<const N: usize> {
    kept: [u32; N],
    count: usize,
}

impl<const N: usize> Default for Few<N> {
    fn default() -> Self {
        Self {
            kept: [0; N],
            count: 0,
        }
    }
}

impl<const N: usize> Few<N> {
    /// Adds one; beyond `N` they are only counted.
    pub(crate) fn add(&mut self, number: u32) {
        if let Some(place) = self.kept.get_mut(self.count) {
            *place = number;
        }
        self.count += 1;
    }

    /// Number of added ones.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The stored ones.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, u32> {
        self.kept[..self.count.min(N)].iter()
    }
}
