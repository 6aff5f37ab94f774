//! A region: several blocks of a kernel as one CLIF function, entered by block number.

use std::collections::HashMap;

use cranelift_codegen::ir::{
    self as clif, AbiParam, Block as ClifBlock, BlockArg, FuncRef, InstBuilder, MemFlagsData,
    Signature, UserFuncName, Value as Clif, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch};
use rustc_hash::FxHashSet;
use warploom_engine::descriptions::{Site, Sites, SlotSite};
use warploom_engine::helpers::Helper;
use warploom_engine::{Effort, Prepared, abi};
use warploom_ir::{BlockId, Op, Reg, Value};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::warp::{ExitCode, RUNS};

use super::address::Pointer;
use super::block::BlockLowerer;
use super::chunk::flags;
use super::facts::BlockFacts;
use super::orders::Ordered;
use super::waits::passes_on;
use crate::{Target, helpers};

/// The state that the blocks of a region share while they are lowered.
pub struct Region<'r> {
    blocks: HashMap<BlockId, ClifBlock>,
    /// The region's blocks that indirect jumps may name, by pc.
    pub indirect_targets: Vec<(u64, BlockId)>,
    /// Registers that a fresh warp may read before it writes them.
    pub read_first: &'r [Reg],
    pub one_worker: bool,
    pub effort: Effort,
    helpers: HashMap<u32, FuncRef>,
    pub exits: Exits,
    pub sites: Sites,
    pub hides_uses: bool,
    pub orders: Vec<Ordered>,
    /// The block where warps begin their turns, with the number of a block as parameter, if code
    /// continues with the next warp at a barrier; and the bytes of the register file that warps
    /// need.
    pub turns: Option<(ClifBlock, usize)>,
    /// Backward jumps to blocks, where code must be short. All backward jumps to a block share one.
    pub backward: HashMap<BlockId, ClifBlock>,
    /// The number of the TLB's runs that are taken, and the runs of accesses through a pointer.
    runs: usize,
    pointers: HashMap<Pointer, usize>,
    /// Whether accesses through different pointers may share a run. They may if they are in
    /// different regions, or if there are more of them than runs.
    pub shares_runs: bool,
    /// Registers that are written in loops.
    changing: &'r FxHashSet<Reg>,
}

/// The exits of the region that all its blocks share. They are cold blocks, made when first needed.
#[derive(Default)]
pub struct Exits {
    over_budget: Option<ClifBlock>,
    fault: Option<ClifBlock>,
    yields: Option<ClifBlock>,
    careful: Option<ClifBlock>,
    leaves: Option<ClifBlock>,
}

impl Exits {
    fn get(
        exit: &mut Option<ClifBlock>,
        b: &mut FunctionBuilder,
        params: &[clif::Type],
    ) -> ClifBlock {
        *exit.get_or_insert_with(|| {
            let block = b.create_block();
            b.set_cold_block(block);
            params.iter().for_each(|&ty| {
                b.append_block_param(block, ty);
            });
            block
        })
    }

    /// Returns the exit that records the budget's fault. Parameter: the pc, `i64`.
    pub fn over_budget(&mut self, b: &mut FunctionBuilder) -> ClifBlock {
        Exits::get(&mut self.over_budget, b, &[types::I64])
    }

    /// Returns the exit that leaves with the recorded fault.
    pub fn fault(&mut self, b: &mut FunctionBuilder) -> ClifBlock {
        Exits::get(&mut self.fault, b, &[])
    }

    /// Returns the exit that ends the warp's turn. Parameter: the number of the block to resume at,
    /// `i32`.
    pub fn yields(&mut self, b: &mut FunctionBuilder) -> ClifBlock {
        Exits::get(&mut self.yields, b, &[types::I32])
    }

    /// Returns the exit that has careful code do a block that has been counted. Parameters: the
    /// block's number, `i32`, and its cost, `i64`.
    pub fn careful(&mut self, b: &mut FunctionBuilder) -> ClifBlock {
        Exits::get(&mut self.careful, b, &[types::I32, types::I64])
    }

    /// Leaves the region's code with a result.
    pub fn leave(&mut self, b: &mut FunctionBuilder, code: u32) {
        let code = b.ins().iconst(types::I32, i64::from(code));
        let block = Exits::get(&mut self.leaves, b, &[types::I32]);
        b.ins().jump(block, &[BlockArg::Value(code)]);
    }

