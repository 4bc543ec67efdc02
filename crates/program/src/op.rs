//! The operations of a program.

use serde::{Deserialize, Serialize};

use crate::row_sets::RowSets;
use crate::tensor::{Tensor, volume};

/// One operation. Shapes are those of a single example; images are channels x height x width.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// A row of the table for every token: n tokens to n x width. Only the first operation can read tokens.
    Gather {
        /// Vocabulary x width.
        table: Tensor,
    },
    /// (x - mean) * scale, entry by entry.
    Normalise {
        /// One number for all entries, or one per index of the first axis, or one per entry.
        mean: Tensor,
        /// As many as of `mean`.
        scale: Tensor,
    },
    /// The same entries in another shape.
    Reshape {
        /// The new shape.
        shape: Vec<usize>,
    },
    /// The axes in another order: axis i of the result is axis `order[i]`.
    Transpose {
        /// All axes.
        order: Vec<usize>,
    },
    /// A dense layer, W x + b, of a vector or of every row of a matrix.
    Linear {
        /// Outputs x inputs.
        weight: Tensor,
        /// One per output.
        bias: Option<Tensor>,
    },
    /// A convolution of stride 1 with zeros around the image, which keeps its size.
    Conv {
        /// Outputs x inputs x k x k, k odd.
        filters: Tensor,
        /// One per output channel.
        bias: Option<Tensor>,
    },
    /// gamma (x - mean) / sqrt(variance + epsilon) + beta, per channel, with known statistics.
    BatchNorm {
        /// Scale.
        gamma: Tensor,
        /// Shift.
        beta: Tensor,
        /// Mean seen in training.
        mean: Tensor,
        /// Variance seen in training.
        variance: Tensor,
        /// Added to every variance.
        epsilon: f32,
    },
    /// A function of each entry.
    Activate {
        /// Which.
        activation: Activation,
    },
    /// The largest value of each window that fits into the image.
    MaxPool {
        /// Height and width of a window.
        window: [usize; 2],
        /// Rows and columns from one window to the next.
        stride: [usize; 2],
    },
    /// The largest of every `size` neighbouring channels.
    GroupMax {
        /// Channels that become one.
        size: usize,
    },
    /// One channel, the sum of all.
    SumChannels,
    /// One number per channel.
    PoolSpace {
        /// How.
        pooling: Pooling,
    },
    /// Rows brought together, column by column: the sums of some sets of rows, then the largest values of others; rows x width to
    /// (sets of either kind) * width.
    PoolRows {
        /// For each row the number of its set.
        sums: Tensor,
        /// The same for the largest values; -1 for a row that counts in none.
        largest: Tensor,
    },
    /// The same operations on the example as seen from every side: elements x outputs.
    Orbit {
        /// For each element and each entry of its view the entry of the example that is seen there, elements x entries: whole
        /// numbers, -1 - i for entry i with its sign changed. Or for each element the matrix that the example is multiplied
        /// with, elements x entries x entries.
        views: Tensor,
        /// What is done with each view; the last has one axis.
        ops: Vec<Op>,
    },
    /// The median, entry by entry, of what several lists of operations make of the same example; no number where one of them makes
    /// none.
    Median {
        /// The lists, an odd number of them; what they make has one shape.
        members: Vec<Vec<Op>>,
    },
}

/// Functions of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// x for positive inputs, 0.01 x else.
    LeakyRelu,
    /// x times the normal distribution function.
    Gelu,
    /// 1 / (1 + exp(-x)).
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
}

/// How the pixels of a channel become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
}

/// What would have fitted, and what was there.
pub(crate) type Misfit = (String, String);

