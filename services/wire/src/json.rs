//! Serializers of positions.

use serde::{Serialize, Serializer};

/// A value of an enumeration as a word; the number of an unknown value.
pub(crate) fn word<E: TryFrom<i32> + Serialize, S: Serializer>(
    value: &i32,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match E::try_from(*value) {
        Ok(value) => value.serialize(serializer),
        Err(_) => value.serialize(serializer),
    }
}
