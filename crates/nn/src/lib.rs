//! Networks whose weights combine invariant subspaces, the penalties that decide between those subspaces, the baselines they
//! are compared with, and the one training loop.
//!
//! Flow: [`Bases`] (from the lattice) -> [`CgWeights`] in a [`CgLinear`] or [`CgConv2d`] -> [`CgFeedForward`], [`Cnn`],
//! [`Lift`], [`Orbit`] and baselines, all a [`Network`] -> [`train()`] -> [`evaluate()`] and the readout of what was kept ([`Lattices::kept`],
//! [`Lattices::snap`], [`CgLinear::fold`]) -> [`lower()`], the network as a plain program.
//!
//! Seeds decide everything: initial weights are drawn by [`Init`], everything else by the training loop; the backend's own
//! generator is never used, so fits may run side by side on any number of threads.

mod activation;
mod bases;
mod dense;
mod error;
mod init;
mod layout;

mod cg_weights;
mod penalty;
mod readout;
mod violations;

mod data;
mod embedding;
mod pass;

mod cg_linear;
mod feed_forward;

pub mod kernels;

mod batch_norm;
mod cg_conv;
mod coset_conv;
mod directions;
mod elements;
mod group_conv;

mod cg_head;
mod cnn;
mod image_groups;
mod lift;
mod orbit;

mod averaged;

mod pairs;
mod ties;

pub mod baselines;
mod lattices;
mod network;

mod evaluate;
mod fused;
mod lower;
mod optimizer;
mod schedule;
mod step;
mod stopping;
mod train;
mod trainer;

pub use activation::Activation;
pub use averaged::Averaged;
pub use bases::{Bases, Block, Reynolds};
pub use batch_norm::{BatchNorm, Statistics};
pub use cg_conv::{CgConv2d, Conv2d};
pub use cg_head::{CgHead, CgHeadConfig};
pub use cg_linear::{Bias, CgLinear, CgLinearConfig};
pub use cg_weights::CgWeights;
pub use cnn::{Cnn, CnnConfig, Depth, Filters, Pool};
pub use coset_conv::CosetConv2d;
pub use data::{Augmentation, Dataset, Example, Inputs, Pixels, Targets};
pub use elements::Elements;
pub use embedding::{EMBEDDING, FixedEmbedding, gather};
pub use error::{Error, Result};
pub use evaluate::{Evaluation, evaluate};
pub use feed_forward::{CgFeedForward, CgFeedForwardConfig, Entry, Head, NEURONS};
pub use fused::Fused;
pub use group_conv::{GroupConv2d, LiftConv2d};
pub use image_groups::ImageGroups;
pub use init::{Init, Rng, rng, trained};
pub use lattices::{Lattices, LayerLattice};
pub use layout::{BlockRows, Layout};
pub use lift::{Lift, LiftConfig};
pub use lower::lower;
pub use network::{Model, Network};
pub use optimizer::Optimizer;
pub use orbit::{InnerConfig, Orbit, OrbitConfig};
pub use pairs::{FrontKind, Pairs, PairsConfig};
pub use pass::{Input, Pass};
pub use penalty::{LevelPenalty, Penalty, PenaltyConfig, Proxy, Size, hard};
pub use schedule::Schedule;
pub use step::{Extras, Step, Stepper};
pub use stopping::{Progress, StoppingConfig};
pub use ties::{MAX_PAIRS, Points, Ties};
pub use train::{End, Epoch, Fit, TrainConfig, train};
pub use trainer::Trainer;
pub use violations::Violations;