    /// Records a fault without an address and leaves. The lane is an `i32`, by default lane 0; the
    /// pc is an `i64`.
    pub fn record_fault(
        &mut self,
        b: &mut FunctionBuilder,
        ctx: Clif,
        kind: FaultKind,
        lane: Option<Clif>,
        pc: Clif,
    ) {
        let kind = b.ins().iconst(types::I32, kind as i64);
        let lane = lane.unwrap_or_else(|| b.ins().iconst(types::I32, 0));
        let address = b.ins().iconst(types::I64, 0);
        let fields = [
            (kind, abi::FAULT_KIND),
            (lane, abi::FAULT_LANE),
            (pc, abi::FAULT_PC),
            (address, abi::FAULT_ADDRESS),
        ];
        for (value, offset) in fields {
            b.ins().store(flags(), value, ctx, offset);
        }
        self.leave(b, ExitCode::Fault as u32);
    }

    /// Fills the exits. `active` is the offset of the active mask in the register file.
    fn finish(mut self, b: &mut FunctionBuilder, ctx: Clif, (registers, active): (Clif, i32)) {
        if let Some(block) = self.over_budget {
            b.switch_to_block(block);
            let pc = b.block_params(block)[0];
            self.record_fault(b, ctx, FaultKind::BudgetExceeded, None, pc);
        }
        if let Some(block) = self.fault {
            b.switch_to_block(block);
            self.leave(b, ExitCode::Fault as u32);
        }
        if let Some(block) = self.yields {
            b.switch_to_block(block);
            let number = b.block_params(block)[0];
            b.ins().store(flags(), number, ctx, abi::RESUME);
            self.leave(b, ExitCode::Yield as u32);
        }
        if let Some(block) = self.careful {
            b.switch_to_block(block);
            let [number, cost] = b.block_params(block)[..] else { unreachable!("two parameters") };
            b.ins().store(flags(), number, ctx, abi::RESUME);
            // Careful code counts the block once more.
            let active = b.ins().load(types::I64, flags(), registers, active);
            let lanes = b.ins().popcnt(active);
            let lanes = b.ins().imul(lanes, cost);
            for (counter, count) in [(abi::INSTRUCTIONS, cost), (abi::LANE_INSTRUCTIONS, lanes)] {
                let counted = b.ins().load(types::I64, flags(), ctx, counter);
                let before = b.ins().isub(counted, count);
                b.ins().store(flags(), before, ctx, counter);
            }
            self.leave(b, abi::CAREFUL);
        }
        if let Some(block) = self.leaves {
            b.switch_to_block(block);
            let code = b.block_params(block)[0];
            b.ins().return_(&[code]);
        }
    }
}

/// A region's CLIF, and the work that its code leaves to helpers.
pub struct Lowered {
    pub function: clif::Function,
    pub sites: Sites,
    /// Whether block parameters hide how often values are used.
    pub hides_uses: bool,
    pub orders: Vec<Ordered>,
}

impl Region<'_> {
    /// Returns the CLIF block of a block, if the block is in this region.
    pub fn block(&self, id: BlockId) -> Option<ClifBlock> {
        self.blocks.get(&id).copied()
    }

    /// Takes one of the TLB's runs, for an instruction whose lanes are scattered.
    ///
    /// Code made quickly takes runs from the other end. Where it does work in place of fast code,
    /// each would otherwise find the other's buffers in the runs.
    pub fn next_run(&mut self) -> usize {
        self.runs += 1;
        let run = (self.runs - 1) % RUNS;
        if self.effort.is_fast() { run } else { RUNS - 1 - run }
    }

    /// Returns the run of accesses through a pointer.
    pub(super) fn run_of_pointer(&mut self, pointer: Pointer) -> usize {
        if let Some(&run) = self.pointers.get(&pointer) {
            return run;
        }
        let run = self.next_run();
        self.pointers.insert(pointer, run);
        run
    }

    /// Returns whether a pointer may change in each round of a loop.
    pub(super) fn changes(&self, pointer: Pointer) -> bool {
        matches!(pointer, Pointer::Register(reg) if self.changing.contains(&reg))
    }

    /// Calls a helper through its trampoline.
    pub fn call(&mut self, b: &mut FunctionBuilder, helper: Helper, args: &[Clif]) {
        let target = *self
            .helpers
            .entry(helper as u32)
            .or_insert_with(|| helpers::import(helper, b, CallConv::PreserveAll));
        b.ins().call(target, args);
    }
}

