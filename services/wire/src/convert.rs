//! Conversions between plain data and messages.

use std::{str::FromStr, time::Duration};

use arena_model::{
    Beginning, BlockSeed, GameRecord, Package, RulesContent,
    engine::{
        ADJUDICATION_MOVES_MAX, AdjudicationRules, DrawRule, Event, FaultKind, FaultPolicy,
        GameKeys, Opening, ResignRule, Score, ScoredMove, SeatFault, Setup, Termination,
        Transcript,
        options::{Kind, OptionError, Options, Spec, Value, coerce},
    },
    record::RecordSetup,
    spec::{GamePlay, Play, TIMING_MARGIN, Timing},
};

use crate::v1;

pub use crate::rules::{DescribedGame, described};

/// Default start timeout of a binary.
const START_TIMEOUT_US: u64 = 10_000_000;

/// A message with a missing or invalid field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {problem}")]
pub struct ConvertError {
    /// Name of the message.
    pub message: &'static str,
    /// The problem.
    pub problem: String,
}

pub(crate) fn wrong<T>(
    message: &'static str,
    problem: impl Into<String>,
) -> Result<T, ConvertError> {
    Err(ConvertError {
        message,
        problem: problem.into(),
    })
}

/// Options as messages, in ascending order of names.
#[must_use]
pub fn options_to_wire(options: &Options) -> Vec<v1::OptionValue> {
    let message = |(name, value): (&String, &Value)| v1::OptionValue {
        name: name.clone(),
        value: value.to_string(),
    };
    options.iter().map(message).collect()
}

/// Options with their values as text. Resolving them against their specs
/// (`arena_engine::options::resolve`) restores the types.
#[must_use]
pub fn options_from_wire(options: &[v1::OptionValue]) -> Options {
    let text = |option: &v1::OptionValue| (option.name.clone(), Value::Text(option.value.clone()));
    options.iter().map(text).collect()
}

/// The options of a ruleset that a bot requires, with their values as text.
#[must_use]
pub fn required_options(bot: &v1::Bot, ruleset: &str) -> Options {
    let of_ruleset = { bot.required_options.iter() }.filter(|option| option.ruleset == ruleset);
    of_ruleset
        .map(|option| (option.name.clone(), Value::Text(option.value.clone())))
        .collect()
}

/// The identity of a registered binary: the digest of its file, arguments and limits.
#[must_use]
pub fn content(binary: &v1::BinarySource) -> String {
    let limits = binary.limits.unwrap_or_default();
    let start = Some(limits.start_timeout_us).filter(|&start| start != START_TIMEOUT_US);
    let limits = [
        ("memory_bytes", limits.memory_bytes),
        ("output_bytes", limits.output_bytes),
        ("processes", limits.processes.into()),
        ("disk_bytes", limits.disk_bytes),
        ("cpu_us", limits.cpu_us),
        ("start_timeout_us", start.unwrap_or_default()),
    ];
    Package {
        files: [(Package::path(&binary.file_name), binary.sha256.as_str())].into(),
        args: &binary.args,
        limits: limits.into_iter().filter(|limit| limit.1 > 0).collect(),
    }
    .digest()
}

