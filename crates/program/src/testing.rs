//! What tests of several modules need.

use crate::Tensor;

/// Numbers between -1 and 1 that look random.
pub(crate) fn numbers(seed: &mut u32, count: usize) -> Vec<f32> {
    let mut next = || {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// A tensor that is known to be whole.
pub(crate) fn tensor(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::new(shape, values.to_vec()).unwrap()
}
