//! Files that were damaged at random: whatever happens to them, a reader answers or refuses, and takes no more memory than it was
//! allowed to. Sound files of every format are flipped, cut, stretched and replaced.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use invar_data::{Array, Bundle, Format, Limits, Missing, Packing, Source, Task, Tensor, encode_png, write_npy, write_npz};
use peak_alloc::PeakAlloc;
use proptest::prelude::*;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What a reader may use here.
const LIMITS: Limits = Limits { bytes: 1 << 20 };
/// What it may take at most: twice that while a table grows, and buffers of fixed sizes.
const MOST: usize = 4 << 20;

/// Formats, and the kinds of files that hold them.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Npy,
    Texts,
    NpzStored,
    NpzDeflated,
    Csv,
    Table,
    TableGz,
    TableWide,
    Idx,
    IdxGz,
    Png,
    PngFine,
    Jpeg,
    JpegProgressive,
    Pgm,
    Bundle,
}

const KINDS: [Kind; 16] = [
    Kind::Npy,
    Kind::Texts,
    Kind::NpzStored,
    Kind::NpzDeflated,
    Kind::Csv,
    Kind::Table,
    Kind::TableGz,
    Kind::TableWide,
    Kind::Idx,
    Kind::IdxGz,
    Kind::Png,
    Kind::PngFine,
    Kind::Jpeg,
    Kind::JpegProgressive,
    Kind::Pgm,
    Kind::Bundle,
];

fn values(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * i % 17) as f32 / 16.0).collect()
}

/// A sound file.
fn sound(kind: Kind, folder: &Path) -> Vec<u8> {
    let path = folder.join("sound");
    let classes: Vec<String> = (0..6).map(|i| format!("class {}", i % 3)).collect();
    let arrays = [("x", Array::Floats(&[6, 2, 3], &values(36))), ("y", Array::Texts(&classes))];
    match kind {
        Kind::Npy => write_npy(&path, &arrays[0].1).unwrap(),
        Kind::Texts => write_npy(&path, &arrays[1].1).unwrap(),
        Kind::NpzStored => write_npz(&path, &arrays, Packing::Stored).unwrap(),
        Kind::NpzDeflated => write_npz(&path, &arrays, Packing::Deflated).unwrap(),
        Kind::Csv => fs::write(&path, "x,\"y\",class\n1,2,a\n-3e2,\"4\",b\n5,6,\"c, d\"\n").unwrap(),
        Kind::Table => fs::write(&path, TABLE).unwrap(),
        Kind::TableGz => fs::write(&path, packed(TABLE)).unwrap(),
        Kind::TableWide => {
            let text = String::from_utf8_lossy(TABLE).replace('\u{fffd}', "\u{e9}");
            let bytes: Vec<u8> = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
            fs::write(&path, bytes).unwrap();
        }
        Kind::Idx => fs::write(&path, idx()).unwrap(),
        Kind::IdxGz => fs::write(&path, packed(&idx())).unwrap(),
        Kind::Png => fs::write(&path, encode_png([3, 5, 7], &values(105)).unwrap()).unwrap(),
        Kind::PngFine => fs::write(&path, fine_png()).unwrap(),
        Kind::Jpeg | Kind::JpegProgressive => fs::write(&path, jpeg(matches!(kind, Kind::JpegProgressive))).unwrap(),
        Kind::Pgm => fs::write(&path, b"P2\n# a comment\n3 2\n255\n1 2 3 4 5 6\n").unwrap(),
        Kind::Bundle => {
            let tensor = Tensor { shape: vec![2, 3], values: values(6) };
            let bundle = Bundle { metadata: [("a".into(), "b".into())].into(), tensors: [("w".into(), tensor)].into() };
            bundle.save(&path).unwrap();
        }
    }
    fs::read(path).unwrap()
}

/// A table as spreadsheets write it: an index, semicolons, decimal commas, texts in Latin-1, gaps.
const TABLE: &[u8] = b";x;\"caf\xe9\";class\n0;1,5;rouge;a\n1;;noir;b\n2;-3;\"rouge\";a\n3;4e2;NA;b\n";

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn idx() -> Vec<u8> {
    [&[0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3][..], &[7; 24]].concat()
}

/// Sixteen bits, a palette of transparency, interlaced rows: what the writer does not make.
fn fine_png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 4, 3);
    encoder.set_color(png::ColorType::GrayscaleAlpha);
    encoder.set_depth(png::BitDepth::Sixteen);
    encoder.write_header().unwrap().write_image_data(&[0xff; 48]).unwrap();
    bytes
}

fn jpeg(progressive: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut bytes, 80);
    encoder.set_progressive(progressive);
    encoder.set_sampling_factor(jpeg_encoder::SamplingFactor::F_2_2);
    let pixels: Vec<u8> = (0..20 * 18 * 3).map(|i| (i * 7 % 251) as u8).collect();
    encoder.encode(&pixels, 20, 18, jpeg_encoder::ColorType::Rgb).unwrap();
    bytes
}

