use super::*;
use crate::limits::Limits;
use crate::source::Task;
use crate::table::{Labels, Table};

fn load(text: &str, change: impl FnOnce(&mut Source)) -> Result<Table> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, text).unwrap();
    let mut source = Source { label: Some("class".into()), ..Source::new(path, Task::Classification) };
    change(&mut source);
    source.load(Limits::new(1 << 20))
}

fn message(text: &str) -> String {
    let error = load(text, |_| ()).unwrap_err().to_string();
    error.split_once("a.csv").unwrap().1.to_owned()
}

#[test]
fn quotes_spaces_marks_and_line_ends_do_not_matter() {
    let expected = Labels::Classes { names: vec!["a, b".into(), "c".into()], values: vec![0, 1] };
    for text in [
        "x,class,y\n1,\"a, b\",2\n3,c,4\n",
        "\u{feff}x, class , y\r\n1,\"a, b\", 2\r\n\r\n3, c,4",
        "\"x\",class,y\r1,\"a, b\",2\r3,c,4\r",
    ] {
        let table = load(text, |_| ()).unwrap();
        assert_eq!(table.inputs, [1.0, 2.0, 3.0, 4.0], "{text:?}");
        assert_eq!(table.labels, expected, "{text:?}");
        assert_eq!(table.shape, [2]);
    }
}

#[test]
fn what_is_wrong_is_named_by_line_and_column() {
    assert_eq!(message("x,class\n1,a\n,b\n"), ", line 3, column `x`: expected a number, got a missing value");
    assert_eq!(message("x,class\nNaN,b\n"), ", line 2, column `x`: expected a number, got a missing value");
    assert_eq!(message("x,class\n1,a\nabc,b\n"), ", line 3, column `x`: expected a number, got `abc`");
    assert_eq!(message("x,class\n-inf,b\n"), ", line 2, column `x`: expected a finite number that f32 can hold, got `-inf`");
    assert_eq!(message("x,class\n1e39,b\n"), ", line 2, column `x`: expected a finite number that f32 can hold, got `1e39`");
    assert_eq!(message("x,class\n1,\n"), ", line 2, column `class`: expected a label, got a missing value");
    assert_eq!(message("\u{feff}x,class\r\n\"1\r\n\",a\r\n\r\n2\r\n"), ", line 5: expected 2 fields as in the header, got 1");
    assert_eq!(message("x,class\r1,a\rz,b"), ", line 3, column `x`: expected a number, got `z`");
    assert_eq!(message("x,class\n1,a\n\n2\n"), ", line 4: expected 2 fields as in the header, got 1");
    assert!(message("x,label\n1,a\n").contains("no column `class`; found `x`, `label`"));
    assert!(message("").contains("expected a header"));
    assert!(message("x,x,class\n").contains("`x` twice"));
    assert!(message("class\na\n").contains("no columns of inputs"));
    assert!(message("x,class\n").contains("the number of examples: expected at least one"));
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn other_separators_and_encodings_are_read_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    for (bytes, notes) in [
        (&b"x;class\n1,5;caf\xe9\n-2;b\n"[..], 1),
        ("x;class\n1,5;café\n-2,0;b\n".as_bytes(), 0),
        ("x\tclass\n1.5\tcafé\n-2\tb\n".as_bytes(), 0),
        ("x|class\n1.5|café\n-2|b\n".as_bytes(), 0),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let source = Source { label: Some("class".into()), ..Source::new(&path, Task::Classification) };
        let table = source.load(Limits::new(1 << 20)).unwrap();
        assert_eq!(table.inputs, [1.5, -2.0]);
        assert_eq!(table.labels, Labels::Classes { names: names(&["b", "café"]), values: vec![1, 0] });
        assert_eq!(table.notes.len(), notes, "{:?}", table.notes);
    }
    let table = load("x;class\n1;1,5\n2;-0,5\n", |source| source.task = Task::Regression).unwrap();
    assert_eq!(table.labels, Labels::Values(vec![1.5, -0.5]));
}

