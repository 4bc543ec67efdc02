//! The little dense algebra that layers need, in f64 and row-major order: sizes are those of one layer's input.

/// Orthonormal basis of the span, by Gram-Schmidt applied twice; dependent vectors drop out.
pub(crate) fn orthonormal(vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for vector in vectors {
        let size = dot(vector, vector).sqrt();
        let mut rest = vector.clone();
        // Once leaves an error proportional to the loss of length; a second pass removes it.
        for _ in 0..2 {
            for b in &basis {
                let along = dot(&rest, b);
                rest.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
            }
        }
        let left = dot(&rest, &rest).sqrt();
        if left > 1e-9 * size {
            for r in &mut rest {
                *r /= left;
            }
            basis.push(rest);
        }
    }
    basis
}

/// Inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// a [n, k] times b [k, p].
pub(crate) fn matmul(a: &[f64], b: &[f64], k: usize, p: usize) -> Vec<f64> {
    let mut out = vec![0.0; a.len() / k * p];
    for (row, out) in a.chunks(k).zip(out.chunks_mut(p)) {
        for (x, b) in row.iter().zip(b.chunks(p)) {
            if *x != 0.0 {
                out.iter_mut().zip(b).for_each(|(o, b)| *o += x * b);
            }
        }
    }
    out
}

/// Transpose of a [n, k].
pub(crate) fn transpose(a: &[f64], k: usize) -> Vec<f64> {
    let n = a.len() / k;
    (0..k).flat_map(|j| (0..n).map(move |i| a[i * k + j])).collect()
}

/// A solution x of the symmetric positive semidefinite system g x = y, g [r, r], y [r, p]. Directions that g does not see
/// (dependent basis vectors of an overcomplete lattice) get coefficient 0.
pub(crate) fn solve(mut g: Vec<f64>, mut y: Vec<f64>, r: usize, p: usize) -> Vec<f64> {
    let scale = (0..r).map(|i| g[i * r + i]).fold(0.0, f64::max);
    let mut x = vec![0.0; r * p];
    let mut open: Vec<usize> = (0..r).collect();
    let mut pivots = Vec::new();
    while let Some(at) = (0..open.len()).max_by(|&a, &b| g[open[a] * r + open[a]].total_cmp(&g[open[b] * r + open[b]])) {
        let pivot = open.swap_remove(at);
        let size = g[pivot * r + pivot];
        if size <= 1e-12 * scale {
            break;
        }
        for &i in open.iter().chain(&pivots) {
            let factor = g[i * r + pivot] / size;
            if factor != 0.0 {
                for j in 0..r {
                    g[i * r + j] -= factor * g[pivot * r + j];
                }
                for j in 0..p {
                    y[i * p + j] -= factor * y[pivot * p + j];
                }
            }
        }
        pivots.push(pivot);
    }
    for &i in &pivots {
        for j in 0..p {
            x[i * p + j] = y[i * p + j] / g[i * r + i];
        }
    }
    x
}

/// Rows k with k^T k = a a^T for a = I - R, by pivoted Cholesky: as many rows as a has rank, one for a transposition. Then
/// ||w^T (I - R)||^2 = ||k w||^2 at a fraction of the cost.
pub(crate) fn defect_factor(reynolds: &[f64], dim: usize) -> Vec<Vec<f64>> {
    let mut a: Vec<f64> = reynolds.iter().map(|x| -x).collect();
    for i in 0..dim {
        a[i * dim + i] += 1.0;
    }
    let row = |i: usize| &a[i * dim..(i + 1) * dim];
    let mut left: Vec<f64> = (0..dim).map(|i| dot(row(i), row(i))).collect();
    let scale = left.iter().copied().fold(0.0, f64::max);
    let mut factor: Vec<Vec<f64>> = Vec::new();
    while factor.len() < dim {
        let Some(p) = (0..dim).max_by(|&i, &j| left[i].total_cmp(&left[j])) else {
            break;
        };
        if left[p] <= 1e-12 * scale || left[p] <= 0.0 {
            break;
        }
        let root = left[p].sqrt();
        let column: Vec<f64> =
            (0..dim).map(|i| (dot(row(i), row(p)) - factor.iter().map(|k| k[i] * k[p]).sum::<f64>()) / root).collect();
        left.iter_mut().zip(&column).for_each(|(l, c)| *l -= c * c);
        left[p] = 0.0;
        factor.push(column);
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reynolds;

    #[test]
    fn orthonormal_drops_dependent_vectors() {
        let basis = orthonormal(&[vec![3.0, 4.0, 0.0], vec![6.0, 8.0, 0.0], vec![0.0, 0.0, 0.0], vec![1.0, 0.0, 1.0]]);
        assert_eq!(basis.len(), 2);
        assert!(dot(&basis[0], &basis[1]).abs() < 1e-14);
        assert!((dot(&basis[1], &basis[1]) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn solve_regular_and_singular() {
        let x = solve(vec![4.0, 1.0, 1.0, 3.0], vec![1.0, 2.0], 2, 1);
        assert!((x[0] - 1.0 / 11.0).abs() < 1e-14 && (x[1] - 7.0 / 11.0).abs() < 1e-14);
        let x = solve(vec![1.0, 1.0, 1.0, 1.0], vec![5.0, 5.0], 2, 1);
        assert!((x[0] + x[1] - 5.0).abs() < 1e-14);
    }

    #[test]
    fn defect_of_a_swap_has_rank_one() {
        let reynolds = Reynolds::swaps(5);
        let factor = defect_factor(&reynolds.matrices[3], 5);
        assert_eq!(factor.len(), 1);
        // Group 3 swaps positions 0 and 4: w (I - R) = (w0 - w4)/2 at 0 and minus that at 4.
        let w = [1.0, 7.0, 8.0, 9.0, 4.0];
        assert!((dot(&factor[0], &w).powi(2) - 2.0 * 1.5f64.powi(2)).abs() < 1e-12);
    }

    #[test]
    fn defect_of_a_larger_group_has_its_rank() {
        // Averages positions 0, 1 and 3 of four: rank 2.
        let third = |i: usize, j: usize| if i == 2 || j == 2 { 0.0 } else { 1.0 / 3.0 };
        let matrix: Vec<f64> = (0..16).map(|k| if k == 10 { 1.0 } else { third(k / 4, k % 4) }).collect();
        let factor = defect_factor(&matrix, 4);
        assert_eq!(factor.len(), 2);
        // (1, 4, 9, 10) moves by (-4, -1, 0, 5) from its mean 5.
        let value: f64 = factor.iter().map(|k| dot(k, &[1.0, 4.0, 9.0, 10.0]).powi(2)).sum();
        assert!((value - 42.0).abs() < 1e-10, "{value}");
    }

    #[test]
    fn defect_of_a_skew_projector() {
        // R = [[1, 1], [0, 0]]: w^T (I - R) = (0, w1 - w0).
        let factor = defect_factor(&[1.0, 1.0, 0.0, 0.0], 2);
        let value: f64 = factor.iter().map(|k| dot(k, &[2.0, 5.0]).powi(2)).sum();
        assert!((value - 9.0).abs() < 1e-12);
        assert!(defect_factor(&[1.0, 0.0, 0.0, 1.0], 2).is_empty());
    }

    #[test]
    fn products() {
        assert_eq!(matmul(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0], 2, 1), [17.0, 39.0]);
        assert_eq!(transpose(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
