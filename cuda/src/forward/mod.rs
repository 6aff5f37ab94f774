//! Calls forwarded to another driver (`WARPLOOM_REAL_CUDA=PATH`), to capture its launches.
//!
//! When the library is loaded, it makes each name of the API lead to that driver's function of this
//! name, so that most calls are a jump. `modules`, `memory` and `launch` watch some calls: loads,
//! allocations and launches. `real` is that driver. It may be a copy of this library, which
//! recognises itself by the path.

mod launch;
mod memory;
mod modules;
mod real;

use std::ffi::c_char;
use std::path::PathBuf;
use std::sync::OnceLock;

use real::{Watcher, watch};

use crate::api::table;
use crate::boundary::{Ptr, at_exit};
use crate::record::{Settings, note};
use crate::{driver, record};

const VARIABLE: &str = "WARPLOOM_REAL_CUDA";

/// The role of the library in this process.
enum Role {
    /// Runs kernels itself, for programs or for a library that forwards to it (`behind`).
    Driver {
        behind: bool,
    },
    Forwards {
        capture: Option<Settings>,
    },
}

static ROLE: OnceLock<Role> = OnceLock::new();

/// Returns whether another library forwards to this one. That library writes captures and the
/// summary.
pub fn is_behind() -> bool {
    matches!(ROLE.get(), Some(Role::Driver { behind: true }))
}

/// Returns the settings of captures, if calls are forwarded.
fn capture() -> Option<&'static Settings> {
    match ROLE.get() {
        Some(Role::Forwards { capture }) => capture.as_ref(),
        _ => None,
    }
}

/// Returns the GPU of the driver that calls are forwarded to.
pub fn device() -> Option<String> {
    matches!(ROLE.get(), Some(Role::Forwards { .. })).then(launch::device)
}

/// Returns the watchers of all watched functions.
fn watched() -> impl Iterator<Item = &'static Watcher> {
    [WATCHED, launch::WATCHED, memory::WATCHED, modules::WATCHED].into_iter().flatten()
}

/// Makes all names lead to the driver that the environment names, if any.
pub fn start() {
    let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let behind = path.as_deref().is_some_and(real::is_this_library);
    let Some(path) = path.filter(|_| !behind) else {
        ROLE.get_or_init(|| Role::Driver { behind });
        return;
    };
    if let Err(error) = real::open(&path) {
        eprintln!("warploom: {VARIABLE}={}: {error}: nothing of CUDA works", path.display());
    }
    ROLE.get_or_init(|| Role::Forwards { capture: record::Settings::from_environment() });
    at_exit();
    // The contexts of the other driver are out of sight.
    note(|summary| summary.contexts += 1);
    real::lead(table::functions(), watched());
}

/// Notes something that captures will lack.
fn unseen(what: String) {
    note(|summary| {
        if !summary.not_captured.contains(&what) {
            summary.not_captured.push(what);
        }
    });
}

/// Replaces a function that a program has asked for by the function's watcher.
fn replace(name: Ptr<c_char>, out: Ptr<u64>, version: i32, flags: u64) {
    let (Ok(name), Ok(found)) = (name.text(), out.get()) else { return };
    let Some((function, here)) = table::function(&name, version, flags).filter(|_| found != 0)
    else {
        return;
    };
    if !watched().any(|watcher| watcher.name == function) {
        return;
    }
    // A later version of the function may have another type.
    let is_known = version <= driver::VERSION
        || real::symbol(function).is_some_and(|there| there.address() == found);
    if is_known {
        out.set_if(here.address());
    } else {
        unseen(format!("calls of {name} in the form of CUDA {version}, which is not known"));
    }
}

watch! { WATCHED:
    fn cuGetProcAddress(name: Ptr<c_char>, out: Ptr<u64>, version: i32, flags: u64) |real| {
        let answer = real();
        if answer == 0 {
            replace(name, out, version, flags);
        }
        answer
    }

    fn cuGetProcAddress_v2(
        name: Ptr<c_char>, out: Ptr<u64>, version: i32, flags: u64, status: Ptr<i32>,
    ) / cuGetProcAddress_v2_ptsz |real| {
        let answer = real();
        if answer == 0 {
            replace(name, out, version, flags);
        }
        answer
    }

    fn cuGetExportTable(table: Ptr<u64>, id: Ptr<[u8; 16]>) |real| {
        unseen("what is loaded and launched through undocumented tables (cuGetExportTable), as CUDA's runtime did before 12".into());
        real()
    }
}
