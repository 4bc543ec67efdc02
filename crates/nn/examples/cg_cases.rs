//! Prints what CG layers and penalties compute on small cases, gradients included, as JSON, for other programs to be held against:
//!
//! ```sh
//! cargo run -p invar-nn --example cg_cases > cases.json
//! ```

use burn::tensor::{Device, Gradients, Tensor};
use invar_algebra::{Lattice, Options, Shape, candidates};
use invar_nn::{Bases, Bias, CgConv2d, CgLinearConfig, CgWeights, Init, LevelPenalty, Penalty, PenaltyConfig, Proxy, Size};
use serde::Serialize;

/// Examples in each case.
const EXAMPLES: usize = 4;

type Failure = Box<dyn std::error::Error>;

#[derive(Serialize)]
struct Cases {
    linear: Vec<Linear>,
    conv: Vec<Conv>,
}

/// The loss is the sum of outputs times `direction`.
#[derive(Serialize)]
struct Linear {
    shape: Vec<usize>,
    candidates: Vec<&'static str>,
    features: usize,
    neurons: usize,
    bias: Bias,
    coefficients: Vec<f32>,
    biases: Vec<f32>,
    inputs: Vec<f32>,
    direction: Vec<f32>,
    outputs: Vec<f32>,
    coefficients_gradient: Vec<f32>,
    biases_gradient: Vec<f32>,
    inputs_gradient: Vec<f32>,
    penalties: Vec<Penalised>,
}

/// Images are channels last here.
#[derive(Serialize)]
struct Conv {
    candidates: Vec<&'static str>,
    /// Whether the candidates act on channels too.
    channels: bool,
    inputs_channels: usize,
    outputs_channels: usize,
    side: usize,
    image: usize,
    coefficients: Vec<f32>,
    inputs: Vec<f32>,
    direction: Vec<f32>,
    outputs: Vec<f32>,
    coefficients_gradient: Vec<f32>,
    inputs_gradient: Vec<f32>,
}

#[derive(Serialize)]
struct Penalised {
    size: Size,
    proxy: Proxy,
    temperature: f64,
    value: f32,
    gradient: Vec<f32>,
}

fn main() -> Result<(), Failure> {
    let linear = [
        ("5", &["swaps(0)"][..], 1, 3, Bias::Single),
        ("3x3", &["rot90(0,1)", "flip(0)", "permute(1)"], 1, 4, Bias::PerNeuron),
        ("4", &["swaps(0)", "negate"], 3, 2, Bias::None),
        ("6", &["cycle(0)", "flip(0)", "swap(0;0,1)"], 2, 5, Bias::PerNeuron),
        ("2", &["generators([[[0,1/2],[2,0]]])", "swap(0;0,1)"], 1, 3, Bias::Single),
    ];
    let conv = [
        (&["rot90(1,2)", "permute(0)"][..], true, 3, 4, 3, 5),
        (&["rot90(0,1)", "flip(0)"][..], false, 2, 3, 3, 4),
        (&["flip(1)", "flip(2)"][..], true, 2, 2, 5, 6),
    ];
    let cases = Cases {
        linear: linear.iter().map(|&(shape, list, f, n, bias)| dense(shape, list, f, n, bias)).collect::<Result<_, _>>()?,
        conv: conv
            .iter()
            .map(|&(list, channels, i, o, k, n)| convolution(list, channels, [i, o, k, n]))
            .collect::<Result<_, _>>()?,
    };
    println!("{}", serde_json::to_string(&cases)?);
    Ok(())
}

