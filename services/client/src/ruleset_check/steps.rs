//! The steps of `arena rulesets check`: what each expects, and what to do if it fails.

use arena_worker::rules::RulesCause;
use strum::VariantArray;

use crate::check::CheckStep;

/// One step of the check.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum RulesetStep {
    /// It has a summary, 2 to 10 seats, and options with a summary.
    Description,
    /// Each option works at its bounds.
    Options,
    /// No method panics.
    Panics,
    /// Legal actions are ascending, with different names.
    Decisions,
    /// Outcomes have whole weights and different names.
    Chance,
    /// Values are within their bounds and have the right sum.
    Values,
    /// An encoded position is decoded to the same one.
    Positions,
    /// The same calls give the same results.
    Purity,
    /// The board is drawn as ASCII text.
    Board,
    /// Every game ends.
    End,
    /// Ranks start at 1, and ties share a rank.
    Ranks,
    /// Golden playthroughs are played as they were written.
    Golden,
    /// Random games are played, and their speed is measured.
    Speed,
    /// A process uses at most 80 % of its memory limit.
    Memory,
}

impl CheckStep for RulesetStep {
    fn name(self) -> &'static str {
        self.into()
    }

    fn number(self) -> usize {
        self as usize + 1
    }

    fn promise(self) -> &'static str {
        match self {
            Self::Description => "it has a summary, 2 to 10 seats, and options with a summary",
            Self::Options => "each option works at its bounds, for each number of seats",
            Self::Panics => "no method panics",
            Self::Decisions => {
                "legal actions are ascending, below 32768, with different names in ASCII"
            }
            Self::Chance => {
                "outcomes have whole weights, different names, and a value for each seat"
            }
            Self::Values => {
                "values are from 0 to a million, with a sum of half a million for each seat"
            }
            Self::Positions => "decode returns the position that encode wrote",
            Self::Purity => "the same calls give the same results",
            Self::Board => "the board is drawn as ASCII text of at most 64 KiB",
            Self::End => "every game ends",
            Self::Ranks => {
                "ranks start at 1, a tie shares a rank, and the values at the end follow"
            }
            Self::Golden => "golden playthroughs are played as they were written",
            Self::Speed => "random games are played",
            Self::Memory => "a process uses at most 80 % of its memory limit",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Description => "correct RulesetInfo in `info`",
            Self::Options => {
                "correct the bounds, or refuse what cannot be combined in `with_options` with \
                 OptionError::Together"
            }
            Self::Panics => "handle every position that legal actions lead to",
            Self::Decisions => "correct `legal` or `write_action`; a pass is legal only alone",
            Self::Chance => "correct `weights`, `write_outcome` or `chance_values`",
            Self::Values => "use arena::engine::values, or leave `values` out",
            Self::Positions => "encode everything that the rest of the game depends on",
            Self::Purity => "use no clock, random number or state outside the position",
            Self::Board => "correct `draw`",
            Self::End => "end the game after a number of moves, with Ending::Cap",
            Self::Ranks => "correct `placement`, or leave `values` out",
            Self::Golden => {
                "if the change is meant, raise the version and write them again with --write-golden"
            }
            Self::Speed => "see the steps before",
            Self::Memory => "use less memory, or raise `memory` in arena-agent.toml",
        }
    }
}

/// The step that a package failed.
pub(super) fn step_of(cause: RulesCause) -> RulesetStep {
    match cause {
        RulesCause::Host | RulesCause::Start => RulesetStep::Description,
        RulesCause::Answer => RulesetStep::Panics,
        RulesCause::Bounds => RulesetStep::Decisions,
        RulesCause::Length => RulesetStep::End,
        RulesCause::Purity => RulesetStep::Purity,
    }
}

/// A step as it is shown: a package may be written in any language.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownStep {
    pub(super) step: RulesetStep,
    pub(super) is_package: bool,
}

impl CheckStep for ShownStep {
    fn name(self) -> &'static str {
        match self.step {
            RulesetStep::Panics if self.is_package => "answers",
            RulesetStep::Positions if self.is_package => "states",
            step => step.name(),
        }
    }

    fn number(self) -> usize {
        self.step.number()
    }

    fn promise(self) -> &'static str {
        match self.is_package {
            true => package_promise(self.step),
            false => self.step.promise(),
        }
    }

    fn remedy(self) -> &'static str {
        match self.is_package {
            true => package_remedy(self.step, false),
            false => self.step.remedy(),
        }
    }
}

/// What a step expects of a package.
fn package_promise(step: RulesetStep) -> &'static str {
    match step {
        RulesetStep::Options => {
            "each option works at its bounds, for each number of seats, and unknown ones are refused"
        }
        RulesetStep::Panics => "every question is answered, and without an error",
        RulesetStep::Decisions => {
            "each node keeps the bounds: ascending actions, different names in ASCII, one score and rank \
             for each seat"
        }
        RulesetStep::Chance => "outcomes have whole weights, and different names",
        RulesetStep::Positions => "the state contains everything that the game depends on",
        RulesetStep::Purity => "two processes give the same answers, in any order",
        RulesetStep::Ranks => {
            "ranks start at 1, a tie shares a rank, and values at the end follow, if any"
        }
        _ => step.promise(),
    }
}

/// What to do about a step that a package failed.
pub(super) fn package_remedy(step: RulesetStep, has_output: bool) -> &'static str {
    match step {
        RulesetStep::Description => "correct the answer to `describe`",
        RulesetStep::Options => {
            "correct the bounds of the option, or answer `game` with an error if it has an option that the \
             description does not have"
        }
        RulesetStep::Panics if has_output => {
            "correct the rules; the text below ends with the error"
        }
        RulesetStep::Panics => {
            "answer each question within 4 seconds, and with one line as \
             services/games/PROTOCOL.md describes"
        }
        RulesetStep::Decisions => "keep the bounds of services/games/PROTOCOL.md",
        RulesetStep::Chance => {
            "keep the bounds of services/games/PROTOCOL.md, and say `chance` in the description if \
             and only if there are chance nodes: without chance, games begin with openings"
        }
        RulesetStep::Values => "make values add up to half a million for each seat",
        RulesetStep::Positions => "put everything that the game depends on into the state",
        RulesetStep::Purity => "use no clock, random number or memory outside the state",
        RulesetStep::Board => {
            "correct `draw`: at most 64 KiB of ASCII and 256 KiB of SVG; or declare no `draws`"
        }
        RulesetStep::End => "end the game, or raise `events_max`",
        RulesetStep::Ranks => "begin ranks at 1; a tie shares a rank",
        RulesetStep::Golden | RulesetStep::Speed | RulesetStep::Memory => step.remedy(),
    }
}
