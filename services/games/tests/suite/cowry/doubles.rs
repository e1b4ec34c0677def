//! Doubles: blocking, moving together, hitting.

use arena_engine::Node;

use super::Table;

/// A piece of Red one step before a double of Blue on Red's 5, which is Blue's 13.
fn facing(words: &str) -> Table {
    Table::new(&format!("preset=doubles {words}"), 2)
        .put(0, &[4, 0, 0, 0])
        .put(1, &[13, 13, 0, 0])
}

#[test]
fn own_pieces_share_squares() {
    let mut table = Table::new("variant=doubles", 2).put(0, &[2, 0, 0, 0]);
    table.throw(&[2]).play("2:p1");
    assert_eq!(table.pieces(0), [2, 2, 0, 0]);
}

#[test]
fn double_blocks_each_piece_once() {
    let mut table = facing("");
    assert_eq!(table.throw(&[2]).legal(), "2:p1 2:p1+ 2:p2 2:p3");
    table.play("2:p2");
    // The piece may pass from its owner's next turn on.
    table.throw(&[1]).play("1:p2");
    assert_eq!(table.throw(&[2]).legal(), "2:p0 2:p1 2:p1+ 2:p2 2:p3");
    table.play("2:p0");
    assert_eq!(table.pieces(0)[0], 6);
    assert_eq!(table.state.may_pass[0], 0, "moving uses the right up");
}

#[test]
fn blocked_piece_waits_through_the_whole_turn() {
    let mut table = facing("").put(0, &[4, 10, 10, 10]);
    table.throw(&[4, 2]).play("4:p1");
    assert!(!table.legal().contains("2:p0"));
}

#[test]
fn pass_right_is_lost_by_a_hit() {
    for (words, kept) in [("", 0), ("block_memory=forever", 1)] {
        let mut table = facing(words);
        table.throw(&[2]).play("2:p1");
        assert_eq!(table.state.may_pass[0], 1, "{words}");
        table.throw(&[1]).play("1:p3");
        table.throw(&[2]).play("2:p0");
        assert_eq!(table.pieces(0)[0], 6);
        assert_eq!(table.state.may_pass[0], kept, "{words}");
    }
    for (words, kept) in [("", 0), ("block_memory=forever", 1)] {
        // Red's 3 is Blue's 11.
        let mut table = facing(words)
            .put(0, &[3, 10, 0, 0])
            .put(1, &[13, 13, 10, 0]);
        table.throw(&[3]).play("3:p1");
        assert_eq!(table.state.may_pass[0], 1, "{words}");
        table.throw(&[1]).play("1:p2");
        assert_eq!(table.pieces(0)[0], 0, "{words}");
        assert_eq!(table.state.may_pass[0], kept, "{words}");
    }
}

#[test]
fn void_move_does_nothing_and_costs_the_turn() {
    let mut table = facing("block=void-turn");
    assert_eq!(table.throw(&[4, 2]).legal().split(' ').next(), Some("2:p0"));
    table.play("2:p0");
    assert_eq!(table.pieces(0), [4, 0, 0, 0]);
    assert_eq!(table.node(), Node::Chance(Some(1)), "the 4 is lost as well");
    table.throw(&[1]).play("1:p3");
    table.throw(&[2]).play("2:p0");
    assert_eq!(table.pieces(0), [6, 0, 0, 0]);
}

#[test]
fn single_cannot_land_on_double() {
    let mut table = facing("");
    assert!(!table.throw(&[1]).legal().contains("1:p0"));
    // Blue's 17 is Red's 21: two pieces there are no double.
    let mut table = Table::new("preset=doubles", 2)
        .put(0, &[20, 19, 0, 0])
        .put(1, &[17, 17, 0, 0])
        .open(0)
        .open(1);
    assert!(table.throw(&[3]).legal().contains("3:p1"), "passes");
    let mut table = Table::new("preset=doubles", 2)
        .put(0, &[20, 19, 0, 0])
        .put(1, &[17, 17, 0, 0])
        .open(0)
        .open(1);
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.pieces(1), [0, 0, 0, 0], "hits both");
}

