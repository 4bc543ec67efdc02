use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::testing::{numbers, tensor};
use crate::{Activation, Input};
use invar_data::{Bundle, Coded, Coding, Format, Labels, Layout, Limits};

/// A small model of three positions with everything in it.
fn model() -> Saved {
    let mut seed = 3;
    let mut drawn = |shape: &[usize]| tensor(shape, &numbers(&mut seed, shape.iter().product()));
    let ops = vec![
        Op::Linear { weight: drawn(&[4, 3]), bias: Some(drawn(&[4])) },
        Op::BatchNorm {
            gamma: drawn(&[4]),
            beta: drawn(&[4]),
            mean: drawn(&[4]),
            variance: tensor(&[4], &[1.0, 2.0, 3.0, 0.1]),
            epsilon: 1e-5,
        },
        Op::Activate { activation: Activation::Tanh },
        Op::Median { members: (0..3).map(|_| vec![Op::Linear { weight: drawn(&[2, 4]), bias: None }]).collect() },
    ];
    let program = Program::new(Input::Array { shape: vec![3] }, ops).unwrap();
    let member = |name: &str, kept, cost| Member { name: name.into(), kept, verdict: "é".into(), cost };
    Saved {
        normalisation: Some(Normalisation { mean: vec![0.1], scale: vec![3.0] }),
        candidates: vec![
            Candidate {
                written: "any=swaps(0)".into(),
                members: vec![
                    member("any(0,1)", true, Some(0.5)),
                    member("any(0,2)", false, None),
                    member("any(1,2)", true, Some(-1.0)),
                ],
            },
            Candidate { written: "negate".into(), members: vec![member("negate", false, None)] },
        ],
        lattice: Some("00ff".into()),
        reading: Reading {
            format: Some(Format::Csv),
            columns: Some(vec!["é".into(), "b".into(), "c".into()]),
            label: Some("class".into()),
            layout: Layout::ChannelsLast,
            ..Reading::default()
        },
        training: serde_json::json!({ "epochs": 3, "curve": [1.5, 0.5] }),
        ..Saved::new(program, Task::Classification { classes: vec!["no".into(), "yes".into()] })
    }
}

fn bytes(model: &Saved) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    model.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn load(bytes: &[u8]) -> Result<Saved> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("m");
    std::fs::write(&path, bytes).unwrap();
    Saved::load_within(&path, Limits::new(1 << 20))
}

#[test]
fn models_come_back() {
    let model = model();
    let read = load(&bytes(&model)).unwrap();
    assert_eq!(read, model);
    assert_eq!(read.whole().unwrap().run(&[1.0, 2.0, 3.0]).unwrap(), model.whole().unwrap().run(&[1.0, 2.0, 3.0]).unwrap());
    assert_eq!(read.groups().unwrap().len(), 4);
}

#[test]
fn the_normalisation_comes_first() {
    let model = model();
    let x = [1.0, 2.0, 3.0];
    let by_hand: Vec<f32> = x.iter().map(|x| (x - 0.1) * 3.0).collect();
    assert_eq!(model.whole().unwrap().run(&x).unwrap(), model.program.run(&by_hand).unwrap());
    assert_ne!(model.whole().unwrap().run(&x).unwrap(), model.program.run(&x).unwrap());
}

#[test]
fn what_does_not_fit_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let refused = |model: Saved| model.save(&path).unwrap_err().to_string();
    let named = |classes: Vec<String>| Saved { task: Task::Classification { classes }, ..model() };
    assert!(refused(named(vec!["one".into()])).contains("names of classes: expected 2, one per output, got 1"));
    assert!(refused(Saved { task: Task::Regression, ..model() }).contains("outputs of a regression: expected 1, got 2"));
    let normalisation = Some(Normalisation { mean: vec![0.0; 2], scale: vec![1.0; 2] });
    assert!(refused(Saved { normalisation, ..model() }).contains("operation 0 (normalise)"));
    let candidate = |written: &str| vec![Candidate { written: written.into(), members: Vec::new() }];
    assert!(refused(Saved { candidates: candidate("flip(0)"), ..model() }).contains("expected flip(0), got"));
    assert!(refused(Saved { candidates: candidate("flip(1)"), ..model() }).contains("axis 1 is out of range"));
    assert!(!path.exists());
}

