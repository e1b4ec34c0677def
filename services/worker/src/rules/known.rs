//! Nodes, checked against the bounds of the protocol.

use std::{collections::BTreeSet, sync::Mutex};

use arena_engine::{
    ActionId, Ending, Node, PerSeat,
    values::{self, POINT},
};
use arena_model::{
    Returns,
    rules::{NOTATION_BYTES_MAX, RulesDescription, is_notation},
};

use super::{
    messages::{EndingName, Next, NodeMessage},
    probabilities::{Probability, weights_of},
};
use crate::lock;

/// Ids of actions and outcomes are below this number, which is also the most that a node may have.
const IDS: usize = 1 << 15;
/// Ids of actions are below this number if the description has wide ids.
const WIDE_IDS: u32 = 1 << 31;
/// Maximum bytes of a position for agents.
const POSITION_BYTES_MAX: usize = 256 << 10;

/// What agents see if the rules write no position.
pub(super) const NO_POSITION: &str = "{}";

/// A state and what the rules say of it.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) state: String,
    pub(crate) node: Node,
    /// At a decision: the legal actions in ascending order. Wide ids are not among them, but their places are.
    pub(crate) legal: Vec<ActionId>,
    /// At a decision with wide ids: that of each legal action, as the rules know it.
    wide: Vec<u32>,
    /// At a chance node: the weight of each outcome.
    pub(crate) weights: Vec<u32>,
    /// The notation of each of them.
    pub(crate) names: Vec<String>,
    pub(crate) ranks: PerSeat<u8>,
    pub(crate) scores: PerSeat<i64>,
    pub(crate) values: Option<PerSeat<i64>>,
    /// What agents see, as JSON.
    pub(crate) position: String,
}

impl Known {
    /// Checks a node.
    ///
    /// # Errors
    /// What the protocol does not allow.
    pub(super) fn new(
        message: NodeMessage,
        rules: &RulesDescription,
        seats: usize,
    ) -> Result<Self, String> {
        let bytes = message.state.len();
        if bytes > rules.state_bytes_max {
            let most = rules.state_bytes_max;
            return Err(format!("a state has {bytes} bytes, more than {most}"));
        }
        let position = match message.position {
            serde_json::Value::Null => NO_POSITION.to_owned(),
            position => position.to_string(),
        };
        if position.len() > POSITION_BYTES_MAX {
            let bytes = position.len();
            return Err(format!(
                "a position has {bytes} bytes, more than {POSITION_BYTES_MAX}"
            ));
        }
        let in_range = message.seat.is_none_or(|seat| usize::from(seat) < seats);
        let node = match (message.next, message.seat) {
            (_, Some(seat)) if !in_range => return Err(format!("there is no seat {seat}")),
            (Next::Decision, None) => return Err("a decision has no seat".to_owned()),
            (Next::Decision, Some(seat)) => Node::Decision(seat),
            (Next::Chance, seat) => Node::Chance(seat),
            (Next::Over, _) => Node::Over(match message.ending {
                EndingName::Normal => Ending::Normal,
                EndingName::Deadlock => Ending::Deadlock,
                EndingName::Repetition => Ending::Repetition,
                EndingName::Cap => Ending::Cap,
            }),
        };
        let (mut legal, mut wide, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let names = match node {
            Node::Decision(_) => {
                let count = message.legal.len();
                check_actions(&message.legal, rules.wide_ids)?;
                check_names(count, &message.moves)?;
                match rules.wide_ids {
                    true => {
                        legal = (0..count as ActionId).collect();
                        wide = message.legal;
                    }
                    false => legal = message.legal.iter().map(|&id| id as ActionId).collect(),
                }
                message.moves
            }
            Node::Chance(_) if !rules.chance => {
                return Err(
                    "a chance node, but the description has no `chance`: set it to true".to_owned(),
                );
            }
            Node::Chance(_) => {
                weights = outcomes(message.weights, &message.probabilities)?;
                check_names(weights.len(), &message.outcomes)?;
                message.outcomes
            }
            Node::Over(_) => Vec::new(),
        };
        let ranks = match node {
            Node::Over(_) => per_seat("ranks", &message.ranks, seats, 1..=seats as u8)?,
            _ => [1; _],
        };
        let returns = rules
            .returns(seats)
            .filter(|_| matches!(node, Node::Over(_)));
        let scores = match message.scores.is_empty() && returns.is_none() {
            true => [0; _],
            false => per_seat("scores", &message.scores, seats, i64::MIN..=i64::MAX)?,
        };
        if let Node::Over(_) = node {
            check_ranks(&ranks[..seats])?;
            if let Some(returns) = returns {
                check_returns(returns, &ranks[..seats], &scores[..seats])?;
            }
        }
        let values = match (message.values.is_empty(), rules.values) {
            (true, true) => return Err("a node has no values".to_owned()),
            (true, false) => None,
            (false, _) => Some(per_seat("values", &message.values, seats, 0..=POINT)?),
        };
        if let Some(values) = values {
            check_values(&values[..seats])?;
        }
        Ok(Self {
            state: message.state,
            node,
            legal,
            wide,
            weights,
            names,
            ranks,
            scores,
            values,
            position,
        })
    }

    /// Bytes in memory, about.
    pub(super) fn bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| name.len() + 24).sum();
        let lists = 2 * self.legal.len() + 4 * (self.wide.len() + self.weights.len());
        self.state.len() + self.position.len() + names + lists + 256
    }

    /// An event as the rules know it: the id of an action, or the place of an outcome.
    pub(super) fn id_for_rules(&self, event: u16) -> u32 {
        let wide = self.wide.get(usize::from(event));
        wide.copied().unwrap_or(event.into())
    }

    /// The notation of an action.
    pub(super) fn name_of(&self, action: ActionId) -> &str {
        let place = self.legal.binary_search(&action).ok();
        place.map_or("?", |place| &self.names[place])
    }
}

