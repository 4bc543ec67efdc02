//! What the writers write, the readers read; and so do, and do for them, programs by others.

use std::fs::{self, File};
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use invar_data::{
    Array, CsvWriter, Error, Field, Labels, Layout, Limits, NewFile, NpyWriter, Packing, Source, Summary, Table, Task, shared,
    split, write_npy, write_npz, write_png,
};
use proptest::prelude::*;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const LIMITS: Limits = Limits { bytes: 1 << 24 };

fn place(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

fn load(path: &Path, task: Task) -> Table {
    Source::new(path, task).load(LIMITS).unwrap()
}

/// An array in Fortran order or with other numbers, as the writers never make it.
fn npy(version: u8, descr: &str, fortran: bool, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let sizes: Vec<String> = shape.iter().map(|size| format!("{size},")).collect();
    let sizes = sizes.join(" ");
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}\n");
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn every_version_type_and_order_of_npy_is_read() {
    let (_folder, path) = place("x.npy");
    // The matrix [[1, 2, 3], [4, 5, 6]].
    let (rows, columns) = ([1u8, 2, 3, 4, 5, 6], [1u8, 4, 2, 5, 3, 6]);
    macro_rules! all {
        ($values:expr, $($descr:literal $type:ty),*) => {
            vec![$(
                (concat!("<", $descr), $values.iter().flat_map(|&v| <$type>::from(v).to_le_bytes()).collect::<Vec<u8>>()),
                (concat!(">", $descr), $values.iter().flat_map(|&v| <$type>::from(v).to_be_bytes()).collect::<Vec<u8>>()),
            )*]
        };
    }
    for version in 1..=3 {
        for (fortran, values) in [(false, rows), (true, columns)] {
            let mut cases = all!(values, "u2" u16, "i2" i16, "u4" u32, "i4" i32, "u8" u64, "i8" i64, "f4" f32, "f8" f64);
            cases.extend([("|u1", values.to_vec()), ("|i1", values.to_vec())]);
            for (descr, data) in cases {
                fs::write(&path, npy(version, descr, fortran, &[2, 3], &data)).unwrap();
                let table = load(&path, Task::Prediction);
                assert_eq!((table.shape, table.inputs), (vec![3], vec![1., 2., 3., 4., 5., 6.]), "{descr} {version} {fortran}");
                let one = Source { limit: Some(1), ..Source::new(&path, Task::Prediction) }.load(LIMITS).unwrap();
                assert_eq!(one.inputs, [1., 2., 3.]);
            }
        }
    }
    fs::write(&path, npy(1, "|b1", false, &[2, 1], &[0, 1])).unwrap();
    assert_eq!(load(&path, Task::Prediction).inputs, [0.0, 1.0]);
}

#[test]
fn npy_takes_its_labels_from_a_second_file() {
    let (folder, path) = place("x.npy");
    write_npy(&path, &Array::Floats(&[2, 1], &[0.5, 1.5])).unwrap();
    let labels = folder.path().join("y.npy");
    write_npy(&labels, &Array::Texts(&["dog".into(), "ants".into()])).unwrap();
    let source = Source::new(&path, Task::Classification);
    assert!(source.load(LIMITS).unwrap_err().to_string().contains("name the NPY file that holds the labels"));
    let source = Source { labels: Some(labels.clone()), ..source };
    let expected = Labels::Classes { names: vec!["ants".into(), "dog".into()], values: vec![1, 0] };
    assert_eq!(source.load(LIMITS).unwrap().labels, expected);
    write_npy(&labels, &Array::Integers(&[3], &[1, 2, 3])).unwrap();
    let error = source.load(LIMITS).unwrap_err().to_string();
    assert!(error.contains("the number of labels: expected 2, as many as inputs, got 3"), "{error}");
}

fn options(method: CompressionMethod, large: bool) -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(method).large_file(large)
}

