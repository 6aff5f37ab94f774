//! `warploom._native`: the native part of the Python package.
//!
//! The module has few and simple functions: bytes for memory, JSON for structures. `python/warploom`
//! makes them an interface for people. `module` loads binaries and launches kernels, `images` has
//! the surfaces and textures of launches, `replay` runs manifests. No function touches memory of
//! Python except through `bytes` objects.

mod images;
mod module;
mod options;
mod replay;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use warploom_replay::surface;

create_exception!(warploom, Error, PyException, "Bad input: the launch did not take place.");

/// Makes a Python exception of an error.
fn failed(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// Returns the element type and the number of components of a format's texels in arrays.
#[pyfunction]
fn elements(format: &str) -> Option<(&'static str, u64)> {
    surface::elements(format).map(|(dtype, count)| (dtype.name(), count))
}

/// Returns the name of a GPU that warploom's CUDA driver can be.
#[pyfunction]
fn cuda_device(name: &str) -> PyResult<String> {
    warploom_container::cuda_device(name).map(|sm| format!("sm_{sm}")).map_err(failed)
}

/// Returns whether warploom runs the machine code of a GPU that its CUDA driver can be.
#[pyfunction]
fn runs_machine_code(name: &str) -> PyResult<bool> {
    let sm = warploom_container::cuda_device(name).map_err(failed)?;
    Ok(warploom_container::Arch::Sm(sm).runs())
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::Error;
    #[pymodule_export]
    use super::module::{Module, load};
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::{cuda_device, elements, runs_machine_code};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    /// A `sitecustomize.py` for CUDA programs.
    #[pymodule_export]
    const PYTHON_START: &str = include_str!("../../src/cli/sitecustomize.py");
}
