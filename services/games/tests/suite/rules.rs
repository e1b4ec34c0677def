//! What an event may change, ruleset by ruleset, seen through the messages, so
//! that it does not lean on the rules that it checks.

use arena_engine::{Described, Game, options::Value};
use arena_wire::games::{
    ChessPhase, ChessPosition, ChineseLudoPhase, ChineseLudoPosition, CowryPosition, KalahPosition,
    OwareAbapaPosition, OwareAnanAnanPosition,
};
use prost::Message;

use crate::cases::Case;

/// Checks what an event does to a position.
pub(crate) fn check_event<G: Game>(
    game: &G,
    case: &Case,
    state: &G::State,
    described: Described<'_>,
) {
    let mut after = state.clone();
    if described.event.is_action() {
        game.apply(&mut after, described.event.id());
    } else {
        game.apply_outcome(&mut after, described.event.id());
    }
    let encode = |state: &G::State| {
        let mut bytes = Vec::new();
        game.encode(state, true, &mut bytes);
        bytes
    };
    let (before, after) = (encode(state), encode(&after));
    match game.name() {
        "chess" => chess(
            case,
            &ChessPosition::decode(&before[..]).expect("a message"),
            &ChessPosition::decode(&after[..]).expect("a message"),
            described,
        ),
        "chinese-ludo" => ludo(
            case,
            &ChineseLudoPosition::decode(&before[..]).expect("a message"),
            &ChineseLudoPosition::decode(&after[..]).expect("a message"),
            described,
        ),
        "cowry" => cowry(
            case,
            &CowryPosition::decode(&before[..]).expect("a message"),
            &CowryPosition::decode(&after[..]).expect("a message"),
            described,
        ),
        "kalah" => kalah(
            &KalahPosition::decode(&before[..]).expect("a message"),
            &KalahPosition::decode(&after[..]).expect("a message"),
            described,
        ),
        "oware-abapa" => abapa(
            case,
            &OwareAbapaPosition::decode(&before[..]).expect("a message"),
            &OwareAbapaPosition::decode(&after[..]).expect("a message"),
            described,
        ),
        "oware-anan-anan" => anan_anan(
            case,
            &OwareAnanAnanPosition::decode(&before[..]).expect("a message"),
            &OwareAnanAnanPosition::decode(&after[..]).expect("a message"),
            described,
        ),
        other => panic!("add here what an event of {other} may change"),
    }
}

/// The squares of a position in FEN, from a1, with spaces for empty ones.
fn squares(fen: &str) -> Vec<char> {
    let ranks = fen.split(' ').next().unwrap_or_default().rsplit('/');
    let pieces = ranks.flat_map(str::chars);
    let square = |sign: char| match sign.to_digit(10) {
        Some(empty) => vec![' '; empty as usize],
        None => vec![sign],
    };
    pieces.flat_map(square).collect()
}

