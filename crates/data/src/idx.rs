//! The format of MNIST (IDX): two zeros, the type, the number of axes, the sizes, the data; all numbers high byte first.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::assemble::{Raw, check_counts, check_rows, volume};
use crate::element::{Element, Order, read_column, read_floats};
use crate::error::{Error, Result, dims, origin};
use crate::limits::{Budget, open};
use crate::source::Source;

/// Deflate turns one byte into at most so many.
const MAX_RATIO: u64 = 1032;

pub(crate) fn read(source: &Source, budget: &mut Budget) -> Result<Raw> {
    let mut inputs = Idx::open(&source.path, budget)?;
    let rows = source.rows(inputs.shape[0]);
    let column = if source.wants_labels() {
        let path = labels_path(source)?;
        let mut labels = Idx::open(&path, budget)?;
        if labels.shape[1..].iter().any(|&size| size != 1) {
            let got = dims(&labels.shape);
            return Err(Error::mismatch(&labels.origin, "the shape of the labels", "one label per example", got));
        }
        check_counts(&labels.origin, inputs.shape[0], labels.shape[0])?;
        let column = read_column(&mut labels.reader, &labels.origin, (labels.element, Order::Big), rows, budget)?;
        labels.finish(rows)?;
        Some(column)
    } else {
        None
    };
    let shape = if inputs.shape.len() == 1 { vec![1] } else { inputs.shape[1..].to_vec() };
    // In bounds: `open` has multiplied all sizes.
    let count = rows * volume(&shape).unwrap_or(0);
    let kind = (inputs.element, Order::Big);
    let values = read_floats(&mut inputs.reader, &inputs.origin, kind, count, budget)?;
    inputs.finish(count)?;
    Ok(Raw { shape, inputs: values, column, ..Raw::default() })
}

/// The file of labels: the one given, or the name of the inputs with `labels` for `images`.
fn labels_path(source: &Source) -> Result<PathBuf> {
    if let Some(path) = &source.labels {
        return Ok(path.clone());
    }
    let name = source.path.file_name().unwrap_or_default().to_string_lossy();
    if !name.contains("images") {
        let problem = "an IDX file holds the inputs alone: name the IDX file that holds the labels";
        return Err(Error::request(&source.origin(), problem));
    }
    let plain = source.path.with_file_name(name.replace("images", "labels"));
    let ranked = source.path.with_file_name(name.replace("images", "labels").replace("idx3", "idx1"));
    Ok(if plain.exists() { plain } else { ranked })
}

/// An array whose header has been read and, unless it is compressed, whose length is right.
struct Idx {
    origin: String,
    element: Element,
    shape: Vec<usize>,
    reader: Box<dyn Read>,
}

impl Idx {
    fn open(path: &Path, budget: &Budget) -> Result<Self> {
        let origin = origin(path);
        let (file, length) = open(path, budget)?;
        let packed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        let mut reader: Box<dyn Read> = if packed { gzip(file) } else { Box::new(BufReader::new(file)) };
        let (element, shape) = header(&mut reader, &origin)?;
        let header = 4 + 4 * shape.len() as u64;
        let needed = volume(&shape).and_then(|items| items.checked_mul(element.size())).map(|bytes| bytes as u64);
        let there = length.saturating_sub(header);
        let fits =
            if packed { needed.is_some_and(|needed| needed <= length.saturating_mul(MAX_RATIO)) } else { needed == Some(there) };
        if !fits {
            let needed = needed.map_or("more than any file has".to_owned(), |needed| needed.to_string());
            let expected = format!("{needed} bytes for an array of shape {}", dims(&shape));
            let got = if packed { format!("{length} bytes, compressed") } else { format!("{there} bytes") };
            return Err(Error::malformed(&origin, "the data", expected, got));
        }
        budget.admit(&origin, "the data", needed.unwrap_or(u64::MAX))?;
        Ok(Self { origin, element, shape, reader })
    }

    /// Reads past the entries that were left out, then expects the end; a compressed file proves its checksum there.
    fn finish(mut self, read: usize) -> Result<()> {
        let rest = (volume(&self.shape).unwrap_or(0) - read) as u64 * self.element.size() as u64;
        let failed = |error| Error::reading(&self.origin, "the end of the data")(error);
        let skipped = std::io::copy(&mut (&mut self.reader).take(rest), &mut std::io::sink()).map_err(failed)?;
        if skipped < rest {
            let got = "the end of the file: it is truncated";
            return Err(Error::malformed(&self.origin, "the data", format!("{} bytes more", rest - skipped), got));
        }
        let more = self.reader.read(&mut [0]).map_err(|error| Error::reading(&self.origin, "the end of the data")(error))?;
        if more == 0 { Ok(()) } else { Err(Error::malformed(&self.origin, "the end", "the end of the file", "more bytes")) }
    }
}

fn gzip(file: File) -> Box<dyn Read> {
    Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file))))
}

