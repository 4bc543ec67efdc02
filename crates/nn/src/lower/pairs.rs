//! The network on pairs of entries as operations.

use burn::tensor::activation;
use invar_program::{Op, Tensor};

use super::{flat, linear, lowered, relu, weights};
use crate::Result;
use crate::pairs::{Front, Numbers, Pairs, Pool};

pub(super) fn operations(model: &Pairs) -> Result<Vec<Op>> {
    let mut ops = match &model.front {
        Front::Tokens(front) => {
            let table = activation::relu(front.phi.forward(front.embedding.table.val()));
            vec![Op::Gather { table: weights(table)? }]
        }
        Front::Numbers(front) => numbers(front, model)?,
    };
    ops.push(pool(&model.pool));
    ops.extend([cg(model)?, relu(), linear(&model.hidden)?, relu(), linear(&model.output)?]);
    Ok(ops)
}

/// Rows of the first product are the features of a point, then plus and perhaps minus the point itself.
fn numbers(front: &Numbers, model: &Pairs) -> Result<Vec<Op>> {
    let (n, d) = (model.pool.order.len(), model.entries);
    let (values, bias) = (weights(front.weight.val())?.values, weights(front.bias.val())?.values);
    let (learned, [from, _]) = (front.second.weight.dims()[1], front.second.weight.dims());
    let parts = front.parts();
    let width = from + parts;
    let (mut first, mut shift) = (vec![0.0; n * width * d], vec![0.0; n * width]);
    for (at, &i) in model.pool.order.iter().enumerate() {
        for f in 0..from {
            let row = &mut first[(i * width + f) * d..][..d];
            for j in 0..n {
                let class = if front.on_pairs {
                    front.place[j * n + at]
                } else if j == i {
                    front.place[at]
                } else {
                    continue;
                };
                // The second half of the points are negatives.
                let value = values[class as usize * from + f];
                if j < d { row[j] += value } else { row[j - d] -= value }
            }
            shift[i * width + f] = bias[front.point[at] as usize * from + f];
        }
        let sign = if i < d { 1.0 } else { -1.0 };
        first[(i * width + from) * d + i % d] = sign;
        if parts == 2 {
            first[(i * width + from + 1) * d + i % d] = -sign;
        }
    }
    // The parts of the point pass the second layer as they are.
    let (second, second_bias) = (weights(front.second.weight.val())?.values, front.second.bias.as_ref());
    let mut rows = vec![0.0; (learned + parts) * width];
    for o in 0..learned {
        for f in 0..from {
            rows[o * width + f] = second[f * learned + o];
        }
    }
    for part in 0..parts {
        rows[(learned + part) * width + from + part] = 1.0;
    }
    let mut behind = match second_bias {
        Some(bias) => weights(bias.val())?.values,
        None => vec![0.0; learned],
    };
    behind.extend(std::iter::repeat_n(0.0, parts));
    let tensor = |shape: &[usize], values| Tensor::new(shape, values).map_err(lowered);
    Ok(vec![
        flat(d),
        Op::Linear { weight: tensor(&[n * width, d], first)?, bias: Some(Tensor::vector(shift)) },
        relu(),
        Op::Reshape { shape: vec![n, width] },
        Op::Linear { weight: tensor(&[learned + parts, width], rows)?, bias: Some(Tensor::vector(behind)) },
        relu(),
    ])
}

/// Sets of points are numbered in the order in which the network has them.
fn pool(pool: &Pool) -> Op {
    let n = pool.order.len();
    let (mut sums, mut largest) = (vec![0.0; n], vec![-1.0; n]);
    let numbered = |runs: &[(usize, usize)], smallest: usize, into: &mut [f32]| {
        let (mut at, mut number) = (0, 0);
        for &(orbits, size) in runs {
            for _ in 0..orbits {
                if size >= smallest {
                    pool.order[at..at + size].iter().for_each(|&point| into[point] = number as f32);
                    number += 1;
                }
                at += size;
            }
        }
    };
    numbered(&pool.sums, 1, &mut sums);
    numbered(&pool.largest, 2, &mut largest);
    Op::PoolRows { sums: Tensor::vector(sums), largest: Tensor::vector(largest) }
}

/// The CG layer on plain sums: what they are multiplied with is part of its weights.
fn cg(model: &Pairs) -> Result<Op> {
    let mut op = linear(&model.cg)?;
    let width = model.front.width();
    let sizes = model.pool.sums.iter().flat_map(|&(orbits, size)| std::iter::repeat_n(size, orbits));
    if let Op::Linear { weight, .. } = &mut op {
        let scales: Vec<f32> = sizes.flat_map(|size| std::iter::repeat_n(Pool::scale(size), width)).collect();
        let inputs = weight.shape[1];
        for row in weight.values.chunks_mut(inputs) {
            row.iter_mut().zip(&scales).for_each(|(value, scale)| *value *= scale);
        }
    }
    Ok(op)
}