/// The identity of rules that are a package, with what it had loaded.
#[must_use]
pub fn rules_content(rules: &v1::RulesPackage) -> String {
    let package = rules.package.as_ref().map(content).unwrap_or_default();
    let loaded = rules.loaded.iter();
    let loaded = loaded.map(|file| (&*file.name, hex(&file.sha256)));
    RulesContent {
        package: &package,
        loaded: loaded.collect(),
    }
    .digest()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The description of an option.
#[must_use]
pub fn option_spec_to_wire(spec: &Spec) -> v1::BotOption {
    let kind = match &spec.kind {
        Kind::Bool => v1::OptionType::Bool,
        Kind::Int { .. } => v1::OptionType::Integer,
        Kind::Real { .. } => v1::OptionType::Real,
        Kind::Choice(_) => v1::OptionType::Choice,
        Kind::Text => v1::OptionType::Text,
        Kind::Numbers { .. } => v1::OptionType::Numbers,
    };
    let mut option = v1::BotOption {
        name: spec.name.clone(),
        summary: spec.summary.clone(),
        r#type: kind.into(),
        default_value: spec.default.to_string(),
        rulesets: spec.rulesets.clone(),
        uses_seed: spec.uses_seed,
        ..v1::BotOption::default()
    };
    match &spec.kind {
        Kind::Bool | Kind::Text => {}
        Kind::Choice(words) => option.choices.clone_from(words),
        Kind::Int { min, max } => (option.min, option.max) = (min.to_string(), max.to_string()),
        Kind::Real { min, max } | Kind::Numbers { min, max, .. } => {
            (option.min, option.max) = (format!("{min:?}"), format!("{max:?}"));
        }
    }
    if let Kind::Numbers { length, names, .. } = &spec.kind {
        option.length = *length as u32;
        option.choices.clone_from(names);
    }
    option
}

/// An option from its description. A missing type means text.
///
/// # Errors
/// [`ConvertError`] if bounds are no numbers or the default is invalid.
pub fn option_spec_from_wire(option: &v1::BotOption) -> Result<Spec, ConvertError> {
    const MESSAGE: &str = "BotOption";
    fn bound<T: FromStr>(name: &str, text: &str, absent: T) -> Result<T, ConvertError> {
        if text.is_empty() {
            return Ok(absent);
        }
        let problem = || format!("option \"{name}\": \"{text}\" is not a bound");
        text.parse().or_else(|_| wrong(MESSAGE, problem()))
    }
    let name = &option.name;
    let kind = match option.r#type() {
        v1::OptionType::Bool => Kind::Bool,
        v1::OptionType::Integer => Kind::Int {
            min: bound(name, &option.min, i64::MIN)?,
            max: bound(name, &option.max, i64::MAX)?,
        },
        v1::OptionType::Real => Kind::Real {
            min: bound(name, &option.min, f64::MIN)?,
            max: bound(name, &option.max, f64::MAX)?,
        },
        v1::OptionType::Choice => Kind::Choice(option.choices.clone()),
        v1::OptionType::Text | v1::OptionType::Unspecified => Kind::Text,
        v1::OptionType::Numbers => Kind::Numbers {
            min: bound(name, &option.min, f64::MIN)?,
            max: bound(name, &option.max, f64::MAX)?,
            length: option.length as usize,
            names: option.choices.clone(),
        },
    };
    let mut spec = Spec::new(name, kind, option.default_value.as_str(), &option.summary);
    spec.rulesets.clone_from(&option.rulesets);
    spec.uses_seed = option.uses_seed;
    match coerce(&spec, &spec.default) {
        Ok(default) => spec.default = default,
        Err(OptionError::Value { expected, .. } | OptionError::Length { expected, .. }) => {
            let default = &option.default_value;
            let problem = format!("option \"{name}\": the default \"{default}\" is not {expected}");
            return wrong(MESSAGE, problem);
        }
        Err(error) => return wrong(MESSAGE, error.to_string()),
    }
    Ok(spec)
}

impl From<&Play> for v1::PlaySettings {
    fn from(play: &Play) -> Self {
        Self {
            opening_plies: play.opening_plies.unwrap_or(0),
            timing: match play.timing {
                Timing::Throughput => v1::Timing::Throughput,
                Timing::Strict => v1::Timing::Strict,
            }
            .into(),
            move_timeout_us: micros(play.move_timeout),
            on_fault: match play.on_fault {
                FaultPolicy::Forfeit => v1::FaultPolicy::Forfeit,
                FaultPolicy::RandomMove => v1::FaultPolicy::RandomMove,
            }
            .into(),
            ask_forced: play.ask_forced,
            clock: play.clock.map(|clock| v1::ClockSettings {
                moves: clock.moves.unwrap_or_default(),
                base_us: micros(clock.base),
                increment_us: micros(clock.increment),
            }),
            move_time_us: play.move_time.map(micros).unwrap_or_default(),
            nodes: play.nodes.unwrap_or_default(),
            timing_margin_us: micros(play.timing_margin.unwrap_or(TIMING_MARGIN)),
            scale_clocks: play.scale_clocks,
            replicas: play.replicas.unwrap_or_default(),
            resign: play.resign.map(|rule| v1::ResignRule {
                score_thousandths: rule.score.thousandths(),
                moves: rule.moves,
            }),
            draw: play.draw.map(|rule| v1::DrawRule {
                score_thousandths: rule.score.thousandths(),
                moves: rule.moves,
                after_plies: rule.after_plies,
            }),
        }
    }
}

