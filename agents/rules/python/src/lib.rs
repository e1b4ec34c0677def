//! The rules of Arena as a Python module. `arena_rules/__init__.pyi` documents it.

use arena_rules::{ErrorKind, Game, Options, RulesError, State, Value};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyInt, PyString},
};

mod errors {
    use pyo3::{create_exception, exceptions::PyValueError};

    create_exception!(arena_rules, RulesError, PyValueError);
    create_exception!(arena_rules, InvalidGame, RulesError);
    create_exception!(arena_rules, InvalidPosition, RulesError);
    create_exception!(arena_rules, IllegalMove, RulesError);
    create_exception!(arena_rules, WrongNode, RulesError);
}

fn raise(error: RulesError) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::InvalidGame => errors::InvalidGame::new_err(text),
        ErrorKind::InvalidPosition => errors::InvalidPosition::new_err(text),
        ErrorKind::IllegalMove => errors::IllegalMove::new_err(text),
        ErrorKind::WrongNode => errors::WrongNode::new_err(text),
    }
}

/// A number that is too large for 64 bits is out of range, too.
fn id(number: &Bound<'_, PyInt>) -> i64 {
    number.extract().unwrap_or(i64::MAX)
}

fn options(given: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let mut options = Options::new();
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        // A boolean is an int in Python.
        let value = if value.is_instance_of::<PyBool>() {
            Value::Bool(value.extract()?)
        } else if value.is_instance_of::<PyInt>() {
            Value::Int(value.extract()?)
        } else if value.is_instance_of::<PyString>() {
            Value::Text(value.extract()?)
        } else {
            let text = format!(
                "option {name:?}: {} is not a bool, int or str",
                value.repr()?
            );
            return Err(PyTypeError::new_err(text));
        };
        options.insert(name, value);
    }
    Ok(options)
}

#[pyclass(name = "Game", module = "arena_rules", frozen)]
struct PyGame(Game);

#[pymethods]
impl PyGame {
    #[new]
    #[pyo3(signature = (ruleset, options = None, seats = None, *, version = None))]
    fn new(
        ruleset: &str,
        options: Option<&Bound<'_, PyDict>>,
        seats: Option<usize>,
        version: Option<u32>,
    ) -> PyResult<Self> {
        let options = self::options(options)?;
        let game = match version {
            Some(version) => Game::with_version(ruleset, version, &options, seats),
            None => Game::new(ruleset, &options, seats),
        };
        Ok(Self(game.map_err(raise)?))
    }

    #[getter]
    fn ruleset(&self) -> &'static str {
        self.0.info().ruleset
    }

    #[getter]
    fn version(&self) -> u32 {
        self.0.info().version
    }

    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = PyDict::new(py);
        for (name, value) in &self.0.info().options {
            options.set_item(name, value.to_string())?;
        }
        Ok(options)
    }

    #[getter]
    fn seats(&self) -> usize {
        self.0.info().seats
    }

    #[getter]
    fn has_chance(&self) -> bool {
        self.0.info().has_chance
    }

    #[getter]
    fn pass_move(&self) -> Option<u16> {
        self.0.info().pass
    }

    fn initial(&self) -> PyState {
        PyState(self.0.initial())
    }

    fn decode(&self, position: &[u8]) -> PyResult<PyState> {
        self.0.decode(position).map(PyState).map_err(raise)
    }

    fn state(&self, position: &Bound<'_, PyAny>) -> PyResult<PyState> {
        let text: String = if position.is_instance_of::<PyString>() {
            position.extract()?
        } else if position.is_instance_of::<PyDict>() {
            let json = position.py().import("json")?;
            json.call_method1("dumps", (position,))?.extract()?
        } else {
            let text = "position is not a dict, and not JSON as a str";
            return Err(PyTypeError::new_err(text));
        };
        self.0.state_from_json(&text).map(PyState).map_err(raise)
    }

    fn __repr__(&self) -> String {
        let info = self.0.info();
        let options = info.options.iter();
        let options: Vec<String> = options
            .map(|(name, value)| format!("'{name}': '{value}'"))
            .collect();
        let options = options.join(", ");
        format!("Game('{}', {{{options}}}, {})", info.ruleset, info.seats)
    }
}

