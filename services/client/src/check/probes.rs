//! The steps of a check that ask an agent without a game.

use std::time::{Duration, Instant};

use arena_engine::FaultKind;
use arena_model::{SandboxLevel, spec::Play};
use arena_report::units;
use arena_wire::v1;
use arena_worker::{
    AgentOptions, DescribeError,
    probe::{Asked, Ending, Probe},
    supervise::Sandbox,
};
use itertools::Itertools;

use super::{
    Checked,
    samples::Samples,
    steps::{Report, Step, Verdict},
};
use crate::{failure::Outcome, rules::Rules};

/// Decisions of each ruleset that are asked in different ways.
const SAMPLES: usize = 32;
/// Decisions for the step about memory, and the most time that they may take.
const MANY: usize = 10_000;
const MANY_TIME: Duration = Duration::from_secs(10);
/// Memory is measured this many times while they are asked. An agent fails whose memory grows in
/// the whole second half, by [`GROWTH_BYTES`] in total.
const MEASURED: usize = 10;
const GROWTH_BYTES: u64 = 16 << 20;
/// Maximum time for an answer, so that one that takes longer than the time for a move is seen.
const ALONE_TIME: Duration = Duration::from_secs(10);
/// Time to end by itself, also on a busy machine.
const END_TIME: Duration = Duration::from_secs(5);
/// Maximum number of choices of an option that are tried.
const CHOICES: usize = 8;

type Judged = Result<String, String>;

