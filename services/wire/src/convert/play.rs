//! Settings of play: of a tournament, of one match, and in lines of records.

use std::time::Duration;

use arena_model::{
    engine::{
        AdjudicationRules, DrawRule, FaultPolicy, GameKeys, Opening, ResignRule, Score, Setup,
    },
    record::RecordSetup,
    spec::{GamePlay, Play, TIMING_MARGIN, Timing},
};

use crate::v1;

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
