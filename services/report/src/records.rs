//! Tournaments and their records from the coordinator.

use std::{fmt::Display, pin::Pin, sync::Arc};

use arena_engine::{AnyGame, ReplayError};
use arena_model::{GameRecord, RecordHeader, record::LineWriter};
use arena_wire::{convert, pages::Pages, v1};
use itertools::Itertools;
use tokio::task::JoinSet;

use crate::Client;
use crate::error::{ReportError, Result};

/// The game of a tournament and the data that its record lines share.
pub struct TournamentRecords {
    /// The game.
    pub game: Arc<dyn AnyGame>,
    /// The common header of the records.
    pub header: RecordHeader,
    /// Names of its agents.
    names: Vec<Arc<str>>,
    lines: LineWriter,
    hash_only: bool,
    pub(crate) play: v1::PlaySettings,
}

impl TournamentRecords {
    /// Builds the game of a setup.
    ///
    /// # Errors
    /// [`ReportError::Failed`] if ruleset or options are unknown.
    pub fn new(setup: &v1::TournamentSetup) -> Result<Self> {
        let seats = setup.seats as usize;
        let given = convert::options_from_wire(&setup.options);
        let (ruleset, version) = (&setup.ruleset, setup.rules_version);
        let described = convert::described(setup).map_err(|error| unknown_rules(setup, &error))?;
        let (options, game) = match described {
            Some(described) => described,
            None => {
                let resolved = arena_games::resolve_version(ruleset, version, &given, Some(seats));
                let (options, seats) = resolved.map_err(|error| unknown_rules(setup, &error))?;
                let game = arena_games::build_version(ruleset, version, &options, seats);
                (options, game.map_err(|error| unknown_rules(setup, &error))?)
            }
        };
        let agents = setup.agents.iter();
        let header = RecordHeader {
            tournament_id: setup.tournament_id.clone(),
            ruleset: setup.ruleset.clone(),
            rules_version: setup.rules_version,
            rules_digest: setup.rules.as_ref().map(|rules| rules.digest.clone()),
            options,
            agents: agents.map(|agent| agent.name.clone()).collect(),
            setup: convert::record_setup(setup),
        };
        Ok(Self {
            game,
            lines: LineWriter::new(&header),
            hash_only: setup.hash_only,
            play: setup.play.unwrap_or_default(),
            names: header
                .agents
                .iter()
                .map(|name| name.as_str().into())
                .collect(),
            header,
        })
    }

    /// The name of an agent.
    pub(crate) fn agent(&self, agent: u16) -> Arc<str> {
        Arc::clone(&self.names[usize::from(agent)])
    }

    /// The game that replays a record: from its start position or, if the rules are a package, what
    /// the record states.
    ///
    /// # Errors
    /// [`ReplayError`] if its start position is invalid.
    pub fn game_of(&self, record: &GameRecord) -> Result<Arc<dyn AnyGame>, ReplayError> {
        let own = record.own_game(&*self.game)?;
        Ok(own.map_or_else(|| self.game.clone(), Arc::from))
    }

    /// True if the events of its games are not stored.
    pub fn has_no_events(&self) -> bool {
        self.hash_only
    }

    /// Checks a record against the rules, the seed and the hash.
    pub fn verify(&self, record: &GameRecord) -> Result {
        self.header
            .verify(record, &*self.game)
            .map_err(ReportError::differs)
    }

    /// Checks a record's events against the rules and the seed, and its result and luck
    /// against the replay. If the events are not stored, there is nothing to check.
    pub fn check(&self, record: &GameRecord) -> Result {
        if self.hash_only {
            return Ok(());
        }
        let checked = self.header.check(record, &*self.game);
        checked.map_err(|error| ReportError::differs(format!("{}: {error}", self.name(record))))
    }

    /// The name of a record's game in an error.
    fn name(&self, record: &GameRecord) -> String {
        format!("game {}/{}", self.header.tournament_id, record.index)
    }

    /// The record's line with its hash, without a newline.
    pub fn line(&self, record: &GameRecord) -> Result<String> {
        let mut line = String::with_capacity(8192);
        let (game, hash) = (&*self.game, Some(&record.hash));
        let written = self.lines.write(record, game, hash, &mut line);
        written.map_err(|error| {
            ReportError::differs(format!("{} cannot be replayed: {error}", self.name(record)))
        })?;
        Ok(line)
    }

    /// A record's line without events, because they are not stored or not wanted. It has
    /// `null` in their place, and the actions of the opening. Its hash is the hash of the
    /// full line.
    pub fn short_line(&self, record: &GameRecord) -> Result<String> {
        let short = GameRecord {
            events: Vec::new(),
            transcript: None,
            ..record.clone()
        };
        let line = self.line(&short)?;
        let opening = record.opening();
        let mut events = "\"events\":null".to_owned();
        if !opening.is_empty() {
            events += &format!(",\"opening\":[{}]", opening.iter().format(","));
        }
        Ok(line.replacen("\"events\":[]", &events, 1))
    }
}