fn micros(time: Duration) -> u64 {
    time.as_micros().try_into().unwrap_or(u64::MAX)
}

impl From<&GamePlay> for v1::PlaySettings {
    fn from(play: &GamePlay) -> Self {
        Self::from(&Play {
            timing: play.timing,
            move_timeout: play.move_timeout,
            on_fault: play.on_fault,
            ask_forced: play.ask_forced,
            clock: play.clock,
            move_time: play.move_time,
            nodes: play.nodes,
            timing_margin: play.timing_margin,
            scale_clocks: play.scale_clocks,
            resign: play.resign,
            draw: play.draw,
            ..Play::default()
        })
    }
}

/// The settings of one match, from those of its tournament; a missing policy is the default.
#[must_use]
pub fn match_setup(play: &v1::PlaySettings, keys: GameKeys, opening: Opening) -> Setup {
    Setup {
        on_fault: match play.on_fault() {
            v1::FaultPolicy::RandomMove => FaultPolicy::RandomMove,
            v1::FaultPolicy::Forfeit | v1::FaultPolicy::Unspecified => FaultPolicy::Forfeit,
        },
        ask_forced: play.ask_forced,
        ..Setup::new(keys, opening)
    }
}

/// When the games of a tournament end by adjudication.
#[must_use]
pub fn adjudication_rules(play: &v1::PlaySettings) -> AdjudicationRules {
    AdjudicationRules {
        resign: play.resign.map(|rule| ResignRule {
            score: Score::from_thousandths(rule.score_thousandths),
            moves: rule.moves,
        }),
        draw: play.draw.map(|rule| DrawRule {
            score: Score::from_thousandths(rule.score_thousandths),
            moves: rule.moves,
            after_plies: rule.after_plies,
        }),
    }
}

/// The descriptions of agents and play in lines; none in version 1.
#[must_use]
pub fn record_setup(setup: &v1::TournamentSetup) -> Option<RecordSetup> {
    let agents = setup.agents.iter().map(|agent| agent.record_json.clone());
    (!setup.play_json.is_empty()).then(|| RecordSetup {
        agents: agents.collect(),
        play: setup.play_json.clone(),
    })
}

impl From<FaultKind> for v1::FaultKind {
    fn from(kind: FaultKind) -> Self {
        match kind {
            FaultKind::IllegalMove => Self::IllegalMove,
            FaultKind::Timeout => Self::Timeout,
            FaultKind::Crash => Self::Crash,
            FaultKind::NotReady => Self::NotReady,
            FaultKind::Disconnected => Self::Disconnected,
            FaultKind::Garbled => Self::Garbled,
            FaultKind::OutputLimit => Self::OutputLimit,
            FaultKind::MemoryLimit => Self::MemoryLimit,
            FaultKind::ProcessLimit => Self::ProcessLimit,
            FaultKind::DiskLimit => Self::DiskLimit,
            FaultKind::CpuLimit => Self::CpuLimit,
        }
    }
}

/// A kind of fault; none if it is unknown here.
#[must_use]
pub fn fault_kind(kind: v1::FaultKind) -> Option<FaultKind> {
    let mut known = FaultKind::ALL.iter().copied();
    known.find(|&known| v1::FaultKind::from(known) == kind)
}

impl From<Termination> for v1::Termination {
    fn from(termination: Termination) -> Self {
        match termination {
            Termination::Normal => Self::Normal,
            Termination::Forfeit => Self::Forfeit,
            Termination::Void => Self::Void,
            Termination::Deadlock => Self::Deadlock,
            Termination::Repetition => Self::Repetition,
            Termination::Cap => Self::Cap,
            Termination::Adjudication => Self::Adjudication,
        }
    }
}

fn termination(value: v1::Termination) -> Option<Termination> {
    let mut known = Termination::ALL.iter().copied();
    known.find(|&known| v1::Termination::from(known) == value)
}

/// Maximum number of scored moves of a record.
const EVIDENCE_MAX: usize = 2 * (ADJUDICATION_MOVES_MAX as usize + 1);

/// Maximum bytes of a start position.
const START_BYTES_MAX: usize = 1024;

/// The hash of a record that has none yet: what replays it computes it.
const NO_HASH: [u8; 32] = [0; 32];

