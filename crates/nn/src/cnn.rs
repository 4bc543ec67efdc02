//! The convolutional network for images (Appendix E.1 and G.1): VGG with ordinary filters, with CG-invariant filters, or with
//! filters that look in every direction.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};
use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use crate::batch_norm::BatchNorm;
use crate::cg_conv::{CgConv2d, Conv2d};
use crate::coset_conv::CosetConv2d;
use crate::image_groups::ImageGroups;
use crate::kernels::{self, Window};
use crate::lattices::Lattices;
use crate::pass::check_dropout;
use crate::{CgWeights, Error, Head, Init, Input, Model, Pass, Result};

/// Side of every filter.
const SIDE: usize = 3;

/// The convolutions of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Eight, as printed (Appendix G.1): 64, then seven of 128, pooling behind every second.
    #[default]
    Paper,
    /// Six, as in the published code: 64, 128, 128, 128, 128, 128, pooling behind the first, second, fourth and sixth.
    Reference,
    /// Three: 16, 32, 32, pooling behind the first and second. For networks that run it once per group element.
    Small,
}

impl Depth {
    /// Channels of each convolution, and whether pooling follows.
    fn layers(self) -> &'static [(usize, bool)] {
        match self {
            Self::Paper => {
                &[(64, false), (128, true), (128, false), (128, true), (128, false), (128, true), (128, false), (128, true)]
            }
            Self::Reference => &[(64, true), (128, true), (128, false), (128, true), (128, false), (128, true)],
            Self::Small => &[(16, true), (32, true), (32, false)],
        }
    }
}

/// How an image is halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pool {
    /// Windows of 2, as published: an odd side loses its last row, 28-14-7-3-1. From 7 on the image has then no longer a
    /// centre, so that turning the image is not turning what follows, and exact filters do not make an exact network.
    #[default]
    Floor,
    /// Windows of 2 on even sides and of 3, overlapping by one, on odd sides: the sizes are the same, 28-14-7-3-1, and
    /// windows go to windows under every symmetry of the square.
    Symmetric,
}

impl Pool {
    /// The window for an image; a side of 1 is left alone.
    pub(crate) fn window(self, sides: [usize; 2]) -> Option<Window> {
        let size = sides.map(|side| match (side, self) {
            (..=1, _) => 1,
            (odd, Self::Symmetric) if !odd.is_multiple_of(2) => 3,
            _ => 2,
        });
        (size != [1, 1]).then(|| Window { size, stride: size.map(|s| s.min(2)) })
    }
}

/// Which filters a network has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Filters {
    /// Any.
    #[default]
    Plain,
    /// Combinations of invariant subspaces: all candidates on the first layer, those that move space on the others.
    Cg {
        /// Candidates that every filter must be invariant to; nothing: the penalty decides.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        imposed: Option<GroupSet>,
    },
    /// The baseline that is invariant to everything (Appendix G.1): p4m convolutions with coset pooling behind each, on the
    /// sum of the input channels.
    P4m,
}

/// Settings of a [`Cnn`].
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `channels` | 3 | of an image | >= 1 |
/// | `outputs` | | classes | >= 1 |
/// | `depth` | paper | convolutions | |
/// | `width` | 1 | multiplies the channels of every convolution | > 0 |
/// | `pool` | floor | how an image is halved | |
/// | `filters` | plain | | |
/// | `head` | hidden | what follows the sum pooling | |
/// | `hidden` | 50 | width of the dense layer, if there is one | >= 1 |
/// | `dropout` | 0.5 | before the outputs | [0, 1) |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CnnConfig {
    /// Channels of an image.
    pub channels: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// The convolutions.
    pub depth: Depth,
    /// Multiplies their channels.
    pub width: f64,
    /// How an image is halved.
    pub pool: Pool,
    /// The filters.
    pub filters: Filters,
    /// What follows the sum pooling: the published dense layer, or the outputs at once.
    pub head: Head,
    /// Width of the dense layer.
    pub hidden: usize,
    /// Dropout before the outputs.
    pub dropout: f64,
}

