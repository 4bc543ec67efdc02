//! Rows of weights that go to each other.

use std::collections::HashMap;

use super::moves::Moves;
use super::tolerance::NEAREST_WORK;

/// Weights by rows, one row per output, each with a bias.
pub(super) struct Rows<'a> {
    pub(super) values: &'a [f32],
    pub(super) width: usize,
    pub(super) bias: Option<&'a [f32]>,
}

/// Which output each output becomes when the inputs move: the `Q` of W P = Q W, for W's rows and the moves P of its columns.
///
/// Row o, its entries moved, must be a row of W again, up to sign; the bias must agree. A row that is its own image stays: that is
/// what absorbs a symmetry. Rows that are equal to the last bit go to each other; for those without such an image the nearest is
/// found, if it differs by at most the part `near` of their largest weight. What such a choice is worth the caller finds out.
pub(super) fn matched(rows: &Rows<'_>, columns: &Moves, near: f64) -> Result<Moves, String> {
    let count = rows.outputs();
    let mut images = vec![None; count];
    let mut taken = vec![false; count];
    // First those that stay: among equal rows any choice would do here, but what follows knows them by their places. Changes of
    // sign come last, as few operations let them through.
    for o in 0..count {
        if rows.moved(columns, o).iter().zip(rows.row(o)).all(|(a, b)| same(*a, *b)) {
            images[o] = Some((o, false));
            taken[o] = true;
        }
    }
    if taken.contains(&false) {
        rows.exchanged(columns, &mut images, &mut taken);
    }
    let lost: Vec<usize> = (0..count).filter(|&o| images[o].is_none()).collect();
    if lost.len() as f64 * (count * rows.width) as f64 > NEAREST_WORK {
        return Err(format!("the weights of {} outputs, moved, are those of no output, bit for bit", lost.len()));
    }
    for o in lost {
        let moved = rows.moved(columns, o);
        let Some(found) = rows.nearest(&moved, o, &taken, near) else { return Err(rows.complaint(&moved, o)) };
        images[o] = Some(found);
        taken[found.0] = true;
    }
    let images: Vec<(usize, bool)> = images.into_iter().flatten().collect();
    let (to, negative) = images.into_iter().unzip();
    Ok(Moves { to, negative })
}

/// The bits of a row and its bias.
fn key(row: &[f32], bias: Option<f32>, negative: bool) -> Vec<u32> {
    row.iter().chain(bias.as_ref()).map(|&value| bits(if negative { -value } else { value })).collect()
}

/// The bits of a weight, the two zeros taken for one.
fn bits(value: f32) -> u32 {
    (value + 0.0).to_bits()
}

/// Whether two weights are equal: to the last bit.
pub(super) fn same(a: f32, b: f32) -> bool {
    bits(a) == bits(b)
}

impl Rows<'_> {
    /// Number of rows.
    pub(super) fn outputs(&self) -> usize {
        self.values.len() / self.width
    }

    fn row(&self, o: usize) -> &[f32] {
        &self.values[o * self.width..][..self.width]
    }

    fn bias(&self, o: usize) -> Option<f32> {
        self.bias.map(|bias| bias[o])
    }

    /// Row o with its entries moved.
    fn moved(&self, columns: &Moves, o: usize) -> Vec<f32> {
        let mut moved = vec![0.0; self.width];
        for (i, &value) in self.row(o).iter().enumerate() {
            moved[columns.to[i]] = if columns.negative[i] { -value } else { value };
        }
        moved
    }

    /// Finds rows, equal to the last bit, for those that have no image yet.
    fn exchanged(&self, columns: &Moves, images: &mut [Option<(usize, bool)>], taken: &mut [bool]) {
        let mut free: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for place in (0..taken.len()).rev().filter(|&place| !taken[place]) {
            free.entry(key(self.row(place), self.bias(place), false)).or_default().push(place);
        }
        for negative in [false, true] {
            for (o, image) in images.iter_mut().enumerate().filter(|(_, image)| image.is_none()) {
                let places = free.get_mut(&key(&self.moved(columns, o), self.bias(o), negative));
                if let Some(place) = places.and_then(Vec::pop) {
                    *image = Some((place, negative));
                    taken[place] = true;
                }
            }
        }
    }

    /// The free place whose row differs least from the moved row o, and whether with its sign changed.
    fn nearest(&self, moved: &[f32], o: usize, taken: &[bool], near: f64) -> Option<(usize, bool)> {
        let bias = self.bias(o);
        let largest = size(moved).max(bias.map_or(0.0, |bias| f64::from(bias.abs())));
        let mut best = (f64::INFINITY, None);
        // Its own place first: where several are equally near, nothing should move.
        let places = std::iter::once(o).chain((0..taken.len()).filter(|&place| place != o)).filter(|&place| !taken[place]);
        for (place, negative) in places.flat_map(|place| [(place, false), (place, true)]) {
            let sign = if negative { -1.0 } else { 1.0 };
            let there = self.row(place).iter().copied().chain(self.bias(place));
            let mut gap = 0.0f64;
            for (a, &b) in there.zip(moved.iter().chain(bias.as_ref())) {
                gap = gap.max((f64::from(a) - sign * f64::from(b)).abs());
                if gap >= best.0 {
                    break;
                }
            }
            if gap < best.0 {
                best = (gap, Some((place, negative)));
            }
        }
        best.1.filter(|_| best.0 <= near * largest)
    }

    fn complaint(&self, moved: &[f32], o: usize) -> String {
        let distance = |place: usize| {
            let gaps = self.row(place).iter().zip(moved).map(|(a, b)| f64::from((a - b).abs()));
            gaps.fold(0.0, f64::max)
        };
        let nearest = (0..self.outputs()).map(distance).fold(f64::INFINITY, f64::min);
        if nearest == 0.0 {
            return format!("the weights of output {o}, moved, are those of an output with another bias, or of one already used");
        }
        format!(
            "the weights of output {o}, moved, are those of no output: the nearest differ by {nearest:.1e}, \
             and weights go up to {:.1e}",
            size(self.values)
        )
    }
}

/// The largest magnitude.
pub(super) fn size(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(value.abs())).fold(0.0, f64::max)
}
