//! Arena's line protocol for agents, version 1, with the standard library alone.
//!
//! [`serve`] answers until the end of standard input. What the policy prints goes to standard error.

#![allow(dead_code, unused_imports)]

mod json;

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader, Write},
    os::fd::{AsFd, AsRawFd},
    panic::{catch_unwind, AssertUnwindSafe},
};

use json::{list, quoted};
pub use json::{parse, Value};

/// SplitMix64: random numbers that follow from a seed, the same in every kit.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any whole number of 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A whole number from 0 to `bound` - 1.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u32
    }

    /// A real number in [0, 1).
    pub fn random(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of the items.
    ///
    /// # Panics
    /// If there are none.
    pub fn choice<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u32) as usize]
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

/// A request for a move. `options` and `bot_options` are objects of texts.
pub struct Decision<'a> {
    pub ruleset: &'a str,
    pub rules_version: u32,
    pub options: &'a Value,
    pub seats: u32,
    pub bot: &'a str,
    pub bot_options: &'a Value,
    /// Number of positions that the bot may search; 0: no limit.
    pub nodes: u64,
    /// Time for the whole batch; 0: no limit.
    pub time_budget_us: u64,
    pub seat: u32,
    pub number: u32,
    /// New for each decision.
    pub seed: u64,
    pub legal_moves: Vec<u32>,
    pub notations: Vec<&'a str>,
    pub position: &'a Value,
    /// `Null`: there is no clock.
    pub clock: &'a Value,
    /// All fields, as in the protocol.
    pub fields: &'a Value,
    /// Random numbers that follow from the seed.
    pub rng: Rng,
}

impl<'a> Decision<'a> {
    fn new(game: &'a Value, fields: &'a Value, time_budget_us: u64) -> Self {
        let whole = |value: &Value| value.number() as u32;
        let notations = fields.get("notations").list();
        let seed = fields
            .get("seed")
            .text()
            .parse()
            .expect("a seed of 64 bits");
        Self {
            ruleset: game.get("ruleset").text(),
            rules_version: whole(game.get("rules_version")),
            options: game.get("options"),
            seats: whole(game.get("seats")),
            bot: game.get("bot").text(),
            bot_options: game.get("bot_options"),
            nodes: game.get("nodes").text().parse().unwrap_or(0),
            time_budget_us,
            seat: whole(fields.get("seat")),
            number: whole(fields.get("number")),
            seed,
            legal_moves: fields.get("legal_moves").list().iter().map(whole).collect(),
            notations: notations.iter().map(Value::text).collect(),
            position: fields.get("position"),
            clock: fields.get("clock"),
            fields,
            rng: Rng::new(seed),
        }
    }

    /// The position as a state of the crate arena-rules, to search ahead. The README of the kit says
    /// how to add the crate.
    #[cfg(feature = "rules")]
    pub fn state(&self) -> Result<arena_rules::State, arena_rules::RulesError> {
        let (options, seats) = (self.options.to_string(), Some(self.seats as usize));
        let version = Some(self.rules_version);
        let game = arena_rules::Game::from_json(self.ruleset, &options, seats, version)?;
        game.state_from_json(&self.position.to_string())
    }
}

/// An option of the agent.
#[derive(Clone, Debug)]
pub struct BotOption(String);

impl BotOption {
    /// `kind` is a type of the protocol: `bool`, `integer`, `real`, `choice`, `text` or `numbers`.
    pub fn new(name: &str, kind: &str, default: &str, summary: &str) -> Self {
        let [name, summary] = [quoted(name), quoted(summary)];
        let [kind, default] = [quoted(kind), quoted(default)];
        Self(format!(
            "\"name\":{name},\"type\":{kind},\"default_value\":{default},\"summary\":{summary}"
        ))
    }

    pub fn bool(name: &str, default: bool, summary: &str) -> Self {
        Self::new(name, "bool", &default.to_string(), summary)
    }

    pub fn integer(name: &str, default: i64, summary: &str) -> Self {
        Self::new(name, "integer", &default.to_string(), summary)
    }

    pub fn real(name: &str, default: f64, summary: &str) -> Self {
        Self::new(name, "real", &default.to_string(), summary)
    }

    pub fn choice(name: &str, default: &str, choices: &[&str], summary: &str) -> Self {
        Self::new(name, "choice", default, summary).field("choices", &list(choices))
    }

    /// Inclusive bounds of a number.
    pub fn range(self, min: impl ToString, max: impl ToString) -> Self {
        let [min, max] = [quoted(&min.to_string()), quoted(&max.to_string())];
        self.field("min", &min).field("max", &max)
    }