#[test]
fn double_moves_together_on_outer_ring() {
    let two = |words: &str, from: u8| {
        Table::new(&format!("preset=doubles {words}"), 2)
            .put(0, &[24, from, 24, from])
            .open(0)
    };
    let mut table = two("", 3);
    assert_eq!(table.throw(&[2]).legal(), "2:p1 2:p1+ 2:p3");
    table.play("2:p1+");
    assert_eq!(table.pieces(0), [24, 5, 24, 5]);
    assert_eq!(table.node(), Node::Chance(Some(1)), "one value is used");
    assert_eq!(
        two("", 14).throw(&[2]).legal(),
        "2:p1 2:p3",
        "would leave it"
    );
    assert_eq!(two("", 17).throw(&[2]).legal(), "2:p1 2:p3", "inside");
    assert_eq!(two("double_move=none", 3).throw(&[2]).legal(), "2:p1 2:p3");
}

#[test]
fn half_moves_take_even_values() {
    let half = || Table::new("preset=doubles double_move=half", 2).put(0, &[3, 3, 24, 24]);
    assert_eq!(half().throw(&[3]).legal(), "3:p0 3:p1");
    let mut table = half();
    assert_eq!(table.throw(&[8, 1]).legal(), "1:p0 1:p1 8:p0 8:p0+ 8:p1");
    table.play("8:p0+");
    assert_eq!(table.pieces(0), [7, 7, 24, 24]);
}

#[test]
fn moving_double_hits() {
    let mut table = facing("").put(0, &[3, 3, 0, 0]).put(1, &[13, 0, 0, 0]);
    table.throw(&[2]).play("2:p0+");
    assert_eq!(table.pieces(1), [0, 0, 0, 0]);
    for (words, legal) in [("", true), ("double_hits_double=false", false)] {
        let mut table = facing(words).put(0, &[3, 3, 24, 24]);
        let expected = if legal { "2:p0+" } else { "pass" };
        assert_eq!(table.throw(&[2]).legal(), expected, "{words}");
        table.play(expected);
        assert_eq!(table.pieces(1)[0] == 0, legal, "{words}");
    }
}

#[test]
fn doubles_on_safe_squares_block_only_if_asked() {
    // Blue's 12 is Red's 4, the East start.
    for (words, blocked) in [("", false), ("block_on_safe=true", true)] {
        let mut table = facing(words)
            .put(0, &[3, 24, 24, 24])
            .put(1, &[12, 12, 0, 0])
            .open(0);
        let expected = if blocked { "pass" } else { "2:p0" };
        assert_eq!(table.throw(&[2]).legal(), expected, "{words}");
        // Landing beside them is always free.
        let mut table = facing(words)
            .put(0, &[3, 24, 24, 24])
            .put(1, &[12, 12, 0, 0])
            .open(0);
        assert_eq!(table.throw(&[1]).legal(), "1:p0", "{words}");
    }
}

#[test]
fn moving_double_needs_both_rights() {
    let mut table = facing("").put(0, &[4, 4, 24, 24]).open(0);
    assert_eq!(table.throw(&[2]).legal(), "pass");
    table.play("pass");
    assert_eq!(table.state.may_pass[0], 0b11);
    table.throw(&[1]).play("1:p3");
    assert_eq!(table.throw(&[2]).legal(), "2:p0 2:p0+ 2:p1");
    table.state.may_pass[0] = 0b01;
    assert_eq!(table.legal(), "2:p0");
}

#[test]
fn own_pieces_share_safe_squares_only() {
    let mut table = Table::new("", 2).put(0, &[3, 2, 0, 0]);
    assert_eq!(table.throw(&[1]).legal(), "1:p0 1:p2 1:p3");
}
