//! Records of real games, played at random, for every place of a schedule.

use arena_games::{GamesError, Visitor, visit};
use arena_model::{
    BlockSeed, GameRecord, Tournament,
    engine::{AgentRng, Finished, Game, Match, Setup, Status},
};
use arena_tournament::ScheduledGame;

/// Finished games, to be reported as those of any place of a schedule. What is
/// dealt out again differs from the game of that place in its events alone,
/// which nobody but a replay could tell.
pub(crate) struct Pool(Vec<GameRecord>);

struct Play {
    games: u64,
    names: Vec<String>,
    seed: u64,
}

impl Visitor for Play {
    type Out = Vec<Finished>;

    fn visit<G: Game>(self, game: G) -> Vec<Finished> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let play = |number: u64| {
            let keys = BlockSeed(self.seed.wrapping_add(number)).keys(&names);
            let setup = Setup::new(keys, arena_model::engine::Opening::NONE);
            let mut play = Match::new(game.clone(), setup);
            while let Status::Asks(question) = play.status() {
                let action = AgentRng::new(question.seed).pick(play.legal());
                if play.answer(action.into()).is_err() {
                    play.void();
                }
            }
            play.finish()
        };
        (0..self.games).map(play).collect()
    }
}

impl Pool {
    /// Plays this many games of a tournament's rules.
    pub(crate) fn play(tournament: &Tournament, games: u64) -> Result<Self, GamesError> {
        let names = tournament.agents.iter().map(|agent| agent.name.to_string());
        let play = Play {
            games,
            names: names.take(tournament.seats).collect(),
            seed: 0x5eed,
        };
        let played = visit(
            &tournament.ruleset,
            &tournament.options,
            tournament.seats,
            play,
        )?;
        let record = |finished| GameRecord::new(0, 0, BlockSeed(0), Vec::new(), finished);
        Ok(Self(played.into_iter().map(record).collect()))
    }

    /// A record for a place of the schedule; its hash is as good as random.
    pub(crate) fn record(&self, game: ScheduledGame) -> GameRecord {
        let chosen = AgentRng::new(game.index).word() as usize % self.0.len();
        let mut hash = [0; 32];
        let mut words = AgentRng::new(!game.index);
        for chunk in hash.chunks_exact_mut(8) {
            chunk.copy_from_slice(&words.word().to_le_bytes());
        }
        GameRecord {
            index: game.index,
            block: game.block,
            seed: game.seed,
            seats: game.seats,
            hash,
            ..self.0[chosen].clone()
        }
    }
}
