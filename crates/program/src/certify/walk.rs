//! From operation to operation.

use invar_algebra::Action;

use super::links::{Gap, Link, Rows as Linked};
use super::matching::{Rows, matched, size};
use super::matrix::Matrix;
use super::moves::Moves;
use super::{Broken, Step, conv, orbit, reduce};
use crate::error::Result;
use crate::op::Op;
use crate::program::{Program, member_shapes};
use crate::run::vector::transposed;
use crate::tensor::Tensor;
use crate::views::Views;

/// What the generator does where the walk is.
#[derive(Clone)]
pub(super) enum State {
    Moves(Moves),
    Matrix(Matrix),
}

/// Behind an operation.
pub(super) struct Behind {
    pub(super) state: State,
    how: String,
    pub(super) link: Link,
}

/// What an operation leaves over: its own weights, or those of its members.
pub(super) enum Trace {
    Gap(Gap),
    Members(Vec<Vec<Trace>>),
}

impl State {
    /// In front of the first operation.
    pub(super) fn of(generator: &Action) -> Self {
        match generator {
            Action::Permutation(p) => Self::Moves(Moves::of(p)),
            Action::Signed(s) => Self::Moves(Moves::of_signed(s)),
            matrix => Matrix::of(matrix).map_or_else(|| Self::Moves(Moves::identity(matrix.len())), Self::Matrix),
        }
    }
}

impl Trace {
    /// Whether all weights were equal to the last bit.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Self::Gap(gap) => gap.is_none(),
            Self::Members(members) => members.iter().flatten().all(Self::is_exact),
        }
    }

    /// The largest difference of weights, as a part of the largest of their row.
    pub(super) fn share(&self) -> f64 {
        match self {
            Self::Gap(gap) => gap.share,
            Self::Members(members) => members.iter().flatten().map(Self::share).fold(0.0, f64::max),
        }
    }
}

/// Follows a generator through the program; weights that differ by at most the part `near` may be meant to be equal.
pub(super) fn walk(program: &Program, shapes: &[Vec<usize>], generator: &Action, near: f64) -> Result<(Way, Option<Broken>)> {
    let mut way = Way { near, steps: Vec::new(), traces: Vec::new() };
    let broken = match way.follow(&program.ops, shapes, program.input.vocabulary(), State::of(generator))? {
        Ok(state) => left_over(program, &state),
        Err(broken) => Some(broken),
    };
    Ok((way, broken))
}

