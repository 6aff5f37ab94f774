//! Names of compiled code for profilers and debuggers, if the environment asks for them:
//! `WARPLOOM_JIT_NAMES=perf`, `gdb`, or both with a comma.
//!
//! For `perf`, a line is added to `perf-PID.map` in the folder for temporary files, by default
//! `/tmp` (Linux, tools/perf/Documentation/jit-interface.txt). `gdb` gets an ELF image through its
//! JIT interface (GDB manual, "JIT Compilation Interface").

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::OnceLock;

use warploom_engine::Code;

use super::gdb;

/// The environment variable that says which tools get names.
pub const NAMES: &str = "WARPLOOM_JIT_NAMES";

#[derive(Clone, Copy)]
struct Readers {
    perf: bool,
    gdb: bool,
}

fn readers() -> Readers {
    static READERS: OnceLock<Readers> = OnceLock::new();
    *READERS.get_or_init(|| {
        let names = std::env::var(NAMES).unwrap_or_default();
        let has = |reader: &str| names.split(',').any(|name| name.trim() == reader);
        Readers { perf: has("perf"), gdb: has("gdb") }
    })
}

/// Whether frames must be found without unwind information.
pub fn keep_frames() -> bool {
    readers().gdb
}

/// The names that a debugger knows until this value is dropped.
#[derive(Default)]
pub struct Names {
    images: Vec<gdb::Image>,
}

impl Names {
    /// Gives a name to the tools that want names.
    pub fn add(&mut self, name: &str, code: Code) {
        let readers = readers();
        if readers.perf
            && let Err(error) = add_to_map(name, code)
        {
            tracing::warn!("the map for perf: {error}");
        }
        if readers.gdb {
            match gdb::Image::new(name, code) {
                Ok(image) => self.images.push(image),
                Err(error) => tracing::warn!("the image for gdb: {error}"),
            }
        }
    }
}

fn add_to_map(name: &str, code: Code) -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("perf-{}.map", std::process::id()));
    let mut map = OpenOptions::new().create(true).append(true).open(path)?;
    // One write per line, because other threads may add lines.
    map.write_all(format!("{:x} {:x} {name}\n", code.address() as usize, code.bytes()).as_bytes())
}
