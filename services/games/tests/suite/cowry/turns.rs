//! Legal moves, hits, pools, extra throws.

use arena_engine::Node;

use super::{Table, paper_position};

#[test]
fn moves_match_the_paper() {
    let mut red = paper_position();
    assert_eq!(red.throw(&[3]).legal(), "3:p0 3:p1");
    red.play("3:p0");
    assert_eq!(red.pieces(0), [17, 3, 24, 0]);

    let mut blue = paper_position().turn_of(1);
    assert_eq!(blue.throw(&[2]).legal(), "2:p0 2:p2 2:p3");
    blue.play("2:p2");
    assert_eq!(blue.pieces(0), [0, 3, 24, 0], "R1 is hit and starts again");
    assert_eq!(blue.pieces(1), [10, 23, 6, 12]);
    assert_eq!(blue.node(), Node::Chance(Some(1)), "a hit earns a throw");
}

#[test]
fn shut_gate_keeps_pieces_on_the_outer_ring() {
    let mut table = paper_position();
    table.state.hit_mask = 0b10;
    assert_eq!(table.throw(&[3]).legal(), "3:p1");
    let mut table = Table::new("gate=false", 2).put(0, &[14, 3, 0, 0]);
    assert_eq!(table.throw(&[3]).legal(), "3:p0 3:p1");
}

#[test]
fn hit_opens_the_gate_for_good() {
    let mut table = Table::new("", 2).put(0, &[14, 2]).put(1, &[11]);
    // Blue's 11 is Red's 3.
    table.throw(&[1]).play("1:p1");
    assert_eq!(table.pieces(1), [0, 0, 0, 0]);
    assert!(table.state.has_hit(0) && !table.state.has_hit(1));
    assert_eq!(table.throw(&[2]).legal(), "2:p0 2:p1 2:p2 2:p3");
}

#[test]
fn safe_squares_prevent_hits() {
    // Blue's 12 is Red's 4, the East start.
    let mut table = Table::new("", 2).put(0, &[1, 4, 0, 0]).put(1, &[12]);
    table.throw(&[3]).play("3:p0");
    assert_eq!(table.pieces(0), [4, 4, 0, 0]);
    assert_eq!(table.pieces(1), [12, 0, 0, 0]);
    assert_eq!(table.node(), Node::Chance(Some(1)));
}

#[test]
fn centre_needs_an_exact_throw() {
    let mut table = Table::new("", 2).put(0, &[22, 21, 24, 24]).open(0);
    assert_eq!(table.throw(&[3]).legal(), "3:p1");
    let mut table = Table::new("", 2).put(0, &[22, 21, 24, 24]).open(0);
    assert_eq!(table.throw(&[4, 8, 3]).legal(), "3:p1");
    table.play("3:p1");
    assert_eq!(table.legal(), "pass");
    table.play("pass");
    assert_eq!(table.node(), Node::Chance(Some(1)), "what is left is lost");
}

#[test]
fn inner_hits_follow_options() {
    // Blue's 17 is on Red's path at 21.
    for (words, hit) in [("", true), ("inner_hits=false", false)] {
        let mut table = Table::new(words, 2)
            .put(0, &[20])
            .put(1, &[17])
            .open(0)
            .open(1);
        assert_eq!(table.game.cross(1, 0, 17), 21);
        table.throw(&[1]).play("1:p0");
        assert_eq!(table.pieces(1)[0] == 0, hit, "{words}");
        let next = if hit { 0 } else { 1 };
        assert_eq!(table.node(), Node::Chance(Some(next)), "{words}");
    }
}

#[test]
fn pool_is_thrown_first_and_played_in_any_order() {
    let mut table = Table::new("", 2);
    table.throw(&[4]);
    assert_eq!(table.node(), Node::Chance(Some(0)));
    table.throw(&[8, 2]);
    assert_eq!(table.state.pool, [0, 1, 0, 1, 1]);
    assert_eq!(table.legal().split(' ').count(), 12);
    table.play("8:p0").play("2:p1");
    assert_eq!(table.legal(), "4:p0 4:p1 4:p2 4:p3");
    table.play("4:p2");
    assert_eq!(table.pieces(0), [8, 2, 4, 0]);
    assert_eq!(table.node(), Node::Chance(Some(1)));
}

