//! Matches: questions, faults, openings, forced moves and random streams.

use arena_engine::{
    Event, FaultKind, FaultPolicy, Finished, Match, Opening, Question, SeatFault, Setup, Status,
    StreamOf, Termination, replay,
};

use crate::toy::{PASS, Toy, keys, setup};

/// Plays a match to its end; `choose` returns the index of an action.
fn finish(mut play: Match<Toy>, mut choose: impl FnMut(Question, usize) -> usize) -> Finished {
    while let Status::Asks(question) = play.status() {
        let index = choose(question, play.legal().len());
        let action = play.legal()[index];
        play.answer(action.into()).expect("a legal action");
    }
    play.finish()
}

/// All questions of a game in which every seat takes the first action.
fn questions(setup: Setup, seats: usize) -> Vec<(Question, Vec<u16>)> {
    let mut play = Match::new(Toy::new(seats), setup);
    let mut asked = Vec::new();
    while let Status::Asks(question) = play.status() {
        asked.push((question, play.legal().to_vec()));
        let first = play.legal()[0];
        play.answer(first.into()).expect("a legal action");
    }
    asked
}

/// The dice of each seat in the order of the events.
fn dice(finished: &Finished, seats: usize) -> Vec<Vec<u16>> {
    let mut dice = vec![Vec::new(); seats];
    replay(&Toy::new(seats), &finished.events, |_, described| {
        if let (Some(seat), false) = (described.seat, described.event.is_action()) {
            dice[usize::from(seat)].push(described.event.id());
        }
    })
    .expect("what was played can be replayed");
    dice
}

#[test]
fn seat_dice_ignore_moves() {
    for seats in 2..=4 {
        let choices: [fn(Question, usize) -> usize; 4] = [
            |_, _| 0,
            |_, count| count - 1,
            |question, count| if question.seat == 0 { count - 1 } else { 0 },
            |question, count| question.seed as usize % count,
        ];
        for choose in choices {
            let finished = finish(Match::new(Toy::new(seats), setup(5)), choose);
            for (seat, thrown) in dice(&finished, seats).into_iter().enumerate() {
                let mut stream = keys(5).stream(StreamOf::Dice(seat as u8));
                let expected: Vec<u16> = thrown
                    .iter()
                    .map(|_| stream.weighted(&[1, 1, 1, 1, 1, 3]) as u16)
                    .collect();
                assert_eq!(thrown, expected, "seat {seat} of {seats}");
            }
        }
    }
}

#[test]
fn chance_without_seat_uses_the_table_stream() {
    let finished = finish(Match::new(Toy::new(2), setup(5)), |_, _| 0);
    let drawn = keys(5).stream(StreamOf::Table).weighted(&[1, 0, 1]) as u16;
    assert_eq!(finished.events.last(), Some(&Event::chance(drawn)));
}

#[test]
fn questions_number_every_decision() {
    let mut seen_gap = false;
    for seed in 0..20 {
        let mut expected = [0; 3];
        for (question, _) in questions(setup(seed), 3) {
            let seat = usize::from(question.seat);
            seen_gap |= question.number > expected[seat];
            assert!(question.number >= expected[seat], "numbers only grow");
            let mut stream = keys(seed).stream(StreamOf::Agent(question.seat));
            let words: Vec<u64> = (0..=question.number).map(|_| stream.word()).collect();
            assert_eq!(words.last(), Some(&question.seed));
            expected[seat] = question.number + 1;
        }
    }
    assert!(
        seen_gap,
        "nodes with one action count although no agent is asked"
    );
}

#[test]
fn only_choices_are_asked() {
    let (mut plain_forced, mut asked_forced) = (0, 0);
    for seed in 0..20 {
        let forced = Setup {
            ask_forced: true,
            ..setup(seed)
        };
        let count = |setup: &Setup| {
            let asked = questions(setup.clone(), 2);
            assert!(asked.iter().all(|(_, legal)| !legal.contains(&PASS)));
            asked.iter().filter(|(_, legal)| legal.len() == 1).count()
        };
        plain_forced += count(&setup(seed));
        asked_forced += count(&forced);
        let [plain, forced] = [setup(seed), forced].map(|setup| {
            let play = Match::new(Toy::new(2), setup);
            finish(play, |question, count| question.seed as usize % count)
        });
        assert_eq!(plain.decisions, forced.decisions, "asked or not, all count");
        assert_eq!(plain.events, forced.events);
    }
    assert_eq!(plain_forced, 0);
    assert!(asked_forced > 0);
}

