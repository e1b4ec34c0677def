//! Values of standings as data.

use std::collections::BTreeMap;

use arena_tournament::Estimate;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A value of a column, for JSON, CSV and Parquet.
pub(crate) enum Datum<'a> {
    Text(Option<&'a str>),
    Int(Option<i64>),
    Real(Option<f64>),
    Bool(bool),
    /// A number for each rank.
    Ranks(&'a [u64]),
    Kinds(&'a BTreeMap<String, u64>),
    /// An estimate with both intervals: keys that end with `_low`, `_high`, `_anytime_low`
    /// and `_anytime_high`.
    Both(Option<Estimate>),
    /// An estimate with its fixed-sample interval only.
    Fixed(Option<Estimate>),
}

/// The type of a column's non-null cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers.
    Int,
    /// Numbers with a fraction.
    Real,
    /// Text that repeats, such as names of agents.
    Text,
    /// Text that differs in each row.
    Key,
    /// `true` or `false`.
    Bool,
}

/// A key with its type and its value in JSON.
pub(crate) type Field = (String, ColumnType, Value);

impl Datum<'_> {
    /// The fields of this value.
    pub(crate) fn fields(&self, key: &str) -> Vec<Field> {
        use Datum::{Bool, Both, Fixed, Int, Kinds, Ranks, Real, Text};

        let (kind, value) = match self {
            Text(text) => (ColumnType::Text, json!(text)),
            Int(number) => (ColumnType::Int, json!(number)),
            Real(number) => (ColumnType::Real, json!(number)),
            Bool(is_true) => (ColumnType::Bool, json!(is_true)),
            Ranks(games) => (ColumnType::Int, json!(games)),
            Kinds(counts) => (ColumnType::Text, json!(counts)),
            Both(of) | Fixed(of) => (ColumnType::Real, json!(of.map(|of| of.value))),
        };
        let mut fields = vec![(key.to_owned(), kind, value)];
        let (Both(of) | Fixed(of)) = self else {
            return fields;
        };
        for (name, adaptive) in [("", false), ("_anytime", true)] {
            if adaptive && matches!(self, Fixed(_)) {
                break;
            }
            let ends = of.and_then(|of| of.interval(adaptive));
            let (low, high) = (ends.map(|ends| ends.low), ends.map(|ends| ends.high));
            fields.push((format!("{key}{name}_low"), kind, json!(low)));
            fields.push((format!("{key}{name}_high"), kind, json!(high)));
        }
        fields
    }
}

/// A count that fits every format.
pub(crate) fn count(count: u64) -> Datum<'static> {
    Datum::Int(i64::try_from(count).ok())
}

/// Reads a value from a message.
pub(crate) type Read<T> = for<'a> fn(&'a T) -> Datum<'a>;

/// An object of fields of a message, in this order.
macro_rules! object {
    ($message:expr => $($field:ident)*) => {
        Object(vec![$((stringify!($field).to_owned(), json!($message.$field))),*])
    };
}
pub(super) use object;

/// An object whose keys have the order of the contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Object(pub(super) Vec<(String, Value)>);

impl Object {
    /// The fields of values that are read from a message.
    pub(super) fn of<T>(columns: &[(&str, Read<T>)], message: &T) -> Self {
        let fields = columns
            .iter()
            .flat_map(|(key, read)| read(message).fields(key));
        Self::from_iter(fields)
    }
}

impl FromIterator<Field> for Object {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        let fields = fields.into_iter();
        Self(fields.map(|(key, _, value)| (key, value)).collect())
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
