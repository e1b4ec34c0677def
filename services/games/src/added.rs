//! Rulesets that the program adds to the built-in ones, and their games without types.

use std::{
    any::Any,
    fmt::{self, Debug, Write},
    hash::{Hash, Hasher},
    sync::{Arc, OnceLock},
};

use arena_engine::{
    ActionId, AnyGame, Event, Game, MAX_SEATS, Node, OutcomeId, PerSeat, PositionError, Transcript,
    options::{OptionError, Options, coerce},
};

use crate::{
    registry::{GamesError, Visitor},
    ruleset::{Ruleset, RulesetInfo},
};

static ADDED: OnceLock<Vec<AddedRuleset>> = OnceLock::new();

/// Makes a game of any type from options and a number of seats.
type Build = fn(&Options, usize) -> Result<Arc<dyn AnyGame>, OptionError>;

/// A ruleset of the program's own.
#[derive(Debug)]
pub struct AddedRuleset {
    pub(crate) info: RulesetInfo,
    make: fn(&Options, usize) -> Result<AddedGame, OptionError>,
    /// The same with the static type inside: whole matches and replays are as fast as those of a
    /// built-in game.
    pub(crate) build: Build,
    typed: Typed,
}

/// The visitors of an added ruleset that have code for the static type of its games, and so are as fast
/// as with a built-in one.
#[derive(Default)]
pub struct Typed(Vec<Box<dyn Any + Send + Sync>>);

type Visit<V> = fn(V, &Options, usize) -> Result<<V as Visitor>::Out, OptionError>;

impl Typed {
    /// The whole of [`Visitor::visit_added`] for a visitor that may be one of these.
    ///
    /// # Errors
    /// The visitor, if it is none of these.
    pub fn visit<V: Visitor<Out: 'static> + 'static>(
        &self,
        visitor: V,
        options: &Options,
        seats: usize,
    ) -> Result<Result<V::Out, OptionError>, V> {
        let mut all = self.0.iter();
        match all.find_map(|visit| visit.downcast_ref::<Visit<V>>()) {
            Some(visit) => Ok(visit(visitor, options, seats)),
            None => Err(visitor),
        }
    }
}

impl Debug for Typed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} visitors", self.0.len())
    }
}