impl Op {
    /// Its kind, for messages and files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gather { .. } => "gather",
            Self::Normalise { .. } => "normalise",
            Self::Reshape { .. } => "reshape",
            Self::Transpose { .. } => "transpose",
            Self::Linear { .. } => "linear",
            Self::Conv { .. } => "conv",
            Self::BatchNorm { .. } => "batch norm",
            Self::Activate { activation } => activation.name(),
            Self::MaxPool { .. } => "max pooling",
            Self::GroupMax { .. } => "group max",
            Self::SumChannels => "sum of channels",
            Self::PoolSpace { pooling: Pooling::Sum } => "sum over space",
            Self::PoolSpace { pooling: Pooling::Mean } => "mean over space",
            Self::PoolRows { .. } => "pooled rows",
            Self::Orbit { .. } => "orbit",
            Self::Median { .. } => "median",
        }
    }

    /// Its weights, by name.
    pub fn tensors(&self) -> Vec<(String, &Tensor)> {
        let named = |name: &str, tensor| (name.to_owned(), tensor);
        match self {
            Self::Gather { table } => vec![named("table", table)],
            Self::Normalise { mean, scale } => vec![named("mean", mean), named("scale", scale)],
            Self::Linear { weight, bias } => {
                std::iter::once(named("weight", weight)).chain(bias.iter().map(|bias| named("bias", bias))).collect()
            }
            Self::Conv { filters, bias } => {
                std::iter::once(named("filters", filters)).chain(bias.iter().map(|bias| named("bias", bias))).collect()
            }
            Self::BatchNorm { gamma, beta, mean, variance, .. } => {
                vec![named("gamma", gamma), named("beta", beta), named("mean", mean), named("variance", variance)]
            }
            Self::PoolRows { sums, largest } => vec![named("sums", sums), named("largest", largest)],
            Self::Orbit { views, ops } => std::iter::once(named("views", views)).chain(tensors_of("inner", ops)).collect(),
            Self::Median { members } => {
                members.iter().enumerate().flat_map(|(k, ops)| tensors_of(&format!("member{k}"), ops)).collect()
            }
            Self::Reshape { .. }
            | Self::Transpose { .. }
            | Self::Activate { .. }
            | Self::MaxPool { .. }
            | Self::GroupMax { .. }
            | Self::SumChannels
            | Self::PoolSpace { .. } => Vec::new(),
        }
    }

    /// The same, in the same order, to be filled.
    pub(crate) fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        match self {
            Self::Gather { table } => vec![table],
            Self::Normalise { mean, scale } => vec![mean, scale],
            Self::Linear { weight, bias } => std::iter::once(weight).chain(bias.as_mut()).collect(),
            Self::Conv { filters, bias } => std::iter::once(filters).chain(bias.as_mut()).collect(),
            Self::BatchNorm { gamma, beta, mean, variance, .. } => vec![gamma, beta, mean, variance],
            Self::PoolRows { sums, largest } => vec![sums, largest],
            Self::Orbit { views, ops } => std::iter::once(views).chain(ops.iter_mut().flat_map(Self::tensors_mut)).collect(),
            Self::Median { members } => members.iter_mut().flatten().flat_map(Self::tensors_mut).collect(),
            Self::Reshape { .. }
            | Self::Transpose { .. }
            | Self::Activate { .. }
            | Self::MaxPool { .. }
            | Self::GroupMax { .. }
            | Self::SumChannels
            | Self::PoolSpace { .. } => Vec::new(),
        }
    }

    /// The shape of what it makes of an example of this shape, or what does not fit. Orbits, gathers and medians, which may
    /// begin with either, look at the input of the program, and are checked by it.
    pub(crate) fn output(&self, shape: &[usize]) -> Result<Vec<usize>, Misfit> {
        let wrong = |expected: String| Err((expected, crate::error::dims(shape)));
        match (self, shape) {
            (Self::Gather { table }, [length]) => match table.shape[..] {
                [vocabulary, width] if vocabulary > 0 && width > 0 => Ok(vec![*length, width]),
                _ => Err(("a table of vocabulary x width".into(), crate::error::dims(&table.shape))),
            },
            (Self::Gather { .. }, _) => wrong("a sequence of tokens".into()),
            (Self::Normalise { mean, scale }, _) => {
                let counts = [1, shape.first().copied().unwrap_or(1), volume(shape).unwrap_or(0)];
                for tensor in [mean, scale] {
                    if tensor.shape.len() != 1 || tensor.shape != mean.shape || !counts.contains(&tensor.shape[0]) {
                        let expected = format!("{}, {} or {} numbers, as many of both", counts[0], counts[1], counts[2]);
                        return Err((expected, crate::error::dims(&tensor.shape)));
                    }
                }
                Ok(shape.to_vec())
            }
            (Self::Reshape { shape: new }, _) => {
                let same = !new.contains(&0) && volume(new).is_some() && volume(new) == volume(shape);
                if same { Ok(new.clone()) } else { wrong(format!("as many entries as {}", crate::error::dims(new))) }
            }
            (Self::Transpose { order }, _) => {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                if sorted.iter().copied().eq(0..shape.len()) {
                    Ok(order.iter().map(|&axis| shape[axis]).collect())
                } else {
                    wrong(format!("a shape whose axes are those of {order:?}"))
                }
            }
            (Self::Linear { weight, bias }, [rows @ .., inputs]) if rows.len() < 2 => match weight.shape[..] {
                [outputs, width] if outputs > 0 && width == *inputs => {
                    per_channel(bias.iter(), outputs).map(|()| rows.iter().copied().chain([outputs]).collect())
                }
                [_, width] => wrong(format!("{width} entries")),
                _ => Err(("weights of outputs x inputs".into(), crate::error::dims(&weight.shape))),
            },
            (Self::Linear { .. }, _) => wrong("a vector or rows of them".into()),
            (Self::PoolRows { sums, largest }, [rows, width]) => {
                let sets = RowSets::of(sums, largest).filter(|sets| sets.rows() == *rows);
                let Some(sets) = sets else { return wrong(format!("{} rows, each in a set of rows", sums.values.len())) };
                Ok(vec![sets.all().count() * width])
            }
            (Self::PoolRows { .. }, _) => wrong("rows x width".into()),
            (Self::BatchNorm { gamma, beta, mean, variance, epsilon }, [channels, ..]) => {
                if !(epsilon.is_finite() && *epsilon > 0.0) {
                    return Err(("an epsilon above 0".into(), epsilon.to_string()));
                }
                per_channel([gamma, beta, mean, variance], *channels).map(|()| shape.to_vec())
            }
            (Self::Activate { .. }, _) => Ok(shape.to_vec()),
            (Self::Orbit { .. } | Self::Median { .. }, _) => {
                Err(("to be an operation of the program itself".into(), "one inside of another".into()))
            }
            (Self::BatchNorm { .. }, []) => wrong("at least one axis".into()),
            (
                Self::Conv { .. } | Self::MaxPool { .. } | Self::GroupMax { .. } | Self::SumChannels | Self::PoolSpace { .. },
                _,
            ) => self.output_of_image(shape),
        }
    }

    /// The same of an operation on images.
    fn output_of_image(&self, shape: &[usize]) -> Result<Vec<usize>, Misfit> {
        let wrong = |expected: String| Err((expected, crate::error::dims(shape)));
        match (self, shape) {
            (Self::Conv { filters, bias }, [channels, height, width]) => match filters.shape[..] {
                [outputs, inputs, k, l] if outputs > 0 && k == l && k % 2 == 1 => {
                    if inputs != *channels {
                        return wrong(format!("an image of {inputs} channels"));
                    }
                    per_channel(bias.iter(), outputs).map(|()| vec![outputs, *height, *width])
                }
                _ => Err(("filters of outputs x inputs x k x k with an odd k".into(), crate::error::dims(&filters.shape))),
            },
            (Self::MaxPool { window, stride }, [channels, height, width]) => {
                match (places(*height, window[0], stride[0]), places(*width, window[1], stride[1])) {
                    (Some(rows), Some(columns)) => Ok(vec![*channels, rows, columns]),
                    _ => wrong(format!("an image with room for a window of {}", crate::error::dims(window))),
                }
            }
            (Self::GroupMax { size }, [channels, height, width]) => {
                if *size > 0 && channels.is_multiple_of(*size) {
                    Ok(vec![channels / size, *height, *width])
                } else {
                    wrong(format!("an image with a multiple of {size} channels"))
                }
            }
            (Self::SumChannels, [_, height, width]) => Ok(vec![1, *height, *width]),
            (Self::PoolSpace { .. }, [channels, _, _]) => Ok(vec![*channels]),
            _ => wrong("an image, channels x height x width".into()),
        }
    }
}

