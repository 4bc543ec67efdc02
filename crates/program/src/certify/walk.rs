//! From operation to operation.

use invar_algebra::Action;

use super::matching::{Rows, matched, relative, size};
use super::matrix::Matrix;
use super::moves::Moves;
use super::{Broken, Proof, Step, conv, orbit, reduce};
use crate::error::Result;
use crate::op::Op;
use crate::program::{Program, member_shapes};
use crate::run::vector::{affine, transposed};
use crate::tensor::Tensor;
use crate::views::Views;

/// What the generator does where the walk is.
#[derive(Clone)]
enum State {
    Moves(Moves),
    Matrix(Matrix),
}

/// The state behind an operation, how it got there, and the largest difference met; or why it does not get there.
type Next = std::result::Result<(State, String, f64), String>;

/// Follows a generator through the program. The caller adds what the generator is called.
pub(super) fn walk(program: &Program, shapes: &[Vec<usize>], generator: &Action) -> Result<Proof> {
    let state = match generator {
        Action::Permutation(p) => State::Moves(Moves::of(p)),
        Action::Signed(s) => State::Moves(Moves::of_signed(s)),
        matrix => Matrix::of(matrix).map_or_else(|| State::Moves(Moves::identity(matrix.len())), State::Matrix),
    };
    let mut way = Way::default();
    let broken = match way.follow(&program.ops, shapes, program.input.vocabulary(), state)? {
        Ok(state) => left_over(program, &state),
        Err(broken) => Some(broken),
    };
    Ok(Proof { generator: String::new(), steps: way.steps, broken, largest_difference: way.difference })
}

/// Where a walk has been.
#[derive(Default)]
struct Way {
    steps: Vec<Step>,
    /// The largest met.
    difference: f64,
}

impl Way {
    /// The state behind the last operation, or the first that does not follow.
    fn follow(
        &mut self,
        ops: &[Op],
        shapes: &[Vec<usize>],
        vocabulary: Option<usize>,
        mut state: State,
    ) -> Result<std::result::Result<State, Broken>> {
        for (index, op) in ops.iter().enumerate() {
            let next = match (op, &state) {
                (Op::Median { members }, _) => {
                    self.median(index, members, &shapes[index], vocabulary.filter(|_| index == 0), &state)?
                }
                (_, State::Moves(moves)) => step(op, &shapes[index], moves)?,
                (_, State::Matrix(matrix)) => through(op, &shapes[index], matrix)?,
            };
            match next {
                Ok((behind, how, difference)) => {
                    self.steps.push(Step { op: index, name: op.name().to_owned(), how });
                    self.difference = self.difference.max(difference);
                    state = behind;
                }
                Err(reason) => return Ok(Err(Broken { op: index, name: op.name().to_owned(), reason })),
            }
        }
        Ok(Ok(state))
    }

    /// The median follows when all members do, and end alike. (What is in the middle stays there when all change sign.)
    fn median(
        &mut self,
        index: usize,
        members: &[Vec<Op>],
        shape: &[usize],
        vocabulary: Option<usize>,
        state: &State,
    ) -> Result<Next> {
        let (mut end, mut difference) = (None, 0.0f64);
        for (k, ops) in members.iter().enumerate() {
            let mut way = Self::default();
            let shapes = member_shapes(shape, vocabulary, ops)?;
            let moves = match way.follow(ops, &shapes, vocabulary, state.clone())? {
                Ok(State::Moves(moves)) => moves,
                Ok(State::Matrix(_)) => return Ok(Err(format!("member {k} does not absorb the matrix"))),
                Err(Broken { op, name, reason }) => return Ok(Err(format!("member {k}, operation {op} ({name}): {reason}"))),
            };
            difference = difference.max(way.difference);
            let inside = |Step { op, name, how }: Step| Step { op: index, name: format!("member {k}, {op} {name}"), how };
            self.steps.extend(way.steps.into_iter().map(inside));
            match &end {
                Some(first) if *first != moves => return Ok(Err(format!("member {k} does not end like the first"))),
                _ => end = Some(moves),
            }
        }
        let Some(moves) = end else { return Ok(Err("it has no members".into())) };
        let how = format!("all {} members end alike; {}", members.len(), moves.describe());
        Ok(Ok((State::Moves(moves), how, difference)))
    }
}

/// Outputs must stay where they are.
fn left_over(program: &Program, state: &State) -> Option<Broken> {
    let reason = match state {
        State::Moves(moves) if moves.is_identity() => return None,
        State::Moves(moves) => format!("the outputs move: {}", moves.describe()),
        State::Matrix(_) => "the outputs are mixed by the matrix".into(),
    };
    let name = program.ops.last().map_or("input", Op::name).to_owned();
    Some(Broken { op: program.ops.len().saturating_sub(1), name, reason })
}

/// A matrix before an operation.
fn through(op: &Op, shape: &[usize], matrix: &Matrix) -> Result<Next> {
    let next = match op {
        Op::Linear { weight, .. } => matrix.absorbed(weight).map(|difference| {
            let how = "absorbs the matrix: w R = w for all weights";
            (State::Moves(Moves::identity(weight.shape[0])), how.into(), difference)
        }),
        Op::Orbit { views, .. } => {
            let views = Views::on(shape, views)?;
            orbit::through(&views, matrix).map(|(elements, difference)| {
                let moves = elements.widened(inner_width(op, shape));
                let how = moves.describe();
                (State::Moves(moves), how, difference)
            })
        }
        op => matrix.passes(op).map(|difference| (State::Matrix(matrix.clone()), "lets the matrix through".into(), difference)),
    };
    Ok(next)
}