#[test]
fn foreign_and_newer_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let message = |change: &dyn Fn(&mut Bundle)| {
        let mut bundle = model().bundle().unwrap();
        change(&mut bundle);
        bundle.save(&path).unwrap();
        Saved::load(&path).unwrap_err().to_string()
    };
    assert!(message(&|b| b.metadata.clear()).contains("not a model: it has no description"));
    let replace = |from: &'static str, to: &'static str| {
        move |b: &mut Bundle| {
            let text = b.metadata["model"].replacen(from, to, 1);
            assert_ne!(text, b.metadata["model"]);
            b.metadata.insert("model".into(), text);
        }
    };
    // A median came with version 2; without one the first still serves.
    let newer = message(&replace("\"version\":2", "\"news\":[],\"version\":4"));
    assert!(newer.contains("model 4, but this one reads up to 3"), "{newer}");
    let program = Program::new(Input::Array { shape: vec![2] }, vec![Op::Activate { activation: Activation::Relu }]).unwrap();
    let plain = Saved { program, normalisation: None, candidates: Vec::new(), ..model() }.bundle().unwrap();
    assert!(plain.metadata["model"].contains("\"version\":1"), "{}", plain.metadata["model"]);
    assert!(message(&replace("\"linear\"", "\"convolve\"")).contains("cannot be read: unknown variant `convolve`"));
    assert!(message(&replace("[4,3]", "[3,4]")).contains("`0.weight`: expected shape 3x4, got 4x3"));
    assert!(message(&replace("any=swaps(0)", "any=swaps(9)")).contains("axis 9 is out of range"));
    assert!(message(&|b| drop(b.tensors.remove("3.member1.0.weight"))).contains("the tensor `3.member1.0.weight` is missing"));
    assert!(message(&|b| b.tensors.get_mut("0.bias").unwrap().values[0] = f32::NAN).contains("finite numbers"));
    assert!(matches!(Saved::load(&folder.path().join("none")), Err(Error::Data(_))));
}

#[test]
fn hashes_tell_lattices_apart() {
    use invar_algebra::{Lattice, Options};
    let hash = |of: &[&str]| {
        let groups = candidates(&"3x3".parse().unwrap(), of.iter().copied()).unwrap();
        Saved::lattice_hash(&Lattice::new(groups, &Options::default()).unwrap())
    };
    assert_eq!(hash(&["flip(0)", "rot90(0,1)"]), hash(&["flip(0)", "rot90(0,1)"]));
    assert_ne!(hash(&["flip(0)"]), hash(&["flip(1)"]));
    assert_eq!(hash(&["flip(0)"]).len(), 64);
}

/// A folder with one file of this name, and what a model that read its training data so makes of it.
fn read(reading: &Reading, told: &Told, name: &str, text: &str) -> std::result::Result<Vec<f32>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let model = Saved { reading: reading.clone(), ..model() };
    let table = model.read(told, &path, Limits::new(1 << 20));
    table.map(|table| table.inputs).map_err(|error| error.to_string().replace(&*folder.path().to_string_lossy(), ""))
}

#[test]
fn files_are_read_as_the_training_data_were() {
    // Older models do not know the names of the columns.
    let reading = Reading { label: Some("class".into()), ..Reading::default() };
    let read = |text: &str| read(&reading, &Told::default(), "x.csv", text);
    assert_eq!(read("a,class,b,c\n1,yes,2,3\n").unwrap(), [1.0, 2.0, 3.0]);
    // Without the label it is as good.
    assert_eq!(read("a,b,c\n1,2,3\n").unwrap(), [1.0, 2.0, 3.0]);
    let error = read("a,b\n1,2\n").unwrap_err();
    assert_eq!(error, "/x.csv: the shape of an example: expected 3, which the model takes, got 2");
}

