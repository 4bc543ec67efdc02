//! How a convolution follows a generator.

use super::links;
use super::matching::{Rows, matched};
use super::moves::Moves;
use crate::tensor::Tensor;

/// The symmetries of the square, as what they do to (row, column) counted from the centre, with their names.
const SQUARE: [([isize; 4], &str); 8] = [
    ([1, 0, 0, 1], "nothing"),
    ([0, -1, 1, 0], "a quarter turn"),
    ([-1, 0, 0, -1], "a half turn"),
    ([0, 1, -1, 0], "a quarter turn back"),
    ([-1, 0, 0, 1], "an upside-down mirror"),
    ([1, 0, 0, -1], "a left-right mirror"),
    ([0, 1, 1, 0], "a mirror on the diagonal"),
    ([0, -1, -1, 0], "a mirror on the other diagonal"),
];

/// The moves behind a convolution, and what was seen.
///
/// y(o, p) = sum over i and q of W(o, i, q) x(i, p + q). When channels move by a and pixels by a symmetry s of the square, with
/// linear part S, then y follows with channels moved by b exactly when W(b(o), a(i), S q) = W(o, i, q) for all o, i and q: zeros
/// around the image and stride 1 have every symmetry of it.
pub(super) fn follow(
    filters: &Tensor,
    bias: Option<&Tensor>,
    shape: &[usize],
    moves: &Moves,
    near: f64,
) -> Result<(Moves, links::Rows, &'static str), String> {
    let (sides, side) = ([shape[1], shape[2]], filters.shape[2]);
    let Some((channels, pixels)) = moves.split(sides[0] * sides[1]) else {
        return Err("the moves do not treat all channels, or all pixels, alike".into());
    };
    let fitting: Vec<_> = SQUARE.iter().filter(|(linear, _)| turned(*linear, sides).as_ref() == Some(&pixels)).collect();
    // A filter of one pixel looks at no neighbours: pixels may move in any way.
    let anywhere = ([1, 0, 0, 1], "some permutation");
    let fitting = if fitting.is_empty() && side == 1 { vec![&anywhere] } else { fitting };
    let mut complaint = format!(
        "pixels move in a way that {side}x{side} filters with zeros around the image do not follow: expected turns or mirrors"
    );
    for (linear, name) in fitting {
        let reached = taps(side, sides);
        let goes = turned(*linear, [side, side]).unwrap_or_default();
        let Ok(inner) = reached.iter().map(|&tap| reached.binary_search(&goes[tap])).collect::<Result<Vec<_>, _>>() else {
            continue;
        };
        let columns = Moves::product(&channels, &inner);
        let values: Vec<f32> =
            filters.values.chunks(side * side).flat_map(|plane| reached.iter().map(|&tap| plane[tap])).collect();
        let rows = Rows { values: &values, width: columns.len(), bias: bias.map(|bias| bias.values.as_slice()) };
        match matched(&rows, &columns, near) {
            Ok(outputs) => {
                let behind = Moves::product(&outputs, &pixels);
                let place = (0..channels.len()).flat_map(|i| reached.iter().map(move |&tap| i * side * side + tap)).collect();
                let input = (0..columns.len()).map(|column| column / reached.len()).collect();
                return Ok((behind, links::Rows { columns, outputs, place, input }, name));
            }
            Err(reason) => complaint = format!("{name} of the filters: {reason}"),
        }
    }
    Err(complaint)
}

/// The positions of a filter that ever meet a pixel: on small images the outer ones only see zeros.
fn taps(side: usize, sides: [usize; 2]) -> Vec<usize> {
    let near = |at: usize, length: usize| at.abs_diff(side / 2) < length;
    (0..side * side).filter(|tap| near(tap / side, sides[0]) && near(tap % side, sides[1])).collect()
}

/// Where each pixel goes, if the sides allow it.
fn turned([a, b, c, d]: [isize; 4], [height, width]: [usize; 2]) -> Option<Vec<usize>> {
    if a == 0 && height != width {
        return None;
    }
    // Twice the distance from the centre is whole for even sides too.
    let (tall, wide) = (height as isize - 1, width as isize - 1);
    let place = |p: usize| {
        let (y, x) = (2 * (p / width) as isize - tall, 2 * (p % width) as isize - wide);
        let (y, x) = (a * y + b * x, c * y + d * x);
        isize::midpoint(y, tall) as usize * width + isize::midpoint(x, wide) as usize
    };
    Some((0..height * width).map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_square_has_eight_different_symmetries() {
        for sides in [[3, 3], [4, 4]] {
            let all: Vec<_> = SQUARE.iter().map(|(linear, _)| turned(*linear, sides).unwrap()).collect();
            for (i, a) in all.iter().enumerate() {
                assert!(all[..i].iter().all(|b| a != b));
                let mut sorted = a.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..sides[0] * sides[1]));
            }
        }
        assert!(turned(SQUARE[1].0, [2, 3]).is_none());
        assert_eq!(turned(SQUARE[4].0, [2, 3]).unwrap(), [3, 4, 5, 0, 1, 2]);
    }
}
