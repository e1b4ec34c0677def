//! What a host starts, and whether it is here what it was where it was registered.

use std::path::PathBuf;

use arena_model::rules::RulesDescription;
use arena_wire::v1;

use super::{
    super::{RulesCause, RulesFailure, loaded::difference, process::RulesProcess},
    RulesHost,
};
use crate::{lock, supervise::Limits};

/// A package to start.
#[derive(Clone, Debug)]
pub struct RulesSource {
    /// The executable, or the package.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Limits of each process.
    pub limits: Limits,
    /// What is known from the registration; none before.
    pub registered: Option<v1::RulesPackage>,
}

impl RulesSource {
    /// A registered package, in the file that was fetched.
    #[must_use]
    pub fn of_binary(program: PathBuf, binary: &v1::BinarySource) -> Self {
        Self {
            program,
            args: binary.args.clone(),
            limits: Limits::from_wire(binary.limits.as_ref()),
            registered: None,
        }
    }

    /// As [`Self::of_binary`], for the rules of a tournament: where they describe themselves differently than
    /// at their registration, or load other libraries, they do not start.
    #[must_use]
    pub fn of_rules(program: PathBuf, binary: &v1::BinarySource, rules: &v1::RulesPackage) -> Self {
        Self {
            registered: Some(rules.clone()),
            ..Self::of_binary(program, binary)
        }
    }
}

impl RulesHost {
    /// The interpreter and the libraries that the rules had loaded when they described themselves.
    ///
    /// # Errors
    /// Why this is unknown.
    pub fn loaded(&self) -> Result<&[v1::LoadedFile], &str> {
        match self.loaded.get() {
            Some(Ok(loaded)) => Ok(loaded),
            Some(Err(problem)) => Err(problem),
            None => Err("the rules have not started"),
        }
    }

    /// Most bytes of memory that an idle process used so far, and the limit of a process; none if the system does
    /// not show it, or if no process is idle.
    #[must_use]
    pub fn memory(&self) -> Option<(u64, u64)> {
        let processes = lock(&self.processes);
        let used = processes
            .idle
            .iter()
            .filter_map(|it| it.memory(&self.guard));
        used.max().map(|used| (used, self.memory_limit))
    }

    /// Fails if the rules are not here what they were at their registration.
    pub(super) fn check_registered(
        &self,
        text: &str,
        process: &RulesProcess,
    ) -> Result<(), RulesFailure> {
        let loaded = self.loaded.get_or_init(|| {
            let loaded = process.loaded(&self.guard);
            loaded.map_err(|error| error.to_string())
        });
        let Some(registered) = &self.registered else {
            return Ok(());
        };
        let differ = |problem: String| RulesFailure::new(RulesCause::Start, problem);
        let described = RulesDescription::parse(text).map(|it| it.to_json());
        if described.is_ok_and(|it| it != registered.description) {
            return Err(differ(
                "the package describes itself differently here than where it was registered: it \
                 depends on something of the machine"
                    .to_owned(),
            ));
        }
        if registered.loaded.is_empty() {
            return Ok(());
        }
        let problem = match loaded {
            Ok(loaded) => difference(loaded, &registered.loaded),
            Err(error) => Some(error.clone()),
        };
        problem.map_or(Ok(()), |problem| {
            Err(differ(format!(
                "the package loads other libraries here than where it was registered ({problem}): install \
                 the same versions, or register it again with `--libraries any`"
            )))
        })
    }
}