#[test]
fn columns_are_those_of_the_training_data() {
    let columns = Some(["a", "b", "c"].map(String::from).to_vec());
    let reading = Reading { columns, label: Some("class".into()), ..Reading::default() };
    let told = |label: &str| Told { label: Some(label.into()), ..Told::default() };
    let plain = |text: &str| read(&reading, &Told::default(), "x.csv", text);
    assert_eq!(plain("id,c,class,a,b\nx7,3,yes,1,2\n").unwrap(), [1.0, 2.0, 3.0]);
    let error = plain("a,b,C,d\n1,2,3,4\n").unwrap_err();
    let expected = "expected the columns `a`, `b`, `c`, of which `c` is missing (did you mean `C`?); found `a`, `b`, `C`, `d`";
    assert_eq!(error, format!("/x.csv: {expected}"));
    assert!(plain("x,y,z\n1,2,3\n").unwrap_err().contains("`a`, `b`, `c` are missing; found `x`, `y`, `z`"));
    // A label that was asked for must be there, and no input.
    let text = "a,b,c,kind\n1,2,3,yes\n";
    assert_eq!(read(&reading, &told("kind"), "x.csv", text).unwrap(), [1.0, 2.0, 3.0]);
    let error = read(&reading, &told("knd"), "x.csv", text).unwrap_err();
    assert_eq!(error, "/x.csv: no column `knd` (did you mean `kind`?); found `a`, `b`, `c`, `kind`");
    assert!(read(&reading, &told("a"), "x.csv", text).unwrap_err().contains("`a` is an input"));
}

/// A number that may be missing, and a colour.
fn coding() -> Coding {
    let size = Coded { fill: vec![5.0], ..Coded::number("size") };
    let colour = Coded { categories: vec!["blue".into(), "red".into()], fill: vec![0.5, 0.5], ..Coded::number("colour") };
    Coding { columns: vec![size, colour] }
}

#[test]
fn texts_and_gaps_are_read_as_in_training() {
    let columns = Some(coding().names());
    let reading = Reading { columns, coding: Some(coding()), label: Some("class".into()), ..Reading::default() };
    let plain = |text: &str| read(&reading, &Told::default(), "x.csv", text);
    let rows = "colour,size,class\nred,1,yes\nblue,,no\nmauve,2,no\n?,3,no\n";
    assert_eq!(plain(rows).unwrap(), [1.0, 0.0, 1.0, 5.0, 1.0, 0.0, 2.0, 0.5, 0.5, 3.0, 0.5, 0.5]);
    assert_eq!(plain("size,colour\nbig,red\n").unwrap_err(), "/x.csv, line 2, column `size`: expected a number, got `big`");
    let unfilled = Coding { columns: vec![Coded::number("size"), coding().columns[1].clone()] };
    let strict = Reading { coding: Some(unfilled), ..reading.clone() };
    let error = read(&strict, &Told::default(), "x.csv", "size,colour\n,red\n").unwrap_err();
    assert!(error.starts_with("/x.csv: example 1, column `size`: expected a value: none was missing in training"), "{error}");
    // It survives the file, and what does not fit is refused.
    let good = Saved { reading: reading.clone(), ..model() };
    assert_eq!(Saved::unbundle("m", good.bundle().unwrap()).unwrap(), good);
    let named = Reading { columns: Some(vec!["size".into()]), ..reading.clone() };
    assert!(Saved { reading: named, ..model() }.check().is_err());
    let wide = Coded { indicator: true, ..Coded::number("size") };
    let wide = Reading { coding: Some(Coding { columns: vec![wide, coding().columns[1].clone()] }), ..reading };
    let error = Saved { reading: wide, ..model() }.check().unwrap_err().to_string();
    assert!(error.contains("4 entries of 2 columns for 3"), "{error}");
    // A model that knows nothing of texts takes none for numbers.
    let older = Reading { label: Some("class".into()), ..Reading::default() };
    let error = read(&older, &Told::default(), "x.csv", "a,b,c\n1,red,2\n").unwrap_err();
    assert_eq!(error, "/x.csv: the column `b` holds texts, but the model takes numbers");
}

