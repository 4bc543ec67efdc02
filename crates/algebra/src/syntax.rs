//! The grammar of the shorthand; what it means is in `parse.rs`.
//!
//! ```text
//! candidate := [name '='] call
//! name      := call
//! call      := word [ '(' part { ';' part } ')' ]
//! part      := [ value { ',' value } ]
//! value     := number | list | call | '"' text '"'
//! list      := '[' [ value { ',' value } ] ']'
//! number    := [sign] digits [ '/' digits ]  |  [sign] decimal
//! ```

use crate::error::ParseError;

type Result<T> = std::result::Result<T, ParseError>;

/// Deepest nesting of joins and lists that is read: hostile input must not exhaust the stack.
const MAX_DEPTH: usize = 16;

#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) word: &'a str,
    pub(crate) at: usize,
    /// Values between semicolons.
    pub(crate) parts: Vec<Vec<Value<'a>>>,
    pub(crate) end: usize,
}

#[derive(Debug)]
pub(crate) struct Value<'a> {
    pub(crate) at: usize,
    pub(crate) is: Is<'a>,
}

#[derive(Debug)]
pub(crate) enum Is<'a> {
    Number(&'a str),
    List(Vec<Value<'a>>),
    Call(Call<'a>),
    Text(String),
}

pub(crate) struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn wrong(&self, position: usize, message: String) -> ParseError {
        ParseError { text: self.text.to_string(), position, message }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    pub(crate) fn eat(&mut self, expected: char) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len_utf8();
        }
        found
    }

    pub(crate) fn found(&self) -> String {
        self.rest().chars().next().map_or("the end".into(), |c| format!("`{c}`"))
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    pub(crate) fn word(&mut self) -> Option<&'a str> {
        let begins = self.rest().starts_with(|c: char| c.is_alphabetic());
        begins.then(|| self.take_while(|c| c.is_alphanumeric() || c == '_' || c == '-'))
    }

    pub(crate) fn call(&mut self, depth: usize) -> Result<Call<'a>> {
        let at = self.at;
        let Some(word) = self.word() else {
            return Err(self.wrong(at, format!("expected a symmetry such as rot90(1,2), found {}", self.found())));
        };
        self.space();
        let mut parts = Vec::new();
        if self.eat('(') {
            parts.push(Vec::new());
            loop {
                self.space();
                if self.eat(')') {
                    break;
                }
                if self.eat(';') {
                    parts.push(Vec::new());
                    continue;
                }
                let part = parts.last_mut().expect("the first part is there");
                if !part.is_empty() {
                    if !self.eat(',') {
                        return Err(self.wrong(self.at, format!("expected `,`, `;` or `)`, found {}", self.found())));
                    }
                    self.space();
                }
                part.push(self.value(depth + 1)?);
            }
        }
        Ok(Call { word, at, parts, end: self.at })
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>> {
        let at = self.at;
        if depth > MAX_DEPTH {
            return Err(self.wrong(at, format!("nested more than {MAX_DEPTH} deep")));
        }
        if self.eat('[') {
            let mut items = Vec::new();
            loop {
                self.space();
                if self.eat(']') {
                    return Ok(Value { at, is: Is::List(items) });
                }
                if !items.is_empty() {
                    if !self.eat(',') {
                        return Err(self.wrong(self.at, format!("expected `,` or `]`, found {}", self.found())));
                    }
                    self.space();
                }
                items.push(self.value(depth + 1)?);
            }
        }
        if self.eat('"') {
            return Ok(Value { at, is: Is::Text(self.text_to_its_end(at)?) });
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            let number = self.take_while(|c| c.is_ascii_alphanumeric() || "+-./".contains(c));
            return Ok(Value { at, is: Is::Number(number) });
        }
        if self.rest().starts_with(char::is_alphabetic) {
            return Ok(Value { at, is: Is::Call(self.call(depth)?) });
        }
        Err(self.wrong(at, format!("expected a number, `[` or a symmetry, found {}", self.found())))
    }

    /// What follows a quote, up to the next one; a backslash stands before a quote or a backslash that belong to the text.
    fn text_to_its_end(&mut self, at: usize) -> Result<String> {
        let mut text = String::new();
        let mut letters = self.rest().char_indices();
        while let Some((place, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at += place + 1;
                    return Ok(text);
                }
                '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
                _ => text.push(letter),
            }
        }
        Err(self.wrong(at, "expected a quote at the end of the name, found the end".into()))
    }
}
