//! How the algebra grows: lattices, orders and Reynolds operators.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use invar_algebra::{Group, Lattice, Options, Reynolds, Shape, Tolerance, candidates};

fn groups(shape: &str, texts: &[&str]) -> Vec<Group> {
    let shape: Shape = shape.parse().expect("a good shape");
    candidates(&shape, texts.iter().copied()).expect("good candidates")
}

fn lattices(c: &mut Criterion) {
    let mut bench = c.benchmark_group("lattice");
    bench.sample_size(10);
    let mut run = |name: &str, shape: String, texts: &[&str]| {
        bench.bench_with_input(BenchmarkId::new(name, &shape), &shape, |b, shape| {
            b.iter(|| Lattice::new(groups(shape, texts), &Options::default()).expect("a lattice"));
        });
    };
    for n in [5, 10, 20, 50, 100] {
        run("swaps(0)", n.to_string(), &["swaps(0)"]);
    }
    for n in [4, 8, 12, 16] {
        run("node_swaps(0,1)", format!("{n}x{n}"), &["node_swaps(0,1)"]);
    }
    for n in [3, 7, 28] {
        run("rot90+flip+permute", format!("3x{n}x{n}"), &["rot90(1,2)", "flip(1)", "permute(0)"]);
    }
}

/// Few groups on many entries: nothing is written out.
fn large(c: &mut Criterion) {
    let mut bench = c.benchmark_group("large");
    bench.sample_size(10);
    let options = Options { vectors: false, ..Options::default() };
    for (shape, text) in [("100000", "permute(0)"), ("1000000", "flip(0)"), ("300x300", "nodes(0,1)")] {
        let made = || Lattice::new(groups(shape, &[text]), &options).expect("a lattice");
        bench.bench_function(format!("build/{text}/{shape}"), |b| b.iter(made));
        let lattice = made();
        bench.bench_function(format!("check/{text}/{shape}"), |b| b.iter(|| black_box(lattice.check(&|_| {}))));
    }
}

fn certificates(c: &mut Criterion) {
    let mut bench = c.benchmark_group("verify");
    bench.sample_size(10);
    for (shape, texts) in [
        ("10", ["swaps(0)"].as_slice()),
        ("100", &["swaps(0)"]),
        ("8x8", &["node_swaps(0,1)"]),
        ("3x7x7", &["rot90(1,2)", "flip(1)", "permute(0)"]),
    ] {
        let lattice = Lattice::new(groups(shape, texts), &Options::default()).expect("a lattice");
        bench.bench_function(format!("{}/{shape}", texts.join("+")), |b| b.iter(|| black_box(lattice.verify().holds())));
    }
}

fn orders(c: &mut Criterion) {
    let mut bench = c.benchmark_group("order");
    bench.sample_size(10);
    for (shape, texts) in [
        ("1000", ["permute(0)"].as_slice()),
        ("3x28x28", &["rot90(1,2)", "flip(1)", "permute(0)"]),
        ("60x60", &["rot90(0,1)", "shift(1)"]),
    ] {
        bench.bench_function(format!("{}/{shape}", texts.join("+")), |b| {
            b.iter(|| Group::join("join", &groups(shape, texts)).expect("a join").order());
        });
    }
}

fn reynolds(c: &mut Criterion) {
    let mut bench = c.benchmark_group("reynolds");
    for side in [28, 112] {
        let shape = format!("3x{side}x{side}");
        let join = Group::join("join", &groups(&shape, &["rot90(1,2)", "flip(1)", "permute(0)"])).expect("a join");
        let r = Reynolds::new(&join, &Tolerance::default()).expect("an operator");
        let mut x: Vec<f64> = (0..join.shape().len()).map(|i| i as f64).collect();
        bench.bench_function(shape, |b| b.iter(|| r.apply(black_box(&mut x))));
    }
}

criterion_group!(benches, lattices, large, certificates, orders, reynolds);
criterion_main!(benches);
