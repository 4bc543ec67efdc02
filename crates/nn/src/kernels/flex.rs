//! The operations on the processor.

use burn::backend::Flex;
use invar_kernels::pool::PoolShape;
use invar_kernels::{
    Activation, Affine, AffineGradients, CombineShape, ConvShape, FibreShape, Moments, NormShape, Pooling, TurnShape, conv,
    fibre, filters, norm, pool,
};

use super::memory::{FlexTensor, entries, recycle, sides, stale, tensor, with_workspace};
use super::operations::{Gradients, NormSettings, Operations, Turns};

impl Operations for Flex {
    fn convolve(x: FlexTensor, filters: FlexTensor) -> FlexTensor {
        let (x, filters) = (x.to_contiguous(), filters.to_contiguous());
        let shape = conv_shape(&x, &filters);
        let mut y = stale(shape.output_len());
        with_workspace(|workspace| conv::forward(&shape, entries(&x), entries(&filters), None, &mut y, workspace));
        tensor(y, [shape.batch, shape.height, shape.width, shape.outputs])
    }

    fn combine(basis: FlexTensor, coefficients: FlexTensor, features: usize) -> FlexTensor {
        let (basis, coefficients) = (basis.to_contiguous(), coefficients.to_contiguous());
        let shape = combine_shape(&basis, sides::<2>(&coefficients)[1], features);
        let mut filters = stale(shape.filters_len());
        with_workspace(|workspace| filters::combine(&shape, entries(&basis), entries(&coefficients), &mut filters, workspace));
        tensor(filters, [shape.outputs, features, shape.points])
    }

    fn turn(trained: FlexTensor, turns: Turns) -> FlexTensor {
        let trained = trained.to_contiguous();
        let [rows, columns] = sides(&trained);
        let shape = turn_shape(&turns, rows, columns / turns.inputs);
        let mut filters = stale(shape.filters_len());
        filters::turn(&shape, entries(&trained), &mut filters).expect("sizes are those of the tensors");
        tensor(filters, [shape.outputs, shape.from.len() / shape.points, shape.inputs, shape.points])
    }

    fn batch_moments(x: FlexTensor, fibre: usize) -> FlexTensor {
        let x = x.to_contiguous();
        let shape = norm_shape(&x, NormSettings { fibre, epsilon: 0.0, pool: false });
        let mut moments = Moments::default();
        with_workspace(|workspace| norm::moments(&shape, entries(&x), &mut moments, workspace));
        tensor([moments.mean, moments.variance].concat(), [2, shape.features])
    }

    fn normalise(x: FlexTensor, gamma: FlexTensor, beta: FlexTensor, moments: FlexTensor, settings: NormSettings) -> FlexTensor {
        let [x, gamma, beta, moments] = [x, gamma, beta, moments].map(|tensor| tensor.to_contiguous());
        let shape = norm_shape(&x, settings);
        let affine = affine(&gamma, &beta, settings);
        let mut y = stale(shape.output_len());
        with_workspace(|workspace| {
            norm::forward_evaluation(&shape, &affine, &read_moments(&moments), entries(&x), &mut y, workspace)
        });
        let (height, width) = shape.output_size();
        tensor(y, [shape.batch, height, width, shape.channels()])
    }

    fn pool_space(x: FlexTensor, factor: f32) -> FlexTensor {
        let x = x.to_contiguous();
        let [batch, height, width, channels] = sides(&x);
        let shape = pool_shape(batch, [height, width], channels);
        let mut y = stale(shape.output_len());
        with_workspace(|workspace| pool::forward(&shape, entries(&x), &mut y, workspace));
        for y in &mut y {
            *y *= factor;
        }
        tensor(y, [batch, channels])
    }

    fn pool_fibre(x: FlexTensor, fibre: usize) -> FlexTensor {
        let x = x.to_contiguous();
        let [batch, height, width, channels] = sides(&x);
        let shape = FibreShape { features: batch * height * width * channels / fibre, fibre };
        let mut y = stale(shape.features);
        fibre::forward(&shape, entries(&x), &mut y).expect("sizes are those of the tensors");
        tensor(y, [batch, height, width, channels / fibre])
    }
}

impl Gradients for Flex {
    fn convolve_gradients(x: FlexTensor, filters: FlexTensor, dy: FlexTensor, wanted: [bool; 2]) -> [Option<FlexTensor>; 2] {
        let (x, filters, dy) = (into_contiguous(x), into_contiguous(filters), into_contiguous(dy));
        let shape = conv_shape(&x, &filters);
        let dx = wanted[0].then(|| {
            let mut dx = stale(shape.input_len());
            with_workspace(|workspace| conv::backward_input(&shape, entries(&dy), entries(&filters), &mut dx, workspace));
            tensor(dx, sides::<4>(&x))
        });
        let dw = wanted[1].then(|| {
            let mut dw = stale(shape.weights_len());
            with_workspace(|workspace| conv::backward_weights(&shape, entries(&x), entries(&dy), &mut dw, workspace));
            tensor(dw, sides::<4>(&filters))
        });
        [x, filters, dy].into_iter().for_each(recycle);
        [dx, dw]
    }