#[test]
fn texts_are_categories_and_what_is_missing_is_nan() {
    let text = "x,colour,on,class\n1,red,true,a\n,blue,false,b\n3,?,true,a\n";
    let table = load(text, |source| source.missing = Missing::Fill).unwrap();
    assert_eq!(table.categories, [names(&[]), names(&["blue", "red"]), names(&["false", "true"])]);
    assert_eq!((table.inputs[0], table.inputs[1], table.inputs[2], table.inputs[4]), (1.0, 1.0, 1.0, 0.0));
    assert!(table.inputs[3].is_nan() && table.inputs[7].is_nan());
    assert_eq!(message(text), ", line 3, column `x`: expected a number, got a missing value");
    let whole = text.replace("\n,", "\n2,");
    assert_eq!(message(&whole), ", line 4, column `colour`: expected a category, got a missing value (`?`)");
    let infinite = load("x,class\ninf,a\n,b\n", |source| source.missing = Missing::Fill).unwrap_err().to_string();
    assert!(infinite.ends_with("line 2, column `x`: expected a finite number that f32 can hold, got `inf`"), "{infinite}");
}

#[test]
fn other_files_have_the_categories_of_the_first() {
    let first = load("x,colour,class\n1,red,a\n2,blue,b\n", |_| ()).unwrap();
    let beside =
        |text: &str| load(text, |source| *source = Source { missing: Missing::Fill, ..source.clone().beside(&first).unwrap() });
    let table = beside("colour,class,x\nblue,b,5\nmauve,a,6\npuce,a,7\n").unwrap();
    assert_eq!((table.inputs[1], table.inputs[2], table.categories), (0.0, 6.0, first.categories.clone()));
    assert!(table.inputs[3].is_nan());
    assert_eq!(table.notes, ["2 values of `colour` not known from training, such as `mauve`: taken for missing"]);
    // A column of numbers stays one.
    let error = beside("colour,class,x\nblue,b,five\n").unwrap_err().to_string();
    assert!(error.ends_with("line 2, column `x`: expected a number, got `five`"), "{error}");
}

#[test]
fn columns_that_are_no_inputs_are_refused_or_left_out() {
    let table = load(",x,class\n0,5,a\n1,6,b\n2,7,a\n", |_| ()).unwrap();
    assert_eq!((table.inputs, table.columns), (vec![5.0, 6.0, 7.0], names(&["x"])));
    assert_eq!(table.notes, ["the first column has no name and numbers the rows: it was left out"]);
    // Rows that were drawn from others keep their positions.
    assert_eq!(load(",x,class\n7,5,a\n2,6,b\n", |_| ()).unwrap().columns, names(&["x"]));
    // What does not number the rows is an input, whatever it is called.
    assert_eq!(load(",x,class\n7,5,a\n7,6,b\n", |_| ()).unwrap().columns, names(&["", "x"]));
    assert_eq!(load(",x,class\n0.5,5,a\n2,6,b\n", |_| ()).unwrap().columns, names(&["", "x"]));
    assert_eq!(load("k,x,class\n0,5,a\n1,6,b\n", |_| ()).unwrap().columns, names(&["k", "x"]));
    let table = load("id,x,class\nq1,5,a\nq2,6,b\n", |source| source.ignore = names(&["id"])).unwrap();
    assert_eq!(table.columns, names(&["x"]));
    let dates = message("x,when,class\n1,2024-01-01,a\n2,2024-01-02,b\n");
    assert!(dates.contains("the column `when` holds dates (`2024-01-01`): make numbers of them"), "{dates}");
    assert!(dates.ends_with("leave the column out: `ignore = [\"when\"]` under [data]"), "{dates}");
    let rows: Vec<String> = (0..30).map(|k| format!("{k},name {k},{}\n", k % 2)).collect();
    let texts = message(&format!("x,who,class\n{}", rows.concat()));
    assert!(texts.contains("the column `who` holds texts of which most are different"), "{texts}");
}

