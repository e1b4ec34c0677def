//! Reads Standard Algebraic Notation as chess programs write it.

use arena_engine::ActionId;
use cozy_chess::{Board, File, Move, Piece, Rank, Square};

use super::Chess;

/// What is known of a move.
struct Wanted {
    piece: Piece,
    file: Option<File>,
    rank: Option<Rank>,
    to: Square,
    promotion: Option<Piece>,
}

impl Chess {
    /// The id of a legal move in SAN. Marks of check, of mate and of its quality may be missing or
    /// wrong, `x`, `=` and `-` may be missing, and squares may say more than needed. Castling is written
    /// with letters or zeros.
    pub(super) fn read_san(&self, board: &Board, text: &str) -> Option<ActionId> {
        let text = text.trim_end_matches(['+', '#', '!', '?']);
        let is_wanted: Box<dyn Fn(Move) -> bool> = match text {
            "O-O" | "0-0" | "O-O-O" | "0-0-0" => {
                let short = text.len() == 3;
                Box::new(move |step| {
                    let castles = board.colors(board.side_to_move()).has(step.to);
                    castles && (step.from.file() < step.to.file()) == short
                })
            }
            _ => {
                let wanted = Wanted::read(text)?;
                Box::new(move |step| wanted.is(board, step))
            }
        };
        let mut found = None;
        let mut several = false;
        board.generate_moves(|moves| {
            for step in moves.into_iter().filter(|&step| is_wanted(step)) {
                several |= found.replace(step).is_some();
            }
            several
        });
        found
            .filter(|_| !several)
            .map(|step| self.id_of(board, step))
    }
}

impl Wanted {
    fn read(text: &str) -> Option<Self> {
        let letter = |piece: char| match piece {
            'N' => Some(Piece::Knight),
            'B' => Some(Piece::Bishop),
            'R' => Some(Piece::Rook),
            'Q' => Some(Piece::Queen),
            _ => None,
        };
        let (piece, rest) = match text.chars().next()? {
            'K' => (Piece::King, &text[1..]),
            'P' => (Piece::Pawn, &text[1..]),
            first => match letter(first) {
                Some(piece) => (piece, &text[1..]),
                None => (Piece::Pawn, text),
            },
        };
        let promotion = rest.chars().next_back().and_then(letter);
        let rest = match promotion {
            Some(_) => rest[..rest.len() - 1].trim_end_matches('='),
            None => rest,
        };
        let place = rest.len().checked_sub(2)?;
        let (from, to) = rest.split_at_checked(place)?;
        let from = from.strip_suffix(['x', '-']).unwrap_or(from);
        let mut from = from.chars().peekable();
        let file = from.peek().and_then(|&file| File::try_from(file).ok());
        from.next_if(|_| file.is_some());
        let rank = from.peek().and_then(|&rank| Rank::try_from(rank).ok());
        from.next_if(|_| rank.is_some());
        if from.next().is_some() {
            return None;
        }
        let to: Square = to.parse().ok()?;
        // A capture by a pawn names its file.
        let file = file.or((piece == Piece::Pawn).then(|| to.file()));
        Some(Self {
            piece,
            file,
            rank,
            to,
            promotion,
        })
    }

    fn is(&self, board: &Board, step: Move) -> bool {
        let castles = board.colors(board.side_to_move()).has(step.to);
        !castles
            && step.to == self.to
            && step.promotion == self.promotion
            && board.piece_on(step.from) == Some(self.piece)
            && self.file.is_none_or(|file| step.from.file() == file)
            && self.rank.is_none_or(|rank| step.from.rank() == rank)
    }
}
