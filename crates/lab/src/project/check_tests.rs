use super::*;
use crate::project::Project;
use invar_data::Missing;
use std::fmt::Write;

fn findings(rows: &str, rest: &str) -> Result<Findings> {
    shaped(rows, "", rest)
}

fn shaped(rows: &str, shape: &str, rest: &str) -> Result<Findings> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), rows).unwrap();
    let text =
        format!("[data]\ntrain = \"a.csv\"\nlabel = \"y\"\n{shape}[task]\nkind = \"classification\"\n[symmetries]\n{rest}");
    let project = Project::parse(&folder.path().join("invar.toml"), &text)?;
    Findings::of(&Loaded::load(project, Missing::Keep)?)
}

fn rows(count: usize, broken: &str) -> String {
    let mut text = String::from("a,b,c,y\n");
    for k in 0..count {
        let _ = writeln!(text, "{k},{},1,{}", k % 7, if k % 2 == 0 { "even" } else { "odd" });
    }
    text + broken
}

#[test]
fn sound_data_are_found_sound() {
    let found = findings(&rows(40, ""), "candidates = [\"permute(0)\", \"swap(0;0,1)\"]\n").unwrap();
    assert!(found.is_sound());
    assert_eq!((found.splits.len(), found.splits[0].summary.examples, found.splits[1].summary.examples), (2, 32, 8));
    assert_eq!((found.order.as_deref(), found.candidates[0].order.as_str()), (Some("6"), "6"));
    assert_eq!(found.candidates[0].implies, ["swap(0;0,1)"]);
    assert_eq!((found.sets, found.not_normal.len()), (3, 1), "a swap is not normal among all permutations");
    let texts: Vec<&str> = found.findings.iter().map(|finding| finding.text.as_str()).collect();
    for part in
        ["only 8 validation examples", "1 of 3 entries have the same value", "not extrapolation", "keeps swap(0;0,1) as well"]
    {
        assert!(texts.iter().any(|text| text.contains(part)), "{part}: {texts:?}");
    }
}