#[test]
fn a_survey_tells_what_columns_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "k,x,sex,odd,none\n1,2,m,1,\n2,NA,f,one,\n3,4,m,2,\n").unwrap();
    let found = Source::new(&path, Task::Prediction).survey().unwrap().unwrap();
    let kinds: Vec<&ColumnKind> = found.iter().map(|facts| &facts.kind).collect();
    let (categories, odd) = (ColumnKind::Categories(names(&["f", "m"])), ColumnKind::Mixed("one".into()));
    assert_eq!(kinds, [&ColumnKind::Numbers, &ColumnKind::Numbers, &categories, &odd, &ColumnKind::Empty]);
    assert_eq!((found[0].counts_up, found[1].counts_up, found[1].missing, found[1].rows), (true, false, 1, 3));
    assert!((found[1].mean - 3.0).abs() < 1e-9 && (found[1].deviation - 1.0).abs() < 1e-9);
    assert_eq!(Source::new("a.npy", Task::Prediction).survey().unwrap(), None);
}

#[test]
fn predictions_leave_the_label_out() {
    let predict = |text, label: Option<&str>| {
        load(text, |source| {
            source.task = Task::Prediction;
            source.label = label.map(ToOwned::to_owned);
        })
    };
    assert_eq!(predict("x,class\n1,a\n", Some("class")).unwrap().inputs, [1.0]);
    // A label that nobody tells from the inputs is one.
    assert_eq!(predict("x,class\n1,a\n", None).unwrap().columns, names(&["x", "class"]));
    // A label that was asked for must be there.
    let error = predict("x,y\n1,2\n", Some("class")).unwrap_err().to_string();
    assert!(error.ends_with("no column `class`; found `x`, `y`"), "{error}");
    let leave_out = |text| {
        load(text, |source| {
            source.task = Task::Prediction;
            source.leave_out = source.label.take();
        })
    };
    assert_eq!(leave_out("x,class\n1,a\n").unwrap().inputs, [1.0]);
    assert_eq!(leave_out("x,y\n1,2\n").unwrap().inputs, [1.0, 2.0]);
}