#[test]
fn labels_are_read_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, "a,b,c,class\n1,2,3,yes\n4,5,6,no\n").unwrap();
    let reading = Reading { label: Some("class".into()), ..Reading::default() };
    let model = Saved { reading, ..model() };
    let table = model.read_labelled(&Told::default(), None, &path, Limits::new(1 << 20)).unwrap();
    assert_eq!(table.labels, Labels::Classes { names: vec!["no".into(), "yes".into()], values: vec![1, 0] });
    std::fs::write(&path, "a,b,c,class\n1,2,3,perhaps\n").unwrap();
    let error = model.read_labelled(&Told::default(), None, &path, Limits::new(1 << 20)).unwrap_err().to_string();
    assert!(error.ends_with("unknown class `perhaps`; found `no`, `yes`"), "{error}");
}

#[test]
fn models_of_earlier_versions_know_no_columns() {
    let old = r#"{"label":"class","layout":"channels_first"}"#;
    let reading: Reading = serde_json::from_str(old).unwrap();
    assert_eq!(reading, Reading { label: Some("class".into()), ..Reading::default() });
    assert_eq!(serde_json::to_string(&reading).unwrap(), old);
}

#[test]
fn the_format_is_told_or_that_of_the_name_or_that_of_the_training_data() {
    let csv = Reading { format: Some(Format::Csv), ..Reading::default() };
    let none = Told::default();
    let text = "a,b,c\n1,2,3\n";
    assert_eq!(read(&csv, &none, "x.txt", text).unwrap(), [1.0, 2.0, 3.0]);
    assert!(read(&csv, &none, "x.npy", text).unwrap_err().contains("x.npy"));
    assert!(read(&Reading::default(), &none, "x.txt", text).unwrap_err().contains("cannot tell the format"));
    let told = Told { format: Some(Format::Csv), ..none };
    assert_eq!(read(&Reading::default(), &told, "x.npy", text).unwrap(), [1.0, 2.0, 3.0]);
    // Numbers in the first line are asked about, and what was answered in training holds.
    let number = read(&Reading::default(), &Told::default(), "x.csv", "4,5,6\n1,2,3\n").unwrap_err();
    assert!(number.contains("--header no"), "{number}");
    let header = Told { header: Some(false), ..Told::default() };
    assert_eq!(read(&Reading::default(), &header, "x.csv", "4,5,6\n1,2,3\n").unwrap(), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    let bare = Reading { header: Some(false), ..Reading::default() };
    assert_eq!(read(&bare, &Told::default(), "x.csv", "4,5,6\n").unwrap(), [4.0, 5.0, 6.0]);
    // What is told must have a meaning.
    let inputs = Told { inputs: Some("x".into()), ..Told::default() };
    assert!(read(&csv, &inputs, "x.csv", text).unwrap_err().contains("only NPZ files have arrays of inputs to name"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A damaged file is an error, or means the same.
    #[test]
    fn damage_is_an_error(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<Option<prop::sample::Index>>()) {
        let (model, mut bytes) = (model(), bytes(&model()));
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(read) = load(&bytes) {
            prop_assert_eq!(read, model);
        }
    }

    /// The same when the checksums are right, as a hostile file's would be: never a panic.
    #[test]
    fn a_description_that_lies_is_an_error(changes in prop::collection::vec((any::<prop::sample::Index>(), 32u8..127), 1..6)) {
        let mut bundle = model().bundle().unwrap();
        let mut text = bundle.metadata["model"].clone().into_bytes();
        for (place, value) in changes {
            let place = place.index(text.len());
            text[place] = value;
        }
        bundle.metadata.insert("model".into(), String::from_utf8_lossy(&text).into_owned());
        if let Ok(read) = Saved::unbundle("m", bundle) {
            prop_assert!(read.whole().unwrap().run(&vec![0.0; read.program.inputs()]).is_ok());
        }
    }
}