#[test]
fn illegal_answer_changes_nothing() {
    let mut play = Match::new(Toy::new(2), setup(1));
    let (status, events) = (play.status(), play.events().to_vec());
    for action in [3, u32::from(PASS), 65_536, u32::MAX] {
        let error = play.answer(action).expect_err("not legal");
        assert_eq!(
            error.to_string(),
            format!("action {action} is not legal for seat 0")
        );
        assert_eq!((play.status(), play.events()), (status, &events[..]));
    }
    play.answer(1).expect("still open");
}

#[test]
fn forfeit_ends_a_game_of_two() {
    for loser in 0..2u8 {
        let mut play = Match::new(Toy::new(2), setup(2));
        while let Status::Asks(question) = play.status() {
            if question.seat == loser && question.number > 2 {
                play.fault(FaultKind::Crash);
                break;
            }
            // The loser is ahead by the rules, but a forfeit loses anyway.
            let action = if question.seat == loser { 1 } else { 0 };
            play.answer(action).expect("a legal action");
        }
        assert!(play.legal().is_empty());
        let fault = play.faults()[0];
        assert_eq!((fault.seat, fault.kind), (loser, FaultKind::Crash));
        assert_eq!(fault.ply, play.plies(), "the ply that was to be played");
        let finished = play.finish();
        assert_eq!(finished.termination, Termination::Forfeit);
        let winner = usize::from(1 - loser);
        assert_eq!(finished.placement[winner], 1);
        assert_eq!(finished.placement[usize::from(loser)], 2);
    }
}

#[test]
fn forfeited_seat_plays_on_and_is_last() {
    for seats in 3..=4 {
        let mut added = 0;
        for seed in 0..20 {
            let mut play = Match::new(Toy::new(seats), setup(seed));
            let mut asked = 0;
            while let Status::Asks(question) = play.status() {
                if question.seat == 1 {
                    asked += 1;
                    play.fault(FaultKind::Timeout);
                } else {
                    play.answer(0).expect("a legal action");
                }
            }
            assert_eq!(asked, 1, "it is not asked again");
            let finished = play.finish();
            assert_eq!(finished.termination, Termination::Forfeit);
            assert_eq!(finished.faults.len(), 1);
            let expected: Vec<u8> = (0..seats)
                .map(|seat| if seat == 1 { seats as u8 } else { 1 })
                .collect();
            assert_eq!(finished.placement, expected, "the others all have 0");
            assert!(finished.decisions[1] > 1, "it went on");
            added += finished.scores[1];
        }
        assert!(added > 0, "with random actions");
    }
}

#[test]
fn several_forfeited_seats_share_the_last_place() {
    let mut play = Match::new(Toy::new(4), setup(2));
    while let Status::Asks(question) = play.status() {
        match question.seat {
            0 | 2 => play.fault(FaultKind::Garbled),
            seat => play.answer(u32::from(seat == 3)).expect("a legal action"),
        }
    }
    let finished = play.finish();
    assert_eq!(finished.placement, [3, 2, 3, 1]);
    assert_eq!(finished.faults.len(), 2);
}

#[test]
fn game_is_a_draw_if_all_seats_forfeit() {
    let mut play = Match::new(Toy::new(3), setup(2));
    while let Status::Asks(_) = play.status() {
        play.fault(FaultKind::NotReady);
    }
    let finished = play.finish();
    assert_eq!(finished.placement, [1, 1, 1]);
    assert_eq!(finished.faults.len(), 3);
}

#[test]
fn random_move_replaces_a_fault() {
    let faulty = Setup {
        on_fault: FaultPolicy::RandomMove,
        ..setup(2)
    };
    for seats in 2..=3 {
        let play = || {
            let mut play = Match::new(Toy::new(seats), faulty.clone());
            let mut faults = Vec::new();
            while let Status::Asks(question) = play.status() {
                if question.seat == 0 {
                    faults.push(SeatFault {
                        ply: play.plies(),
                        seat: 0,
                        kind: FaultKind::IllegalMove,
                    });
                    play.fault(FaultKind::IllegalMove);
                } else {
                    play.answer(0).expect("a legal action");
                }
            }
            (play.finish(), faults)
        };
        let (finished, faults) = play();
        assert!(faults.len() > 1, "it is asked again");
        assert_eq!(finished.faults, faults);
        assert_eq!(finished.termination, Termination::Normal);
        assert_eq!(
            finished.placement[0], 1,
            "random actions add more than none"
        );
        assert_eq!(play().0, finished, "the random actions are seeded");
    }
}

