//! What a page says, from a made-up run.

use std::path::Path;

use invar_data::Digest;
use invar_nn::Epoch;

use super::*;
use crate::problem::Data;
use crate::project::{
    Architecture, Curve, Goal, KeptGroupFacts, Learner, ModelLine, PartScore, Picture, Project, Shown, Version,
};
use crate::record::Metrics;
use crate::screen::{Cost, Measure, Role, Rule};
use crate::symmetry::Symmetry;

const HOSTILE: &str = "<script>alert('x')</script>";

fn run() -> Run {
    let text = "[data]\ntrain = \"a & b.npz\"\n[task]\nkind = \"classification\"\n[symmetries]\n\
        candidates = [\"turn=rot90(1,2)\", \"flip(1)\"]\n";
    let cost = Cost::of_answers(30, 0, 100);
    let symmetry = |name: &str, kept: bool| Symmetry {
        name: name.into(),
        columns: Vec::new(),
        pair: None,
        kept,
        verdict: if kept { "kept" } else { "contradicted" }.into(),
        cost: (!kept).then_some(cost),
        violation: Some(0.25),
        note: HOSTILE.into(),
    };
    let epoch = |epoch: usize| Epoch {
        epoch,
        train_loss: 2.0 / epoch as f64,
        validation_loss: 3.0 / epoch as f64,
        validation_accuracy: 0.5,
        penalty: 0.0,
    };
    let metrics = Some(Metrics { loss: 0.1, accuracy: 0.9 });
    let score = |part: &str| PartScore {
        part: part.into(),
        examples: 40,
        score: 0.9,
        interval: [0.77, 0.96],
        error: None,
        confusion: vec![vec![18, 2], vec![2, 18]],
    };
    Run {
        version: 3,
        invar: "0.1.0".into(),
        project: Project::parse(Path::new("invar.toml"), text).unwrap(),
        folder: String::new(),
        data: Data::Files(Digest::of(["a"])),
        goal: Goal::Classification,
        shape: vec![1, 8, 8],
        classes: vec![HOSTILE.into(), "b".into()],
        examples: [160, 40, 40],
        architecture: Architecture::Lift,
        network: "p4m lift".into(),
        learner: Learner::Cgreg,
        rule: Rule::PAPER,
        measure: Measure::Accuracy,
        scaling: None,
        targets: None,
        symmetries: vec![symmetry("turn", false), symmetry("flip(1)", true)],
        exact_cost: Some(Cost::of_answers(0, 0, 100)),
        kept_cost: Some(cost),
        group: KeptGroupFacts {
            order: Some("2".into()),
            normal: Some(false),
            witness: Some("turn moves \"x\" out of it".into()),
            blocks: None,
        },
        models: vec![
            line(Some(Role::Kept), "lambda 0", metrics),
            line(None, "lambda 1", None),
            line(Some(Role::Plain), "plain network", Some(Metrics { loss: 0.1, accuracy: 0.75 })),
        ],
        curves: vec![Curve { name: "lambda 0".into(), chosen: true, points: (1..=30).map(epoch).collect() }],
        scores: vec![score("validation"), score("test")],
        chance: 0.5,
        weakness: Some("it has <b>hardly</b> learned".into()),
        screen: None,
        subspaces: Vec::new(),
        true_symmetry: None,
        consistency: Some(1.0),
        shown: vec![Shown {
            id: HOSTILE.into(),
            picture: Picture::Png("iVBORw0KGgo=\"><script>".into()),
            truth: "b".into(),
            answer: "b (99 %)".into(),
            versions: vec![Version {
                symmetry: "turn".into(),
                kept: false,
                picture: Picture::Numbers(vec![0.5, -1.0]),
                answer: "a (51 %)".into(),
            }],
        }],
        seconds: 12.0,
        model: Digest::of(["m"]),
    }
}

fn line(role: Option<Role>, name: &str, metrics: Option<Metrics>) -> ModelLine {
    ModelLine {
        role,
        name: name.into(),
        validation: metrics,
        extrapolation: metrics,
        consistency: None,
        kept: (role == Some(Role::Kept)).then_some(1),
        epochs: Some(3),
        chosen: role == Some(Role::Kept),
    }
}

fn proofs() -> Vec<Proof> {
    vec![Proof { symmetry: "flip(1)".into(), kept: true, proved: true, words: "every layer".into() }]
}

#[test]
fn every_section_is_there_and_strings_are_escaped() {
    let page = html(&run(), &proofs()).unwrap();
    for id in ["asked", "evidence", "lattice", "scores", "models", "curves", "confusion", "examples", "certificate", "rerun"] {
        assert_eq!(page.matches(&format!("<section id=\"{id}\">")).count(), 1, "{id}");
    }
    assert!(page.contains("1 of 2 candidate symmetries were kept") && page.contains("a &amp; b.npz"));
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "user strings are escaped");
    assert!(
        page.contains("Extrapolation: test examples of another environment") && page.contains("95 % interval 77.0 % to 96.0 %")
    );
    assert!(page.contains("not normal in what it generates") && page.contains("it has &lt;b&gt;hardly&lt;/b&gt; learned"));
    // What was gained comes first.
    let place = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(
        place("<b>90.0 %</b><span>accuracy in the other environment: the chosen model")
            < place("<b>75.0 %</b><span>a plain network")
    );
    assert!(place("a plain network</span>") < place("<section id=\"evidence\">"));
    // Nothing is fetched: every address is a picture in the page itself or the name of the SVG format.
    assert!(page.matches("http").count() == page.matches("http://www.w3.org/2000/svg").count());
    // Balanced, so that a browser reads what was meant.
    for tag in ["section", "table", "svg", "figure", "div", "p", "tr", "td", "dl", "h2", "h3"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn without_a_test_set_nothing_is_called_extrapolation() {
    let mut run = run();
    run.examples[2] = 0;
    run.scores.truncate(1);
    let page = html(&run, &[]).unwrap();
    assert!(page.contains("it is not extrapolation") && !page.contains("Extrapolation:") && !page.contains("id=\"certificate\""));
    run.symmetries[1].kept = false;
    run.consistency = None;
    let page = html(&run, &[]).unwrap();
    assert!(page.contains("No symmetry was kept") && page.contains("nothing to be consistent under"));
}

#[test]
fn pairs_of_positions_are_drawn_as_a_square() {
    let mut run = run();
    let symmetry = |i: usize, j: usize| Symmetry {
        name: format!("swap(0;{i},{j})"),
        columns: [i, j].map(|k| ["a<b", "b", "c", "d"][k].to_string()).to_vec(),
        pair: Some([i, j]),
        kept: i > 0,
        cost: Some(Cost::of_answers(41, 0, 100)),
        ..run.symmetries[0].clone()
    };
    run.symmetries = (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))).map(|(i, j)| symmetry(i, j)).collect();
    run.group.blocks = Some(vec![vec!["a<b".into()], vec!["b".into(), "c".into(), "d".into()]]);
    let page = html(&run, &[]).unwrap();
    assert!(page.contains("<th scope=\"col\">a&lt;b</th><th scope=\"col\">b</th>"), "columns by their names");
    assert_eq!((page.matches(">41</td>").count(), page.matches(">kept</td>").count()), (6, 3));
    assert!(page.contains("What can be exchanged: a&lt;b | b,c,d."));
    // One pair is missing: there is no square to draw.
    run.symmetries.pop();
    assert!(!html(&run, &[]).unwrap().contains(">41</td>"));
}