/// Moves of entries before an operation.
fn step(op: &Op, shape: &[usize], moves: &Moves) -> Result<Next> {
    let passed = |moves: Moves, difference: f64| {
        let how = moves.describe();
        Ok((State::Moves(moves), how, difference))
    };
    let signs = |moves: &Moves| {
        if moves.changes_signs() { Err("a change of sign does not pass through it".to_owned()) } else { Ok(()) }
    };
    Ok(match op {
        Op::Gather { .. } if moves.changes_signs() => Err("tokens have no sign to change".into()),
        Op::Gather { table } => passed(moves.widened(table.shape[1]), 0.0),
        Op::Normalise { mean, scale } => normalised(mean, scale, moves).and_then(|difference| passed(moves.clone(), difference)),
        Op::Reshape { .. } => passed(moves.clone(), 0.0),
        Op::Transpose { order } => passed(moves.reordered(&transposed(shape, order)), 0.0),
        Op::Linear { weight, bias } => {
            let bias = bias.as_ref().map(|bias| bias.values.as_slice());
            let rows = Rows { values: &weight.values, width: weight.shape[1], bias };
            row_by_row(&rows, moves).and_then(|(moves, difference)| passed(moves, difference))
        }
        Op::Conv { filters, bias } => conv::follow(filters, bias.as_ref(), shape, moves).map(|((moves, difference), turn)| {
            let how = format!("filters follow {turn}; {}", moves.describe());
            (State::Moves(moves), how, difference)
        }),
        Op::BatchNorm { .. } => {
            let (scale, shift) = affine(op)?;
            let alike = signs(moves).and_then(|()| Ok(per_channel(&scale, moves)?.max(per_channel(&shift, moves)?)));
            alike.and_then(|difference| passed(moves.clone(), difference))
        }
        Op::Activate { activation } if activation.is_odd() => passed(moves.clone(), 0.0),
        Op::Activate { .. } => signs(moves).and_then(|()| passed(moves.clone(), 0.0)),
        Op::MaxPool { .. } | Op::GroupMax { .. } | Op::SumChannels | Op::PoolSpace { .. } | Op::PoolRows { .. } => {
            reduce::follow(op, shape, moves).and_then(|moves| passed(moves, 0.0))
        }
        Op::Orbit { views, .. } => {
            let views = Views::on(shape, views)?;
            orbit::follow(&views, moves)
                .and_then(|(elements, difference)| passed(elements.widened(inner_width(op, shape)), difference))
        }
        // The walk goes into its members instead, and orbits have none.
        Op::Median { .. } => Err("it is no step of its own".into()),
    })
}

/// Through a dense layer of a vector, or of every row of a matrix: then moves of rows and of what is in a row pass apart.
fn row_by_row(weights: &Rows<'_>, moves: &Moves) -> std::result::Result<(Moves, f64), String> {
    if moves.len() == weights.width {
        return matched(weights, moves);
    }
    let Some((rows, within)) = moves.split(weights.width) else {
        return Err("what moves within a row differs from row to row".into());
    };
    if within.iter().enumerate().all(|(i, &to)| i == to) {
        return Ok((rows.widened(weights.outputs()), 0.0))
            .and_then(|all| if rows.changes_signs() { Err(SIGNS.into()) } else { Ok(all) });
    }
    let (columns, difference) = matched(weights, &Moves { negative: vec![false; within.len()], to: within })?;
    if rows.changes_signs() || columns.changes_signs() {
        return Err(SIGNS.into());
    }
    Ok((Moves::product(&rows, &columns.to), difference))
}

/// Why signs of rows end a walk.
const SIGNS: &str = "a change of sign of whole rows does not pass through it";

/// Parameters of channels, or of blocks of equally many entries, that go to each other must be equal.
fn per_channel(values: &[f32], moves: &Moves) -> std::result::Result<f64, String> {
    let (each, largest) = (moves.len() / values.len(), size(values));
    let mut worst = 0.0f64;
    for (i, &to) in moves.to.iter().enumerate() {
        let (a, b) = (i / each, to / each);
        let Some(difference) = relative(values[a], values[b], largest) else {
            return Err(format!("{a} goes to {b}, but their parameters are {} and {}", values[a], values[b]));
        };
        worst = worst.max(difference);
    }
    Ok(worst)
}

fn normalised(mean: &Tensor, scale: &Tensor, moves: &Moves) -> std::result::Result<f64, String> {
    if moves.changes_signs() && size(&mean.values) > 0.0 {
        return Err("a change of sign does not pass through it: a mean is subtracted".into());
    }
    Ok(per_channel(&mean.values, moves)?.max(per_channel(&scale.values, moves)?))
}

/// The number of values that an orbit has for each element.
fn inner_width(op: &Op, shape: &[usize]) -> usize {
    let Op::Orbit { ops, .. } = op else { return 1 };
    let last = ops.iter().try_fold(shape.to_vec(), |shape, op| op.output(&shape));
    last.map_or(1, |shape| shape.iter().product())
}
