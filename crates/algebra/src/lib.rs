//! Exact algebra of finite symmetry groups, for networks that choose which symmetries to keep.
//!
//! The modules follow the data: numbers and shapes, single transformations, groups of them, what groups leave fixed, and the
//! lattice of subspaces ordered by how much invariance they have.
//!
//! ```
//! use invar_algebra::{candidates, Group, Lattice, Options, Shape};
//!
//! let shape: Shape = "3x3".parse()?;
//! let groups = candidates(&shape, ["rot90(0,1)", "flip(0)"])?;
//!
//! // Together they generate the eight symmetries of a square, in which the mirror alone is not normal.
//! assert_eq!(Group::join("all", &groups)?.order(), 8u32.into());
//! assert!(groups[1].witness_against_normality(&groups).is_some());
//!
//! // On a 3x3 patch whatever is invariant to turns is invariant to the mirror too: there is no subspace of {rot} alone.
//! let lattice = Lattice::new(groups, &Options::default())?;
//! let sizes: Vec<(usize, usize)> = lattice.subspaces().iter().map(|s| (s.level(), s.dimension())).collect();
//! assert_eq!(sizes, [(2, 3), (1, 3), (0, 3)]);
//! assert!(lattice.verify().holds());
//! # Ok::<(), invar_algebra::Error>(())
//! ```

mod budget;
mod error;
mod progress;
mod tolerance;

mod shape;

pub mod linear;
mod modular;
mod numeric;
mod sparse;

mod action;
mod axis_form;
mod matrix;
mod permutation;

mod chain;
mod faithful;
mod group;
mod union_find;

mod alias;
mod builtin;
mod parse;
mod spec;
mod syntax;

mod orbits;
mod reynolds;

mod group_set;
mod lattice;

pub use action::Action;
pub use alias::Alias;
pub use budget::bytes;
pub use builtin::candidates;
pub use error::{Error, ParseError, Result};
pub use group::{Group, Swap, Warning, Witness, warnings};
pub use group_set::GroupSet;
pub use lattice::{
    Certificate, Check, GroupRecord, Lattice, Mode, Options, SparseVector, Subspace, SubspaceRecord, VectorRecord,
};
pub use matrix::{RationalMatrix, RealMatrix};
pub use orbits::Orbits;
pub use parse::quoted;
pub use permutation::{Permutation, SignedPermutation};
pub use progress::Progress;
pub use reynolds::{Reynolds, invariant_weights, left_fixed_space, right_fixed_space};
pub use shape::Shape;
pub use spec::{Candidate, Generator, Kind, Number};
pub use tolerance::Tolerance;

pub use dashu_int::{IBig, UBig};
pub use dashu_ratio::RBig;
