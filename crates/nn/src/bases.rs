//! Plain data handed over by the lattice of invariant subspaces (Theorem 3, Algorithm 1): bases and Reynolds operators.

use serde::{Deserialize, Serialize};

use invar_algebra::{Group, Lattice, Tolerance};

use crate::{Error, Result};

/// Most entries that the operators of all groups may have together: 256 MiB of memory.
const MAX_ENTRIES: usize = 1 << 25;

/// One subspace B(M) with an orthonormal basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Level of invariance |M|.
    pub level: usize,
    /// Indices of the groups in M.
    pub set: Vec<usize>,
    /// Orthonormal basis of B(M), each vector of length `dim`.
    pub vectors: Vec<Vec<f64>>,
}

/// The subspaces of Theorem 3 in descending level of invariance; together they span R^dim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bases {
    /// Dimension of the space the groups act on.
    pub dim: usize,
    /// Number of candidate groups, m.
    pub groups: usize,
    /// The subspaces, most invariant first.
    pub blocks: Vec<Block>,
}

impl Bases {
    /// The subspaces of a lattice.
    pub fn of(lattice: &Lattice) -> Self {
        let dim = lattice.shape().len();
        let block = |subspace: &invar_algebra::Subspace| Block {
            level: subspace.level(),
            set: subspace.set().iter().collect(),
            vectors: subspace.basis().iter().map(|v| v.to_dense(dim, 0.0)).collect(),
        };
        Self { dim, groups: lattice.groups().len(), blocks: lattice.subspaces().iter().map(block).collect() }
    }

    /// The lattice of all transpositions of `n` positions (Appendix F.3): the constant vector at level n(n-1)/2, then for
    /// each position but the last the vector that is constant except there and orthogonal to the constants.
    pub fn sequence(n: usize) -> Self {
        let pairs = pairs(n);
        let ones = vec![1.0 / (n as f64).sqrt(); n];
        let mut blocks = vec![Block { level: pairs.len(), set: (0..pairs.len()).collect(), vectors: vec![ones] }];
        let norm = (n as f64 * (n as f64 - 1.0)).sqrt();
        for p in 0..n.saturating_sub(1) {
            let vector = (0..n).map(|i| if i == p { (n as f64 - 1.0) / norm } else { -1.0 / norm }).collect();
            let set: Vec<usize> = (0..pairs.len()).filter(|&g| pairs[g].0 != p && pairs[g].1 != p).collect();
            blocks.push(Block { level: set.len(), set, vectors: vec![vector] });
        }
        Self { dim: n, groups: pairs.len(), blocks }
    }

    /// Number of basis vectors over all blocks.
    pub fn rank(&self) -> usize {
        self.blocks.iter().map(|block| block.vectors.len()).sum()
    }

    /// Refuses bases that no lattice can have produced.
    pub fn check(&self) -> Result<()> {
        if self.dim == 0 || self.rank() == 0 {
            return Err(Error::shape(
                "bases",
                "at least one vector in a space of dimension 1 or more",
                format!("{} vectors in dimension {}", self.rank(), self.dim),
            ));
        }
        for block in &self.blocks {
            check_vectors("vector of a subspace basis", &block.vectors, self.dim)?;
            if block.level != block.set.len() || block.level > self.groups {
                return Err(Error::shape(
                    "level of a subspace",
                    format!("|M| = {} and at most {}", block.set.len(), self.groups),
                    block.level,
                ));
            }
        }
        if !self.blocks.is_sorted_by(|a, b| a.level >= b.level) {
            return Err(Error::shape(
                "order of subspaces",
                "descending level of invariance",
                format!("{:?}", self.blocks.iter().map(|b| b.level).collect::<Vec<_>>()),
            ));
        }
        Ok(())
    }
}

/// The Reynolds operators (averages over each group), one per candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reynolds {
    /// Dimension of the space the groups act on.
    pub dim: usize,
    /// Per candidate group the matrix R_i in row-major order, dim x dim.
    pub matrices: Vec<Vec<f64>>,
}

impl Reynolds {
    /// Whether the operators of so many groups on so many entries are few enough to be kept in memory.
    pub fn fit(groups: usize, dim: usize) -> bool {
        groups.saturating_mul(dim).saturating_mul(dim) <= MAX_ENTRIES
    }

