//! Constraints on real networks, on data small enough for moments.

use invar_nn::{CgFeedForward, Depth, Pool};
use invar_tasks::{ImageTask, Images, Invariant};

use super::*;
use crate::problem::Data;
use crate::screen::{ScreenConfig, ScreenRecord};

fn data(task: &str, length: usize, examples: usize) -> Data {
    let mut data = Data::by_name(task).unwrap();
    if let Data::Sequences(sequences) = &mut data {
        (sequences.length, sequences.sizes.examples, sequences.sizes.test) = (length, examples, 50);
    }
    data
}

const SETTINGS: Settings =
    Settings { epochs: 2, refit_epochs: 2, learning_rate: 2e-3, batch: 32, starts: 1, alpha: 0.05, grown: false };
static STOP: Stop = Stop::new();

fn config(settings: Settings) -> ScreenConfig {
    ScreenConfig { settings, seed: 3, ..ScreenConfig::new(data("sum", 3, 100)) }
}

fn networks<'a>(problem: &'a Problem, config: &'a ScreenConfig, head: Head) -> Networks<'a> {
    Networks::new(problem, config, head, &STOP, &|_| (), None).unwrap()
}

fn cg(network: &Network) -> &CgFeedForward {
    let Network::Cg(network) = network else { panic!("a CG network expected") };
    network
}

fn fit(networks: &Networks, imposed: &GroupSet, begin: Begin<'_, Trained>, effort: Effort) -> Fitted<Trained> {
    networks.fit(&Request { imposed, begin, effort, watch: None }).unwrap()
}

#[test]
fn what_is_imposed_holds_exactly_from_fresh_and_from_trained_weights() {
    let problem = data("sum2", 4, 120).problem(3).unwrap();
    for head in [Head::Hidden, Head::Affine] {
        let config = config(SETTINGS);
        let networks = networks(&problem, &config, head);
        let set: GroupSet = [1, 4].into_iter().collect(); // (0,2) and (1,3)
        let free = fit(&networks, &GroupSet::empty(), Begin::Fresh(0), Effort::Full);
        let fresh = fit(&networks, &set, Begin::Fresh(0), Effort::Full);
        let warm = fit(&networks, &set, Begin::From(&free.model), Effort::Brief);
        let kept = |fitted: &Fitted<Trained>| -> GroupSet {
            let kept = cg(&fitted.model.network).cg.kept(problem.reynolds().unwrap(), 1e-10).unwrap();
            kept.iter().enumerate().filter(|(_, kept)| kept.0).map(|(group, _)| group).collect()
        };
        assert!(kept(&free).is_empty());
        assert_eq!((kept(&fresh), kept(&warm)), (set.clone(), set));
        assert_eq!(cg(&warm.model.network).head(), head);
    }
}

