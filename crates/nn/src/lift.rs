//! The equivariant lift for images with a CG head: group convolutions over quarter turns and mirrors keep the arrangement of
//! parts, and the head decides what the whole network is invariant to.

use burn::module::Module;
use burn::tensor::Tensor;
use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use crate::batch_norm::BatchNorm;
use crate::cg_head::{CgHead, CgHeadConfig};
use crate::cnn::Pool;
use crate::directions::{SYMMETRIES, square};
use crate::group_conv::{GroupConv2d, LiftConv2d};
use crate::image_groups::ImageGroups;
use crate::kernels;
use crate::lattices::Lattices;
use crate::{CgWeights, Error, Init, Input, Model, Pass, Result};

/// Side of every filter.
const SIDE: usize = 3;

/// Layers with pooling behind them: 28-14-7.
pub(crate) const POOLED: usize = 2;

/// Settings of a [`Lift`].
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `channels` | 3 | of an image | >= 1 |
/// | `outputs` | | classes | >= 1 |
/// | `widths` | 8, 16, 16, 32 | channels of each convolution, in eight directions each | >= 1, at least one |
/// | `normed` | yes | whether the means over space are normalised, with a ReLU behind, before they reach the head | |
/// | `head` | see [`CgHeadConfig`] | | |
/// | `imposed` | none | candidates the whole network must be invariant to | |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiftConfig {
    /// Channels of an image.
    pub channels: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Channels of each convolution.
    pub widths: Vec<usize>,
    /// Whether the means over space are normalised before they reach the head. They differ little from image to image, and those that
    /// are also means over directions, which is all that an invariant head sees, even less: without it such a network learns slowly.
    #[serde(default)]
    pub normed: bool,
    /// CG layer and what follows it.
    pub head: CgHeadConfig,
    /// Candidates that are imposed; nothing: the penalty decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imposed: Option<GroupSet>,
}

impl LiftConfig {
    /// Default sizes for colour images.
    pub fn new(outputs: usize) -> Self {
        Self { channels: 3, outputs, widths: vec![8, 16, 16, 32], normed: true, head: CgHeadConfig::default(), imposed: None }
    }

    /// The two lattices: on the channels of the first layer's filters, and on the eight directions that reach the head. Each
    /// candidate acts on one of them; one that moves both channels and space needs [`Orbit`](crate::Orbit).
    pub fn lattices(&self, groups: &ImageGroups) -> Result<Lattices> {
        if let Some(name) = groups.mixed() {
            let expected = "to act on channels alone or on space alone (the networks feedforward and orbit take both)";
            return Err(Error::shape("candidate of a lifted network", expected, name));
        }
        if groups.channels() != self.channels {
            return Err(Error::shape("channels of the candidates", self.channels, groups.channels()));
        }
        let elements = square(groups.side())?;
        if elements.list().len() != SYMMETRIES {
            return Err(Error::shape("side of the candidates' patches", "3 or more", groups.side()));
        }
        let directions = elements.lattice(groups.spatial())?;
        Lattices::new(groups.len(), vec![groups.channel_layer()?, directions])
    }

    /// Draws the network on the lattices of [`LiftConfig::lattices`].
    pub fn init(&self, lattices: &Lattices, init: &mut Init) -> Result<Lift> {
        kernels::check()?;
        let [channels, directions] = lattices.layers() else {
            return Err(Error::shape("lattices of a lifted network", 2, lattices.layers().len()));
        };
        for (what, layer, dim) in
            [("channel lattice", channels, self.channels), ("lattice of directions", directions, SYMMETRIES)]
        {
            if layer.bases().dim != dim {
                return Err(Error::shape(what, format!("dimension {dim}"), layer.bases().dim));
            }
        }
        let Some((&first, rest)) = self.widths.split_first() else {
            return Err(Error::setting("widths", "at least one convolution", 0));
        };
        let imposed = self.imposed.as_ref().map(|set| channels.invariant_basis(set)).transpose()?;
        let entry = LiftConv2d::new(channels, imposed.as_deref(), SIDE, first, init)?;
        let mut norms = vec![BatchNorm::new(first, init)?.shared_by(SYMMETRIES)];
        let (mut convs, mut inputs) = (Vec::new(), first);
        for &outputs in rest {
            convs.push(GroupConv2d::new(inputs, SIDE, outputs, init)?);
            norms.push(BatchNorm::new(outputs, init)?.shared_by(SYMMETRIES));
            inputs = outputs;
        }
        let pooled_norm = if self.normed { Some(BatchNorm::new(inputs, init)?.shared_by(SYMMETRIES)) } else { None };
        let head = self.head.init(directions, self.imposed.as_ref(), inputs, self.outputs, init)?;
        Ok(Lift { entry, convs, norms, pooled_norm, head, channels: self.channels })
    }
}

/// Lifting convolution, group convolutions, mean over space, norm, CG head. See [`LiftConfig`].
#[derive(Module, Debug)]
pub struct Lift {
    pub(crate) entry: LiftConv2d,
    pub(crate) convs: Vec<GroupConv2d>,
    pub(crate) norms: Vec<BatchNorm>,
    /// The norm behind the mean over space.
    pub(crate) pooled_norm: Option<BatchNorm>,
    /// The CG layer on the eight directions and what follows it.
    pub head: CgHead,
    #[module(skip)]
    channels: usize,
}

impl Lift {
    /// The equivariant features, `[batch, 8, channels]`: moving the image by h moves them from direction g to h g.
    fn features(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<3> {
        let mut x = self.entry.forward(kernels::channels_last(x));
        for (i, norm) in self.norms.iter().enumerate() {
            let [_, height, width, _] = x.dims();
            let window = if i < POOLED { Pool::Symmetric.window([height, width]) } else { None };
            x = norm.forward(x, window, pass);
            if let Some(conv) = self.convs.get(i) {
                x = conv.forward(x);
            }
        }
        let mut x = kernels::mean_pool(x);
        let [batch, channels] = x.dims();
        if let Some(norm) = &self.pooled_norm {
            x = norm.forward(x.reshape([batch, 1, 1, channels]), None, pass).reshape([batch, channels]);
        }
        x.reshape([batch, channels / SYMMETRIES, SYMMETRIES]).swap_dims(1, 2)
    }
}

impl Model for Lift {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        let x = input.images("this lifted network")?;
        let [_, channels, height, width] = x.dims();
        if channels != self.channels {
            let got = format!("{channels} x {height} x {width}");
            return Err(Error::shape("images", format!("{} x height x width", self.channels), got));
        }
        Ok(self.head.forward(self.features(x, pass), pass))
    }

    fn cg_layers(&self) -> Vec<&CgWeights> {
        vec![&self.entry.weights, &self.head.cg.weights]
    }

    fn cg_layers_mut(&mut self) -> Vec<&mut CgWeights> {
        vec![&mut self.entry.weights, &mut self.head.cg.weights]
    }

    fn batch(&self) -> usize {
        128
    }

    fn describe(&self) -> String {
        let widths: Vec<String> = self.norms.iter().map(|norm| norm.gamma.dims()[0].to_string()).collect();
        format!(
            "p4m lift: {SIDE}x{SIDE} group convolutions {} x {SYMMETRIES} directions, mean pooling, {}{}",
            widths.join("-"),
            if self.pooled_norm.is_some() { "norm ReLU, " } else { "" },
            self.head.describe()
        )
    }
}

#[cfg(test)]
#[path = "lift_tests.rs"]
mod tests;
