//! Rulesets that are registered packages.

use std::path::{Path, PathBuf};

use arena_report::rulesets::CONTENT_SHOWN;
use arena_wire::{pages::Pages, v1};
use arena_worker::{BinaryProvider, CoordinatorBinaries};

use crate::{
    access::{Access, AccessArgs, Client},
    failure::{Failure, Outcome},
};

/// All registered rulesets.
pub async fn all(client: &mut Client) -> Outcome<Vec<v1::Ruleset>> {
    let mut all = Vec::new();
    let mut request = v1::ListRulesetsRequest::default();
    let mut read = Pages::default();
    loop {
        let page = client.list_rulesets(request.clone()).await?;
        let page = page.into_inner();
        let goes_on = read.goes_on(&page, page.rulesets.len(), &page.next_page_token)?;
        all.extend(page.rulesets);
        if !goes_on {
            return Ok(all);
        }
        request.page_token = page.next_page_token;
    }
}

/// The package of a registered ruleset with this content.
///
/// # Errors
/// If there is none of this name, or it has another content.
pub async fn of_content(
    client: &mut Client,
    name: &str,
    digest: &str,
) -> Outcome<v1::RulesPackage> {
    let short = |digest: &str| digest.chars().take(CONTENT_SHOWN).collect::<String>();
    let found = all(client).await?.into_iter().find(|it| it.name == name);
    let rules = found.and_then(|found| found.rules);
    let rules = rules.ok_or_else(|| {
        Failure::usage(format!(
            "the rules of {name} are a package with the content {}, and no ruleset of this name is \
             registered there: register it with `arena rulesets register {name} --package PATH`",
            short(digest)
        ))
    })?;
    match rules.digest == digest {
        true => Ok(rules),
        false => Err(Failure::usage(format!(
            "the game was played with the rules of {name} of the content {}, but the registered \
             package has the content {}: register the former with --replace, or name another \
             store",
            short(digest),
            short(&rules.digest)
        ))),
    }
}

/// Opens a coordinator or data folder, and finds a registered ruleset there. `unknown` is the error
/// for a name that is neither registered nor built in.
pub async fn find(
    place: AccessArgs,
    name: &str,
    unknown: impl std::fmt::Display,
) -> Outcome<(Access, v1::Ruleset)> {
    let unknown = |more: &str| Failure::usage(format!("{unknown}{more}"));
    let is_default = matches!(place, AccessArgs::Unsaid);
    let mut access = match place.open().await {
        Ok(access) => access,
        Err(_) if is_default => {
            let more = "; for a registered one, add --coordinator URL or --data FOLDER";
            return Err(unknown(more));
        }
        Err(error) => return Err(error),
    };
    let found = all(&mut access.client).await;
    let found = found.map(|all| all.into_iter().find(|it| it.name == name));
    match found {
        Ok(Some(ruleset)) => Ok((access, ruleset)),
        other => {
            access.close().await?;
            Err(other
                .err()
                .unwrap_or_else(|| unknown(", and none of this name is registered")))
        }
    }
}

/// Fetches the package of a registered ruleset to a folder; see [`find`].
pub async fn fetch(
    place: AccessArgs,
    name: &str,
    unknown: impl std::fmt::Display,
    folder: &Path,
) -> Outcome<(PathBuf, v1::BinarySource)> {
    let (access, found) = find(place, name, unknown).await?;
    let package = found.rules.and_then(|rules| rules.package);
    let fetched = async {
        let package = package.ok_or_else(|| Failure::failed("it has no package"))?;
        let binaries = CoordinatorBinaries::new(&access.url, &access.credentials, folder);
        let file = binaries.map_err(Failure::failed)?.provide(&package).await;
        Ok((file.map_err(Failure::failed)?, package))
    };
    let fetched = fetched.await;
    access.close().await?;
    fetched
}
