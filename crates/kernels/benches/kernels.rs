//! The kernels of one layer, for comparing versions of this crate with each other.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use invar_kernels::{Activation, Adam, Affine, AffineGradients, ConvShape, Moments, NormShape, Workspace, conv, norm};

fn convolution(criterion: &mut Criterion) {
    let mut workspace = Workspace::new().expect("INVAR_SIMD names a level of this processor");
    let mut group = criterion.benchmark_group("convolution");
    for (size, inputs, outputs) in [(28, 3, 64), (14, 64, 128), (7, 128, 128), (3, 128, 128)] {
        let shape = ConvShape { batch: 64, height: size, width: size, inputs, outputs, kernel: 3 };
        let name = format!("{inputs}-{outputs} {size}x{size}");
        let (x, w, mut y) = (vec![0.5; shape.input_len()], vec![0.25; shape.weights_len()], vec![0.0; shape.output_len()]);
        let (mut dx, mut dw) = (x.clone(), w.clone());
        group.throughput(Throughput::Elements((2 * 9 * inputs * outputs * shape.pixels()) as u64));
        group.bench_function(format!("forward {name}"), |bench| {
            bench.iter(|| conv::forward(&shape, black_box(&x), &w, None, &mut y, &mut workspace));
        });
        group.bench_function(format!("dx {name}"), |bench| {
            bench.iter(|| conv::backward_input(&shape, black_box(&y), &w, &mut dx, &mut workspace));
        });
        group.bench_function(format!("dw {name}"), |bench| {
            bench.iter(|| conv::backward_weights(&shape, black_box(&x), &y, &mut dw, &mut workspace));
        });
    }
}

fn batch_norm(criterion: &mut Criterion) {
    let mut workspace = Workspace::new().expect("INVAR_SIMD names a level of this processor");
    let mut group = criterion.benchmark_group("batch norm");
    let shape = NormShape { batch: 64, height: 28, width: 28, features: 64, fibre: 1, activation: Activation::ReluPool };
    let x: Vec<f32> = (0..shape.input_len()).map(|at| (at % 101) as f32).collect();
    let (gamma, beta) = (vec![1.0; 64], vec![0.0; 64]);
    let affine = Affine { gamma: &gamma, beta: &beta, epsilon: 1e-5 };
    let (mut y, mut dx, mut moments) = (vec![0.0; shape.output_len()], x.clone(), Moments::default());
    group.throughput(Throughput::Bytes(4 * x.len() as u64));
    group.bench_function("forward with pooling", |bench| {
        bench.iter(|| norm::forward_training(&shape, &affine, black_box(&x), &mut y, &mut moments, &mut workspace));
    });
    let (mut dgamma, mut dbeta) = (gamma.clone(), beta.clone());
    group.bench_function("backward with pooling", |bench| {
        bench.iter(|| {
            let mut gradients = AffineGradients { gamma: &mut dgamma, beta: &mut dbeta };
            norm::backward(&shape, &affine, &moments, black_box(&x), &y, &mut dx, &mut gradients, &mut workspace)
        });
    });
}

fn optimiser(criterion: &mut Criterion) {
    let mut workspace = Workspace::new().expect("INVAR_SIMD names a level of this processor");
    let (mut w, g) = (vec![0.5; 700_000], vec![0.25; 700_000]);
    let (mut mean, mut square) = (vec![0.0; w.len()], vec![0.0; w.len()]);
    let adam = Adam { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
    criterion.bench_function("Adam, 700 000 weights", |bench| {
        bench.iter(|| adam.step(1, &mut w, black_box(&g), &mut mean, &mut square, &mut workspace));
    });
}

criterion_group!(benches, convolution, batch_norm, optimiser);
criterion_main!(benches);