#[test]
fn openings_follow_the_seed() {
    let opened = |plies| Setup {
        opening: Opening::Drawn(plies),
        ..setup(4)
    };
    let first = finish(Match::new(Toy::new(2), opened(6)), |_, _| 0);
    let other = finish(Match::new(Toy::new(2), opened(6)), |_, count| count - 1);
    assert_eq!(first.opening_plies, 6);
    let actions = |finished: &Finished| -> Vec<Event> {
        let events = finished.events.iter().copied();
        events.filter(|event| event.is_action()).collect()
    };
    assert_eq!(actions(&first)[..6], actions(&other)[..6]);
    assert_ne!(actions(&first)[6..], actions(&other)[6..]);
    let plain = finish(Match::new(Toy::new(2), setup(4)), |_, _| 0);
    assert_eq!(plain.opening_plies, 0);
    assert_ne!(actions(&plain)[..6], actions(&first)[..6]);

    let whole = Match::new(Toy::new(2), opened(1_000));
    assert_eq!(whole.status(), Status::Over(Termination::Normal));
    let whole = whole.finish();
    assert_eq!(whole.opening_plies, whole.plies, "no longer than the game");
}

#[test]
fn given_opening_replaces_drawn_one() {
    let opened = |opening| Setup {
        opening,
        ..setup(4)
    };
    let drawn = finish(Match::new(Toy::new(2), opened(Opening::Drawn(6))), |_, _| 0);
    let actions = drawn.events.iter().filter(|event| event.is_action());
    let given: Vec<u16> = actions.take(6).map(|event| event.id()).collect();
    let again = Match::open(Toy::new(2), opened(Opening::Given(given.clone())));
    assert_eq!(finish(again.expect("legal actions"), |_, _| 0), drawn);
    let refused = Match::open(Toy::new(2), opened(Opening::Given(vec![given[0], 77])));
    assert_eq!(refused.map(|_| ()).expect_err("no action").action, 77);
}

#[test]
fn opening_moves_count_as_decisions() {
    let opened = Setup {
        opening: Opening::Drawn(6),
        ..setup(4)
    };
    let (question, _) = questions(opened, 2).swap_remove(0);
    let mut stream = keys(4).stream(StreamOf::Agent(question.seat));
    let words: Vec<u64> = (0..=question.number).map(|_| stream.word()).collect();
    assert!(question.number >= 2);
    assert_eq!(words.last(), Some(&question.seed));
}

#[test]
fn void_match_is_nobodys_result() {
    let mut play = Match::new(Toy::new(3), setup(1));
    play.void();
    assert_eq!(play.status(), Status::Over(Termination::Void));
    assert!(play.legal().is_empty());
    assert!(play.finish().placement.is_empty());
}

#[test]
#[should_panic(expected = "answer to a match that is over")]
fn answer_to_a_finished_match_panics() {
    let mut play = Match::new(Toy::new(2), setup(1));
    play.void();
    let _ = play.answer(0);
}

#[test]
fn counts_follow_events() {
    for seats in 2..=4 {
        let play = Match::new(Toy::new(seats), setup(9));
        let finished = finish(play, |question, count| question.seed as usize % count);
        let actions = finished.events.iter().filter(|event| event.is_action());
        assert_eq!(finished.plies as usize, actions.count());
        assert_eq!(finished.plies, finished.decisions.iter().sum::<u32>());
        assert_eq!(finished.decisions.len(), seats);
        assert_eq!(finished.scores.len(), seats);
    }
}

#[test]
fn events_pack_into_sixteen_bits() {
    for id in [0, 1, 9, 32_767] {
        let (chance, action) = (Event::chance(id), Event::action(id));
        assert_eq!((chance.id(), chance.is_action()), (id, false));
        assert_eq!((action.id(), action.is_action()), (id, true));
        assert_eq!(Event::from_bits(action.to_bits()), action);
        assert_ne!(chance, action);
    }
}

#[test]
fn fault_and_end_names_match_records() {
    let faults: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(
        faults,
        [
            "illegal_move",
            "timeout",
            "crash",
            "not_ready",
            "disconnected",
            "garbled",
            "output_limit",
            "memory_limit",
            "process_limit",
            "disk_limit",
            "cpu_limit"
        ]
    );
    let ends = [
        Termination::Normal,
        Termination::Forfeit,
        Termination::Void,
        Termination::Deadlock,
        Termination::Repetition,
        Termination::Cap,
        Termination::Adjudication,
    ];
    assert_eq!(
        ends.map(Termination::name),
        [
            "normal",
            "forfeit",
            "void",
            "deadlock",
            "repetition",
            "cap",
            "adjudication"
        ]
    );
}
