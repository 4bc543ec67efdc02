//! Writes small models with random weights into a folder, which have every operation between them, with examples beside them:
//!
//! ```sh
//! cargo run --example sample_models -- samples && python crates/program/tests/onnx_check.py target/debug/invar samples
//! ```
//!
//! For each model `NAME.invar` there are inputs `NAME.npz`, and for every generator of a group that it keeps the same inputs moved,
//! `NAME.moved.NUMBER.npz`. The script exports the models and compares onnxruntime with `invar predict`.

use std::path::Path;
use std::process::ExitCode;

use invar_algebra::{Group, candidates};
use invar_data::{Array, Packing, write_npz};
use invar_program::certify::numeric::{moved, random};
use invar_program::{
    Activation, Candidate, Error, Input, Member, Normalisation, Op, Pooling, Program, Result, Saved, Task, Tensor,
};

/// Examples of each model.
const EXAMPLES: usize = 6;

/// Draws weights.
struct Drawn(u32);

impl Drawn {
    fn values(&mut self, count: usize) -> Vec<f32> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.0 >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn tensor(&mut self, shape: &[usize]) -> Result<Tensor> {
        let values = self.values(shape.iter().product());
        Tensor::new(shape, values)
    }

    fn linear(&mut self, outputs: usize, inputs: usize) -> Result<Op> {
        Ok(Op::Linear { weight: self.tensor(&[outputs, inputs])?, bias: Some(self.tensor(&[outputs])?) })
    }

    /// Weights that are the same for every of `positions`, so that these can be exchanged.
    fn shared(&mut self, outputs: usize, positions: usize, features: usize) -> Result<Op> {
        let rows = (0..outputs).flat_map(|_| self.values(features).repeat(positions)).collect();
        Ok(Op::Linear { weight: Tensor::new([outputs, positions * features], rows)?, bias: Some(self.tensor(&[outputs])?) })
    }

    /// Filters; round ones look the same from all sides.
    fn conv(&mut self, outputs: usize, inputs: usize, round: bool) -> Result<Op> {
        let mut filters = self.tensor(&[outputs, inputs, 3, 3])?;
        for plane in filters.values.chunks_mut(9).filter(|_| round) {
            let (corner, edge) = (plane[0], plane[1]);
            for i in [0, 2, 6, 8] {
                plane[i] = corner;
            }
            for i in [1, 3, 5, 7] {
                plane[i] = edge;
            }
        }
        Ok(Op::Conv { filters, bias: None })
    }

    fn norm(&mut self, channels: usize) -> Result<Op> {
        let variance = Tensor::vector(self.values(channels).iter().map(|v| v.abs() + 0.1).collect());
        let [gamma, beta, mean] = std::array::from_fn(|_| self.tensor(&[channels]));
        Ok(Op::BatchNorm { gamma: gamma?, beta: beta?, mean: mean?, variance, epsilon: 1e-5 })
    }
}

fn activate(activation: Activation) -> Op {
    Op::Activate { activation }
}

fn flat(entries: usize) -> Op {
    Op::Reshape { shape: vec![entries] }
}

/// Convolutions, norms and both poolings, with a normalisation of each channel.
fn images() -> Result<Saved> {
    let mut drawn = Drawn(1);
    let ops = vec![
        drawn.conv(8, 2, true)?,
        drawn.norm(8)?,
        activate(Activation::Relu),
        Op::MaxPool { window: [3, 3], stride: [2, 2] },
        drawn.conv(12, 8, true)?,
        Op::GroupMax { size: 3 },
        drawn.norm(4)?,
        Op::PoolSpace { pooling: Pooling::Sum },
        drawn.linear(3, 4)?,
    ];
    let normalisation = Some(Normalisation { mean: vec![0.4, 0.5], scale: vec![3.0, 2.0] });
    let program = Program::new(Input::Images { channels: 2, height: 7, width: 7 }, ops)?;
    Ok(Saved { normalisation, ..model(program, &["join(rot90(1,2),flip(1))"])? })
}

/// Sums of channels, a mean over space and a transpose.
fn sums() -> Result<Saved> {
    let mut drawn = Drawn(2);
    let ops = vec![
        Op::SumChannels,
        drawn.conv(6, 1, false)?,
        Op::PoolSpace { pooling: Pooling::Mean },
        Op::Reshape { shape: vec![2, 3] },
        Op::Transpose { order: vec![1, 0] },
        flat(6),
        drawn.linear(4, 6)?,
    ];
    model(Program::new(Input::Images { channels: 3, height: 5, width: 4 }, ops)?, &["permute(0)"])
}

/// Tokens whose order does not matter, through every activation.
fn tokens() -> Result<Saved> {
    let mut drawn = Drawn(3);
    let mut ops = vec![Op::Gather { table: drawn.tensor(&[9, 5])? }, flat(20), drawn.shared(8, 4, 5)?];
    for activation in [Activation::Gelu, Activation::Tanh, Activation::LeakyRelu, Activation::Sigmoid] {
        ops.extend([activate(activation), drawn.linear(8, 8)?]);
    }
    ops.push(drawn.linear(2, 8)?);
    model(Program::new(Input::Tokens { length: 4, vocabulary: 9 }, ops)?, &["swaps(0)"])
}

/// An array with a normalisation of each entry.
fn array() -> Result<Saved> {
    let mut drawn = Drawn(4);
    let program = Program::new(Input::Array { shape: vec![2, 3] }, vec![flat(6), drawn.linear(5, 6)?, drawn.linear(2, 5)?])?;
    let scale = drawn.values(6).iter().map(|v| v.abs() + 0.5).collect();
    Ok(Saved { normalisation: Some(Normalisation { mean: drawn.values(6), scale }), ..model(program, &[])? })
}

