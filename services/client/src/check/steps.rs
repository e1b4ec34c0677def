//! The steps of a check: the specification of an agent.

use std::fmt::Write;

use itertools::Itertools;
use serde::Serialize;
use strum::VariantArray;

/// One step, in the order in which they are done. `agents/PROTOCOL.md` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Step {
    /// It starts, and is ready within the start timeout.
    Start,
    /// It describes itself.
    Hello,
    /// It plays each ruleset, preset and number of seats that it claims.
    Games,
    /// Two processes play the same games, if it claims to be deterministic.
    Determinism,
    /// It uses seeds of 64 bits as it claims.
    Seeds,
    /// A batch gets the same moves as single questions.
    Batches,
    /// Its options work at their bounds.
    Options,
    /// It ignores unknown fields and messages.
    UnknownFields,
    /// It answers each question within the default time for a move.
    Time,
    /// It prints little.
    Output,
    /// Its memory does not grow with the number of decisions.
    Memory,
    /// It ends on SIGTERM, and at the end of standard input.
    End,
    /// It plays at each level of the sandbox that this machine has.
    Sandbox,
}

/// A step of a check of an agent or of a ruleset.
pub trait CheckStep: Copy {
    /// Its name.
    fn name(self) -> &'static str;
    /// Its number, from 1.
    fn number(self) -> usize;
    /// What has to hold.
    fn promise(self) -> &'static str;
    /// What to do if it does not.
    fn remedy(self) -> &'static str;
    /// The same for a chess engine that speaks UCI.
    fn uci_remedy(self) -> &'static str {
        self.remedy()
    }
}

impl CheckStep for Step {
    fn name(self) -> &'static str {
        self.into()
    }

    fn number(self) -> usize {
        self as usize + 1
    }

    fn promise(self) -> &'static str {
        match self {
            Self::Start => "it starts, and is ready within the start timeout",
            Self::Hello => {
                "it describes itself, with names that can be registered, and rulesets that exist"
            }
            Self::Games => {
                "it plays each ruleset, preset and number of seats that it claims, without a fault"
            }
            Self::Determinism => {
                "if it claims to be deterministic, two processes play the same games"
            }
            Self::Seeds => "seeds of 64 bits are used as it claims",
            Self::Batches => "a batch gets the same moves as single questions, in any order",
            Self::Options => "its options work at their bounds",
            Self::UnknownFields => "it ignores fields and messages that it does not know",
            Self::Time => "it answers each question within the default time for a move",
            Self::Output => "it prints little",
            Self::Memory => "its memory does not grow with the number of decisions",
            Self::End => "it ends on SIGTERM, and at the end of standard input if it speaks lines",
            Self::Sandbox => "it plays at each level of the sandbox that this machine has",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Start => {
                "answer hello on standard output and flush it, or listen on ARENA_LISTEN and answer \
                 health checks"
            }
            Self::Hello => {
                "correct the description: `arena rulesets` lists the rulesets, agents/PROTOCOL.md the \
                 fields"
            }
            Self::Games => "read what the agent printed: check it with --show-output",
            Self::Determinism => {
                "draw all random numbers from the seed of the decision, keep nothing between \
                 decisions, or say deterministic = false"
            }
            Self::Seeds => {
                "seeds use all 64 bits: read them as text or as unsigned; correct uses_seed"
            }
            Self::Batches => "answer each decision from its own fields, in the order of the batch",
            Self::Options => "correct min, max and choices of the option",
            Self::UnknownFields => "read fields by their names, and skip the others",
            Self::Time => "think less, or play with a longer move_timeout or a clock",
            Self::Output => "print less; output counts towards a limit of the process",
            Self::Memory => "keep nothing between decisions, or bound it",
            Self::End => "exit on SIGTERM and at the end of standard input",
            Self::Sandbox => "see SECURITY.md for what the sandbox refuses",
        }
    }

    fn uci_remedy(self) -> &'static str {
        match self {
            Self::Start => {
                "start the engine by hand: it has to answer the line `uci` with lines of which the last one is \
                 `uciok`, and flush them; write its arguments after `--`"
            }
            Self::Hello => "correct the lines `id name` and `option` after `uci`",
            Self::Batches => "answer each `position` and `go` with one `bestmove`",
            Self::Options => "correct min, max and the values of `var` of the option",
            Self::Time => {
                "obey the limits of `go`, or play with `nodes`, a longer move_timeout or a clock"
            }
            Self::Memory => "bound the hash, and clear it on `ucinewgame`",
            Self::End => "exit on SIGTERM and on `quit`",
            Self::Games
            | Self::Determinism
            | Self::Seeds
            | Self::UnknownFields
            | Self::Output
            | Self::Sandbox => self.remedy(),
        }
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// What the step expects holds.
    Passed,
    /// It does not hold.
    Failed,
    /// The step was not done, or does not apply.
    Skipped,
}

/// A step with its result.
#[derive(Clone, Debug, Serialize)]
pub struct StepResult {
    number: usize,
    name: &'static str,
    promise: &'static str,
    result: Verdict,
    /// What was seen.
    detail: String,
    /// What to do; only for a failed step.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
    /// Where it failed: a position of a game, with the event after it if one is the cause.
    #[serde(skip_serializing_if = "String::is_empty")]
    at: String,
    /// The end of what the program printed, such as a traceback.
    #[serde(skip_serializing_if = "String::is_empty")]
    output: String,
}

