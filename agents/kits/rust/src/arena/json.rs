//! Reading and writing JSON.

use std::fmt;

/// A value of JSON. Numbers that can exceed 2^53 are texts in the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

static NULL: Value = Value::Null;

impl Value {
    /// The field of an object; `Null` if there is none.
    pub fn get(&self, key: &str) -> &Value {
        let Value::Object(fields) = self else {
            return &NULL;
        };
        let found = fields.iter().find(|(name, _)| name == key);
        found.map_or(&NULL, |(_, value)| value)
    }

    /// The element of a list; `Null` if there is none.
    pub fn at(&self, index: usize) -> &Value {
        self.list().get(index).unwrap_or(&NULL)
    }

    /// A number, also one that is a text; 1 for `true`; 0 for every other value.
    pub fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Text(text) => text.parse().unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// Whether it is `true`, or the text `"true"`.
    pub fn is_true(&self) -> bool {
        matches!(self, Value::Bool(true)) || self.text() == "true"
    }

    /// A text; empty for every other value.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// A list; empty for every other value.
    pub fn list(&self) -> &[Value] {
        match self {
            Value::List(values) => values,
            _ => &[],
        }
    }

    /// The numbers of a list.
    pub fn numbers(&self) -> Vec<f64> {
        self.list().iter().map(Value::number).collect()
    }
}

/// Writes JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => f.write_str(&quoted(text)),
            Value::List(values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "[{}]", values.join(","))
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, value)| format!("{}:{value}", quoted(name)));
                write!(f, "{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// Reads JSON.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

type Parsed<T> = Result<T, String>;

impl Parser<'_> {
    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn wrong<T>(&self) -> Parsed<T> {
        Err(format!("not JSON at byte {}", self.at))
    }

    /// The next character after white space, which is not taken.
    fn peek(&mut self) -> u8 {
        self.space();
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Takes a character if it is the next one.
    fn takes(&mut self, character: u8) -> bool {
        let found = self.peek() == character;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, character: u8) -> Parsed<()> {
        if self.takes(character) {
            return Ok(());
        }
        self.wrong()
    }

    fn value(&mut self) -> Parsed<Value> {
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.list(),
            b'"' => Ok(Value::Text(self.string()?)),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Parsed<Value> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return self.wrong();
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Parsed<Value> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        let part = &rest[..length];
        // Most numbers are short and whole.
        let number = if (1..16).contains(&length) && part.iter().all(u8::is_ascii_digit) {
            let digits = part.iter().map(|digit| u64::from(digit - b'0'));
            digits.fold(0, |number, digit| number * 10 + digit) as f64
        } else {
            let number = std::str::from_utf8(part)
                .ok()
                .and_then(|text| text.parse().ok());
            match number {
                Some(number) => number,
                None => return self.wrong(),
            }
        };
        self.at += length;
        Ok(Value::Number(number))
    }

    fn list(&mut self) -> Parsed<Value> {
        self.at += 1;
        let mut values = Vec::new();
        if self.takes(b']') {
            return Ok(Value::List(values));
        }
        loop {
            values.push(self.value()?);
            if !self.takes(b',') {
                self.expect(b']')?;
                return Ok(Value::List(values));
            }
        }
    }

    fn object(&mut self) -> Parsed<Value> {
        self.at += 1;
        let mut fields = Vec::new();
        if self.takes(b'}') {
            return Ok(Value::Object(fields));
        }
        loop {
            if self.peek() != b'"' {
                return self.wrong();
            }
            let name = self.string()?;
            self.expect(b':')?;
            fields.push((name, self.value()?));
            if !self.takes(b',') {
                self.expect(b'}')?;
                return Ok(Value::Object(fields));
            }
        }
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let plain = self.text[self.at..].iter();
        let plain = plain.take_while(|byte| !b"\"\\".contains(byte)).count();
        let mut bytes = self.text[self.at..self.at + plain].to_vec();
        self.at += plain;
        loop {
            let Some(&byte) = self.text.get(self.at) else {
                return self.wrong();
            };
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(bytes).map_err(|error| error.to_string()),
                b'\\' => {
                    let character = self.escaped()?;
                    bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
                }
                _ => bytes.push(byte),
            }
        }
    }

    fn escaped(&mut self) -> Parsed<char> {
        let byte = self.text.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        Ok(match byte {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'"' | b'\\' | b'/' => char::from(byte),
            b'u' => {
                let mut code = self.hex()?;
                // Two units of UTF-16 are one character.
                if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    code = 0x1_0000 + ((code - 0xd800) << 10) + (low & 0x3ff);
                }
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return self.wrong(),
        })
    }

    fn hex(&mut self) -> Parsed<u32> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        code.ok_or_else(|| format!("not JSON at byte {}", self.at))
    }
}

/// Reads one line of JSON.
pub fn parse(text: &[u8]) -> Result<Value, String> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value()?;
    match parser.peek() {
        0 if parser.at == text.len() => Ok(value),
        _ => parser.wrong(),
    }
}

/// Writes a text as JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\u{1f}' => out += &format!("\\u{:04x}", character as u32),
            _ => out.push(character),
        }
    }
    out + "\""
}

/// Writes a list of texts as JSON.
pub(super) fn list(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(","))
}
