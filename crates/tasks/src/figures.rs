//! The task of Appendix A, on which invariance to G_I is not enough.
//!
//! A figure is moved sideways, *then* turned, and the turn is to be predicted. Sideways moves do not matter to the label,
//! but after a quarter turn they have become moves up and down, which a network that is invariant to sideways moves has
//! never learned to ignore: the group of sideways moves is not normal in what both generate (Theorem 2). (The appendix
//! prints the names of the two groups the other way round; the label is the turn.)

use invar_algebra::{Group, GroupSet, Shape, candidates};
use serde::{Deserialize, Serialize};

use crate::causal::{Base, Causal, Composition, Draw, NotNormal};
use crate::error::{Error, Result};
use crate::examples::{Examples, Pairs, Split};
use crate::random::{Stream, stream};
use crate::sizes::Sizes;

/// Rows and columns of the figure.
const SIDE: usize = 60;
/// Orientations of the figure.
const TURNS: usize = 4;

/// The orientation task of Appendix A with its sizes.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `sizes` | 80 and 400 | numbers of examples: training has four different ones only | see [`Sizes`] |
/// | `draw` | `NonIdentity` | how counterfactual figures draw their shift | |
///
/// ```
/// # use invar_tasks::Figures;
/// let task = Figures::default();
/// let data = task.generate(0)?;
/// assert_eq!((data.train.len(), data.test.len()), (64, 400));
/// assert_eq!(Figures::angle(data.test.targets[0]) % 90, 0);
/// assert!(task.warning()?.is_some(), "the shifts are not normal");
/// # Ok::<(), invar_tasks::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Figures {
    /// Numbers of examples.
    pub sizes: Sizes,
    /// How counterfactual figures draw their shift.
    pub draw: Draw,
}

impl Default for Figures {
    fn default() -> Self {
        Self { sizes: Sizes { examples: 80, validation: 0.2, test: 400 }, draw: Draw::default() }
    }
}

impl Figures {
    /// The shape of one image: 60 x 60.
    pub fn shape(&self) -> Result<Shape> {
        Ok(Shape::new(&[SIDE, SIDE])?)
    }

    /// The candidate symmetries in shorthand: quarter turns, and cyclic shifts of the columns.
    pub fn candidates(&self) -> Vec<&'static str> {
        vec!["rot=rot90(0,1)", "shift=shift(1)"]
    }

    /// The candidate groups.
    pub fn groups(&self) -> Result<Vec<Group>> {
        Ok(candidates(&self.shape()?, self.candidates())?)
    }

    /// The groups that the label ignores: the shifts.
    pub fn symmetry(&self) -> GroupSet {
        GroupSet::empty().with(1)
    }

    /// The groups that the label depends on: the turns.
    pub fn depends(&self) -> GroupSet {
        GroupSet::empty().with(0)
    }

    /// Number of classes: the four orientations.
    pub fn classes(&self) -> usize {
        TURNS
    }

    /// The angle that a target stands for, in degrees, against the clock.
    pub fn angle(target: f32) -> usize {
        360 / TURNS * target as usize
    }

    /// Why invariance to the shifts is not enough.
    pub fn warning(&self) -> Result<Option<NotNormal>> {
        Ok(self.causal()?.warning())
    }

    /// Training, validation and test data: turned in all sets, shifted before that in the test set only.
    pub fn generate(&self, seed: u64) -> Result<Split<f32>> {
        self.sizes.check(SIDE * SIDE)?;
        let (all, test) = (base(self.sizes.examples), base(self.sizes.test));
        let made = self.causal()?.generate(&all, &test, label, seed)?;
        let split = self.sizes.split(&made.train, made.test, &mut stream(seed, Stream::Shuffle));
        for (set, name) in [(&split.train, "training"), (&split.validation, "validation"), (&split.test, "test")] {
            if let Some(class) = (0..TURNS).find(|&class| !set.targets.contains(&(class as f32))) {
                let class = format!("turned {}°", Self::angle(class as f32));
                return Err(Error::AbsentClass { class, set: name, examples: set.len() });
            }
        }
        Ok(split)
    }

    /// Coupled pairs: the figure turned, and the same shifted before it was turned.
    pub fn pairs(&self, count: usize, seed: u64) -> Result<Pairs<f32>> {
        Sizes::check_pairs(count, SIDE * SIDE)?;
        self.causal()?.pairs(&base(count), label, seed)
    }

    fn causal(&self) -> Result<Causal> {
        let causal = Causal::new(&self.shape()?, &self.groups()?, &self.symmetry(), &self.depends())?;
        causal.with_composition(Composition::IThenD).with_draw(self.draw).with_powers()
    }
}

/// h: the number of quarter turns.
fn label(base: Base<'_, f32>, _: &invar_algebra::Action) -> f32 {
    base.powers[0] as f32
}

/// X(hid): always the same figure.
fn base(count: usize) -> Examples<f32> {
    Examples { inputs: figure().repeat(count), width: SIDE * SIDE, targets: vec![0.0; count] }
}

/// A flag on a pole with a foot: no turn, mirror or shift takes it to itself.
fn figure() -> Vec<f32> {
    // Rows and columns, the first inside and the last outside.
    let parts = [(8..52, 20..25), (8..14, 25..46), (14..28, 40..46), (28..32, 25..46), (48..52, 12..34)];
    let ink = |row: usize, column: usize| parts.iter().any(|(rows, columns)| rows.contains(&row) && columns.contains(&column));
    (0..SIDE * SIDE).map(|at| f32::from(u8::from(ink(at / SIDE, at % SIDE)))).collect()
}
