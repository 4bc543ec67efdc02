//! NumPy arrays.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use crate::assemble::volume;
use crate::error::{Error, Result, dims, origin};
use crate::write::NewFile;

/// An array to write.
#[derive(Debug, Clone, Copy)]
pub enum Array<'a> {
    /// Numbers of 32 bits, the last axis fastest.
    Floats(&'a [usize], &'a [f32]),
    /// Whole numbers of 64 bits, the last axis fastest.
    Integers(&'a [usize], &'a [i64]),
    /// A row of texts.
    Texts(&'a [String]),
}

impl Array<'_> {
    /// Writes header and data.
    pub(super) fn write(&self, out: &mut impl Write, origin: &str) -> Result<()> {
        let failed = || Error::io(origin, "write it");
        let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(failed());
        match *self {
            Self::Floats(shape, values) => {
                check(origin, shape, values.len())?;
                put(&header("<f4", shape, 0))?;
                values.iter().try_for_each(|value| put(&value.to_le_bytes()))
            }
            Self::Integers(shape, values) => {
                check(origin, shape, values.len())?;
                put(&header("<i8", shape, 0))?;
                values.iter().try_for_each(|value| put(&value.to_le_bytes()))
            }
            Self::Texts(texts) => {
                let length = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
                put(&header(&format!("<U{length}"), &[texts.len()], 0))?;
                texts.iter().try_for_each(|text| {
                    let padded = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(length);
                    padded.into_iter().try_for_each(|code| put(&code.to_le_bytes()))
                })
            }
        }
    }
}

fn check(origin: &str, shape: &[usize], count: usize) -> Result<()> {
    if volume(shape) == Some(count) {
        return Ok(());
    }
    Err(Error::mismatch(origin, "the array to write", format!("values for shape {}", dims(shape)), count.to_string()))
}

/// A header of at least `length` bytes; data start at a multiple of 64, as NumPy likes it.
fn header(descr: &str, shape: &[usize], length: usize) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(|size| format!("{size},")).collect();
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", sizes.join(" "));
    let total = (10 + text.len() + 1).next_multiple_of(64).max(length);
    text.extend(std::iter::repeat_n(' ', total - 10 - text.len() - 1));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// Writes one array to a file.
pub fn write_npy(path: &Path, array: &Array) -> Result<()> {
    let mut file = NewFile::create(path)?;
    array.write(&mut file, &origin(path))?;
    file.finish()
}

/// Writes rows of numbers as they come; how many there were is filled in at the end.
///
/// ```
/// # use invar_data::{NewFile, NpyWriter};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("scores.npy");
/// let mut writer = NpyWriter::new(NewFile::create(&path)?, &[3])?;
/// writer.push(&[0.1, 0.7, 0.2])?;
/// writer.finish()?.finish()?;
/// # Ok::<(), invar_data::Error>(())
/// ```
#[derive(Debug)]
pub struct NpyWriter<W> {
    out: W,
    shape: Vec<usize>,
    rows: usize,
    header: usize,
}

const WRITING: &str = "NPY output";

impl<W: Write + Seek> NpyWriter<W> {
    /// Starts an array whose rows have this shape; an empty shape means one number each.
    pub fn new(mut out: W, shape: &[usize]) -> Result<Self> {
        // Room for any number of rows.
        let widest = header("<f4", &[&[usize::MAX], shape].concat(), 0);
        out.write_all(&widest).map_err(Error::io(WRITING, "write it"))?;
        Ok(Self { out, shape: shape.to_vec(), rows: 0, header: widest.len() })
    }

    /// Adds one row.
    pub fn push(&mut self, row: &[f32]) -> Result<()> {
        check(WRITING, &self.shape, row.len())?;
        let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.out.write_all(&bytes).map_err(Error::io(WRITING, "write it"))?;
        self.rows += 1;
        Ok(())
    }

    /// Fills in the number of rows, and gives the output back.
    pub fn finish(mut self) -> Result<W> {
        let failed = || Error::io(WRITING, "write it");
        let header = header("<f4", &[&[self.rows], &self.shape[..]].concat(), self.header);
        self.out.seek(SeekFrom::Start(0)).map_err(failed())?;
        self.out.write_all(&header).map_err(failed())?;
        self.out.seek(SeekFrom::End(0)).map_err(failed())?;
        Ok(self.out)
    }
}
