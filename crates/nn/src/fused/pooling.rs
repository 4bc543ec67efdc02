//! Sums and largest values over the orbits of points.

use std::ops::Range;

use crate::pairs::Pool;

/// A [`Pool`] on plain slices.
pub(super) struct Pooling {
    pool: Pool,
    points: usize,
    width: usize,
    /// For every largest value which point of its orbit has it.
    largest: Vec<u32>,
}

impl Pooling {
    /// None where every point passes as it is.
    pub(super) fn of(pool: &Pool, width: usize) -> Option<Self> {
        let trivial = pool.sums.iter().chain(&pool.largest).all(|run| run.1 == 1);
        (!trivial).then(|| Self { pool: pool.clone(), points: pool.order.len(), width, largest: Vec::new() })
    }

    /// Entries of a row: sums, then largest values.
    fn sums(&self) -> usize {
        self.pool.sums.iter().map(|run| run.0).sum()
    }

    fn maxima(&self) -> usize {
        self.pool.largest.iter().filter(|run| run.1 > 1).map(|run| run.0).sum()
    }

    /// `[count, points, width]` to `[count, outputs, width]`.
    pub(super) fn forward(&mut self, features: &[f32], pooled: &mut [f32], count: usize) {
        let (width, sums, maxima) = (self.width, self.sums(), self.maxima());
        self.largest.resize(count * maxima * width, 0);
        let rows = features.chunks_exact(self.points * width).zip(pooled.chunks_exact_mut((sums + maxima) * width));
        // Without a largest value anywhere there is nothing to remember of a row.
        let mut at = self.largest.chunks_exact_mut((maxima * width).max(1));
        for (from, to) in rows {
            let (sums, maxima) = to.split_at_mut(sums * width);
            for (orbit, sum) in orbits(&self.pool.sums).zip(sums.chunks_exact_mut(width)) {
                add_up(&from[orbit.start * width..orbit.end * width], sum, Pool::scale(orbit.len()));
            }
            let Some(at) = at.next().filter(|_| !maxima.is_empty()) else { continue };
            let large = orbits(&self.pool.largest).filter(|orbit| orbit.len() > 1);
            for ((orbit, largest), at) in large.zip(maxima.chunks_exact_mut(width)).zip(at.chunks_exact_mut(width)) {
                take_largest(&from[orbit.start * width..orbit.end * width], largest, at);
            }
        }
    }

    /// The gradient of the features from that of what was pooled, after [`Self::forward`].
    pub(super) fn backward(&self, d_pooled: &[f32], d_features: &mut [f32], count: usize) {
        let (width, sums, maxima) = (self.width, self.sums(), self.maxima());
        let rows = d_pooled.chunks_exact((sums + maxima) * width).zip(d_features.chunks_exact_mut(self.points * width));
        let mut at = self.largest.chunks_exact((maxima * width).max(1));
        for (from, to) in rows.take(count) {
            let (sums, maxima) = from.split_at(sums * width);
            for (orbit, share) in orbits(&self.pool.sums).zip(sums.chunks_exact(width)) {
                let scale = Pool::scale(orbit.len());
                for row in to[orbit.start * width..orbit.end * width].chunks_exact_mut(width) {
                    row.iter_mut().zip(share).for_each(|(to, from)| *to = scale * from);
                }
            }
            let Some(at) = at.next().filter(|_| !maxima.is_empty()) else { continue };
            let large = orbits(&self.pool.largest).filter(|orbit| orbit.len() > 1);
            for ((orbit, share), at) in large.zip(maxima.chunks_exact(width)).zip(at.chunks_exact(width)) {
                for (feature, (share, &place)) in share.iter().zip(at).enumerate() {
                    to[(orbit.start + place as usize) * width + feature] += share;
                }
            }
        }
    }
}

/// The points of every orbit, one after the other.
fn orbits(runs: &[(usize, usize)]) -> impl Iterator<Item = Range<usize>> + '_ {
    let sizes = runs.iter().flat_map(|&(orbits, size)| std::iter::repeat_n(size, orbits));
    sizes.scan(0, |start, size| {
        let orbit = *start..*start + size;
        *start = orbit.end;
        Some(orbit)
    })
}

fn add_up(orbit: &[f32], sum: &mut [f32], scale: f32) {
    let (first, rest) = orbit.split_at(sum.len());
    sum.copy_from_slice(first);
    for row in rest.chunks_exact(sum.len()) {
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    if scale < 1.0 {
        for sum in sum.iter_mut() {
            *sum *= scale;
        }
    }
}

/// The first of the largest counts.
fn take_largest(orbit: &[f32], largest: &mut [f32], at: &mut [u32]) {
    let (first, rest) = orbit.split_at(largest.len());
    largest.copy_from_slice(first);
    at.fill(0);
    for (place, row) in (1..).zip(rest.chunks_exact(largest.len())) {
        for ((largest, at), &value) in largest.iter_mut().zip(at.iter_mut()).zip(row) {
            let more = value > *largest;
            *largest = if more { value } else { *largest };
            *at = if more { place } else { *at };
        }
    }
}