    fn combine_gradient(basis: FlexTensor, dy: FlexTensor) -> FlexTensor {
        let (basis, dy) = (basis.to_contiguous(), into_contiguous(dy));
        let [outputs, features, _] = sides::<3>(&dy);
        let shape = combine_shape(&basis, features * outputs, features);
        let mut gradient = stale(shape.coefficients_len());
        with_workspace(|workspace| filters::combine_backward(&shape, entries(&basis), entries(&dy), &mut gradient, workspace));
        recycle(dy);
        tensor(gradient, [shape.rank, features * outputs])
    }

    fn turn_gradient(dy: FlexTensor, turns: Turns, rows: usize) -> FlexTensor {
        let dy = into_contiguous(dy);
        let shape = turn_shape(&turns, rows, sides::<4>(&dy)[0]);
        let mut gradient = stale(shape.trained_len());
        with_workspace(|workspace| filters::turn_backward(&shape, entries(&dy), &mut gradient, workspace));
        recycle(dy);
        tensor(gradient, [rows, shape.inputs * shape.outputs])
    }

    fn normalise_gradients(
        x: FlexTensor,
        gamma: FlexTensor,
        beta: FlexTensor,
        moments: FlexTensor,
        dy: FlexTensor,
        settings: NormSettings,
    ) -> [FlexTensor; 3] {
        let [x, gamma, beta, moments, dy] = [x, gamma, beta, moments, dy].map(into_contiguous);
        let shape = norm_shape(&x, settings);
        let (mut dx, mut dgamma, mut dbeta) = (stale(shape.input_len()), vec![0.0; shape.features], vec![0.0; shape.features]);
        with_workspace(|workspace| {
            norm::backward(
                &shape,
                &affine(&gamma, &beta, settings),
                &read_moments(&moments),
                entries(&x),
                entries(&dy),
                &mut dx,
                &mut AffineGradients { gamma: &mut dgamma, beta: &mut dbeta },
                workspace,
            )
        });
        let dx = tensor(dx, sides::<4>(&x));
        [x, dy].into_iter().for_each(recycle);
        [dx, tensor(dgamma, [shape.features]), tensor(dbeta, [shape.features])]
    }

    fn pool_space_gradient(dy: FlexTensor, image: [usize; 2], factor: f32) -> FlexTensor {
        let dy = dy.to_contiguous();
        let [batch, channels] = sides(&dy);
        let shape = pool_shape(batch, image, channels);
        let scaled: Vec<f32> = entries(&dy).iter().map(|dy| dy * factor).collect();
        let mut dx = stale(shape.input_len());
        with_workspace(|workspace| pool::backward(&shape, &scaled, &mut dx, workspace));
        tensor(dx, [batch, image[0], image[1], channels])
    }

    fn pool_fibre_gradient(x: FlexTensor, dy: FlexTensor, fibre: usize) -> FlexTensor {
        let (x, dy) = (into_contiguous(x), into_contiguous(dy));
        let shape = FibreShape { features: entries(&dy).len(), fibre };
        let mut dx = stale(shape.input_len());
        fibre::backward(&shape, entries(&x), entries(&dy), &mut dx).expect("sizes are those of the tensors");
        let dx = tensor(dx, sides::<4>(&x));
        [x, dy].into_iter().for_each(recycle);
        dx
    }
}

/// Contiguous, without a second owner of what already was.
fn into_contiguous(tensor: FlexTensor) -> FlexTensor {
    if tensor.is_contiguous() { tensor } else { tensor.to_contiguous() }
}

fn conv_shape(x: &FlexTensor, filters: &FlexTensor) -> ConvShape {
    let ([batch, height, width, inputs], [outputs, _, kernel, _]) = (sides(x), sides(filters));
    ConvShape { batch, height, width, inputs, outputs, kernel }
}

/// `columns` are those of the coefficients.
fn combine_shape(basis: &FlexTensor, columns: usize, features: usize) -> CombineShape {
    let [points, rank] = sides(basis);
    CombineShape { points, rank, features, outputs: columns / features }
}

fn turn_shape(turns: &Turns, rows: usize, outputs: usize) -> TurnShape<'_> {
    TurnShape { from: &turns.from, points: turns.points, rows, inputs: turns.inputs, outputs }
}

fn norm_shape(x: &FlexTensor, settings: NormSettings) -> NormShape {
    let [batch, height, width, channels] = sides(x);
    let activation = if settings.pool { Activation::ReluPool } else { Activation::Relu };
    NormShape { batch, height, width, features: channels / settings.fibre, fibre: settings.fibre, activation }
}

fn pool_shape(batch: usize, [height, width]: [usize; 2], channels: usize) -> PoolShape {
    PoolShape { batch, pixels: height * width, channels, pooling: Pooling::Sum }
}

fn affine<'a>(gamma: &'a FlexTensor, beta: &'a FlexTensor, settings: NormSettings) -> Affine<'a> {
    Affine { gamma: entries(gamma), beta: entries(beta), epsilon: settings.epsilon }
}

fn read_moments(moments: &FlexTensor) -> Moments {
    let (mean, variance) = entries(moments).split_at(entries(moments).len() / 2);
    Moments { mean: mean.to_vec(), variance: variance.to_vec() }
}
