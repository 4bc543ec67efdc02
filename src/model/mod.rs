//! What can be done with a trained model: predict, certify, export.

mod args;
mod certify;
mod export;
mod predict;

pub(crate) use args::{CertifyArgs, ExportArgs, PredictArgs};

pub(crate) use certify::run as certify;
pub(crate) use export::run as export;
pub(crate) use predict::run as predict;