    /// The operators of candidate groups, which act on tensors of one shape.
    pub fn of(groups: &[Group]) -> Result<Self> {
        let dim = groups.first().map_or(0, |group| group.shape().len());
        if !Self::fit(groups.len(), dim) {
            let got = format!("{} groups on {dim} entries", groups.len());
            return Err(Error::shape("Reynolds operators", format!("at most {MAX_ENTRIES} entries in all"), got));
        }
        let matrix = |group: &Group| -> Result<Vec<f64>> {
            let operator = invar_algebra::Reynolds::new(group, &Tolerance::default())?;
            let mut rows = vec![0.0; dim * dim];
            let mut column = vec![0.0; dim];
            for j in 0..dim {
                column.fill(0.0);
                column[j] = 1.0;
                operator.apply(&mut column);
                (0..dim).for_each(|i| rows[i * dim + j] = column[i]);
            }
            Ok(rows)
        };
        Ok(Self { dim, matrices: groups.iter().map(matrix).collect::<Result<_>>()? })
    }

    /// The transpositions of `n` positions in lexicographic order: (0,1), (0,2), ..., (n-2,n-1).
    pub fn swaps(n: usize) -> Self {
        let average = |(i, j): (usize, usize)| {
            let mut matrix = vec![0.0; n * n];
            for k in 0..n {
                matrix[k * n + k] = 1.0;
            }
            for (a, b) in [(i, i), (i, j), (j, i), (j, j)] {
                matrix[a * n + b] = 0.5;
            }
            matrix
        };
        Self { dim: n, matrices: pairs(n).into_iter().map(average).collect() }
    }

    /// Number of candidate groups, m.
    pub fn groups(&self) -> usize {
        self.matrices.len()
    }

    /// Refuses matrices of the wrong size or with entries that are not numbers.
    pub fn check(&self) -> Result<()> {
        check_vectors("Reynolds operator", &self.matrices, self.dim * self.dim)
    }
}

/// Each vector must have `length` finite entries.
pub(crate) fn check_vectors(what: &'static str, vectors: &[Vec<f64>], length: usize) -> Result<()> {
    for vector in vectors {
        if vector.len() != length {
            return Err(Error::shape(what, format!("{length} entries"), vector.len()));
        }
        if let Some(bad) = vector.iter().find(|x| !x.is_finite()) {
            return Err(Error::shape(what, "finite entries", bad));
        }
    }
    Ok(())
}

fn pairs(n: usize) -> Vec<(usize, usize)> {
    (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_lattice_has_the_levels_of_the_paper() {
        let bases = Bases::sequence(5);
        bases.check().unwrap();
        let levels: Vec<usize> = bases.blocks.iter().map(|b| b.level).collect();
        assert_eq!(levels, [10, 6, 6, 6, 6]);
        assert_eq!((bases.rank(), bases.groups), (5, 10));
    }

    #[test]
    fn basis_vectors_are_unit_and_fixed_by_exactly_their_set() {
        let (bases, reynolds) = (Bases::sequence(6), Reynolds::swaps(6));
        for block in &bases.blocks {
            for v in &block.vectors {
                assert!((v.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
                for (g, r) in reynolds.matrices.iter().enumerate() {
                    let moved: f64 = (0..6).map(|j| ((0..6).map(|a| v[a] * r[a * 6 + j]).sum::<f64>() - v[j]).powi(2)).sum();
                    assert_eq!(moved < 1e-20, block.set.contains(&g), "group {g}");
                }
            }
        }
    }

    #[test]
    fn the_lattice_gives_the_same_bases_and_operators() {
        let shape: invar_algebra::Shape = "6".parse().unwrap();
        let groups = invar_algebra::candidates(&shape, ["swaps(0)"]).unwrap();
        assert_eq!(Reynolds::of(&groups).unwrap(), Reynolds::swaps(6));
        let lattice = Lattice::new(groups, &invar_algebra::Options::default()).unwrap();
        let (found, expected) = (Bases::of(&lattice), Bases::sequence(6));
        found.check().unwrap();
        assert_eq!(found.blocks.len(), expected.blocks.len());
        for (a, b) in found.blocks.iter().zip(&expected.blocks) {
            assert_eq!((a.level, &a.set), (b.level, &b.set));
            assert!(a.vectors[0].iter().zip(&b.vectors[0]).all(|(x, y)| (x - y).abs() < 1e-12));
        }
    }

    #[test]
    fn wrong_sizes_are_named() {
        let mut bases = Bases::sequence(4);
        bases.blocks[1].vectors[0].pop();
        assert!(bases.check().unwrap_err().to_string().contains("expected 4 entries, got 3"));
        let mut reynolds = Reynolds::swaps(3);
        reynolds.matrices[0][0] = f64::NAN;
        assert!(reynolds.check().is_err());
    }
}
