//! Winograd's minimal filtering along one axis: `M` outputs of a filter with three taps from `A = M + 2` products.
//!
//! With points 0, 1, -1, 2 (and -2 for four outputs) and infinity, y = output(input(d) * filter(g)). Each function is a small matrix; sums
//! that two of its rows share are computed once. What is called a gradient is the transposed matrix.

use pulp::Simd;

/// A small matrix, applied to vectors.
pub(super) trait Matrix<const FROM: usize, const TO: usize> {
    /// The product. A method and no closure: it is compiled for an instruction set only if it is inlined.
    fn apply<S: Simd>(simd: S, x: [S::f32s; FROM]) -> [S::f32s; TO];
}

/// What inputs are multiplied with, for `M` outputs.
pub(super) struct Input<const M: usize>;
/// From filters to factors.
pub(super) struct Filter<const M: usize>;
/// From products to outputs.
pub(super) struct Output<const M: usize>;
/// From gradients of the outputs to those of the products.
pub(super) struct OutputGradient<const M: usize>;
/// From gradients of the factors to those of the filters.
pub(super) struct FilterGradient<const M: usize>;

/// Sums and products of vectors in the notation of formulas.
#[derive(Clone, Copy)]
struct Calculator<S>(S);

impl<S: Simd> Calculator<S> {
    #[inline(always)]
    fn add(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.add_f32s(a, b)
    }

    #[inline(always)]
    fn sub(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.sub_f32s(a, b)
    }

    #[inline(always)]
    fn times(self, factor: f32, a: S::f32s) -> S::f32s {
        self.0.mul_f32s(self.0.splat_f32s(factor), a)
    }

    /// factor * a + b.
    #[inline(always)]
    fn more(self, factor: f32, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.mul_add_e_f32s(self.0.splat_f32s(factor), a, b)
    }
}

impl Matrix<5, 5> for Input<3> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, d: [S::f32s; 5]) -> [S::f32s; 5] {
        let c = Calculator(simd);
        let odd = c.sub(d[3], d[1]);
        [
            c.more(2.0, c.sub(d[0], d[2]), odd),
            c.more(-2.0, d[1], c.sub(d[3], d[2])),
            c.more(-3.0, d[2], c.more(2.0, d[1], d[3])),
            odd,
            c.more(-2.0, odd, c.sub(d[4], d[2])),
        ]
    }
}

impl Matrix<3, 5> for Filter<3> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, g: [S::f32s; 3]) -> [S::f32s; 5] {
        let c = Calculator(simd);
        let even = c.add(g[0], g[2]);
        [
            c.times(0.5, g[0]),
            c.times(-0.5, c.add(even, g[1])),
            c.times(1.0 / 6.0, c.sub(g[1], even)),
            c.more(1.0 / 6.0, g[0], c.more(1.0 / 3.0, g[1], c.times(2.0 / 3.0, g[2]))),
            g[2],
        ]
    }
}

impl Matrix<5, 3> for Output<3> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, m: [S::f32s; 5]) -> [S::f32s; 3] {
        let c = Calculator(simd);
        let (sum, difference) = (c.add(m[1], m[2]), c.sub(m[1], m[2]));
        [c.add(c.add(m[0], m[3]), sum), c.more(2.0, m[3], difference), c.more(4.0, m[3], c.add(sum, m[4]))]
    }
}

impl Matrix<3, 5> for OutputGradient<3> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, dy: [S::f32s; 3]) -> [S::f32s; 5] {
        let c = Calculator(simd);
        let even = c.add(dy[0], dy[2]);
        [dy[0], c.add(even, dy[1]), c.sub(even, dy[1]), c.more(4.0, dy[2], c.more(2.0, dy[1], dy[0])), dy[2]]
    }
}

impl Matrix<5, 3> for FilterGradient<3> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, u: [S::f32s; 5]) -> [S::f32s; 3] {
        let c = Calculator(simd);
        let half = c.times(-0.5, u[1]);
        [
            c.more(0.5, u[0], c.more(1.0 / 6.0, c.sub(u[3], u[2]), half)),
            c.more(1.0 / 6.0, u[2], c.more(1.0 / 3.0, u[3], half)),
            c.more(-1.0 / 6.0, u[2], c.more(2.0 / 3.0, u[3], c.add(half, u[4]))),
        ]
    }
}

impl Matrix<6, 6> for Input<4> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, d: [S::f32s; 6]) -> [S::f32s; 6] {
        let c = Calculator(simd);
        let (even, odd) = (c.more(-4.0, d[2], d[4]), c.more(-4.0, d[1], d[3]));
        let (near, far) = (c.sub(d[4], d[2]), c.sub(d[3], d[1]));
        [
            c.more(4.0, d[0], c.more(-5.0, d[2], d[4])),
            c.add(even, odd),
            c.sub(even, odd),
            c.more(2.0, far, near),
            c.more(-2.0, far, near),
            c.more(4.0, d[1], c.more(-5.0, d[3], d[5])),
        ]
    }
}

