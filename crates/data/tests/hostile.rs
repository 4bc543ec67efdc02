//! Archives made to deceive: every one must be refused, with a message that says why.

use std::fs;
use std::io::{Cursor, Write};

use invar_data::{Error, Limits, Result, Source, Table, Task};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const LIMITS: Limits = Limits { bytes: 1 << 20 };

fn array(rows: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, 1), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    header.insert_str(header.len() - 1, &" ".repeat(64 - (10 + header.len()) % 64));
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(vec![1; rows]);
    bytes
}

fn archive(entries: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn stored(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    archive(entries, CompressionMethod::Stored)
}

fn load(bytes: &[u8]) -> Result<Table> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    fs::write(&path, bytes).unwrap();
    Source { inputs: Some("x".into()), ..Source::new(path, Task::Prediction) }.load(LIMITS)
}

fn refused(bytes: &[u8]) -> String {
    load(bytes).unwrap_err().to_string()
}

/// Refused, or read as if the lie were not there: redundant fields that the reader does not need.
fn harmless(bytes: &[u8], expected: &[f32]) {
    if let Ok(table) = load(bytes) {
        assert_eq!(table.inputs, expected);
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> usize {
    bytes.windows(mark.len()).position(|window| window == mark).unwrap()
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";

#[test]
fn a_sound_archive_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    fs::write(&path, stored(&[("x.npy", array(3))])).unwrap();
    assert_eq!(Source::new(path, Task::Prediction).load(LIMITS).unwrap().inputs, [1.0; 3]);
}

#[test]
fn a_bomb_is_refused_by_its_size() {
    let bytes = archive(&[("x.npy", array(1 << 24))], CompressionMethod::Deflated);
    assert!(bytes.len() < 1 << 16);
    assert!(refused(&bytes).contains("array `x`: the array would take 16.0 MiB, but at most 1.0 MiB may be used"));
}

#[test]
fn a_false_claim_of_a_huge_size_is_refused() {
    let mut bytes = archive(&[("x.npy", array(10))], CompressionMethod::Deflated);
    let entry = find(&bytes, ENTRY);
    put(&mut bytes, entry + 24, &0x7fff_ffffu32.to_le_bytes());
    put(&mut bytes, 22, &0x7fff_ffffu32.to_le_bytes());
    assert!(refused(&bytes).contains("would take 2.0 GiB"));
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in ["../x.npy", "/x.npy", "a/../x.npy", "..\\x.npy", "C:x.npy", "a//x.npy", "x\u{7}.npy"] {
        let message = refused(&stored(&[("x.npy", array(1)), (name, array(1))]));
        assert!(message.contains("expected a plain name"), "{name}: {message}");
    }
}

#[test]
fn entries_that_overlap_are_refused() {
    let bytes = stored(&[("x.npy", array(2)), ("y.npy", array(2))]);
    let first = find(&bytes, ENTRY);
    // A second entry that is inside the first: its local header is hidden in the data.
    let inner = stored(&[("y.npy", array(2))]);
    let local = &inner[..find(&inner, ENTRY)];
    let mut bytes = stored(&[("x.npy", [array(2), local.to_vec()].concat()), ("y.npy", array(2))]);
    let hidden = find(&bytes[100..], b"PK\x03\x04") + 100;
    let directory = find(&bytes, ENTRY);
    let second = directory + 46 + "x.npy".len();
    assert!(bytes[second..].starts_with(ENTRY) && first > 0);
    put(&mut bytes, second + 42, &(hidden as u32).to_le_bytes());
    let message = refused(&bytes);
    assert!(message.contains("archive contains overlapping entries"), "{message}");
    // Two names for the same entry.
    let mut bytes = stored(&[("x.npy", array(2)), ("x.npz", array(2))]);
    let second = find(&bytes, ENTRY) + 46 + 5;
    put(&mut bytes, second + 42, &0u32.to_le_bytes());
    assert!(refused(&bytes).contains("expected a sound ZIP archive"));
}

#[test]
fn the_same_name_twice_is_refused() {
    let mut bytes = stored(&[("x.npy", array(2)), ("z.npy", array(2))]);
    while let Some(at) = bytes.windows(5).position(|window| window == b"z.npy") {
        bytes[at] = b'x';
    }
    assert!(refused(&bytes).contains("duplicate file names"));
}

#[test]
fn damage_shows_in_the_checksum() {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let mut bytes = archive(&[("x.npy", array(2))], method);
        let entry = find(&bytes, ENTRY);
        put(&mut bytes, 14, &[1, 2, 3, 4]);
        put(&mut bytes, entry + 16, &[1, 2, 3, 4]);
        assert!(refused(&bytes).contains("Invalid checksum"), "{method}");
    }
}

#[test]
fn sizes_that_lie_are_refused() {
    // Shorter than the data, in both places.
    let mut bytes = archive(&[("x.npy", array(10))], CompressionMethod::Deflated);
    let size = array(9).len() as u32;
    let entry = find(&bytes, ENTRY);
    put(&mut bytes, 22, &size.to_le_bytes());
    put(&mut bytes, entry + 24, &size.to_le_bytes());
    assert!(refused(&bytes).contains("expected 10 bytes for an array of shape 10x1, got 9"));
    // An entry and the directory that disagree.
    let mut bytes = stored(&[("x.npy", array(10))]);
    put(&mut bytes, 22, &size.to_le_bytes());
    assert!(refused(&bytes).contains("header inconsistency"));
    // Data beyond the directory.
    let mut bytes = stored(&[("x.npy", array(10))]);
    let entry = find(&bytes, ENTRY);
    for at in [18, 22, entry + 20, entry + 24] {
        put(&mut bytes, at, &9999u32.to_le_bytes());
    }
    assert!(refused(&bytes).contains("overlapping entries"));
}

#[test]
fn counts_that_lie_are_refused() {
    let sound = stored(&[("x.npy", array(2))]);
    let end = find(&sound, END);
    let change = |at: usize, value: [u16; 2]| {
        let mut bytes = sound.clone();
        put(&mut bytes, at, &value[0].to_le_bytes());
        put(&mut bytes, at + 2, &value[1].to_le_bytes());
        bytes
    };
    for count in [0, 2, 5000, 65535] {
        assert!(refused(&change(end + 8, [count, count])).contains("a.npz"), "{count}");
    }
    for value in [[0, 0], [1, 0], [40, 0], [0xffff, 0xffff]] {
        harmless(&change(end + 12, value), &[1.0; 2]);
        harmless(&change(end + 16, value), &[1.0; 2]);
    }
    let many: Vec<(String, Vec<u8>)> = (0..1025).map(|i| (format!("{i}.npy"), Vec::new())).collect();
    let many: Vec<(&str, Vec<u8>)> = many.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    assert!(refused(&stored(&many)).contains("expected at most 1024 arrays, got 1025"));
}

/// The archive with 64-bit end records that claim what is given.
fn with_long_end(sound: &[u8], entries: u64, length: u64, start: u64) -> Vec<u8> {
    let end = find(sound, END);
    let mut bytes = sound[..end].to_vec();
    let record = bytes.len() as u64;
    bytes.extend(b"PK\x06\x06");
    bytes.extend(44u64.to_le_bytes());
    bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([entries, entries, length, start].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(record.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    bytes
}

#[test]
fn long_records_that_lie_are_refused() {
    let sound = stored(&[("x.npy", array(2))]);
    let start = find(&sound, ENTRY) as u64;
    let length = find(&sound, END) as u64 - start;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    fs::write(&path, with_long_end(&sound, 1, length, start)).unwrap();
    assert_eq!(Source::new(path, Task::Prediction).load(LIMITS).unwrap().inputs, [1.0; 2]);

    let mark = u64::MAX;
    for (entries, length, start) in [(mark, length, start), (1 << 40, 46 << 40, 0), (1 << 20, 46 << 20, 1 << 20)] {
        let message = refused(&with_long_end(&sound, entries, length, start));
        assert!(message.contains("expected a sound ZIP archive"), "{message}");
    }
    harmless(&with_long_end(&sound, 1, mark, start), &[1.0; 2]);
    harmless(&with_long_end(&sound, 1, length, mark), &[1.0; 2]);
    let mut nowhere = with_long_end(&sound, 1, length, start);
    let locator = find(&nowhere, b"PK\x06\x07");
    put(&mut nowhere, locator + 8, &mark.to_le_bytes());
    assert!(refused(&nowhere).contains("expected a sound ZIP archive"));
    let mut bytes = sound.clone();
    let entry = find(&bytes, ENTRY);
    put(&mut bytes, entry + 24, &[0xff; 4]);
    assert!(refused(&bytes).contains("expected a sound ZIP archive"));
}

#[test]
fn other_methods_and_secrets_are_refused() {
    let sound = stored(&[("x.npy", array(2))]);
    let entry = find(&sound, ENTRY);
    let mut bytes = sound.clone();
    put(&mut bytes, 8, &[12, 0]);
    put(&mut bytes, entry + 10, &[12, 0]);
    let message = refused(&bytes);
    assert!(message.contains("array `x`: not supported: compression by "), "{message}");
    let mut bytes = sound;
    bytes[6] |= 1;
    bytes[entry + 8] |= 1;
    let message = refused(&bytes);
    assert!(message.contains("not supported: Password required"), "{message}");
}

#[test]
fn a_truncated_archive_is_refused_wherever_it_ends() {
    let bytes = stored(&[("x.npy", array(2))]);
    for end in 0..bytes.len() {
        let message = refused(&bytes[..end]);
        assert!(message.contains("a.npz"), "{message}");
    }
    assert!(refused(&array(2)).contains("it looks like an NPY file"));
}

#[test]
fn headers_with_huge_shapes_are_refused_before_memory_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    for shape in ["18446744073709551615, 2", "4611686018427387904, 4", "1000000000000", "0, 18446744073709551615, 3", "7, 0"] {
        let header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({shape}), }}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        fs::write(&path, bytes).unwrap();
        let error = Source::new(&path, Task::Prediction).load(LIMITS).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. } | Error::Mismatch { .. }), "{shape}: {error}");
    }
}