fn chess(case: &Case, before: &ChessPosition, after: &ChessPosition, event: Described<'_>) {
    let label = &case.label;
    let squares_after = squares(&after.fen);
    assert_eq!(squares_after.len(), 64, "{label}: {}", after.fen);
    if !event.event.is_action() {
        assert_eq!((before.phase(), after.plies), (ChessPhase::Start, 0));
        assert_eq!(after.base_fen, after.fen, "{label}");
        return;
    }
    let id = u32::from(event.event.id());
    let played = before.moves.iter().find(|step| step.id == id);
    let played = played.unwrap_or_else(|| panic!("{label}: {id} is listed"));
    assert_eq!(played.san, event.name, "{label}");
    assert_eq!(before.plies + 1, after.plies, "{label}");
    assert_eq!(before.to_move, 1 - after.to_move, "{label}");
    let squares_before = squares(&before.fen);
    let (from, to) = ((id % 64) as usize, (id / 64 % 64) as usize);
    let castles = played.san.starts_with('O');
    let captures = played.san.contains('x');
    let count = |squares: &[char]| squares.iter().filter(|&&piece| piece != ' ').count();
    let lost = count(&squares_before) - count(&squares_after);
    assert_eq!(lost, usize::from(captures), "{label}: {played:?}");
    let changed = (0..64).filter(|&at| squares_before[at] != squares_after[at]);
    if !castles {
        let piece = squares_before[from];
        let white = piece.is_ascii_uppercase();
        let becomes = match played.uci.chars().nth(4) {
            Some(promoted) if white => promoted.to_ascii_uppercase(),
            Some(promoted) => promoted,
            None => piece,
        };
        assert_eq!(white, before.to_move == 0, "{label}: the mover's piece");
        assert_eq!(squares_after[from], ' ', "{label}: {played:?}");
        assert_eq!(squares_after[to], becomes, "{label}: {played:?}");
        // A pawn captured en passant stood on a third square.
        let en_passant = captures && squares_before[to] == ' ';
        assert_eq!(changed.count(), 2 + usize::from(en_passant), "{label}");
    } else {
        let rank = from / 8;
        assert!(changed.into_iter().all(|at| at / 8 == rank), "{label}");
    }
    let pawn = squares_before[from].eq_ignore_ascii_case(&'p');
    if captures || pawn {
        assert_eq!((&after.base_fen, after.played.len()), (&after.fen, 0));
    } else {
        assert_eq!(after.base_fen, before.base_fen, "{label}");
        let history = [&before.played[..], std::slice::from_ref(&played.uci)].concat();
        assert_eq!(after.played, history, "{label}");
    }
    let mates = played.san.ends_with('#');
    assert_eq!(mates, after.phase() == ChessPhase::Checkmate, "{label}");
    assert_eq!(
        after.moves.is_empty(),
        after.phase() != ChessPhase::Move,
        "{label}"
    );
}

fn cowry(case: &Case, before: &CowryPosition, after: &CowryPosition, event: Described<'_>) {
    let label = &case.label;
    let pieces = before.pieces.len() / before.seats as usize;
    assert_eq!(
        before.pieces.len(),
        after.pieces.len(),
        "{label}: conserved"
    );
    if !event.event.is_action() {
        assert_eq!(
            before.pieces, after.pieces,
            "{label}: a throw moves nothing"
        );
        assert!(after.throws - before.throws <= 1, "{label}");
        return;
    }
    assert_eq!(
        before.throws, after.throws,
        "{label}: an action is no throw"
    );
    let id = u32::from(event.event.id());
    let played = before.moves.iter().find(|step| step.id == id);
    let played = played.unwrap_or_else(|| panic!("{label}: {id} is listed"));
    let (mut moved, mut sent_back) = (0, 0);
    for (index, (&from, &to)) in before.pieces.iter().zip(&after.pieces).enumerate() {
        if from == to {
            continue;
        }
        if index / pieces == before.to_move as usize {
            assert_eq!(u32::from(from), played.from, "{label}");
            assert_eq!(u32::from(to), played.to, "{label}");
            moved += 1;
        } else {
            assert_eq!(to, 0, "{label}: others only go back");
            sent_back += 1;
        }
    }
    // A double that blocks may make a chosen move void.
    let void = played.from == played.to && case.options["block"] == Value::from("void-turn");
    let expected = u32::from(played.value > 0) + u32::from(played.together);
    assert_eq!(
        moved,
        if void { 0 } else { expected },
        "{label}: {played:?}"
    );
    assert_eq!(sent_back, played.hits, "{label}: {played:?}");
    if sent_back > 0 {
        assert_eq!(
            after.hit_mask,
            before.hit_mask | 1 << before.to_move,
            "{label}"
        );
    }
    assert!(
        before.hit_mask & !after.hit_mask == 0,
        "{label}: an open gate stays open"
    );
}