/// Why rulesets cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// Names are part of records, URLs and commands.
    #[error(
        "\"{0}\" cannot be the name of a ruleset: use 1 to 40 lower-case letters, digits and dashes, \
         and begin with a letter"
    )]
    Name(&'static str),
    /// Each name stands for one ruleset.
    #[error("there are two rulesets named \"{0}\": rename the added one")]
    Taken(&'static str),
    /// Other numbers cannot be played.
    #[error("ruleset {0}: seats are {1} to {2}, but have to be within 2 to {MAX_SEATS}")]
    Seats(&'static str, usize, usize),
    /// No tournament could be played with such a value.
    #[error("ruleset {0}: {1}: correct the default, the preset or the bounds")]
    Value(&'static str, String),
    /// The list of rulesets never changes.
    #[error("rulesets have to be added once, before any other use of this program")]
    Late,
}

impl AddedRuleset {
    /// The ruleset of a type.
    #[must_use]
    pub fn of<G: Ruleset>() -> Self {
        Self {
            info: RulesetInfo {
                name: G::NAME,
                version: G::VERSION,
                ..G::info()
            },
            make: |options, seats| Ok(AddedGame::of(G::with_options(options, seats)?)),
            build: |options, seats| Ok(Arc::new(G::with_options(options, seats)?)),
            typed: Typed::default(),
        }
    }

    /// The same with code of a visitor for `G`, which is the type that it was made of.
    #[must_use]
    pub fn visited_by<G: Ruleset, V: Visitor<Out: 'static> + 'static>(mut self) -> Self {
        let visit: Visit<V> =
            |visitor, options, seats| Ok(visitor.visit(G::with_options(options, seats)?));
        self.typed.0.push(Box::new(visit));
        self
    }

    pub(crate) fn visit<V: Visitor>(
        &self,
        options: &Options,
        seats: usize,
        visitor: V,
    ) -> Result<V::Out, OptionError> {
        match visitor.visit_added(&self.typed, options, seats) {
            Ok(visited) => visited,
            Err(visitor) => Ok(visitor.visit((self.make)(options, seats)?)),
        }
    }

    /// The error of options that contradict each other.
    pub(crate) fn fails(&self, error: OptionError) -> GamesError {
        GamesError::Options {
            ruleset: self.info.name,
            error,
        }
    }
}

/// Adds rulesets. Call it first of all: the list of rulesets is fixed at its first use.
///
/// # Errors
/// [`AddError`].
pub fn add_rulesets(rulesets: Vec<AddedRuleset>) -> Result<(), AddError> {
    check_names(rulesets.iter().map(|added| added.info.name))?;
    for AddedRuleset { info, .. } in &rulesets {
        check_seats(info)?;
        check_values(info)?;
    }
    ADDED.set(rulesets).map_err(|_| AddError::Late)
}

/// Places in [`PerSeat`] are limited, and a game needs an opponent.
fn check_seats(info: &RulesetInfo) -> Result<(), AddError> {
    let (least, most) = info.seats;
    match 2 <= least && least <= most && most <= MAX_SEATS {
        true => Ok(()),
        false => Err(AddError::Seats(info.name, least, most)),
    }
}

/// Checks the defaults of all options, and the values of presets.
fn check_values(info: &RulesetInfo) -> Result<(), AddError> {
    let wrong = |what: String| AddError::Value(info.name, what);
    for spec in &info.options {
        coerce(spec, &spec.default).map_err(|error| wrong(format!("the default of {error}")))?;
    }
    for preset in &info.presets {
        for (name, value) in &preset.options {
            let spec = info.options.iter().find(|spec| spec.name == *name);
            let unknown = || {
                wrong(format!(
                    "preset \"{}\" has no option \"{name}\"",
                    preset.name
                ))
            };
            coerce(spec.ok_or_else(unknown)?, value)
                .map_err(|error| wrong(format!("preset \"{}\": {error}", preset.name)))?;
        }
    }
    Ok(())
}

fn check_names(names: impl Iterator<Item = &'static str>) -> Result<(), AddError> {
    let mut taken: Vec<&str> = crate::registry::built_in().collect();
    for name in names {
        if !is_ruleset_name(name) {
            return Err(AddError::Name(name));
        }
        if taken.contains(&name) {
            return Err(AddError::Taken(name));
        }
        taken.push(name);
    }
    Ok(())
}

/// All added rulesets, which cannot change from now on.
pub(crate) fn added() -> &'static [AddedRuleset] {
    ADDED.get_or_init(Vec::new)
}

/// True for the name of a ruleset: 1 to 40 lower-case letters, digits and dashes, first a letter.
#[must_use]
pub fn is_ruleset_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(is_part)
}

/// A game of an added ruleset.
#[derive(Clone)]
pub struct AddedGame(Arc<dyn ErasedRules>);

impl AddedGame {
    /// This game without its type.
    #[must_use]
    pub fn of<G: Game>(game: G) -> Self {
        Self(Arc::new(game))
    }
}

/// A position of an added ruleset.
pub struct AddedState(Box<dyn State>);

/// What the states of games have in common.
trait State: Any + Debug + Send + Sync {
    fn duplicate(&self) -> Box<dyn State>;
    fn equals(&self, other: &dyn State) -> bool;
    fn feed(&self, hasher: &mut dyn Hasher);
}

impl<S: Clone + Eq + Hash + Debug + Send + Sync + 'static> State for S {
    fn duplicate(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn State) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }

    fn feed(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl Clone for AddedState {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

impl Debug for AddedState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl PartialEq for AddedState {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
    }
}

impl Eq for AddedState {}

impl Hash for AddedState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.feed(hasher);
    }
}

impl AddedState {
    fn get<S: 'static>(&self) -> &S {
        let state: &dyn Any = &*self.0;
        state.downcast_ref().expect("a state of this game")
    }

    fn get_mut<S: 'static>(&mut self) -> &mut S {
        let state: &mut dyn Any = &mut *self.0;
        state.downcast_mut().expect("a state of this game")
    }
}

