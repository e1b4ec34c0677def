//! A game, ply by ply.

use arena_model::{GameId, GameRecord};
use arena_report::{
    records::{self, TournamentRecords},
    stepper::Stepper,
};
use arena_wire::v1;
use askama::Template;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};

use crate::{
    answer::{Answer, Failure, Outcome},
    lists::seats,
    site::Site,
};

/// Maximum number of plies that are listed before and after the shown one.
const LISTED: usize = 200;

#[derive(Template)]
#[template(path = "game.html")]
struct Page<'a> {
    id: &'a str,
    index: u64,
    ruleset: &'a str,
    seed: String,
    hash: String,
    /// Name of the termination.
    end: &'static str,
    players: Vec<SeatView<'a>>,
    faults: Vec<Fault>,
    /// None if the moves are not stored.
    board: Option<Board>,
    /// Why there is no board.
    missing: String,
}

struct SeatView<'a> {
    name: &'a str,
    seat: usize,
    side: Option<&'static str>,
    place: String,
    score: String,
    is_next: bool,
}

struct Fault {
    text: String,
    output: String,
}

/// The position after a number of plies.
struct Board {
    /// HTML of this program; none if a package of rules draws the board.
    drawing: Option<String>,
    /// What a package drew.
    package: PackageBoard,
    ply: usize,
    plies: usize,
    said: String,
    /// Number and text of plies, and whether they are shown before and after these.
    listed: Vec<(usize, String)>,
    is_cut: bool,
}

/// What a package of rules drew, or why it did not. A stranger wrote it.
#[derive(Default)]
struct PackageBoard {
    text: String,
    /// SVG as a `data:` URL for an `img` element: there it loads nothing and runs no script.
    picture: String,
    problem: String,
}

impl From<v1::Board> for PackageBoard {
    fn from(board: v1::Board) -> Self {
        let picture = match &*board.svg {
            "" => String::new(),
            svg => format!("data:image/svg+xml;base64,{}", BASE64.encode(svg)),
        };
        Self {
            text: board.text,
            picture,
            problem: board.problem,
        }
    }
}

impl Board {
    fn new(game: &Stepper, ply: usize, end: &str, package: Option<v1::Board>) -> Self {
        let plies = game.plies();
        let mut said = match ply.checked_sub(1) {
            Some(last) => format!("Ply {ply} of {plies}: {}.", text(game, last)),
            None => format!("Before the first of {plies} plies."),
        };
        if ply == plies {
            said += &format!(" The game is over: {end}.");
        }
        let from = ply.saturating_sub(LISTED);
        let to = plies.min(ply + LISTED);
        Self {
            drawing: package.is_none().then(|| game.drawing(ply)),
            package: package.map(Into::into).unwrap_or_default(),
            ply,
            plies,
            said,
            listed: (from..to).map(|it| (it + 1, text(game, it))).collect(),
            is_cut: from > 0 || to < plies,
        }
    }
}

/// Who did what in a ply.
fn text(game: &Stepper, number: usize) -> String {
    let Some(ply) = game.ply(number) else {
        return String::new();
    };
    let agent = ply.agent.unwrap_or("table");
    let drawn = match ply.drawn {
        "" => String::new(),
        drawn => format!(" (drew {drawn})"),
    };
    let opening = if ply.is_opening { ", opening" } else { "" };
    format!("{agent} {}{drawn}{opening}", ply.notation)
}

fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

/// A finished game of a tournament. If its rules are a package, a worker draws the board after a number
/// of plies.
async fn fetch(
    site: &Site,
    id: &str,
    index: &str,
    board_after: Option<u64>,
) -> Outcome<v1::GetGameResponse> {
    let game_id = format!("{id}/{index}");
    let parsed: Result<GameId, _> = game_id.parse();
    parsed.map_err(|_| Failure::not_found("there is no game with this number"))?;
    let request = v1::GetGameRequest {
        game_id,
        board_after,
        ..Default::default()
    };
    Ok(site.client().get_game(request).await?.into_inner())
}

/// The record of a game, as `arena game show --output json` prints it.
pub(crate) async fn json(site: &Site, id: &str, index: &str) -> Outcome {
    let game = fetch(site, id, index, None).await?;
    let rules = TournamentRecords::new(&game.setup.unwrap_or_default())?;
    let record = records::record(game.record.as_ref())?;
    Ok(Answer::json(&match record.is_whole() {
        true => rules.line(&record)?,
        false => rules.short_line(&record)?,
    }))
}

/// The page of a game after a number of plies; none: at its end.
pub(crate) async fn page(site: &Site, id: &str, index: &str, ply: Option<u64>) -> Outcome {
    let game = fetch(site, id, index, Some(ply.unwrap_or(u64::MAX))).await?;
    let setup = game.setup.clone().unwrap_or_default();
    let rules = TournamentRecords::new(&setup)?;
    let record = records::record(game.record.as_ref())?;
    let names = seats(&rules, &record);
    let has_moves = !setup.hash_only && !record.events.is_empty();
    let stepper = has_moves.then(|| Stepper::new(&rules, &record));
    let stepper = stepper.transpose()?;
    let end = record.termination.name();
    let board = match &stepper {
        Some(stepper) => {
            let plies = stepper.plies();
            let ply = ply.map_or(Some(plies), |ply| usize::try_from(ply).ok());
            let ply = ply.filter(|ply| *ply <= plies);
            let missing = || Failure::not_found(format!("this game has only {plies} plies"));
            Some(Board::new(
                stepper,
                ply.ok_or_else(missing)?,
                end,
                game.board,
            ))
        }
        None => None,
    };
    let next = stepper.as_ref().zip(board.as_ref());
    let next = next.and_then(|(stepper, board)| stepper.seat(board.ply));
    let players = names.iter().enumerate().map(|(seat, name)| SeatView {
        name,
        seat,
        side: stepper.as_ref().and_then(|it| it.side(seat)),
        place: or_dash(record.placement.get(seat)),
        score: or_dash(record.scores.get(seat)),
        is_next: next == Some(seat),
    });
    let missing = match setup.hash_only {
        true => records::not_kept(id, &format!("{id}/{index}")),
        false => "this game has no moves".to_owned(),
    };
    let page = Page {
        id,
        index: record.index,
        ruleset: &setup.ruleset,
        seed: record.seed.to_string(),
        hash: hex::encode(record.hash),
        end,
        players: players.collect(),
        faults: faults(&names, &record, &game.fault_details),
        board,
        missing,
    };
    Ok(Answer::page(&page.render()?))
}

fn faults(names: &[&str], record: &GameRecord, details: &[v1::FaultDetail]) -> Vec<Fault> {
    let name = |seat: usize| names.get(seat).copied().unwrap_or("?");
    let faults = record.faults.iter().map(|it| {
        let detail = details.iter().find(|of| of.seat == u32::from(it.seat));
        let message = detail.map_or("", |it| it.message.as_str());
        let colon = if message.is_empty() { "" } else { ": " };
        let (name, kind) = (name(usize::from(it.seat)), it.kind.name());
        Fault {
            text: format!("{name} ({kind}) at ply {}{colon}{message}", it.ply),
            output: detail.map_or_else(String::new, |it| it.stderr_tail.clone()),
        }
    });
    faults.collect()
}
