//! Books that a spec names: the coordinator checks every opening, and replaces the list by its digest.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
};

use arena_model::{
    Tournament,
    engine::{
        AnyGame, BookOpening, BookProblem, Stream,
        options::{Options, Value},
    },
    spec::{Book, BookOrder},
};

use super::BookError;
use crate::{error::Error, rulesets::FoundRuleset};

fn wrong<T>(problem: impl ToString) -> Result<T, BookError> {
    Err(BookError::Given(problem.to_string()))
}

/// Checks a book, and replaces it by the digest of its openings. Returns their number.
pub(super) fn settle(
    book: &mut Book,
    game: &dyn AnyGame,
    stop: &AtomicBool,
) -> Result<u64, BookError> {
    let Book::Openings(openings) = &*book else {
        return wrong(
            "only a command of arena that gets the spec as a file reads the file of a book; for others, \
             write the openings as a list",
        );
    };
    let mut texts = Vec::with_capacity(openings.len());
    let mut known = HashMap::with_capacity(openings.len());
    for (opening, number) in openings.iter().zip(1_usize..) {
        if stop.load(Ordering::Relaxed) {
            return Err(BookError::Stopped);
        }
        let read = match game.read_opening(opening) {
            Ok(read) => read,
            Err(problem) => return wrong(format!("opening {number}: {problem}")),
        };
        if let Some(first) = known.insert(read.position, number) {
            return wrong(format!(
                "openings {first} and {number} lead to the same position: remove one of them"
            ));
        }
        texts.push(read.text);
    }
    *book = Book::digest(&texts);
    Ok(texts.len() as u64)
}

/// The openings of a book in the order of their numbers.
pub(super) fn book(
    tournament: &Tournament,
    given: &[String],
) -> Result<Vec<BookOpening>, BookError> {
    let game = arena_games::build(&tournament.ruleset, &tournament.options, tournament.seats)?;
    let read = given.iter().map(|text| game.read_opening(text));
    let read: Result<Vec<_>, BookProblem> = read.collect();
    let read = read.or_else(wrong)?;
    let mut openings: Vec<_> = read.into_iter().map(|read| read.opening).collect();
    if tournament.play.book_order == BookOrder::Random {
        let mut stream = Stream::new(&tournament.seed.openings());
        for last in (1..openings.len()).rev() {
            openings.swap(last, stream.below(last as u32 + 1) as usize);
        }
    }
    Ok(openings)
}

/// All options of the rules with their values, and the number of seats. If openings have start
/// positions, no start position is drawn.
pub(crate) fn resolve(
    rules: &FoundRuleset,
    given: &Options,
    seats: Option<usize>,
    book: Option<&Book>,
) -> Result<(Options, usize), Error> {
    let resolved = rules.resolve(given, seats)?;
    let Some(Book::Openings(openings)) = book else {
        return Ok(resolved);
    };
    let FoundRuleset::Listed(info) = rules else {
        let problem = "rulesets that are packages take no book, because the coordinator cannot check its \
                       openings: remove book from [play], and set opening_plies for drawn openings";
        return Err(BookError::Given(problem.to_owned()).into());
    };
    let start = |opening: &String| {
        let (start, _) = opening.trim_start().strip_prefix('[')?.split_once(']')?;
        Some(start.to_owned())
    };
    let first = openings.iter().find_map(start);
    let Some(first) = first else {
        return Ok(resolved);
    };
    let game = arena_games::build(info.name, &resolved.0, resolved.1)?;
    let Some(option) = game.start_option() else {
        let problem = format!("{} has no start positions as text", info.name);
        return Err(BookError::Given(problem).into());
    };
    if given.contains_key(option) {
        let problem = format!("it has start positions, as option {option}: remove one of them");
        return Err(BookError::Given(problem).into());
    }
    let mut started = given.clone();
    started.insert(option.to_owned(), Value::Text(first.clone()));
    if let Err(problem) = game.with_start(&first) {
        return Err(BookError::Given(format!("\"{first}\": {problem}")).into());
    }
    let (mut options, seats) = rules.resolve(&started, seats)?;
    if let Some(value) = resolved.0.get(option) {
        options.insert(option.to_owned(), value.clone());
    }
    Ok((options, seats))
}