fn kalah(before: &KalahPosition, after: &KalahPosition, event: Described<'_>) {
    let total = |position: &KalahPosition| position.board.iter().sum::<u32>();
    assert_eq!(total(before), total(after), "stones are conserved");
    assert_eq!(before.plies + 1, after.plies);
    let id = u32::from(event.event.id());
    let played = before.moves.iter().find(|sowing| sowing.id == id);
    let played = played.expect("a listed move");
    let store = |position: &KalahPosition, seat: u32| {
        let pits = position.pits as usize;
        position.board[seat as usize * (pits + 1) + pits]
    };
    let mover = before.to_move;
    let over = after.moves.is_empty();
    let gain = store(after, mover) - store(before, mover);
    // The sweep at the end banks more than the sowing.
    assert!(gain == played.banked || over && gain >= played.banked);
    assert!(store(after, 1 - mover) >= store(before, 1 - mover));
    assert!(over || (after.to_move == mover) == played.moves_again);
}

fn seeds(pits: &[u32], score: &[u32]) -> u32 {
    pits.iter().chain(score).sum()
}

fn abapa(
    case: &Case,
    before: &OwareAbapaPosition,
    after: &OwareAbapaPosition,
    event: Described<'_>,
) {
    let label = &case.label;
    assert_eq!(seeds(&after.pits, &after.score), 48, "{label}: conserved");
    if !event.event.is_action() {
        assert_eq!(before.pits, after.pits, "{label}: a draw sows nothing");
        return;
    }
    assert_eq!(before.plies + 1, after.plies, "{label}");
    let id = u32::from(event.event.id());
    let played = before.moves.iter().find(|sown| sown.id == id);
    let played = played.unwrap_or_else(|| panic!("{label}: {id} is listed"));
    let mover = before.to_move as usize;
    let gains = [0, 1].map(|seat| after.score[seat] - before.score[seat]);
    let over = after.moves.is_empty();
    // The sweep at the end banks more than the sowing.
    for (gain, reported) in [
        (gains[mover], played.captured),
        (gains[1 - mover], played.given),
    ] {
        assert!(
            gain == reported || over && gain >= reported,
            "{label}: {played:?}"
        );
    }
    let captures = played.captured + played.given > 0;
    assert_eq!(after.since_capture == 0, captures, "{label}");
    let seen = if over || captures || before.seen.is_empty() && after.seen.is_empty() {
        Vec::new()
    } else {
        [&before.seen[..], &before.pits[..]].concat()
    };
    assert_eq!(
        after.seen, seen,
        "{label}: the past grows by the board played on"
    );
    let remembers = case.options["repetition"] == Value::from("first");
    assert_eq!(!seen.is_empty(), remembers && !over && !captures, "{label}");
    if over {
        return;
    }
    assert_eq!(after.to_move as usize, 1 - mover, "{label}");
    for offset in 0..6 {
        let pit = 6 * mover + offset;
        assert!(
            offset as u32 == played.pit || after.pits[pit] >= before.pits[pit],
            "{label}: nothing is captured on the own row"
        );
    }
    let caught = played.captured > 0;
    let fell_on_own = played.last as usize / 6 == mover;
    assert!(!(caught && fell_on_own), "{label}: {played:?}");
}

fn anan_anan(
    case: &Case,
    before: &OwareAnanAnanPosition,
    after: &OwareAnanAnanPosition,
    event: Described<'_>,
) {
    let label = &case.label;
    assert_eq!(seeds(&after.pits, &after.score), 48, "{label}: conserved");
    if !event.event.is_action() {
        assert_eq!(before.pits, after.pits, "{label}: a draw sows nothing");
        return;
    }
    assert_eq!(before.plies + 1, after.plies, "{label}");
    let id = u32::from(event.event.id());
    let played = before.moves.iter().find(|sown| sown.id == id);
    let played = played.unwrap_or_else(|| panic!("{label}: {id} is listed"));
    let mover = before.to_move as usize;
    let gains = [0, 1].map(|seat| after.score[seat] - before.score[seat]);
    let over = after.moves.is_empty();
    for (gain, reported) in [
        (gains[mover], played.banked),
        (gains[1 - mover], played.given),
    ] {
        assert_eq!(reported % 4, 0, "{label}: fours are banked");
        // The last eight are no part of the sowing.
        assert!(
            gain == reported || over && gain > reported,
            "{label}: {played:?}"
        );
    }
    let passes = played.pit == 6;
    assert_eq!(passes, played.lifts == 0, "{label}: {played:?}");
    assert!(!passes || before.pits == after.pits, "{label}");
    let banks = played.banked + played.given > 0;
    assert_eq!(after.since_capture == 0, banks, "{label}");
    if !over {
        assert_eq!(after.passed, passes, "{label}");
        assert_eq!(after.to_move as usize, 1 - mover, "{label}");
    }
}

