//! The extension module `invar._invar`: what the Python package needs of the crates, with plain arguments and plain answers.
//!
//! The package in `python/invar` gives it the form that people see: it checks types, names things, and documents. Here the GIL is
//! released while anything is computed, and errors become Python's.

mod algebra;
mod command;
mod convert;
mod errors;
mod measure;
mod model;
mod train;

use pyo3::prelude::*;

// As in the program: the default allocator returns large buffers to the system after every step.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the Python package is made of.
#[pymodule]
mod _invar {
    #[pymodule_export]
    use super::algebra::{Groups, Lattice};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::measure::measure;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::train::{report, suggest, train};

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        super::PyModuleMethods::add(module, "VERSION", env!("CARGO_PKG_VERSION"))
    }
}
