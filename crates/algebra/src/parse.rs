//! Reads the shorthand of the command line: `rot90(1,2)`, `color=permute(0)`, `swap(0;2,5)`, `generators([[1,0,2]])`.
//!
//! ```text
//! candidate := [name '='] call
//! call      := word [ '(' part { ';' part } ')' ]
//! part      := [ value { ',' value } ]
//! value     := number | list | call
//! list      := '[' [ value { ',' value } ] ']'
//! number    := [sign] digits [ '/' digits ]  |  [sign] decimal
//! ```

use std::str::FromStr;

use dashu_ratio::RBig;

use crate::error::ParseError;
use crate::spec::{Candidate, Generator, Kind, Number};

type Result<T> = std::result::Result<T, ParseError>;

/// Deepest nesting of joins and lists that is read: hostile input must not exhaust the stack.
const MAX_DEPTH: usize = 16;

const NAMES: [&str; 14] = [
    "rot90",
    "flip",
    "flips",
    "permute",
    "cycle",
    "shift",
    "swap",
    "swaps",
    "nodes",
    "node_swaps",
    "negate",
    "generators",
    "join",
    "product",
];

/// Reads one candidate.
pub(crate) fn candidate(text: &str) -> Result<Candidate> {
    let mut reader = Reader { text, at: 0 };
    reader.space();
    let start = reader.at;
    let mut name = None;
    if let Some(word) = reader.word() {
        reader.space();
        if reader.eat('=') {
            name = Some(word.to_string());
            reader.space();
        } else {
            reader.at = start;
        }
    }
    let call = reader.call(0)?;
    reader.space();
    if reader.at < text.len() {
        return Err(reader.wrong(reader.at, format!("expected the end, found {}", reader.found())));
    }
    Ok(Candidate { name, kind: Interpreter { text }.kind(&call)? })
}

/// Whether the user may call a group so.
pub(crate) fn check_name(name: &str) -> std::result::Result<(), String> {
    let mut reader = Reader { text: name, at: 0 };
    match reader.word() {
        Some(word) if word.len() == name.len() => Ok(()),
        _ => Err("expected letters, digits and _ - only, beginning with a letter".into()),
    }
}

#[derive(Debug)]
struct Call<'a> {
    word: &'a str,
    at: usize,
    /// Values between semicolons.
    parts: Vec<Vec<Value<'a>>>,
    end: usize,
}

#[derive(Debug)]
struct Value<'a> {
    at: usize,
    is: Is<'a>,
}

#[derive(Debug)]
enum Is<'a> {
    Number(&'a str),
    List(Vec<Value<'a>>),
    Call(Call<'a>),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn wrong(&self, position: usize, message: String) -> ParseError {
        ParseError { text: self.text.to_string(), position, message }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, expected: char) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len_utf8();
        }
        found
    }

    fn found(&self) -> String {
        self.rest().chars().next().map_or("the end".into(), |c| format!("`{c}`"))
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn word(&mut self) -> Option<&'a str> {
        let begins = self.rest().starts_with(|c: char| c.is_alphabetic());
        begins.then(|| self.take_while(|c| c.is_alphanumeric() || c == '_' || c == '-'))
    }

    fn call(&mut self, depth: usize) -> Result<Call<'a>> {
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
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            let number = self.take_while(|c| c.is_ascii_alphanumeric() || "+-./".contains(c));
            return Ok(Value { at, is: Is::Number(number) });
        }
        if self.rest().starts_with(char::is_alphabetic) {
            return Ok(Value { at, is: Is::Call(self.call(depth)?) });
        }
        Err(self.wrong(at, format!("expected a number, `[` or a symmetry, found {}", self.found())))
    }
}

/// Gives calls and values their meaning.
struct Interpreter<'a> {
    text: &'a str,
}

