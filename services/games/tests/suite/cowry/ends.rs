//! Finishing, ranking, deadlock, caps, starters.

use arena_engine::{Ending, Game, Node};

use super::Table;
use crate::support::{game, play_at_random, setup};

/// Red is one step from finishing; the others are not.
fn almost(words: &str, seats: usize) -> Table {
    let table = Table::new(words, seats).put(0, &[23, 24, 24, 24]).open(0);
    (1..seats).fold(table, |table, seat| table.put(seat, &[seat as u8]))
}

#[test]
fn first_to_finish_wins() {
    for (words, expected) in [("", [1, 4, 3, 2]), ("rank_rest=tie", [1, 2, 2, 2])] {
        let mut table = almost(words, 4);
        table.throw(&[1]).play("1:p0");
        assert_eq!(table.node(), Node::Over(Ending::Normal));
        assert_eq!(table.placement(), expected, "{words}");
        assert_eq!(table.game.scores(&table.state)[..4], [96, 1, 2, 3]);
    }
}

#[test]
fn ranking_continues_until_one_is_left() {
    let mut table = almost("end=ranking", 3).put(2, &[23, 24, 24, 24]).open(2);
    table.throw(&[4, 1]).play("1:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)), "the 4 is lost");
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Chance(Some(2)));
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Over(Ending::Normal));
    assert_eq!(table.placement(), [1, 3, 2]);
}

#[test]
fn finished_seats_are_skipped() {
    let mut table = almost("end=all", 3);
    table.throw(&[1]).play("1:p0");
    table.throw(&[1]).play("1:p0");
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)));
}

#[test]
fn end_all_continues_to_the_last_piece() {
    let mut table = almost("end=all", 2).put(1, &[22, 24, 24, 24]).open(1);
    table.throw(&[1]).play("1:p0");
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)));
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Over(Ending::Normal));
    assert_eq!(table.placement(), [1, 2]);
}

/// No seat has hit, and all but one piece are at the end of the outer ring. After Red's next
/// step, no piece can move.
fn stuck(words: &str) -> Table {
    Table::new(&format!("pieces=1 {words}"), 2)
        .put(0, &[14])
        .put(1, &[15])
}

#[test]
fn deadlock_ends_as_the_options_say() {
    // Progress gives a draw, too: both seats are at the end of the outer ring.
    for words in ["", "deadlock=progress"] {
        let mut table = stuck(words);
        table.throw(&[1]).play("1:p0");
        assert_eq!(table.node(), Node::Over(Ending::Deadlock), "{words}");
        assert_eq!(table.placement(), [1, 1], "{words}");
    }
}

#[test]
fn movable_player_is_not_in_deadlock() {
    let mut table = Table::new("pieces=2", 2)
        .put(0, &[14, 12])
        .put(1, &[15, 14]);
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)), "Red's 12 can move");
    table.throw(&[3]).play("pass");
    table.throw(&[2]).play("2:p1");
    assert_eq!(table.node(), Node::Over(Ending::Deadlock));
    let mut table = stuck("").open(1);
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)));
}

#[test]
fn deadlock_may_open_the_gates() {
    let mut table = stuck("deadlock=open-gate");
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)));
    assert_eq!(table.throw(&[2]).legal(), "2:p0");
}

#[test]
fn lone_player_behind_gate_is_in_deadlock() {
    let mut table = almost("end=all", 2).put(1, &[15, 14, 13, 12]);
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Over(Ending::Deadlock));
    assert_eq!(table.placement(), [1, 2]);
}

#[test]
fn temporary_block_is_no_deadlock() {
    // Red's 14 and 15 cannot move; its 9 is blocked by a double, but only once.
    let mut table = Table::new("preset=doubles pieces=2 gate=true", 2)
        .put(0, &[15, 9])
        .put(1, &[2, 2])
        .turn_of(1);
    assert_eq!(table.game.cross(1, 0, 2), 10);
    table.throw(&[3]).play("3:p0");
    assert_eq!(table.node(), Node::Chance(Some(0)));
}

#[test]
fn too_many_throws_end_the_game_by_progress() {
    let game: arena_games::Cowry = game("max_throws=10", 3);
    for seed in 0..20 {
        let finished = play_at_random(&game, setup(seed));
        assert_eq!(finished.termination, Ending::Cap.into());
        let throws = finished.events.iter().filter(|event| !event.is_action());
        assert_eq!(throws.count(), 10);
        for seat in 0..3 {
            let ahead = (0..3).filter(|&other| finished.scores[other] > finished.scores[seat]);
            assert_eq!(usize::from(finished.placement[seat]), ahead.count() + 1);
        }
    }
}

#[test]
fn drawn_starter_belongs_to_no_seat() {
    for seats in 2..=4 {
        let mut table = Table::new("starter=random", seats);
        assert_eq!(table.node(), Node::Chance(None));
        assert_eq!(table.game.weights(&table.state), vec![1; seats]);
        table.game.apply_outcome(&mut table.state, 1);
        assert_eq!(table.node(), Node::Chance(Some(1)));
        let table = Table::new("", seats);
        assert_eq!(table.node(), Node::Chance(Some(0)), "seat 0 by default");
    }
}
