//! The result of a run as data: `warploom run --report` and `--json`.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;
use warploom::{Executed, Fault, FidelityClass, Finding, Mistake};

use crate::Comparison;
use crate::engine_run::Compared;

/// The version of the forms of JSON that warploom writes: see docs/json.md.
pub const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Report {
    /// The version of this form of a report.
    pub schema: u32,
    pub manifest: String,
    pub kernel: String,
    pub engine: &'static str,
    pub threads: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Nanoseconds of translation in all launches.
    pub translate_ns: u64,
    /// The pieces of compiled code that the cache had in the first launch.
    pub found_in_cache: u64,
    /// Nanoseconds of each launch.
    pub kernel_ns: Vec<u64>,
    /// Guest instructions of the first launch. All later fields are of the first launch too.
    pub instructions: u64,
    pub lane_instructions: u64,
    pub helper_calls: u64,
    pub interp_instructions: u64,
    /// The counts of `--steady`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyReport>,
    pub blocks_done: u64,
    /// The text that device code printed, only in `--json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
    /// Bytes that device code printed. `prints_dropped`: calls of printf that found no room.
    pub printed_bytes: usize,
    pub prints_dropped: u64,
    /// Code that the JIT could not compile and interpreted, and the reasons.
    pub uncompiled: Vec<String>,
    /// The number of rewrites of each analysis rule, by the rule's name.
    pub rules: BTreeMap<&'static str, u32>,
    pub faults: Vec<FaultReport>,
    pub fidelity: Vec<FidelityReport>,
    pub expect: Vec<ExpectReport>,
    /// The difference between two engines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// Whether two engines agree. Absent if one ran, or if a limit stopped an engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engines_agree: Option<bool>,
    /// Stores past the ends of buffers, which are no faults because memory has pages.
    pub overruns: Vec<String>,
    /// What `--check memory`, `race`, `init` and `sync` found.
    pub findings: Vec<FindingReport>,
}

/// Mistakes of one kind by one instruction. The fields describe the first one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FindingReport {
    /// The check: `memory`, `race`, `init` or `sync`.
    pub check: &'static str,
    /// `load`, `store`, `atomic`, `barrier`, `sync`, `malloc` or `free`.
    pub action: &'static str,
    pub bytes: u32,
    /// `global`, `shared` or `local`.
    pub memory: &'static str,
    /// The guest address of global memory, the offset in shared or local memory, or the number of a
    /// barrier.
    pub address: u64,
    /// Of `memory`: the name and the size of the allocation, and the offset of the access in it.
    pub allocation: Option<String>,
    pub allocation_bytes: Option<u64>,
    pub offset: Option<u64>,
    pub kernel: String,
    pub function: Option<String>,
    pub pc: u64,
    pub instruction: Option<String>,
    /// The line of the code's text or of the source, if it is known.
    pub line: Option<String>,
    pub block: [u32; 3],
    pub warp: u32,
    pub lane: u32,
    /// Of `race`: the other access. The lane is absent if several lanes access.
    pub other_action: Option<&'static str>,
    pub other_pc: Option<u64>,
    pub other_instruction: Option<String>,
    pub other_block: Option<[u32; 3]>,
    pub other_warp: Option<u32>,
    pub other_lane: Option<u32>,
    /// How often lanes made the mistake.
    pub count: u64,
    pub message: String,
}

/// The counts of a launch from half of its instructions to nine tenths.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SteadyReport {
    pub instructions: u64,
    pub helper_calls: u64,
    pub interp_instructions: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FaultReport {
    pub kind: &'static str,
    pub kernel: String,
    pub function: Option<String>,
    /// The offset in the function's section.
    pub pc: u64,
    pub instruction: Option<String>,
    pub block: [u32; 3],
    pub warp: u32,
    pub lane: u32,
    pub address: u64,
    pub message: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FidelityReport {
    pub instruction: String,
    /// The number of times that warps executed the instruction.
    pub count: u64,
    pub class: &'static str,
    /// The largest error of an approximate result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ExpectReport {
    pub buffer: String,
    pub elements: usize,
    pub mismatches: usize,
    pub max_abs: f64,
    pub max_rel: f64,
}

impl From<&Fault> for FaultReport {
    fn from(fault: &Fault) -> Self {
        FaultReport {
            kind: fault.kind().name(),
            kernel: fault.kernel.clone(),
            function: fault.function.clone(),
            pc: fault.offset,
            instruction: fault.instruction.clone(),
            block: fault.fault.block,
            warp: fault.fault.warp,
            lane: fault.fault.lane,
            address: fault.fault.address,
            message: fault.to_string(),
        }
    }
}

impl From<&Finding> for FindingReport {
    fn from(finding: &Finding) -> Self {
        let (allocation, race) = match &finding.mistake {
            Mistake::PastEnd(allocation)
            | Mistake::Freed(allocation)
            | Mistake::Leaked(allocation) => (Some(allocation), None),
            Mistake::Race { other, who } => (None, Some((other, who))),
            _ => (None, None),
        };
        let place = &finding.place;
        FindingReport {
            check: finding.check(),
            action: place.action.name(),
            bytes: place.bytes,
            memory: finding.memory.name(),
            address: finding.address,
            allocation: allocation.map(|one| one.name.clone()),
            allocation_bytes: allocation.map(|one| one.bytes),
            offset: allocation.map(|one| finding.address.wrapping_sub(one.address)),
            kernel: finding.kernel.clone(),
            function: place.function.clone(),
            pc: place.pc,
            instruction: place.instruction.clone(),
            line: place.line.as_ref().map(ToString::to_string),
            block: finding.block,
            warp: finding.warp,
            lane: finding.lane,
            other_action: race.map(|(other, _)| other.action.name()),
            other_pc: race.map(|(other, _)| other.pc),
            other_instruction: race.and_then(|(other, _)| other.instruction.clone()),
            other_block: race.map(|(_, who)| who.block),
            other_warp: race.map(|(_, who)| who.warp),
            other_lane: race.and_then(|(_, who)| who.lane),
            count: finding.count,
            message: finding.to_string(),
        }
    }
}

impl From<Executed> for FidelityReport {
    fn from(executed: Executed) -> Self {
        let (class, bound) = match executed.class {
            FidelityClass::Exact => ("exact", None),
            FidelityClass::Approximate(bound) => ("approximate", Some(bound)),
            FidelityClass::Unimplemented => ("unimplemented", None),
            FidelityClass::Illegal => ("illegal", None),
        };
        FidelityReport { instruction: executed.mnemonic, count: executed.count, class, bound }
    }
}

impl ExpectReport {
    pub fn of(compared: &Compared<'_>) -> Self {
        let Comparison { elements, mismatches, max_abs, max_rel, .. } = compared.comparison;
        ExpectReport { buffer: compared.name.into(), elements, mismatches, max_abs, max_rel }
    }
}
