//! Replaces the file of an opening book in a spec by its openings.

use std::{path::Path, sync::Arc};

use arena_client::book::{self, BookSettings};
use arena_engine::{AnyGame, BookOpening, Stream, StreamOf, options::Options};
use arena_games::GamesError;
use arena_model::{
    BlockSeed,
    spec::{Book, BookOrder, Spec},
};
use arena_report::units::{count, plural};

use crate::{
    failure::{Failure, Outcome},
    output::note,
};

/// The spec with the openings of its book, if that is a file. `folder` is that of the spec, and
/// `seed` replaces the spec's seed.
pub(crate) fn include(
    folder: &Path,
    text: String,
    spec: Spec,
    seed: Option<&str>,
) -> Outcome<(String, Spec)> {
    let Some(Book::File(file)) = &spec.play.book else {
        return Ok((text, spec));
    };
    let seed = seed.map(str::parse).transpose().map_err(Failure::usage)?;
    let settings = BookSettings {
        plies: spec.play.book_plies,
        order: spec.play.book_order,
        seed: seed.or(spec.seed),
    };
    let remove = "remove book from [play]";
    let game = rules(&spec.ruleset, &spec.options, spec.seats, remove)?;
    let read = book::read(&folder.join(file), settings, &*game)?;
    let size = read.openings.len() as u64;
    if read.duplicates > 0 {
        note(format!(
            "book {file}: {} left out, because they lead to the position of an earlier one",
            plural(read.duplicates as u64, "opening")
        ));
    }
    if read.left_out > 0 {
        note(format!(
            "book {file}: {} of {} openings are used, because a spec has no room for more",
            count(size),
            count(size + read.left_out as u64)
        ));
    }
    if spec.blocks > size {
        note(format!(
            "book {file}: {} for up to {} blocks of a group: later blocks repeat openings",
            plural(size, "opening"),
            count(spec.blocks)
        ));
    }
    let mut table: toml::Table = text.parse().map_err(Failure::usage)?;
    if let Some(play) = table.get_mut("play").and_then(toml::Value::as_table_mut) {
        play.remove("book_plies");
        play.insert("book".to_owned(), read.openings.into());
    }
    let text = toml::to_string_pretty(&table).map_err(Failure::failed)?;
    let spec = Spec::parse(&text).map_err(Failure::usage)?;
    Ok((text, spec))
}

/// The rules that check a book. `remove` is what a user does who wants none.
pub(crate) fn rules(
    ruleset: &str,
    options: &Options,
    seats: Option<usize>,
    remove: &str,
) -> Outcome<Arc<dyn AnyGame>> {
    let resolved = arena_games::resolve(ruleset, options, seats);
    let (options, seats) = resolved.map_err(|error| match error {
        GamesError::Unknown { nearest, .. } => {
            let nearest = nearest.map(|it| format!("; did you mean \"{it}\"?"));
            Failure::usage(format!(
                "ruleset {ruleset} is not a part of this program, and books are for rulesets that are: EPD \
                 and PGN are formats for chess, and rulesets that are packages take no book: {remove}, or \
                 choose chess{}",
                nearest.unwrap_or_default()
            ))
        }
        error => Failure::usage(error),
    })?;
    arena_games::build(ruleset, &options, seats).map_err(Failure::usage)
}

/// An opening of a book, drawn with the seed of a game.
pub(crate) fn draw(
    file: &Path,
    plies: Option<u32>,
    seed: BlockSeed,
    game: &dyn AnyGame,
) -> Outcome<BookOpening> {
    let settings = BookSettings {
        plies,
        order: BookOrder::Sequential,
        seed: None,
    };
    let openings = book::read(file, settings, game)?.openings;
    let key = seed.chance_keys().key(StreamOf::Opening);
    let drawn = Stream::new(&key).below(openings.len() as u32);
    let read = game.read_opening(&openings[drawn as usize]);
    Ok(read.map_err(Failure::failed)?.opening)
}
