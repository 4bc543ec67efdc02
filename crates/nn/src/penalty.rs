//! The invariance penalties: R of Eq. 12 (hard, and its differentiable form of Appendix F.2) and the choice between R and
//! [`Violations`].

use burn::tensor::{Device, Tensor, activation};
use serde::{Deserialize, Serialize};

use crate::cg_weights::CgWeights;
use crate::layout::Layout;
use crate::violations::Violations;
use crate::{Error, Result, Reynolds};

/// Keeps the square root differentiable at 0: sqrt(s) becomes s / sqrt(s + FLOOR), exact at 0, with slope 0 there.
const FLOOR: f64 = 1e-12;

/// What z(M), the amount of a subspace in use, is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// Norm of omega(M): as in the published code; its kink at 0 acts as a group lasso.
    #[default]
    Norm,
    /// Squared norm of omega(M): as printed in Eq. 12.
    Squared,
    /// Norm of omega(M) divided by the sum of the norms of all subspaces of the layer: blind to scale.
    Relative,
}

/// The smooth stand-in for the indicator 1{z > 0}.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proxy {
    /// tau z / (tau z + 1), as in Appendix F.2.
    #[default]
    Ratio,
    /// 2 sigmoid(tau z) - 1.
    Sigmoid,
}

impl Proxy {
    /// Smooth indicator of nonnegative entries.
    pub(crate) fn soft<const D: usize>(self, z: Tensor<D>, temperature: f64) -> Tensor<D> {
        let z = z.mul_scalar(temperature);
        match self {
            Self::Ratio => z.clone().div(z.add_scalar(1.0)),
            Self::Sigmoid => activation::sigmoid(z).mul_scalar(2.0).sub_scalar(1.0),
        }
    }
}

/// A penalty by name, as it stands in configuration files and records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PenaltyConfig {
    /// R of Eq. 12.
    Levels {
        /// z(M).
        #[serde(default)]
        size: Size,
        /// The smooth indicator.
        #[serde(default)]
        proxy: Proxy,
        /// tau >= 1.
        #[serde(default = "one")]
        temperature: f64,
    },
    /// The smooth count of broken groups.
    Violations {
        /// tau >= 1; 100 unless told.
        #[serde(default = "hundred")]
        temperature: f64,
    },
}

fn one() -> f64 {
    1.0
}

fn hundred() -> f64 {
    100.0
}

impl Default for PenaltyConfig {
    /// As published: norms, ratio proxy, temperature 1.
    fn default() -> Self {
        Self::Levels { size: Size::Norm, proxy: Proxy::Ratio, temperature: one() }
    }
}

impl PenaltyConfig {
    /// The violations penalty at its usual temperature of 100.
    pub fn violations() -> Self {
        Self::Violations { temperature: hundred() }
    }

    /// Checks the settings and prepares the penalty of a network with one CG layer; `violations` needs the groups.
    pub fn build(&self, reynolds: Option<&Reynolds>, device: &Device) -> Result<Penalty> {
        self.build_layers(reynolds.map(std::slice::from_ref).unwrap_or_default(), device)
    }

    /// The penalty of a network with several CG layers: `violations` needs the groups that act in each, in the order of
    /// [`Model::cg_layers`](crate::Model::cg_layers).
    pub fn build_layers(&self, reynolds: &[Reynolds], device: &Device) -> Result<Penalty> {
        let (Self::Levels { temperature, .. } | Self::Violations { temperature }) = *self;
        if !(temperature >= 1.0 && temperature.is_finite()) {
            return Err(Error::setting("temperature", "a number of at least 1", temperature));
        }
        match *self {
            Self::Levels { size, proxy, .. } => Ok(Penalty::Levels(LevelPenalty { size, proxy, temperature })),
            Self::Violations { .. } if reynolds.is_empty() => {
                Err(Error::setting("penalty", "`levels` when no groups are given", "violations"))
            }
            Self::Violations { .. } => {
                let layer = |groups| Violations::new(groups, temperature, device);
                Ok(Penalty::Violations(reynolds.iter().map(layer).collect::<Result<_>>()?))
            }
        }
    }
}