#[test]
fn a_first_line_with_numbers_is_asked_about() {
    let asked = message("5.1,3.5,class\n4.9,3.0,a\n");
    assert!(asked.starts_with(": line 1 holds a number (`5.1`): is it the first example, or are these the names"), "{asked}");
    assert!(asked.contains("`header = false`") && asked.contains("--header no"), "{asked}");
    assert!(message("x,2019,class\n1,2,a\n").contains("(`2019`)"));
    let named = load("x,2019,class\n1,2,a\n2,3,b\n", |source| source.has_header = Some(true)).unwrap();
    assert_eq!(named.columns, ["x", "2019"]);
    let plain = |text: &str, change: fn(&mut Source)| {
        load(text, |source| {
            (source.has_header, source.label) = (Some(false), Some("3".into()));
            change(source);
        })
    };
    let table = plain("5.1,3.5,a\n4.9,3.0,b\n", |_| ()).unwrap();
    assert_eq!((&table.inputs[..], &table.columns[..]), (&[5.1, 3.5, 4.9, 3.0][..], &["1".to_owned(), "2".to_owned()][..]));
    assert_eq!(plain("1,2,a\n3,4,b\n5,6,a", |source| source.limit = Some(2)).unwrap().inputs, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(plain("1,2,a\n3,4,b\n5,6,a", |_| ()).unwrap().len(), 3);
    let error = plain("5.1,x,a\n4,5,b\n", |_| ()).unwrap_err().to_string();
    assert!(error.ends_with("a.csv, line 1, column `2`: expected a number, got `x`"), "{error}");
    let error = plain("1,2,1\n1,2,one\n", |source| source.task = Task::Regression).unwrap_err().to_string();
    assert!(error.ends_with("a.csv, line 2, column `3`: expected a number for regression, got `one`"), "{error}");
    assert!(plain("", |_| ()).unwrap_err().to_string().contains("an empty file"));
}

#[test]
fn columns_are_found_by_name() {
    let beside = |text: &str, change: fn(&mut Source)| {
        load(text, |source| {
            source.columns = Some(vec!["1".into(), "0".into()]);
            change(source);
        })
    };
    let predict = |source: &mut Source| (source.task, source.label) = (Task::Prediction, None);
    let table = beside("id,0,class,1\nabc,5,a,6\n?,7,b,8\n", |_| ()).unwrap();
    assert_eq!((&table.inputs[..], &table.columns[..]), (&[6.0, 5.0, 8.0, 7.0][..], &["1".to_owned(), "0".to_owned()][..]));
    // Names may be numbers, once they are known.
    assert_eq!(beside("0,1\n5,6\n", predict).unwrap().inputs, [6.0, 5.0]);
    let error = |text: &str| beside(text, predict).unwrap_err().to_string();
    let missing = error("0,x\n5,6\n");
    assert!(missing.ends_with("expected the columns `1`, `0`, of which `1` is missing; found `0`, `x`"), "{missing}");
    let foreign = error("a,b\n5,6\n");
    assert!(foreign.ends_with("of which `1`, `0` are missing; found `a`, `b`"), "{foreign}");
    let label = beside("0,1\n5,6\n", |source| source.label = Some("0".into())).unwrap_err().to_string();
    assert!(label.contains("the column `0` is an input and not the label"), "{label}");
}

#[test]
fn quotes_are_closed_and_labels_stand_on_one_line() {
    let unclosed = ": expected a quote at the end of the field that begins with one, got none";
    assert_eq!(message("x,class\n1,a\n2,\"b\n3,a\n4,b\n"), format!(": line 3{unclosed}"));
    assert_eq!(message("\u{feff}\"x,class\n1,a\n"), format!(": line 1{unclosed}"));
    assert_eq!(message("x,class\n1,a\n2,\"b\"\"\n"), format!(": line 3{unclosed}"));
    assert_eq!(
        message("x,class\n1,\"a\n2,b\n3,\"\n4,b\n"),
        ", line 2, column `class`: expected a label on one line, got `a\\n2,b\\n3,`: mind the quotes"
    );
    // Quotes that do not begin a field are letters.
    let table = load("x,class\n1,a\"\n2,\"b\"\"\"\n", |_| ()).unwrap();
    assert_eq!(table.labels, Labels::Classes { names: vec!["a\"".into(), "b\"".into()], values: vec![0, 1] });
}

#[test]
fn labels_are_named_by_line_too() {
    for word in ["NA", "nan", "?"] {
        let expected = format!(", line 3, column `class`: expected a label, got a missing value (`{word}`)");
        assert_eq!(message(&format!("x,class\n1,a\n2,{word}\n3,b\n")), expected);
    }
    let table = load("x,class\n1,scratch\n2,none\n", |_| ()).unwrap();
    assert_eq!(table.labels, Labels::Classes { names: vec!["none".into(), "scratch".into()], values: vec![1, 0] });
    let refused = |change: fn(&mut Source)| {
        let error = load("x,class\n\n1,1\n\n2,two\n", change).unwrap_err().to_string();
        error.split_once("a.csv").unwrap().1.to_owned()
    };
    let number = refused(|source| source.task = Task::Regression);
    assert_eq!(number, ", line 5, column `class`: expected a number for regression, got `two`");
    let class = refused(|source| source.classes = Some(vec!["1".into(), "2".into()]));
    assert_eq!(class, ", line 5, column `class`: unknown class `two`; found `1`, `2`");
}

#[test]
fn numbers_can_be_labels_and_values_can_be_kept_missing() {
    let table = load("x,class\n1,0.5\n?,2\n", |source| {
        source.task = Task::Regression;
        source.missing = Missing::Keep;
    });
    let table = table.unwrap();
    assert_eq!(table.labels, Labels::Values(vec![0.5, 2.0]));
    assert!(table.inputs[1].is_nan());
}

#[test]
fn a_limit_reads_the_first_rows_only() {
    let table = load("x,class\n1,a\n2,b\nwrong\n", |source| source.limit = Some(2)).unwrap();
    assert_eq!(table.inputs, [1.0, 2.0]);
}

#[test]
fn size_is_known_before_memory_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    // Two bytes a value in the file, four in memory.
    std::fs::write(&path, format!("x,y\n{}", "1,2\n".repeat(1000))).unwrap();
    let source = Source::new(path, Task::Prediction);
    let error = source.load(Limits::new(5000)).unwrap_err().to_string();
    assert!(error.contains("the inputs would take 7.8 KiB, but at most 996 bytes may be used"), "{error}");
    assert!(matches!(source.load(Limits::new(3000)), Err(Error::TooLarge { needed: 4004, .. })));
    assert!(source.load(Limits::new(20_000)).is_ok());
}
