//! Registration and removal of rulesets.

use std::sync::Arc;

use arena_store::Collection;
use arena_wire::{limits, v1};
use prost::Message;

use super::{Core, agents::registered, change, entry::TournamentEntry, unix_us};
use crate::{
    binaries, demands,
    error::Error,
    principal::Principal,
    rulesets::{PREFIX, Rulesets},
};

/// Number of digits of a digest that are shown.
const SHOWN: usize = 12;

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

impl Core {
    /// The rulesets of now.
    pub(crate) fn rulesets(&self) -> Arc<Rulesets> {
        Arc::clone(&self.rulesets)
    }

    /// Says how many games of a package no other worker has replayed.
    /// What the rules of a package mean for its standings.
    pub(super) fn package_notes(entry: &TournamentEntry) -> Vec<String> {
        let info = &entry.info;
        let Some(description) = &info.description else {
            return Vec::new();
        };
        let plies = info.tournament.play.opening_plies.unwrap_or(0);
        let mut notes = Vec::new();
        if !description.chance && plies == 0 {
            notes.push(
                "The game has no chance events, and every game starts from the initial position: scores \
                 hold for this one opening. Agents that do not draw from their seeds repeat their games, \
                 and each repetition counts."
                    .to_owned(),
            );
        }
        if info.has_hidden_information() && !info.is_sealable {
            notes.push(
                "The spec names the seed. An agent that knows it can compute what its seat must not see: \
                 leave out `seed` if you do not trust the agents."
                    .to_owned(),
            );
        }
        notes
    }

    pub(super) fn unverified_note(&self, entry: &TournamentEntry) -> Option<String> {
        let rules = entry.info.setup.rules.as_ref()?;
        let results = entry.results.as_ref()?;
        let (games, replayed) = (results.games(), results.counts.replayed);
        let unverified = games.saturating_sub(replayed);
        if unverified == 0 {
            return None;
        }
        let ruleset = &entry.info.tournament.ruleset;
        let content = rules.digest.get(..SHOWN).unwrap_or_default();
        let agreed = self.audits(entry).map_or(0, |audits| audits.agreed);
        Some(format!(
            "unverified: the rules of {ruleset} are a package (content {content}), and no other worker was \
             connected to replay {unverified} of {games} games (`arena run --workers 2` has two); audits \
             confirmed {agreed} of all games"
        ))
    }

    pub(crate) async fn register_ruleset(
        &mut self,
        request: v1::RegisterRulesetRequest,
        by: &Principal,
    ) -> Result<v1::Ruleset, Error> {
        const METHOD: &str = "RegisterRuleset";
        let id = &request.request_id;
        if let Some(answer) = self.answers.recall(id, by, METHOD, &request)? {
            return Ok(answer);
        }
        let mut ruleset = request
            .ruleset
            .clone()
            .ok_or_else(|| Error::Request("the request has no ruleset".to_owned()))?;
        let known = self.rulesets.get(&ruleset.name);
        ruleset.owner = match known {
            Some(known) => {
                by.check_owner(&known.owner, &format!("ruleset \"{}\"", ruleset.name))?;
                known.owner.clone()
            }
            None => {
                let owned = self.agents.owned_by(&by.owner) + self.rulesets.owned_by(&by.owner);
                by.check_limit(&limits::AGENTS, owned, 1)?;
                by.owner.to_string()
            }
        };
        let uploaded = |sha256: &[u8; 32]| binaries::may_use(&*self.store, sha256, by);
        let stored = self
            .rulesets
            .check(ruleset, request.replace, unix_us(), uploaded)?;
        if let Some(package) = stored.rules.as_ref().and_then(|it| it.package.as_ref()) {
            demands::check("ruleset", &stored.name, package, 0, by)?;
        }
        let document = Some(stored.encode_to_vec());
        let mut changes = vec![change(Collection::Meta, key(&stored.name), document)];
        changes.extend(self.answers.remember(id, by, METHOD, &request, &stored));
        self.persist(changes).await?;
        let content = |it: &v1::Ruleset| {
            let digest = it.rules.as_ref().map(|rules| &*rules.digest);
            format!("content {}", digest.unwrap_or_default())
        };
        let known = self.rulesets.get(&stored.name).map(content);
        by.did(&registered(known, &content(&stored)));
        tracing::info!(
            ruleset = stored.name,
            content = content(&stored),
            "ruleset registered"
        );
        Arc::make_mut(&mut self.rulesets).insert(stored.clone());
        Ok(stored)
    }

    pub(crate) async fn remove_ruleset(
        &mut self,
        request: v1::RemoveRulesetRequest,
        by: &Principal,
    ) -> Result<(), Error> {
        const METHOD: &str = "RemoveRuleset";
        let id = &request.request_id;
        let answer: Option<v1::RemoveRulesetResponse> =
            self.answers.recall(id, by, METHOD, &request)?;
        if answer.is_some() {
            return Ok(());
        }
        let name = &request.name;
        let known = self.rulesets.get(name);
        let known = known.ok_or_else(|| self.rulesets.not_found(name))?;
        by.check_owner(&known.owner, &format!("ruleset \"{name}\""))?;
        let mut changes = vec![change(Collection::Meta, key(name), None)];
        let answer = v1::RemoveRulesetResponse {};
        changes.extend(self.answers.remember(id, by, METHOD, &request, &answer));
        self.persist(changes).await?;
        Arc::make_mut(&mut self.rulesets).remove(name);
        tracing::info!(ruleset = name, "ruleset removed");
        Ok(())
    }
}
