//! Games of a tournament, and differences between their records.

use std::{collections::BTreeSet, sync::Arc};

use arena_model::GameId;
use arena_store::{Collection, Store, StoredGame};
use arena_wire::v1;
use prost::Message;
use tonic::{Request, Response};

use super::CoordinatorRpc;
use crate::{
    core::disputes,
    error::Error,
    rpc::{Answer, pages, sealed},
    stored_game,
};

impl CoordinatorRpc {
    /// A game of a tournament, with the board after a number of events if it is wanted.
    pub(super) async fn game(
        &self,
        request: Request<v1::GetGameRequest>,
    ) -> Answer<v1::GetGameResponse> {
        let id: GameId = request.get_ref().game_id.parse().map_err(Error::from)?;
        let info = self.handle.info(&id.tournament).await?;
        let info = info.generation(request.get_ref().generation)?;
        let sealed = sealed::is_sealed(&self.handle, &info).await?;
        let of = Arc::clone(&info);
        let game = self
            .handle
            .with_store(move |store| {
                let game = store.game(&of.key, id.index)?;
                let game = game.ok_or_else(|| Error::UnknownGame { id: id.to_string() })?;
                match sealed && !sealed::is_whole(id.index, &of, store)? {
                    true => Err(Error::SealedGame { id: id.to_string() }),
                    false => Ok(game),
                }
            })
            .await?;
        let side = stored_game::read_side(&game);
        let record = stored_game::read_message(&game)?;
        let board = match request.get_ref().board_after {
            Some(after) => self.board(&info, &record, after).await,
            None => None,
        };
        Ok(Response::new(v1::GetGameResponse {
            board,
            record: Some(record),
            setup: Some(info.setup.clone()),
            timing: side.timing,
            fault_details: side.fault_details,
            outputs: side.outputs,
        }))
    }

    /// A page of the games of a tournament.
    pub(super) async fn games(
        &self,
        request: Request<v1::ListGamesRequest>,
    ) -> Answer<v1::ListGamesResponse> {
        let request = request.into_inner();
        let id = request.tournament_id.clone();
        let info = self.handle.ask(move |core| core.info(&id)).await?;
        let info = info.generation(request.generation)?;
        let sealed = sealed::is_sealed(&self.handle, &info).await?;
        let from = match &*request.page_token {
            "" => request.from_index,
            token => token.parse().map_err(|_| Error::PageToken)?,
        };
        let size = pages::size(request.page_size);
        let page = self
            .handle
            .page(move |store| {
                let hide = |games: &[StoredGame]| match sealed {
                    true => sealed::hidden(games, &info, store),
                    false => Ok(BTreeSet::new()),
                };
                if request.columns {
                    return pages::of_columns(store, &info, from, request.with_timing, hide);
                }
                let games = store.games(&info.key, from, size)?;
                let hidden = hide(&games)?;
                pages::of_games(games, size, &request, &hidden)
            })
            .await?;
        Ok(Response::new(page))
    }

    /// A page of the games whose records differ.
    pub(super) async fn differences(
        &self,
        request: Request<v1::ListDifferencesRequest>,
    ) -> Answer<v1::ListDifferencesResponse> {
        let request = request.into_inner();
        let id = request.tournament_id;
        let known = id.clone();
        let unlisted = self.handle.ask(move |core| core.unlisted(&known)).await?;
        let info = self.handle.info(&id).await?;
        let sealed = sealed::is_sealed(&self.handle, &info).await?;
        let key = Arc::clone(&info.key);
        let prefix = format!("{key}/");
        let found = self
            .handle
            .page(move |store| Ok(store.list_with(Collection::Differences, &prefix)?))
            .await?;
        let found = found.into_iter();
        let found = found.filter(|(key, _)| *key > request.page_token);
        let (found, more) = pages::first(found, request.page_size, |(_, bytes)| bytes.len());
        let next = found.last().filter(|_| more);
        let next_page_token = next.map_or_else(String::new, |(key, _)| key.clone());
        let read = move |store: &dyn Store| {
            let mut differences = Vec::with_capacity(found.len());
            for (of, bytes) in &found {
                let mut difference = v1::Difference::decode(bytes.as_slice())
                    .map_err(|error| Error::damaged(format!("difference {of}"), error))?;
                // A difference may name dice.
                let id: GameId = difference.game_id.parse().map_err(Error::from)?;
                if sealed && !sealed::is_whole(id.index, &info, store)? {
                    continue;
                }
                disputes::add_third_play(store, &key, &mut difference)?;
                differences.push(difference);
            }
            Ok(differences)
        };
        let differences = self.handle.with_store(read).await?;
        Ok(Response::new(v1::ListDifferencesResponse {
            differences,
            next_page_token,
            unlisted,
        }))
    }
}