#[test]
fn implications_are_those_of_the_network_that_is_trained() {
    let names: Vec<String> = (0..48).map(|k| format!("p{k}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for k in 0..40 {
        let pixels: Vec<String> = (0..48).map(|p| ((k * p) % 5).to_string()).collect();
        let _ = writeln!(text, "{},{}", pixels.join(","), if k % 2 == 0 { "even" } else { "odd" });
    }
    let list = "candidates = [\"cyc=cycle(0)\", \"perm=permute(0)\", \"rot=rot90(1,2)\", \"flip(1)\"]\n";
    let found = shaped(&text, "shape = [3, 4, 4]\n", list).unwrap();
    assert_eq!(found.architecture, Architecture::Lift);
    let implies = |k: usize| found.candidates[k].implies.clone();
    // On channels only constant weights can be shifted; on directions turns do not imply a mirror.
    assert_eq!((implies(0), implies(1), implies(2)), (vec!["perm".to_string()], vec!["cyc".to_string()], vec![]));
}

#[test]
fn missing_values_and_contradictions_are_counted() {
    let found = findings(&rows(40, ",1,1,odd\n0,0,1,odd\n"), "candidates = [\"permute(0)\"]\n").unwrap();
    let note = "column `a`: 1 of 42 values are missing and filled with the mean";
    assert!(found.is_sound() && found.findings.iter().any(|finding| finding.text.starts_with(note)), "{:?}", found.findings);
    let doubled = rows(40, &rows(40, "").replace("even", "odd").replace("a,b,c,y\n", ""));
    let found = findings(&doubled, "candidates = [\"permute(0)\"]\n").unwrap();
    assert!(found.is_sound() && found.findings.iter().any(|finding| finding.text.contains("with another label")));
}

#[test]
fn keys_that_the_learner_does_not_have_are_refused() {
    for (more, message) in [
        ("[train]\nlambdas = [7]\n", "[train] lambdas should be left out with the learner screen"),
        ("[model]\nhead = \"hidden\"\n", "[model] head should be left out with the learner screen, which tries both"),
        ("[train]\nlearner = \"cgreg\"\nrestarts = 2\n", "[train] restarts should be left out with the learner cgreg"),
    ] {
        let error = findings(&rows(40, ""), &format!("candidates = [\"flip(0)\"]\n{more}")).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn exchanged_columns_in_other_units_are_noticed() {
    let of = |factor: f64, list: &str| {
        let mut text = String::from("rate,share,income,y\n");
        for k in 0..40 {
            let _ =
                writeln!(text, "{},{},{},{}", k % 7, k % 5, factor * f64::from(k % 11), if k % 2 == 0 { "even" } else { "odd" });
        }
        let found = findings(&text, &format!("candidates = [\"{list}\"]\n")).unwrap();
        found.findings.into_iter().map(|finding| finding.text).find(|text| text.contains("exchange"))
    };
    let text = of(1e4, "swaps(0)").unwrap();
    assert_eq!(text, "candidates exchange `share` and `income`, which spread over 4 and 100000: are they in the same units?");
    assert_eq!((of(1.0, "swaps(0)"), of(1e4, "swap(0;0,1)")), (None, None), "alike, or not exchanged");
}

#[test]
fn labels_that_cannot_be_scored_are_noticed() {
    let of = |kind: &str, labels: [&str; 3]| {
        let folder = tempfile::tempdir().unwrap();
        for (name, label) in ["a.csv", "b.csv", "c.csv"].iter().zip(labels) {
            let other = if label == "0" { "1" } else { label };
            let mut text = String::from("a,b,y\n");
            for k in 0..12 {
                let _ = writeln!(text, "{k},{},{}", k % 5, if k % 2 == 0 { label } else { other });
            }
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let text = format!(
            "[data]\ntrain = \"a.csv\"\nvalidation = \"b.csv\"\ntest = \"c.csv\"\nlabel = \"y\"\n[task]\nkind = \"{kind}\"\n\
             [symmetries]\ncandidates = [\"flip(0)\"]\n"
        );
        let project = Project::parse(&folder.path().join("invar.toml"), &text).unwrap();
        let loaded = Loaded::load(project, Missing::Keep).unwrap();
        let found = Findings::of(&loaded).unwrap();
        assert_eq!(loaded.prepare().is_ok(), found.is_sound(), "training refuses what is not sound");
        (found.is_sound(), found.findings.into_iter().map(|finding| finding.text).find(|text| text.starts_with("every")))
    };
    let said = |text: &str| Some(text.to_string());
    let no_variance = "they have no variance to explain, so no R²";
    assert_eq!(of("regression", ["0", "0", "0"]), (true, None));
    assert_eq!(of("regression", ["7", "0", "0"]), (false, said("every training label is 7: there is nothing to learn")));
    assert_eq!(of("regression", ["0", "7", "0"]), (false, said(&format!("every validation label is 7: {no_variance}"))));
    assert_eq!(of("regression", ["0", "0", "7"]), (false, said(&format!("every test label is 7: {no_variance}"))));
    let one_class = "every validation example is of class `1`: what answers so always is never wrong";
    assert_eq!(of("classification", ["0", "1", "1"]), (true, said(one_class)));
}

#[test]
fn inputs_in_other_units_are_noticed() {
    let with_test = |factor: f64| {
        let folder = tempfile::tempdir().unwrap();
        let text = |factor: f64| {
            let row = |k: usize| format!("{},{},{}\n", factor * (k % 16) as f64, factor * (k % 7) as f64, k % 2);
            std::iter::once("a,b,y\n".to_string()).chain((0..60).map(row)).collect::<String>()
        };
        std::fs::write(folder.path().join("a.csv"), text(1.0)).unwrap();
        std::fs::write(folder.path().join("b.csv"), text(factor)).unwrap();
        let text = "[data]\ntrain = \"a.csv\"\ntest = \"b.csv\"\nlabel = \"y\"\n[task]\nkind = \"classification\"\n\
                    [symmetries]\ncandidates = [\"flip(0)\"]\n";
        let project = Project::parse(&folder.path().join("invar.toml"), text).unwrap();
        let found = Findings::of(&Loaded::load(project, Missing::Keep).unwrap()).unwrap();
        found.findings.into_iter().map(|finding| finding.text).find(|text| text.contains("same units"))
    };
    assert_eq!(with_test(1.5), None);
    let expected = "test inputs lie between 0 and 0.05882353, training inputs between 0 and 15: are they in the same units?";
    assert_eq!(with_test(1.0 / 255.0).unwrap(), expected);
    assert!(with_test(100.0).unwrap().starts_with("test inputs lie between 0 and 1500,"));
    assert!(with_test(-8.0).is_some());
}

#[test]
fn candidates_that_do_not_fit_are_refused() {
    let error = findings(&rows(40, ""), "candidates = [\"flip(2)\"]\n").unwrap_err().to_string();
    assert!(error.contains("axis 2 is out of range; shape 3 has axes 0 to 0"), "{error}");
}
