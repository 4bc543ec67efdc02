//! From the settings of a fit to its network.

use burn::tensor::Device;
use invar_algebra::GroupSet;
use invar_nn::baselines::{
    DeepSetsConfig, GruNetConfig, JanossyConfig, PlainConfig, Pooling, SetTransformerConfig, TransformerConfig,
};
use invar_nn::{
    Bases, Block, CgFeedForwardConfig, CnnConfig, Depth, Filters, Head, ImageGroups, Init, InnerConfig, Inputs, Lattices,
    LiftConfig, Network, OrbitConfig, Pool, Reynolds,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fit::{FitConfig, KEPT, Method};
use crate::on_points::{OnPoints, Tied};
use crate::problem::{Data, Problem};
use crate::record::{KeptGroup, Layer};

/// Which network. Records without a word about it have the paper's: [`Backbone::Feedforward`] or [`Backbone::Patch`] by default;
/// the learner `screen` names its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Backbone {
    /// The paper's for images: convolutions whose filters decide, patch by patch, then a sum over space.
    Patch {
        /// How many convolutions.
        depth: Depth,
        /// Multiplies their channels.
        width: f64,
        /// How an image is halved.
        pool: Pool,
    },
    /// For images: group convolutions that keep the arrangement of parts, with a CG head that decides for the whole network.
    Lift {
        /// Whether there is a norm between them ([`LiftConfig::normed`]); absent in older records, where there was none.
        #[serde(default)]
        normed: bool,
    },
    /// For any small group: a network that sees the input from every side, with a CG head that decides for the whole network.
    Orbit,
    /// The paper's for sequences and arrays: a CG layer on all entries decides.
    Feedforward,
    /// For sequences and arrays: features of entries from weights on pairs, tied along what is imposed, with sums and largest values.
    Pairs,
}

impl Backbone {
    /// What makes a whole network invariant to any of the candidates, for data on which the paper's network cannot.
    pub fn equivariant(data: &Data) -> Option<Self> {
        match data {
            Data::Images(_) => Some(Self::lift()),
            Data::Graphs(graphs) if graphs.task.needs_lift() => Some(Self::Orbit),
            Data::Graphs(_) | Data::Sequences(_) | Data::Arrays(_) | Data::Files(_) => None,
        }
    }

    /// The lifted network as it is today.
    pub fn lift() -> Self {
        Self::Lift { normed: true }
    }

    /// A plain network with about as many weights as the lifted one.
    pub fn small() -> Self {
        Self::Patch { depth: Depth::Reference, width: 0.25, pool: Pool::default() }
    }
}

impl Default for Backbone {
    fn default() -> Self {
        Self::Patch { depth: Depth::default(), width: 1.0, pool: Pool::default() }
    }
}

/// A network, and the lattices of its CG layers where it has several.
pub(crate) struct Built {
    pub(crate) network: Network,
    pub(crate) lattices: Option<Lattices>,
}

impl FitConfig {
    /// Draws the network; the oracle's with the true symmetry imposed.
    pub(crate) fn build(&self, problem: &Problem, device: &Device) -> Result<Built> {
        let imposed = if self.method == Method::Oracle { Some(self.truth(problem)?) } else { None };
        self.build_with(problem, imposed, device)
    }

    /// Draws the network, CG layers confined to weights that are invariant to the candidates in `imposed`.
    pub(crate) fn build_with(&self, problem: &Problem, imposed: Option<&GroupSet>, device: &Device) -> Result<Built> {
        let mut init = Init::new(self.seed, device);
        match *problem.train.inputs() {
            _ if self.backbone == Some(Backbone::Orbit) => self.orbit(problem, imposed, &mut init),
            _ if self.backbone == Some(Backbone::Pairs) => {
                let none = GroupSet::empty();
                let network = OnPoints::of(problem)?.network(imposed.unwrap_or(&none), Tied::AsImposed, &mut init)?;
                Ok(Built { network, lattices: None })
            }
            Inputs::Images { channels, .. } => self.image_network(problem, channels, imposed, &mut init),
            Inputs::Tokens { .. } | Inputs::Array { .. } => {
                Ok(Built { network: self.feed_forward(problem, imposed, &mut init)?, lattices: None })
            }
        }
    }