impl From<&GameRecord> for v1::GameRecord {
    fn from(record: &GameRecord) -> Self {
        Self {
            index: record.index,
            block: record.block,
            seed: record.seed.0,
            seats: record.seats.iter().map(|&agent| agent.into()).collect(),
            events: record
                .events
                .iter()
                .map(|event| event.to_bits().into())
                .collect(),
            opening_plies: record.opening_plies,
            placement: record.placement.iter().map(|&rank| rank.into()).collect(),
            scores: record.scores.clone(),
            luck: record.luck.clone(),
            plies: record.plies,
            decisions: record.decisions.clone(),
            termination: v1::Termination::from(record.termination).into(),
            faults: record
                .faults
                .iter()
                .map(|fault| v1::Fault {
                    ply: fault.ply,
                    seat: fault.seat.into(),
                    kind: v1::FaultKind::from(fault.kind).into(),
                })
                .collect(),
            adjudication: record
                .adjudication
                .iter()
                .map(|scored| v1::ScoredMove {
                    ply: scored.ply,
                    seat: scored.seat.into(),
                    score_thousandths: scored.score.map(Score::thousandths),
                })
                .collect(),
            hash: match record.hash == NO_HASH {
                true => Vec::new(),
                false => record.hash.to_vec(),
            },
            start: record.start.as_deref().unwrap_or_default().to_owned(),
            course: record.course,
            beginning: record.beginning.numbers().to_vec(),
            transcript: record.transcript.as_deref().map(v1::Transcript::from),
        }
    }
}

impl v1::GameColumns {
    /// Number of games.
    #[must_use]
    pub fn games(&self) -> usize {
        self.index.len()
    }

    /// Adds a game, for so many seats.
    pub fn push(&mut self, record: &v1::GameRecord, seats: usize) {
        let game = self.games() as u32;
        let faults = record.faults.iter().map(|&fault| v1::GameFault {
            game,
            fault: Some(fault),
        });
        self.faults.extend(faults);
        self.index.push(record.index);
        self.block.push(record.block);
        self.seed.push(record.seed);
        add(&mut self.agent, &record.seats, seats);
        add(&mut self.placement, &record.placement, seats);
        add(&mut self.score, &record.scores, seats);
        add(&mut self.luck, &record.luck, seats);
        self.has_luck.push(!record.luck.is_empty());
        self.plies.push(record.plies);
        self.termination.push(record.termination);
        self.hash.extend_from_slice(&record.hash);
    }

    /// Checks that each column has an entry for each game, or for each seat of each game, and that indices
    /// are those of so many agents.
    ///
    /// # Errors
    /// [`ConvertError`] if one has not.
    pub fn check(&self, seats: usize, agents: usize) -> Result<(), ConvertError> {
        const MESSAGE: &str = "GameColumns";
        let games = self.games();
        let by_game = [
            self.block.len(),
            self.seed.len(),
            self.has_luck.len(),
            self.plies.len(),
            self.termination.len(),
        ];
        let by_seat = [
            self.agent.len(),
            self.placement.len(),
            self.score.len(),
            self.luck.len(),
        ];
        if by_game.iter().any(|&entries| entries != games)
            || by_seat.iter().any(|&entries| entries != games * seats)
            || self.hash.len() != games * 32
            || !(self.timing.is_empty() || self.timing.len() == games)
        {
            return wrong(MESSAGE, "a column has too few or too many entries");
        }
        if self.agent.iter().any(|&agent| agent as usize >= agents) {
            return wrong(MESSAGE, "an agent does not exist");
        }
        let fault = |it: &v1::GameFault| {
            let kind = it.fault.and_then(|fault| fault_kind(fault.kind()));
            (it.game as usize) < games && kind.is_some()
        };
        if !self.faults.iter().all(fault) || !self.faults.is_sorted_by_key(|fault| fault.game) {
            return wrong(MESSAGE, "a fault is of no game or of an unknown kind");
        }
        let known = |&value: &i32| {
            let value = v1::Termination::try_from(value).unwrap_or_default();
            termination(value).is_some()
        };
        match self.termination.iter().all(known) {
            true => Ok(()),
            false => wrong(MESSAGE, "a game has no termination"),
        }
    }

    /// The faults of a game: seat and name of each.
    pub fn faults_of(&self, game: usize) -> impl Iterator<Item = (u32, &'static str)> {
        let game = game as u32;
        let from = self.faults.partition_point(|fault| fault.game < game);
        let faults = self.faults[from..].iter();
        let faults = faults.take_while(move |fault| fault.game == game);
        faults.filter_map(|it| {
            let fault = it.fault?;
            Some((fault.seat, fault_kind(fault.kind())?.name()))
        })
    }