/// Lowers the blocks of one region of a prepared function.
pub fn lower_region(
    prepared: &Prepared,
    region_blocks: &[BlockId],
    effort: Effort,
    target: &Target,
) -> Lowered {
    let isa = target.isa(effort);
    let plans = prepared.plans(effort);
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I32)]);
    signature.returns.push(AbiParam::new(types::I32));
    let mut function = clif::Function::with_name_signature(UserFuncName::default(), signature);
    let mut builder_context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut function, &mut builder_context);

    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [ctx, mut number] = b.block_params(entry)[..] else { unreachable!("two parameters") };
    let passes = |&id: &BlockId| passes_on(prepared.function().block(id), effort);
    let turns = region_blocks.iter().any(passes).then(|| {
        let top = b.create_block();
        b.ins().jump(top, &[BlockArg::Value(number)]);
        number = b.append_block_param(top, types::I32);
        b.switch_to_block(top);
        (top, prepared.wanted_register_bytes(region_blocks, effort))
    });
    let registers = b.ins().load(types::I64, MemFlagsData::trusted(), ctx, abi::REGISTERS);
    let insts = region_blocks.iter().flat_map(|&id| &prepared.function().block(id).insts);
    let accesses = insts.filter(|inst| inst.op.access().is_some());
    let mut region = Region {
        blocks: region_blocks.iter().map(|&id| (id, b.create_block())).collect(),
        indirect_targets: region_blocks
            .iter()
            .map(|&id| (prepared.function().block(id), id))
            .filter(|(block, _)| block.indirect_target)
            .map(|(block, id)| (block.pc, id))
            .collect(),
        read_first: prepared.read_first(),
        one_worker: prepared.one_worker(),
        effort,
        helpers: HashMap::new(),
        exits: Exits::default(),
        sites: Sites::default(),
        hides_uses: false,
        orders: Vec::new(),
        turns,
        backward: HashMap::new(),
        runs: 0,
        pointers: HashMap::new(),
        shares_runs: region_blocks.len() < prepared.function().blocks.len()
            || accesses.count() > RUNS,
        changing: prepared.written_in_loops(),
    };
    let mut switch = Switch::new();
    for &id in region_blocks {
        switch.set_entry(u128::from(id.0), region.blocks[&id]);
    }
    let nowhere = b.create_block();
    switch.emit(&mut b, number, nowhere);
    b.switch_to_block(nowhere);
    if turns.is_some() {
        // The block where the next warp resumes may be in another region.
        b.ins().store(flags(), number, ctx, abi::RESUME);
        region.exits.leave(&mut b, abi::CONTINUE);
    } else {
        b.ins().trap(clif::TrapCode::unwrap_user(1));
    }

    for &id in region_blocks {
        b.switch_to_block(region.blocks[&id]);
        let facts = BlockFacts::of(prepared, id, &plans[id], effort);
        BlockLowerer::new(&mut b, &mut region, &facts, ctx, registers).lower();
    }
    let active = prepared.layout().offset(prepared.function().active) as i32;
    std::mem::take(&mut region.exits).finish(&mut b, ctx, (registers, active));
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
    target.legalize(&mut function);
    let Region { sites, hides_uses, orders, .. } = region;
    Lowered { function, sites, hides_uses, orders }
}

impl BlockLowerer<'_, '_, '_> {
    /// Leaves an instruction to a helper, mostly the interpreter. Its operands and results are in
    /// the register file.
    pub(super) fn interpret(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let operands = inst.op.operands();
        self.settle_slots(&operands);
        let offset = |&v: &Value| self.facts.planned.slots.row(v);
        let (operands, results) =
            (operands.iter().map(offset).collect(), inst.results.iter().map(offset).collect());
        let site = SlotSite { site: self.site(index), operands, results };
        let (helper, number) = match inst.op {
            Op::Product { .. } => (Helper::Product, self.region.sites.product(site)),
            _ => (Helper::Interpret, self.region.sites.interpreted(site)),
        };
        let number = self.b.ins().iconst(types::I32, i64::from(number));
        self.region.call(self.b, helper, &[self.ctx, number]);
        if helper == Helper::Interpret {
            self.leave_on_fault();
        }
    }

    /// Returns the location of an instruction of the block, for a helper.
    pub(super) fn site(&self, index: usize) -> Site {
        Site { block: self.facts.id.0, index: index as u32 }
    }
}
