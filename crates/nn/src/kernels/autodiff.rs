//! The operations on the tape: each keeps what its gradient reads, and nothing is computed twice.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients as Tape;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend as _, TensorMetadata as _};

use super::operations::{Gradients, NormSettings, Operations, Turns};

impl<B: Operations + Gradients, C: CheckpointStrategy> Operations for Autodiff<B, C> {
    fn convolve(x: FloatTensor<Self>, filters: FloatTensor<Self>) -> FloatTensor<Self> {
        match Convolve.prepare::<C>([x.node(), filters.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let state = [x.into_primitive(), filters.into_primitive()];
                let [x, filters] = state.clone();
                prep.finish(state, B::convolve(x, filters))
            }
            OpsKind::UnTracked(prep) => prep.finish(B::convolve(x.into_primitive(), filters.into_primitive())),
        }
    }

    fn combine(basis: FloatTensor<Self>, coefficients: FloatTensor<Self>, features: usize) -> FloatTensor<Self> {
        let basis = basis.into_primitive();
        match Combine.prepare::<C>([coefficients.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(basis.clone(), B::combine(basis, coefficients.into_primitive(), features)),
            OpsKind::UnTracked(prep) => prep.finish(B::combine(basis, coefficients.into_primitive(), features)),
        }
    }

    fn turn(trained: FloatTensor<Self>, turns: Turns) -> FloatTensor<Self> {
        let rows = trained.shape()[0];
        match (Turned { turns: turns.clone(), rows }).prepare::<C>([trained.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((), B::turn(trained.into_primitive(), turns)),
            OpsKind::UnTracked(prep) => prep.finish(B::turn(trained.into_primitive(), turns)),
        }
    }

    fn batch_moments(x: FloatTensor<Self>, fibre: usize) -> FloatTensor<Self> {
        Self::from_inner(B::batch_moments(x.into_primitive(), fibre))
    }

    fn normalise(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        moments: FloatTensor<Self>,
        settings: NormSettings,
    ) -> FloatTensor<Self> {
        let prep = Normalise(settings).prepare::<C>([x.node(), gamma.node(), beta.node()]).compute_bound().stateful();
        let state = [x, gamma, beta, moments].map(FloatTensor::<Self>::into_primitive);
        match prep {
            OpsKind::Tracked(prep) => {
                let [x, gamma, beta, moments] = state.clone();
                prep.finish(state, B::normalise(x, gamma, beta, moments, settings))
            }
            OpsKind::UnTracked(prep) => {
                let [x, gamma, beta, moments] = state;
                prep.finish(B::normalise(x, gamma, beta, moments, settings))
            }
        }
    }

    fn pool_space(x: FloatTensor<Self>, factor: f32) -> FloatTensor<Self> {
        let shape = x.shape();
        let sides = [shape[1], shape[2]];
        match (PoolSpace { sides, factor }).prepare::<C>([x.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((), B::pool_space(x.into_primitive(), factor)),
            OpsKind::UnTracked(prep) => prep.finish(B::pool_space(x.into_primitive(), factor)),
        }
    }

    fn pool_fibre(x: FloatTensor<Self>, fibre: usize) -> FloatTensor<Self> {
        match PoolFibre(fibre).prepare::<C>([x.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let x = x.into_primitive();
                prep.finish(x.clone(), B::pool_fibre(x, fibre))
            }
            OpsKind::UnTracked(prep) => prep.finish(B::pool_fibre(x.into_primitive(), fibre)),
        }
    }
}

#[derive(Debug)]
struct Convolve;

impl<B: Gradients> Backward<B, 2> for Convolve {
    type State = [FloatTensor<B>; 2];

    fn backward(self, ops: Ops<Self::State, 2>, tape: &mut Tape, _: &mut Checkpointer) {
        let dy = tape.consume::<B>(&ops.node);
        let ([x, filters], parents) = (ops.state, ops.parents);
        let wanted = parents.each_ref().map(Option::is_some);
        for (parent, gradient) in parents.into_iter().zip(B::convolve_gradients(x, filters, dy, wanted)) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                tape.register::<B>(parent.id, gradient);
            }
        }
    }
}

#[derive(Debug)]
struct Combine;

impl<B: Gradients> Backward<B, 1> for Combine {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, tape: &mut Tape, _: &mut Checkpointer) {
        let dy = tape.consume::<B>(&ops.node);
        if let [Some(parent)] = ops.parents {
            tape.register::<B>(parent.id, B::combine_gradient(ops.state, dy));
        }
    }
}

#[derive(Debug)]
struct Turned {
    turns: Turns,
    rows: usize,
}

impl<B: Gradients> Backward<B, 1> for Turned {
    type State = ();

    fn backward(self, ops: Ops<Self::State, 1>, tape: &mut Tape, _: &mut Checkpointer) {
        let dy = tape.consume::<B>(&ops.node);
        if let [Some(parent)] = ops.parents {
            tape.register::<B>(parent.id, B::turn_gradient(dy, self.turns, self.rows));
        }
    }
}

#[derive(Debug)]
struct Normalise(NormSettings);

impl<B: Gradients> Backward<B, 3> for Normalise {
    type State = [FloatTensor<B>; 4];

    fn backward(self, ops: Ops<Self::State, 3>, tape: &mut Tape, _: &mut Checkpointer) {
        let dy = tape.consume::<B>(&ops.node);
        let [x, gamma, beta, moments] = ops.state;
        let gradients = B::normalise_gradients(x, gamma, beta, moments, dy, self.0);
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some(parent) = parent {
                tape.register::<B>(parent.id, gradient);
            }
        }
    }
}

#[derive(Debug)]
struct PoolSpace {
    sides: [usize; 2],
    factor: f32,
}

impl<B: Gradients> Backward<B, 1> for PoolSpace {
    type State = ();

    fn backward(self, ops: Ops<Self::State, 1>, tape: &mut Tape, _: &mut Checkpointer) {
        let dy = tape.consume::<B>(&ops.node);
        if let [Some(parent)] = ops.parents {
            tape.register::<B>(parent.id, B::pool_space_gradient(dy, self.sides, self.factor));
        }
    }
}

#[derive(Debug)]
struct PoolFibre(usize);

impl<B: Gradients> Backward<B, 1> for PoolFibre {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, tape: &mut Tape, _: &mut Checkpointer) {
        let dy = tape.consume::<B>(&ops.node);
        if let [Some(parent)] = ops.parents {
            tape.register::<B>(parent.id, B::pool_fibre_gradient(ops.state, dy, self.0));
        }
    }
}
