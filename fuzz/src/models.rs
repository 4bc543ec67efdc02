//! Models: those of invar, and ONNX files of anybody.

use std::path::Path;

use invar_data::onnx::Model;
use invar_data::{Bundle, Tensor, steers};
use invar_program::certify::numeric;
use invar_program::certify::{Range, certificate_cost, certify_on, cost};
use invar_program::{Error, Interpreter, Program, Saved};

use crate::{Desk, LIMITS};

/// The entry of a bundle that describes the model.
const KEY: &str = "model";
/// Entries of a tensor or an example that are not too slow to look at.
const SMALL: usize = 4096;
/// Multiplications that are not too slow for a proof with its measurements.
const WORK: f64 = 3e6;

/// What is refused is named, on one line, with letters that steer no terminal.
fn check_message(error: &Error, path: &Path) {
    let message = error.to_string();
    assert!(message.contains(&*path.to_string_lossy()), "the file is not named: {message}");
    assert!(!message.contains('\n') && message.len() < 20_000, "{message:?}");
}

/// A model as its file, or as its description with the tensors behind it: checksums would stop nearly every change.
pub(crate) fn model(desk: &Desk, bytes: &[u8]) -> bool {
    let path = desk.put("m.invar", bytes);
    if let Some(bundle) = described(bytes) {
        bundle.save(&path).expect("a sound bundle can be written");
    }
    match Saved::load_within(&path, LIMITS) {
        Ok(model) => {
            check_model(desk, &model);
            true
        }
        Err(error) => {
            check_message(&error, &path);
            false
        }
    }
}

/// A line with the document, and one for each tensor: `0.weight 2x3 1 -0.5 2`, numbers repeated as often as needed.
fn described(bytes: &[u8]) -> Option<Bundle> {
    let mut lines = std::str::from_utf8(bytes).ok()?.lines();
    let document = lines.next().filter(|line| line.starts_with('{'))?;
    let mut bundle = Bundle { metadata: [(KEY.to_owned(), document.to_owned())].into(), tensors: [].into() };
    for line in lines {
        let mut words = line.split(' ');
        let (name, sides) = (words.next()?, words.next()?);
        let shape = sides.split('x').filter(|side| !side.is_empty()).map(|side| side.parse().ok());
        let shape = shape.collect::<Option<Vec<usize>>>()?;
        let count = shape.iter().try_fold(1usize, |all, &side| all.checked_mul(side)).filter(|&count| count <= SMALL)?;
        let numbers: Vec<f32> = words.map_while(|word| word.parse().ok()).collect();
        let values = if numbers.is_empty() { vec![0.5; count] } else { numbers.into_iter().cycle().take(count).collect() };
        bundle.tensors.insert(name.to_owned(), Tensor { shape, values });
    }
    Some(bundle).filter(|bundle| !bundle.tensors.contains_key("__metadata__"))
}

/// What was read is written as it was, runs, and is proved to be nothing that it is not.
fn check_model(desk: &Desk, model: &Saved) {
    let [first, second] = ["first.invar", "second.invar"].map(|name| desk.at(name));
    model.save(&first).expect("a model that was read can be written");
    let again = Saved::load_within(&first, LIMITS);
    // What takes just the memory that is allowed may be longer as it is written here.
    if let Ok(again) = again {
        again.save(&second).expect("a model that was read can be written");
        assert!(std::fs::read(&first).ok() == std::fs::read(&second).ok(), "a model is written otherwise when it was read");
    }
    let program = model.whole().expect("a model that was read has a program");
    if program.inputs() > SMALL || cost(&program).is_ok_and(|cost| cost > WORK / 10.0) {
        return;
    }
    let examples = numeric::random(&program.input, 2, 7);
    let outputs = program.run(&examples).expect("a program that was checked runs");
    assert_eq!(outputs.len(), 2 * program.outputs().expect("a program that was checked has outputs"));
    check_proofs(model, &program, &examples);
    let exported = desk.at("m.onnx");
    if model.write_onnx(&exported).is_ok() {
        Model::load(&exported, LIMITS).expect("what was exported can be read");
    }
}

/// No input contradicts a proof.
fn check_proofs(model: &Saved, program: &Program, examples: &[f32]) {
    let groups = model.groups().expect("a model that was read has its groups");
    for (group, _) in groups.into_iter().take(3) {
        if certificate_cost(program, std::slice::from_ref(&group), 2).is_ok_and(|cost| cost > WORK) {
            continue;
        }
        let Ok(proof) = certify_on(program, &group, Range::of(program, &[])) else { continue };
        let measured = numeric::measure(program, &group, Some(&proof), examples, 1).expect("a program that runs is measured");
        // Where outputs overflow nothing is measured.
        if proof.is_proved() && measured.size.is_finite() {
            assert!(measured.holds(), "proved, but {measured}");
        }
    }
}

/// An ONNX file, run twice on two examples of the shape that it states.
pub(crate) fn onnx(desk: &Desk, bytes: &[u8]) -> bool {
    let path = desk.put("m.onnx", bytes);
    let (model, interpreter) = match (Model::load(&path, LIMITS), Interpreter::load(&path, LIMITS)) {
        (Ok(model), Ok(interpreter)) => (model, interpreter),
        (Err(error), _) => return refuse(&error.into(), &path),
        (_, Err(error)) => return refuse(&error, &path),
    };
    let stated = model.inputs[0].shape.clone().unwrap_or_default();
    let sides: Vec<usize> = stated.iter().skip(1).map(|side| side.unwrap_or(2)).collect();
    let Some(count) = sides.iter().try_fold(1usize, |all, &side| all.checked_mul(side)).filter(|&count| count <= SMALL) else {
        return true;
    };
    let examples: Vec<f32> = (0..2 * count).map(|i| (i % 7) as f32 / 3.0 - 1.0).collect();
    match (interpreter.run(&sides, &examples), interpreter.run(&sides, &examples)) {
        (Ok(one), Ok(two)) => assert!(one.iter().map(|x| x.to_bits()).eq(two.iter().map(|x| x.to_bits())), "answers differ"),
        (Err(one), Err(_)) => check_message(&one, &path),
        _ => panic!("one of two equal runs failed"),
    }
    true
}

fn refuse(error: &Error, path: &Path) -> bool {
    check_message(error, path);
    assert!(!error.to_string().contains(steers), "{error:?}");
    false
}
