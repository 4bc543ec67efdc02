//! What can be done with a trained model: predict, certify, export.

mod args;
mod certify;
mod export;
mod predict;

pub(crate) use args::{CertifyArgs, ExportArgs, PredictArgs};

pub(crate) use certify::run as certify;
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