fn bases(shape: &Shape, list: &[&'static str]) -> Result<Bases, Failure> {
    Ok(Bases::of(&Lattice::new(candidates(shape, list.iter().copied())?, &Options::default())?))
}

fn dense(shape: &str, list: &[&'static str], features: usize, neurons: usize, bias: Bias) -> Result<Linear, Failure> {
    let device = Device::flex().autodiff();
    let shape: Shape = shape.parse()?;
    let mut init = Init::new(7, &device);
    let layer = CgLinearConfig::new(bases(&shape, list)?, neurons).per_feature(features).bias(bias).init(&mut init)?;
    let x = init.normal([EXAMPLES, shape.len() * features], 1.0).val().detach().require_grad();
    let direction = init.normal([EXAMPLES, neurons], 1.0).val().detach();
    let y = layer.forward(x.clone());
    let gradients = (y.clone() * direction.clone()).sum().backward();
    let biases =
        |of: &dyn Fn(Tensor<1>) -> Result<Vec<f32>, Failure>| layer.bias.as_ref().map_or(Ok(Vec::new()), |b| of(b.val()));
    Ok(Linear {
        shape: shape.sides().to_vec(),
        candidates: list.to_vec(),
        features,
        neurons,
        bias,
        coefficients: values(layer.weights.coefficients.val())?,
        biases: biases(&values)?,
        inputs: values(x.clone())?,
        direction: values(direction)?,
        outputs: values(y)?,
        coefficients_gradient: gradient(&layer.weights.coefficients.val(), &gradients)?,
        biases_gradient: biases(&|bias| gradient(&bias, &gradients))?,
        inputs_gradient: gradient(&x, &gradients)?,
        penalties: penalties(&layer.weights, &device)?,
    })
}

fn convolution(list: &[&'static str], channels: bool, [inputs, outputs, side, image]: [usize; 4]) -> Result<Conv, Failure> {
    let device = Device::flex().autodiff();
    let shape = if channels { Shape::new(&[inputs, side, side])? } else { Shape::new(&[side, side])? };
    let mut init = Init::new(8, &device);
    let layer = CgConv2d::new(&bases(&shape, list)?, None, inputs, side, outputs, &mut init)?;
    let x = init.normal([EXAMPLES, image, image, inputs], 1.0).val().detach().require_grad();
    let direction = init.normal([EXAMPLES, image, image, outputs], 1.0).val().detach();
    let y = layer.forward(x.clone());
    let gradients = (y.clone() * direction.clone()).sum().backward();
    Ok(Conv {
        candidates: list.to_vec(),
        channels,
        inputs_channels: inputs,
        outputs_channels: outputs,
        side,
        image,
        coefficients: values(layer.weights.coefficients.val())?,
        inputs: values(x.clone())?,
        direction: values(direction)?,
        outputs: values(y)?,
        coefficients_gradient: gradient(&layer.weights.coefficients.val(), &gradients)?,
        inputs_gradient: gradient(&x, &gradients)?,
    })
}

/// Every form of the penalty on one layer.
fn penalties(weights: &CgWeights, device: &Device) -> Result<Vec<Penalised>, Failure> {
    let mut all = Vec::new();
    for size in [Size::Norm, Size::Squared, Size::Relative] {
        for proxy in [Proxy::Ratio, Proxy::Sigmoid] {
            let temperature = 3.0;
            let penalty = PenaltyConfig::Levels { size, proxy, temperature }.build(None, device)?;
            let Penalty::Levels(levels) = penalty else { return Err("the penalty of levels is one".into()) };
            all.push(penalised(levels, weights, (size, proxy, temperature))?);
        }
    }
    Ok(all)
}

fn penalised(levels: LevelPenalty, weights: &CgWeights, kind: (Size, Proxy, f64)) -> Result<Penalised, Failure> {
    let (size, proxy, temperature) = kind;
    let value = levels.soft(weights);
    let gradients = value.clone().backward();
    let gradient = gradient(&weights.coefficients.val(), &gradients)?;
    Ok(Penalised { size, proxy, temperature, value: values(value)?[0], gradient })
}

fn values<const D: usize>(x: Tensor<D>) -> Result<Vec<f32>, Failure> {
    x.into_data().try_to_vec().map_err(|error| format!("{error:?}").into())
}

fn gradient<const D: usize>(of: &Tensor<D>, gradients: &Gradients) -> Result<Vec<f32>, Failure> {
    values(of.grad(gradients).ok_or("a gradient is missing")?)
}
