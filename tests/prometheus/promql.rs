//! Finds the metrics in PromQL queries.

const KEYWORDS: [&str; 12] = [
    "and",
    "or",
    "unless",
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
    "bool",
    "offset",
    "atan2",
];
/// Keywords that are followed by a list of labels.
const LISTS: [&str; 6] = [
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
];

/// A metric in a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Selector {
    pub(super) metric: String,
    /// With its matchers, without a range.
    pub(super) text: String,
}

/// The metrics in a query, in order.
pub(super) fn selectors(query: &str) -> Vec<Selector> {
    let mut found = Vec::new();
    let mut rest = query;
    while let Some(first) = rest.chars().next() {
        if matches!(first, '"' | '\'') {
            rest = after(&rest[1..], first);
        } else if first == '[' {
            rest = after(rest, ']');
        } else if first.is_ascii_alphabetic() || matches!(first, '_' | ':') {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))
                .unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            let next = behind.trim_start();
            rest = behind;
            if LISTS.contains(&word) && next.starts_with('(') {
                rest = after(next, ')');
            } else if !KEYWORDS.contains(&word) && !calls(next) {
                let matchers = match behind.starts_with('{') {
                    true => behind.len() - after_matchers(behind).len(),
                    false => 0,
                };
                found.push(Selector {
                    metric: word.to_owned(),
                    text: format!("{word}{}", &behind[..matchers]),
                });
                rest = &behind[matchers..];
            }
        } else if first == '{' {
            // A selector with the metric's name in a matcher.
            rest = after_matchers(rest);
        } else if first.is_ascii_digit() {
            // A number, or a duration such as 5m.
            rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '.');
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

/// Whether the preceding text is a function or an aggregation.
fn calls(next: &str) -> bool {
    next.starts_with('(') || next.starts_with("by (") || next.starts_with("without (")
}

/// The text after the first `end`.
fn after(text: &str, end: char) -> &str {
    text.find(end).map_or("", |at| &text[at + end.len_utf8()..])
}

/// The text after the matchers in braces; braces in quotes do not count.
fn after_matchers(text: &str) -> &str {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '}' if !quoted => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

/// Replaces `$name` and `${name}`; the longest matching name wins.
pub(super) fn substitute(query: &str, variables: &[(&str, &str)]) -> String {
    let mut by_length = variables.to_vec();
    by_length.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    by_length
        .iter()
        .fold(query.to_owned(), |query, (name, value)| {
            query
                .replace(&format!("${{{name}}}"), value)
                .replace(&format!("${name}"), value)
        })
}

#[test]
fn metrics_are_found_anywhere_in_a_query() {
    let check = |query: &str, expected: &[&str]| {
        let found: Vec<String> = selectors(query)
            .into_iter()
            .map(|found| found.text)
            .collect();
        assert_eq!(found, expected, "{query}");
    };
    check("up", &["up"]);
    check(
        "sum by (agent, le) (rate(a_bucket{x=~\"$j}\"}[5m])) > 0.05",
        &["a_bucket{x=~\"$j}\"}"],
    );
    check("a > 0 and on (job) b:c:d == 0", &["a", "b:c:d"]);
    check("time() - max without (x) (a{})", &["a{}"]);
    check("count({__name__=~\"a|b\", c=\"d\"}) / e", &["e"]);
    check("histogram_quantile(0.9, a offset 5m) / 1e3", &["a"]);
}
