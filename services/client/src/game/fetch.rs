//! Requests of finished games.

use arena_wire::v1;

use crate::{
    access::Client,
    failure::{Failure, Outcome},
    ids,
};

/// A finished game and its tournament's setup.
pub async fn fetch(client: &mut Client, id: &str) -> Outcome<v1::GetGameResponse> {
    let game_id = ids::game(client, id).await?;
    let _: arena_model::GameId = game_id.parse().map_err(Failure::usage)?;
    let request = v1::GetGameRequest {
        game_id,
        ..Default::default()
    };
    Ok(client.get_game(request).await?.into_inner())
}

/// A failure with the id of its game.
#[must_use]
pub fn in_game(id: &str, failure: &Failure) -> Failure {
    Failure::new(failure.kind(), format!("game {id}: {failure}"))
}
