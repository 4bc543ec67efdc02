//! The largest of the channels of a feature: pooling over the directions of a group convolution.

use rayon::prelude::*;

use crate::{Error, Result, error::check_length};

/// Features that one task goes through, at least.
const CHUNK: usize = 4096;

/// `[features, fibre]`, all features of all pixels one after the other, becomes `[features]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FibreShape {
    /// The number of features of all pixels.
    pub features: usize,
    /// The number of channels of a feature.
    pub fibre: usize,
}

impl FibreShape {
    /// The number of input entries.
    pub fn input_len(&self) -> usize {
        self.features * self.fibre
    }

    fn check(&self, operation: &'static str, x: (&'static str, &[f32]), y: (&'static str, &[f32])) -> Result<()> {
        if self.fibre == 0 {
            let shape = format!("pooling of {} features", self.features);
            return Err(Error::Shape { shape, reason: "a feature must have a channel" });
        }
        check_length(operation, x.0, x.1, self.input_len())?;
        check_length(operation, y.0, y.1, self.features)
    }
}

/// y = the largest entry of each fibre of x.
pub fn forward(shape: &FibreShape, x: &[f32], y: &mut [f32]) -> Result<()> {
    shape.check("pooling over fibres", ("x", x), ("y", y))?;
    y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK * shape.fibre)).for_each(|(y, x)| {
        for (y, x) in y.iter_mut().zip(x.chunks_exact(shape.fibre)) {
            *y = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        }
    });
    Ok(())
}

/// The first of the largest entries gets the gradient of its fibre; `x` is that of the forward pass.
pub fn backward(shape: &FibreShape, x: &[f32], dy: &[f32], dx: &mut [f32]) -> Result<()> {
    shape.check("gradient of pooling over fibres", ("x", x), ("dy", dy))?;
    check_length("gradient of pooling over fibres", "dx", dx, shape.input_len())?;
    let chunk = CHUNK * shape.fibre;
    dx.par_chunks_mut(chunk).zip(x.par_chunks(chunk)).zip(dy.par_chunks(CHUNK)).for_each(|((dx, x), dy)| {
        for ((dx, x), dy) in dx.chunks_exact_mut(shape.fibre).zip(x.chunks_exact(shape.fibre)).zip(dy) {
            dx.fill(0.0);
            let first = x.iter().enumerate().fold(0, |best, (at, value)| if *value > x[best] { at } else { best });
            dx[first] = *dy;
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_counts_and_the_first_of_equals_gets_the_gradient() {
        let shape = FibreShape { features: 2, fibre: 3 };
        let x = [1.0, 4.0, 4.0, -3.0, -2.0, -5.0];
        let mut y = [0.0; 2];
        forward(&shape, &x, &mut y).unwrap();
        assert_eq!(y.to_vec(), [4.0, -2.0]);
        let mut dx = [9.0; 6];
        backward(&shape, &x, &[5.0, 7.0], &mut dx).unwrap();
        assert_eq!(dx.to_vec(), [0.0, 5.0, 0.0, 0.0, 7.0, 0.0]);
        assert!(forward(&shape, &x[1..], &mut y).is_err());
        assert!(forward(&FibreShape { features: 0, fibre: 0 }, &[], &mut []).is_err());
    }
}
