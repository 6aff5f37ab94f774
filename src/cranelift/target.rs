//! The host that code is made for: its triple, its features, and its requirements on code.
//!
//! Lowering writes CLIF for a host that has all instructions. [`Target::legalize`] rewrites
//! instructions that a host does not have.

use std::sync::OnceLock;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, InstructionData, Opcode};
use cranelift_codegen::isa::{self, LookupError, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use target_lexicon::{Architecture, Endianness, Triple};
use warploom_engine::{Effort, JitError};

use crate::code;

/// The environment variable that switches features of the host on or off: `-fma,-sse41`.
pub const HOST_FEATURES: &str = "WARPLOOM_HOST_FEATURES";

/// The levels of x86-64, with the names of Cranelift's presets.
const LEVELS: [(&str, &str); 3] =
    [("x86-64-v2", "nehalem"), ("x86-64-v3", "haswell"), ("x86-64-v4", "skylake-avx512")];
/// Features of x86-64. A CPU has each feature only together with the features before it.
const ASCENDING: [&str; 12] = [
    "sse3",
    "ssse3",
    "sse41",
    "sse42",
    "avx",
    "fma",
    "avx2",
    "avx512f",
    "avx512dq",
    "avx512vl",
    "avx512vbmi",
    "avx512bitalg",
];

/// A host with a code generator for each kind of effort.
pub struct Target {
    quick: OwnedTargetIsa,
    fast: OwnedTargetIsa,
    has_blends: bool,
    /// Whether one instruction compares vectors for less, greater or unordered.
    compares_unordered: bool,
    description: OnceLock<String>,
}

impl Target {
    /// Returns the host that this runs on, with its detected features as changed by
    /// [`HOST_FEATURES`].
    ///
    /// # Errors
    /// The code generator does not serve this host, or there is no such feature.
    pub fn host() -> Result<&'static Target, JitError> {
        static HOST: OnceLock<Result<Target, String>> = OnceLock::new();
        let make = || {
            let mut builder = cranelift_native::builder()?;
            let features = std::env::var(HOST_FEATURES).unwrap_or_default();
            choose(&mut builder, &features).map_err(|error| format!("{HOST_FEATURES}: {error}"))?;
            let frames = [("preserve_frame_pointers", "true")];
            Target::new(builder, if code::keep_frames() { &frames } else { &[] })
        };
        HOST.get_or_init(make).as_ref().map_err(|error| JitError::Host(error.clone()))
    }

    /// Returns a host by its triple and features, separated by commas:
    /// `x86_64-unknown-linux-gnu,x86-64-v3,-fma`. Without features, the host has the least that its
    /// triple stands for. Code for the host is made, not run.
    ///
    /// # Errors
    /// There is no such triple or feature, or the code generator does not serve the host.
    pub fn named(name: &str) -> Result<Target, JitError> {
        Target::with(name, &[]).map_err(JitError::Host)
    }

    /// Returns a host as [`Target::named`] does, with further settings of the code generator.
    pub(crate) fn with(name: &str, further: &[(&str, &str)]) -> Result<Target, String> {
        let (triple, features) = name.split_once(',').unwrap_or((name, ""));
        let parsed: Triple =
            triple.parse().map_err(|error| format!("`{triple}` is no triple: {error}"))?;
        let mut builder = isa::lookup(parsed).map_err(|error| match error {
            LookupError::SupportDisabled => format!(
                "`{triple}`: this build has no code generator for this host (the feature \
                 `all-hosts` has those of x86-64, aarch64 and riscv64)"
            ),
            LookupError::Unsupported => format!("`{triple}`: the code generator does not serve it"),
        })?;
        choose(&mut builder, features)?;
        Target::new(builder, further)
    }

    fn new(builder: isa::Builder, further: &[(&str, &str)]) -> Result<Target, String> {
        let (quick, fast) = (
            generator(&builder, Effort::Quick, further)?,
            generator(&builder, Effort::Full, further)?,
        );
        let has = |feature: &str| {
            fast.isa_flags().iter().any(|flag| flag.name == feature && flag.as_bool() == Some(true))
        };
        let is_x86 = match fast.triple().architecture {
            Architecture::X86_64 => true,
            Architecture::Aarch64(_) => false,
            Architecture::Riscv64(_) if has("has_v") => false,
            Architecture::Riscv64(_) => {
                return Err("riscv64 without vectors (extension V) is not supported".into());
            }
            other => return Err(format!("{other} is not supported")),
        };
        if fast.triple().endianness() != Ok(Endianness::Little) {
            return Err("the host's bytes are not in little-endian order".into());
        }
        let has_blends = is_x86 && has("has_sse41");
        Ok(Target {
            quick,
            fast,
            has_blends,
            compares_unordered: is_x86,
            description: OnceLock::new(),
        })
    }

    pub fn isa(&self, effort: Effort) -> &OwnedTargetIsa {
        if effort.is_fast() { &self.fast } else { &self.quick }
    }

    /// Describes everything that code for this host depends on.
    pub fn description(&self) -> &str {
        let settings = |isa: &OwnedTargetIsa| {
            let features = isa
                .isa_flags()
                .into_iter()
                .map(|flag| flag.to_string())
                .collect::<Vec<_>>()
                .join(" ");
            format!("{}{features}", isa.flags())
        };
        let make =
            || format!("{} {} {}", self.triple(), settings(&self.quick), settings(&self.fast));
        self.description.get_or_init(make)
    }

    pub fn triple(&self) -> &Triple {
        self.fast.triple()
    }

    pub fn is_x86(&self) -> bool {
        self.triple().architecture == Architecture::X86_64
    }

    /// Rewrites the instructions that the host does not have.
    pub fn legalize(&self, function: &mut clif::Function) {
        if self.has_blends && self.compares_unordered {
            return;
        }
        let blocks: Vec<clif::Block> = function.layout.blocks().collect();
        for block in blocks {
            let insts: Vec<clif::Inst> = function.layout.block_insts(block).collect();
            insts.into_iter().for_each(|inst| self.legalize_inst(function, inst));
        }
    }

    fn legalize_inst(&self, function: &mut clif::Function, inst: clif::Inst) {
        match function.dfg.insts[inst] {
            // A blend's condition is ones or zeros in all bits of a lane.
            InstructionData::Ternary { opcode: Opcode::Blendv, args } if !self.has_blends => {
                function.dfg.insts[inst] =
                    InstructionData::Ternary { opcode: Opcode::Bitselect, args };
            }
            InstructionData::FloatCompare { cond, args: [x, y], .. }
                if !self.compares_unordered =>
            {
                let is_vector = function.dfg.value_type(x).is_vector();
                if let Some(ordered) = unordered_complement(cond).filter(|_| is_vector) {
                    let compared =
                        FuncCursor::new(function).at_inst(inst).ins().fcmp(ordered, x, y);
                    function.replace(inst).bnot(compared);
                }
            }
            _ => {}
        }
    }
}

