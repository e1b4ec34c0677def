//! Text from agents, workers and users, in a form that is safe to print.
//!
//! Such text may contain characters that control a terminal, reverse the writing direction or are
//! invisible. They are shown as escapes.

use std::borrow::Cow;

/// True for characters that control a terminal, change the writing direction or are invisible.
/// Line feeds and tabs are not among them.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        // Letters and patterns without ink, and what joins letters without a sign.
        || matches!(
            c,
            '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
        )
        || is_variation_selector(c)
}

/// True for characters that choose another form of the character before them. Many emojis have one.
pub(crate) fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Shows hidden characters as `\x1b` or `\u{202e}`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, |c, out| match u32::from(c) {
        code @ 0..=0x7f => *out += &format!("\\x{code:02x}"),
        code => *out += &format!("\\u{{{code:x}}}"),
    })
}

/// Shows line feeds as well: the text cannot look like several lines.
#[must_use]
pub fn printable_line(text: &str) -> Cow<'_, str> {
    match printable(text) {
        shown if shown.contains('\n') => shown.replace('\n', "\\x0a").into(),
        shown => shown,
    }
}

/// Shows hidden characters of a JSON document as `\u202e`. The document has the same value.
#[must_use]
pub fn printable_json(json: &str) -> Cow<'_, str> {
    replaced(json, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            *out += &format!("\\u{unit:04x}");
        }
    })
}

fn replaced(text: &str, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    // Almost all text is plain, and is checked byte by byte.
    let plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    if text.bytes().all(plain) || !text.contains(is_hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true => escape(c, &mut out),
            false => out.push(c),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_become_escapes() {
        let text = "a\u{1b}[2J\0\u{7f}\u{9b}b\u{202e}\u{2066}\u{200b}\u{2028}c\r\td\n";
        let shown = "a\\x1b[2J\\x00\\x7f\\u{9b}b\\u{202e}\\u{2066}\\u{200b}\\u{2028}c\\x0d\td\n";
        assert_eq!(printable(text), shown);
        assert_eq!(printable(shown), shown);
    }

    #[test]
    fn characters_without_ink_become_escapes() {
        for (c, shown) in [
            ('\u{34f}', "\\u{34f}"),
            ('\u{115f}', "\\u{115f}"),
            ('\u{1160}', "\\u{1160}"),
            ('\u{17b4}', "\\u{17b4}"),
            ('\u{17b5}', "\\u{17b5}"),
            ('\u{2800}', "\\u{2800}"),
            ('\u{3164}', "\\u{3164}"),
            ('\u{ffa0}', "\\u{ffa0}"),
            ('\u{fe00}', "\\u{fe00}"),
            ('\u{fe0f}', "\\u{fe0f}"),
            ('\u{e0100}', "\\u{e0100}"),
            ('\u{e01ef}', "\\u{e01ef}"),
        ] {
            assert_eq!(printable(&format!("arena{c}")), format!("arena{shown}"));
        }
        // Their neighbours are letters, patterns and signs.
        for c in "\u{115e}\u{1161}\u{17b3}\u{2801}\u{3163}\u{3165}\u{ffa1}\u{fe10}".chars() {
            assert!(!is_hidden(c), "{}", c.escape_unicode());
        }
    }

    #[test]
    fn visible_text_stays() {
        for text in ["", "plain\n\ttext", "日本 – é e\u{301} 🙂 שלום"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(printable_json(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let all: String = ('\0'..=char::MAX).filter(|&c| is_hidden(c)).collect();
        let value = serde_json::Value::from(all);
        let text = value.to_string();
        let shown = printable_json(&text);
        assert!(!shown.contains(is_hidden));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).ok(),
            Some(value)
        );
    }
}
