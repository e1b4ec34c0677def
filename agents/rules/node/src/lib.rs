//! The rules of Arena as a Node module. `index.d.ts` documents it, `index.js` wraps it.

#![expect(missing_docs, reason = "`index.d.ts` documents it")]

use std::collections::HashMap;

use arena_rules::{Game, Options, RulesError, State, Value};
use napi::bindgen_prelude::{BigInt, Buffer, Either, Either3};
use napi_derive::napi;

/// An error with its kind as `code`. napi sees only results that are written out.
type Failure = napi::Error<&'static str>;

/// The largest number up to which every whole number is exact.
const EXACT_MAX: f64 = 9_007_199_254_740_991.0;

fn raise(error: RulesError) -> Failure {
    napi::Error::new(error.kind().name(), error.to_string())
}

fn invalid(reason: String) -> Failure {
    napi::Error::new("InvalidArgument", reason)
}

/// A number of JavaScript as a whole one.
fn whole(number: f64) -> Result<i64, Failure> {
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        Ok(number as i64)
    } else {
        Err(invalid(format!("{number} is not a whole number")))
    }
}

fn optional<T: TryFrom<i64>>(name: &str, number: Option<f64>) -> Result<Option<T>, Failure> {
    let convert = |number| {
        let converted = T::try_from(whole(number)?);
        converted.map_err(|_| invalid(format!("{name}: {number} is out of range")))
    };
    number.map(convert).transpose()
}

#[napi(js_name = "Game")]
pub struct NodeGame(Game);

#[napi]
impl NodeGame {
    #[napi(constructor)]
    pub fn new(
        ruleset: String,
        options: HashMap<String, Either3<bool, f64, String>>,
        seats: Option<f64>,
        version: Option<f64>,
    ) -> Result<Self, Failure> {
        let value = |value| match value {
            Either3::A(value) => Value::Bool(value),
            Either3::B(value) => whole(value).map_or(Value::Real(value), Value::Int),
            Either3::C(value) => Value::Text(value),
        };
        let options = options.into_iter();
        let options: Options = options.map(|(name, given)| (name, value(given))).collect();
        let seats = optional("seats", seats)?;
        let game = match optional("version", version)? {
            Some(version) => Game::with_version(&ruleset, version, &options, seats),
            None => Game::new(&ruleset, &options, seats),
        };
        Ok(Self(game.map_err(raise)?))
    }

    #[napi(getter)]
    pub fn ruleset(&self) -> &'static str {
        self.0.info().ruleset
    }

    #[napi(getter)]
    pub fn version(&self) -> u32 {
        self.0.info().version
    }

    #[napi(getter)]
    pub fn options(&self) -> HashMap<String, String> {
        let options = self.0.info().options.iter();
        let text = |(name, value): (&String, &Value)| (name.clone(), value.to_string());
        options.map(text).collect()
    }

    #[napi(getter)]
    pub fn seats(&self) -> u32 {
        self.0.info().seats as u32
    }

    #[napi(getter)]
    pub fn has_chance(&self) -> bool {
        self.0.info().has_chance
    }

    #[napi(getter)]
    pub fn pass_move(&self) -> Option<u32> {
        self.0.info().pass.map(u32::from)
    }

    #[napi]
    pub fn initial(&self) -> NodeState {
        NodeState(self.0.initial())
    }

    #[napi]
    pub fn decode(&self, position: Buffer) -> Result<NodeState, Failure> {
        self.0.decode(&position).map(NodeState).map_err(raise)
    }

    #[napi]
    pub fn state(&self, json: String) -> Result<NodeState, Failure> {
        let state = self.0.state_from_json(&json);
        state.map(NodeState).map_err(raise)
    }
}

#[napi(js_name = "State")]
pub struct NodeState(State);

#[napi]
impl NodeState {
    #[napi(getter)]
    pub fn seats(&self) -> u32 {
        self.0.info().seats as u32
    }

    #[napi(getter)]
    pub fn to_move(&self) -> Option<u32> {
        self.0.to_move().map(u32::from)
    }

    #[napi]
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    #[napi]
    pub fn is_chance(&self) -> bool {
        self.0.is_chance()
    }

    #[napi]
    pub fn legal(&self) -> Result<Vec<u32>, Failure> {
        let legal = self.0.legal().map_err(raise)?;
        Ok(legal.into_iter().map(u32::from).collect())
    }

    #[napi]
    pub fn apply(&mut self, action: f64) -> Result<(), Failure> {
        self.0.apply(whole(action)?).map_err(raise)
    }

    #[napi]
    pub fn chance(&self) -> Result<Vec<Vec<f64>>, Failure> {
        let chance = self.0.chance().map_err(raise)?;
        let pairs = chance.iter();
        Ok(pairs
            .map(|one| vec![one.outcome.into(), one.probability()])
            .collect())
    }

    #[napi]
    pub fn weights(&self) -> Result<Vec<u32>, Failure> {
        self.0.weights().map(<[u32]>::to_vec).map_err(raise)
    }

    #[napi]
    pub fn apply_outcome(&mut self, outcome: f64) -> Result<(), Failure> {
        self.0.apply_outcome(whole(outcome)?).map_err(raise)
    }

    #[napi]
    pub fn values(&self) -> Vec<i64> {
        self.0.values()
    }

    #[napi]
    pub fn scores(&self) -> Vec<i64> {
        self.0.scores()
    }

    #[napi]
    pub fn placement(&self) -> Result<Vec<u32>, Failure> {
        let ranks = self.0.placement().map_err(raise)?;
        Ok(ranks.into_iter().map(u32::from).collect())
    }

    #[napi]
    pub fn hash(&self) -> BigInt {
        self.0.hash().into()
    }

    #[napi]
    pub fn notation(&self, action: f64) -> Result<String, Failure> {
        self.0.notation(whole(action)?).map_err(raise)
    }

    #[napi]
    pub fn outcome_notation(&self, outcome: f64) -> Result<String, Failure> {
        self.0.outcome_notation(whole(outcome)?).map_err(raise)
    }

    #[napi]
    pub fn playout(&self, seed: Either<BigInt, f64>) -> Result<Vec<i64>, Failure> {
        let (seed, shown) = match &seed {
            Either::A(seed) => {
                let (negative, number, exact) = seed.get_u64();
                (Some(number).filter(|_| exact && !negative), None)
            }
            Either::B(seed) => (u64::try_from(whole(*seed)?).ok(), Some(*seed)),
        };
        let shown = shown.map(|seed| format!(": {seed}")).unwrap_or_default();
        let seed = seed.ok_or_else(|| invalid(format!("the seed is no number of 64 bits{shown}")));
        Ok(self.0.playout(seed?))
    }

    #[napi]
    pub fn encode(&self, moves: bool) -> Buffer {
        self.0.encode(moves).into()
    }

    #[napi]
    pub fn to_json(&self, moves: bool) -> String {
        self.0.to_json(moves)
    }

    #[napi]
    pub fn draw(&self) -> String {
        self.0.draw()
    }

    #[napi]
    pub fn copy(&self) -> Self {
        Self(self.0.clone())
    }

    #[napi]
    pub fn copy_from(&mut self, other: &NodeState) {
        self.0.copy_from(&other.0);
    }

    #[napi]
    pub fn equals(&self, other: &NodeState) -> bool {
        self.0 == other.0
    }
}

#[napi]
pub fn rulesets() -> Vec<&'static str> {
    arena_rules::rulesets()
}
