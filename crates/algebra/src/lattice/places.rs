//! Where vectors live: the components of the tensor, those that are alike together.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::lattice::SparseVector;
use crate::sparse::Row;

/// Components of one size, each with its entries ascending: what is said about one of them holds of all.
#[derive(Debug)]
pub(crate) struct Places {
    size: usize,
    /// Component after component.
    entries: Vec<u32>,
    /// The same as lists of their own, for those who want vectors one by one.
    lists: OnceLock<Vec<Arc<[u32]>>>,
}

impl Places {
    pub(crate) fn new(size: usize, entries: Vec<u32>) -> Self {
        debug_assert!(size > 0 && entries.len().is_multiple_of(size));
        Self { size, entries, lists: OnceLock::new() }
    }

    /// Number of entries of each component.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Number of components.
    pub(crate) fn count(&self) -> usize {
        self.entries.len() / self.size
    }

    /// The entries of each component.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.entries.chunks_exact(self.size)
    }

    pub(crate) fn component(&self, number: usize) -> &[u32] {
        &self.entries[number * self.size..(number + 1) * self.size]
    }

    /// The entries of each component, shared by all vectors on it.
    pub(crate) fn lists(&self) -> &[Arc<[u32]>] {
        self.lists.get_or_init(|| self.each().map(Into::into).collect())
    }
}

/// Vectors on the components of some places, the same on each of them: the sum of all copies is direct.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) places: Arc<Places>,
    /// By index within a component.
    pub(crate) vectors: Arc<Vec<Row>>,
}

impl Part {
    /// Number of vectors on all components together.
    pub(crate) fn dimension(&self) -> usize {
        self.vectors.len() * self.places.count()
    }

    /// Entries of all vectors when each is written out on its component.
    pub(crate) fn written_out(&self) -> u64 {
        (self.dimension() as u64).saturating_mul(self.places.size as u64)
    }
}

/// Vectors with one copy for every component, in the order of the components' first entries.
pub(crate) fn spread<T: Clone>(parts: &[(&Places, Vec<Vec<T>>)]) -> Vec<SparseVector<T>> {
    let mut components: Vec<(u32, usize, usize)> = Vec::new();
    for (k, (places, _)) in parts.iter().enumerate() {
        components.extend(places.each().enumerate().map(|(number, entries)| (entries[0], k, number)));
    }
    components.sort_unstable();
    let mut vectors = Vec::new();
    for (_, k, number) in components {
        let (places, values) = &parts[k];
        let entries = &places.lists()[number];
        vectors.extend(values.iter().map(|values| SparseVector { entries: entries.clone(), values: values.clone() }));
    }
    vectors
}

/// Gives vectors on equal lists of entries the same places.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    known: HashMap<Arc<[u32]>, Arc<Places>>,
}

impl Interner {
    /// The places of one component.
    pub(crate) fn places(&mut self, entries: &Arc<[u32]>) -> Arc<Places> {
        let new = || Arc::new(Places::new(entries.len(), entries.to_vec()));
        self.known.entry(entries.clone()).or_insert_with(new).clone()
    }
}