    /// A network that is asked from every side: convolutions for images, else dense layers.
    fn orbit(&self, problem: &Problem, imposed: Option<&GroupSet>, init: &mut Init) -> Result<Built> {
        if !matches!(self.method, Method::Cgreg | Method::Oracle) {
            return Err(self.unfit("cgreg or oracle, which have an orbit network"));
        }
        let inner = match (problem.train.inputs(), problem.vocabulary) {
            (&Inputs::Images { channels, height, width, .. }, _) => {
                let (acted, image) = (problem.shape(), [channels, height, width]);
                if acted.sides() != image {
                    let expected = format!("those of the images, {channels}x{height}x{width}");
                    return Err(Error::Setting { name: "sides that the candidates act on", expected, got: acted.to_string() });
                }
                InnerConfig::Images { width: 1.0 }
            }
            (_, Some(vocabulary)) => InnerConfig::Tokens { vocabulary },
            (_, None) => InnerConfig::Array,
        };
        let mut config = OrbitConfig { imposed: imposed.cloned(), ..OrbitConfig::new(inner, problem.train.outputs()) };
        config.head.head = self.head;
        let lattices = config.lattices(problem.groups())?;
        Ok(Built { network: config.init(problem.groups(), &lattices, init)?.into(), lattices: Some(lattices) })
    }

    /// Networks for sequences and arrays.
    fn feed_forward(&self, problem: &Problem, imposed: Option<&GroupSet>, init: &mut Init) -> Result<Network> {
        let outputs = problem.train.outputs();
        let length = problem.shape().side(0);
        let tokens = || problem.vocabulary.ok_or_else(|| self.unfit("cgreg, oracle, plain or augmented, which take arrays"));
        Ok(match self.method {
            Method::Cgreg | Method::Oracle => {
                let Some(set) = imposed else {
                    return Ok(Network::Cg(self.cg(problem).init(problem.bases()?, init)?));
                };
                // What is imposed needs no lattice: its weights are one subspace.
                let vectors = problem.invariant_basis(set)?;
                let (dim, groups) = (problem.shape().len(), problem.groups().len());
                let block = Block { level: groups, set: (0..groups).collect(), vectors: vectors.clone() };
                let bases = Bases { dim, groups, blocks: vec![block] };
                Network::Cg(CgFeedForwardConfig { imposed: Some(vectors), ..self.cg(problem) }.init(&bases, init)?)
            }
            Method::Transformer => Network::Transformer(TransformerConfig::new(tokens()?, length, outputs).init(init)?),
            Method::Gru => Network::Gru(GruNetConfig::new(tokens()?, outputs).init(init)?),
            Method::DeepSets => Network::DeepSets(DeepSetsConfig::new(tokens()?, outputs).init(init)?),
            Method::Janossy => Network::Janossy(JanossyConfig::new(tokens()?, outputs, Pooling::Kary(2)).init(init)?),
            Method::SetTransformer => Network::SetTransformer(SetTransformerConfig::new(tokens()?, outputs).init(init)?),
            Method::Plain | Method::Augmented => Network::Plain(match problem.vocabulary {
                Some(vocabulary) => PlainConfig::tokens(vocabulary, length, outputs).init(init)?,
                None => PlainConfig::array(problem.shape().len(), outputs).init(init)?,
            }),
            Method::GInvariant => return Err(self.unfit("a method for sequences or arrays")),
        })
    }

    fn cg(&self, problem: &Problem) -> CgFeedForwardConfig {
        let config = problem.vocabulary.map_or_else(CgFeedForwardConfig::array, CgFeedForwardConfig::tokens);
        CgFeedForwardConfig { head: self.head, outputs: problem.train.outputs(), ..config }
    }