#[test]
fn archives_by_another_program_are_read() {
    let (_folder, path) = place("a.npz");
    let x = npy(1, "<f4", false, &[2, 1], &[1f32.to_le_bytes(), 2f32.to_le_bytes()].concat());
    let y = npy(1, "<i8", false, &[2], &[7i64.to_le_bytes(), 3i64.to_le_bytes()].concat());
    // NumPy always writes the 64-bit form of sizes in the entries' own headers.
    for (method, large) in
        [CompressionMethod::Stored, CompressionMethod::Deflated].into_iter().flat_map(|m| [(m, false), (m, true)])
    {
        let mut writer = ZipWriter::new(File::create(&path).unwrap());
        for (name, bytes) in [("x.npy", &x), ("y.npy", &y)] {
            writer.start_file(name, options(method, large)).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        let table = load(&path, Task::Classification);
        assert_eq!(table.inputs, [1.0, 2.0]);
        assert_eq!(table.labels, Labels::Classes { names: vec!["3".into(), "7".into()], values: vec![1, 0] });
    }
    // Written to a pipe: sizes come after the data.
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new_stream(&mut bytes);
    writer.start_file("x.npy", options(CompressionMethod::Deflated, false)).unwrap();
    writer.write_all(&x).unwrap();
    writer.finish().unwrap();
    fs::write(&path, bytes).unwrap();
    assert_eq!(load(&path, Task::Prediction).inputs, [1.0, 2.0]);
}

#[test]
fn archives_are_read_by_another_program() {
    let (_folder, path) = place("a.npz");
    for packing in [Packing::Stored, Packing::Deflated] {
        write_npz(&path, &[("x", Array::Floats(&[2, 2], &[1.0; 4])), ("y", Array::Integers(&[2], &[1, 2]))], packing).unwrap();
        let mut archive = ZipArchive::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(archive.len(), 2);
        let mut bytes = Vec::new();
        archive.by_name("x.npy").unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len() % 64, 16);
        assert!(bytes.starts_with(b"\x93NUMPY\x01\x00"));
        archive.by_name("y.npy").unwrap().read_to_end(&mut bytes).unwrap();
    }
}

#[test]
fn a_folder_of_written_images_is_read() {
    let (folder, _) = place("");
    for (class, value) in [("dark", 0.0), ("light", 1.0)] {
        fs::create_dir(folder.path().join(class)).unwrap();
        write_png(&folder.path().join(class).join("1.png"), [3, 2, 4], &[value; 24]).unwrap();
    }
    let table = load(folder.path(), Task::Classification);
    assert_eq!((table.shape.clone(), table.ids.clone()), (vec![3, 2, 4], vec!["dark/1.png".into(), "light/1.png".into()]));
    assert_eq!(table.inputs[..24], [0.0; 24]);
    assert_eq!(table.inputs[24..], [1.0; 24]);
}

#[test]
fn layouts_and_shapes_are_applied_to_files() {
    let (_folder, path) = place("x.npz");
    let values: Vec<f32> = (0..12).map(|i| i as f32).collect();
    write_npz(&path, &[("data", Array::Floats(&[2, 6], &values))], Packing::Stored).unwrap();
    let source = Source { shape: Some(vec![1, 2, 3]), layout: Layout::ChannelsLast, ..Source::new(&path, Task::Prediction) };
    let table = source.load(LIMITS).unwrap();
    assert_eq!((table.shape.clone(), table.example(0)), (vec![3, 1, 2], &[0., 3., 1., 4., 2., 5.][..]));
}

#[test]
fn a_validation_file_is_held_against_the_training_file() {
    let (folder, path) = place("train.csv");
    fs::write(&path, "x,y,class\n0,0,a\n1,0,b\n2,0,c\n").unwrap();
    let other = folder.path().join("validation.csv");
    fs::write(&other, "x,y,class\n1,0,c\n").unwrap();
    let label = || Some("class".to_owned());
    let train = Source { label: label(), ..Source::new(&path, Task::Classification) }.load(LIMITS).unwrap();
    let Labels::Classes { names, .. } = &train.labels else { panic!("classes") };
    let alone = Source { label: label(), ..Source::new(&other, Task::Classification) };
    assert!(alone.load(LIMITS).unwrap_err().to_string().contains("two classes or more"));
    let validation = Source { classes: Some(names.clone()), ..alone }.load(LIMITS).unwrap();
    train.check_alike(&validation).unwrap();
    assert_eq!(shared(&train, &validation).len(), 1);
    let summary = Summary::of(&train);
    assert_eq!((summary.examples, summary.constant), (3, vec![1]));
    assert!(split(&train, 0.5, 1).is_err());
}

