//! Tests that cross processes, in one binary. Each makes a folder of its own,
//! starts what it needs on free ports, and leaves nothing running.

/// What `agent check` says holds in play.
mod agreement;
/// Crates depend on each other only as the design says.
mod architecture;
/// The benchmark measures what it says.
mod benchmark;
/// Games, tournaments and tables are found by what people know of them.
mod commands;
/// What damage takes from a store is played again.
mod damage;
/// Evolution goes on after a kill, and what it makes plays.
mod evolve;
/// Agents that misbehave, each named by its fault and by no other.
mod faults;
/// Every format is the same whoever plays it.
mod formats;
/// Tournaments that keep hashes alone.
mod hashes;
/// Help texts, which change only where somebody reads the change.
mod help;
/// One bad host spoils no tournament.
mod hosts;
/// A tournament is played by the content that was registered, and by no other.
mod identity;
/// Pause, resume, cancel, Ctrl-C and restarts.
mod lifecycle;
/// Any fleet, killed or not, leaves the same records.
mod one_result;
/// What agents print is kept, and an error is named by its line.
mod outputs;
/// Metrics, dashboards, rules, and all of `deploy/`.
mod prometheus;
/// An agent in Python at a board of four.
mod python;
/// The commands of the README, as they stand there.
mod readme;
/// Dice are those of the seed, a line alone plays its game again, and older rules
/// stay readable.
mod records;
/// Games that repeat count once.
mod repeats;
/// Reports, tables and claims say the same, and a report stays small.
mod reports;
/// Every game replays, reruns and plays again; a changed record does not.
mod reproduction;
/// Agents that take long for a decision end games early.
mod slow;
/// Standings add up.
mod standings;
/// Names and texts have no retired words.
mod vocabulary;
/// Wrong input is named, ends with the right code and loses nothing.
mod wrong_input;
