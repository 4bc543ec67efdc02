//! The optimisers on offer.

use burn::optim::momentum::MomentumConfig;
use burn::optim::{AdamConfig, ModuleOptimizer, SgdConfig};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How gradients become steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Optimizer {
    /// Adam with the usual moments 0.9 and 0.999 and epsilon 1e-8.
    Adam {
        /// Step size.
        learning_rate: f64,
    },
    /// Stochastic gradient descent with momentum.
    Sgd {
        /// Step size.
        learning_rate: f64,
        /// Share of the last step that is kept, in [0, 1).
        momentum: f64,
    },
}

impl Optimizer {
    /// Step size before any schedule.
    pub fn learning_rate(&self) -> f64 {
        let (Self::Adam { learning_rate } | Self::Sgd { learning_rate, .. }) = self;
        *learning_rate
    }

    pub(crate) fn check(&self) -> Result<()> {
        let rate = self.learning_rate();
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Error::setting("learning rate", "a positive number", rate));
        }
        match self {
            Self::Sgd { momentum, .. } if !(0.0..1.0).contains(momentum) => {
                Err(Error::setting("momentum", "in the range [0, 1)", momentum))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn build(&self) -> ModuleOptimizer {
        match *self {
            Self::Adam { .. } => AdamConfig::new().with_epsilon(1e-8).init(),
            Self::Sgd { momentum, .. } => {
                let momentum = (momentum > 0.0).then(|| MomentumConfig::new().with_momentum(momentum).with_dampening(0.0));
                SgdConfig::new().with_momentum(momentum).init()
            }
        }
    }
}