fn header(reader: &mut impl Read, origin: &str) -> Result<(Element, Vec<usize>)> {
    let mut start = [0; 4];
    reader.read_exact(&mut start).map_err(Error::reading(origin, "the first 4 bytes"))?;
    let element = match start {
        [0, 0, 0x08, _] => Element::U8,
        [0, 0, 0x09, _] => Element::I8,
        [0, 0, 0x0b, _] => Element::I16,
        [0, 0, 0x0c, _] => Element::I32,
        [0, 0, 0x0d, _] => Element::F32,
        [0, 0, 0x0e, _] => Element::F64,
        [0x1f, 0x8b, ..] => {
            return Err(Error::malformed(
                origin,
                "the start",
                "the mark of an IDX file",
                "a gzip file: its name must end in .gz",
            ));
        }
        _ => {
            let expected = "two zeros and the type of an IDX file";
            return Err(Error::malformed(origin, "the start", expected, format!("bytes {start:02x?}")));
        }
    };
    let mut shape = Vec::new();
    for axis in 0..start[3] {
        let mut size = [0; 4];
        reader.read_exact(&mut size).map_err(Error::reading(origin, &format!("the size of axis {axis}")))?;
        shape.push(u32::from_be_bytes(size) as usize);
    }
    check_rows(origin, &shape)?;
    Ok((element, shape))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::limits::Limits;
    use crate::source::Task;
    use crate::table::Labels;

    fn idx(kind: u8, shape: &[u32], data: &[u8]) -> Vec<u8> {
        let sizes = shape.iter().flat_map(|size| size.to_be_bytes());
        [0, 0, kind, shape.len() as u8].into_iter().chain(sizes).chain(data.iter().copied()).collect()
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    struct Files(tempfile::TempDir);

    impl Files {
        fn new(inputs: (&str, &[u8]), labels: (&str, &[u8])) -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(inputs.0), inputs.1).unwrap();
            std::fs::write(folder.path().join(labels.0), labels.1).unwrap();
            Self(folder)
        }

        fn source(&self, name: &str, task: Task) -> Source {
            Source::new(self.0.path().join(name), task)
        }
    }

    const LIMITS: Limits = Limits { bytes: 1 << 20 };

    #[test]
    fn images_find_their_labels() {
        let images = idx(8, &[2, 1, 2], &[0, 255, 7, 8]);
        let labels = idx(8, &[2], &[3, 1]);
        let expected = Labels::Classes { names: vec!["1".into(), "3".into()], values: vec![1, 0] };
        let plain = Files::new(("t-images-idx3-ubyte", &images), ("t-labels-idx1-ubyte", &labels));
        let gz = Files::new(("t-images-idx3-ubyte.gz", &packed(&images)), ("t-labels-idx1-ubyte.gz", &packed(&labels)));
        for (files, name) in [(plain, "t-images-idx3-ubyte"), (gz, "t-images-idx3-ubyte.gz")] {
            let table = files.source(name, Task::Classification).load(LIMITS).unwrap();
            assert_eq!((table.shape, table.inputs), (vec![1, 2], vec![0.0, 255.0, 7.0, 8.0]));
            assert_eq!(table.labels, expected);
            let one = Source { limit: Some(1), ..files.source(name, Task::Prediction) }.load(LIMITS).unwrap();
            assert_eq!(one.inputs, [0.0, 255.0]);
        }
    }

    #[test]
    fn every_type_is_read() {
        let cases: [(u8, Vec<u8>, f32); 6] = [
            (0x08, vec![200], 200.0),
            (0x09, vec![200], -56.0),
            (0x0b, (-300i16).to_be_bytes().to_vec(), -300.0),
            (0x0c, 70_000i32.to_be_bytes().to_vec(), 70_000.0),
            (0x0d, 0.25f32.to_be_bytes().to_vec(), 0.25),
            (0x0e, (-0.5f64).to_be_bytes().to_vec(), -0.5),
        ];
        for (kind, data, expected) in cases {
            let files = Files::new(("a.idx", &idx(kind, &[1, 1], &data)), ("b.idx", &[]));
            assert_eq!(files.source("a.idx", Task::Prediction).load(LIMITS).unwrap().inputs, [expected]);
        }
    }

    #[test]
    fn damage_is_named() {
        let message = |bytes: &[u8], name: &str| {
            let files = Files::new((name, bytes), ("b.idx", &[]));
            files.source(name, Task::Prediction).load(LIMITS).unwrap_err().to_string()
        };
        assert!(message(&idx(8, &[2, 2], &[1, 2, 3]), "a.idx").contains("expected 4 bytes for an array of shape 2x2, got 3"));
        assert!(message(&idx(8, &[u32::MAX; 3], &[]), "a.idx").contains("more than any file has"));
        assert!(message(&idx(7, &[1], &[1]), "a.idx").contains("the type of an IDX file"));
        assert!(message(&packed(&idx(8, &[1], &[1])), "a.idx").contains("must end in .gz"));
        assert!(message(&[0, 0, 8, 3, 0], "a.idx").contains("the size of axis 0"));
        assert!(message(&idx(8, &[], &[1]), "a.idx").contains("a single value"));
        assert!(message(&idx(8, &[0, u32::MAX, u32::MAX, u32::MAX], &[]), "a.idx").contains("at least one entry"));
        let long = packed(&idx(8, &[2], &[1, 2, 3]));
        assert!(message(&long, "a.idx.gz").contains("more bytes"));
        let mut wrong = packed(&idx(8, &[2], &[1, 2]));
        let crc = wrong.len() - 8;
        wrong[crc] ^= 1;
        assert!(message(&wrong, "a.idx.gz").contains("the end of the data"));
        let bomb = packed(&idx(8, &[1 << 16, 1 << 8], &vec![0; 1 << 24]));
        assert!(message(&bomb, "a.idx.gz").contains("would take 16.0 MiB"));
    }

    #[test]
    fn labels_must_fit_the_inputs() {
        let files = Files::new(("a.idx", &idx(8, &[2, 1], &[1, 2])), ("b.idx", &idx(8, &[3], &[1, 2, 3])));
        let source = files.source("a.idx", Task::Classification);
        assert!(source.load(LIMITS).unwrap_err().to_string().contains("name the IDX file that holds the labels"));
        let labels = Some(files.0.path().join("b.idx"));
        let error = Source { labels, ..source }.load(LIMITS).unwrap_err().to_string();
        assert!(error.contains("b.idx: the number of labels: expected 2, as many as inputs, got 3"), "{error}");
    }
}
