//! The rules of a tournament that are a package.

use std::sync::Arc;

use arena_wire::v1;

use super::fleet::Fleet;
use crate::{
    context::SetupError,
    rules::{RulesService, RulesSource},
};

impl Fleet {
    /// What answers for the rules of a tournament, if they are a package.
    pub(super) fn rules(
        &self,
        setup: &v1::TournamentSetup,
    ) -> Result<Option<Arc<dyn RulesService>>, SetupError> {
        let Some(rules) = &setup.rules else {
            return Ok(None);
        };
        let Some(package) = &rules.package else {
            return Ok(None);
        };
        let failed = |problem: String| SetupError::Package {
            ruleset: setup.ruleset.clone(),
            problem,
        };
        let program = self.packages.get(&package.sha256).cloned();
        let program = program.ok_or_else(|| failed("its package was not fetched".to_owned()))?;
        let source = RulesSource::of_rules(program, package, rules);
        let host = self.drivers.rules_host(&setup.ruleset, source);
        Ok(Some(host.map_err(|error| failed(error.to_string()))?))
    }
}