/// Where a walk has been.
pub(super) struct Way {
    near: f64,
    pub(super) steps: Vec<Step>,
    /// One per operation.
    pub(super) traces: Vec<Trace>,
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
            let next = if let Op::Median { members } = op {
                self.median(index, members, &shapes[index], vocabulary.filter(|_| index == 0), &state)?
            } else {
                step(op, &shapes[index], &state, self.near)?
            };
            match next {
                Ok(Behind { state: behind, mut how, link }) => {
                    if !matches!(op, Op::Median { .. }) {
                        let gap = link.gap(op)?;
                        if !gap.is_none() {
                            how = format!("{how}; weights differ by {:.0e} of the largest", gap.share);
                        }
                        self.traces.push(Trace::Gap(gap));
                    }
                    self.steps.push(Step { op: index, name: op.name().to_owned(), how });
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
    ) -> Result<std::result::Result<Behind, String>> {
        let (mut end, mut traces) = (None, Vec::new());
        for (k, ops) in members.iter().enumerate() {
            let mut way = Self { near: self.near, steps: Vec::new(), traces: Vec::new() };
            let shapes = member_shapes(shape, vocabulary, ops)?;
            let moves = match way.follow(ops, &shapes, vocabulary, state.clone())? {
                Ok(State::Moves(moves)) => moves,
                Ok(State::Matrix(_)) => return Ok(Err(format!("member {k} does not absorb the matrix"))),
                Err(Broken { op, name, reason }) => return Ok(Err(format!("member {k}, operation {op} ({name}): {reason}"))),
            };
            let inside = |Step { op, name, how }: Step| Step { op: index, name: format!("member {k}, {op} {name}"), how };
            self.steps.extend(way.steps.into_iter().map(inside));
            traces.push(way.traces);
            match &end {
                Some(first) if *first != moves => return Ok(Err(format!("member {k} does not end like the first"))),
                _ => end = Some(moves),
            }
        }
        let Some(moves) = end else { return Ok(Err("it has no members".into())) };
        let how = format!("all {} members end alike; {}", members.len(), moves.describe());
        self.traces.push(Trace::Members(traces));
        Ok(Ok(Behind { state: State::Moves(moves), how, link: Link::Free }))
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

/// One operation that is no median, or why it does not follow.
pub(super) fn step(op: &Op, shape: &[usize], state: &State, near: f64) -> Result<std::result::Result<Behind, String>> {
    match state {
        State::Moves(moves) => moved(op, shape, moves, near),
        State::Matrix(matrix) => mixed(op, shape, matrix, near),
    }
}

/// A matrix before an operation.
fn mixed(op: &Op, shape: &[usize], matrix: &Matrix, near: f64) -> Result<std::result::Result<Behind, String>> {
    Ok(match op {
        Op::Linear { weight, .. } => matrix.absorbed(weight, near).map(|gap| {
            let how = "absorbs the matrix: w R = w for all weights".into();
            Behind { state: State::Moves(Moves::identity(weight.shape[0])), how, link: Link::Known(gap) }
        }),
        Op::Orbit { views, .. } => {
            let views = Views::on(shape, views)?;
            orbit::through(&views, matrix, near)
                .map(|(elements, gap)| passed(elements.widened(inner_width(op, shape)), Link::Known(gap)))
        }
        op => matrix.passes(op, near).map(|gap| {
            let how = "lets the matrix through".into();
            Behind { state: State::Matrix(matrix.clone()), how, link: Link::Known(gap) }
        }),
    })
}

/// Moves of entries behind an operation.
fn passed(moves: Moves, link: Link) -> Behind {
    Behind { how: moves.describe(), state: State::Moves(moves), link }
}

/// Moves of entries before an operation.
fn moved(op: &Op, shape: &[usize], moves: &Moves, near: f64) -> Result<std::result::Result<Behind, String>> {
    let as_is = |link: Link| passed(moves.clone(), link);
    let signs = || if moves.changes_signs() { Err("a change of sign does not pass through it".to_owned()) } else { Ok(()) };
    Ok(match op {
        Op::Gather { .. } if moves.changes_signs() => Err("tokens have no sign to change".into()),
        Op::Gather { table } => Ok(passed(moves.widened(table.shape[1]), Link::Free)),
        Op::Normalise { mean, scale } => normalised(mean, scale, moves, near).map(|()| as_is(Link::Channels(moves.clone()))),
        Op::Reshape { .. } => Ok(as_is(Link::Free)),
        Op::Transpose { order } => Ok(passed(moves.reordered(&transposed(shape, order)), Link::Free)),
        Op::Linear { weight, bias } => row_by_row(weight, bias.as_ref(), moves, near),
        Op::Conv { filters, bias } => conv::follow(filters, bias.as_ref(), shape, moves, near).map(|(behind, rows, turn)| {
            let how = format!("filters follow {turn}; {}", behind.describe());
            Behind { state: State::Moves(behind), how, link: Link::Rows(rows) }
        }),
        Op::BatchNorm { .. } => {
            let alike = || op.tensors().iter().try_for_each(|(_, tensor)| per_channel(&tensor.values, moves, near));
            signs().and_then(|()| alike()).map(|()| as_is(Link::Channels(moves.clone())))
        }
        Op::Activate { activation } if activation.is_odd() => Ok(as_is(Link::Free)),
        Op::Activate { .. } => signs().map(|()| as_is(Link::Free)),
        Op::MaxPool { .. } | Op::GroupMax { .. } | Op::SumChannels | Op::PoolSpace { .. } | Op::PoolRows { .. } => {
            reduce::follow(op, shape, moves).map(|moves| passed(moves, Link::Free))
        }
        Op::Orbit { views, .. } => {
            let views = Views::on(shape, views)?;
            orbit::follow(&views, moves, near)
                .map(|(elements, gap)| passed(elements.widened(inner_width(op, shape)), Link::Known(gap)))
        }
        // The walk goes into its members instead, and orbits have none.
        Op::Median { .. } => Err("it is no step of its own".into()),
    })
}

/// Through a dense layer of a vector, or of every row of a matrix: then moves of rows and of what is in a row pass apart.
fn row_by_row(weight: &Tensor, bias: Option<&Tensor>, moves: &Moves, near: f64) -> std::result::Result<Behind, String> {
    let width = weight.shape[1];
    let weights = Rows { values: &weight.values, width, bias: bias.map(|bias| bias.values.as_slice()) };
    let linked = |columns: Moves, outputs: Moves| {
        Link::Rows(Linked { columns, outputs, place: (0..width).collect(), input: (0..width).collect() })
    };
    if moves.len() == width {
        let outputs = matched(&weights, moves, near)?;
        return Ok(passed(outputs.clone(), linked(moves.clone(), outputs)));
    }
    let Some((rows, within)) = moves.split(width) else {
        return Err("what moves within a row differs from row to row".into());
    };
    if rows.changes_signs() {
        return Err("a change of sign of whole rows does not pass through it".into());
    }
    if within.iter().enumerate().all(|(i, &to)| i == to) {
        return Ok(passed(rows.widened(weights.outputs()), Link::Free));
    }
    let columns = Moves { negative: vec![false; within.len()], to: within };
    let outputs = matched(&weights, &columns, near)?;
    if outputs.changes_signs() {
        return Err("a change of sign of whole rows does not pass through it".into());
    }
    Ok(passed(Moves::product(&rows, &outputs.to), linked(columns, outputs)))
}

/// Parameters of channels, or of blocks of equally many entries, that go to each other must be equal.
fn per_channel(values: &[f32], moves: &Moves, near: f64) -> std::result::Result<(), String> {
    let (each, largest) = (moves.len() / values.len(), size(values));
    for (i, &to) in moves.to.iter().enumerate() {
        let (a, b) = (i / each, to / each);
        if (f64::from(values[a]) - f64::from(values[b])).abs() > near * largest {
            return Err(format!("{a} goes to {b}, but their parameters are {} and {}", values[a], values[b]));
        }
    }
    Ok(())
}

fn normalised(mean: &Tensor, scale: &Tensor, moves: &Moves, near: f64) -> std::result::Result<(), String> {
    if moves.changes_signs() && size(&mean.values) > 0.0 {
        return Err("a change of sign does not pass through it: a mean is subtracted".into());
    }
    per_channel(&mean.values, moves, near)?;
    per_channel(&scale.values, moves, near)
}

/// The number of values that an orbit has for each element.
fn inner_width(op: &Op, shape: &[usize]) -> usize {
    let Op::Orbit { ops, .. } = op else { return 1 };
    let last = ops.iter().try_fold(shape.to_vec(), |shape, op| op.output(&shape));
    last.map_or(1, |shape| shape.iter().product())
}
