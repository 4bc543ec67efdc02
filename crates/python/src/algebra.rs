//! Groups and lattices.

use invar_algebra::{Group, GroupSet, IBig, Mode, Options, Reynolds, Shape, Tolerance, candidates, invariant_weights, warnings};
use invar_data::Limits;
use invar_lab::diagram::{self, DiagramOptions};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::convert::{copied, integer, order, rows};
use crate::errors::{OrRaise, wrong};

/// What a check says: the law, whether it was decided exactly, in how many cases, what failed, and what is to be known about it.
type CheckFacts = (String, bool, usize, Vec<String>, Option<String>);

/// Candidates in shorthand, on one shape.
fn read(shape: &[usize], list: &[String]) -> PyResult<(Shape, Vec<Group>)> {
    let shape = Shape::new(shape).or_raise()?;
    let groups = candidates(&shape, list.iter().map(String::as_str)).or_raise()?;
    Ok((shape, groups))
}

/// A set of candidates by their places.
fn set_of(places: &[usize], groups: &[Group]) -> PyResult<GroupSet> {
    match places.iter().find(|&&place| place >= groups.len()) {
        Some(place) => Err(wrong(format!("there is no candidate {place} among {}", groups.len()))),
        None => Ok(places.iter().copied().collect()),
    }
}

/// The invariant subspaces of a list of candidates.
#[pyclass(frozen, module = "invar._invar")]
pub(crate) struct Lattice {
    lattice: invar_algebra::Lattice,
}

#[pymethods]
impl Lattice {
    #[new]
    fn new(
        py: Python<'_>,
        shape: Vec<usize>,
        candidates: Vec<String>,
        complete: bool,
        cap: usize,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        py.detach(|| {
            let (_, groups) = read(&shape, &candidates)?;
            let mode = if complete { Mode::Complete } else { Mode::Paper };
            let memory = memory.unwrap_or_else(|| Limits::of_this_machine().bytes);
            let options = Options { mode, cap, memory, ..Options::default() };
            Ok(Self { lattice: invar_algebra::Lattice::new(groups, &options).or_raise()? })
        })
    }

    /// The names of the candidates.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.lattice.groups().iter().map(Group::name).collect()
    }

    /// Of each subspace the candidates it is invariant to, by their places.
    #[getter]
    fn sets(&self) -> Vec<Vec<usize>> {
        self.lattice.subspaces().iter().map(|subspace| subspace.set().iter().collect()).collect()
    }

    /// The dimension of each subspace.
    #[getter]
    fn dimensions(&self) -> Vec<usize> {
        self.lattice.subspaces().iter().map(invar_algebra::Subspace::dimension).collect()
    }

    /// Each subspace in words.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.lattice.subspaces().iter().map(|subspace| self.lattice.label(subspace.set())).collect()
    }

    /// Pairs (upper, lower) of subspaces with none between.
    #[getter]
    fn edges(&self) -> Vec<(usize, usize)> {
        self.lattice.hasse_edges()
    }

    /// The smallest singular-value gap behind a rank, where nothing was exact.
    #[getter]
    fn gap(&self) -> Option<f64> {
        self.lattice.gap()
    }

    /// What is odd about the candidates.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        warnings(self.lattice.groups()).iter().map(ToString::to_string).collect()
    }

    /// An orthonormal basis of a subspace, by rows.
    fn basis<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (subspace, d) = (self.subspace(index)?, self.lattice.shape().len());
        let values = py.detach(|| {
            let vectors = subspace.basis();
            vectors.iter().flat_map(|vector| vector.to_dense(d, 0.0)).collect::<Vec<f64>>()
        });
        rows(py, values, d)
    }

    /// Integer vectors that span a subspace: an array where they fit into 64 bits, else lists of integers; nothing where generators
    /// are real.
    fn vectors<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (subspace, d) = (self.subspace(index)?, self.lattice.shape().len());
        if self.lattice.gap().is_some() {
            return Ok(None);
        }
        let dense: Vec<Vec<IBig>> = py.detach(|| subspace.exact().iter().map(|vector| vector.to_dense(d, IBig::ZERO)).collect());
        let small: Result<Vec<i64>, _> = dense.iter().flatten().map(i64::try_from).collect();
        if let Ok(small) = small {
            return Ok(Some(rows(py, small, d)?.into_any()));
        }
        let row = |vector: &Vec<IBig>| -> PyResult<_> {
            PyList::new(py, vector.iter().map(|value| integer(py, value)).collect::<PyResult<Vec<_>>>()?)
        };
        Ok(Some(PyList::new(py, dense.iter().map(row).collect::<PyResult<Vec<_>>>()?)?.into_any()))
    }

    /// Checks every law.
    fn verify(&self, py: Python<'_>) -> Vec<CheckFacts> {
        let checks = py.detach(|| self.lattice.check(&|_| {}));
        checks.into_iter().map(|check| (check.law, check.exact, check.cases, check.failures, check.how)).collect()
    }

    /// Every candidate that all weights invariant to these are invariant to as well.
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 hands over what it made")]
    fn closure(&self, places: Vec<usize>) -> PyResult<Vec<usize>> {
        let set = set_of(&places, self.lattice.groups())?;
        Ok(self.lattice.closure(&set).or_raise()?.iter().collect())
    }

    /// The picture as a web page of its own.
    fn html(&self, py: Python<'_>, title: Option<String>, eigenspaces: bool) -> String {
        py.detach(|| diagram::html(&self.lattice, &DiagramOptions { title, eigenspaces, ..DiagramOptions::default() }))
    }

    /// The picture alone.
    fn svg(&self, py: Python<'_>, title: Option<String>, eigenspaces: bool) -> String {
        py.detach(|| diagram::svg(&self.lattice, &DiagramOptions { title, eigenspaces, ..DiagramOptions::default() }))
    }

    /// Everything needed to check the lattice elsewhere, as JSON.
    fn certificate(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            self.lattice.admit_certificate().or_raise()?;
            serde_json::to_string(&self.lattice.verify()).map_err(|error| wrong(error.to_string()))
        })
    }
}

