//! Memory that is kept between calls, so that a training step allocates nothing after the first.

/// The length of a cache line, in floats. Vectors that start on one never straddle two.
const LINE: usize = 16;

/// A buffer that only grows, whose contents start on a cache line.
#[derive(Debug, Default)]
pub(crate) struct Buffer(Vec<f32>);

impl Buffer {
    /// `len` floats with whatever they held before.
    pub(crate) fn stale(&mut self, len: usize) -> &mut [f32] {
        if self.0.len() < len + LINE {
            // A new vector instead of a longer one: nothing of the old contents is needed.
            self.0 = vec![0.0; len + LINE];
        }
        let skip = self.0.as_ptr().align_offset(4 * LINE).min(LINE);
        &mut self.0[skip..skip + len]
    }

    /// `len` zeros.
    pub(crate) fn zeros(&mut self, len: usize) -> &mut [f32] {
        let buffer = self.stale(len);
        buffer.fill(0.0);
        buffer
    }
}
