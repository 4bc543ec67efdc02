//! The header of a NumPy array: a Python dictionary in ASCII.

use std::io::Read;

use crate::element::{Element, Order};
use crate::error::{Error, Result, quote};

/// Longest header that is read; NumPy itself stops at 10,000 characters.
const MAX_HEADER: u64 = 1 << 16;
/// Longest text in an array of texts.
const MAX_TEXT: usize = 4096;

/// What an array holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number(Element, Order),
    /// Texts of so many bytes, padded with zeros.
    Bytes(usize),
    /// Texts of so many characters of four bytes, padded with zeros.
    Unicode(usize, Order),
}

/// What stands before the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
}

impl Kind {
    /// Bytes of one item.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Number(element, _) => element.size(),
            Self::Bytes(length) => length,
            Self::Unicode(length, _) => 4 * length,
        }
    }
}

impl Header {
    /// Reads the header, and says how many bytes it took.
    pub(crate) fn read(reader: &mut impl Read, origin: &str) -> Result<(Self, u64)> {
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(Error::reading(origin, "the first 8 bytes"))?;
        if &start[..6] != b"\x93NUMPY" {
            let zip = if start.starts_with(b"PK") { ": it looks like an NPZ file" } else { "" };
            let got = format!("other bytes{zip}");
            return Err(Error::malformed(origin, "the start", "the mark of a NumPy array (\\x93NUMPY)", got));
        }
        let (digits, length) = match start[6] {
            1 => (2, number::<2>(reader, origin)?),
            2 | 3 => (4, number::<4>(reader, origin)?),
            version => {
                let what = format!("version {version} of the NumPy format");
                return Err(Error::unsupported(origin, what, "save the array with `numpy.save`"));
            }
        };
        if length > MAX_HEADER {
            let expected = format!("at most {MAX_HEADER} bytes");
            return Err(Error::malformed(origin, "the length of the header", expected, length.to_string()));
        }
        let mut bytes = vec![0; length as usize];
        reader.read_exact(&mut bytes).map_err(Error::reading(origin, "the header"))?;
        let text = String::from_utf8_lossy(&bytes);
        let header = Parser { origin, text: &text, rest: &text }.header()?;
        Ok((header, 8 + digits + length))
    }
}

fn number<const N: usize>(reader: &mut impl Read, origin: &str) -> Result<u64> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes).map_err(Error::reading(origin, "the length of the header"))?;
    Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// Reads the dictionary from left to right.
struct Parser<'a> {
    origin: &'a str,
    text: &'a str,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn header(mut self) -> Result<Header> {
        let (mut kind, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.skip('}') {
            let key = self.quoted()?;
            self.expect(':')?;
            match key {
                "descr" => kind = Some(self.kind()?),
                "fortran_order" => fortran = Some(self.truth()?),
                "shape" => shape = Some(self.tuple()?),
                _ => return Err(self.wrong("`descr`, `fortran_order` or `shape`")),
            }
            if !self.skip(',') && !self.rest.trim_start().starts_with('}') {
                return Err(self.wrong("`,` or `}`"));
            }
        }
        match (kind, fortran, shape, self.rest.trim()) {
            (Some(kind), Some(fortran), Some(shape), "") => Ok(Header { kind, fortran, shape }),
            _ => Err(self.wrong("`descr`, `fortran_order` and `shape`, and nothing more")),
        }
    }

    fn kind(&mut self) -> Result<Kind> {
        if self.rest.trim_start().starts_with('[') {
            let advice = "save one array of plain numbers per file or per name";
            return Err(Error::unsupported(self.origin, "an array of records", advice));
        }
        let text = self.quoted()?;
        kind_of(self.origin, text)
    }

    fn truth(&mut self) -> Result<bool> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.trim_start().strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.wrong("True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.skip(')') {
            let rest = self.rest.trim_start();
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            // A number that no usize can hold is as wrong as no number at all.
            let size = rest[..digits].parse().map_err(|_| self.wrong("a size"))?;
            sizes.push(size);
            // Python 2 wrote long integers with an L.
            self.rest = rest[digits..].strip_prefix('L').unwrap_or(&rest[digits..]);
            if !self.skip(',') && !self.rest.trim_start().starts_with(')') {
                return Err(self.wrong("`,` or `)`"));
            }
        }
        Ok(sizes)
    }

    fn quoted(&mut self) -> Result<&'a str> {
        let rest = self.rest.trim_start();
        let mark = rest.chars().next().filter(|mark| matches!(mark, '\'' | '"'));
        let mark = mark.ok_or_else(|| self.wrong("a quoted text"))?;
        let (text, after) = rest[1..].split_once(mark).ok_or_else(|| self.wrong("a closing quotation mark"))?;
        self.rest = after;
        Ok(text)
    }

    fn skip(&mut self, mark: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, mark: char) -> Result<()> {
        if self.skip(mark) { Ok(()) } else { Err(self.wrong(&format!("`{mark}`"))) }
    }

    fn wrong(&self, expected: &str) -> Error {
        let place = format!("the header, character {}", self.text.len() - self.rest.len());
        Error::malformed(self.origin, place, expected, quote(self.rest))
    }
}

