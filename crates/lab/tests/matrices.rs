//! Candidates that are matrices, from the project file to the model.

use invar_data::Missing;
use invar_lab::project::{Findings, Loaded, Project, RunOptions, train};
use invar_lab::queue::Stop;

/// Trains on points of space, labelled by their height, for an epoch or two.
fn trained(candidates: &str, learner: &str) -> invar_lab::project::Run {
    let folder = tempfile::tempdir().unwrap();
    let row = |k: usize| {
        let at = |step: usize| ((k * step) % 17) as f64 / 8.0 - 1.0;
        format!("{},{},{},{}\n", at(3), at(5), at(7), if at(7) > 0.0 { "high" } else { "low" })
    };
    let rows: String = std::iter::once("x,y,z,label\n".into()).chain((0..60).map(row)).collect();
    std::fs::write(folder.path().join("points.csv"), rows).unwrap();
    let text = format!(
        "[data]\ntrain = \"points.csv\"\nlabel = \"label\"\n[task]\nkind = \"classification\"\n\
         [symmetries]\ncandidates = [{candidates}]\n[train]\nlearner = \"{learner}\"\nepochs = 2\n"
    );
    let project = Project::parse(&folder.path().join("invar.toml"), &text).unwrap();
    let loaded = Loaded::load(project, Missing::Refuse).unwrap();
    assert!(Findings::of(&loaded).unwrap().is_sound());
    let (stop, out) = (Stop::new(), folder.path().join("run"));
    train(&loaded, &out, RunOptions { threads: 1, stop: &stop, listen: &|_| () }).unwrap()
}

#[test]
fn decimals_can_be_trained_with() {
    let mirror = "\"m=generators([[[0.6,0.8,0.0],[0.8,-0.6,0.0],[0.0,0.0,1.0]]])\"";
    for learner in ["screen", "cgreg"] {
        let run = trained(mirror, learner);
        assert_eq!((run.symmetries.len(), run.symmetries[0].name.as_str()), (1, "m"), "{learner}");
    }
}

#[test]
fn candidates_that_generate_no_finite_group_together_can_be_trained_with() {
    let mirrors = "\"a=generators([[[3/5,4/5,0],[4/5,-3/5,0],[0,0,1]]])\", \"b=generators([[-0,1,2]])\"";
    for learner in ["screen", "cgreg"] {
        let run = trained(mirrors, learner);
        let kept = run.symmetries.iter().filter(|symmetry| symmetry.kept).count();
        // Both together have no order, and whether that is normal is not known.
        assert_eq!((run.group.order.is_none(), run.group.normal.is_none()), (kept == 2, kept == 2), "{learner}");
        assert!(
            run.symmetries.iter().all(|symmetry| symmetry.kept || symmetry.cost.is_some()),
            "{learner}: {:?}",
            run.symmetries
        );
    }
}
