//! Values of squares of Chinese Ludo, fitted by `agents/native/examples/fit`.
//!
//! `cargo run --release -p arena-agents --example fit -- 20000 LUDO` prints these numbers. They
//! maximise the likelihood of the winners in 20,000 games of `ludo-threat`, `move-first`, `greedy`
//! and `expectimax` (200 nodes) among each other, at the first roll of every turn: the log-odds are
//! the lead divided by the square root of the distance that both seats have left.

/// Value of a plane by its progress, with the hangar first. No plane stops where a jump leads on;
/// the entry there is that of the square before.
pub(super) const PLACES: [i32; 58] = [
    0, 3674, 3448, 3448, 3449, 3276, 3731, 3918, 3766, 3934, 3911, 3613, 3751, 3549, 3677, 3677,
    3471, 3660, 3937, 3937, 4053, 3967, 4448, 3805, 4178, 4188, 4469, 4735, 4469, 4792, 4992, 4762,
    4987, 4987, 5401, 5076, 5455, 5597, 5848, 5732, 6143, 6120, 6404, 6130, 6501, 6598, 6733, 6925,
    6853, 7076, 7195, 7428, 7566, 7627, 7574, 7712, 7531, 8425,
];
/// Value of the turn.
pub(super) const TURN: i32 = 360;
/// Value of another roll.
pub(super) const EXTRA: i32 = 557;