impl Checked<'_> {
    fn options(&self) -> Outcome<AgentOptions> {
        Ok(AgentOptions::of_executable(std::env::current_exe()?).confined())
    }

    async fn probe(&self, options: AgentOptions) -> Result<Probe, String> {
        let probe = Probe::start(self.found.setup_source(), self.found.provider(), options);
        probe.await.map_err(named)
    }

    fn is_process(&self) -> bool {
        self.found.file.is_some()
    }

    /// Starts the agent, and says how long that took.
    pub async fn start(&self, report: &mut Report) -> Outcome {
        let started = self.probe(self.options()?).await;
        let judged = started.map(|probe| {
            let took = shown(probe.started_in);
            format!("{}, ready after {took}", probe.protocol())
        });
        report.judge(Step::Start, judged);
        Ok(())
    }

    /// Asks decisions of these rulesets in all ways.
    pub async fn ask(&self, rulesets: &[Rules], report: &mut Report) -> Outcome {
        let samples = rulesets.iter().enumerate().map(|(place, rules)| {
            let details = !self.description.omit_move_details;
            let samples = Samples::new(rules, self.bot, details, place as u64 + 1, SAMPLES);
            samples.map(|samples| samples.with_nodes(self.nodes))
        });
        let samples: Vec<Samples> = samples.collect::<Outcome<_>>()?;
        let options = self.options()?;
        if self.description.sticky {
            // It plays one game at a time, so its decisions cannot be mixed.
            let reason = "it is sticky: its decisions belong to whole games";
            for step in [
                Step::Batches,
                Step::Options,
                Step::UnknownFields,
                Step::Time,
                Step::Memory,
            ] {
                report.add(step, Verdict::Skipped, reason);
            }
        } else {
            let mut slowest = Duration::ZERO;
            report.judge(
                Step::Batches,
                self.batches(&options, &samples, &mut slowest).await,
            );
            report.judge(Step::Options, self.bounds(&options, &samples).await);
            report.judge(Step::UnknownFields, self.unknown(&options, &samples).await);
            let limit = Play::default().move_timeout;
            let took = shown(slowest);
            let judged = match slowest < limit {
                true => Ok(format!("at most {took}")),
                false => Err(format!("{took} for one answer, limit {}", shown(limit))),
            };
            report.judge(Step::Time, judged);
            self.memory(&options, &samples, report).await;
        }
        if self.is_process() {
            report.judge(Step::End, self.ends(&options).await);
            self.sandboxes(&options, &samples, report).await;
        }
        Ok(())
    }

    /// Alone, in a batch, and in a batch in the other order.
    async fn batches(
        &self,
        options: &AgentOptions,
        samples: &[Samples],
        slowest: &mut Duration,
    ) -> Judged {
        let probe = self.probe(options.clone()).await?;
        let mut has_batches = true;
        let mut count = 0;
        for one in samples {
            let ruleset = &one.context.ruleset;
            let alone = ask_alone(&probe, one, &one.decisions).await?;
            *slowest = (*slowest).max(alone.took);
            count += one.decisions.len();
            for is_reversed in [false, true] {
                let mut decisions = one.decisions.clone();
                if is_reversed {
                    decisions.reverse();
                }
                // An agent may take its time for each of them.
                let limit = Play::default().move_timeout * decisions.len() as u32;
                let size = self.description.batch_size as usize;
                let size = if size == 0 { decisions.len() } else { size };
                let mut moves = Vec::new();
                for batch in decisions.chunks(size) {
                    let asked = probe.ask_together(&one.context, batch, limit).await;
                    match asked.map_err(named)? {
                        Some(asked) => {
                            legal(batch, &asked.moves)?;
                            moves.extend(asked.moves);
                        }
                        None => has_batches = false,
                    }
                }
                if is_reversed {
                    moves.reverse();
                }
                if has_batches && self.bot.deterministic && moves != alone.moves {
                    let differs = moves.iter().zip(&alone.moves).filter(|(a, b)| a != b);
                    let how = if is_reversed {
                        "a reversed batch"
                    } else {
                        "a batch"
                    };
                    let differs = differs.count();
                    return Err(format!(
                        "{ruleset}: {differs} other moves in {how} than alone"
                    ));
                }
            }
        }
        probe.stop().await;
        Ok(match (has_batches, self.bot.deterministic) {
            (false, _) => format!("{count} decisions; it answers single questions only"),
            (true, true) => format!("{count} decisions, the same moves"),
            (true, false) => {
                format!("{count} decisions; not compared, because it is not deterministic")
            }
        })
    }

    /// Each option at its bounds, with a few decisions.
    async fn bounds(&self, options: &AgentOptions, samples: &[Samples]) -> Judged {
        let mut tried = 0;
        let mut slow = Vec::new();
        for option in &self.bot.options {
            let mut values = vec![option.min.clone(), option.max.clone()];
            match option.r#type() {
                v1::OptionType::Bool => values = vec!["false".to_owned(), "true".to_owned()],
                v1::OptionType::Choice => {
                    values = option.choices.iter().take(CHOICES).cloned().collect();
                }
                v1::OptionType::Numbers if option.length > 0 => {
                    values.retain(|value| !value.is_empty());
                    let list = |value: &String| {
                        let all = std::iter::repeat_n(value, option.length as usize);
                        format!("[{}]", all.format(", "))
                    };
                    values = values.iter().map(list).collect();
                }
                _ => {}
            }
            values.retain(|value| !value.is_empty());
            let of_option = |one: &&Samples| {
                option.rulesets.is_empty() || option.rulesets.contains(&one.context.ruleset)
            };
            let Some(one) = samples.iter().find(of_option) else {
                continue;
            };
            for value in values {
                tried += 1;
                let shown = format!("{} = {value}", option.name);
                let mut context = one.context.clone();
                let mut known = context.bot_options.iter_mut();
                if let Some(known) = known.find(|known| known.name == option.name) {
                    known.value = value;
                }
                let probe = self.probe(options.clone()).await?;
                let asked = probe
                    .ask_alone(&context, &one.decisions[..4], Play::default().move_timeout)
                    .await;
                probe.stop().await;
                match asked {
                    Ok(asked) => legal(&one.decisions[..4], &asked.moves)
                        .map_err(|problem| format!("{shown}: {problem}"))?,
                    // A deep search takes long; that is no fault of the option.
                    Err(error) if error.kind == Some(FaultKind::Timeout) => {
                        slow.push(shown);
                    }
                    Err(error) => return Err(format!("{shown}: {}", named(error))),
                }
            }
        }
        Ok(match (tried, slow.is_empty()) {
            (0, _) => "it has none with bounds".to_owned(),
            (tried, true) => units::plural(tried, "value"),
            (tried, false) => {
                let values = units::plural(tried, "value");
                format!(
                    "{values}; slower than the time for a move: {}",
                    slow.iter().format(", ")
                )
            }
        })
    }

    async fn unknown(&self, options: &AgentOptions, samples: &[Samples]) -> Judged {
        let mut probe = self.probe(options.clone()).await?;
        let mut plain = Vec::new();
        for one in samples {
            plain.push(ask_alone(&probe, one, &one.decisions).await?.moves);
        }
        probe.stop().await;
        probe = self.probe(options.clone()).await?;
        probe.add_unknown_fields();
        for (one, plain) in samples.iter().zip(plain) {
            let asked = ask_alone(&probe, one, &one.decisions).await?;
            if self.bot.deterministic && asked.moves != plain {
                let ruleset = &one.context.ruleset;
                return Err(format!("{ruleset}: other moves with unknown fields"));
            }
        }
        probe.stop().await;
        Ok("ignored".to_owned())
    }

    async fn memory(&self, options: &AgentOptions, samples: &[Samples], report: &mut Report) {
        let judged = self.grown(options, samples).await;
        match judged {
            Ok(Some(detail)) => report.add(Step::Memory, Verdict::Passed, detail),
            Ok(None) => {}
            Err(problem) => report.add(Step::Memory, Verdict::Failed, problem),
        }
    }

    /// The memory over many decisions; none for an endpoint.
    async fn grown(
        &self,
        options: &AgentOptions,
        samples: &[Samples],
    ) -> Result<Option<String>, String> {
        let probe = self.probe(options.clone()).await?;
        let began = Instant::now();
        let mut asked = 0;
        let mut measured: Vec<u64> = Vec::new();
        let mut turn = samples.iter().cycle();
        while asked < MANY && began.elapsed() < MANY_TIME {
            let Some(one) = turn.next() else { break };
            // Single questions if it has no batches.
            let size = match self.description.batch_size as usize {
                0 => SAMPLES,
                size => size.min(SAMPLES),
            };
            let limit = Play::default().move_timeout * size as u32;
            for batch in one.decisions.chunks(size) {
                match probe.ask_together(&one.context, batch, limit).await {
                    Ok(Some(_)) => {}
                    Ok(None) => drop(ask_alone(&probe, one, batch).await?),
                    // In play, a worker starts a new process.
                    Err(error) if error.kind == Some(FaultKind::OutputLimit) => {
                        return Ok(Some(format!("not measured: {}", error.message)));
                    }
                    Err(error) => return Err(named(error)),
                }
                asked += batch.len();
            }
            if asked * MEASURED >= MANY * (measured.len() + 1) {
                let Some(bytes) = probe.memory_bytes() else {
                    return Ok(None);
                };
                measured.push(bytes);
            }
        }
        probe.stop().await;
        let (Some(first), Some(last)) = (measured.first(), measured.last()) else {
            return Ok(Some(format!(
                "only {asked} decisions in {MANY_TIME:?}: not measured"
            )));
        };
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let second_half = &measured[measured.len() / 2..];
        let grew = measured.len() == MEASURED
            && second_half.windows(2).all(|pair| pair[0] < pair[1])
            && second_half
                .last()
                .zip(second_half.first())
                .is_some_and(|(last, first)| last - first >= GROWTH_BYTES);
        let detail = format!(
            "{} MiB, then {} MiB after {asked} decisions",
            mib(*first),
            mib(*last)
        );
        if grew { Err(detail) } else { Ok(Some(detail)) }
    }

    async fn ends(&self, options: &AgentOptions) -> Judged {
        let mut seen = Vec::new();
        let probe = self.probe(options.clone()).await?;
        let speaks_lines = probe.protocol() == "lines";
        match probe.end(Ending::Signal, END_TIME).await {
            Some(took) => seen.push(format!("{} after SIGTERM", shown(took))),
            None => return Err(format!("it runs {END_TIME:?} after SIGTERM")),
        }
        if speaks_lines {
            let probe = self.probe(options.clone()).await?;
            match probe.end(Ending::Input, END_TIME).await {
                Some(took) => {
                    let took = shown(took);
                    seen.push(format!("{took} after the end of standard input"));
                }
                None => {
                    return Err(format!(
                        "it runs {END_TIME:?} after the end of standard input"
                    ));
                }
            }
        }
        Ok(seen.join(", "))
    }

    async fn sandboxes(&self, options: &AgentOptions, samples: &[Samples], report: &mut Report) {
        let mut seen = Vec::new();
        let mut missing = Vec::new();
        for level in [SandboxLevel::Kernel, SandboxLevel::Strict] {
            let mut options = options.clone();
            options.sandbox = Sandbox::of_level(level);
            let name = level.name();
            if let Err(error) = options.sandbox.check(&options.guard, &options.temp) {
                missing.push(format!("{name}: {error}"));
                continue;
            }
            let played = async {
                let probe = self.probe(options).await?;
                for one in samples.iter().take(1).filter(|_| !self.description.sticky) {
                    let _ = ask_alone(&probe, one, &one.decisions[..4]).await?;
                }
                probe.stop().await;
                Ok::<(), String>(())
            };
            if let Err(problem) = played.await {
                let problem = format!("{name}: {problem}");
                return report.add(Step::Sandbox, Verdict::Failed, problem);
            }
            seen.push(name);
        }
        if seen.is_empty() {
            return report.add(Step::Sandbox, Verdict::Skipped, missing.join("; "));
        }
        let lacking = match missing.is_empty() {
            true => String::new(),
            false => format!("; this machine lacks {}", missing.join("; ")),
        };
        let detail = format!("{}{lacking}", seen.iter().format(", "));
        report.add(Step::Sandbox, Verdict::Passed, detail);
    }
}

/// Asks decisions alone; the moves must be legal.
async fn ask_alone(
    probe: &Probe,
    samples: &Samples,
    decisions: &[v1::Decision],
) -> Result<Asked, String> {
    let asked = probe
        .ask_alone(&samples.context, decisions, ALONE_TIME)
        .await;
    let asked = asked.map_err(named)?;
    legal(decisions, &asked.moves)?;
    Ok(asked)
}

fn legal(decisions: &[v1::Decision], moves: &[u32]) -> Result<(), String> {
    let wrong = decisions.iter().zip(moves);
    let wrong = wrong.filter(|(decision, chosen)| !decision.legal_moves.contains(chosen));
    match wrong.into_iter().next() {
        None => Ok(()),
        Some((decision, chosen)) => Err(format!(
            "illegal_move: {chosen} is not one of {}",
            decision.legal_moves.iter().format(", ")
        )),
    }
}

fn shown(time: Duration) -> String {
    units::latency(Some(time.as_secs_f64() * 1e6))
}

fn named(error: DescribeError) -> String {
    match error.kind {
        Some(kind) => format!("{}: {}", kind.name(), error.message),
        None => error.message,
    }
}