impl Interpreter<'_> {
    fn wrong<T>(&self, position: usize, message: impl Into<String>) -> Result<T> {
        Err(ParseError { text: self.text.to_string(), position, message: message.into() })
    }

    fn kind(&self, call: &Call<'_>) -> Result<Kind> {
        Ok(match call.word {
            "rot90" => Kind::Rot90 { axes: self.exactly(call, "two axes, as in rot90(1,2)")? },
            "flip" => Kind::Flip { axis: self.axis(call)? },
            "flips" => Kind::Flips { axes: self.axes(call)? },
            "permute" => Kind::Permute { axis: self.axis(call)? },
            "cycle" => Kind::Cycle { axis: self.axis(call)? },
            "shift" => Kind::Shift { axis: self.axis(call)? },
            "swap" => self.swap(call)?,
            "swaps" => Kind::Swaps { axis: self.axis(call)? },
            "nodes" => Kind::Nodes { axes: self.axes(call)? },
            "node_swaps" => Kind::NodeSwaps { axes: self.axes(call)? },
            "negate" if call.parts.iter().all(Vec::is_empty) => Kind::Negate,
            "negate" => return self.wrong(call.parts[0].first().map_or(call.at, |v| v.at), "negate takes no arguments"),
            "generators" => self.generators(call)?,
            "join" => Kind::Join { of: self.members(call)? },
            "product" => Kind::Product { of: self.members(call)? },
            unknown => return self.unknown(call.at, unknown),
        })
    }

    fn unknown<T>(&self, at: usize, word: &str) -> Result<T> {
        let lower = word.to_lowercase();
        let closest = NAMES.iter().map(|name| (strsim::damerau_levenshtein(&lower, name), name)).min();
        match closest {
            Some((distance, name)) if distance <= 2 => {
                self.wrong(at, format!("unknown symmetry `{word}`; did you mean `{name}`?"))
            }
            _ => self.wrong(at, format!("unknown symmetry `{word}`; expected one of {}", NAMES.join(", "))),
        }
    }

    fn exactly<const N: usize>(&self, call: &Call<'_>, what: &str) -> Result<[usize; N]> {
        let one_part = call.parts.len() == 1;
        let numbers = if one_part { self.whole_numbers(&call.parts[0])? } else { Vec::new() };
        numbers.try_into().or_else(|_| self.wrong(call.end.min(self.text.len()), format!("{} needs {what}", call.word)))
    }

    fn axis(&self, call: &Call<'_>) -> Result<usize> {
        let [axis] = self.exactly(call, &format!("one axis, as in {}(0)", call.word))?;
        Ok(axis)
    }

    fn axes(&self, call: &Call<'_>) -> Result<Vec<usize>> {
        match &call.parts[..] {
            [part] if !part.is_empty() => self.whole_numbers(part),
            _ => self.wrong(call.end, format!("{0} needs at least one axis, as in {0}(0,1)", call.word)),
        }
    }

    fn swap(&self, call: &Call<'_>) -> Result<Kind> {
        let [axes, pair] = &call.parts[..] else {
            return self.wrong(call.end, "swap needs an axis and two indices, as in swap(0;2,5)");
        };
        if axes.is_empty() {
            return self.wrong(call.end, "swap needs at least one axis before the `;`, as in swap(0;2,5)");
        }
        let pair_at = pair.first().map_or(call.end, |value| value.at);
        match <[usize; 2]>::try_from(self.whole_numbers(pair)?) {
            Ok(pair) => Ok(Kind::Swap { axes: self.whole_numbers(axes)?, pair }),
            Err(_) => self.wrong(pair_at, "swap needs exactly two indices after the `;`, as in swap(0;2,5)"),
        }
    }

    fn members(&self, call: &Call<'_>) -> Result<Vec<Kind>> {
        let [part] = &call.parts[..] else {
            return self.wrong(call.end, format!("{0} needs symmetries, as in {0}(flip(0),flip(1))", call.word));
        };
        if part.is_empty() {
            return self.wrong(call.end, format!("{} needs at least one symmetry", call.word));
        }
        part.iter()
            .map(|value| match &value.is {
                Is::Call(inner) if matches!(inner.word, "swaps" | "node_swaps") => self.wrong(
                    inner.at,
                    format!("{} stands for many candidates and cannot be joined; use permute or nodes", inner.word),
                ),
                Is::Call(inner) => self.kind(inner),
                _ => self.wrong(value.at, "expected a symmetry"),
            })
            .collect()
    }

    fn generators(&self, call: &Call<'_>) -> Result<Kind> {
        let (axes, part) = match &call.parts[..] {
            [part] => (Vec::new(), part),
            [axes, part] if !axes.is_empty() => (self.whole_numbers(axes)?, part),
            _ => return self.wrong(call.end, "generators needs a list, as in generators([[1,0,2]]) or generators(0;[[1,0,2]])"),
        };
        let [Value { is: Is::List(items), at }] = &part[..] else {
            let at = part.first().map_or(call.end, |value| value.at);
            return self.wrong(at, "expected one list of generators, as in generators([[1,0,2]])");
        };
        if items.is_empty() {
            return self.wrong(*at, "expected at least one generator");
        }
        let list = items.iter().map(|item| self.generator(item)).collect::<Result<Vec<_>>>()?;
        Ok(Kind::Generators { axes, list })
    }

    fn generator(&self, value: &Value<'_>) -> Result<Generator> {
        let Is::List(items) = &value.is else {
            return self.wrong(value.at, "expected a generator in brackets: images [1,0,2] or rows [[0,1],[1,0]]");
        };
        if items.iter().any(|item| matches!(item.is, Is::List(_))) {
            let row = |item: &Value<'_>| match &item.is {
                Is::List(entries) => entries.iter().map(|entry| self.number(entry)).collect(),
                _ => self.wrong(item.at, "expected a row of the matrix in brackets, like the other rows"),
            };
            return Ok(Generator::Matrix(items.iter().map(row).collect::<Result<_>>()?));
        }
        if items.is_empty() {
            return self.wrong(value.at, "a generator cannot be empty");
        }
        let image = |item: &Value<'_>| match &item.is {
            Is::Number(text) => {
                let minus = text.starts_with('-');
                match text.trim_start_matches(['+', '-']).parse::<usize>() {
                    Ok(i) if text.len() <= 1 + text.trim_start_matches(['+', '-']).len() => Ok((minus, i)),
                    _ => self.wrong(item.at, format!("expected the image of an entry, such as 3 or -3, found `{text}`")),
                }
            }
            _ => self.wrong(item.at, "expected the image of an entry, such as 3 or -3"),
        };
        Ok(Generator::Images(items.iter().map(image).collect::<Result<_>>()?))
    }

    fn number(&self, value: &Value<'_>) -> Result<Number> {
        let Is::Number(text) = &value.is else {
            return self.wrong(value.at, "expected a number such as 2, 1/2 or 0.5");
        };
        if text.contains(['.', 'e', 'E']) && !text.contains('/') {
            if let Some(real) = text.parse::<f64>().ok().filter(|real| real.is_finite()) {
                return Ok(Number::Real(real));
            }
        } else if let Some(exact) = fraction(text) {
            return Ok(Number::Exact(exact));
        }
        self.wrong(value.at, format!("expected a number such as 2, 1/2 or 0.5, found `{text}`"))
    }

    fn whole_numbers(&self, values: &[Value<'_>]) -> Result<Vec<usize>> {
        values
            .iter()
            .map(|value| match &value.is {
                Is::Number(text) => match text.parse() {
                    Ok(number) if !text.starts_with('+') => Ok(number),
                    _ => self.wrong(value.at, format!("expected a whole number from 0, found `{text}`")),
                },
                _ => self.wrong(value.at, "expected a whole number from 0"),
            })
            .collect()
    }
}