/// The type that a NumPy description such as `<f4` stands for.
fn kind_of(origin: &str, text: &str) -> Result<Kind> {
    let refuse = |what: String, advice: &str| Err(Error::unsupported(origin, what, advice));
    let mut letters = text.chars();
    let order = match letters.next() {
        Some('<' | '=' | '|') => Order::Little,
        Some('>') => Order::Big,
        _ => return refuse(format!("the type {}", quote(text)), "save numbers as float32"),
    };
    let letter = letters.next();
    let element = match letters.as_str() {
        size if matches!(letter, Some('U' | 'S' | 'a')) => return text_kind(origin, text, letter, size, order),
        "1" => [('b', Element::Bool), ('u', Element::U8), ('i', Element::I8)].into_iter().find(|&(l, _)| Some(l) == letter),
        "2" => [('u', Element::U16), ('i', Element::I16)].into_iter().find(|&(l, _)| Some(l) == letter),
        "4" => [('u', Element::U32), ('i', Element::I32), ('f', Element::F32)].into_iter().find(|&(l, _)| Some(l) == letter),
        "8" => [('u', Element::U64), ('i', Element::I64), ('f', Element::F64)].into_iter().find(|&(l, _)| Some(l) == letter),
        _ => None,
    };
    match (element, letter) {
        (Some((_, element)), _) => Ok(Kind::Number(element, order)),
        (None, Some('O')) => refuse(
            "an array of Python objects (a pickle, which can run any code when it is read)".to_owned(),
            "convert it before saving: `x.astype('float32')`, or `y.astype(str)` for names",
        ),
        (None, Some('c')) => refuse("complex numbers".to_owned(), "save real and imaginary parts as two entries"),
        (None, Some('M' | 'm')) => refuse("dates".to_owned(), "save numbers as float32"),
        (None, Some('f')) => refuse(format!("the type {}", quote(text)), "save it as float32: `x.astype('float32')`"),
        _ => refuse(format!("the type {}", quote(text)), "save numbers as float32"),
    }
}

fn text_kind(origin: &str, text: &str, letter: Option<char>, size: &str, order: Order) -> Result<Kind> {
    let length = size.parse().ok().filter(|length| (1..=MAX_TEXT).contains(length));
    let length = length.ok_or_else(|| {
        let what = format!("texts of type {}", quote(text));
        Error::unsupported(origin, what, format!("names of classes have 1 to {MAX_TEXT} characters"))
    })?;
    Ok(if letter == Some('U') { Kind::Unicode(length, order) } else { Kind::Bytes(length) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Header> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        Ok(Header::read(&mut &bytes[..], "a")?.0)
    }

    #[test]
    fn headers_of_all_kinds_are_understood() {
        let header = parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n").unwrap();
        let number = Kind::Number(Element::F32, Order::Little);
        assert_eq!(header, Header { kind: number, fortran: false, shape: vec![3, 4] });
        let header = parse("{\"shape\":(7L,),\"fortran_order\":True,\"descr\":\">i2\"}").unwrap();
        let number = Kind::Number(Element::I16, Order::Big);
        assert_eq!(header, Header { kind: number, fortran: true, shape: vec![7] });
        assert_eq!(parse("{'descr': '|S5', 'fortran_order': False, 'shape': ()}").unwrap().kind, Kind::Bytes(5));
        assert_eq!(parse("{'descr': '<U5', 'fortran_order': False, 'shape': ()}").unwrap().kind.size(), 20);
    }

    #[test]
    fn other_types_are_refused_with_advice() {
        let refused =
            |descr: &str| parse(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}")).unwrap_err().to_string();
        assert!(refused("'|O'").contains("pickle"));
        assert!(refused("'<c8'").contains("complex numbers"));
        assert!(refused("'<f2'").contains("astype('float32')"));
        assert!(refused("'<M8[ns]'").contains("dates"));
        assert!(refused("[('a', '<f4')]").contains("records"));
        assert!(refused("'<U0'").contains("1 to 4096"));
        assert!(refused("'<U99999999999999999999'").contains("1 to 4096"));
        assert!(refused("'f4'").contains("the type `f4`"));
    }

    #[test]
    fn wrong_headers_name_the_place() {
        let wrong = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(wrong("{'descr' '<f4'}"), "a: the header, character 8: expected `:`, got ` '<f4'}`");
        for text in ["", "{", "{'shape': (1,)}", "{'shape': (1 2)}", "{'shape': (-1,)}", "{'descr': '<f4', 'x': 1}", "{é", "{'é"]
        {
            assert!(matches!(parse(text), Err(Error::Malformed { .. })), "{text}");
        }
        assert!(wrong("{'shape': (99999999999999999999,)}").contains("a size"));
    }
}
