//! Positions as JSON: the fields of their messages, with phases as words.

use prost::{DecodeError, Message};
use serde::{Serialize, Serializer};

use crate::games::*;

/// Makes the list of rulesets, which the build script writes.
macro_rules! positions {
    ($($ruleset:literal => $name:ident($type:ident),)*) => {
        /// A position of any ruleset.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        #[expect(missing_docs, reason = "named like the rulesets")]
        pub enum Position {
            $($name($type),)*
        }

        impl Position {
            /// Decodes the position of a ruleset; none if there is no such ruleset.
            ///
            /// # Errors
            /// If the bytes are not its message.
            pub fn decode(ruleset: &str, bytes: &[u8]) -> Option<Result<Self, DecodeError>> {
                Some(match ruleset {
                    $($ruleset => $type::decode(bytes).map(Self::$name),)*
                    _ => return None,
                })
            }
        }

        /// The schema of each ruleset's positions.
        #[cfg(feature = "schema")]
        pub fn schemas(
            generator: &mut schemars::SchemaGenerator,
        ) -> Vec<(&'static str, schemars::Schema)> {
            vec![$(($ruleset, generator.subschema_for::<$type>()),)*]
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/positions.rs"));

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
