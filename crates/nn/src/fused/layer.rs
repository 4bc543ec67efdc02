//! A dense layer with its gradients and the moments of Adam.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use invar_kernels::{Adam, DenseShape, Workspace, dense};

use crate::{Error, Result};

/// What a kernel refuses is a mistake of ours; it has a message all the same.
pub(super) fn kernel<T>(result: invar_kernels::Result<T>) -> Result<T> {
    result.map_err(|error| Error::Backend { operation: "a step of training", message: error.to_string() })
}

/// The values of a tensor.
pub(super) fn values<const D: usize>(tensor: &Tensor<D>) -> Result<Vec<f32>> {
    let data = tensor.clone().detach().into_data();
    data.try_to_vec().map_err(|error| Error::Backend { operation: "reading a tensor", message: format!("{error:?}") })
}

/// Numbers that are trained.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    pub(super) value: Vec<f32>,
    pub(super) gradient: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Weights {
    pub(super) fn of<const D: usize>(parameter: &Param<Tensor<D>>) -> Result<Self> {
        let value = values(&parameter.val())?;
        let zeros = vec![0.0; value.len()];
        Ok(Self { gradient: zeros.clone(), mean: zeros.clone(), square: zeros, value })
    }

    pub(super) fn write_to<const D: usize>(&self, parameter: &mut Param<Tensor<D>>) {
        let shape = parameter.lazy_shape().dims::<D>();
        let device = parameter.val().device();
        *parameter = Param::from_data(TensorData::new(self.value.clone(), shape), &device);
    }

    pub(super) fn step(&mut self, adam: &Adam, t: u32, workspace: &mut Workspace) -> Result<()> {
        kernel(adam.step(t, &mut self.value, &self.gradient, &mut self.mean, &mut self.square, workspace))
    }

    /// Numbers that processors are slow with.
    #[cfg(test)]
    pub(super) fn denormals(&self) -> usize {
        let parts = [&self.value, &self.gradient, &self.mean, &self.square];
        parts.into_iter().flatten().filter(|value| value.is_subnormal()).count()
    }
}

/// Rows of numbers, with the distance from one to the next.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) values: &'a [f32],
    pub(super) stride: usize,
    pub(super) count: usize,
}

impl<'a> Rows<'a> {
    /// Side by side.
    pub(super) fn of(values: &'a [f32], width: usize, count: usize) -> Self {
        Self { values: &values[..width * count], stride: width, count }
    }
}

/// y = x w + b.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weight: Weights,
    pub(super) bias: Weights,
    /// A layer without a bias adds zeros that are not trained.
    pub(super) biased: bool,
}

impl Dense {
    pub(super) fn of(linear: &Linear) -> Result<Self> {
        let [inputs, outputs] = linear.weight.dims();
        let weight = Weights::of(&linear.weight)?;
        let (bias, biased) = match &linear.bias {
            Some(bias) => (Weights::of(bias)?, true),
            None => (Weights::of(&Param::from_tensor(Tensor::<1>::zeros([outputs], &device_of(linear))))?, false),
        };
        Ok(Self { inputs, outputs, weight, bias, biased })
    }

    pub(super) fn write_to(&self, linear: &mut Linear) {
        self.weight.write_to(&mut linear.weight);
        if let Some(bias) = &mut linear.bias {
            self.bias.write_to(bias);
        }
    }

    fn shape(&self, rows: Rows<'_>, output_stride: usize) -> DenseShape {
        let (inputs, outputs) = (self.inputs, self.outputs);
        DenseShape { rows: rows.count, inputs, outputs, input_stride: rows.stride, output_stride }
    }

    pub(super) fn forward(&self, x: Rows<'_>, relu: bool, y: &mut [f32], workspace: &mut Workspace) -> Result<()> {
        self.forward_into(x, relu, y, self.outputs, workspace)
    }

    /// Output rows lie apart.
    pub(super) fn forward_into(
        &self,
        x: Rows<'_>,
        relu: bool,
        y: &mut [f32],
        stride: usize,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let shape = self.shape(x, stride);
        kernel(dense::forward(&shape, x.values, &self.weight.value, &self.bias.value, relu, y, workspace))
    }

    /// The gradients of the weights, and of the inputs if they are asked for; the flag says that these come out of a ReLU.
    pub(super) fn backward(
        &mut self,
        x: Rows<'_>,
        dy: &[f32],
        dx: Option<(&mut [f32], bool)>,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let shape = self.shape(x, self.outputs);
        let (dw, db) = (&mut self.weight.gradient, &mut self.bias.gradient);
        kernel(dense::backward_weights(&shape, x.values, dy, dw, db, workspace))?;
        if let Some((dx, relu)) = dx {
            let through = relu.then_some(x.values);
            kernel(dense::backward_input(&shape, dy, &self.weight.value, through, dx, workspace))?;
        }
        Ok(())
    }
}

fn device_of(linear: &Linear) -> Device {
    linear.devices().into_iter().next().map_or_else(Device::flex, Device::inner)
}
