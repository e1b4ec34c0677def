//! A process that answers lines of JSON on its standard input and output.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use arena_model::rules::RULES_PROTOCOL;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Deserialize;

use super::{
    failure::{MESSAGE_BYTES_MAX, ProcessError, has_ended},
    messages::{Reply, Request, Response},
    output::wrong_field,
};
use crate::supervise::{Guarded, RawPipes};

/// Maximum bytes of output that is no message.
const LOG_BYTES_MAX: usize = 16 << 20;

/// The pipes to a process, and what was read of them.
pub(super) struct LineLink {
    pipes: RawPipes,
    /// What was read after the last line.
    rest: Vec<u8>,
    /// Bytes of output that was no message.
    log_bytes: usize,
}

impl LineLink {
    pub(super) fn new(pipes: RawPipes) -> Self {
        Self {
            pipes,
            rest: Vec::new(),
            log_bytes: 0,
        }
    }

    /// The description of the process, as it is.
    pub(super) fn describe(
        &mut self,
        guarded: &Guarded,
        deadline: Instant,
    ) -> Result<String, ProcessError> {
        #[derive(Deserialize)]
        struct Typed {
            r#type: String,
        }
        let request = serde_json::json!({"type": "describe", "protocol": RULES_PROTOCOL});
        self.write(&format!("{request}\n"), deadline)?;
        loop {
            let line = self.read_line(guarded, deadline)?;
            let typed: Result<Typed, _> = serde_json::from_slice(&line);
            let typed = typed.map_err(|error| ProcessError::Garbled(error.to_string()))?;
            match &*typed.r#type {
                "description" => {
                    let text = String::from_utf8(line);
                    return text.map_err(|error| ProcessError::Garbled(error.to_string()));
                }
                "error" => return Err(ProcessError::Reported(short(&line))),
                _ => {}
            }
        }
    }

    /// Asks, and reads messages until one is the answer.
    pub(super) fn ask(
        &mut self,
        request: &Request<'_>,
        guarded: &Guarded,
        deadline: Instant,
    ) -> Result<Reply, ProcessError> {
        self.write(&request.to_line(), deadline)?;
        loop {
            let line = self.read_line(guarded, deadline)?;
            let response: Response = serde_json::from_slice(&line).map_err(|error| {
                let problem = wrong_field(&line);
                let problem =
                    problem.unwrap_or_else(|| format!("{error} in {}", near(&line, &error)));
                ProcessError::Garbled(problem)
            })?;
            if let Response::Error { message } = response {
                return Err(ProcessError::Reported(message));
            }
            if let Some(reply) = response.into_reply(request) {
                return Ok(reply);
            }
        }
    }

    fn write(&mut self, line: &str, deadline: Instant) -> Result<(), ProcessError> {
        let mut left = line.as_bytes();
        while !left.is_empty() {
            match self.pipes.input.write(left) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.pipes.input, PollFlags::POLLOUT, deadline)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The next line that is a message.
    fn read_line(&mut self, guarded: &Guarded, deadline: Instant) -> Result<Vec<u8>, ProcessError> {
        // Before this place there is no end of a line.
        let mut searched = 0;
        let mut buffer = [0; 16 << 10];
        loop {
            if let Some(end) = self.rest[searched..].iter().position(|&byte| byte == b'\n') {
                let rest = self.rest.split_off(searched + end + 1);
                let line = std::mem::replace(&mut self.rest, rest);
                searched = 0;
                let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
                if first == Some(&b'{') {
                    return Ok(line);
                }
                self.log_bytes += line.len();
                if self.log_bytes > LOG_BYTES_MAX {
                    let problem = format!("more than {LOG_BYTES_MAX} bytes of other output");
                    return Err(ProcessError::Garbled(problem));
                }
                continue;
            }
            searched = self.rest.len();
            if searched > MESSAGE_BYTES_MAX {
                let problem = format!("a line exceeds {MESSAGE_BYTES_MAX} bytes");
                return Err(ProcessError::Garbled(problem));
            }
            match self.pipes.output.read(&mut buffer) {
                // Before the process opens the pipe, there is no end either.
                Ok(0) if has_ended(guarded) => return Err(ProcessError::Closed),
                Ok(0) => {
                    if Instant::now() >= deadline {
                        return Err(ProcessError::Late);
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Ok(count) => self.rest.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.pipes.output, PollFlags::POLLIN, deadline)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Waits until a pipe can be used.
fn wait(pipe: &File, how: PollFlags, deadline: Instant) -> Result<(), ProcessError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ProcessError::Late);
    }
    let left = PollTimeout::try_from(left.as_millis() as u64 + 1).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(pipe.as_fd(), how)], left) {
        Ok(0) => Err(ProcessError::Late),
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

/// The part of a line around an error.
fn near(line: &[u8], error: &serde_json::Error) -> String {
    const SHOWN: usize = 100;
    let start = error.column().saturating_sub(SHOWN);
    let end = line.len().min(error.column() + SHOWN);
    let text = String::from_utf8_lossy(&line[start.min(end)..end]);
    let start = if start > 0 { "…" } else { "" };
    format!("{start}{}", text.trim())
}

fn short(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_a_long_line_is_shown_with_its_place() {
        let line = format!("{{\"a\":[{}NaN,0.5]}}", "0.25,".repeat(200));
        let error = serde_json::from_slice::<serde_json::Value>(line.as_bytes());
        let shown = near(line.as_bytes(), &error.expect_err("no JSON"));
        assert!(shown.starts_with('…'), "{shown}");
        assert!(shown.ends_with("0.25,NaN,0.5]}"), "{shown}");
        assert!(shown.len() < 200, "{shown}");
    }
}