impl Activation {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relu => "ReLU",
            Self::LeakyRelu => "leaky ReLU",
            Self::Gelu => "GELU",
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
        }
    }

    /// Whether f(-x) = -f(x).
    pub(crate) fn is_odd(self) -> bool {
        self == Self::Tanh
    }
}

/// The weights of operations inside another, by name.
fn tensors_of<'a>(place: &str, ops: &'a [Op]) -> Vec<(String, &'a Tensor)> {
    let named = |(i, op): (usize, &'a Op)| op.tensors().into_iter().map(move |(name, tensor)| (format!("{i}.{name}"), tensor));
    ops.iter().enumerate().flat_map(named).map(|(name, tensor)| (format!("{place}.{name}"), tensor)).collect()
}

/// Refuses parameters that are not one number per channel.
fn per_channel<'a>(tensors: impl IntoIterator<Item = &'a Tensor>, channels: usize) -> Result<(), Misfit> {
    match tensors.into_iter().find(|tensor| tensor.shape != [channels]) {
        Some(wrong) => Err((format!("one number for each of {channels} channels"), crate::error::dims(&wrong.shape))),
        None => Ok(()),
    }
}

/// How many windows fit on a side.
fn places(side: usize, window: usize, stride: usize) -> Option<usize> {
    (window > 0 && stride > 0).then(|| side.checked_sub(window).map(|room| room / stride + 1))?
}
