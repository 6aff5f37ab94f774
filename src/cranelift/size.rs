//! The amount of host code of a program, for tests that compare it with committed numbers.

use std::collections::HashSet;

use cranelift_codegen::CompiledCode;
use cranelift_codegen::ir::{self as clif, SourceLoc};
use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind};
use warploom_engine::{Effort, JitError, Prepared, Program};
use warploom_ir::BlockId;

use crate::Target;
use crate::code::MachineCode;
use crate::lower::{Lowered, lower_region};

/// Numbers of instructions in the code, not of executed instructions: a loop's body counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeSize {
    pub guest: u64,
    /// The number of host instructions that can be reached without passing a block that lowering
    /// calls cold: no slow access, no fault, no group whose conditions do not hold.
    pub likely: usize,
    /// The number of all host instructions.
    pub all: usize,
}

/// A CLIF block of a region.
pub(super) struct BlockSize {
    pub block: clif::Block,
    /// Whether the block is reached without passing a cold block.
    likely: bool,
    /// The number of host instructions.
    pub instructions: usize,
}

/// Returns the size of the code for an x86-64 host with AVX2 and FMA, on any host. Fails if
/// Cranelift was built without x86-64.
pub fn of(program: &Program) -> Result<CodeSize, JitError> {
    let target = reference()?;
    let guest = program.function().blocks.iter().map(|block| u64::from(block.cost)).sum();
    let mut size = CodeSize { guest, ..CodeSize::default() };
    for region in program.regions() {
        for block in blocks(program.prepared(), region, &target)? {
            size.all += block.instructions;
            size.likely += if block.likely { block.instructions } else { 0 };
        }
    }
    Ok(size)
}

pub(super) fn reference() -> Result<Target, JitError> {
    Target::with("x86_64-unknown-linux-gnu,x86-64-v3", &[("machine_code_cfg_info", "true")])
        .map_err(JitError::Host)
}

/// Returns the blocks of a region, in the order of lowering.
pub(super) fn blocks(
    prepared: &Prepared,
    region: &[BlockId],
    target: &Target,
) -> Result<Vec<BlockSize>, JitError> {
    let Lowered { mut function, hides_uses, .. } =
        lower_region(prepared, region, Effort::Full, target);
    let mut blocks = mark(&mut function);
    count(&MachineCode::new(function, hides_uses, target.isa(Effort::Full))?.compiled, &mut blocks);
    Ok(blocks)
}

/// Sets each instruction's source location to the number of its block, from 1 on.
fn mark(function: &mut clif::Function) -> Vec<BlockSize> {
    let mut likely = HashSet::new();
    let mut next: Vec<clif::Block> = function.layout.entry_block().into_iter().collect();
    while let Some(block) = next.pop() {
        if !function.layout.is_cold(block) && likely.insert(block) {
            next.extend(function.block_successors(block));
        }
    }
    let blocks: Vec<clif::Block> = function.layout.blocks().collect();
    for (&block, number) in blocks.iter().zip(1..) {
        let insts: Vec<clif::Inst> = function.layout.block_insts(block).collect();
        insts.into_iter().for_each(|inst| function.set_srcloc(inst, SourceLoc::new(number)));
    }
    blocks
        .into_iter()
        .map(|block| BlockSize { block, likely: likely.contains(&block), instructions: 0 })
        .collect()
}

fn count(code: &CompiledCode, blocks: &mut [BlockSize]) {
    let marks = code.buffer.get_srclocs_sorted();
    // Constants follow the code.
    let end = marks.iter().map(|mark| mark.end).max().unwrap_or(0);
    let ends = code.bb_starts.iter().skip(1).copied().chain([end]);
    let mut number = 1;
    for (start, end) in code.bb_starts.iter().copied().zip(ends) {
        let place =
            marks.iter().find(|mark| (start..end).contains(&mark.start) && !mark.loc.is_default());
        // A block that only moves values along an edge counts to the block before it.
        number = place.map_or(number, |mark| mark.loc.bits());
        blocks[number as usize - 1].instructions +=
            instructions(&code.code_buffer()[start as usize..end as usize]);
    }
}

/// Counts the instructions of a basic block. A jump table follows an indirect jump.
fn instructions(code: &[u8]) -> usize {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut count = 0;
    while decoder.can_decode() {
        let instruction = decoder.decode();
        count += 1;
        if instruction.mnemonic() == Mnemonic::Jmp && instruction.op0_kind() == OpKind::Register {
            break;
        }
    }
    count
}
