//! Changes of the agents of an open ladder.

use std::sync::Arc;

use arena_model::{canonical_json, spec::Spec};
use arena_store::{StoreError, VALUE_BYTES_MAX};
use arena_wire::{
    limits,
    v1::{self, TournamentState},
};

use super::{
    Core,
    entry::{state_name, stored},
    tournaments::weight,
};
use crate::{
    error::Error,
    principal::Principal,
    season::{Changed, Season},
};

impl Core {
    /// Adds, replaces, benches or bans an agent of an open ladder. The change is durable before it is
    /// answered, and applies to stages that are not drawn yet.
    pub(crate) async fn change_agents(
        &mut self,
        request: v1::ChangeAgentsRequest,
        by: &Principal,
    ) -> Result<v1::ChangeAgentsResponse, Error> {
        const METHOD: &str = "ChangeAgents";
        let id = &request.tournament_id;
        let known: Option<v1::ChangeAgentsResponse> =
            self.answers
                .recall(&request.request_id, by, METHOD, &request)?;
        if let Some(known) = known {
            let tournament = Some(self.tournament(id)?);
            return Ok(v1::ChangeAgentsResponse {
                tournament,
                ..known
            });
        }
        self.check_owner(id, by)?;
        if self.draining() {
            return Err(Error::Draining);
        }
        let entry = self.entry(id)?;
        let state = entry.document.state();
        if !matches!(state, TournamentState::Running | TournamentState::Paused) {
            let state = state_name(state).unwrap_or("in an unknown state");
            return Err(Error::State(format!("tournament {id} is {state}")));
        }
        let changed = Season {
            tournament: &entry.info.tournament,
            spec: &Spec::parse(&entry.document.spec_toml)?,
            agents: &self.agents,
            scheduled: entry.info.schedule().blocks(),
        }
        .change(&request)?;
        let before = weight(entry.info.agents.len());
        let more = weight(changed.tournament.agents.len()).saturating_sub(before);
        if more > 0 {
            by.check_limit(&limits::STORED_TOURNAMENTS, self.stored_of(&by.owner), more)?;
        }
        let Changed {
            tournament,
            added,
            entry: name,
            at_blocks,
        } = changed;
        let mut document = entry.document.clone();
        document.spec_json = canonical_json(&tournament);
        if let Some(setup) = &mut document.setup {
            setup.agents.extend(added);
        }
        let change = stored(&document);
        let bytes = change.value.as_ref().map_or(0, Vec::len);
        if bytes > VALUE_BYTES_MAX {
            return Err(Error::Store(StoreError::TooLarge {
                what: format!("the tournament {id} with its agents"),
                bytes,
                limit: VALUE_BYTES_MAX,
            }));
        }
        let mut answer = v1::ChangeAgentsResponse {
            tournament: None,
            entry: name,
            at_blocks,
        };
        let mut changes = vec![change];
        changes.extend(
            self.answers
                .remember(&request.request_id, by, METHOD, &request, &answer),
        );
        self.persist(changes).await?;
        tracing::info!(
            tournament = id,
            agent = answer.entry,
            kind = request.kind().as_str_name(),
            at_blocks,
            "the agents of an open ladder changed"
        );
        self.follow_changes(id, document, tournament)?;
        answer.tournament = Some(self.tournament(id)?);
        Ok(answer)
    }

    /// Applies a durable change.
    fn follow_changes(
        &mut self,
        id: &str,
        document: v1::Tournament,
        tournament: arena_model::Tournament,
    ) -> Result<(), Error> {
        let entry = self.entry_mut(id)?;
        let Some(results) = &mut entry.results else {
            return Ok(());
        };
        results.follow_changes(&tournament);
        let setup = document.setup.clone().unwrap_or_default();
        let info = entry.info.with_agents(tournament, setup, &results.stages);
        let info = Arc::new(info);
        entry.document = document;
        entry.info = Arc::clone(&info);
        entry.sealed_spec = Default::default();
        entry.shown = None;
        entry.costly = None;
        entry.touch();
        let number = entry.number;
        if let Some(number) = number {
            self.ledger
                .set_progress_timeouts(number, info.progress_timeouts());
        }
        let labels = info.labels.iter().map(String::as_str);
        self.metrics.prepare(&info.tournament.ruleset, labels);
        self.directory.add(&info);
        Ok(())
    }
}