/// Puts the bytes where a reader of this kind finds them, and reads them; whether they were accepted.
fn read(kind: Kind, bytes: &[u8], folder: &Path) -> bool {
    let file = |name: &str| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let source = |path: PathBuf, format| Source { format: Some(format), ..Source::new(path, Task::Prediction) };
    let source = match kind {
        Kind::Bundle => return Bundle::load(&file("m"), LIMITS).is_ok(),
        Kind::Npy => source(file("a.npy"), Format::Npy),
        Kind::Texts => {
            let inputs = folder.join("x.npy");
            if !inputs.exists() {
                write_npy(&inputs, &Array::Floats(&[6, 1], &values(6))).unwrap();
            }
            Source { task: Task::Classification, labels: Some(file("y.npy")), ..source(inputs, Format::Npy) }
        }
        Kind::NpzStored | Kind::NpzDeflated => Source { task: Task::Classification, ..source(file("a.npz"), Format::Npz) },
        Kind::Csv | Kind::Table | Kind::TableGz | Kind::TableWide => {
            // A sound table has gaps.
            let missing = match bytes.len() % 3 {
                _ if !matches!(kind, Kind::Csv) => Missing::Fill,
                0 => Missing::Keep,
                1 => Missing::Refuse,
                _ => Missing::Fill,
            };
            let label = Some("class".to_owned());
            let source = Source { task: Task::Classification, label, missing, ..source(file("a.csv"), Format::Csv) };
            // What `init` asks of a table.
            let _ = source.survey();
            source
        }
        Kind::Idx => source(file("a.idx"), Format::Idx),
        Kind::IdxGz => source(file("a.idx.gz"), Format::Idx),
        Kind::Png | Kind::PngFine | Kind::Jpeg | Kind::JpegProgressive | Kind::Pgm => {
            let images = folder.join("images");
            fs::create_dir_all(&images).unwrap();
            fs::write(images.join("a.png"), bytes).unwrap();
            source(images, Format::Images)
        }
    };
    match source.load(LIMITS) {
        Ok(table) => {
            assert!(!table.is_empty() && table.inputs.len() == table.len() * table.width(), "{kind:?}");
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(&*folder.to_string_lossy()), "the file is not named: {message}");
            assert!(message.len() < 2000 && !message.contains('\n'), "{message}");
            false
        }
    }
}

/// Reads, and checks what that took.
fn check(kind: Kind, bytes: &[u8], folder: &Path) -> bool {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let accepted = read(kind, bytes, folder);
    let taken = MEMORY.peak_usage().saturating_sub(before);
    assert!(taken <= MOST, "{kind:?} took {taken} bytes for a file of {}", bytes.len());
    accepted
}

/// One thing that can happen to a file.
#[derive(Debug, Clone)]
enum Damage {
    Flip(usize, u8),
    Set(usize, Vec<u8>),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Cut(usize),
    Repeat(usize, usize),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: usize| at % bytes.len().max(1);
        match self {
            _ if bytes.is_empty() => {}
            Self::Flip(at, bit) => {
                let at = place(*at);
                bytes[at] ^= 1 << (bit % 8);
            }
            Self::Set(at, values) => {
                let at = place(*at);
                values.iter().zip(&mut bytes[at..]).for_each(|(value, byte)| *byte = *value);
            }
            Self::Insert(at, values) => {
                let at = place(*at);
                bytes.splice(at..at, values.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = place(*at);
                let end = (at + count % 20).min(bytes.len());
                bytes.drain(at..end);
            }
            Self::Cut(at) => bytes.truncate(place(*at)),
            Self::Repeat(at, count) => {
                let (at, end) = (place(*at), bytes.len().min(place(*at) + count % 40));
                let copy = bytes[at..end].to_vec();
                bytes.splice(end..end, copy);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    // Values that sizes are easily mistaken about.
    let extreme = prop::sample::select(vec![
        vec![0xff; 4],
        vec![0xff; 8],
        vec![0x7f, 0xff, 0xff, 0xff],
        vec![0; 4],
        b"9999999999".to_vec(),
    ]);
    let any_bytes = prop::collection::vec(any::<u8>(), 1..6);
    prop_oneof![
        4 => (any::<usize>(), any::<u8>()).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        2 => (any::<usize>(), prop_oneof![extreme.clone(), any_bytes.clone()]).prop_map(|(at, values)| Damage::Set(at, values)),
        2 => (any::<usize>(), prop_oneof![extreme, any_bytes]).prop_map(|(at, values)| Damage::Insert(at, values)),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(at, count)| Damage::Remove(at, count)),
        1 => any::<usize>().prop_map(Damage::Cut),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(at, count)| Damage::Repeat(at, count)),
    ]
}

fn cases() -> u32 {
    std::env::var("INVAR_CORRUPTION_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// One test in this file: others beside it would be counted as its memory.
#[test]
fn damaged_files_are_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = || ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    for kind in KINDS {
        let bytes = sound(kind, folder.path());
        assert!(check(kind, &bytes, folder.path()), "{kind:?}");
        for end in 0..bytes.len().min(300) {
            check(kind, &bytes[..end], folder.path());
        }
        let damages = prop::collection::vec(damage(), 1..6);
        let run = proptest::test_runner::TestRunner::new(config()).run(&damages, |damages| {
            let mut bytes = bytes.clone();
            for damage in damages {
                damage.apply(&mut bytes);
            }
            check(kind, &bytes, folder.path());
            Ok(())
        });
        run.unwrap();
        let marks: Vec<u8> = bytes[..bytes.len().min(8)].to_vec();
        let random = (prop::collection::vec(any::<u8>(), 0..400), 0..=marks.len());
        let run = proptest::test_runner::TestRunner::new(config()).run(&random, |(mut random, mark)| {
            let length = mark.min(random.len());
            random[..length].copy_from_slice(&marks[..length]);
            check(kind, &random, folder.path());
            Ok(())
        });
        run.unwrap();
    }
}
