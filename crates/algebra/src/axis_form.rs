//! What a permutation of a tensor does to its axes, when that says it all.

use crate::action::Action;
use crate::permutation::Permutation;
use crate::shape::Shape;

/// What an action does to the axes: axis a goes to axis `to[a]`, index i to `index[a][i]`.
pub(crate) struct AxisForm {
    pub(crate) to: Vec<usize>,
    pub(crate) index: Vec<Vec<u32>>,
    pub(crate) negative: bool,
}

impl AxisForm {
    /// Reads the form off the images of one corner and its neighbours, then checks it on every entry.
    pub(crate) fn of(shape: &Shape, action: &Action) -> Option<Self> {
        let (permutation, negative) = match action {
            Action::Permutation(p) => (p, false),
            Action::Signed(s) if s.negative().iter().all(|&minus| minus) => (s.permutation(), true),
            _ => return None,
        };
        let axes = shape.axes();
        let (mut from, mut corner, mut image) = (vec![0; axes], vec![0; axes], vec![0; axes]);
        shape.unflat(permutation.image(0), &mut corner);
        let mut form = Self { to: (0..axes).collect(), index: Vec::with_capacity(axes), negative };
        for axis in 0..axes {
            let mut to = None;
            let mut index = vec![0; shape.side(axis)];
            for (i, place) in index.iter_mut().enumerate().skip(1) {
                from.fill(0);
                from[axis] = i;
                shape.unflat(permutation.image(shape.flat(&from)), &mut image);
                let mut changed = (0..axes).filter(|&b| image[b] != corner[b]);
                let (b, None) = (changed.next()?, changed.next()) else { return None };
                if *to.get_or_insert(b) != b || shape.side(b) != shape.side(axis) {
                    return None;
                }
                *place = image[b] as u32;
            }
            form.to[axis] = to.unwrap_or(axis);
            index[0] = corner[form.to[axis]] as u32;
            form.index.push(index);
        }
        let mut agrees = |entry: usize| {
            shape.unflat(entry, &mut from);
            for axis in 0..axes {
                image[form.to[axis]] = form.index[axis][from[axis]] as usize;
            }
            shape.flat(&image) == permutation.image(entry)
        };
        (0..shape.len()).all(&mut agrees).then_some(form)
    }
}

/// An action in words: "mirror axis 1", "axis 1 to axis 2, axis 2 to axis 1 reversed", or cycles when axes do not tell it.
pub(crate) fn describe(shape: &Shape, action: &Action) -> String {
    let Some(form) = AxisForm::of(shape, action) else {
        return action.to_string();
    };
    let mut words: Vec<String> = Vec::new();
    for axis in 0..shape.axes() {
        let index = &form.index[axis];
        if form.to[axis] != axis {
            let how = moved(index).map_or(String::new(), |how| format!(", {how}"));
            words.push(format!("axis {axis} to axis {}{how}", form.to[axis]));
        } else if let Some(how) = moved(index) {
            words.push(format!("axis {axis} {how}"));
        }
    }
    if form.negative {
        words.push("every sign changed".into());
    }
    if words.is_empty() { "identity".into() } else { words.join("; ") }
}

/// How the indices of one axis move; none when they stay.
fn moved(index: &[u32]) -> Option<String> {
    let n = index.len();
    let permutation = Permutation::new(index.to_vec()).ok()?;
    if permutation.is_identity() {
        return None;
    }
    if let Some((i, j)) = permutation.transposition() {
        return Some(format!("swaps {i} and {j}"));
    }
    if (0..n).all(|i| permutation.image(i) == n - 1 - i) {
        return Some("mirrored".into());
    }
    let by = permutation.image(0);
    if (0..n).all(|i| permutation.image(i) == (n + by - i) % n) {
        return Some(format!("mirrored and shifted by {}", (by + 1) % n));
    }
    if (0..n).all(|i| permutation.image(i) == (i + by) % n) {
        return Some(format!("shifted by {by}"));
    }
    Some(format!("permuted by {permutation}"))
}

#[cfg(test)]
mod tests {
    use crate::builtin::candidates;

    #[test]
    fn actions_in_words() {
        for (shape, group, expected) in [
            ("3x28x28", "rot90(1,2)", "axis 1 to axis 2; axis 2 to axis 1, mirrored"),
            ("3x28x28", "flip(1)", "axis 1 mirrored"),
            ("3x28x28", "shift(2)", "axis 2 shifted by 1"),
            ("3x4", "swap(1;0,3)", "axis 1 swaps 0 and 3"),
            ("3x3", "negate", "every sign changed"),
            ("4x4", "nodes(0,1)", "axis 0 swaps 0 and 1; axis 1 swaps 0 and 1"),
            ("2x2", "generators([[1,2,0,3]])", "(0 1 2)"),
            ("5", "generators([[1,0,4,3,2]])", "axis 0 mirrored and shifted by 2"),
            ("5", "generators([[2,0,1,3,4]])", "axis 0 permuted by (0 2 1)"),
        ] {
            let group = candidates(&shape.parse().unwrap(), [group]).unwrap().remove(0);
            assert_eq!(group.describe(&group.generators()[0]), expected);
        }
    }
}