#[test]
fn a_hidden_head_grows_from_the_affine_one_and_keeps_what_is_imposed() {
    let problem = data("sum2", 4, 120).problem(3).unwrap();
    let config = config(Settings { grown: true, ..SETTINGS });
    let [affine, hidden] = [Head::Affine, Head::Hidden].map(|head| networks(&problem, &config, head));
    assert!(hidden.grows() && !affine.grows());
    let set: GroupSet = [1, 4].into_iter().collect();
    let simple = fit(&affine, &set, Begin::Fresh(0), Effort::Full);
    let answers = |network: &Network| evaluate(network, &problem.validation).unwrap().predictions;
    let (begun, _) = hidden.begin(Begin::Grown(&simple.model, 0), &set).unwrap();
    let gap = answers(&begun).iter().zip(answers(&simple.model.network)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(gap < 1e-3, "{gap}");
    let grown = fit(&hidden, &set, Begin::Grown(&simple.model, 0), Effort::Full);
    let network = cg(&grown.model.network);
    assert_eq!(network.head(), Head::Hidden);
    let kept = network.cg.kept(problem.reynolds().unwrap(), 1e-10).unwrap();
    assert_eq!(kept.iter().map(|kept| kept.0).collect::<Vec<_>>(), [false, true, false, false, true, false]);
    let other = fit(&hidden, &set, Begin::Grown(&simple.model, 1), Effort::Full);
    assert!(other.scores.loss.to_bits() != grown.scores.loss.to_bits(), "what is drawn besides differs");
    let again = fit(&hidden, &set, Begin::Grown(&simple.model, 0), Effort::Full);
    assert_eq!(again.scores.loss.to_bits(), grown.scores.loss.to_bits());
}

#[test]
fn counting_triangles_takes_the_orbit_network_and_imposes_on_the_whole_of_it() {
    let mut triangles = Data::by_name("triangles").unwrap();
    triangles.set_examples(80);
    let problem = triangles.problem(3).unwrap();
    let config = ScreenConfig { settings: Settings { grown: true, ..SETTINGS }, seed: 3, ..ScreenConfig::new(triangles) };
    assert!(!networks(&problem, &config, Head::Hidden).grows(), "a ReLU stands behind its CG layer");
    let networks = networks(&problem, &config, Head::Affine);
    let all: GroupSet = (0..problem.groups().len()).collect();
    let free = fit(&networks, &GroupSet::empty(), Begin::Fresh(0), Effort::Full);
    let whole = fit(&networks, &all, Begin::From(&free.model), Effort::Brief);
    assert!(matches!(whole.model.network, Network::Orbit(_)));
    // Pairs are graphs whose nodes are named anew: invariance of the whole network is what makes their answers equal.
    let [one, other] = problem.pairs.as_ref().unwrap();
    let gap = |network: &Network| {
        let answers = |data| evaluate(network, data).unwrap().predictions;
        answers(one).iter().zip(answers(other)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (free, whole) = (gap(&free.model.network), gap(&whole.model.network));
    assert!(free > 1e-2 && whole < 1e-4, "{free} {whole}");
}

#[test]
fn starts_differ_and_equal_requests_agree() {
    let problem = data("sum", 3, 100).problem(3).unwrap();
    let config = config(SETTINGS);
    let networks = networks(&problem, &config, Head::Hidden);
    let loss = |start| fit(&networks, &GroupSet::empty(), Begin::Fresh(start), Effort::Full).scores.loss;
    assert!((loss(0) - loss(0)).abs() < 1e-15 && (loss(0) - loss(1)).abs() > 1e-9);
}

#[test]
fn a_fit_that_diverges_answers_nothing_and_is_no_error() {
    let problem = data("sum", 3, 100).problem(3).unwrap();
    let config = config(Settings { learning_rate: 1e30, ..SETTINGS });
    let fitted = fit(&networks(&problem, &config, Head::Hidden), &GroupSet::empty(), Begin::Fresh(0), Effort::Full);
    assert_eq!(fitted.ending, Ending::Diverged);
    assert!(fitted.scores.points() <= 0.0 && fitted.scores.loss > 1e300);
}

#[test]
fn the_papers_network_for_images_can_be_screened_too() {
    let images =
        Images { invariant: Invariant::RotColorVflip, count: Some(60), test_count: Some(20), ..Images::new(ImageTask::Mnist34) };
    let digits = Data::Images(images);
    let problem = digits.problem(0).unwrap();
    let backbone = Backbone::Patch { depth: Depth::Reference, width: 0.0625, pool: Pool::Floor };
    let settings = Settings { epochs: 1, refit_epochs: 1, starts: 1, ..Settings::images() };
    let config = ScreenConfig { backbone: Some(backbone), settings, ..ScreenConfig::new(digits) };
    let networks = networks(&problem, &config, Head::Affine);
    let free = fit(&networks, &GroupSet::empty(), Begin::Fresh(0), Effort::Full);
    let colours = GroupSet::empty().with(1);
    let coloured = fit(&networks, &colours, Begin::From(&free.model), Effort::Brief);
    let kept = |network: &Network| -> Vec<bool> {
        let layer = networks.built.read(network, &problem).unwrap().unwrap();
        layer.groups.iter().map(|group| group.kept).collect()
    };
    assert_eq!(kept(&free.model.network), [false; 3]);
    assert_eq!(kept(&coloured.model.network), [false, true, false]);
    assert!(coloured.model.network.describe().ends_with("sum pooling, output 2"), "{}", coloured.model.network.describe());
    // The baseline is of the same width, and has its dense layer whatever the head.
    let plain = FitConfig { backbone: Some(backbone), head: Head::Affine, ..FitConfig::new(digits, Method::Plain) };
    let plain = plain.build(&problem, &Device::flex()).unwrap().network.describe();
    assert!(plain.contains("filters: 4 M") && plain.contains("dense 50 ReLU"), "{plain}");
    // Of sequences there are no patches.
    let sequences = ScreenConfig { backbone: Some(backbone), ..ScreenConfig::new(data("sum", 3, 100)) };
    let problem = sequences.data.problem(0).unwrap();
    let error = sequences.run(&problem, 1, &STOP, &|_| ()).unwrap_err().to_string();
    assert!(error.contains("backbone should be `orbit` or `feedforward`"), "{error}");
}

#[test]
fn a_stop_ends_a_fit_without_an_answer() {
    let problem = data("sum", 3, 100).problem(3).unwrap();
    let stop = Stop::new();
    stop.stop();
    let config = config(SETTINGS);
    let networks = Networks { stop: &stop, ..networks(&problem, &config, Head::Hidden) };
    let request = Request { imposed: &GroupSet::empty(), begin: Begin::Fresh(0), effort: Effort::Full, watch: None };
    assert!(matches!(networks.fit(&request), Err(Error::Stopped)));
}

/// The same data with other targets.
fn scaled(data: &Dataset, factor: f32) -> Dataset {
    let Targets::Values(values) = data.targets() else { panic!("values expected") };
    Dataset::new(data.inputs().clone(), Targets::Values(values.iter().map(|y| y * factor).collect())).unwrap()
}

#[test]
fn targets_that_are_no_whole_numbers_are_screened_by_r_squared() {
    let data = data("sum", 3, 600);
    let mut problem = data.problem(11).unwrap();
    assert_eq!(problem.measure, Measure::Accuracy);
    for set in [&mut problem.train, &mut problem.validation, problem.test.as_mut().unwrap()] {
        *set = scaled(set, 0.0123);
    }
    problem.measure = Measure::of(&problem.validation);
    let settings = Settings { epochs: 30, refit_epochs: 8, ..SETTINGS };
    let config = ScreenConfig { settings, seed: 11, ..ScreenConfig::new(data) };
    let record = config.run(&problem, 1, &STOP, &|_| ()).unwrap();
    let Measure::RSquared { variance } = record.measure else { panic!("{:?}", record.measure) };
    assert!(1.0 - record.free[0].validation.loss / variance > 0.9, "{:?}", record.free);
    assert_eq!(Some(&record.answers[0].kept), problem.symmetry.as_ref());
    assert!(record.evidence.iter().all(|evidence| evidence.cost.discordant.is_none() && evidence.cost.points < 5.0));
    assert!(record.detectable > 0.0 && record.detectable < 20.0);
    // A record is one line and comes back as it was, up to the last bit of a measured number.
    let line = serde_json::to_string(&record).unwrap();
    let back: ScreenRecord = serde_json::from_str(&line).unwrap();
    assert!(!line.contains('\n') && back.config == record.config && back.names == record.names);
    assert_eq!((&back.answers[0].kept, &back.answers[0].verdicts), (&record.answers[0].kept, &record.answers[0].verdicts));
}

#[test]
fn settings_out_of_range_are_named() {
    let data = data("sum", 3, 100);
    let problem = data.problem(3).unwrap();
    let fails = |settings: Settings, part: &str| {
        let config = ScreenConfig { settings, ..ScreenConfig::new(data) };
        let error = config.run(&problem, 1, &STOP, &|_| ()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    fails(Settings { epochs: 0, ..SETTINGS }, "number of epochs should be at least 1, but is 0");
    fails(Settings { refit_epochs: 0, ..SETTINGS }, "number of refit epochs");
    fails(Settings { starts: 0, ..SETTINGS }, "number of starts");
    fails(Settings { alpha: 0.0, ..SETTINGS }, "alpha should be above 0 and at most 0.5, but is 0");
    fails(Settings { alpha: f64::NAN, ..SETTINGS }, "alpha");
    fails(Settings { batch: 0, ..SETTINGS }, "batch size");
    fails(Settings { learning_rate: -1.0, ..SETTINGS }, "learning rate");
}
