//! A game as Arena announces it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A game, with the options of its bot.
#[derive(Debug, Deserialize)]
pub(crate) struct Game {
    pub(crate) context: u32,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) bot_options: BTreeMap<String, String>,
    pub(crate) nodes: String,
}
