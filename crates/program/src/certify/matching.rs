//! Rows of weights that go to each other.

use super::TOLERANCE;
use super::moves::Moves;

/// Weights by rows, one row per output, each with a bias.
pub(super) struct Rows<'a> {
    pub(super) values: &'a [f32],
    pub(super) width: usize,
    pub(super) bias: Option<&'a [f32]>,
}

/// How outputs move, and the largest difference met, as a part of the largest weight.
pub(super) type Matched = (Moves, f64);

/// Which output each output becomes when the inputs move: the `Q` of W P = Q W, for W's rows and the moves P of its columns.
///
/// Row o, its entries moved, must be a row of W again, up to sign; the bias must agree. A row that is its own image stays:
/// that is what absorbs a symmetry.
pub(super) fn matched(rows: &Rows<'_>, columns: &Moves) -> Result<Matched, String> {
    let count = rows.values.len() / rows.width;
    let (weight, bias) = (size(rows.values), rows.bias.map_or(0.0, size));
    let mut images = vec![None; count];
    let mut taken = vec![false; count];
    let mut largest = 0.0f64;
    // First those that stay: among equal rows any choice would do here, but what follows knows them by their places. Changes of
    // sign come last, as few operations let them through.
    for (staying, negative) in [(true, false), (false, false), (false, true)] {
        for (o, found) in images.iter_mut().enumerate().filter(|(_, found)| found.is_none()) {
            let moved = image(rows, columns, o);
            let mut places = (0..count).filter(|&place| if staying { place == o } else { !taken[place] });
            let fits = |place: usize| rows.compare(&moved, o, place, negative, weight, bias).map(|gap| (place, gap));
            match places.find_map(fits) {
                Some((place, difference)) => {
                    *found = Some((place, negative));
                    taken[place] = true;
                    largest = largest.max(difference);
                }
                None if negative => return Err(rows.complaint(&moved, o, weight)),
                None => {}
            }
        }
    }
    let images: Vec<(usize, bool)> = images.into_iter().flatten().collect();
    let moves = Moves {
        to: images.iter().map(|&(place, _)| place).collect(),
        negative: images.iter().map(|&(_, negative)| negative).collect(),
    };
    Ok((moves, largest))
}

/// Row o with its entries moved.
fn image(rows: &Rows<'_>, columns: &Moves, o: usize) -> Vec<f32> {
    let mut moved = vec![0.0; rows.width];
    for (i, &value) in rows.row(o).iter().enumerate() {
        moved[columns.to[i]] = if columns.negative[i] { -value } else { value };
    }
    moved
}

impl Rows<'_> {
    /// Number of rows.
    pub(super) fn outputs(&self) -> usize {
        self.values.len() / self.width
    }

    fn row(&self, o: usize) -> &[f32] {
        &self.values[o * self.width..][..self.width]
    }

    /// The largest difference between the row at `place` and the moved row, with its sign changed if `negative`; nothing when
    /// they differ too much.
    fn compare(&self, moved: &[f32], o: usize, place: usize, negative: bool, weight: f64, bias: f64) -> Option<f64> {
        let mut largest = 0.0f64;
        let sign = |value: f32| if negative { -value } else { value };
        for (&a, &b) in self.row(place).iter().zip(moved) {
            largest = largest.max(relative(a, sign(b), weight)?);
        }
        if let Some(values) = self.bias {
            largest = largest.max(relative(values[place], sign(values[o]), bias)?);
        }
        Some(largest)
    }

    fn complaint(&self, moved: &[f32], o: usize, weight: f64) -> String {
        let distance = |place: usize| {
            let gaps = self.row(place).iter().zip(moved).map(|(a, b)| f64::from((a - b).abs()));
            gaps.fold(0.0, f64::max)
        };
        let nearest = (0..self.values.len() / self.width).map(distance).fold(f64::INFINITY, f64::min);
        if nearest <= TOLERANCE * weight {
            return format!("the weights of output {o}, moved, are those of an output with another bias, or of one already used");
        }
        format!(
            "the weights of output {o}, moved, are those of no output: the nearest differ by {nearest:.1e}, \
             and weights go up to {weight:.1e}"
        )
    }
}

/// The largest magnitude.
pub(super) fn size(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(value.abs())).fold(0.0, f64::max)
}

/// The difference of two weights as a part of the largest, if it is within the tolerance.
pub(super) fn relative(a: f32, b: f32, largest: f64) -> Option<f64> {
    let gap = (f64::from(a) - f64::from(b)).abs();
    (gap <= TOLERANCE * largest).then(|| if largest > 0.0 { gap / largest } else { 0.0 })
}
