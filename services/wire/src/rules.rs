//! Rules that are a package, in messages.

use std::sync::Arc;

use arena_model::{
    engine::{AnyGame, Ending, Termination, Transcript, options::Options},
    rules::{RulesDescription, RulesError, is_notation},
};

use crate::{
    convert::{ConvertError, options_from_wire, wrong},
    v1,
};

/// Places of a seat in the number of an event.
const SEATS: u32 = 16;

/// Resolved options, and a game of them.
pub type DescribedGame = (Options, Arc<dyn AnyGame>);

/// The resolved options and the game of a tournament whose rules are a package; none for other
/// rules. The game can only repeat what records state.
///
/// # Errors
/// [`RulesError`] if the description or the options are invalid.
pub fn described(setup: &v1::TournamentSetup) -> Result<Option<DescribedGame>, RulesError> {
    let Some(rules) = &setup.rules else {
        return Ok(None);
    };
    let description = RulesDescription::parse(&rules.description)?;
    let given = options_from_wire(&setup.options);
    let seats = Some(setup.seats as usize);
    let (options, seats) = description.resolve(&setup.ruleset, &given, seats)?;
    Ok(Some((options, Arc::new(description.stated_game(seats)))))
}

impl From<&Transcript> for v1::Transcript {
    fn from(transcript: &Transcript) -> Self {
        let seat = |seat: Option<u8>| seat.map_or(0, |seat| u32::from(seat) + 1);
        let events = transcript.events.iter();
        Self {
            names: transcript.names.clone(),
            events: events.map(|&(by, name)| name * SEATS + seat(by)).collect(),
            ending: transcript
                .ending
                .map_or(v1::Termination::Unspecified, |ending| {
                    Termination::from(ending).into()
                })
                .into(),
            placement: transcript.placement.iter().map(|&it| it.into()).collect(),
            to_move: seat(transcript.to_move),
        }
    }
}

impl TryFrom<&v1::Transcript> for Transcript {
    type Error = ConvertError;

    fn try_from(message: &v1::Transcript) -> Result<Self, ConvertError> {
        const MESSAGE: &str = "Transcript";
        // Lines contain notations as they are.
        if let Some(name) = message.names.iter().find(|name| !is_notation(name)) {
            return wrong(MESSAGE, format!("{name:?} is no notation"));
        }
        let seat = |seat: u32| (seat > 0).then(|| (seat - 1) as u8);
        let events = message.events.iter();
        let events = events.map(|&event| (seat(event % SEATS), event / SEATS));
        let ending = match message.ending() {
            v1::Termination::Unspecified => None,
            v1::Termination::Normal => Some(Ending::Normal),
            v1::Termination::Deadlock => Some(Ending::Deadlock),
            v1::Termination::Repetition => Some(Ending::Repetition),
            v1::Termination::Cap => Some(Ending::Cap),
            v1::Termination::Forfeit | v1::Termination::Void | v1::Termination::Adjudication => {
                return wrong(MESSAGE, "no ending by the rules");
            }
        };
        let placement = message.placement.iter().map(|&rank| u8::try_from(rank));
        let Ok(placement) = placement.collect() else {
            return wrong(MESSAGE, "a rank is too large");
        };
        Ok(Self {
            names: message.names.clone(),
            events: events.collect(),
            ending,
            placement,
            to_move: seat(message.to_move % SEATS),
        })
    }
}
