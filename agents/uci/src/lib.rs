//! A chess engine as an agent: speaks the line protocol (`agents/PROTOCOL.md`) with Arena, and the
//! Universal Chess Interface (UCI) with the engine.
//!
//! The worker starts this adapter for packages with `protocol = "uci"`. `agents/uci/README.md`
//! has the translation.

mod engine;
mod game;
mod go;
mod messages;
mod options;
mod search;

use std::{
    ffi::OsString,
    io::{self, BufRead, Write},
    time::Instant,
};

use self::{
    engine::Engine,
    game::Game,
    go::Limits,
    messages::{Answer, Ask, Decision, Hello, Request, Response},
    options::EngineOptions,
    search::Report,
};

pub use engine::EngineError;

/// A move that no position has: the answer of an engine that plays none.
const NO_MOVE: u32 = u32::MAX;

/// Starts an engine, and answers the lines of `input` on `output` until `input` ends.
///
/// # Errors
/// [`EngineError`] if the engine does not start, ends, or does not speak UCI, or if the other side
/// closes `output`.
pub fn serve(
    program: OsString,
    args: Vec<OsString>,
    input: impl BufRead,
    mut output: impl Write,
) -> Result<(), EngineError> {
    let (engine, found) = Engine::start(program, args)?;
    let mut adapter = Adapter {
        engine,
        options: EngineOptions::new(&found.options),
        games: Vec::new(),
        context: None,
        game: None,
    };
    let hello = Hello::new(found, &adapter.options);
    for line in input.lines() {
        let line = line?;
        match serde_json::from_str(&line)? {
            Request::Hello => say(&mut output, &Response::Hello(hello.clone()))?,
            Request::Game(game) => adapter.games.push(game),
            Request::Ask(ask) => {
                let answer = adapter.answer(&ask)?;
                say(&mut output, &Response::Answer(answer))?;
            }
            Request::Later => {}
        }
    }
    adapter.engine.quit()
}

fn say(output: &mut impl Write, response: &Response) -> Result<(), EngineError> {
    let mut line = serde_json::to_string(response)?;
    line.push('\n');
    output.write_all(line.as_bytes())?;
    Ok(output.flush()?)
}

/// An engine, and what it has been sent so far.
struct Adapter {
    engine: Engine,
    options: EngineOptions,
    games: Vec<Game>,
    /// The context whose options are set.
    context: Option<u32>,
    /// The game whose positions were searched last.
    game: Option<String>,
}

impl Adapter {
    fn answer(&mut self, ask: &Ask) -> Result<Answer, EngineError> {
        let start = Instant::now();
        let mut moves = Vec::with_capacity(ask.decisions.len());
        let mut info = Vec::with_capacity(ask.decisions.len());
        for decision in &ask.decisions {
            let (chosen, report) = self.choose(decision, ask.time_budget_us)?;
            moves.push(chosen);
            info.push(report);
        }
        Ok(Answer {
            batch: ask.batch,
            moves,
            thinking_us: start.elapsed().as_micros() as u64,
            info,
        })
    }

    fn choose(
        &mut self,
        decision: &Decision,
        time_budget_us: u64,
    ) -> Result<(u32, Report), EngineError> {
        let mut games = self.games.iter();
        let game = games.find(|game| game.context == decision.context);
        let game = game.ok_or(EngineError::Context(decision.context))?;
        if self.context != Some(decision.context) {
            for command in self.options.commands(game) {
                self.engine.say(&command)?;
            }
            self.context = Some(decision.context);
        }
        if self.game.is_none() || self.game != decision.game {
            self.engine.say("ucinewgame")?;
            self.engine.wait_ready()?;
            self.game.clone_from(&decision.game);
        }
        let position = &decision.position;
        let mut command = format!("position fen {}", position.base_fen);
        if !position.played.is_empty() {
            command = format!("{command} moves {}", position.played.join(" "));
        }
        self.engine.say(&command)?;
        let limits = Limits::new(game, decision, time_budget_us);
        self.engine.say(&limits.to_string())?;
        let mut report = Report::default();
        let best = loop {
            let line = self.engine.next_line()?;
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("bestmove", rest) => break rest.to_owned(),
                ("info", rest) if !rest.starts_with("string") => report.read(rest),
                _ => log(&line),
            }
        };
        let word = best.split_whitespace().next().unwrap_or_default();
        let chosen = search::move_id(word).unwrap_or_else(|| {
            log(&format!("bestmove {best}: this is not a move"));
            NO_MOVE
        });
        Ok((chosen, report))
    }
}

/// Adds a line to the log of the agent. It may have been closed.
fn log(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