impl Matrix<3, 6> for Filter<4> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, g: [S::f32s; 3]) -> [S::f32s; 6] {
        let c = Calculator(simd);
        let (even, odd) = (c.times(-1.0 / 6.0, c.add(g[0], g[2])), c.times(1.0 / 6.0, g[1]));
        let (outer, inner) = (c.more(1.0 / 24.0, g[0], c.times(1.0 / 6.0, g[2])), c.times(1.0 / 12.0, g[1]));
        [c.times(0.25, g[0]), c.sub(even, odd), c.add(even, odd), c.add(outer, inner), c.sub(outer, inner), g[2]]
    }
}

impl Matrix<6, 4> for Output<4> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, m: [S::f32s; 6]) -> [S::f32s; 4] {
        let c = Calculator(simd);
        let (sum, difference) = (c.add(m[1], m[2]), c.sub(m[1], m[2]));
        let (far_sum, far_difference) = (c.add(m[3], m[4]), c.sub(m[3], m[4]));
        [
            c.add(c.add(m[0], sum), far_sum),
            c.more(2.0, far_difference, difference),
            c.more(4.0, far_sum, sum),
            c.more(8.0, far_difference, c.add(difference, m[5])),
        ]
    }
}

impl Matrix<4, 6> for OutputGradient<4> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, dy: [S::f32s; 4]) -> [S::f32s; 6] {
        let c = Calculator(simd);
        let (even, odd) = (c.add(dy[0], dy[2]), c.add(dy[1], dy[3]));
        let (outer, inner) = (c.more(4.0, dy[2], dy[0]), c.times(2.0, c.more(4.0, dy[3], dy[1])));
        [dy[0], c.add(even, odd), c.sub(even, odd), c.add(outer, inner), c.sub(outer, inner), dy[3]]
    }
}

impl Matrix<6, 3> for FilterGradient<4> {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, u: [S::f32s; 6]) -> [S::f32s; 3] {
        let c = Calculator(simd);
        let (sum, far) = (c.add(u[1], u[2]), c.add(u[3], u[4]));
        let near = c.times(-1.0 / 6.0, sum);
        [
            c.more(0.25, u[0], c.more(1.0 / 24.0, far, near)),
            c.more(1.0 / 6.0, c.sub(u[2], u[1]), c.times(1.0 / 12.0, c.sub(u[3], u[4]))),
            c.more(1.0 / 6.0, far, c.add(near, u[5])),
        ]
    }
}

/// A matrix applied along the rows of a square, then along its columns.
#[inline(always)]
pub(super) fn both_axes<S: Simd, X: Matrix<FROM, TO>, const FROM: usize, const TO: usize>(
    simd: S,
    square: &[[S::f32s; FROM]; FROM],
) -> [[S::f32s; TO]; TO] {
    let nothing = simd.splat_f32s(0.0);
    let mut rows = [[nothing; TO]; FROM];
    for i in 0..FROM {
        rows[i] = X::apply(simd, square[i]);
    }
    let mut out = [[nothing; TO]; TO];
    for j in 0..TO {
        let mut column = [nothing; FROM];
        for i in 0..FROM {
            column[i] = rows[i][j];
        }
        let column = X::apply(simd, column);
        for i in 0..TO {
            out[i][j] = column[i];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use pulp::Scalar;

    use super::*;

    /// Whether outputs are sums of taps times inputs, and whether what is called a gradient is the transposed matrix.
    fn check<const M: usize, const A: usize>()
    where
        Input<M>: Matrix<A, A>,
        Filter<M>: Matrix<3, A>,
        Output<M>: Matrix<A, M>,
        OutputGradient<M>: Matrix<M, A>,
        FilterGradient<M>: Matrix<A, 3>,
    {
        let d: [f32; A] = std::array::from_fn(|i| (i * i) as f32 - 3.5 * i as f32 + 1.0);
        let g = [0.5, -1.25, 2.0];
        let (v, u) = (Input::<M>::apply(Scalar, d), Filter::<M>::apply(Scalar, g));
        let m: [f32; A] = std::array::from_fn(|p| v[p] * u[p]);
        for (i, y) in Output::<M>::apply(Scalar, m).into_iter().enumerate() {
            let expected: f32 = (0..3).map(|tap| g[tap] * d[i + tap]).sum();
            assert!((y - expected).abs() < 1e-4, "output {i} of {M}: {y}, expected {expected}");
        }
        for p in 0..A {
            let unit: [f32; A] = std::array::from_fn(|k| f32::from(u8::from(k == p)));
            let (output, gradient) = (Output::<M>::apply(Scalar, unit), FilterGradient::<M>::apply(Scalar, unit));
            for i in 0..M {
                let unit: [f32; M] = std::array::from_fn(|k| f32::from(u8::from(k == i)));
                assert!((OutputGradient::<M>::apply(Scalar, unit)[p] - output[i]).abs() < 1e-6);
            }
            for tap in 0..3 {
                let unit: [f32; 3] = std::array::from_fn(|k| f32::from(u8::from(k == tap)));
                assert!((Filter::<M>::apply(Scalar, unit)[p] - gradient[tap]).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn outputs_are_those_of_the_filter_and_gradients_are_transposed() {
        check::<3, 5>();
        check::<4, 6>();
    }
}
