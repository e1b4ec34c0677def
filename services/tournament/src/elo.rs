//! The Elo scale.

/// Elo points of one unit of log strength: 400 / ln 10.
pub const ELO: f64 = 400.0 / std::f64::consts::LN_10;
