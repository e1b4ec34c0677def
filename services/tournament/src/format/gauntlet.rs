//! Challengers against a field: each challenger meets every group of the field. Agents of
//! the field do not meet each other, and neither do challengers.

use std::collections::HashSet;

use arena_model::format::Settings;
use serde_json::json;

use super::combinations::{GROUPS_MAX, combinations};
use super::{
    Field, FormatError, StagePlanner, StageSums, Units,
    planner::OneStage,
    verdict::{Verdict, counted},
};
use crate::schedule::stage::Stage;

fn challengers(field: &Field) -> Vec<u16> {
    let named = match &field.settings {
        Some(Settings::Gauntlet(gauntlet)) => &gauntlet.challengers[..],
        _ => &[],
    };
    let by_name = field.by_name();
    let named = named.iter();
    named
        .filter_map(|name| by_name.get(name.as_str()).copied())
        .collect()
}

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let challengers = challengers(&field);
    let named: HashSet<&u16> = challengers.iter().collect();
    let others: Vec<u16> = (0..field.agents() as u16)
        .filter(|agent| !named.contains(agent))
        .collect();
    if others.len() + 1 < field.seats {
        return Err(field.error(format!(
            "{} and {} are listed, but a game has {} seats: list fewer challengers or more agents",
            counted(challengers.len() as u64, "challenger"),
            counted(others.len() as u64, "other agent"),
            field.seats
        )));
    }
    let too_many = || {
        field.error(format!(
            "challengers and opponents form more than {GROUPS_MAX} groups: list fewer agents"
        ))
    };
    let fields = combinations(&others, field.seats - 1).ok_or_else(too_many)?;
    if fields.len() * challengers.len() > GROUPS_MAX {
        return Err(too_many());
    }
    let groups = challengers.iter().flat_map(|&challenger| {
        let met = fields.iter();
        met.map(move |others| [&[challenger], &others[..]].concat())
    });
    let groups: Vec<Vec<u16>> = groups.collect();
    Ok(Box::new(OneStage {
        groups: groups.len() as u64,
        stage: Stage::of(groups, field.blocks),
        field,
        verdict,
    }))
}

/// The units of a challenger against each opponent, in the order of the spec.
fn met(field: &Field, challenger: u16, sums: &StageSums) -> Vec<(u16, Units)> {
    let mut units = vec![Units::default(); field.agents()];
    for meeting in &sums.meetings {
        let pairs = super::sums::pairs(meeting.agents.len()).zip(&meeting.pairs);
        for ((first, second), pair) in pairs {
            let (first, second) = (meeting.agents[first], meeting.agents[second]);
            if first == challenger {
                units[usize::from(second)].add(*pair);
            } else if second == challenger {
                units[usize::from(first)].add(pair.turned());
            }
        }
    }
    let met = (0..).zip(units);
    met.filter(|(_, units)| units.of > 0).collect()
}

fn verdict(field: &Field, sums: &StageSums) -> Verdict {
    let mut rows = Vec::new();
    let mut text = Vec::new();
    for challenger in challengers(field) {
        let met = met(field, challenger, sums);
        // Each opponent counts equally, even if games against some would repeat.
        let scores: Vec<f64> = met.iter().filter_map(|(_, units)| units.score()).collect();
        let score = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
        let name = field.name(challenger);
        let beaten = met.iter().filter(|(_, units)| 2 * units.got > units.of);
        let beaten = beaten.count();
        text.push(match score {
            Some(score) => format!(
                "{name} scores {score:.3} against the field and is ahead of {beaten} of {}.",
                met.len()
            ),
            None => format!("{name} played no game."),
        });
        let opponents = met.iter().map(
            |(opponent, units)| json!({"agent": field.name(*opponent), "score": units.score()}),
        );
        rows.push(json!({
            "agent": name,
            "score": score,
            "ahead_of": beaten,
            "opponents": opponents.collect::<Vec<_>>(),
        }));
    }
    Verdict::new("gauntlet", field, text.join(" ")).with("challengers", json!(rows))
}
