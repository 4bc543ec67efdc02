//! Times every kernel of an image network, layer by layer: milliseconds, and GFLOP/s for the products.
//!
//! ```sh
//! cargo run --release -p invar-kernels --example race                  # a table, 2 threads
//! cargo run --release -p invar-kernels --example race -- --json        # one JSON line a layer
//! cargo run --release -p invar-kernels --example race -- --transforms  # as training does: Winograd's where they are faster
//! RAYON_NUM_THREADS=1 INVAR_SIMD=portable cargo run --release -p invar-kernels --example race
//! ```
//!
//! `benches/race_conv.py` runs it against PyTorch. Counted are the operations that the definition asks for, products with padding
//! included, so that figures compare; kernels that skip padding come out above what the machine can do.

use std::time::{Duration, Instant};

use invar_kernels::{Activation, Affine, AffineGradients, ConvShape, Level, Moments, NormShape, Workspace, conv, norm};

/// Size, input channels, output channels and what follows the batch norm, of the layers of the network.
const LAYERS: [(usize, usize, usize, Activation); 4] = [
    (28, 3, 64, Activation::ReluPool),
    (14, 64, 128, Activation::ReluPool),
    (7, 128, 128, Activation::Relu),
    (3, 128, 128, Activation::Relu),
];

const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let json = std::env::args().any(|argument| argument == "--json");
    let threads = std::env::var("RAYON_NUM_THREADS").ok().and_then(|threads| threads.parse().ok()).unwrap_or(2);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    if !json {
        println!("{} on {threads} threads, batch {BATCH}; milliseconds, GFLOP/s in brackets", Level::current()?);
        println!("{:>14} {:>16} {:>16} {:>16} {:>12} {:>12}", "layer", "forward", "dx", "dw", "norm", "norm back");
    }
    pool.install(|| LAYERS.into_iter().try_for_each(|layer| race(layer, json)))?;
    Ok(())
}

/// The shortest of the runs that fit into a fifth of a second, in milliseconds.
fn best(mut run: impl FnMut() -> invar_kernels::Result<()>) -> invar_kernels::Result<f64> {
    run()?;
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < Duration::from_millis(200) {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok(best.as_secs_f64() * 1e3)
}

fn ramp(len: usize) -> Vec<f32> {
    (0..len).map(|at| (at * 7919 % 1009) as f32 / 1009.0 - 0.5).collect()
}

fn race((size, inputs, outputs, activation): (usize, usize, usize, Activation), json: bool) -> invar_kernels::Result<()> {
    let mut workspace = Workspace::new()?;
    if std::env::args().any(|argument| argument == "--transforms") {
        workspace = workspace.with_transforms();
    }
    let shape = ConvShape { batch: BATCH, height: size, width: size, inputs, outputs, kernel: 3 };
    let norms = NormShape { batch: BATCH, height: size, width: size, features: outputs, fibre: 1, activation };
    let (x, w, mut y) = (ramp(shape.input_len()), ramp(shape.weights_len()), ramp(shape.output_len()));
    let (mut dx, mut dw, mut dy) = (x.clone(), w.clone(), y.clone());
    let forward = best(|| conv::forward(&shape, &x, &w, None, &mut y, &mut workspace))?;
    let backward_input = best(|| conv::backward_input(&shape, &y, &w, &mut dx, &mut workspace))?;
    let backward_weights = best(|| conv::backward_weights(&shape, &x, &y, &mut dw, &mut workspace))?;

    let (gamma, beta) = (vec![1.0; outputs], vec![0.0; outputs]);
    let affine = Affine { gamma: &gamma, beta: &beta, epsilon: 1e-5 };
    let (mut z, mut moments) = (ramp(norms.output_len()), Moments::default());
    let norm = best(|| norm::forward_training(&norms, &affine, &y, &mut z, &mut moments, &mut workspace))?;
    let (mut dgamma, mut dbeta) = (gamma.clone(), beta.clone());
    let norm_back = best(|| {
        let mut gradients = AffineGradients { gamma: &mut dgamma, beta: &mut dbeta };
        norm::backward(&norms, &affine, &moments, &y, &z, &mut dy, &mut gradients, &mut workspace)
    })?;

    if json {
        println!(
            r#"{{"size":{size},"inputs":{inputs},"outputs":{outputs},"forward":{forward:.4},"dx":{backward_input:.4},"dw":{backward_weights:.4},"norm":{norm:.4},"norm_back":{norm_back:.4}}}"#
        );
    } else {
        let rate = |ms: f64| {
            let operations = (2 * 9 * inputs * outputs * shape.pixels()) as f64;
            format!("{ms:.2} ({:.0})", operations / ms / 1e6)
        };
        let layer = format!("{inputs}->{outputs} {size}x{size}");
        let [forward, dx, dw] = [forward, backward_input, backward_weights].map(rate);
        println!("{layer:>14} {forward:>16} {dx:>16} {dw:>16} {norm:>12.2} {norm_back:>12.2}");
    }
    Ok(())
}
