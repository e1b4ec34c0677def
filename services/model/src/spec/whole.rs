//! Whole numbers of a spec, with errors for people who do not know what a u64 is.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{Error, Unexpected, Visitor},
};

/// Parses a whole number that is not negative; other minimums are checked with the rest of the
/// spec.
///
/// # Errors
/// If it is something else, or does not fit its type.
pub fn whole<'de, const LEAST: u64, T: TryFrom<u64>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    from.deserialize_u64(Whole::<LEAST, T>(PhantomData))
}

/// The same for an optional key.
///
/// # Errors
/// As [`whole`].
pub fn some_whole<'de, const LEAST: u64, T: TryFrom<u64>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    whole::<LEAST, T, D>(from).map(Some)
}

struct Whole<const LEAST: u64, T>(PhantomData<T>);

impl<const LEAST: u64, T: TryFrom<u64>> Visitor<'_> for Whole<LEAST, T> {
    type Value = T;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "a whole number, at least {LEAST}")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        let number = u64::try_from(value).ok();
        let number = number.and_then(|value| T::try_from(value).ok());
        number.ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        T::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }
}

/// The same for a key that may also be `"auto"`, which is the default.
///
/// # Errors
/// As [`whole`].
pub(super) fn whole_or_auto<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    from.deserialize_any(WholeOrAuto)
}

struct WholeOrAuto;

impl Visitor<'_> for WholeOrAuto {
    type Value = Option<u32>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a whole number, at least 1, or \"auto\"")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Option<u32>, E> {
        match value {
            "auto" => Ok(None),
            _ => Err(E::invalid_value(Unexpected::Str(value), &self)),
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Option<u32>, E> {
        let number = u32::try_from(value).map(Some);
        number.map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Option<u32>, E> {
        let number = u32::try_from(value).map(Some);
        number.map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }
}