impl CnnConfig {
    /// The published network for colour images, with ordinary filters.
    pub fn new(outputs: usize) -> Self {
        Self {
            channels: 3,
            outputs,
            depth: Depth::default(),
            width: 1.0,
            pool: Pool::default(),
            filters: Filters::default(),
            head: Head::Hidden,
            hidden: 50,
            dropout: 0.5,
        }
    }

    /// The lattices of the CG layers, one per convolution; none unless the filters are CG-invariant.
    pub fn lattices(&self, groups: &ImageGroups) -> Result<Lattices> {
        let layers = if matches!(self.filters, Filters::Cg { .. }) {
            if groups.channels() != self.channels || groups.side() != SIDE {
                let got = format!("{} x {} x {}", groups.channels(), groups.side(), groups.side());
                return Err(Error::shape("shape of the candidates", format!("{} x {SIDE} x {SIDE}", self.channels), got));
            }
            let later = groups.later_layer()?;
            let others = std::iter::repeat_n(later, self.depth.layers().len() - 1);
            std::iter::once(groups.first_layer()?).chain(others).collect()
        } else {
            Vec::new()
        };
        Lattices::new(groups.len(), layers)
    }

    /// Draws the network. CG-invariant filters need the lattices of [`CnnConfig::lattices`]; others take none.
    pub fn init(&self, lattices: Option<&Lattices>, init: &mut Init) -> Result<Cnn> {
        self.check()?;
        let lattices = self.filter_lattices(lattices)?;
        let mut inputs = if self.filters == Filters::P4m { 1 } else { self.channels };
        let mut blocks = Vec::new();
        for (i, &(channels, pooled)) in self.depth.layers().iter().enumerate() {
            let outputs = ((channels as f64 * self.width).round() as usize).max(1);
            let conv = match &self.filters {
                Filters::Plain => Conv::Plain(Conv2d::new(inputs, SIDE, outputs, init)?),
                Filters::P4m => Conv::Coset(CosetConv2d::new(inputs, SIDE, outputs, init)?),
                Filters::Cg { imposed } => {
                    let layer = &lattices[i];
                    let imposed = imposed.as_ref().map(|set| layer.invariant_basis(set)).transpose()?;
                    Conv::Cg(CgConv2d::new(layer.bases(), imposed.as_deref(), inputs, SIDE, outputs, init)?)
                }
            };
            let pool = if pooled { Some(self.pool) } else { None };
            blocks.push(ConvBlock { conv, norm: BatchNorm::new(outputs, init)?, pool });
            inputs = outputs;
        }
        let hidden = (self.head == Head::Hidden).then(|| init.linear(inputs, self.hidden));
        let features = if hidden.is_some() { self.hidden } else { inputs };
        Ok(Cnn { blocks, hidden, output: init.linear(features, self.outputs), config: self.clone() })
    }

    fn check(&self) -> Result<()> {
        kernels::check()?;
        check_dropout(self.dropout)?;
        if !(self.width > 0.0 && self.width.is_finite()) {
            return Err(Error::setting("width", "a positive number", self.width));
        }
        for (name, value) in [("channels", self.channels), ("outputs", self.outputs), ("hidden width", self.hidden)] {
            if value == 0 {
                return Err(Error::setting(name, "at least 1", value));
            }
        }
        Ok(())
    }

    fn filter_lattices<'a>(&self, lattices: Option<&'a Lattices>) -> Result<&'a [crate::LayerLattice]> {
        let layers = lattices.map(Lattices::layers).unwrap_or_default();
        let expected = if matches!(self.filters, Filters::Cg { .. }) { self.depth.layers().len() } else { 0 };
        if layers.len() == expected {
            return Ok(layers);
        }
        Err(Error::shape("lattices of CG layers", expected, layers.len()))
    }
}

