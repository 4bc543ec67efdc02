//! Tables of comma-separated values, row by row.

use std::io::Write;

use crate::error::{Error, Result};

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'a> {
    /// Quoted when it has to be.
    Text(&'a str),
    /// With as many digits as are needed to read the same number back.
    Number(f32),
    /// A whole number.
    Integer(i64),
}

/// Writes rows as they come.
///
/// ```
/// # use invar_data::{CsvWriter, Field};
/// let mut writer = CsvWriter::new(Vec::new(), &["image", "class", "score"])?;
/// writer.row(&[Field::Text("a,b.png"), Field::Integer(3), Field::Number(0.1)])?;
/// assert_eq!(writer.finish()?, b"image,class,score\n\"a,b.png\",3,0.1\n");
/// # Ok::<(), invar_data::Error>(())
/// ```
pub struct CsvWriter<W: Write> {
    writer: csv::Writer<W>,
    columns: usize,
}

const WRITING: &str = "CSV output";

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    pub fn new(out: W, columns: &[&str]) -> Result<Self> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(columns).map_err(failed)?;
        Ok(Self { writer, columns: columns.len() })
    }

    /// Writes one row, with a field for each column.
    pub fn row(&mut self, fields: &[Field]) -> Result<()> {
        if fields.len() != self.columns {
            let expected = format!("{} fields as in the header", self.columns);
            return Err(Error::mismatch(WRITING, "a row", expected, fields.len().to_string()));
        }
        for field in fields {
            match field {
                Field::Text(text) => self.writer.write_field(text),
                Field::Number(number) => self.writer.write_field(number.to_string()),
                Field::Integer(number) => self.writer.write_field(number.to_string()),
            }
            .map_err(failed)?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(failed)
    }

    /// Writes what is still held back, and gives the output back.
    pub fn finish(self) -> Result<W> {
        self.writer.into_inner().map_err(|error| Error::io(WRITING, "write it")(error.into_error()))
    }
}

fn failed(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => Error::Io { origin: WRITING.to_owned(), action: "write it", cause },
        other => Error::malformed(WRITING, "a row", "fields as in the header", format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_must_fit_the_header() {
        let mut writer = CsvWriter::new(Vec::new(), &["a", "b"]).unwrap();
        assert!(writer.row(&[Field::Integer(1)]).unwrap_err().to_string().contains("2 fields"));
    }
}
