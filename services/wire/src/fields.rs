//! Reads the fields of a message one by one, where building the message would be too slow.

use prost::{
    DecodeError,
    encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field},
};

/// Bytes that are not the expected message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The bytes are no protobuf.
    #[error(transparent)]
    Message(#[from] DecodeError),
    /// The bytes end within a field.
    #[error("the bytes end within a field")]
    Short,
    /// The field has another wire type.
    #[error("a field has the wrong type")]
    Type,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Numbers, booleans and enumerations.
    Number(u64),
    /// Bytes, texts, nested messages, packed numbers.
    Bytes(&'a [u8]),
    /// Of a type that no caller knows.
    Other,
}

impl<'a> Value<'a> {
    /// The number.
    ///
    /// # Errors
    /// [`FieldError::Type`].
    pub fn number(self) -> Result<u64, FieldError> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Bytes(_) | Self::Other => Err(FieldError::Type),
        }
    }

    /// The bytes.
    ///
    /// # Errors
    /// [`FieldError::Type`].
    pub fn bytes(self) -> Result<&'a [u8], FieldError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) | Self::Other => Err(FieldError::Type),
        }
    }

    /// Passes on each number of a repeated field, packed or not.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn numbers(self, mut visit: impl FnMut(u64)) -> Result<(), FieldError> {
        match self {
            Self::Number(number) => visit(number),
            Self::Bytes(mut packed) => {
                while !packed.is_empty() {
                    visit(varint(&mut packed)?);
                }
            }
            Self::Other => return Err(FieldError::Type),
        }
        Ok(())
    }
}

/// Iterates over the fields of an encoded message: field numbers and values.
#[derive(Clone, Debug)]
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// The fields of these bytes.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Bytes that were not read yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.0.len()
    }

    fn field(&mut self) -> Result<(u32, Value<'a>), FieldError> {
        let (tag, kind) = decode_key(&mut self.0)?;
        let value = match kind {
            WireType::Varint => Value::Number(varint(&mut self.0)?),
            WireType::LengthDelimited => {
                let length = varint(&mut self.0)?;
                let length = usize::try_from(length).map_err(|_| FieldError::Short)?;
                let (bytes, rest) = self.0.split_at_checked(length).ok_or(FieldError::Short)?;
                self.0 = rest;
                Value::Bytes(bytes)
            }
            other => {
                skip_field(other, tag, &mut self.0, DecodeContext::default())?;
                Value::Other
            }
        };
        Ok((tag, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), FieldError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.field())
    }
}

#[inline]
fn varint(bytes: &mut &[u8]) -> Result<u64, FieldError> {
    match **bytes {
        // Most numbers are small.
        [byte, ref rest @ ..] if byte < 0x80 => {
            *bytes = rest;
            Ok(byte.into())
        }
        _ => Ok(decode_varint(bytes)?),
    }
}
