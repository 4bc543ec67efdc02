//! From a trained network to a plain program: bases multiplied out, filters expanded, dropout gone.

mod pairs;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};
use invar_program::{Input, Op, Pooling, Program};

use crate::averaged::Averaged;
use crate::baselines::Plain;
use crate::batch_norm::{BatchNorm, EPSILON};
use crate::cg_head::CgHead;
use crate::cg_linear::CgLinear;
use crate::cnn::{Cnn, Conv, Filters, Pool};
use crate::directions::SYMMETRIES;
use crate::feed_forward::CgFeedForward;
use crate::lift::{Lift, POOLED};
use crate::orbit::{Inner, Orbit};
use crate::{Activation, Error, Network, Result};

/// Writes a network down as a program for inputs of this kind and size, with the statistics of evaluation. Baselines that
/// attend or recur have no program.
pub fn lower(network: &Network, input: &Input) -> Result<Program> {
    // Weights may still sit on the device of training.
    let ops = operations(&network.valid(), input)?;
    Program::new(input.clone(), ops).map_err(lowered)
}

fn operations(network: &Network, input: &Input) -> Result<Vec<Op>> {
    match network {
        Network::Cg(model) => feed_forward(model, input),
        Network::Plain(model) => plain(model),
        Network::Cnn(model) => cnn(model, input),
        Network::Lift(model) => lift(model, input),
        Network::Orbit(model) => orbit(model, input),
        Network::Pairs(model) => pairs::operations(model),
        Network::Averaged(model) => averaged(model),
        Network::Transformer(_) => no_program("a transformer"),
        Network::Gru(_) => no_program("a recurrent network"),
        Network::DeepSets(_) => no_program("DeepSets"),
        Network::Janossy(_) => no_program("Janossy pooling"),
        Network::SetTransformer(_) => no_program("a set transformer"),
    }
}

fn no_program<T>(model: &str) -> Result<T> {
    Err(Error::Lower(format!("{model} is a baseline, and has no program")))
}

#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
fn lowered(error: invar_program::Error) -> Error {
    Error::Lower(error.to_string())
}

/// A tensor as weights of an operation.
fn weights<const D: usize>(tensor: Tensor<D>) -> Result<invar_program::Tensor> {
    let shape = tensor.dims();
    let values = tensor.into_data().try_to_vec::<f32>();
    let failed = |message: String| Error::Backend { operation: "reading weights", message };
    let values = values.map_err(|error| failed(format!("{error:?}")))?;
    invar_program::Tensor::new(shape, values).map_err(lowered)
}

/// Examples as one long vector.
fn flat(entries: usize) -> Op {
    Op::Reshape { shape: vec![entries] }
}

fn relu() -> Op {
    Op::Activate { activation: invar_program::Activation::Relu }
}

fn activate(of: Activation) -> Option<Op> {
    let activation = match of {
        Activation::Identity => return None,
        Activation::Relu => invar_program::Activation::Relu,
        Activation::LeakyRelu => invar_program::Activation::LeakyRelu,
        Activation::Gelu => invar_program::Activation::Gelu,
        Activation::Sigmoid => invar_program::Activation::Sigmoid,
        Activation::Tanh => invar_program::Activation::Tanh,
    };
    Some(Op::Activate { activation })
}

fn linear(layer: &Linear) -> Result<Op> {
    let bias = layer.bias.as_ref().map(|bias| weights(bias.val())).transpose()?;
    Ok(Op::Linear { weight: weights(layer.weight.val().transpose())?, bias })
}

fn conv(filters: Tensor<4>) -> Result<Op> {
    Ok(Op::Conv { filters: weights(filters)?, bias: None })
}

/// A batch norm whose parameters serve `each` channels side by side.
fn batch_norm(norm: &BatchNorm, each: usize) -> Result<Op> {
    let repeated = |values: Tensor<1>| -> Result<invar_program::Tensor> {
        let values = weights(values)?.values;
        Ok(invar_program::Tensor::vector(values.iter().flat_map(|&value| std::iter::repeat_n(value, each)).collect()))
    };
    Ok(Op::BatchNorm {
        gamma: repeated(norm.gamma.val())?,
        beta: repeated(norm.beta.val())?,
        mean: repeated(norm.mean.val())?,
        variance: repeated(norm.variance.val())?,
        epsilon: EPSILON as f32,
    })
}

/// Max pooling of an image with these sides, and the sides that are left.
fn max_pool(pool: Option<Pool>, sides: [usize; 2]) -> (Option<Op>, [usize; 2]) {
    match pool.and_then(|pool| pool.window(sides)) {
        Some(window) => {
            let left = std::array::from_fn(|i| sides[i].saturating_sub(window.size[i]) / window.stride[i] + 1);
            (Some(Op::MaxPool { window: window.size, stride: window.stride }), left)
        }
        None => (None, sides),
    }
}

fn images(input: &Input, model: &'static str) -> Result<[usize; 2]> {
    match input {
        Input::Images { height, width, .. } => Ok([*height, *width]),
        other => Err(Error::Input { model, expected: "images", got: other.kind() }),
    }
}

/// The CG layer on positions x features that lie one after the other, and its activation.
fn cg(layer: &CgLinear) -> Result<Vec<Op>> {
    Ok(std::iter::once(linear(&layer.fold())?).chain(activate(layer.activation())).collect())
}

