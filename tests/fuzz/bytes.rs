//! Reads an input from its start.

/// The rest of an input.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    /// The next byte, if there is one.
    pub(crate) fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// The next byte, or 0 after the end, so that short inputs are meaningful.
    pub(crate) fn byte(&mut self) -> u8 {
        self.next().unwrap_or(0)
    }

    /// A number of 16 bits.
    pub(crate) fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// A number of 32 bits.
    pub(crate) fn word(&mut self) -> u32 {
        u32::from(self.short()) | u32::from(self.short()) << 16
    }
}