impl Lattice {
    /// A subspace whose vectors fit into memory when they are written out.
    fn subspace(&self, index: usize) -> PyResult<&invar_algebra::Subspace> {
        let subspaces = self.lattice.subspaces();
        let Some(subspace) = subspaces.get(index) else {
            return Err(wrong(format!("there is no subspace {index} among {}", subspaces.len())));
        };
        let entries = (subspace.dimension() as u64).saturating_mul(self.lattice.shape().len() as u64);
        let (needed, limit) = (entries.saturating_mul(8), self.lattice.options().memory);
        if needed > limit {
            let text = format!("a basis of {entries} entries would take {needed} bytes, and at most {limit} may be used");
            return Err(PyMemoryError::new_err(text));
        }
        Ok(subspace)
    }
}

/// Candidate symmetries as groups. Sets of them stand for the group that they generate.
#[pyclass(frozen, module = "invar._invar")]
pub(crate) struct Groups {
    groups: Vec<Group>,
    shape: Shape,
}

#[pymethods]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 hands over what it made")]
impl Groups {
    #[new]
    fn new(py: Python<'_>, shape: Vec<usize>, candidates: Vec<String>) -> PyResult<Self> {
        let (shape, groups) = py.detach(|| read(&shape, &candidates))?;
        Ok(Self { groups, shape })
    }

    /// The names of the candidates.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.groups.iter().map(Group::name).collect()
    }

    /// What is odd about the candidates.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        warnings(&self.groups).iter().map(ToString::to_string).collect()
    }

    /// The number of elements.
    fn order<'py>(&self, py: Python<'py>, places: Vec<usize>) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| Ok::<_, PyErr>(self.join(&places)?.order()))?;
        order(py, &found)
    }

    /// What the generators do, in words.
    fn generators(&self, places: Vec<usize>) -> PyResult<Vec<String>> {
        let group = self.join(&places)?;
        Ok(group.generators().iter().map(|generator| group.describe(generator)).collect())
    }

    /// The orbit of each entry, by number; nothing for groups of matrices.
    fn orbits<'py>(&self, py: Python<'py>, places: Vec<usize>) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        let orbits = py.detach(|| Ok::<_, PyErr>(self.join(&places)?.orbits()))?;
        let labels = |orbits: invar_algebra::Orbits| (0..orbits.len()).map(|i| orbits.orbit(i) as i64).collect::<Vec<_>>();
        Ok(orbits.map(|orbits| PyArray1::from_vec(py, labels(orbits))))
    }

    /// Elements g and h with g h g⁻¹ outside of the group, if it is not normal in what all candidates generate: the candidate that g
    /// is of, g, h and the conjugate, in words.
    fn witness(&self, py: Python<'_>, places: Vec<usize>) -> PyResult<Option<(String, String, String, String)>> {
        py.detach(|| {
            let group = self.join(&places)?;
            let Some(found) = group.witness_against_normality(&self.groups) else { return Ok(None) };
            let undo = found.g.inverse().ok_or_else(|| wrong("an element of a group has an inverse"))?;
            let conjugate = found.g.after(&found.h).after(&undo);
            let [g, h, conjugate] = [&found.g, &found.h, &conjugate].map(|action| group.describe(action));
            Ok(Some((found.of, g, h, conjugate)))
        })
    }

    /// Whether every element of one commutes with every element of the other.
    fn commute(&self, py: Python<'_>, one: Vec<usize>, other: Vec<usize>) -> PyResult<bool> {
        py.detach(|| Ok(self.join(&one)?.commutes_with(&self.join(&other)?)))
    }

    /// A basis of all weights that the candidates leave alone, by rows.
    fn invariants<'py>(&self, py: Python<'py>, places: Vec<usize>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let set = set_of(&places, &self.groups)?;
        let vectors = py.detach(|| {
            let groups = set.iter().map(|place| &self.groups[place]);
            invariant_weights(&self.shape, groups, &Tolerance::default()).or_raise()
        })?;
        rows(py, vectors.concat(), self.shape.len())
    }

    /// The mean over the group of each row.
    fn project<'py>(
        &self,
        py: Python<'py>,
        places: Vec<usize>,
        inputs: PyReadonlyArray2<'py, f64>,
        weights: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let d = self.shape.len();
        let mut values = copied(&inputs, d, "arrays to project")?;
        py.detach(|| {
            let operator = Reynolds::new(&self.join(&places)?, &Tolerance::default()).or_raise()?;
            for row in values.chunks_mut(d) {
                if weights { operator.apply_to_weights(row) } else { operator.apply(row) }
            }
            Ok::<_, PyErr>(())
        })?;
        rows(py, values, d)
    }
}

impl Groups {
    /// The group that some candidates generate; the identity alone for none.
    fn join(&self, places: &[usize]) -> PyResult<Group> {
        let set = set_of(places, &self.groups)?;
        if set.is_empty() {
            return Group::new("nothing", &self.shape, Vec::new()).or_raise();
        }
        Group::join("join", set.iter().map(|place| &self.groups[place])).or_raise()
    }
}
