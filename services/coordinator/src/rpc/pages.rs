//! Lists in pages.

use std::collections::BTreeSet;

use arena_store::{Store, StoredGame};
use arena_wire::v1;
use prost::Message;

use crate::{error::Error, info::Info, stored_game};

/// Default number of items of a page.
const PAGE_DEFAULT: usize = 256;
/// Maximum number of items of a page.
const PAGE_MAX: usize = 1024;
/// A page ends above this many bytes: most clients accept no message above 4 MiB.
const PAGE_BYTES: usize = 2 << 20;

/// Bytes of games that are read for a page of columns.
const COLUMNS_READ_MAX: usize = 16 << 20;

/// The size of a page.
pub(super) fn size(asked: u32) -> usize {
    match asked as usize {
        0 => PAGE_DEFAULT,
        asked => asked.min(PAGE_MAX),
    }
}

/// Number of these items that fit a page: at least one, and no more once it is large.
pub(super) fn fitting<T>(items: &[T], bytes: impl Fn(&T) -> usize) -> usize {
    let mut total = 0;
    let large = items.iter().position(|item| {
        total += bytes(item);
        total > PAGE_BYTES
    });
    large.map_or(items.len(), |place| place + 1)
}

/// The first page of a list, and whether more items follow. Those after it are not asked for, but for
/// one.
pub(super) fn first<T>(
    items: impl IntoIterator<Item = T>,
    page_size: u32,
    bytes: impl Fn(&T) -> usize,
) -> (Vec<T>, bool) {
    let (mut items, size) = (items.into_iter(), size(page_size));
    let (mut page, mut total) = (Vec::new(), 0);
    while page.len() < size && total <= PAGE_BYTES {
        let Some(item) = items.next() else {
            return (page, false);
        };
        total += bytes(&item);
        page.push(item);
    }
    (page, items.next().is_some())
}

/// A page of games, cut if it becomes large.
pub(super) fn of_games(
    mut games: Vec<StoredGame>,
    size: usize,
    request: &v1::ListGamesRequest,
    hidden: &BTreeSet<u64>,
) -> Result<v1::ListGamesResponse, Error> {
    let with_timing = request.with_timing;
    let found = games.len();
    games.truncate(fitting(&games, |game| {
        game.record.len() + if with_timing { game.side.len() } else { 0 }
    }));
    let more = games.len() < found || found == size;
    let next = games.last().filter(|_| more).map(|game| game.index + 1);
    let shown = games.iter().filter(|game| !hidden.contains(&game.index));
    let reports = shown.map(|game| {
        let report = with_timing.then(|| stored_game::read_side(game));
        Ok(v1::GameReport {
            record: Some(stored_game::read_message(game)?),
            ..report.unwrap_or_default()
        })
    });
    Ok(v1::ListGamesResponse {
        games: reports.collect::<Result<_, Error>>()?,
        next_page_token: next.map_or_else(String::new, |index| index.to_string()),
        columns: None,
    })
}

/// A page of columns of the games from an index on.
pub(super) fn of_columns(
    store: &dyn Store,
    info: &Info,
    from: u64,
    with_timing: bool,
    hide: impl Fn(&[StoredGame]) -> Result<BTreeSet<u64>, Error>,
) -> Result<v1::ListGamesResponse, Error> {
    let seats = info.setup.seats as usize;
    let mut columns = v1::GameColumns::default();
    let mut record = v1::GameRecord::default();
    let (mut next, mut read, mut more) = (from, 0, true);
    while more && read < COLUMNS_READ_MAX && columns.encoded_len() < PAGE_BYTES / 2 {
        let games = store.games(&info.key, next, PAGE_MAX)?;
        more = games.len() == PAGE_MAX;
        next = games.last().map_or(next, |game| game.index + 1);
        let hidden = hide(&games)?;
        for mut game in games {
            read += game.record.len() + game.side.len();
            if hidden.contains(&game.index) {
                continue;
            }
            stored_game::forget_events(&mut game);
            stored_game::read_into(&mut record, &game)?;
            columns.push(&record, seats);
            if with_timing {
                let timing = stored_game::read_side(&game).timing.unwrap_or_default();
                columns.timing.push(v1::GameTiming {
                    worker: timing.worker,
                    started_unix_us: timing.started_unix_us,
                    duration_us: timing.duration_us,
                    ..v1::GameTiming::default()
                });
            }
        }
    }
    Ok(v1::ListGamesResponse {
        columns: Some(columns),
        next_page_token: if more {
            next.to_string()
        } else {
            String::new()
        },
        ..v1::ListGamesResponse::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_no_gap_or_overlap() {
        for (page_size, bytes) in [(1, 0), (10, 0), (25, 0), (0, 0), (10, PAGE_BYTES)] {
            let all: Vec<usize> = (0..25).collect();
            let mut seen = Vec::new();
            loop {
                let mut asked = 0;
                let rest = all[seen.len()..].iter().copied().inspect(|_| asked += 1);
                let (page, more) = first(rest, page_size, |_| bytes);
                assert!(!page.is_empty());
                assert!(page.len() * bytes <= 2 * PAGE_BYTES);
                assert_eq!(asked, page.len() + usize::from(more));
                seen.extend(page);
                if !more {
                    break;
                }
            }
            assert_eq!(seen, all, "pages of {page_size}");
        }
    }
}