#[test]
fn throws_earned_by_hits_follow_the_pool() {
    let mut table = Table::new("", 2).put(0, &[2]).put(1, &[11, 13]);
    // Blue's 11 and 13 are Red's 3 and 5.
    table.throw(&[4, 1]).play("1:p0");
    assert_eq!(table.state.pending_throws, 1);
    assert_eq!(table.node(), Node::Decision(0), "the 4 is played first");
    table.play("4:p0");
    assert_eq!(table.node(), Node::Chance(Some(0)));
    assert_eq!(table.state.pending_throws, 0);
    table.throw(&[3]).play("3:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)));
}

#[test]
fn one_hit_earns_one_throw() {
    let mut table = Table::new("", 3).put(0, &[2]).put(1, &[15]).put(2, &[11]);
    assert_eq!(table.game.cross(1, 0, 15), 3);
    table.throw(&[1]).play("1:p0");
    assert_eq!((table.pieces(1)[0], table.pieces(2)[0]), (0, 0));
    assert_eq!(table.node(), Node::Chance(Some(0)));
    table.throw(&[3]).play("3:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)));
}

#[test]
fn immediate_throws_are_played_one_by_one() {
    let mut table = Table::new("throw_mode=immediate", 2);
    table.throw(&[4]).play("4:p0");
    assert_eq!(table.node(), Node::Chance(Some(0)));
    table.throw(&[8]).play("8:p0");
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.node(), Node::Chance(Some(1)));
    // An unusable 8 still earns its throw.
    let mut table = Table::new("throw_mode=immediate", 2).put(0, &[10, 11, 12, 13]);
    table.throw(&[8]).play("pass");
    assert_eq!(table.node(), Node::Chance(Some(0)));
}

#[test]
fn single_throws_earn_nothing() {
    let mut table = Table::new("throw_mode=single", 2).put(0, &[2]).put(1, &[9]);
    table.throw(&[4]).play("4:p1");
    assert_eq!(table.node(), Node::Chance(Some(1)));
    // Red's 10 is Blue's 2: Blue hits and earns nothing.
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.pieces(0), [0, 4, 0, 0]);
    assert_eq!(table.node(), Node::Chance(Some(0)));
}

#[test]
fn each_extra_can_be_switched_off() {
    let mut table = Table::new("extra_on_4_8=false", 2);
    table.throw(&[8]);
    assert_eq!(table.node(), Node::Decision(0));
    let mut table = Table::new("extra_on_hit=false", 2)
        .put(0, &[2])
        .put(1, &[11]);
    table.throw(&[1]).play("1:p0");
    assert_eq!(table.pieces(1)[0], 0);
    assert_eq!(table.node(), Node::Chance(Some(1)));
}

#[test]
fn unusable_throw_is_passed_once() {
    let mut table = Table::new("", 2).put(0, &[15, 14, 10, 12]);
    table.throw(&[4, 4, 8, 4, 3]);
    assert_eq!(table.legal(), "3:p2");
    table.play("3:p2");
    assert_eq!(table.legal(), "pass");
    table.play("pass");
    assert_eq!(table.node(), Node::Chance(Some(1)), "all four are lost");
}

#[test]
fn hitting_moves_are_marked() {
    let mut table = paper_position().turn_of(1);
    table.throw(&[2]);
    let hits = |name: &str| {
        let legal = table.legal();
        let index = legal.split(' ').position(|known| known == name);
        let mut ids = Vec::new();
        arena_engine::Game::legal(&table.game, &table.state, &mut ids);
        let landing = table.game.landing(&table.state, ids[index.expect("legal")]);
        landing.map(|landing| (landing.from, landing.to, landing.hits))
    };
    assert_eq!(hits("2:p0"), Some((10, 12, 0)));
    assert_eq!(hits("2:p2"), Some((4, 6, 1)));
}