    /// A further field of the protocol; `json` is its value.
    pub fn field(mut self, name: &str, json: &str) -> Self {
        self.0 += &format!(",{}:{json}", quoted(name));
        self
    }
}

/// The agent's description.
#[derive(Clone, Debug)]
pub struct About {
    bot: String,
    hello: String,
    options: Vec<String>,
}

impl About {
    pub fn new(name: &str, version: &str) -> Self {
        let [name, version] = [quoted(name), quoted(version)];
        Self {
            bot: format!("\"name\":{name}"),
            hello: format!("\"name\":{name},\"version\":{version}"),
            options: Vec::new(),
        }
    }

    /// The same request, with the same seed, always gets the same move.
    pub fn deterministic(mut self) -> Self {
        self.bot += ",\"deterministic\":true";
        self
    }

    /// Whether another seed may get another move.
    pub fn uses_seed(mut self, uses: bool) -> Self {
        self.bot += if uses {
            ",\"uses_seed\":\"yes\""
        } else {
            ",\"uses_seed\":\"no\""
        };
        self
    }

    /// The rulesets that it plays; without this, all of them.
    pub fn rulesets(mut self, rulesets: &[&str]) -> Self {
        self.bot += &format!(",\"rulesets\":{}", list(rulesets));
        self
    }

    pub fn option(mut self, option: BotOption) -> Self {
        self.options.push(format!("{{{}}}", option.0));
        self
    }

    /// A further field of the message `hello`, such as `("omit_move_details", "true")`; `json` is
    /// its value.
    pub fn field(mut self, name: &str, json: &str) -> Self {
        self.hello += &format!(",{}:{json}", quoted(name));
        self
    }

    fn message(&self) -> String {
        format!(
            "{{\"type\":\"hello\",\"protocol\":1,{},\"bots\":[{{{},\"options\":[{}]}}]}}",
            self.hello,
            self.bot,
            self.options.join(",")
        )
    }
}

extern "C" {
    fn dup2(from: i32, to: i32) -> i32;
}

/// Moves the protocol away from the standard streams: whatever prints to standard output, also a
/// child process, must not disturb it.
fn take_streams() -> io::Result<(File, File)> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let null = File::open("/dev/null")?;
    // SAFETY: all of these descriptors are open, and the standard library does not own 0 to 2.
    unsafe {
        dup2(null.as_raw_fd(), 0);
        dup2(2, 1);
    }
    Ok((input, output))
}

/// Answers decisions until the end of standard input.
pub fn serve(choose: impl Fn(&mut Decision) -> u32, about: About) {
    if let Err(error) = run(choose, &about) {
        // Arena has ended the connection.
        if error.kind() != io::ErrorKind::BrokenPipe {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

fn run(choose: impl Fn(&mut Decision) -> u32, about: &About) -> io::Result<()> {
    let (input, mut output) = take_streams()?;
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut games: HashMap<u64, Value> = HashMap::new();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let message = parse(line.trim_ascii_end());
        let message =
            message.map_err(|problem| io::Error::new(io::ErrorKind::InvalidData, problem))?;
        let answer = match message.get("type").text() {
            "hello" => about.message(),
            "ask" => answer(&choose, &games, &message),
            "game" => {
                games.insert(message.get("context").number() as u64, message);
                String::new()
            }
            _ => String::new(),
        };
        if !answer.is_empty() {
            output.write_all((answer + "\n").as_bytes())?;
        }
        line.clear();
    }
    Ok(())
}

fn answer(
    choose: impl Fn(&mut Decision) -> u32,
    games: &HashMap<u64, Value>,
    ask: &Value,
) -> String {
    let batch = ask.get("batch").number() as u64;
    let budget = ask.get("time_budget_us").number() as u64;
    let move_of = |fields: &Value| {
        let game = &games[&(fields.get("context").number() as u64)];
        choose(&mut Decision::new(game, fields, budget)).to_string()
    };
    let decisions = ask.get("decisions").list();
    let moves = catch_unwind(AssertUnwindSafe(|| -> Vec<String> {
        decisions.iter().map(move_of).collect()
    }));
    match moves {
        Ok(moves) => {
            let moves = moves.join(",");
            format!("{{\"type\":\"answer\",\"batch\":{batch},\"moves\":[{moves}]}}")
        }
        // The panic is on standard error already.
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let text = quoted(text.unwrap_or("the policy panicked"));
            format!("{{\"type\":\"error\",\"batch\":{batch},\"message\":{text}}}")
        }
    }
}
