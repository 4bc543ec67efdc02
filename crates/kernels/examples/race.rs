//! tmp
use invar_kernels::{ConvShape, Workspace, conv};
use std::time::Instant;
fn best(s: f64, mut f: impl FnMut()) -> f64 {
    f();
    let e = Instant::now();
    let mut b = f64::MAX;
    while e.elapsed().as_secs_f64() < s {
        let t = Instant::now();
        f();
        b = b.min(t.elapsed().as_secs_f64());
    }
    b
}
fn main() {
    let mut ws = Workspace::new().unwrap();
    println!("{}", ws.level());
    for (ci, co, s) in [(3, 64, 28), (64, 128, 14), (128, 128, 7), (128, 128, 3), (128, 256, 7)] {
        let shape = ConvShape { batch: 64, height: s, width: s, inputs: ci, outputs: co, kernel: 3 };
        let x: Vec<f32> = (0..shape.input_len()).map(|i| (i % 17) as f32 / 17.0 - 0.5).collect();
        let w: Vec<f32> = (0..shape.weights_len()).map(|i| (i % 13) as f32 / 13.0 - 0.5).collect();
        let mut y = vec![0.0; shape.output_len()];
        let mut dx = vec![0.0; shape.input_len()];
        let fl = 2.0 * 9.0 * (ci * co * s * s * 64) as f64;
        let f = best(0.6, || conv::forward(&shape, &x, &w, &mut y, &mut ws).unwrap());
        let g = best(0.6, || conv::backward_input(&shape, &y, &w, &mut dx, &mut ws).unwrap());
        println!("{ci} {co} {s}: fwd {:.2} ms {:.0} GF  dx {:.2} ms {:.0} GF", f * 1e3, fl / f / 1e9, g * 1e3, fl / g / 1e9);
    }
}
