//! Who owns the store of a database.

use std::sync::Arc;

use crate::{Holder, Store};

/// The result of [`Standby::own`](crate::Standby::own).
pub enum Ownership<Standby> {
    /// This process owns the store.
    Ours(Arc<dyn Store>),
    /// Another process owns it.
    Theirs(Box<Standby>, Holder),
}