    /// Networks for images: the candidates act on patches, which is where the first layer meets them.
    fn image_network(&self, problem: &Problem, channels: usize, imposed: Option<&GroupSet>, init: &mut Init) -> Result<Built> {
        let groups = || ImageGroups::new(problem.groups());
        let imposed = imposed.cloned();
        let outputs = problem.train.outputs();
        let (network, lattices) = match self.backbone.unwrap_or_default() {
            Backbone::Patch { depth, width, pool } => {
                let filters = match self.method {
                    Method::Cgreg | Method::Oracle => Filters::Cg { imposed },
                    Method::Plain => Filters::Plain,
                    Method::GInvariant => Filters::P4m,
                    _ => return Err(self.unfit("cgreg, oracle, plain or g_invariant, which take images")),
                };
                // Baselines are as published.
                let head = if matches!(filters, Filters::Cg { .. }) { self.head } else { Head::Hidden };
                let config = CnnConfig { channels, depth, width, pool, filters, head, ..CnnConfig::new(outputs) };
                // Where filters decide nothing, the candidates may be any.
                let lattices = match config.filters {
                    Filters::Cg { .. } => config.lattices(&groups()?)?,
                    _ => Lattices::new(problem.groups().len(), Vec::new())?,
                };
                (config.init(Some(&lattices), init)?.into(), lattices)
            }
            Backbone::Lift { normed } => {
                if !matches!(self.method, Method::Cgreg | Method::Oracle) {
                    return Err(self.unfit("cgreg or oracle, which have a lifted network"));
                }
                let mut config = LiftConfig { channels, normed, imposed, ..LiftConfig::new(outputs) };
                config.head.head = self.head;
                let lattices = config.lattices(&groups()?)?;
                (config.init(&lattices, init)?.into(), lattices)
            }
            Backbone::Orbit | Backbone::Feedforward | Backbone::Pairs => {
                return Err(self.unfit("one with a patch or lifted network, which take images"));
            }
        };
        Ok(Built { network, lattices: Some(lattices) })
    }

    /// The symmetry that an oracle imposes.
    fn truth<'a>(&self, problem: &'a Problem) -> Result<&'a GroupSet> {
        problem.symmetry.as_ref().ok_or_else(|| self.unfit("another than oracle: the truth about these data is not known"))
    }

    fn unfit(&self, expected: &str) -> Error {
        Error::Setting { name: "method", expected: expected.into(), got: self.method.title().into() }
    }
}

impl Built {
    /// Whether some layer has no weights but zero that are invariant to a set of candidates.
    pub(crate) fn vanishes(&self, set: &GroupSet, problem: &Problem) -> Result<bool> {
        match &self.lattices {
            Some(lattices) => Ok(lattices.vanishes(set)?),
            None => Ok(problem.invariant_basis(set)?.is_empty()),
        }
    }

    /// cl(M): every candidate that the network with M imposed is invariant to anyway.
    pub(crate) fn closure(&self, set: &GroupSet, problem: &Problem) -> Result<GroupSet> {
        match &self.lattices {
            Some(lattices) => Ok(lattices.closure(set)?),
            None => Ok(problem.lattice()?.closure(set)?),
        }
    }

    /// The Reynolds operators of each CG layer.
    pub(crate) fn reynolds(&self, problem: &Problem) -> Result<Vec<Reynolds>> {
        match &self.lattices {
            Some(lattices) => Ok(lattices.reynolds()),
            None => Ok(vec![problem.reynolds()?.clone()]),
        }
    }

    /// What the CG layers of a trained network keep and use; nothing without CG layers.
    pub(crate) fn read(&self, network: &Network, problem: &Problem) -> Result<Option<Layer>> {
        use invar_nn::Model as _;
        let Some((first, later)) = network.cg_layers().split_first().map(|(first, later)| (*first, later.to_vec())) else {
            return Ok(None);
        };
        let kept = match &self.lattices {
            Some(lattices) => lattices.kept(network, KEPT)?,
            None => first.kept(problem.reynolds()?, KEPT)?,
        };
        let groups = kept.into_iter().enumerate().map(|(group, (kept, violation))| KeptGroup { group, kept, violation });
        let later = later.into_iter().map(invar_nn::CgWeights::block_norms).collect::<invar_nn::Result<_>>()?;
        Ok(Some(Layer { groups: groups.collect(), norms: first.block_norms()?, later }))
    }
}