/// Returns the ordered comparison that holds where an unordered comparison does not.
fn unordered_complement(cond: FloatCC) -> Option<FloatCC> {
    match cond {
        FloatCC::UnorderedOrLessThan => Some(FloatCC::GreaterThanOrEqual),
        FloatCC::UnorderedOrLessThanOrEqual => Some(FloatCC::GreaterThan),
        FloatCC::UnorderedOrGreaterThan => Some(FloatCC::LessThanOrEqual),
        FloatCC::UnorderedOrGreaterThanOrEqual => Some(FloatCC::LessThan),
        _ => None,
    }
}

/// Switches features on and off, and presets on.
fn choose(builder: &mut isa::Builder, features: &str) -> Result<(), String> {
    for feature in features.split(',').map(str::trim).filter(|feature| !feature.is_empty()) {
        let failed = |error| format!("feature `{feature}`: {error}");
        if let Some(dropped) = feature.strip_prefix('-') {
            let from = ASCENDING.iter().position(|&name| name == dropped);
            let with = from.map_or(&[][..], |from| &ASCENDING[from + 1..]);
            // A CPU may have AVX2 without FMA, so dropping FMA drops no other feature.
            let with =
                with.iter().filter(|&&name| (dropped, name) != ("fma", "avx2") && dropped != "fma");
            builder.set(&setting(dropped), "false").map_err(failed)?;
            with.copied()
                .try_for_each(|name| builder.set(&setting(name), "false").map_err(failed))?;
            continue;
        }
        let name = feature.strip_prefix('+').unwrap_or(feature);
        let preset =
            LEVELS.iter().find(|(level, _)| *level == name).map_or(name, |(_, preset)| preset);
        builder.enable(&setting(name)).or_else(|_| builder.enable(preset)).map_err(failed)?;
    }
    Ok(())
}

fn setting(feature: &str) -> String {
    format!("has_{feature}")
}

/// Makes a code generator with the settings of this engine, and further settings.
fn generator(
    builder: &isa::Builder,
    effort: Effort,
    further: &[(&str, &str)],
) -> Result<OwnedTargetIsa, String> {
    let settings = [
        ("opt_level", "none"),
        ("regalloc_algorithm", if effort.is_fast() { "backtracking" } else { "single_pass" }),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ("unwind_info", "false"),
        // A frame of several pages may not reach past the stack's guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("is_pic", "false"),
    ];
    let mut flags = settings::builder();
    for (name, value) in settings.iter().chain(further) {
        flags.set(name, value).map_err(|error| format!("{name}: {error}"))?;
    }
    builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}
