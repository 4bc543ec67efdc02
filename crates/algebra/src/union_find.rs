//! Disjoint sets whose elements carry a sign relative to their set.

/// What became of a union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Union {
    /// Two sets became one.
    Joined,
    /// The two points were in one set already, with this relative sign.
    Known,
    /// The two points were in one set with the opposite sign: the set meets itself reversed.
    Contradiction,
}

/// Union-find with parity: `x_a = s x_b` for every pair that was joined.
#[derive(Debug, Clone)]
pub(crate) struct UnionFind {
    parent: Vec<u32>,
    /// Sign relative to the parent: true means opposite.
    flipped: Vec<bool>,
    size: Vec<u32>,
    /// At roots: the set equals its own negative, so only zero is possible on it.
    cancelled: Vec<bool>,
}

impl UnionFind {
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect(), flipped: vec![false; n], size: vec![1; n], cancelled: vec![false; n] }
    }

    /// The root of a point's set, and whether the point has the root's sign reversed.
    pub(crate) fn find(&mut self, a: usize) -> (usize, bool) {
        let (mut root, mut flipped) = (a, false);
        while self.parent[root] as usize != root {
            flipped ^= self.flipped[root];
            root = self.parent[root] as usize;
        }
        // Second pass: hang everything on the path directly below the root.
        let (mut point, mut sign) = (a, flipped);
        while self.parent[point] as usize != root && point != root {
            let (next, step) = (self.parent[point] as usize, self.flipped[point]);
            self.parent[point] = root as u32;
            self.flipped[point] = sign;
            sign ^= step;
            point = next;
        }
        (root, flipped)
    }

    /// Demands `x_a = x_b`, or `x_a = -x_b` when `reversed`.
    pub(crate) fn union(&mut self, a: usize, b: usize, reversed: bool) -> Union {
        let ((ra, fa), (rb, fb)) = (self.find(a), self.find(b));
        let sign = fa ^ fb ^ reversed;
        if ra == rb {
            if sign && !self.cancelled[ra] {
                self.cancelled[ra] = true;
                return Union::Contradiction;
            }
            return Union::Known;
        }
        let (keep, hang) = if self.size[ra] >= self.size[rb] { (ra, rb) } else { (rb, ra) };
        self.parent[hang] = keep as u32;
        self.flipped[hang] = sign;
        self.size[keep] += self.size[hang];
        self.cancelled[keep] |= self.cancelled[hang];
        Union::Joined
    }

    /// Whether the set of a root has been found to equal its own negative.
    pub(crate) fn is_cancelled(&self, root: usize) -> bool {
        self.cancelled[root]
    }
}