/// `3`, `-3` or `-3/4`.
fn fraction(text: &str) -> Option<RBig> {
    let (top, bottom) = text.split_once('/').unwrap_or((text, "1"));
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    let unsigned = top.strip_prefix(['+', '-']).unwrap_or(top);
    let sound = digits(unsigned) && digits(bottom) && bottom.bytes().any(|b| b != b'0');
    if !sound {
        return None;
    }
    let value = RBig::from_str(&format!("{unsigned}/{bottom}")).ok()?;
    Some(if top.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorthand_of_every_symmetry_is_read_and_shown_alike() {
        for text in [
            "rot90(1,2)",
            "flip(1)",
            "flips(1,2)",
            "permute(0)",
            "cycle(0)",
            "shift(2)",
            "swap(0;2,5)",
            "swap(0,1;2,5)",
            "swaps(0)",
            "nodes(0,1)",
            "node_swaps(0,1)",
            "negate",
            "generators([[1,0,2]])",
            "generators([[-1,0,2],[[0,1/2],[2,0]]])",
            "generators(1;[[1,0]])",
            "generators([[[0.5,-1.0],[1.0,0.5]]])",
            "join(flip(0),rot90(0,1))",
            "product(permute(0),join(flip(1),flip(2)))",
            "my-rot_2=rot90(1,2)",
        ] {
            assert_eq!(candidate(text).unwrap().to_string(), text);
        }
        assert_eq!(candidate("  rot = rot90 ( 1 , 2 ) ").unwrap().to_string(), "rot=rot90(1,2)");
    }

    #[test]
    fn errors_point_at_the_place_and_say_what_was_expected() {
        for (text, position, part) in [
            ("", 0, "expected a symmetry such as rot90(1,2), found the end"),
            ("rot9(1,2)", 0, "did you mean `rot90`?"),
            ("wobble(1)", 0, "expected one of rot90, flip"),
            ("a=flp(1)", 2, "did you mean `flip`?"),
            ("rot90(1,2", 9, "expected `,`, `;` or `)`, found the end"),
            ("rot90(1)", 8, "rot90 needs two axes"),
            ("rot90", 5, "rot90 needs two axes"),
            ("flip(-1)", 5, "expected a whole number from 0, found `-1`"),
            ("flip(x)", 5, "expected a whole number from 0"),
            ("flip(1) flip(2)", 8, "expected the end, found `f`"),
            ("flip(1;2)", 9, "flip needs one axis"),
            ("swap(0;1)", 7, "exactly two indices"),
            ("swap(0,1,2)", 11, "swap needs an axis and two indices"),
            ("swap(;1,2)", 10, "at least one axis before"),
            ("negate(1)", 7, "negate takes no arguments"),
            ("generators([])", 11, "at least one generator"),
            ("generators([1,0])", 12, "expected a generator in brackets"),
            ("generators([[1,0.5]])", 15, "expected the image of an entry"),
            ("generators([[[1,0],2]])", 19, "expected a row of the matrix"),
            ("generators([[[1/0]]])", 14, "found `1/0`"),
            ("join(swaps(0))", 5, "stands for many candidates"),
            ("join()", 6, "at least one symmetry"),
            ("flip(1,)", 7, "expected a number"),
            ("é(1)", 0, "unknown symmetry `é`"),
        ] {
            let error = candidate(text).unwrap_err();
            assert!(error.message.contains(part), "{text}: {error}");
            assert_eq!(error.position, position, "{text}: {error}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = format!("{}negate{}", "join(".repeat(5000), ")".repeat(5000));
        assert!(candidate(&text).unwrap_err().message.contains("nested more than"));
        let text = format!("generators({}", "[".repeat(100_000));
        assert!(candidate(&text).unwrap_err().message.contains("nested more than"));
    }
}