    /// How a game ended.
    #[must_use]
    pub fn termination_of(&self, game: usize) -> &'static str {
        let value = v1::Termination::try_from(self.termination[game]).unwrap_or_default();
        termination(value).map_or("", Termination::name)
    }
}

/// Adds the values of all seats, zeros if there are none.
fn add<T: Copy + Default>(column: &mut Vec<T>, values: &[T], seats: usize) {
    let next = column.len() + seats;
    column.extend_from_slice(&values[..values.len().min(seats)]);
    column.resize(next, T::default());
}

impl TryFrom<&v1::GameRecord> for GameRecord {
    type Error = ConvertError;

    fn try_from(message: &v1::GameRecord) -> Result<Self, ConvertError> {
        const MESSAGE: &str = "GameRecord";
        fn narrow<T: TryFrom<u32>>(values: &[u32], field: &str) -> Result<Vec<T>, ConvertError> {
            let narrow = |&value: &u32| {
                T::try_from(value).or_else(|_| wrong(MESSAGE, format!("{field} holds {value}")))
            };
            values.iter().map(narrow).collect()
        }
        let seats: Vec<u16> = narrow(&message.seats, "seats")?;
        let placement: Vec<u8> = narrow(&message.placement, "placement")?;
        let events: Vec<u16> = narrow(&message.events, "events")?;
        if message.decisions.len() != seats.len()
            || message.scores.len() != seats.len()
            || !(placement.is_empty() || placement.len() == seats.len())
            || !(message.luck.is_empty() || message.luck.len() == seats.len())
        {
            let problem = "decisions, scores, luck and placement need one value for each seat";
            return wrong(MESSAGE, problem);
        }
        let Some(termination) = termination(message.termination()) else {
            return wrong(MESSAGE, "no termination");
        };
        let fault = |fault: &v1::Fault| {
            let seat = u8::try_from(fault.seat).ok();
            Some(SeatFault {
                ply: fault.ply,
                seat: seat.filter(|&seat| usize::from(seat) < seats.len())?,
                kind: fault_kind(fault.kind())?,
            })
        };
        let faults: Option<_> = message.faults.iter().map(fault).collect();
        let Some(faults) = faults else {
            let problem = "a fault has an unknown seat or an unknown kind";
            return wrong(MESSAGE, problem);
        };
        let scored = |scored: &v1::ScoredMove| {
            let seat = u8::try_from(scored.seat).ok();
            Some(ScoredMove {
                ply: scored.ply,
                seat: seat.filter(|&seat| usize::from(seat) < seats.len())?,
                score: scored.score_thousandths.map(Score::from_thousandths),
            })
        };
        let adjudication = message.adjudication.iter().map(scored);
        let Some(adjudication) = adjudication.collect() else {
            return wrong(MESSAGE, "a score has an unknown seat");
        };
        if message.adjudication.len() > EVIDENCE_MAX {
            return wrong(MESSAGE, "there is too much evidence of an adjudication");
        }
        if message.start.len() > START_BYTES_MAX {
            return wrong(MESSAGE, "the start position is too long");
        }
        let hash = match message.hash.as_slice() {
            [] => NO_HASH,
            hash => match hash.try_into() {
                Ok(hash) => hash,
                Err(_) => return wrong(MESSAGE, "the hash must have 32 bytes"),
            },
        };
        Ok(Self {
            index: message.index,
            block: message.block,
            seed: BlockSeed(message.seed),
            seats,
            start: Some(message.start.as_str())
                .filter(|start| !start.is_empty())
                .map(Box::from),
            events: events.into_iter().map(Event::from_bits).collect(),
            opening_plies: message.opening_plies,
            placement,
            scores: message.scores.clone(),
            luck: message.luck.clone(),
            plies: message.plies,
            decisions: message.decisions.clone(),
            termination,
            faults,
            adjudication,
            hash,
            course: message.course,
            beginning: Beginning::new(message.beginning.iter().copied()),
            transcript: match &message.transcript {
                Some(transcript) => Some(Box::new(Transcript::try_from(transcript)?)),
                None => None,
            },
        })
    }
}
