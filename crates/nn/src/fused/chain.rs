//! Dense layers one after the other.

use burn::nn::Linear;
use invar_kernels::{DenseShape, Workspace, dense};

use super::layer::{Dense, Rows, Weights, kernel, values};
use super::sized;
use crate::cg_linear::CgLinear;
use crate::{Activation, Result};

/// Layers with what their passes write, kept from one to the next.
pub(super) struct Chain {
    pub(super) links: Vec<Link>,
    /// Of every layer.
    pub(super) outputs: Vec<Vec<f32>>,
    /// With respect to the outputs.
    pub(super) gradients: Vec<Vec<f32>>,
}

/// A layer, and whether a ReLU follows it.
pub(super) struct Link {
    pub(super) dense: Dense,
    relu: bool,
    /// What the weights are combined from, if they are not trained themselves.
    combined: Option<Combined>,
}

/// Weights that combine invariant subspaces: basis times coefficients.
struct Combined {
    /// `[points, rank]`.
    basis: Vec<f32>,
    /// Points, rank, and weights for each point.
    shape: DenseShape,
    coefficients: Weights,
    /// The bias, if there is but one for all neurons.
    single: Option<Weights>,
    /// Nothing, one for every column.
    zeros: Vec<f32>,
}

impl Link {
    pub(super) fn of(linear: &Linear, relu: bool) -> Result<Self> {
        Ok(Self { dense: Dense::of(linear)?, relu, combined: None })
    }

    /// A CG layer; none if its activation is not written out.
    pub(super) fn of_cg(layer: &CgLinear, workspace: &mut Workspace) -> Result<Option<Self>> {
        let relu = match layer.activation() {
            Activation::Identity => false,
            Activation::Relu => true,
            _ => return Ok(None),
        };
        let [points, rank] = layer.weights.basis.dims();
        let columns = layer.features() * layer.neurons();
        let single = layer.bias.as_ref().filter(|bias| bias.dims() == [1] && layer.neurons() > 1);
        let combined = Combined {
            basis: values(&layer.weights.basis.val())?,
            shape: DenseShape::new(points, rank, columns),
            coefficients: Weights::of(&layer.weights.coefficients)?,
            single: single.map(Weights::of).transpose()?,
            zeros: vec![0.0; columns],
        };
        let mut link = Self { dense: Dense::of(&layer.fold())?, relu, combined: Some(combined) };
        link.combine(workspace)?;
        Ok(Some(link))
    }

    pub(super) fn write_to(&self, linear: &mut Linear) {
        self.dense.write_to(linear);
    }

    pub(super) fn write_to_cg(&self, layer: &mut CgLinear) {
        let Some(combined) = &self.combined else { return };
        combined.coefficients.write_to(&mut layer.weights.coefficients);
        if let Some(bias) = &mut layer.bias {
            combined.single.as_ref().unwrap_or(&self.dense.bias).write_to(bias);
        }
    }

    /// The weights from what they are combined from.
    fn combine(&mut self, workspace: &mut Workspace) -> Result<()> {
        let Some(Combined { basis, shape, coefficients, single, zeros }) = &self.combined else { return Ok(()) };
        kernel(dense::forward(shape, basis, &coefficients.value, zeros, false, &mut self.dense.weight.value, workspace))?;
        if let Some(single) = single {
            self.dense.bias.value.fill(single.value[0]);
        }
        Ok(())
    }

    /// The gradient of what the weights are combined from.
    fn take_apart(&mut self, workspace: &mut Workspace) -> Result<()> {
        let Some(Combined { basis, shape, coefficients, single, zeros }) = &mut self.combined else { return Ok(()) };
        let gradient = &mut coefficients.gradient;
        kernel(dense::backward_weights(shape, basis, &self.dense.weight.gradient, gradient, zeros, workspace))?;
        // What was written there are sums of columns.
        zeros.fill(0.0);
        if let Some(single) = single {
            single.gradient[0] = self.dense.bias.gradient.iter().sum();
        }
        Ok(())
    }

    /// Does something with all numbers that are trained.
    pub(super) fn each_weights(&mut self, mut work: impl FnMut(&mut Weights) -> Result<()>) -> Result<()> {
        let Self { dense, combined, .. } = self;
        match combined {
            None => work(&mut dense.weight)?,
            Some(combined) => work(&mut combined.coefficients)?,
        }
        match combined.as_mut().and_then(|combined| combined.single.as_mut()) {
            Some(single) => work(single),
            None if dense.biased => work(&mut dense.bias),
            None => Ok(()),
        }
    }

    /// After a step of the weights.
    pub(super) fn settle(&mut self, workspace: &mut Workspace) -> Result<()> {
        self.combine(workspace)
    }
}

impl Chain {
    pub(super) fn new(links: Vec<Link>) -> Self {
        let buffers = || links.iter().map(|_| Vec::new()).collect();
        Self { outputs: buffers(), gradients: buffers(), links }
    }

    /// Entries of an input row.
    pub(super) fn inputs(&self) -> usize {
        self.links[0].dense.inputs
    }

    /// Entries of an output row.
    pub(super) fn width(&self) -> usize {
        self.links[self.links.len() - 1].dense.outputs
    }

    pub(super) fn forward(&mut self, inputs: &[f32], count: usize, workspace: &mut Workspace) -> Result<()> {
        for (k, link) in self.links.iter().enumerate() {
            let (before, rest) = self.outputs.split_at_mut(k);
            let x = before.last().map_or(inputs, |outputs| outputs);
            let y = sized(&mut rest[0], count * link.dense.outputs);
            link.dense.forward(Rows::of(x, link.dense.inputs, count), link.relu, y, workspace)?;
        }
        Ok(())
    }

    /// What the last layer says about so many examples, and room for the gradient of that.
    pub(super) fn answers(&mut self, count: usize) -> (&[f32], &mut [f32]) {
        let (last, width) = (self.links.len() - 1, self.width());
        (&self.outputs[last][..count * width], sized(&mut self.gradients[last], count * width))
    }

    /// The gradients of all weights, and of the inputs if they are asked for, after the gradient of the answers was written.
    pub(super) fn backward(
        &mut self,
        inputs: &[f32],
        mut d_inputs: Option<&mut [f32]>,
        count: usize,
        workspace: &mut Workspace,
    ) -> Result<()> {
        for k in (0..self.links.len()).rev() {
            let (before, rest) = self.links.split_at_mut(k);
            let (d_before, d_rest) = self.gradients.split_at_mut(k);
            let link = &mut rest[0];
            let width = link.dense.inputs;
            let x = if k == 0 { inputs } else { &self.outputs[k - 1] };
            let dx = match (before.last(), d_before.last_mut()) {
                (Some(previous), Some(buffer)) => Some((sized(buffer, count * width), previous.relu)),
                _ => d_inputs.take().map(|d_inputs| (d_inputs, false)),
            };
            link.dense.backward(Rows::of(x, width, count), &d_rest[0][..count * link.dense.outputs], dx, workspace)?;
            link.take_apart(workspace)?;
        }
        Ok(())
    }
}
