//! The program `arena` without rulesets of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    arena::run(Vec::new())
}
