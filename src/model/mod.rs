//! What can be done with a trained model: predict, evaluate, certify, export.

mod args;
mod certify;
mod evaluate;
mod export;
mod predict;
mod stdin;

pub(crate) use args::{CertifyArgs, EvaluateArgs, ExportArgs, PredictArgs};

pub(crate) use certify::run as certify;
pub(crate) use evaluate::run as evaluate;
pub(crate) use export::run as export;
pub(crate) use predict::run as predict;

/// Refuses answers that are no numbers; `place` names an example by its position.
fn check_finite(outputs: &[f32], examples: usize, place: impl Fn(usize) -> String) -> anyhow::Result<()> {
    match outputs.iter().position(|output| !output.is_finite()) {
        Some(bad) => {
            let example = bad * examples / outputs.len();
            Err(anyhow::anyhow!("{}: the output of the network is not finite, but {}", place(example), outputs[bad]))
        }
        None => Ok(()),
    }
}
