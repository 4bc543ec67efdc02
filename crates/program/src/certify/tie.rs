//! Weights that are equal but for rounding, made equal.
//!
//! A network keeps a symmetry through weights that are equal in exact arithmetic, but are computed one by one: as sums over bases,
//! in orders that differ. The walk knows which of them must be equal. All entries that go to each other under any generator get
//! one value, bit for bit, so that the proof needs no tolerance.

use invar_algebra::Group;

use super::tolerance::ROUNDING;
use super::walk::{State, Trace, step, walk};
use crate::error::Result;
use crate::op::Op;
use crate::program::{Program, member_shapes};

/// The program with weights that the symmetries of these groups make equal, but for rounding, equal to the last bit. Groups that
/// it is not invariant to change nothing.
pub fn tied(mut program: Program, groups: &[Group]) -> Result<Program> {
    let shapes = program.shapes()?;
    let (mut states, mut all_exact) = (Vec::new(), true);
    for generator in groups.iter().flat_map(Group::generators) {
        // Those that hold exactly are among them: they must go on to do so.
        if let (way, None) = walk(&program, &shapes, generator, ROUNDING)? {
            all_exact &= way.traces.iter().all(Trace::is_exact);
            states.push(State::of(generator));
        }
    }
    if all_exact {
        return Ok(program);
    }
    let vocabulary = program.input.vocabulary();
    list(&mut program.ops, &shapes, vocabulary, states)?;
    program.check()?;
    Ok(program)
}

/// Ties one operation after the other; the states behind the last.
fn list(ops: &mut [Op], shapes: &[Vec<usize>], vocabulary: Option<usize>, mut states: Vec<State>) -> Result<Vec<State>> {
    for (index, op) in ops.iter_mut().enumerate() {
        if let Op::Median { members } = op {
            let mut behind = Vec::new();
            for ops in members {
                let vocabulary = vocabulary.filter(|_| index == 0);
                let shapes = member_shapes(&shapes[index], vocabulary, ops)?;
                behind = list(ops, &shapes, vocabulary, states.clone())?;
            }
            states = behind;
            continue;
        }
        let mut classes: Vec<Classes> = op.tensors().iter().map(|(_, tensor)| Classes::new(tensor.values.len())).collect();
        let mut behind = Vec::with_capacity(states.len());
        for state in &states {
            // A walk went this way before.
            if let Ok(next) = step(op, &shapes[index], state, ROUNDING)? {
                next.link.pairs(op, |tensor, a, b, negative| classes[tensor].join(a, b, negative));
                behind.push(next.state);
            }
        }
        for (tensor, classes) in op.tensors_mut().into_iter().zip(&mut classes) {
            classes.level(&mut tensor.values);
        }
        states = behind;
    }
    Ok(states)
}

/// Entries that are equal, up to sign.
struct Classes {
    /// For each entry another of its class, and whether with its sign changed; a representative has itself.
    parent: Vec<(usize, bool)>,
    /// Representatives of classes whose entries are their own negatives.
    zero: Vec<bool>,
}

impl Classes {
    fn new(count: usize) -> Self {
        Self { parent: (0..count).map(|i| (i, false)).collect(), zero: vec![false; count] }
    }

    fn find(&mut self, entry: usize) -> (usize, bool) {
        let (mut at, mut negative) = (entry, false);
        while self.parent[at].0 != at {
            let (above, minus) = self.parent[at];
            // Half of the way is cut each time.
            let (top, more) = self.parent[above];
            self.parent[at] = (top, minus ^ more);
            negative ^= minus ^ more;
            at = top;
        }
        (at, negative)
    }

    fn join(&mut self, a: usize, b: usize, negative: bool) {
        let ((top_a, minus_a), (top_b, minus_b)) = (self.find(a), self.find(b));
        let minus = minus_a ^ minus_b ^ negative;
        if top_a == top_b {
            self.zero[top_a] |= minus;
            return;
        }
        let (low, high) = (top_a.min(top_b), top_a.max(top_b));
        self.parent[high] = (low, minus);
        self.zero[low] |= self.zero[high];
    }

    /// Gives every class its mean, which is the value itself where all are equal.
    fn level(&mut self, values: &mut [f32]) {
        let mut sums = vec![(0.0f64, 0usize); values.len()];
        let found: Vec<(usize, bool)> = (0..values.len()).map(|entry| self.find(entry)).collect();
        for (&(top, negative), &value) in found.iter().zip(values.iter()) {
            sums[top].0 += if negative { -f64::from(value) } else { f64::from(value) };
            sums[top].1 += 1;
        }
        for (&(top, negative), value) in found.iter().zip(values) {
            let (sum, count) = sums[top];
            if count > 1 || self.zero[top] {
                let mean = if self.zero[top] { 0.0 } else { (sum / count as f64) as f32 };
                *value = if negative { -mean } else { mean };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_get_one_value_with_their_signs() {
        let mut classes = Classes::new(6);
        classes.join(0, 1, false);
        classes.join(1, 2, true);
        classes.join(3, 4, false);
        classes.join(4, 3, true);
        let mut values = [1.0, 1.5, -2.0, 0.1, 0.1, 7.0];
        classes.level(&mut values);
        assert_eq!(values.to_vec(), [1.5, 1.5, -1.5, 0.0, 0.0, 7.0]);
    }
}
