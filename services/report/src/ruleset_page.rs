//! The page of a ruleset as text for a terminal.

/// The Markdown of a page without pictures, and with the text of links alone.
#[must_use]
pub fn text(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let (mut is_code, mut is_after_picture) = (false, false);
    for line in page.lines() {
        if line.starts_with("![") {
            is_after_picture = true;
            continue;
        }
        // One of the empty lines around a picture is enough.
        if !(is_after_picture && line.is_empty()) {
            is_code ^= line.starts_with("```");
            if is_code {
                text.push_str(line);
            } else {
                without_links(line, &mut text);
            }
            text.push('\n');
        }
        is_after_picture = false;
    }
    text
}

/// Appends a line in which `[text](target)` is `text`.
fn without_links(mut line: &str, text: &mut String) {
    while let Some(link) = Link::first(line) {
        text.push_str(link.before);
        text.push_str(link.text);
        line = link.after;
    }
    text.push_str(line);
}

/// A link within a line.
struct Link<'a> {
    before: &'a str,
    text: &'a str,
    after: &'a str,
}

impl<'a> Link<'a> {
    fn first(line: &'a str) -> Option<Self> {
        let (head, tail) = line.split_once("](")?;
        let (before, text) = head.rsplit_once('[')?;
        let (_, after) = tail.split_once(')')?;
        Some(Self {
            before,
            text,
            after,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn pictures_and_targets_are_left_out() {
        let page = "# Go\n\n![A board](go.svg)\n\nSee [`a`](a.md) and\n[the index](../b.md#c).\n\n\
                    ```json\n[\"[x](y)\"]\n```\nx[a] + (b)\n";
        let expected =
            "# Go\n\nSee `a` and\nthe index.\n\n```json\n[\"[x](y)\"]\n```\nx[a] + (b)\n";
        assert_eq!(text(page), expected);
    }
}
