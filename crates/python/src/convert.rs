//! Between Python's values and those of the crates.

use invar_algebra::{IBig, UBig};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{Element, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::errors::wrong;

/// Rows of one width as an array.
pub(crate) fn rows<T: Element>(py: Python<'_>, values: Vec<T>, width: usize) -> PyResult<Bound<'_, PyArray2<T>>> {
    let count = if width == 0 { 0 } else { values.len() / width };
    let array = Array2::from_shape_vec((count, width), values).map_err(|error| wrong(error.to_string()))?;
    Ok(PyArray2::from_owned_array(py, array))
}

/// A copy of an array, row by row: nobody else can change it while the GIL is released.
pub(crate) fn copied<T: Element + Copy>(array: &PyReadonlyArray2<'_, T>, width: usize, what: &str) -> PyResult<Vec<T>> {
    let view: ArrayView2<'_, T> = array.as_array();
    if view.ncols() != width {
        return Err(wrong(format!("{what}: expected {width} entries in each, got {}", view.ncols())));
    }
    Ok(match view.as_slice() {
        Some(slice) => slice.to_vec(),
        None => view.iter().copied().collect(),
    })
}

/// An integer of any size.
pub(crate) fn integer<'py>(py: Python<'py>, value: &IBig) -> PyResult<Bound<'py, PyAny>> {
    match i64::try_from(value) {
        Ok(small) => Ok(PyInt::new(py, small).into_any()),
        Err(_) => from_digits(py, &value.to_string()),
    }
}

/// The number of elements of a group.
pub(crate) fn order<'py>(py: Python<'py>, value: &UBig) -> PyResult<Bound<'py, PyAny>> {
    from_digits(py, &value.to_string())
}

fn from_digits<'py>(py: Python<'py>, digits: &str) -> PyResult<Bound<'py, PyAny>> {
    // The limit on digits guards against texts of others; orders of groups are exact and may be long. Sixteens have no limit.
    py.get_type::<PyInt>().call1((digits,)).or_else(|_| {
        let value: IBig = digits.parse().map_err(|_| wrong(format!("`{digits}` is no integer")))?;
        py.get_type::<PyInt>().call1((format!("{}", value.in_radix(16)), 16))
    })
}
