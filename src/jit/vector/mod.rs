//! A second back end, for hot code on x86-64 with AVX-512: experimental, and off unless the feature
//! `vector` is on.
//!
//! `asm` encodes instructions, `machine` has functions of them with virtual registers and gives
//! those to regalloc2, `select` makes them of the IR. Varying values take vectors of 16 lanes,
//! their *pieces*; masks are mask registers, one for each piece, or numbers. A region with an
//! operation that `select::support` does not list is left to Cranelift as a whole.

mod asm;
mod machine;
mod select;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::cache::Entry;
use super::code::Relocatable;
use super::{Effort, JitError, MAX_FRAME, Program, tuning};
use warploom_analysis::Launched;
use warploom_ir::Function;

use select::unsupported;

/// Whether this host can run the code.
pub fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512vpopcntdq")
            && std::is_x86_feature_detected!("avx512cd")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt")
    })
}

/// Environment variable that has the back end make hot code: `on`.
pub const VECTOR: &str = "WARPLOOM_VECTOR";

/// Whether hot code is wanted: the environment says so, or [`use_for_hot_code`] does.
static WANTED: OnceLock<AtomicBool> = OnceLock::new();

fn wanted() -> &'static AtomicBool {
    WANTED.get_or_init(|| AtomicBool::new(std::env::var_os(VECTOR).is_some_and(|value| value == "on")))
}

/// Whether programs that are made from now on use the back end without being asked to.
pub(super) fn is_wanted() -> bool {
    wanted().load(Relaxed) && is_supported()
}

/// Has programs that are made from now on use the back end for hot code, or not, whatever the
/// environment says.
pub fn use_for_hot_code(wanted_now: bool) {
    wanted().store(wanted_now, Relaxed);
}

impl Program {
    /// A program whose code for speed this back end makes where it can, and in which each block is
    /// a region if `small`.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn with_vectors(
        function: &Function,
        launch: impl Into<Launched>,
        one_worker: bool,
        small: bool,
    ) -> Result<Program, JitError> {
        let insts = if small { 0 } else { tuning::REGION_INSTS };
        let program = Program::in_regions(function, launch.into(), one_worker, insts)?;
        Ok(Program { vector: is_supported(), ..program })
    }

    /// How many regions the program has.
    pub fn regions(&self) -> usize {
        self.regions.len()
    }

    /// A region's code by this back end, if it makes that.
    pub(super) fn vectors(&self, region: usize, effort: Effort) -> Option<Result<Entry, JitError>> {
        let makes_it = self.vector && effort.is_fast() && unsupported(self, region).is_none();
        makes_it.then(|| compile(self, region))
    }

    /// The reason why this back end leaves a region to Cranelift, if the program is to use it.
    pub fn left_to_cranelift(&self, region: usize) -> Option<String> {
        self.vector.then(|| unsupported(self, region)).flatten()
    }
}

/// Code for a region all of whose operations are supported.
///
/// # Errors
/// The register allocator rejects the function, or its frame is too large.
fn compile(program: &Program, region: usize) -> Result<Entry, JitError> {
    let (body, sites) = select::select(program, region);
    let function = body.finish();
    let output = machine::allocate(&function).map_err(JitError::Codegen)?;
    let machine::MachineFunction { code, frame_bytes } = machine::emit(&function, &output);
    if frame_bytes > MAX_FRAME {
        return Err(JitError::Frame { bytes: frame_bytes, max: MAX_FRAME });
    }
    let code = Relocatable::calling_helpers(code.bytes, asm::ALIGNMENT as u32, &code.helpers);
    Ok(Entry { code, register_bytes: program.layout().bytes().into(), sites })
}
