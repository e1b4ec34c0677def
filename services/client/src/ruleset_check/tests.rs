//! Each defect of rules fails the step that names it, and no other.

use std::{
    convert::Infallible,
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
};

use arena_engine::{
    ActionId, Ending, Node, OutcomeId, PerSeat, PositionError, options::Options, per_seat,
};
use arena_games::{Kalah, Ruleset};

use super::*;

/// Kalah with a defect.
#[derive(Clone)]
struct Broken(Kalah, RulesetStep);

static CALLS: AtomicU64 = AtomicU64::new(0);

type State = <Kalah as Game>::State;

impl Game for Broken {
    type State = State;

    fn name(&self) -> &'static str {
        "broken"
    }

    fn version(&self) -> u32 {
        1
    }

    fn seats(&self) -> usize {
        2
    }

    fn has_chance(&self) -> bool {
        false
    }

    fn initial(&self) -> State {
        self.0.initial()
    }

    fn node(&self, state: &State) -> Node {
        match (self.0.node(state), self.1) {
            (Node::Over(_), RulesetStep::Chance) => Node::Chance(None),
            (Node::Over(_), RulesetStep::End) => Node::Decision(0),
            (Node::Decision(_), RulesetStep::End) if state.plies > 3 => Node::Decision(0),
            (_, RulesetStep::Ranks) if state.plies > 3 => Node::Over(Ending::Normal),
            (node, _) => node,
        }
    }

    fn weights(&self, _: &State) -> &[u32] {
        &[0]
    }

    fn legal(&self, state: &State, out: &mut Vec<ActionId>) {
        match self.1 {
            RulesetStep::End if state.plies > 3 => *out = vec![1],
            RulesetStep::Decisions => {
                self.0.legal(state, out);
                out.reverse();
            }
            RulesetStep::Panics if state.plies > 3 => panic!("a defect"),
            _ => self.0.legal(state, out),
        }
    }

    fn apply(&self, state: &mut State, action: ActionId) {
        if self.1 == RulesetStep::End && state.plies > 3 {
            return;
        }
        self.0.apply(state, action);
        if self.1 == RulesetStep::Purity {
            state.plies += CALLS.fetch_add(1, Ordering::Relaxed) as u32;
        }
    }

    fn apply_outcome(&self, _: &mut State, _: OutcomeId) {}

    fn placement(&self, state: &State) -> PerSeat<u8> {
        match self.1 {
            RulesetStep::Ranks => per_seat([1, 3]),
            _ => self.0.placement(state),
        }
    }

    fn scores(&self, state: &State) -> PerSeat<i64> {
        self.0.scores(state)
    }

    fn values(&self, state: &State) -> PerSeat<i64> {
        match self.1 {
            RulesetStep::Values => per_seat([1, 2]),
            _ => self.0.values(state),
        }
    }

    fn write_action(&self, state: &State, action: ActionId, out: &mut dyn Write) {
        self.0.write_action(state, action, out);
    }

    fn write_outcome(&self, _: &State, _: OutcomeId, out: &mut dyn Write) {
        let _ = out.write_str("none");
    }

    fn encode(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        self.0.encode(state, moves, out);
    }

    fn decode(&self, bytes: &[u8]) -> Result<State, PositionError> {
        let mut state = self.0.decode(bytes)?;
        if self.1 == RulesetStep::Positions {
            state.plies = 0;
        }
        Ok(state)
    }

    fn draw(&self, state: &State, out: &mut dyn Write) {
        match self.1 {
            RulesetStep::Board => drop(out.write_str("\u{1b}[2J")),
            _ => self.0.draw(state, out),
        }
    }
}

fn problems(step: RulesetStep) -> Vec<RulesetStep> {
    let (options, seats) = arena_games::resolve("kalah", &Options::new(), None).expect("defaults");
    let kalah = Kalah::with_options(&options, seats).expect("defaults");
    let mut found = Found {
        events_max: 1000,
        ..Found::default()
    };
    while found.play("defaults", |walk| {
        walk.visit(Broken(kalah.clone(), step));
        Ok::<_, Infallible>(())
    }) && found.games < 20
    {}
    found.problems.into_keys().collect()
}

#[test]
fn defects_are_named_by_their_step() {
    for step in [
        RulesetStep::Panics,
        RulesetStep::Decisions,
        RulesetStep::Chance,
        RulesetStep::Values,
        RulesetStep::Positions,
        RulesetStep::Purity,
        RulesetStep::Board,
        RulesetStep::End,
        RulesetStep::Ranks,
    ] {
        let found = problems(step);
        assert!(found.contains(&step), "{step:?}: {found:?}");
        let alone = match step {
            // Values at the end follow from the ranks.
            RulesetStep::Values => found.len() <= 2,
            _ => found.len() == 1,
        };
        assert!(alone, "{step:?}: {found:?}");
    }
    assert_eq!(problems(RulesetStep::Description), [], "no defect");
}

#[test]
fn steps_that_were_not_tried_are_skipped() {
    let info = arena_games::ruleset("kalah").expect("a ruleset");
    let found = Found::default();
    let report = report(&Rules::Listed(info), found, None, None)
        .expect("a report")
        .to_text();
    for step in ["decisions", "positions", "end", "ranks"] {
        let line = format!("{step:<15}skipped  no game came to its end");
        assert!(report.contains(&line), "{report}");
    }
}

#[test]
fn built_in_rulesets_pass_their_check() {
    for info in arena_games::rulesets() {
        let report =
            check(&Rules::Listed(info), 1, None, &ProgressBar::hidden()).expect("measured");
        assert_eq!(
            report.failure(),
            None,
            "{}:\n{}",
            info.name,
            report.to_text()
        );
    }
}
