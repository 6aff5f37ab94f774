//! Calls handed over to another driver (`WARPLOOM_REAL_CUDA=PATH`), to capture what it launches.
//!
//! When the library is loaded, each name of the API is made to lead to that driver's function of the same name, so that most calls are a jump.
//! Some are watched on their way (`modules`, `memory`, `launch`): what is loaded, where memory is, what is launched. `real` is that
//! driver. It may be another copy of this library, which sees from the path that it is meant itself.

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

/// What the library does in this process.
enum Role {
    /// Runs kernels itself, for programs or for what forwards to it.
    Driver {
        behind: bool,
    },
    Forwards {
        capture: Option<Settings>,
    },
}

static ROLE: OnceLock<Role> = OnceLock::new();

/// Whether another library forwards to this one, and tells what there is to tell.
pub fn is_behind() -> bool {
    matches!(ROLE.get(), Some(Role::Driver { behind: true }))
}

/// What is captured, if calls are forwarded.
fn capture() -> Option<&'static Settings> {
    match ROLE.get() {
        Some(Role::Forwards { capture }) => capture.as_ref(),
        _ => None,
    }
}

/// The GPU of the driver that calls are forwarded to.
pub fn device() -> Option<String> {
    matches!(ROLE.get(), Some(Role::Forwards { .. })).then(launch::device)
}

/// The functions that are watched.
fn watched() -> impl Iterator<Item = &'static Watcher> {
    [WATCHED, launch::WATCHED, memory::WATCHED, modules::WATCHED].into_iter().flatten()
}

/// Makes all names lead to the driver that the environment names, if it names one.
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
    // The other driver's contexts are out of sight.
    note(|summary| summary.contexts += 1);
    real::lead(table::functions(), watched());
}

/// Something that captures will lack.
fn unseen(what: String) {
    note(|summary| {
        if !summary.not_captured.contains(&what) {
            summary.not_captured.push(what);
        }
    });
}

/// Puts what watches a function in the place of the function that a program has asked for.
fn replace(name: Ptr<c_char>, out: Ptr<u64>, version: i32, flags: u64) {
    let (Ok(name), Ok(found)) = (name.text(), out.get()) else { return };
    let Some((function, here)) = table::function(&name, version, flags).filter(|_| found != 0)
    else {
        return;
    };
    if !watched().any(|watcher| watcher.name == function) {
        return;
    }
    // A later version may have another type.
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
