//! The output of a seat's agent.

use arena_model::GameRecord;
use arena_report::{game::seat_name, units};
use arena_wire::v1;
use itertools::Itertools;

use crate::{
    failure::{Failure, Outcome},
    output::{self, note},
};

/// Bytes of output that are stored, as documented in `AgentOutput`.
const KEPT_BYTES: u64 = 8 << 10;

/// The seat of this number, or of the agent of this name.
pub fn find_seat(
    id: &str,
    setup: &v1::TournamentSetup,
    record: &GameRecord,
    wanted: &str,
) -> Outcome<usize> {
    let is_named = |&agent: &u16| {
        let agent = setup.agents.get(usize::from(agent));
        agent.is_some_and(|agent| agent.name == wanted)
    };
    let seat = wanted.parse().ok();
    let seat = seat.or_else(|| record.seats.iter().position(is_named));
    seat.filter(|&seat| seat < record.seats.len())
        .ok_or_else(|| {
            let seats = (0..record.seats.len())
                .map(|seat| format!("{seat} ({})", seat_name(setup, record, seat)));
            Failure::usage(format!(
                "game {id} has no seat or agent {wanted:?}: its seats are {}",
                seats.format(", ")
            ))
        })
}

/// Prints the stored output of a seat's agent, given by seat number or by agent.
pub fn print(
    id: &str,
    setup: &v1::TournamentSetup,
    record: &GameRecord,
    game: &v1::GetGameResponse,
    wanted: &str,
) -> Outcome {
    let seat = find_seat(id, setup, record, wanted)?;
    let agent = record.seats[seat];
    let name = seat_name(setup, record, seat);
    // One process plays all seats of an agent.
    let is_agent = |other: u32| record.seats.get(other as usize) == Some(&agent);
    if let Some(printed) = { game.outputs.iter() }.find(|it| is_agent(it.seat)) {
        let is_cut = printed.bytes > KEPT_BYTES;
        let cut = if is_cut { ", the last of them:" } else { "" };
        note(format!(
            "seat {seat} ({name}) printed {} bytes in this game{cut}",
            units::count(printed.bytes)
        ));
        return output::write(&format!("{}\n", printed.text));
    }
    let mut details = { game.fault_details.iter() }.filter(|it| is_agent(it.seat));
    if let Some(detail) = details.rfind(|it| !it.stderr_tail.is_empty()) {
        note(format!(
            "seat {seat} ({name}): last output of its process before the fault; the process may \
             have played other games as well"
        ));
        return output::write(&format!("{}\n", detail.stderr_tail.trim_end()));
    }
    note(format!(
        "no output of seat {seat} ({name}) is stored: output is stored for games with a fault of \
         the agent, and for games that its process played alone (arena worker --capacity 1); \
         `arena run` and `arena worker` write all output to files with --agent-output DIR"
    ));
    Ok(())
}
