//! Positions of chess in Forsyth-Edwards Notation.

use std::io::Write;

use cozy_chess::{
    Board, BoardBuilder, Color, FenParseError, File, Move, Piece, Rank, Square, get_pawn_attacks,
};

/// Reads a position. Underscores stand for spaces, and both clocks may be missing, as in EPD. In
/// Chess960, the letters of castling rights are files, or K and Q for the outermost rooks.
pub(super) fn read(text: &str, chess960: bool) -> Result<Board, String> {
    let mut fields: Vec<&str> = text
        .split(|sign: char| sign == '_' || sign.is_whitespace())
        .filter(|field| !field.is_empty())
        .collect();
    if fields.len() == 4 {
        fields.extend(["0", "1"]);
    }
    let castling;
    if chess960 && fields.len() == 6 {
        castling = files_of_rooks(&fields)?;
        fields[2] = &castling;
    }
    let board = Board::from_fen(&fields.join(" "), chess960);
    let mut board = board.map_err(reason)?;
    let king_moved = |color| {
        let rights = board.castle_rights(color);
        let castles = rights.short.is_some() || rights.long.is_some();
        castles && board.king(color).file() != File::E
    };
    if !chess960 && (king_moved(Color::White) || king_moved(Color::Black)) {
        return Err("the castling rights are those of Chess960".to_owned());
    }
    drop_idle_en_passant(&mut board);
    Ok(board)
}

/// The text of an error, without a capital and a full stop.
fn reason(error: FenParseError) -> String {
    let text = error.to_string();
    text[..1].to_lowercase() + text[1..].trim_end_matches('.')
}

/// The castling rights with the file of each rook.
fn files_of_rooks(fields: &[&str]) -> Result<String, String> {
    let mut plain = fields.to_vec();
    (plain[2], plain[3]) = ("-", "-");
    let board = Board::from_fen(&plain.join(" "), true).map_err(reason)?;
    let file = |right: char| {
        let color = match right.is_ascii_uppercase() {
            true => Color::White,
            false => Color::Black,
        };
        let rank = Rank::First.relative_to(color).bitboard();
        let rooks = board.colored_pieces(color, Piece::Rook) & rank;
        let king = board.king(color).file();
        let mut rooks = rooks.into_iter().map(Square::file);
        let rook = match right.to_ascii_lowercase() {
            'k' => rooks.filter(|&file| file > king).last(),
            'q' => rooks.find(|&file| file < king),
            _ => return right,
        };
        let Some(rook) = rook else { return right };
        match color {
            Color::White => char::from(rook).to_ascii_uppercase(),
            Color::Black => rook.into(),
        }
    };
    Ok(fields[2].chars().map(file).collect())
}

/// Removes the file for en passant unless a capture there is legal, so that equal positions are
/// equal.
#[inline]
pub(super) fn drop_idle_en_passant(board: &mut Board) {
    let Some(file) = board.en_passant() else {
        return;
    };
    let mover = board.side_to_move();
    let to = Square::new(file, Rank::Sixth.relative_to(mover));
    let pawns = get_pawn_attacks(to, !mover) & board.colored_pieces(mover, Piece::Pawn);
    let captures = |from| {
        board.is_legal(Move {
            from,
            to,
            promotion: None,
        })
    };
    if pawns.into_iter().any(captures) {
        return;
    }
    let mut builder = BoardBuilder::from_board(board);
    builder.en_passant = None;
    *board = builder.build().expect("a valid position stays valid");
}

/// Appends a position.
pub(super) fn write(board: &Board, chess960: bool, out: &mut Vec<u8>) {
    let written = match chess960 {
        true => write!(out, "{board:#}"),
        false => write!(out, "{board}"),
    };
    written.expect("a vector takes all bytes");
}

/// A position as text for other programs: in Chess960, the outermost rooks are K and Q.
pub(super) fn text_for_others(board: &Board, chess960: bool) -> String {
    let text = text(board, chess960);
    if !chess960 {
        return text;
    }
    let mut fields: Vec<&str> = text.split(' ').collect();
    let right = |letter: char| {
        let color = match letter.is_ascii_uppercase() {
            true => Color::White,
            false => Color::Black,
        };
        let Ok(file) = File::try_from(letter.to_ascii_lowercase()) else {
            return letter;
        };
        let rank = Rank::First.relative_to(color).bitboard();
        let rooks = board.colored_pieces(color, Piece::Rook) & rank;
        let short = file > board.king(color).file();
        let is_farther = |rook: Square| (rook.file() > file) == short && rook.file() != file;
        match (rooks.into_iter().any(is_farther), short, color) {
            (true, _, _) => letter,
            (_, true, Color::White) => 'K',
            (_, false, Color::White) => 'Q',
            (_, true, Color::Black) => 'k',
            (_, false, Color::Black) => 'q',
        }
    };
    let rights: String = fields[2].chars().map(right).collect();
    fields[2] = &rights;
    fields.join(" ")
}

/// A position as text.
pub(super) fn text(board: &Board, chess960: bool) -> String {
    match chess960 {
        true => format!("{board:#}"),
        false => board.to_string(),
    }
}