#[pyclass(name = "State", module = "arena_rules")]
struct PyState(State);

#[pymethods]
impl PyState {
    #[getter]
    fn seats(&self) -> usize {
        self.0.info().seats
    }

    #[getter]
    fn to_move(&self) -> Option<u8> {
        self.0.to_move()
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    fn is_chance(&self) -> bool {
        self.0.is_chance()
    }

    fn legal(&self) -> PyResult<Vec<u16>> {
        self.0.legal().map_err(raise)
    }

    #[pyo3(signature = (r#move, /))]
    fn apply(&mut self, r#move: &Bound<'_, PyInt>) -> PyResult<()> {
        self.0.apply(id(r#move)).map_err(raise)
    }

    fn chance(&self) -> PyResult<Vec<(u16, f64)>> {
        let chance = self.0.chance().map_err(raise)?;
        let pairs = chance.iter();
        Ok(pairs.map(|one| (one.outcome, one.probability())).collect())
    }

    fn weights(&self) -> PyResult<Vec<u32>> {
        self.0.weights().map(<[u32]>::to_vec).map_err(raise)
    }

    #[pyo3(signature = (outcome, /))]
    fn apply_outcome(&mut self, outcome: &Bound<'_, PyInt>) -> PyResult<()> {
        self.0.apply_outcome(id(outcome)).map_err(raise)
    }

    fn values(&self) -> Vec<i64> {
        self.0.values()
    }

    fn scores(&self) -> Vec<i64> {
        self.0.scores()
    }

    fn placement<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // A list: PyO3 makes bytes of a vector of bytes.
        let ranks = self.0.placement().map_err(raise)?;
        let ranks: Vec<u32> = ranks.into_iter().map(u32::from).collect();
        ranks.into_pyobject(py)
    }

    fn hash(&self) -> u64 {
        self.0.hash()
    }

    #[pyo3(signature = (r#move, /))]
    fn notation(&self, r#move: &Bound<'_, PyInt>) -> PyResult<String> {
        self.0.notation(id(r#move)).map_err(raise)
    }

    #[pyo3(signature = (outcome, /))]
    fn outcome_notation(&self, outcome: &Bound<'_, PyInt>) -> PyResult<String> {
        self.0.outcome_notation(id(outcome)).map_err(raise)
    }

    #[pyo3(signature = (seed, /))]
    fn playout(slf: &Bound<'_, Self>, seed: u64) -> Vec<i64> {
        // A copy, so that other threads may use the state meanwhile.
        let state = slf.borrow().0.clone();
        slf.py().detach(|| state.playout(seed))
    }

    #[pyo3(signature = (*, moves = false))]
    fn encode<'py>(&self, py: Python<'py>, moves: bool) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.encode(moves))
    }

    #[pyo3(signature = (*, moves = false))]
    fn to_json(&self, moves: bool) -> String {
        self.0.to_json(moves)
    }

    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn copy_from(&mut self, other: &Bound<'_, Self>) -> PyResult<()> {
        let other = other
            .try_borrow()
            .map_err(|_| PyValueError::new_err("a state cannot be copied from itself"))?;
        self.0.copy_from(&other.0);
        Ok(())
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __str__(&self) -> String {
        self.0.draw()
    }

    fn __repr__(&self) -> String {
        let info = self.0.info();
        let to_move = match self.0.to_move() {
            Some(seat) => format!("seat {seat} moves"),
            None if self.0.is_over() => "over".to_owned(),
            None => "chance".to_owned(),
        };
        format!("<State of {} for {}: {to_move}>", info.ruleset, info.seats)
    }
}

#[pyfunction]
fn rulesets() -> Vec<&'static str> {
    arena_rules::rulesets()
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<PyGame>()?;
    module.add_class::<PyState>()?;
    module.add_function(wrap_pyfunction!(rulesets, module)?)?;
    module.add("POINT", arena_rules::POINT)?;
    module.add("RulesError", py.get_type::<errors::RulesError>())?;
    module.add("InvalidGame", py.get_type::<errors::InvalidGame>())?;
    module.add("InvalidPosition", py.get_type::<errors::InvalidPosition>())?;
    module.add("IllegalMove", py.get_type::<errors::IllegalMove>())?;
    module.add("WrongNode", py.get_type::<errors::WrongNode>())
}
