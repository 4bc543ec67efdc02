//! Reads the shorthand of the command line: `rot90(1,2)`, `color=permute(0)`, `swap(0;2,5)`, `generators([[1,0,2]])`.

use std::str::FromStr;

use dashu_ratio::RBig;

use crate::alias::{ALIASES, Alias};
use crate::error::ParseError;
use crate::spec::{Candidate, Generator, Kind, Number};
use crate::syntax::{Call, Is, Reader, Value};

type Result<T> = std::result::Result<T, ParseError>;

const NAMES: [&str; 18] = [
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
    "exchange",
    "mirror",
    "rotate",
    "reverse",
];

/// Reads one candidate.
pub(crate) fn candidate(text: &str) -> Result<Candidate> {
    let mut reader = Reader { text, at: 0 };
    reader.space();
    let start = reader.at;
    let mut name = None;
    // A name may look like a symmetry: `swap(0;1,2)=generators(...)` is how one is kept that was said in other terms.
    let before = reader.call(0).ok().map(|call| text[start..call.end].trim_end());
    if let Some(before) = before
        && reader.eat('=')
    {
        name = Some(before.to_string());
        reader.space();
    } else {
        reader.at = start;
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
    match reader.call(0) {
        Ok(call) if call.end == name.len() && !name.ends_with(char::is_whitespace) => Ok(()),
        _ => Err("expected letters, digits and _ - only, beginning with a letter".into()),
    }
}

/// A name as it stands in shorthand: in quotes unless it is a word.
pub fn quoted(name: &str) -> String {
    let mut reader = Reader { text: name, at: 0 };
    let number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if number || reader.word().is_some_and(|word| word.len() == name.len()) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
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
            "mirror" | "rotate" | "reverse" => Kind::Alias(self.alias(call)?),
            "shift" | "exchange" if said(call).is_some() => Kind::Alias(self.alias(call)?),
            "shift" => Kind::Shift { axis: self.axis(call)? },
            "exchange" => self.exchange(call)?,
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

    fn alias(&self, call: &Call<'_>) -> Result<Alias> {
        let known = ALIASES.iter().filter(|(_, word, _)| *word == call.word).map(|(alias, ..)| alias.to_string());
        let expected = || format!("expected {}", known.collect::<Vec<_>>().join(" or "));
        said(call).map_or_else(|| self.wrong(call.end, expected()), Ok)
    }

    fn exchange(&self, call: &Call<'_>) -> Result<Kind> {
        const FORM: &str = "exchange needs the names of two columns or more, or the name of items: exchange(a,b), \
            exchange(sensor), exchange(sensor;1,2)";
        let (names, pair) = match &call.parts[..] {
            [names] => (names, None),
            [names, pair] => (names, Some(pair)),
            _ => return self.wrong(call.end, FORM),
        };
        let name = |value: &Value<'_>| match &value.is {
            Is::Text(text) => Ok(text.clone()),
            Is::Number(text) => Ok((*text).to_string()),
            Is::Call(word) if word.parts.is_empty() => Ok(word.word.to_string()),
            _ => self.wrong(value.at, "expected a name, in quotes unless it is a word: exchange(a,\"b c\")"),
        };
        let names = names.iter().map(name).collect::<Result<Vec<_>>>()?;
        let Some(part) = pair else {
            return if names.is_empty() { self.wrong(call.end, FORM) } else { Ok(Kind::Exchange { names, pair: None }) };
        };
        match <[usize; 2]>::try_from(self.whole_numbers(part)?) {
            Ok(pair) if names.len() == 1 && pair[0] != pair[1] && !pair.contains(&0) => {
                Ok(Kind::Exchange { names, pair: Some(pair) })
            }
            _ => self.wrong(call.end, "exchange needs one name and two items, counted from 1, as in exchange(sensor;1,2)"),
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
                Is::Call(inner) if inner.word == "exchange" && said(inner).is_none() => {
                    self.wrong(inner.at, "exchange stands for candidates of its own and cannot be joined")
                }
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

/// The alias that a call is.
fn said(call: &Call<'_>) -> Option<Alias> {
    let [part] = &call.parts[..] else { return None };
    let [Value { is: Is::Call(argument), .. }] = &part[..] else { return None };
    Alias::named(call.word, argument.word).filter(|_| argument.parts.is_empty())
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
            "mirror(left-right)",
            "rotate(half)",
            "shift(time)",
            "exchange(colours)",
            "exchange(participant)",
            "exchange(sensor;1,2)",
            "exchange(a,\"b, \\\"c\\\\\",7)",
            "swap(0;1,2)=generators([[1,0]])",
            "exchange(\"a=b\",c)=negate",
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
            ("mirror(up)", 10, "expected mirror(left-right) or mirror(top-bottom)"),
            ("shift(tim)", 6, "expected a whole number from 0"),
            ("exchange()", 10, "exchange needs the names of two columns or more"),
            ("exchange(a;1,1)", 15, "two items, counted from 1"),
            ("exchange(a;0,1)", 15, "two items, counted from 1"),
            ("exchange(\"a)", 9, "expected a quote at the end of the name"),
            ("exchange(f(1),b)", 9, "expected a name"),
            ("join(exchange(a,b))", 5, "cannot be joined"),
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