/// What a step failed at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// What happened, in one line.
    pub text: String,
    /// Where: a position of a game as text, or empty.
    pub at: String,
    /// The end of what the program printed, or empty.
    pub output: String,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// Results so far.
#[derive(Debug, Default)]
pub struct Report {
    /// The results, in the order of the steps.
    pub steps: Vec<StepResult>,
    /// True if the agent is an engine that speaks UCI.
    pub speaks_uci: bool,
}

impl Report {
    /// Adds the result of a step; a failed one gets its remedy.
    pub fn add(&mut self, step: impl CheckStep, result: Verdict, detail: impl Into<String>) {
        let remedy = || match self.speaks_uci {
            true => step.uci_remedy(),
            false => step.remedy(),
        };
        let remedy = (result == Verdict::Failed).then(remedy);
        self.steps.push(StepResult {
            number: step.number(),
            name: step.name(),
            promise: step.promise(),
            result,
            detail: detail.into(),
            remedy,
            at: String::new(),
            output: String::new(),
        });
    }

    /// Adds a step that passes unless there is a problem.
    pub fn judge(&mut self, step: impl CheckStep, detail: Result<String, String>) {
        match detail {
            Ok(detail) => self.add(step, Verdict::Passed, detail),
            Err(problem) => self.add(step, Verdict::Failed, problem),
        }
    }

    /// Adds a failed step with another promise and remedy than the step itself has.
    pub fn add_failed(
        &mut self,
        step: impl CheckStep,
        problem: Problem,
        promise: &'static str,
        remedy: &'static str,
    ) {
        self.steps.push(StepResult {
            number: step.number(),
            name: step.name(),
            promise,
            result: Verdict::Failed,
            detail: problem.text,
            remedy: Some(remedy),
            at: problem.at,
            output: problem.output,
        });
    }

    /// Skips all steps that have no result.
    pub fn skip_rest(&mut self, reason: &str) {
        let done: Vec<usize> = self.steps.iter().map(|step| step.number).collect();
        for &step in Step::VARIANTS {
            if !done.contains(&step.number()) {
                self.add(step, Verdict::Skipped, reason);
            }
        }
        self.steps.sort_by_key(|step| step.number);
    }

    /// What failed, in one line; none if every step passed or was skipped.
    pub fn failure(&self) -> Option<String> {
        let failed = self.steps.iter().filter(|it| it.result == Verdict::Failed);
        let failed: Vec<&StepResult> = failed.collect();
        match &failed[..] {
            [] => None,
            [one] => {
                let detail = one.detail.lines().next().unwrap_or_default();
                let StepResult { number, name, .. } = one;
                Some(format!(
                    "step {number} of the check failed: {name}: {detail}"
                ))
            }
            some => {
                let names = some.iter().map(|step| step.name).format(", ");
                Some(format!("{} steps of the check failed: {names}", some.len()))
            }
        }
    }

    /// One line for each step. Below a failed one: where it failed, what it expects, what to do, and
    /// what the program printed.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for step in &self.steps {
            let result = match step.result {
                Verdict::Passed => "passed",
                Verdict::Failed => "FAILED",
                Verdict::Skipped => "skipped",
            };
            let detail = step.detail.lines().join(" ");
            let _ = writeln!(
                out,
                "{:>2}  {:<15}{result:<9}{detail}",
                step.number, step.name
            );
            let mut below = |title: &str, text: &str| {
                // A board or a traceback gets lines of its own.
                let separator = if text.contains('\n') { "\n  " } else { " " };
                let text = format!("{title}:{separator}{}", text.lines().join("\n  "));
                for line in text.lines() {
                    let _ = writeln!(out, "{:19}{line}", "");
                }
            };
            if !step.at.is_empty() {
                below("at", &step.at);
            }
            if let Some(remedy) = step.remedy {
                below("expected", step.promise);
                below("what to do", remedy);
            }
            if !step.output.is_empty() {
                below("printed by the program", &step.output);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocol_page_lists_all_steps() {
        let page = include_str!("../../../../agents/PROTOCOL.md");
        for &step in Step::VARIANTS {
            let row = format!(
                "| {} | `{}` | {} |",
                step.number(),
                step.name(),
                step.promise()
            );
            assert!(page.contains(&row), "PROTOCOL.md should have: {row}");
        }
    }

    #[test]
    fn steps_without_result_are_skipped_in_order() {
        let mut report = Report::default();
        report.judge(Step::Hello, Err("no\nname".to_owned()));
        report.skip_rest("not reached");
        assert_eq!(report.steps.len(), Step::VARIANTS.len());
        assert_eq!(
            report.failure().as_deref(),
            Some("step 2 of the check failed: hello: no")
        );
        let text = report.to_text();
        assert!(
            text.starts_with(" 1  start          skipped  not reached\n 2  hello"),
            "{text}"
        );
    }

    #[test]
    fn failed_step_shows_place_and_output_on_lines_of_their_own() {
        let mut report = Report::default();
        let problem = Problem {
            text: "the rules report an error".to_owned(),
            at: "event 1 in state {\"a\":1}".to_owned(),
            output: "Traceback:\n  File \"game.py\"\nKeyError: 1".to_owned(),
        };
        report.add_failed(
            Step::Games,
            problem,
            "every question is answered",
            "read it",
        );
        let expected = " 3  games          FAILED   the rules report an error
                   at: event 1 in state {\"a\":1}
                   expected: every question is answered
                   what to do: read it
                   printed by the program:
                     Traceback:
                       File \"game.py\"
                     KeyError: 1
";
        assert_eq!(report.to_text(), expected);
    }
}
