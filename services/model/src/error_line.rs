//! The line of a program's output that names an error.

/// The line that names the last error in a program's output: of a Python traceback, an exception
/// of Node or Java, or a panic of Rust or Go. None if there is no such line.
#[must_use]
pub fn error_line(output: &str) -> Option<String> {
    let lines: Vec<&str> = output.lines().collect();
    (0..lines.len()).rev().find_map(|place| {
        let line = lines[place].trim();
        let next = lines.get(place + 1).map_or("", |next| next.trim_end());
        if is_python_header(line) {
            return after_frames(&lines[place..]);
        }
        if let Some((_, at)) = line.split_once("panicked at ") {
            // The message is on the next line or, before Rust 1.73, on the same line.
            let message = next.trim();
            return Some(match at.ends_with(':') && !message.is_empty() {
                true => format!("panicked at {at} {message}"),
                false => format!("panicked at {at}"),
            });
        }
        let named = line.starts_with("Exception in thread ")
            || line.starts_with("panic: ")
            || is_named(line, is_stack(next));
        (named && !is_in_frames(&lines, place)).then(|| line.to_owned())
    })
}

fn is_python_header(line: &str) -> bool {
    line.trim_start_matches(['|', '+', ' '])
        .ends_with("Traceback (most recent call last):")
}

/// The first line of a Python traceback that is no frame: not indented deeper than its header.
fn after_frames(lines: &[&str]) -> Option<String> {
    let depth = |line: &str| line.len() - line.trim_start_matches(['|', '+', ' ']).len();
    let header = depth(lines[0]);
    let mut rest = lines[1..].iter();
    rest.find(|line| !line.trim().is_empty() && depth(line) <= header)
        .map(|line| line.trim_start_matches(['|', '+', ' ']).to_owned())
}

/// A frame of Node or Java.
fn is_stack(line: &str) -> bool {
    line.starts_with([' ', '\t']) && line.trim_start().starts_with("at ")
}

/// True if a line belongs to a Python traceback before it: source code may look like an error.
fn is_in_frames(lines: &[&str], place: usize) -> bool {
    lines[place].starts_with(' ')
        && lines[..place]
            .iter()
            .any(|line| is_python_header(line.trim()))
}

/// Such as `ValueError: text`, `java.io.IOException`, `TypeError [ERR_X]: text`; if frames
/// follow, the class may have any name.
fn is_named(line: &str, has_frames: bool) -> bool {
    let (name, rest) = match line.find([':', ' ']) {
        Some(end) => line.split_at(end),
        None => (line, ""),
    };
    let is_name = |c: char| c.is_alphanumeric() || "._$".contains(c);
    let ends = ["Error", "Exception", "Interrupt", "Exit"];
    let text = rest.starts_with(": ") || rest.starts_with(" [");
    let kind = ends.iter().any(|end| name.ends_with(end)) && (rest.is_empty() || text);
    name.chars().all(is_name) && (kind || has_frames && text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_line_is_found_in_tracebacks() {
        for (output, line) in [
            (
                "listening\nTraceback (most recent call last):\n  File \"a.py\", line 2, in <module>\n    \
                 raise ValueError(\n        \"x\"\n    )\nValueError: two\nlines of it\nbye\n",
                "ValueError: two",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\"\n    first()\nKeyError: 1\n\n\
                 During handling of the above exception, another exception occurred:\n\n\
                 Traceback (most recent call last):\n  File \"a.py\"\n    second()\n\
                 __main__.Oops: second\n",
                "__main__.Oops: second",
            ),
            (
                "  File \"a.py\", line 1\n    def\n       ^\nSyntaxError: invalid syntax\n",
                "SyntaxError: invalid syntax",
            ),
            (
                "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\"\n  \
                 | ExceptionGroup: many (1 sub-exception)\n",
                "ExceptionGroup: many (1 sub-exception)",
            ),
            (
                "/a/agent.js:3\n  throw new TypeError(\"no\");\n  ^\n\nTypeError: no\n    at f (/a/agent.js:3:9)\n    \
                 at node:internal/main/run_main_module:28:49\n\nNode.js v20.11.1\n",
                "TypeError: no",
            ),
            (
                "node:internal/modules/cjs/loader:1137\n  throw err;\n  ^\n\nError: Cannot find module 'grpc'\n\
                 Require stack:\n- /a/agent.js\n    at Module._resolveFilename (node:x:1134:15) {\n  \
                 code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.11.1\n",
                "Error: Cannot find module 'grpc'",
            ),
            (
                "Oops: of its own class\n    at f (/a/agent.js:3:9)\n\nNode.js v20.11.1\n",
                "Oops: of its own class",
            ),
            (
                "thread 'main' (12) panicked at src/main.rs:4:5:\nindex out of bounds\n\
                 note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
                "panicked at src/main.rs:4:5: index out of bounds",
            ),
            (
                "thread 'main' panicked at 'no', src/main.rs:4:5\nnote: run with `RUST_BACKTRACE=1`\n",
                "panicked at 'no', src/main.rs:4:5",
            ),
            (
                "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat Agent.main(Agent.java:3)\n\
                 Caused by: java.io.IOException: disk\n\tat Agent.read(Agent.java:9)\n\t... 1 more\n",
                "Exception in thread \"main\" java.lang.IllegalStateException: no",
            ),
            (
                "panic: runtime error: index out of range [1]\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:3\n",
                "panic: runtime error: index out of range [1]",
            ),
        ] {
            assert_eq!(error_line(output).as_deref(), Some(line), "{output}");
        }
    }

    #[test]
    fn output_without_error_has_no_error_line() {
        for output in [
            "",
            "listening on unix:/tmp/x\n",
            "no licence\n",
            "an Error in the middle of a line\n",
        ] {
            assert_eq!(error_line(output), None, "{output}");
        }
    }
}