/// A name for ever; each is stored once.
pub(super) fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = lock(&NAMES);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

/// One value for each seat, within bounds.
fn per_seat<T: Copy + PartialOrd + std::fmt::Display + Default>(
    what: &str,
    given: &[T],
    seats: usize,
    range: std::ops::RangeInclusive<T>,
) -> Result<PerSeat<T>, String> {
    if given.len() != seats {
        let count = given.len();
        return Err(format!("{count} {what} for {seats} seats"));
    }
    if let Some(wrong) = given.iter().find(|value| !range.contains(value)) {
        let (least, most) = range.into_inner();
        return Err(format!(
            "{what} have {wrong}, which is not {least} to {most}"
        ));
    }
    let mut all = PerSeat::default();
    all[..seats].copy_from_slice(given);
    Ok(all)
}

/// The rank of a seat is the number of seats before it, plus one.
fn check_ranks(ranks: &[u8]) -> Result<(), String> {
    let before = |rank: u8| ranks.iter().filter(|&&other| other < rank).count();
    match ranks
        .iter()
        .all(|&rank| usize::from(rank) == before(rank) + 1)
    {
        true => Ok(()),
        false => Err(format!("ranks {ranks:?} have gaps")),
    }
}

/// Scores at the end are within the bounds of returns, and ranks follow from them.
fn check_returns(returns: Returns, ranks: &[u8], scores: &[i64]) -> Result<(), String> {
    let beyond = |&(_, score): &(usize, &i64)| !returns.scores().contains(score);
    if let Some((seat, score)) = scores.iter().enumerate().find(beyond) {
        let Returns { min, max, parts } = returns;
        return Err(format!(
            "the score of seat {seat} at the end is {score}, but `returns` of the description allow \
             {min} to {max}, times {parts} parts"
        ));
    }
    let before = |own: i64| scores.iter().filter(|&&other| other > own).count();
    let agree = |(&rank, &score): (&u8, &i64)| usize::from(rank) == before(score) + 1;
    match ranks.iter().zip(scores).all(agree) {
        true => Ok(()),
        false => Err(format!(
            "ranks {ranks:?} do not agree with scores {scores:?}, which are the returns: a rank is one \
             plus the number of seats with a higher score"
        )),
    }
}

fn check_values(values: &[i64]) -> Result<(), String> {
    let due = POINT * values.len() as i64 / 2;
    match values::add_up(values) {
        true => Ok(()),
        false => Err(format!("the sum of values {values:?} is not {due}")),
    }
}

/// Checks the ids of legal actions.
fn check_actions(legal: &[u32], wide_ids: bool) -> Result<(), String> {
    if legal.is_empty() {
        let advice = "give the player a move, such as a pass, or end the game";
        return Err(format!("a node has 0 legal actions: {advice}"));
    }
    check_count(legal.len(), "legal actions")?;
    if !legal.is_sorted_by(|one, next| one < next) {
        return Err("the legal actions are not in ascending order".to_owned());
    }
    let most = if wide_ids { WIDE_IDS } else { IDS as u32 };
    let Some(last) = legal.last().filter(|&&last| last >= most) else {
        return Ok(());
    };
    let advice = match last < &WIDE_IDS {
        true => ", which it may be if the description has `wide_ids`",
        false => "",
    };
    Err(format!("action {last} is not below {most}{advice}"))
}

/// The weights of the outcomes of a chance node.
fn outcomes(weights: Vec<u32>, probabilities: &[Probability]) -> Result<Vec<u32>, String> {
    check_count(weights.len().max(probabilities.len()), "outcomes")?;
    let weights = match (weights.is_empty(), probabilities.is_empty()) {
        (false, false) => {
            return Err("a chance node has both weights and probabilities: give one".to_owned());
        }
        (true, false) => weights_of(probabilities)?,
        _ => weights,
    };
    let sum: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
    if !(1..=u64::from(u32::MAX)).contains(&sum) {
        let most = u32::MAX;
        return Err(format!("the sum of the weights is {sum}, not 1 to {most}"));
    }
    Ok(weights)
}

fn check_count(count: usize, what: &str) -> Result<(), String> {
    match (1..=IDS).contains(&count) {
        true => Ok(()),
        false => Err(format!("a node has {count} {what}, not 1 to {IDS}")),
    }
}

fn check_names(count: usize, names: &[String]) -> Result<(), String> {
    if names.len() != count {
        let given = names.len();
        return Err(format!("{given} notations for {count} actions or outcomes"));
    }
    if let Some(wrong) = names.iter().find(|name| !is_notation(name)) {
        let wrong: String = wrong.chars().take(NOTATION_BYTES_MAX).collect();
        return Err(format!(
            "{wrong:?} is no notation: 1 to {NOTATION_BYTES_MAX} printable ASCII characters without spaces, \
             quotes and backslashes"
        ));
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("notation {:?} stands for two things", pair[0])),
        None => Ok(()),
    }
}