#[test]
fn sources_can_stand_in_a_configuration() {
    let source = Source { shape: Some(vec![3, 32, 32]), layout: Layout::ChannelsLast, ..Source::new("a.npz", Task::Regression) };
    let text = serde_json::to_string(&source).unwrap();
    assert_eq!(serde_json::from_str::<Source>(&text).unwrap(), source);
    let short: Source = serde_json::from_str("{\"path\":\"a.npz\",\"task\":\"regression\"}").unwrap();
    assert_eq!(short, Source::new("a.npz", Task::Regression));
    assert!(serde_json::from_str::<Source>("{\"path\":\"a.npz\",\"task\":\"regression\",\"colour\":1}").is_err());
}

#[test]
fn rows_of_a_wrong_length_are_not_written() {
    let mut writer = NpyWriter::new(Cursor::new(Vec::new()), &[3]).unwrap();
    assert!(matches!(writer.push(&[0.0; 2]), Err(Error::Mismatch { .. })));
    assert!(write_npy(Path::new("never"), &Array::Floats(&[3], &[0.0])).is_err());
    assert!(!Path::new("never").exists());
}

/// Any finite number.
fn finite() -> impl Strategy<Value = f32> {
    any::<f32>().prop_filter("finite", |value| value.is_finite())
}

fn rows() -> impl Strategy<Value = (usize, Vec<f32>)> {
    (1usize..5, 1usize..20).prop_flat_map(|(width, rows)| (Just(width), prop::collection::vec(finite(), width * rows)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn numbers_survive_npz((width, values) in rows(), packed: bool) {
        let (_folder, path) = place("a.npz");
        let rows = values.len() / width;
        let classes: Vec<String> = (0..rows).map(|i| format!("class {}", i % 2)).collect();
        let packing = if packed { Packing::Deflated } else { Packing::Stored };
        write_npz(&path, &[("x", Array::Floats(&[rows, width], &values)), ("y", Array::Texts(&classes))], packing).unwrap();
        prop_assert_eq!(&load(&path, Task::Prediction).inputs, &values);
        if rows > 1 {
            let labels = load(&path, Task::Classification).labels;
            let expected = (0..rows).map(|i| i % 2).collect();
            prop_assert_eq!(labels, Labels::Classes { names: vec!["class 0".into(), "class 1".into()], values: expected });
        }
    }

    #[test]
    fn numbers_survive_npy_row_by_row((width, values) in rows()) {
        let (_folder, path) = place("a.npy");
        let mut writer = NpyWriter::new(NewFile::create(&path).unwrap(), &[width]).unwrap();
        values.chunks(width).for_each(|row| writer.push(row).unwrap());
        prop_assert!(!path.exists());
        writer.finish().unwrap().finish().unwrap();
        prop_assert_eq!(load(&path, Task::Prediction).inputs, values);
    }

    #[test]
    fn numbers_and_names_survive_csv((width, values) in rows(), name in "[a-z,\" \u{e9}]{0,8}[a-z\"]") {
        let (_folder, path) = place("a.csv");
        let columns: Vec<String> = (0..width).map(|i| format!("x{i}")).chain(["y".to_owned()]).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut writer = CsvWriter::new(NewFile::create(&path).unwrap(), &columns).unwrap();
        for (i, row) in values.chunks(width).enumerate() {
            let label = if i == 0 { &name } else { "other 1" };
            let fields: Vec<Field> = row.iter().map(|&v| Field::Number(v)).chain([Field::Text(label)]).collect();
            writer.row(&fields).unwrap();
        }
        writer.finish().unwrap().finish().unwrap();
        let task = if values.len() > width { Task::Classification } else { Task::Prediction };
        let table = Source { label: Some("y".into()), ..Source::new(&path, task) }.load(LIMITS).unwrap();
        prop_assert_eq!(table.inputs, values);
        if let Labels::Classes { names, .. } = table.labels {
            prop_assert!(names.contains(&name.trim().to_owned()));
        }
    }
}
