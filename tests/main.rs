//! Tests across processes, in one binary. Each test uses its own folder and free ports, and leaves
//! no process running.

/// Games end early if the scores of both agents agree.
mod adjudication;
/// Agents run as the user of `--agent-user`.
mod agent_user;
/// `agent check` agrees with play.
mod agreement;
/// Crates have only the dependencies that the design allows.
mod architecture;
/// Each attack on earlier versions has a test that refuses it.
mod attacks;
/// The benchmark measures its documented figures.
mod benchmark;
/// Boards of rules that are a package.
mod boards;
/// Opening books from files.
mod books;
/// Each step of `arena agent check` fails agents that break its promise.
mod check_steps;
mod circles;
/// Users find games, tournaments and tables by their properties.
mod commands;
/// Crowds of connections leave files for the store, and room for the coordinator's user.
mod crowds;
/// Games that damage removed are played again.
mod damage;
/// Every call needs a token or certificate.
mod door;
/// Programs that try to leave the sandbox.
mod escapes;
/// Evolution continues after a kill, and its agents play.
mod evolve;
/// Each misbehaviour of an agent is charged with its own fault.
mod faults;
/// Every format gives the same results with any fleet.
mod formats;
/// Tournaments that keep only hashes.
mod hashes;
/// Help texts are as reviewed.
mod help;
/// Agents see what their seats may see.
mod hidden_information;
/// One bad host does not disturb a tournament.
mod hosts;
/// A tournament uses exactly the registered content.
mod identity;
/// A client of KEDA's interface asks how many workers to run.
mod keda;
/// Agents of `arena agent new` in every language.
mod kits;
/// Pause, resume, cancel, Ctrl-C and restarts.
mod lifecycle;
/// Tokens have limits, and commands and workers wait if they send too many requests.
mod limits;
/// A worker that plays a stronger bot is found, and its games are replaced.
mod lying_worker;
/// Games with more than four seats.
mod many_seats;
/// Any fleet, killed or not, produces the same records.
mod one_result;
/// The output of agents is kept, and the line of an error is shown.
mod outputs;
/// A program with a ruleset of its own.
mod own_ruleset;
/// Built-in bots at rules that are a package.
mod package_bots;
/// Errors of rules that are a package are shown with what the package printed.
mod package_errors;
/// Probabilities and wide ids of rules that are a package.
mod package_events;
mod package_grpc;
mod package_hosts;
/// Other workers refute false records of a package.
mod package_lies;
mod package_promises;
/// Rules that are a package: played, checked, and registered.
mod package_rules;
/// The pages for authors of agents work as written, and `arena` prints the pages of rulesets.
mod pages;
/// A person plays on the terminal.
mod person;
/// PostgreSQL as a store: the same results, kills, copies, and a standby.
mod postgres;
/// Metrics, dashboards, rules, and all of `deploy/`.
mod prometheus;
/// A Python agent in a game of four.
mod python;
/// The commands of the README work as written.
mod readme;
/// Dice follow from the seed, and one line is enough to play its game again.
mod records;
/// The workflow of releases packs this machine's target.
mod release;
/// Games that repeat count once.
mod repeats;
/// Reports, tables and claims agree, and reports stay small.
mod reports;
/// Every game replays and reruns; a changed record does not.
mod reproduction;
/// Archives, removal of tournaments, and the space that they give back.
mod retention;
mod returns;
/// Tournaments of older rules stay readable.
mod rules_versions;
/// Agents run in a sandbox, with limits.
mod sandbox;
/// Agents come and go while an open ladder runs.
mod season;
/// Tokens and keys stay secret.
mod secrets;
/// What only the memory of a worker has stays there.
mod secrets_in_memory;
/// Slow agents end games early.
mod slow;
mod slurm;
/// Standings agree with the games.
mod standings;
/// Text of agents and workers cannot control a terminal, page or spreadsheet.
mod strangers;
/// Errors of TLS and of tokens say what to do.
mod tls_messages;
/// Chess engines that speak UCI are agents.
mod uci;
/// A worker that lies about its games.
mod untrusted_workers;
/// Names and texts have no retired words.
mod vocabulary;
/// Read-only web pages show what commands show, to those who may read.
mod web;
/// Wrong input is reported with the right exit code, and loses no data.
mod wrong_input;
