//! Packs of games, whatever database keeps them: their format, compression and chain.

pub(crate) mod bytes;
pub(crate) mod compress;
pub(crate) mod index;
pub(crate) mod pack;
pub(crate) mod packer;
pub(crate) mod parity;
