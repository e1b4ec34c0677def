//! Reads sled's log without sled: is anything damaged at a place that sled reads when it opens the
//! database?
//!
//! sled treats the first damaged message as the torn end of its log and overwrites everything after
//! it with zeros, even intact packs. That is right after a crash; after other damage, it destroys
//! what a repair could still find.
//!
//! The format is that of sled 0.34.7, `src/pagecache` there:
//!
//! ```text
//! segment:  u32 CRC of the next 16 bytes, inverted
//!           u64 log position, u64 stable log position, each xor 2^63 - 1
//!           messages
//! message:  u32 CRC of body and the rest of this header, inverted
//!           u8 kind   v body length   v segment   v page   (v: sled's varint)
//!           body
//! blob:     u32 CRC of the rest, u8 kind, content
//! ```

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use crc32fast::Hasher;

use crate::{files::existing, packing::bytes::Reader, sled::database::SEGMENT_BYTES};

const SEGMENT_HEADER_BYTES: usize = 20;
/// A shorter rest of a segment is not used.
const MESSAGE_HEADER_BYTES_MAX: usize = 32;
/// Positions in a segment's header are combined with this.
const MASK: u64 = i64::MAX as u64;

const KIND_NONE: u8 = 0;
const KIND_CAP: u8 = 2;
const KIND_BATCH: u8 = 3;
const KINDS_BLOB: [u8; 3] = [7, 9, 11];

/// True if sled reaches the end of everything that was written when it opens this database. If not,
/// there is the torn end of a crash, or damage.
pub(crate) fn is_whole(sled: &Path) -> io::Result<bool> {
    let Some(mut file) = existing(File::open(sled.join("db")))? else {
        return Ok(true);
    };
    // sled starts with the segment where its last snapshot ends.
    let first = snapshot(sled)?.unwrap_or(0) / SEGMENT_BYTES as u64 * SEGMENT_BYTES as u64;
    let mut segments = BTreeMap::new();
    let mut stable = first;
    let length = file.metadata()?.len();
    for offset in (0..length).step_by(SEGMENT_BYTES) {
        let header = read(&mut file, offset, SEGMENT_HEADER_BYTES)?;
        match segment(&header) {
            Some((position, stable_then)) if position >= first => {
                stable = stable.max(stable_then);
                if segments.insert(position, offset).is_some() {
                    return Ok(false);
                }
            }
            Some(_) => {}
            None if is_empty(&header) => {}
            None => return Ok(false),
        }
    }
    // Earlier segments may have been freed.
    let unstable = segments.range(stable / SEGMENT_BYTES as u64 * SEGMENT_BYTES as u64..);
    let mut next = None;
    for (&position, _) in unstable {
        if next.is_some_and(|next| next != position) {
            return Ok(false);
        }
        next = Some(position + SEGMENT_BYTES as u64);
    }
    let (mut end, mut batch) = (0, 0);
    let last = segments.last_key_value().map(|(&position, _)| position);
    for (position, offset) in segments {
        let bytes = read(&mut file, offset, SEGMENT_BYTES)?;
        let is_last = Some(position) == last;
        let Some(used) = messages(&bytes, position, is_last, sled, &mut batch)? else {
            return Ok(false);
        };
        end = position + used as u64;
    }
    // The last batch ends at its stated length.
    Ok(batch < end.max(1))
}

/// End of the newest snapshot, from its name.
fn snapshot(sled: &Path) -> io::Result<Option<u64>> {
    let mut newest = None;
    for entry in fs::read_dir(sled)? {
        let name = entry?.file_name();
        let position = name.to_str().and_then(|name| name.strip_prefix("snap."));
        newest = newest.max(position.and_then(|hex| u64::from_str_radix(hex, 16).ok()));
    }
    Ok(newest)
}

/// Position and stable position in a valid header of a segment.
fn segment(header: &[u8]) -> Option<(u64, u64)> {
    let mut reader = Reader::new(header);
    let sum = u32::from_le_bytes(reader.array()?);
    let positions = (reader.u64()? ^ MASK, reader.u64()? ^ MASK);
    let whole = sum == !crc(&[&header[4..]]) && positions.0.is_multiple_of(SEGMENT_BYTES as u64);
    whole.then_some(positions)
}