fn feed_forward(model: &CgFeedForward, input: &Input) -> Result<Vec<Op>> {
    let mut ops = Vec::new();
    if let Some(front) = &model.front {
        // A function of one token: computed once for every entry of the vocabulary.
        let table = activation::relu(front.phi.forward(front.embedding.table.val()));
        let table = if model.cg.features() == 1 { table.sum_dim(1) } else { table };
        ops.push(Op::Gather { table: weights(table)? });
    } else if let Input::Tokens { .. } = input {
        return Err(Error::Input { model: "this CG network", expected: "arrays", got: "tokens" });
    }
    ops.push(flat(model.cg.positions() * model.cg.features()));
    ops.extend(cg(&model.cg)?);
    if let Some(hidden) = &model.hidden {
        ops.extend([linear(hidden)?, relu()]);
    }
    ops.push(linear(&model.output)?);
    Ok(ops)
}

fn plain(model: &Plain) -> Result<Vec<Op>> {
    let gather = model.embedding.as_ref().map(|embedding| weights(embedding.table.val())).transpose()?;
    let mut ops: Vec<Op> = gather.into_iter().map(|table| Op::Gather { table }).collect();
    ops.extend([flat(model.first.weight.dims()[0]), linear(&model.first)?, relu()]);
    ops.extend([linear(&model.rho.hidden)?, relu(), linear(&model.rho.output)?]);
    Ok(ops)
}

fn cnn(model: &Cnn, input: &Input) -> Result<Vec<Op>> {
    let mut sides = images(input, "this convolutional network")?;
    let mut ops = Vec::new();
    if model.config.filters == Filters::P4m {
        ops.push(Op::SumChannels);
    }
    for block in &model.blocks {
        match &block.conv {
            Conv::Plain(layer) => ops.push(conv(layer.filters.val())?),
            Conv::Cg(layer) => ops.push(conv(layer.filters())?),
            Conv::Coset(layer) => ops.extend([conv(layer.expanded())?, Op::GroupMax { size: SYMMETRIES }]),
        }
        let (pool, left) = max_pool(block.pool, sides);
        ops.extend([batch_norm(&block.norm, 1)?, relu()]);
        ops.extend(pool);
        sides = left;
    }
    ops.push(Op::PoolSpace { pooling: Pooling::Sum });
    if let Some(hidden) = &model.hidden {
        ops.extend([linear(hidden)?, relu()]);
    }
    ops.push(linear(&model.output)?);
    Ok(ops)
}

fn lift(model: &Lift, input: &Input) -> Result<Vec<Op>> {
    let mut sides = images(input, "this lifted network")?;
    let mut ops = vec![conv(model.entry.expanded())?];
    for (i, norm) in model.norms.iter().enumerate() {
        // The eight directions of a channel share their parameters.
        let (pool, left) = max_pool((i < POOLED).then_some(Pool::Symmetric), sides);
        ops.extend([batch_norm(norm, SYMMETRIES)?, relu()]);
        ops.extend(pool);
        sides = left;
        if let Some(layer) = model.convs.get(i) {
            ops.push(conv(layer.expanded())?);
        }
    }
    ops.push(Op::PoolSpace { pooling: Pooling::Mean });
    if let Some(norm) = &model.pooled_norm {
        ops.extend([batch_norm(norm, SYMMETRIES)?, relu()]);
    }
    let features = model.head.cg.features();
    ops.extend([Op::Reshape { shape: vec![features, SYMMETRIES] }, Op::Transpose { order: vec![1, 0] }]);
    ops.extend(head(&model.head)?);
    Ok(ops)
}

/// The head behind elements x features.
fn head(head: &CgHead) -> Result<Vec<Op>> {
    let mut ops = vec![flat(head.cg.positions() * head.cg.features())];
    ops.extend(cg(&head.cg)?);
    if let Some(hidden) = &head.hidden {
        ops.extend([linear(hidden)?, relu()]);
    }
    ops.push(linear(&head.output)?);
    Ok(ops)
}

fn orbit(model: &Orbit, input: &Input) -> Result<Vec<Op>> {
    let inner = match &model.inner {
        Inner::Dense(f) => plain(f)?,
        Inner::Images(f) => cnn(f, input)?,
    };
    let views = model.views.tensor(model.elements()).map_err(lowered)?;
    let mut ops = vec![Op::Orbit { views, ops: inner }];
    ops.extend(head(&model.head)?);
    Ok(ops)
}

/// Every view, then the sum over all of them; what it is divided by is part of the last weights.
fn averaged(model: &Averaged) -> Result<Vec<Op>> {
    let mut inner = plain(&model.inner)?;
    if model.elements == 1 {
        return Ok(inner);
    }
    let Some(Op::Linear { weight, bias }) = inner.last_mut() else {
        return Err(Error::Lower("a network that is averaged ends with a dense layer".into()));
    };
    let (outputs, share) = (weight.shape[0], 1.0 / model.elements as f32);
    for value in weight.values.iter_mut().chain(bias.iter_mut().flat_map(|bias| &mut bias.values)) {
        *value *= share;
    }
    let views = model.views.tensor(model.elements).map_err(lowered)?;
    let all = invar_program::Tensor::vector(vec![0.0; model.elements]);
    let none = invar_program::Tensor::vector(vec![-1.0; model.elements]);
    Ok(vec![
        Op::Orbit { views, ops: inner },
        Op::Reshape { shape: vec![model.elements, outputs] },
        Op::PoolRows { sums: all, largest: none },
    ])
}

#[cfg(test)]
#[path = "lower_tests.rs"]
mod tests;