/// Any network from every side: dense on tokens, and convolutional.
fn orbits() -> Result<[Saved; 2]> {
    let mut drawn = Drawn(5);
    let views = Tensor::new([3, 3], vec![0.0, 1.0, 2.0, 1.0, 2.0, 0.0, 2.0, 0.0, 1.0])?;
    let inner = vec![Op::Gather { table: drawn.tensor(&[4, 2])? }, flat(6), drawn.linear(5, 6)?, activate(Activation::Relu)];
    let ops = vec![Op::Orbit { views, ops: inner }, flat(15), drawn.shared(2, 3, 5)?];
    let dense = Program::new(Input::Tokens { length: 3, vocabulary: 4 }, ops)?;
    // Two channels of 4x4 and their exchange.
    let views = (0..2).flat_map(|g| (0..32).map(move |i| ((i + 16 * g) % 32) as f32)).collect();
    let inner = vec![
        drawn.conv(3, 2, false)?,
        drawn.norm(3)?,
        activate(Activation::Relu),
        Op::MaxPool { window: [2, 2], stride: [2, 2] },
        drawn.conv(4, 3, false)?,
        Op::PoolSpace { pooling: Pooling::Sum },
        drawn.linear(5, 4)?,
    ];
    let ops = vec![Op::Orbit { views: Tensor::new([2, 32], views)?, ops: inner }, flat(10), drawn.shared(2, 2, 5)?];
    let images = Program::new(Input::Images { channels: 2, height: 4, width: 4 }, ops)?;
    Ok([model(dense, &["cycle(0)"])?, model(images, &["permute(0)"])?])
}

/// Arrays from both sides of a change of signs, and of a matrix.
fn mirrored_arrays() -> Result<[Saved; 2]> {
    let mut drawn = Drawn(7);
    let mut mirrored = |entries: usize, views: Tensor, candidate: &str| -> Result<Saved> {
        let inner = vec![drawn.linear(5, entries)?, activate(Activation::Relu)];
        let ops = vec![flat(entries), Op::Orbit { views, ops: inner }, flat(10), drawn.shared(2, 2, 5)?];
        model(Program::new(Input::Array { shape: vec![entries] }, ops)?, &[candidate])
    };
    let signs = Tensor::new([2, 3], vec![0.0, 1.0, 2.0, -1.0, -2.0, -3.0])?;
    let matrices = Tensor::new([2, 2, 2], vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.5, 2.0, 0.0])?;
    Ok([mirrored(3, signs, "negate")?, mirrored(2, matrices, "generators([[[0,1/2],[2,0]]])")?])
}

/// Three networks that answer together, on tokens.
fn median() -> Result<Saved> {
    let mut drawn = Drawn(6);
    let mut member = || -> Result<Vec<Op>> {
        let table = Op::Gather { table: drawn.tensor(&[9, 1])? };
        Ok(vec![table, flat(4), drawn.shared(6, 4, 1)?, activate(Activation::Relu), drawn.linear(2, 6)?])
    };
    let ops = vec![Op::Median { members: vec![member()?, member()?, member()?] }];
    model(Program::new(Input::Tokens { length: 4, vocabulary: 9 }, ops)?, &["swaps(0)"])
}

/// A model that keeps these candidates.
fn model(program: Program, kept: &[&str]) -> Result<Saved> {
    let shape = program.input.shape()?;
    let member = |group: &Group| Member { name: group.name().into(), kept: true, verdict: "built in".into(), cost: None };
    let candidate = |written: &&str| -> Result<Candidate> {
        let groups = candidates(&shape, [*written])?;
        Ok(Candidate { written: (*written).into(), members: groups.iter().map(member).collect() })
    };
    let candidates = kept.iter().map(candidate).collect::<Result<Vec<_>>>()?;
    let classes = (0..program.outputs()?).map(|i| format!("class {i}")).collect();
    Ok(Saved { candidates, ..Saved::new(program, Task::Classification { classes }) })
}

fn write(folder: &Path, name: &str, model: &Saved) -> Result<()> {
    model.save(&folder.join(format!("{name}.invar")))?;
    let x = random(&model.program.input, EXAMPLES, 9);
    let shape: Vec<usize> = std::iter::once(EXAMPLES).chain(model.program.input.sides()).collect();
    let save = |file: String, x: &[f32]| {
        let whole: Vec<i64> = x.iter().map(|&value| value as i64).collect();
        let array = match model.program.input {
            Input::Tokens { .. } => Array::Integers(&shape, &whole),
            Input::Array { .. } | Input::Images { .. } => Array::Floats(&shape, x),
        };
        write_npz(&folder.join(file), &[("x", array)], Packing::Stored)
    };
    save(format!("{name}.npz"), &x)?;
    let groups = model.groups()?;
    let generators = groups.iter().flat_map(|(group, _)| group.generators());
    for (number, generator) in generators.enumerate() {
        save(format!("{name}.moved.{number}.npz"), &moved(generator, &x))?;
    }
    Ok(())
}

fn all(folder: &Path) -> Result<()> {
    let [dense, convolutional] = orbits()?;
    let [signs, matrices] = mirrored_arrays()?;
    let models = [
        ("images", images()?),
        ("sums", sums()?),
        ("tokens", tokens()?),
        ("array", array()?),
        ("orbit_tokens", dense),
        ("orbit_images", convolutional),
        ("orbit_signs", signs),
        ("orbit_matrices", matrices),
        ("median", median()?),
    ];
    models.iter().try_for_each(|(name, model)| write(folder, name, model))
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: sample_models FOLDER");
        return ExitCode::from(2);
    };
    let folder = Path::new(&folder);
    let made = std::fs::create_dir_all(folder).map_err(|error| error.to_string());
    match made.and_then(|()| all(folder).map_err(|error: Error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
