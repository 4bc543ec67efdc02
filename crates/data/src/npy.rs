//! NumPy arrays (`.npy`).

use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::assemble::{Raw, check_counts, check_rows, volume};
use crate::element::{Column, Order, chunks, read_column, read_floats};
use crate::error::{Error, Result, dims, origin};
use crate::limits::{Budget, open};
use crate::npy_header::{Header, Kind};
use crate::source::Source;

/// Inputs from one file, labels from another.
pub(crate) fn read(source: &Source, budget: &mut Budget) -> Result<Raw> {
    let array = Array::open(&source.path, budget)?;
    let (rows, name) = (array.rows(), source.origin());
    let column = match &source.labels {
        Some(path) if source.wants_labels() => {
            let labels = Array::open(path, budget)?;
            check_counts(&origin(path), rows, labels.rows())?;
            Some(labels.labels(source.rows(rows), budget)?)
        }
        None if source.wants_labels() => {
            return Err(Error::request(&name, "an NPY file holds the inputs alone: name the NPY file that holds the labels"));
        }
        _ => None,
    };
    let (shape, inputs) = array.inputs(source.rows(rows), budget)?;
    Ok(Raw { shape, inputs, column, ..Raw::default() })
}

/// An array whose header has been read and whose length is right.
pub(crate) struct Array<R> {
    origin: String,
    header: Header,
    reader: R,
}

impl Array<BufReader<std::fs::File>> {
    fn open(path: &Path, budget: &Budget) -> Result<Self> {
        let (file, length) = open(path, budget)?;
        Self::new(origin(path), BufReader::new(file), length)
    }
}

impl<R: Read> Array<R> {
    /// An array of `length` bytes, header included. A shape that needs more or fewer is refused here, before any memory is set
    /// aside for it.
    pub(crate) fn new(origin: String, mut reader: R, length: u64) -> Result<Self> {
        let (header, before) = Header::read(&mut reader, &origin)?;
        let needed = volume(&header.shape).and_then(|items| items.checked_mul(header.kind.size()));
        let there = length.saturating_sub(before);
        if needed.map(|needed| needed as u64) != Some(there) {
            let needed = needed.map_or("more than any file has".to_owned(), |needed| needed.to_string());
            let expected = format!("{needed} bytes for an array of shape {}", dims(&header.shape));
            return Err(Error::malformed(&origin, "the data", expected, format!("{there} bytes")));
        }
        check_rows(&origin, &header.shape)?;
        Ok(Self { origin, header, reader })
    }

    /// How many examples there are.
    pub(crate) fn rows(&self) -> usize {
        self.header.shape[0]
    }

    /// The shape of an example, and the first `rows` of them.
    pub(crate) fn inputs(mut self, rows: usize, budget: &mut Budget) -> Result<(Vec<usize>, Vec<f32>)> {
        let Header { kind, fortran, shape } = &self.header;
        let Kind::Number(element, order) = *kind else {
            return Err(Error::unsupported(&self.origin, "an array of texts as inputs", "inputs must be numbers"));
        };
        let each = if shape.len() == 1 { vec![1] } else { shape[1..].to_vec() };
        // Within bounds: `new` has compared the product of all sizes with the length of the file.
        let width = volume(&each).unwrap_or(0);
        // By columns, the first rows lie all over the file.
        let wanted = if *fortran { shape[0] } else { rows } * width;
        let mut values = read_floats(&mut self.reader, &self.origin, (element, order), wanted, budget)?;
        if *fortran && shape.len() > 1 {
            budget.take(&self.origin, "the inputs by rows", rows * width, size_of::<f32>())?;
            values = by_rows(&values, shape, rows);
        } else {
            values.truncate(rows * width);
        }
        drain(self.reader, &self.origin)?;
        Ok((each, values))
    }

    /// The first `rows` entries as labels.
    pub(crate) fn labels(mut self, rows: usize, budget: &mut Budget) -> Result<Column> {
        let shape = &self.header.shape;
        if shape[1..].iter().any(|&size| size != 1) {
            let got = format!("{}; for one-hot labels save `y.argmax(1)`", dims(shape));
            return Err(Error::mismatch(&self.origin, "the shape of the labels", "one label per example", got));
        }
        let column = match self.header.kind {
            Kind::Number(element, order) => read_column(&mut self.reader, &self.origin, (element, order), rows, budget)?,
            kind => Column::Texts(texts(&mut self.reader, &self.origin, kind, rows, budget)?),
        };
        drain(self.reader, &self.origin)?;
        Ok(column)
    }
}

/// Reads to the end: what is wrong in the rest of an archive entry shows there.
fn drain(mut reader: impl Read, origin: &str) -> Result<()> {
    io::copy(&mut reader, &mut io::sink()).map_err(Error::reading(origin, "the end of the data"))?;
    Ok(())
}