/// End of the messages of a segment; `None` if something else follows.
fn messages(
    bytes: &[u8],
    position: u64,
    is_last: bool,
    sled: &Path,
    batch: &mut u64,
) -> io::Result<Option<usize>> {
    let mut at = SEGMENT_HEADER_BYTES;
    while at < bytes.len() && at + MESSAGE_HEADER_BYTES_MAX <= SEGMENT_BYTES {
        let message = message(&bytes[at..]);
        let number = position / SEGMENT_BYTES as u64;
        let Some(message) = message.filter(|it| it.segment == number) else {
            return Ok((is_last && is_empty(&bytes[at..])).then_some(at));
        };
        at += message.length;
        let body = message.body.try_into().map(u64::from_le_bytes);
        match (message.kind, body) {
            (KIND_CAP, _) => break,
            (KIND_BATCH, Ok(last)) => *batch = last.max(*batch),
            (kind, Ok(blob))
                if KINDS_BLOB.contains(&kind)
                    && !is_blob_whole(&sled.join("blobs").join(blob.to_string()))? =>
            {
                return Ok(None);
            }
            _ => {}
        }
    }
    Ok(Some(at))
}

struct Message<'a> {
    kind: u8,
    segment: u64,
    body: &'a [u8],
    /// With its header.
    length: usize,
}

/// The valid message at this place, if there is one.
fn message(bytes: &[u8]) -> Option<Message<'_>> {
    let mut reader = Reader::new(bytes);
    let sum = u32::from_le_bytes(reader.array()?);
    let kind = reader.u8().filter(|&kind| kind != KIND_NONE)?;
    let length = usize::try_from(varint(&mut reader)?).ok()?;
    let segment = varint(&mut reader)?;
    varint(&mut reader)?;
    let header = bytes.len() - reader.left();
    let body = reader.take(length)?;
    (sum == !crc(&[body, &bytes[4..header]])).then_some(Message {
        kind,
        segment,
        body,
        length: header + length,
    })
}

fn varint(reader: &mut Reader<'_>) -> Option<u64> {
    let first = reader.u8()?;
    Some(match first {
        0..=240 => u64::from(first),
        241..=248 => 240 + 256 * u64::from(first - 241) + u64::from(reader.u8()?),
        249 => 2288 + 256 * u64::from(reader.u8()?) + u64::from(reader.u8()?),
        250.. => {
            let mut bytes = [0; 8];
            let count = usize::from(first - 247);
            bytes[..count].copy_from_slice(reader.take(count)?);
            u64::from_le_bytes(bytes)
        }
    })
}

/// A missing blob was replaced by a newer one.
fn is_blob_whole(path: &Path) -> io::Result<bool> {
    Ok(existing(fs::read(path))?.is_none_or(|bytes| {
        bytes
            .split_first_chunk()
            .is_some_and(|(sum, rest)| u32::from_le_bytes(*sum) == crc(&[rest]))
    }))
}

fn crc(parts: &[&[u8]]) -> u32 {
    let mut hasher = Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

fn is_empty(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// This many bytes of a file, or all up to its end.
fn read(file: &mut File, offset: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(count);
    file.seek(SeekFrom::Start(offset))?;
    file.take(count as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::{
        Collection, Store, suite::contract::games, suite::crash::open, suite::damage::filled,
    };

    fn sled(data: &Path) -> std::path::PathBuf {
        data.join("database-1/sled")
    }

    #[test]
    fn reopened_log_is_whole() {
        let folder = filled();
        let data = folder.path().join("data");
        assert!(is_whole(&sled(&data)).unwrap());
        for round in 0..3_u8 {
            let store = open(&data).unwrap();
            for part in 0..8 {
                let value = vec![part ^ round; 900_000];
                let key = format!("large-{part}");
                store.put(Collection::Meta, &key, &value).unwrap();
            }
            let first = 10_000 * u64::from(round);
            let more = games("other", first..first + 5_000);
            store.append_and_wait(more).unwrap();
            drop(store);
            assert!(is_whole(&sled(&data)).unwrap(), "round {round}");
        }
    }

    #[test]
    fn damaged_log_is_not_whole() {
        let folder = filled();
        let sled = sled(&folder.path().join("data"));
        let log = sled.join("db");
        let whole = fs::read(&log).unwrap();
        let used = whole.iter().rposition(|&byte| byte != 0).unwrap();
        for at in (0..used).step_by(used / 50) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(&log, bytes).unwrap();
            assert!(!is_whole(&sled).unwrap(), "byte {at}");
            fs::write(&log, &whole[..at]).unwrap();
            let (cut, whole_ones) = (is_whole(&sled).unwrap(), at == 0);
            assert_eq!(cut, whole_ones, "cut to {at}");
        }
    }
}