/// Error for a tournament with an unknown ruleset.
fn unknown_rules(setup: &v1::TournamentSetup, error: &dyn Display) -> ReportError {
    ReportError::failed(format!("tournament {}: {error}", setup.tournament_id))
}

/// Error text for a game whose moves are not stored.
#[must_use]
pub fn not_kept(tournament: &str, game: &str) -> String {
    format!(
        "tournament {tournament} stores no moves (records = \"hash\"): use `arena game rerun \
         {game}`, which plays the game again and compares its hash"
    )
}

/// Requests a tournament by its id.
///
/// # Errors [`ReportError::Status`] if the coordinator does not have it.
pub async fn tournament(client: &mut Client, id: &str) -> Result<v1::Tournament> {
    let request = v1::GetTournamentRequest {
        tournament_id: id.to_owned(),
    };
    let answer = client.get_tournament(request).await?.into_inner();
    Ok(answer.tournament.unwrap_or_default())
}

/// Converts a record message.
pub fn record(message: Option<&v1::GameRecord>) -> Result<GameRecord> {
    let absent = || ReportError::failed("the coordinator sent a game without a record");
    GameRecord::try_from(message.ok_or_else(absent)?).map_err(ReportError::failed)
}

/// Calls `each` with the finished games of a tournament, in index order, from the page that
/// `request` names on.
///
/// # Errors
/// That of `each`, or a [`ReportError`].
pub async fn each_game(
    client: &mut Client,
    mut request: v1::ListGamesRequest,
    mut each: impl FnMut(&v1::GameReport, GameRecord) -> Result,
) -> Result {
    let (mut games, mut token) = page(client.clone(), request.clone()).await?;
    let mut read = Pages::default();
    while read.follows(&token)? {
        request.page_token = token;
        // The next page comes while this one is used.
        let mut next = JoinSet::new();
        next.spawn(page(client.clone(), request.clone()));
        use_page(games, &mut each)?;
        let next = next.join_next().await.and_then(|page| page.ok());
        (games, token) = next.ok_or_else(|| ReportError::failed("a page could not be read"))??;
    }
    use_page(games, &mut each)
}

/// Calls `each` with the columns of the finished games of a tournament, a page at a time, in index order.
///
/// # Errors
/// That of `each`, or a [`ReportError`].
pub async fn each_page(
    client: &mut Client,
    rules: &TournamentRecords,
    mut request: v1::ListGamesRequest,
    mut each: impl FnMut(&v1::GameColumns) -> Result,
) -> Result {
    request.columns = true;
    let mut read = Pages::default();
    let (seats, agents) = (rules.game.seats(), rules.names.len());
    let mut pages = JoinSet::new();
    pages.spawn(columns(client.clone(), request.clone(), seats, agents));
    while let Some(page) = pages.join_next().await {
        let (columns_of_page, token) =
            page.map_err(|_| ReportError::failed("a page could not be read"))??;
        if read.follows(&token)? {
            request.page_token = token;
            // The next page comes while this one is used.
            pages.spawn(columns(client.clone(), request.clone(), seats, agents));
        }
        each(&columns_of_page)?;
    }
    Ok(())
}

/// Fetches a page of columns, and the token of the next one. Boxed as [`page`] is.
fn columns(
    mut client: Client,
    request: v1::ListGamesRequest,
    seats: usize,
    agents: usize,
) -> Fetched<(v1::GameColumns, String)> {
    Box::pin(async move {
        let page = client.list_games(request).await?.into_inner();
        let absent = || {
            ReportError::failed(
                "the coordinator sent no columns of games: it is older than this arena; use an arena of \
                 its version",
            )
        };
        let columns = page.columns.ok_or_else(absent)?;
        columns.check(seats, agents).map_err(ReportError::failed)?;
        Ok((columns, page.next_page_token))
    })
}

fn use_page(
    games: Vec<(v1::GameReport, GameRecord)>,
    each: &mut impl FnMut(&v1::GameReport, GameRecord) -> Result,
) -> Result {
    let mut games = games.into_iter();
    games.try_for_each(|(game, record)| each(&game, record))
}

type Fetched<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

/// Games with their records, and the token of the next page.
type Page = (Vec<(v1::GameReport, GameRecord)>, String);

/// Fetches and decodes a page. Boxed, so that decoding is compiled and optimised with this crate.
fn page(mut client: Client, request: v1::ListGamesRequest) -> Fetched<Page> {
    Box::pin(async move {
        let page = client.list_games(request).await?.into_inner();
        let games = page.games.into_iter().map(|game| {
            let record = record(game.record.as_ref())?;
            Ok((game, record))
        });
        Ok((games.collect::<Result<_>>()?, page.next_page_token))
    })
}