/// One of the kinds of convolution.
#[derive(Module, Debug)]
pub(crate) enum Conv {
    Plain(Conv2d),
    Cg(CgConv2d),
    Coset(CosetConv2d),
}

/// Convolution, batch norm, ReLU, and pooling behind some.
#[derive(Module, Debug)]
pub(crate) struct ConvBlock {
    pub(crate) conv: Conv,
    pub(crate) norm: BatchNorm,
    #[module(skip)]
    pub(crate) pool: Option<Pool>,
}

impl ConvBlock {
    fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        let [_, height, width, _] = x.dims();
        let window = self.pool.and_then(|pool| pool.window([height, width]));
        let x = match &self.conv {
            Conv::Plain(conv) => conv.forward(x),
            Conv::Cg(conv) => conv.forward(x),
            Conv::Coset(conv) => conv.forward(x),
        };
        self.norm.forward(x, window, pass)
    }
}

/// Convolutions, sum pooling over space, perhaps dense ReLU, dropout, outputs. See [`CnnConfig`].
#[derive(Module, Debug)]
pub struct Cnn {
    pub(crate) blocks: Vec<ConvBlock>,
    pub(crate) hidden: Option<Linear>,
    pub(crate) output: Linear,
    #[module(skip)]
    pub(crate) config: CnnConfig,
}

impl Cnn {
    /// The same network with ordinary filters, CG bases multiplied out.
    #[must_use]
    pub fn fold(mut self) -> Self {
        for block in &mut self.blocks {
            if let Conv::Cg(conv) = &block.conv {
                block.conv = Conv::Plain(conv.fold());
            }
        }
        if matches!(self.config.filters, Filters::Cg { .. }) {
            self.config.filters = Filters::Plain;
        }
        self
    }
}

impl Model for Cnn {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        let mut x = input.images("this convolutional network")?;
        let channels = x.dims()[1];
        if channels != self.config.channels {
            return Err(Error::shape("channels of the images", self.config.channels, channels));
        }
        if self.config.filters == Filters::P4m {
            x = x.sum_dim(1);
        }
        let mut x = kernels::channels_last(x);
        for block in &self.blocks {
            x = block.forward(x, pass);
        }
        let mut x = kernels::sum_pool(x);
        if let Some(hidden) = &self.hidden {
            x = activation::relu(hidden.forward(x));
        }
        Ok(self.output.forward(pass.dropout(x, self.config.dropout)))
    }

    fn cg_layers(&self) -> Vec<&CgWeights> {
        self.blocks
            .iter()
            .filter_map(|block| match &block.conv {
                Conv::Cg(conv) => Some(&conv.weights),
                _ => None,
            })
            .collect()
    }

    fn cg_layers_mut(&mut self) -> Vec<&mut CgWeights> {
        self.blocks
            .iter_mut()
            .filter_map(|block| match &mut block.conv {
                Conv::Cg(conv) => Some(&mut conv.weights),
                _ => None,
            })
            .collect()
    }

    fn batch(&self) -> usize {
        128
    }

    fn describe(&self) -> String {
        let kind = match &self.config.filters {
            Filters::Plain => "filters",
            Filters::Cg { imposed: None } => "CG-invariant filters",
            Filters::Cg { imposed: Some(_) } => "CG-invariant filters, imposed",
            Filters::P4m => "p4m filters with coset pooling on the sum of channels",
        };
        let layers: Vec<String> = self
            .blocks
            .iter()
            .map(|block| {
                let channels = block.norm.gamma.dims()[0];
                if block.pool.is_some() { format!("{channels} M") } else { channels.to_string() }
            })
            .collect();
        let hidden = if self.hidden.is_some() { format!("dense {} ReLU, ", self.config.hidden) } else { String::new() };
        format!("CNN: {SIDE}x{SIDE} {kind}: {}; sum pooling, {hidden}output {}", layers.join(" "), self.config.outputs)
    }
}

#[cfg(test)]
#[path = "cnn_tests.rs"]
mod tests;