/// The number of a ring square, 1 to 52, for a piece of any seat.
fn ring_square(seat: usize, progress: i32) -> Option<i32> {
    let clockwise = |shift| (progress - 1 + shift) % 52 + 1;
    (1..=50)
        .contains(&progress)
        .then(|| clockwise(if seat == 0 { 0 } else { 26 }))
}

fn ludo(
    case: &Case,
    before: &ChineseLudoPosition,
    after: &ChineseLudoPosition,
    event: Described<'_>,
) {
    let label = &case.label;
    let is = |name: &str, word: &str| case.options[name] == Value::from(word);
    assert!(
        after.planes.iter().all(|plane| (-1..=56).contains(plane)),
        "{label}: bounds"
    );
    let squares = |seat: usize| -> Vec<i32> {
        let planes = after.planes[4 * seat..4 * seat + 4].iter();
        planes
            .filter_map(|&plane| ring_square(seat, plane))
            .collect()
    };
    assert!(
        squares(0).iter().all(|mine| !squares(1).contains(mine)),
        "{label}: one owner of a square"
    );
    if !event.event.is_action() {
        assert_eq!(before.planes, after.planes, "{label}: a roll moves nothing");
        let rolled = u32::from(before.phase() == ChineseLudoPhase::Roll);
        assert_eq!(after.rolls - before.rolls, rolled, "{label}");
        return;
    }
    assert_eq!(before.rolls, after.rolls, "{label}: an action is no roll");
    let mover = before.to_move as usize;
    let third_six = before.sixes == 3;
    if matches!(
        after.phase(),
        ChineseLudoPhase::Roll | ChineseLudoPhase::Cap
    ) {
        let again = before.die == 6 && !third_six;
        let expected = if again { mover } else { 1 - mover };
        assert_eq!(after.to_move as usize, expected, "{label}");
    }
    let id = u32::from(event.event.id());
    let played = before.moves.iter().find(|step| step.id == id);
    let played = played.unwrap_or_else(|| panic!("{label}: {id} is listed"));
    let (mut moved, mut sent_back, mut lost) = (0, 0, 0);
    for (index, (&from, &to)) in before.planes.iter().zip(&after.planes).enumerate() {
        if from == to {
            continue;
        }
        if index / 4 != mover {
            assert_eq!(to, -1, "{label}: others only go back to the hangar");
            assert!((1..=50).contains(&from), "{label}: from the ring alone");
            sent_back += 1;
            lost += from as u32;
        } else if id == 4 {
            assert!(third_six && is("three_sixes", "hangar"), "{label}");
            assert_eq!(to, -1, "{label}: a third six costs all that are out");
        } else {
            assert_eq!(index % 4, played.plane as usize, "{label}");
            assert_eq!((from, to), (played.from, played.to), "{label}");
            assert!(to > from || is("finish", "bounce"), "{label}: forwards");
            assert!(
                to - from <= 26,
                "{label}: no further than a six and a flight"
            );
            moved += 1;
        }
    }
    // Flying back can end where it began.
    let stays = id == 4 || played.from == played.to && is("finish", "bounce");
    assert_eq!(moved, u32::from(!stays), "{label}: {played:?}");
    assert_eq!((sent_back, lost), (played.hits, played.lost), "{label}");
}