/// Declares [`Rules`], which is [`Game`] without types, and implements each for the other.
macro_rules! rules {
    (
        $(fn $plain:ident() -> $plain_out:ty;)*
        $(state fn $of:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?;)*
        $(change fn $change:ident($event:ident: $id:ty);)*
    ) => {
        trait ErasedRules: Send + Sync {
            $(fn $plain(&self) -> $plain_out;)*
            fn initial(&self) -> AddedState;
            $(fn $of(&self, state: &AddedState $(, $arg: $kind)*) $(-> $out)?;)*
            $(fn $change(&self, state: &mut AddedState, $event: $id);)*
            fn weights<'a>(&'a self, state: &'a AddedState) -> &'a [u32];
            fn decode(&self, bytes: &[u8]) -> Result<AddedState, PositionError>;
            fn with_start(&self, text: &str) -> Result<(AddedGame, String), String>;
            fn load(&self, bytes: &[u8]) -> Result<AddedState, PositionError>;
            fn deferring(&self) -> AddedGame;
            fn is_known(&self, state: &mut AddedState) -> bool;
            fn find_pending(&self);
            fn find_pending_until(&self, is_over: &mut dyn FnMut() -> bool);
        }

        impl<G: Game> ErasedRules for G {
            $(
                fn $plain(&self) -> $plain_out {
                    Game::$plain(self)
                }
            )*

            fn initial(&self) -> AddedState {
                AddedState(Box::new(Game::initial(self)))
            }

            $(
                fn $of(&self, state: &AddedState $(, $arg: $kind)*) $(-> $out)? {
                    Game::$of(self, state.get() $(, $arg)*)
                }
            )*

            $(
                fn $change(&self, state: &mut AddedState, $event: $id) {
                    Game::$change(self, state.get_mut(), $event);
                }
            )*

            fn weights<'a>(&'a self, state: &'a AddedState) -> &'a [u32] {
                Game::weights(self, state.get())
            }

            fn decode(&self, bytes: &[u8]) -> Result<AddedState, PositionError> {
                Ok(AddedState(Box::new(Game::decode(self, bytes)?)))
            }

            fn load(&self, bytes: &[u8]) -> Result<AddedState, PositionError> {
                Ok(AddedState(Box::new(Game::load(self, bytes)?)))
            }

            fn with_start(&self, text: &str) -> Result<(AddedGame, String), String> {
                let (game, text) = Game::with_start(self, text)?;
                Ok((AddedGame::of(game), text))
            }

            fn deferring(&self) -> AddedGame {
                AddedGame::of(Game::deferring(self))
            }

            fn is_known(&self, state: &mut AddedState) -> bool {
                Game::is_known(self, state.get_mut())
            }

            fn find_pending(&self) {
                Game::find_pending(self);
            }

            fn find_pending_until(&self, is_over: &mut dyn FnMut() -> bool) {
                Game::find_pending_until(self, is_over);
            }
        }

        impl Game for AddedGame {
            type State = AddedState;

            $(
                fn $plain(&self) -> $plain_out {
                    self.0.$plain()
                }
            )*

            fn initial(&self) -> AddedState {
                self.0.initial()
            }

            $(
                fn $of(&self, state: &AddedState $(, $arg: $kind)*) $(-> $out)? {
                    self.0.$of(state $(, $arg)*)
                }
            )*

            $(
                fn $change(&self, state: &mut AddedState, $event: $id) {
                    self.0.$change(state, $event);
                }
            )*

            fn weights<'a>(&'a self, state: &'a AddedState) -> &'a [u32] {
                self.0.weights(state)
            }

            fn decode(&self, bytes: &[u8]) -> Result<AddedState, PositionError> {
                self.0.decode(bytes)
            }

            fn load(&self, bytes: &[u8]) -> Result<AddedState, PositionError> {
                self.0.load(bytes)
            }

            fn with_start(&self, text: &str) -> Result<(Self, String), String> {
                self.0.with_start(text)
            }

            fn deferring(&self) -> Self {
                self.0.deferring()
            }

            fn is_known(&self, state: &mut AddedState) -> bool {
                self.0.is_known(state)
            }

            fn find_pending(&self) {
                self.0.find_pending();
            }

            fn find_pending_until(&self, is_over: &mut dyn FnMut() -> bool) {
                self.0.find_pending_until(is_over);
            }
        }
    };
}

rules! {
    fn name() -> &'static str;
    fn version() -> u32;
    fn seats() -> usize;
    fn has_chance() -> bool;
    fn draws_only_starter() -> bool;
    fn has_luck() -> bool;
    fn games_at_once() -> usize;
    fn can_defer() -> bool;
    fn pass() -> Option<ActionId>;
    fn start_option() -> Option<&'static str>;
    state fn node() -> Node;
    state fn legal(out: &mut Vec<ActionId>);
    state fn placement() -> PerSeat<u8>;
    state fn scores() -> PerSeat<i64>;
    state fn values() -> PerSeat<i64>;
    state fn chance_values(out: &mut Vec<i64>);
    state fn find_action(text: &str) -> Option<ActionId>;
    state fn write_action(action: ActionId, out: &mut dyn Write);
    state fn write_outcome(outcome: OutcomeId, out: &mut dyn Write);
    state fn encode(moves: bool, out: &mut Vec<u8>);
    state fn save(out: &mut Vec<u8>);
    state fn draw(out: &mut dyn Write);
    state fn failure() -> Option<String>;
    state fn transcript() -> Option<Transcript>;
    change fn apply(action: ActionId);
    change fn apply_outcome(outcome: OutcomeId);
    change fn apply_later(event: Event);
}

#[cfg(test)]
mod tests;