/// A penalty ready for use in training.
#[derive(Debug, Clone)]
pub enum Penalty {
    /// R of Eq. 12.
    Levels(LevelPenalty),
    /// The smooth count of broken groups, one per CG layer.
    Violations(Vec<Violations>),
}

impl Penalty {
    /// The differentiable penalty of CG layer number `layer`, shape `[1]`.
    pub fn soft(&self, layer: usize, weights: &CgWeights) -> Result<Tensor<1>> {
        match self {
            Self::Levels(levels) => Ok(levels.soft(weights)),
            Self::Violations(layers) => match layers.get(layer) {
                Some(violations) => violations.soft(weights),
                None => Err(Error::shape("CG layers with groups for `violations`", layer + 1, layers.len())),
            },
        }
    }

    /// The sum over all CG layers of a network, shape `[1]`, or nothing when there are none.
    pub fn total(&self, layers: &[&CgWeights]) -> Result<Option<Tensor<1>>> {
        let mut sum: Option<Tensor<1>> = None;
        for (i, weights) in layers.iter().enumerate() {
            let term = self.soft(i, weights)?;
            sum = Some(match sum {
                Some(sum) => sum + term,
                None => term,
            });
        }
        Ok(sum)
    }
}

/// Soft R: from most to least invariant level l < m present,
///
/// f_l = (subspaces at levels above l) + sum over |M| = l of soft(z(M)),
/// b_l = soft(sum over |M| = l of z(M)),
/// R <- (1 - b_l) R + b_l f_l.
///
/// Appendix F.2 prints the recursion the other way round; this order returns the *least* invariant level in use, as Eq. 12
/// asks. The level m of all groups is free.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelPenalty {
    size: Size,
    proxy: Proxy,
    temperature: f64,
}

impl LevelPenalty {
    /// z(M) of every block, shape `[blocks]`.
    pub fn sizes(&self, layer: &CgWeights) -> Tensor<1> {
        let squares = layer.block_squares();
        if self.size == Size::Squared {
            return squares;
        }
        let norms = squares.clone().div(squares.add_scalar(FLOOR).sqrt());
        match self.size {
            Size::Relative => norms.clone().div(norms.sum().add_scalar(FLOOR)),
            _ => norms,
        }
    }

    /// The differentiable penalty, shape `[1]`.
    pub fn soft(&self, layer: &CgWeights) -> Tensor<1> {
        let z = self.sizes(layer);
        let used = self.proxy.soft(z.clone(), self.temperature);
        let mut penalty: Option<Tensor<1>> = None;
        for (level, range) in layer.layout().levels() {
            if level == layer.layout().groups {
                continue;
            }
            let above = range.start as f64;
            let f = used.clone().slice(range.clone()).sum().add_scalar(above);
            let b = self.proxy.soft(z.clone().slice(range).sum(), self.temperature);
            penalty = Some(match penalty {
                None => b * f,
                Some(r) => (b.clone().neg().add_scalar(1.0)) * r + b * f,
            });
        }
        penalty.unwrap_or_else(|| Tensor::zeros([1], &z.device()))
    }
}

/// Hard R of Eq. 12 with the minimum taken over *used* subspaces: those whose norm exceeds `threshold`. 0 when nothing
/// below the level of all groups is in use.
pub fn hard(layout: &Layout, norms: &[f64], threshold: f64) -> Result<usize> {
    if norms.len() != layout.blocks.len() {
        return Err(Error::shape("norms of the subspaces", layout.blocks.len(), norms.len()));
    }
    let used = |i: &usize| norms[*i] > threshold;
    let least = layout.levels().into_iter().rev().find(|(_, range)| range.clone().any(|i| used(&i)));
    Ok(match least {
        Some((level, range)) if level < layout.groups => range.start + range.filter(used).count(),
        _ => 0,
    })
}

impl CgWeights {
    /// Norm of each block's coefficients, for reports and the hard penalty.
    pub fn block_norms(&self) -> Result<Vec<f64>> {
        Ok(crate::readout::read(&self.block_squares())?.into_iter().map(f64::sqrt).collect())
    }

    /// Hard R of this layer (Eq. 12).
    pub fn hard_penalty(&self, threshold: f64) -> Result<usize> {
        hard(&self.layout, &self.block_norms()?, threshold)
    }
}

#[cfg(test)]
#[path = "penalty_tests.rs"]
mod tests;