fn texts(reader: &mut impl Read, origin: &str, kind: Kind, count: usize, budget: &mut Budget) -> Result<Vec<String>> {
    // A character takes up to four bytes in either form.
    budget.take(origin, "the labels", count, size_of::<String>() + 2 * kind.size())?;
    let (mut values, mut bad) = (Vec::new(), None);
    chunks(reader, origin, kind.size(), count, |bytes, _| {
        for item in bytes.chunks_exact(kind.size()) {
            let text = text(item, kind);
            bad = bad.or_else(|| text.is_none().then_some(values.len()));
            values.push(text.unwrap_or_default());
        }
    })?;
    match bad {
        Some(index) => Err(Error::malformed(origin, format!("text {index}"), "valid Unicode", "other bytes")),
        None => Ok(values),
    }
}

fn text(item: &[u8], kind: Kind) -> Option<String> {
    if let Kind::Bytes(_) = kind {
        let end = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        return String::from_utf8(item[..end].to_vec()).ok();
    }
    let code = |bytes: &[u8]| {
        let bytes = bytes.try_into().ok()?;
        let big = matches!(kind, Kind::Unicode(_, Order::Big));
        char::from_u32(if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    };
    let text: String = item.chunks_exact(4).map(code).collect::<Option<_>>()?;
    Some(text.trim_end_matches('\0').to_owned())
}

/// Entries stored first index fastest (Fortran), put last index fastest; the first `rows` only.
fn by_rows(values: &[f32], shape: &[usize], rows: usize) -> Vec<f32> {
    let steps: Vec<usize> = shape.iter().scan(1, |step, &size| Some(std::mem::replace(step, *step * size))).collect();
    let mut index = vec![0; shape.len()];
    let mut from = 0;
    let total = rows * shape[1..].iter().product::<usize>();
    let mut out = Vec::with_capacity(total);
    for _ in 0..total {
        out.push(values[from]);
        // Count up, the last index fastest.
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            from += steps[axis];
            if index[axis] < shape[axis] {
                break;
            }
            from -= steps[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn columns_become_rows() {
        // The array [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]] by columns.
        let stored = [0., 4., 8., 2., 6., 10., 1., 5., 9., 3., 7., 11.];
        assert_eq!(by_rows(&stored, &[3, 2, 2], 3), (0..12).map(|i| i as f32).collect::<Vec<_>>());
        assert_eq!(by_rows(&stored, &[3, 2, 2], 2), (0..8).map(|i| i as f32).collect::<Vec<_>>());
    }

    fn bytes(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn array(descr: &str, shape: &str, data: &[u8]) -> Result<Array<io::Cursor<Vec<u8>>>> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let bytes = bytes(&header, data);
        let length = bytes.len() as u64;
        Array::new("a".to_owned(), io::Cursor::new(bytes), length)
    }

    #[test]
    fn texts_are_labels() {
        let mut budget = Budget::new(Limits::new(1 << 20));
        let column = array("|S3", "(2,)", b"ab\0c\0\0").unwrap().labels(2, &mut budget).unwrap();
        assert_eq!(column, Column::Texts(vec!["ab".into(), "c".into()]));
        let wide: Vec<u8> = ['é', '\0', '犬', 'x'].iter().flat_map(|&c| (c as u32).to_be_bytes()).collect();
        let column = array(">U2", "(2, 1)", &wide).unwrap().labels(1, &mut budget).unwrap();
        assert_eq!(column, Column::Texts(vec!["é".into()]));
        assert!(array("<U1", "(1,)", &[0, 0xd8, 0, 0]).unwrap().labels(1, &mut budget).is_err());
        assert!(array("|S1", "(1,)", b"a").unwrap().inputs(1, &mut budget).is_err());
        let hot = array("|u1", "(2, 2)", &[0, 1, 1, 0]).unwrap().labels(2, &mut budget).unwrap_err();
        assert!(hot.to_string().contains("argmax"));
    }

    #[test]
    fn shapes_must_account_for_every_byte() {
        let wrong = |shape: &str, data: &[u8]| array("<f4", shape, data).err().expect("refused").to_string();
        assert!(wrong("(3,)", &[0; 8]).contains("expected 12 bytes for an array of shape 3, got 8 bytes"));
        assert!(wrong("(1,)", &[0; 8]).contains("expected 4 bytes"));
        assert!(wrong("(4294967296, 4294967296, 8)", &[0; 8]).contains("more than any file has"));
        assert!(wrong("()", &[0; 4]).contains("a single value"));
    }

    #[test]
    fn a_row_of_numbers_is_one_entry_each() {
        let mut budget = Budget::new(Limits::new(1 << 20));
        let (shape, values) = array("|u1", "(3,)", &[1, 2, 3]).unwrap().inputs(2, &mut budget).unwrap();
        assert_eq!((shape, values), (vec![1], vec![1.0, 2.0]));
    }
}
