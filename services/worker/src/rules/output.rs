//! What a package of rules printed and answered, for people.

use serde_json::Value;

use super::messages::NodeMessage;

/// Lines of a traceback that are shown: the last ones name the place.
const TRACEBACK_LINES: usize = 16;
/// Lines of other output that are shown.
const LINES: usize = 8;
/// Characters of a value that are shown.
const SHOWN: usize = 200;

/// The end of the output: the last traceback of Python, or else the last lines.
pub(super) fn end_of(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let is_header = |line: &&str| line.trim() == HEADER;
    let start = lines.iter().rposition(is_header);
    let (start, most) = match start {
        Some(start) => (start, TRACEBACK_LINES),
        None => (0, LINES),
    };
    let lines = &lines[start..];
    let skipped = lines.len().saturating_sub(most);
    let mut end = lines[skipped..].join("\n");
    if skipped > 0 && most == TRACEBACK_LINES {
        end.insert_str(0, "…\n");
    }
    end
}

/// First line of a traceback of Python.
const HEADER: &str = "Traceback (most recent call last):";

/// A message with the last line of the output, if any.
pub(super) fn with_last_line(message: String, output: &str) -> String {
    match output.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(last) => format!("{message}; its last output: {}", last.trim()),
        None => message,
    }
}

/// The innermost place of the last traceback of Python, such as `game.py, line 3, in apply`.
pub(super) fn place_of(output: &str) -> Option<String> {
    let lines: Vec<&str> = output.lines().collect();
    let start = lines.iter().rposition(|line| line.trim() == HEADER)?;
    let mut frames = lines[start..].iter().filter_map(|line| {
        let (path, place) = line.trim().strip_prefix("File \"")?.split_once("\", ")?;
        let file = path.rsplit('/').next().unwrap_or(path);
        Some(format!("{file}, {place}"))
    });
    frames.next_back()
}

/// Names the first field of an answer that has a wrong type. None if no field of a node is wrong.
pub(super) fn wrong_field(line: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(line).ok()?;
    let nodes = answer.get("nodes").and_then(Value::as_array);
    let nodes = nodes.into_iter().flatten().chain(answer.get("node"));
    nodes.filter_map(Value::as_object).find_map(|node| {
        // A node without errors, to which one field after the other is added.
        let mut sound = serde_json::json!({"state": "", "next": "over"});
        node.iter().find_map(|(field, value)| {
            sound[field] = value.clone();
            let error = serde_json::from_value::<NodeMessage>(sound.clone()).err()?;
            let mut shown: String = value.to_string();
            if let Some((cut, _)) = shown.char_indices().nth(SHOWN) {
                shown.truncate(cut);
                shown.push('…');
            }
            Some(format!("the field \"{field}\" is {shown}: {error}"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACEBACK: &str = "loaded\nTraceback (most recent call last):\n  File \"/a/arena_game.py\", line 9, in serve\n    \
                             answer()\n  File \"/a/game.py\", line 47, in end_turn\n    raise RuntimeError(\"no\")\n\
                             RuntimeError: no\n";

    #[test]
    fn end_of_output_is_the_last_traceback() {
        let end = end_of(TRACEBACK);
        assert!(end.starts_with(HEADER), "{end}");
        assert!(end.ends_with("RuntimeError: no"), "{end}");
        let place = place_of(TRACEBACK);
        assert_eq!(place.as_deref(), Some("game.py, line 47, in end_turn"));
    }

    #[test]
    fn end_of_other_output_is_its_last_lines() {
        let numbers: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        assert_eq!(end_of(&numbers.join("\n")), numbers[12..].join("\n"));
        assert_eq!((end_of(""), place_of("1\n")), (String::new(), None));
    }

    #[test]
    fn long_tracebacks_end_with_the_error() {
        let frames = "  File \"/a/game.py\", line 1, in f\n".repeat(100);
        let end = end_of(&format!("first\n{HEADER}\n{frames}RecursionError: deep\n"));
        assert!(
            end.starts_with('…') && end.ends_with("RecursionError: deep"),
            "{end}"
        );
        assert!(end.lines().count() <= TRACEBACK_LINES + 1, "{end}");
    }

    #[test]
    fn wrong_field_of_an_answer_is_named() {
        let answer = |node: &str| format!("{{\"type\":\"nodes\",\"batch\":1,\"nodes\":[{node}]}}");
        for (node, expected) in [
            (
                "{\"state\":\"s\",\"next\":\"decision\",\"seat\":0,\"legal\":[0],\"moves\":[5]}",
                Some("the field \"moves\" is [5]: "),
            ),
            (
                "{\"state\":{\"a\":1},\"next\":\"over\"}",
                Some("the field \"state\" is {\"a\":1}: "),
            ),
            (
                "{\"state\":\"s\",\"next\":\"over\",\"ranks\":[0.5,1]}",
                Some("the field \"ranks\" is [0.5,1]: "),
            ),
            ("{\"state\":\"s\",\"next\":\"over\",\"ranks\":[1,1]}", None),
        ] {
            let found = wrong_field(answer(node).as_bytes());
            match expected {
                Some(start) => assert!(
                    found.as_ref().is_some_and(|found| found.starts_with(start)),
                    "{found:?}"
                ),
                None => assert_eq!(found, None),
            }
        }
    }
}
