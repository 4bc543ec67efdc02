//! Ranks of integer matrices by way of a prime field.
//!
//! Reducing modulo a prime can only lower a rank. So a full rank modulo p *proves* a full rank over the rationals, at the
//! cost of machine arithmetic; only when the rank modulo p is short is it computed over the integers.

use dashu_int::{IBig, Sign};

use crate::linear::{self, Vector};

/// The Mersenne prime 2^61 - 1.
const P: u64 = (1 << 61) - 1;

fn residue(x: &IBig) -> u64 {
    let (sign, magnitude) = x.clone().into_parts();
    let rest = magnitude % P;
    if sign == Sign::Negative && rest != 0 { P - rest } else { rest }
}

fn multiply(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    let folded = (wide as u64 & P) + (wide >> 61) as u64;
    if folded >= P { folded - P } else { folded }
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

fn rank_modulo_p(vectors: &[Vector]) -> usize {
    let mut rows: Vec<Vec<u64>> = vectors.iter().map(|v| v.iter().map(residue).collect()).collect();
    let width = rows.first().map_or(0, Vec::len);
    let mut rank = 0;
    for column in 0..width {
        let Some(pivot) = (rank..rows.len()).find(|&i| rows[i][column] != 0) else {
            continue;
        };
        rows.swap(rank, pivot);
        let inverse = power(rows[rank][column], P - 2);
        let (done, rest) = rows.split_at_mut(rank + 1);
        let lead = &done[rank];
        for row in rest.iter_mut().filter(|row| row[column] != 0) {
            let times = P - multiply(row[column], inverse);
            for (x, &l) in row[column..].iter_mut().zip(&lead[column..]).filter(|(_, l)| **l != 0) {
                let sum = *x + multiply(times, l);
                *x = if sum >= P { sum - P } else { sum };
            }
        }
        rank += 1;
        if rank == rows.len() {
            break;
        }
    }
    rank
}

/// The rank over the rationals.
pub(crate) fn rank(vectors: &[Vector]) -> usize {
    let most = vectors.len().min(vectors.first().map_or(0, Vec::len));
    match rank_modulo_p(vectors) {
        rank if rank == most => rank,
        _ => linear::rank(vectors),
    }
}

/// Whether the vectors are independent over the rationals.
pub(crate) fn has_full_rank(vectors: &[Vector]) -> bool {
    rank(vectors) == vectors.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(entries: &[i64]) -> Vector {
        entries.iter().map(|&e| IBig::from(e)).collect()
    }

    #[test]
    fn arithmetic_modulo_the_prime() {
        assert_eq!(residue(&IBig::from(-1)), P - 1);
        assert_eq!(residue(&(IBig::from(P) * IBig::from(7) + IBig::from(3))), 3);
        assert_eq!(multiply(P - 1, P - 1), 1);
        assert_eq!(multiply(power(12345, P - 2), 12345), 1);
    }

    #[test]
    fn a_rank_that_drops_modulo_p_is_found_over_the_integers() {
        let vectors = vec![vector(&[1, 0]), vec![IBig::ZERO, IBig::from(P)]];
        assert_eq!(rank_modulo_p(&vectors), 1);
        assert_eq!(rank(&vectors), 2);
        assert!(has_full_rank(&vectors) && !has_full_rank(&[vector(&[1, 2]), vector(&[2, 4])]));
    }
}
