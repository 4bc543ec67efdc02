//! Numbers as they lie in binary files.

use std::io::Read;

use crate::error::{Error, Result};
use crate::limits::Budget;

/// A type of numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

/// Labels as they stand in a file, before it is known what they mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Column {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

impl Column {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }
}

/// Bytes read at a time: a multiple of the size of every element.
const CHUNK: usize = 1 << 16;

impl Element {
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Appends the numbers in `bytes`, rounded to f32.
    fn append_floats(self, bytes: &[u8], order: Order, out: &mut Vec<f32>) {
        match self {
            Self::Bool => out.extend(bytes.iter().map(|&byte| f32::from(u8::from(byte != 0)))),
            Self::U8 => out.extend(bytes.iter().map(|&byte| f32::from(byte))),
            Self::I8 => out.extend(bytes.iter().map(|&byte| f32::from(byte as i8))),
            Self::U16 => out.extend(each(bytes, order).map(|b| f32::from(u16::from_le_bytes(b)))),
            Self::I16 => out.extend(each(bytes, order).map(|b| f32::from(i16::from_le_bytes(b)))),
            Self::U32 => out.extend(each(bytes, order).map(|b| u32::from_le_bytes(b) as f32)),
            Self::I32 => out.extend(each(bytes, order).map(|b| i32::from_le_bytes(b) as f32)),
            Self::U64 => out.extend(each(bytes, order).map(|b| u64::from_le_bytes(b) as f32)),
            Self::I64 => out.extend(each(bytes, order).map(|b| i64::from_le_bytes(b) as f32)),
            Self::F32 => out.extend(each(bytes, order).map(f32::from_le_bytes)),
            Self::F64 => out.extend(each(bytes, order).map(|b| f64::from_le_bytes(b) as f32)),
        }
    }

    /// Appends the whole numbers in `bytes`; none for a type that is not whole. Those past i64 stop at its largest value.
    fn append_integers(self, bytes: &[u8], order: Order, out: &mut Vec<i64>) {
        match self {
            Self::Bool => out.extend(bytes.iter().map(|&byte| i64::from(byte != 0))),
            Self::U8 => out.extend(bytes.iter().map(|&byte| i64::from(byte))),
            Self::I8 => out.extend(bytes.iter().map(|&byte| i64::from(byte as i8))),
            Self::U16 => out.extend(each(bytes, order).map(|b| i64::from(u16::from_le_bytes(b)))),
            Self::I16 => out.extend(each(bytes, order).map(|b| i64::from(i16::from_le_bytes(b)))),
            Self::U32 => out.extend(each(bytes, order).map(|b| i64::from(u32::from_le_bytes(b)))),
            Self::I32 => out.extend(each(bytes, order).map(|b| i64::from(i32::from_le_bytes(b)))),
            Self::U64 => out.extend(each(bytes, order).map(|b| i64::try_from(u64::from_le_bytes(b)).unwrap_or(i64::MAX))),
            Self::I64 => out.extend(each(bytes, order).map(i64::from_le_bytes)),
            Self::F32 | Self::F64 => {}
        }
    }

    fn append_numbers(self, bytes: &[u8], order: Order, out: &mut Vec<f64>) {
        match self {
            Self::F32 => out.extend(each(bytes, order).map(|b| f64::from(f32::from_le_bytes(b)))),
            Self::F64 => out.extend(each(bytes, order).map(f64::from_le_bytes)),
            _ => {}
        }
    }
}

/// Reads `count` numbers as f32. Memory grows with what is really there, so that a false claim costs nothing.
pub(crate) fn read_floats(
    reader: &mut impl Read,
    origin: &str,
    (element, order): (Element, Order),
    count: usize,
    budget: &mut Budget,
) -> Result<Vec<f32>> {
    budget.take(origin, "the inputs", count, size_of::<f32>())?;
    let mut values = Vec::new();
    chunks(reader, origin, element.size(), count, |bytes, left| {
        grow(&mut values, bytes.len() / element.size(), left);
        element.append_floats(bytes, order, &mut values);
    })?;
    Ok(values)
}

