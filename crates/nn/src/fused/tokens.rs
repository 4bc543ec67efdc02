//! What makes features of tokens.

use burn::nn::Linear;
use invar_kernels::{Workspace, dense};

use super::layer::{Dense, Rows, values};
use super::sized;
use crate::Result;
use crate::embedding::FixedEmbedding;

/// One row for every token.
pub(super) struct Table {
    pub(super) rows: Vec<f32>,
    pub(super) width: usize,
    pub(super) positions: usize,
}

/// phi of a fixed vector, for every token.
pub(super) struct Tokens {
    embedding: Table,
    pub(super) phi: Dense,
    pub(super) order: Vec<usize>,
    /// Whether only the sum over features is seen.
    summed: bool,
    /// phi of every token, and its gradient.
    table: Vec<f32>,
    d_table: Vec<f32>,
    /// Their sums over features.
    sums: Vec<f32>,
    d_sums: Vec<f32>,
}

impl Table {
    pub(super) fn of(embedding: &FixedEmbedding, positions: usize) -> Result<Self> {
        Ok(Self { rows: values(&embedding.table.val())?, width: embedding.width(), positions })
    }
}

impl Tokens {
    pub(super) fn of(embedding: &FixedEmbedding, phi: &Linear, order: Vec<usize>, summed: bool) -> Result<Self> {
        let (embedding, phi) = (Table::of(embedding, order.len())?, Dense::of(phi)?);
        let [table, d_table, sums, d_sums] = std::array::from_fn(|_| Vec::new());
        Ok(Self { embedding, phi, order, summed, table, d_table, sums, d_sums })
    }

    /// Features of a token.
    pub(super) fn width(&self) -> usize {
        if self.summed { 1 } else { self.phi.outputs }
    }

    /// How many tokens there are.
    fn count(&self) -> usize {
        self.embedding.rows.len() / self.embedding.width
    }

    pub(super) fn forward(&mut self, tokens: &[i32], features: &mut [f32], workspace: &mut Workspace) -> Result<()> {
        let (count, width, inner, n) = (self.count(), self.width(), self.phi.outputs, self.order.len());
        let mut table: &[f32] = {
            let table = sized(&mut self.table, count * inner);
            self.phi.forward(Rows::of(&self.embedding.rows, self.embedding.width, count), true, table, workspace)?;
            table
        };
        if self.summed {
            let sums = sized(&mut self.sums, count);
            sums.iter_mut().zip(table.chunks_exact(inner)).for_each(|(sum, row)| *sum = row.iter().sum());
            table = sums;
        }
        for (to, tokens) in features.chunks_exact_mut(n * width).zip(tokens.chunks_exact(n)) {
            for (to, &position) in to.chunks_exact_mut(width).zip(&self.order) {
                to.copy_from_slice(&table[tokens[position] as usize * width..][..width]);
            }
        }
        Ok(())
    }

    pub(super) fn backward(&mut self, tokens: &[i32], d_features: &[f32], workspace: &mut Workspace) -> Result<()> {
        let (count, width, inner, n) = (self.count(), self.width(), self.phi.outputs, self.order.len());
        let Self { embedding, phi, order, summed, table, d_table, d_sums, .. } = self;
        let gathered = sized(if *summed { d_sums } else { &mut *d_table }, count * width);
        gathered.fill(0.0);
        for (from, tokens) in d_features.chunks_exact(n * width).zip(tokens.chunks_exact(n)) {
            for (from, &position) in from.chunks_exact(width).zip(&*order) {
                let to = &mut gathered[tokens[position] as usize * width..][..width];
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
        let table = &table[..count * inner];
        if *summed {
            let rows = sized(d_table, count * inner).chunks_exact_mut(inner);
            rows.zip(&d_sums[..count]).for_each(|(row, sum)| row.fill(*sum));
        }
        let d_table = &mut d_table[..count * inner];
        where_positive(d_table, table);
        phi.backward(Rows::of(&embedding.rows, embedding.width, count), d_table, None, workspace)
    }
}

/// The gradient of a ReLU, given its outputs.
pub(super) fn where_positive(gradient: &mut [f32], outputs: &[f32]) {
    gradient.iter_mut().zip(outputs).for_each(|(gradient, &output)| {
        *gradient = if output > 0.0 && gradient.abs() > dense::TINY { *gradient } else { 0.0 };
    });
}
