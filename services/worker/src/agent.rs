//! Agents as the driver sees them: asked in batches or alone, answered or not.

pub(crate) mod connect;