/// Reads `count` numbers as labels.
pub(crate) fn read_column(
    reader: &mut impl Read,
    origin: &str,
    (element, order): (Element, Order),
    count: usize,
    budget: &mut Budget,
) -> Result<Column> {
    budget.take(origin, "the labels", count, size_of::<f64>())?;
    if matches!(element, Element::F32 | Element::F64) {
        let mut values = Vec::new();
        chunks(reader, origin, element.size(), count, |bytes, _| element.append_numbers(bytes, order, &mut values))?;
        return Ok(Column::Numbers(values));
    }
    let mut values = Vec::new();
    chunks(reader, origin, element.size(), count, |bytes, _| element.append_integers(bytes, order, &mut values))?;
    Ok(Column::Integers(values))
}

/// Hands over `count` items of `size` bytes, some at a time, with the number of items not handed over yet.
pub(crate) fn chunks(
    reader: &mut impl Read,
    origin: &str,
    size: usize,
    count: usize,
    mut take: impl FnMut(&[u8], usize),
) -> Result<()> {
    let most = (CHUNK / size).max(1);
    let mut buffer = vec![0; most.min(count) * size];
    let mut left = count;
    while left > 0 {
        let now = most.min(left);
        let bytes = &mut buffer[..now * size];
        let place = format!("item {} of {count}", count - left);
        reader.read_exact(bytes).map_err(Error::reading(origin, &place))?;
        take(bytes, left);
        left -= now;
    }
    Ok(())
}

/// Doubles the room for `values` until all that is left fits exactly.
fn grow(values: &mut Vec<f32>, more: usize, left: usize) {
    if values.capacity() - values.len() < more {
        values.reserve_exact(left.min(values.len().max(CHUNK)));
    }
}

/// The items of N bytes each, lowest byte first.
fn each<const N: usize>(bytes: &[u8], order: Order) -> impl Iterator<Item = [u8; N]> {
    bytes.chunks_exact(N).map(move |chunk| {
        let mut item = [0; N];
        item.copy_from_slice(chunk);
        if order == Order::Big {
            item.reverse();
        }
        item
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn floats(bytes: &[u8], element: Element, order: Order) -> Vec<f32> {
        let mut budget = Budget::new(Limits::new(1 << 20));
        read_floats(&mut &bytes[..], "a", (element, order), bytes.len() / element.size(), &mut budget).unwrap()
    }

    #[test]
    fn numbers_are_read_in_both_orders() {
        assert_eq!(floats(&[1, 2], Element::U16, Order::Little), [513.0]);
        assert_eq!(floats(&[1, 2], Element::U16, Order::Big), [258.0]);
        assert_eq!(floats(&[255], Element::I8, Order::Big), [-1.0]);
        assert_eq!(floats(&(-2.5f64).to_be_bytes(), Element::F64, Order::Big), [-2.5]);
        assert_eq!(floats(&(-7i64).to_le_bytes(), Element::I64, Order::Little), [-7.0]);
        assert_eq!(floats(&[0, 2], Element::Bool, Order::Little), [0.0, 1.0]);
    }

    #[test]
    fn many_numbers_pass_through_chunks_unharmed() {
        let values: Vec<f32> = (0..100_001).map(|i| i as f32).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        let read = floats(&bytes, Element::F32, Order::Big);
        assert_eq!(read, values);
        assert_eq!(read.capacity(), values.len());
    }

    #[test]
    fn a_false_count_costs_no_memory() {
        let mut budget = Budget::new(Limits::new(u64::MAX));
        let read = read_floats(&mut &[0u8; 8][..], "a", (Element::U8, Order::Little), usize::MAX / 8, &mut budget);
        assert!(read.unwrap_err().to_string().contains("truncated"));
    }

    #[test]
    fn labels_keep_whole_numbers_whole() {
        let mut budget = Budget::new(Limits::new(1 << 20));
        let bytes = i64::MAX.to_le_bytes();
        let column = read_column(&mut &bytes[..], "a", (Element::I64, Order::Little), 1, &mut budget).unwrap();
        assert_eq!(column, Column::Integers(vec![i64::MAX]));
    }
}
