//! The gradient of the bias.

use rayon::prelude::*;

use crate::{Workspace, pool::Sum};

/// Pixels of a part. Parts are the same for every number of threads, and so is their sum.
const PIXELS: usize = 256;

/// db = sum over pixels of dy.
pub(super) fn gradient(dy: &[f32], db: &mut [f32], workspace: &mut Workspace) {
    let channels = db.len();
    if dy.is_empty() {
        db.fill(0.0);
        return;
    }
    let arch = workspace.arch;
    let parts = workspace.sums.stale(dy.len().div_ceil(PIXELS * channels) * channels);
    parts
        .par_chunks_mut(channels)
        .zip(dy.par_chunks(PIXELS * channels))
        .for_each(|(part, dy)| arch.run(Sum { x: dy, y: part, factor: 1.0 }));
    for (channel, db) in db.iter_mut().enumerate() {
        *db = parts.iter().skip(channel).step_by(channels).map(|part| f64::from(*part)).sum::<f64>() as f32;
    }
}
