// The least of the legal moves.
exports.pick = (moves) => Math.min(...moves);
