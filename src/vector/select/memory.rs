//! Rows of the register file, and loads and stores of lanes in global memory.
//!
//! An access is one run of vector instructions if its active lanes access consecutive elements on
//! one page of the TLB. Otherwise cold code accesses each piece: with vectors if its lanes are
//! consecutive, else through a helper for eight lanes at a time. So operations stay in lockstep,
//! and faults are precise.

use std::ops::Range;

use warploom_engine::abi;
use warploom_engine::descriptions::{AccessSite, Site};
use warploom_engine::helpers::{Helper, STAGED_VALUES};
use warploom_ir::{Access, Extend, Op, Reg as IrReg, Value};
use warploom_runtime::warp::{ExitCode, PAGE_BITS, PAGE_BYTES, TLB_ENTRIES, TlbEntry};

use super::PIECE;
use super::build::{context, registers};
use super::int::NOT_EQUAL;
use super::region::Selector;
use super::values::Part;
use crate::asm::Condition;
use crate::asm::opcode::{self, Opcode};
use crate::machine::{Arg, Base, Block, Inst, Mem, Op as MachineOp, Reg, Rm};

/// How a load extends its results, and whether they have 64 bits.
type Loaded = (Extend, bool);

/// The lanes of one call of a helper.
const CHUNK: usize = 8;
/// The offset in the context where cold code collects loaded lanes: room for 64 lanes of 8 bytes
/// and a vector.
const COLLECTED: i32 = abi::SPILLS;

const _: () = assert!(64 * 8 + 64 <= abi::SPILL_BYTES);

impl Selector<'_> {
    /// The location of a part of a piece in a register's row.
    fn row(&self, reg: IrReg, piece: usize, part: usize, wide: bool) -> Rm {
        let bytes = if wide { piece * 128 + part * 64 } else { piece * 64 };
        registers(self.prepared.layout().offset(reg) + bytes as u32)
    }

    pub fn is_wide_row(&self, reg: IrReg) -> bool {
        match self.function().bank(reg.bank).kind {
            warploom_ir::CellKind::Lane(ty) => ty.bits() == 64,
            _ => unreachable!("a register of lanes"),
        }
    }

    pub fn read_row(&mut self, reg: IrReg, piece: usize) -> Part {
        let wide = self.is_wide_row(reg);
        self.each_part(wide, |selector, part| {
            let row = selector.row(reg, piece, part, wide);
            selector.vector_of(opcode::VMOVDQU64, row)
        })
    }

    pub fn write_row(&mut self, reg: IrReg, value: Value, guard: Option<Value>, piece: usize) {
        let lanes = self.lanes(value, piece);
        let mask = guard.filter(|&guard| self.constant(guard) != Some(self.warp_mask()));
        let mask = mask.map(|guard| self.mask_lanes(guard, piece));
        self.store_row(reg, lanes, mask, piece);
    }

    pub fn store_row(&mut self, reg: IrReg, lanes: Part, mask: Option<Reg>, piece: usize) {
        let wide = self.is_wide_row(reg);
        let opcode = if wide { opcode::VMOVDQU64_STORE } else { opcode::VMOVDQU32_STORE };
        for (part, &vector) in lanes.iter().enumerate().take(1 + usize::from(wide)) {
            let mask = mask.map(|mask| if wide { self.part_mask(mask, part) } else { mask });
            let row = self.row(reg, piece, part, wide);
            self.store_vector(opcode, vector, row, mask);
        }
    }

    pub fn load(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let Op::Load { access, extend, .. } = inst.op else { unreachable!("a load") };
        let result = inst.results[0];
        let wide = self.is_wide(result);
        let (slow, done) = (self.body.cold_block(), self.body.block());
        let all = self.group.clone();
        let host = self.spaced(&access, false, all.clone(), slow);
        let loaded = all
            .clone()
            .flat_map(|piece| self.load_piece(&access, (extend, wide), (host, all.start), piece));
        let loaded = loaded.collect();
        self.body.jump(done, loaded);
        self.in_cold_code(slow, |selector| {
            selector.piece_by_piece(index, &access, None, Some((extend, wide)));
            let mut loaded = Vec::new();
            for at in 0..selector.pieces() * (1 + usize::from(wide)) {
                loaded.push(
                    selector.vector_of(opcode::VMOVDQU64, context(COLLECTED + 64 * at as i32)),
                );
            }
            selector.body.jump(done, loaded);
        });
        for piece in 0..self.pieces() {
            let first = self.vector_param(done);
            let second = if wide { self.vector_param(done) } else { first };
            self.set_lanes(result, piece, [first, second]);
        }
        self.body.switch_to(done);
    }

    pub fn store_lanes(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let Op::Store { access, ref values, .. } = inst.op else { unreachable!("a store") };
        let value = values[0];
        // Both paths need these vectors.
        (0..self.pieces()).for_each(|piece| {
            self.lanes(value, piece);
        });
        let (slow, done) = (self.body.cold_block(), self.body.block());
        let all = self.group.clone();
        let host = self.spaced(&access, true, all.clone(), slow);
        for piece in all.clone() {
            self.store_piece(&access, value, (host, all.start), piece);
        }
        self.body.jump(done, Vec::new());
        self.in_cold_code(slow, |selector| {
            selector.piece_by_piece(index, &access, Some(value), None);
            selector.body.jump(done, Vec::new());
        });
        self.body.switch_to(done);
    }

    /// The location of a part of a piece. `host` is the host address of piece `first`.
    fn element(access: &Access, (host, first): (Reg, usize), piece: usize, part: usize) -> Rm {
        let bytes = access.ty.bytes() as usize * ((piece - first) * PIECE + part * CHUNK);
        Rm::Memory(Mem::at(Base::Reg(host), bytes as i32))
    }

    fn load_piece(
        &mut self,
        access: &Access,
        (extend, wide): Loaded,
        host: (Reg, usize),
        piece: usize,
    ) -> Vec<Reg> {
        let mask = self.guard(access, piece);
        let load = |part: usize| {
            let mask = if wide { self.part_mask(mask, part) } else { mask };
            self.vector_or_zero(
                load_opcode(access, extend),
                mask,
                Self::element(access, host, piece, part),
            )
        };
        (0..1 + usize::from(wide)).map(load).collect()
    }

    fn store_piece(&mut self, access: &Access, value: Value, host: (Reg, usize), piece: usize) {
        let wide = access.ty.bits() == 64;
        let opcode = match access.ty.bits() {
            64 => opcode::VMOVDQU64_STORE,
            32 => opcode::VMOVDQU32_STORE,
            16 => opcode::VPMOVDW,
            _ => opcode::VPMOVDB,
        };
        let lanes = self.lanes(value, piece);
        let mask = self.guard(access, piece);
        for (part, &vector) in lanes.iter().enumerate().take(1 + usize::from(wide)) {
            let mask = if wide { self.part_mask(mask, part) } else { mask };
            self.store_vector(opcode, vector, Self::element(access, host, piece, part), Some(mask));
        }
    }

    fn guard(&mut self, access: &Access, piece: usize) -> Reg {
        let guard = access.guard.expect("analysis makes masks explicit");
        self.mask_lanes(guard, piece)
    }

    /// Fills a cold block. Values made there are not available elsewhere.
    fn in_cold_code(&mut self, block: Block, fill: impl FnOnce(&mut Self)) {
        let (forms, constants) = (self.forms.clone(), self.constants.clone());
        self.body.switch_to(block);
        fill(self);
        (self.forms, self.constants) = (forms, constants);
    }

    /// Returns the host address of pieces whose active lanes access consecutive elements on one
    /// page. For other accesses the code goes to `slow`.
    fn spaced(&mut self, access: &Access, writes: bool, pieces: Range<usize>, slow: Block) -> Reg {
        let step = u64::from(access.ty.bytes());
        let first = self.lanes(access.address, pieces.start)[0];
        let base = self.first_lane(true, first);
        let same = self.vector_of(opcode::VPBROADCASTQ_GENERAL, Rm::Reg(base));
        let mut differ: Option<Reg> = None;
        for piece in pieces.clone() {
            let guard = self.guard(access, piece);
            for (part, &lanes) in self.lanes(access.address, piece).iter().enumerate() {
                let mask = self.part_mask(guard, part);
                let lane =
                    |i: usize| ((piece - pieces.start) * PIECE + part * CHUNK + i) as u64 * step;
                let expected =
                    self.vector(opcode::VPADDQ, same, Rm::Vector(std::array::from_fn(lane)));
                let other =
                    self.compare_where(mask, opcode::VPCMPQ, NOT_EQUAL, lanes, Rm::Reg(expected));
                differ =
                    Some(differ.map_or(other, |differ| self.mask(opcode::KORW, differ, other)));
            }
        }
        let differ = differ.expect("a warp has lanes");
        self.kortest(differ);
        self.require(Condition::Equal, slow);
        let address = self.plus(base, access.offset);
        if access.align > 1 {
            self.test_imm(address, i64::from(access.align) - 1);
            self.require(Condition::Equal, slow);
        }
        let entry = self.tlb_entry(address);
        let tag = if writes {
            std::mem::offset_of!(TlbEntry, write_tag)
        } else {
            std::mem::offset_of!(TlbEntry, read_tag)
        };
        let field = |offset: usize| Rm::Memory(Mem::at(Base::Reg(entry), offset as i32));
        let in_page = self.general(opcode::SUB, address, field(tag));
        let span = step * (pieces.len() * PIECE) as u64;
        self.cmp_imm(in_page, (PAGE_BYTES - span) as i64);
        self.require(Condition::BelowOrEqual, slow);
        self.general(opcode::ADD, address, field(std::mem::offset_of!(TlbEntry, addend)))
    }

    /// Returns the TLB entry where the page of an address would be.
    fn tlb_entry(&mut self, address: Reg) -> Reg {
        // `tlb_slot`, times the size of an entry.
        let scale = size_of::<TlbEntry>().trailing_zeros();
        let page = self.general_imm(opcode::SHR_IMM, address, (PAGE_BITS - scale).into());
        let folded = self.general_imm(opcode::SHR_IMM, page, 8);
        let hash = self.general(opcode::XOR, folded, Rm::Reg(page));
        let slot = self.general_imm(opcode::AND_IMM, hash, (TLB_ENTRIES as i64 - 1) << scale);
        self.general(opcode::ADD, slot, context(abi::TLB))
    }

    /// Performs an access in cold code. `stored` is the value to store. `loaded` says how to make
    /// results, which are collected in memory.
    fn piece_by_piece(
        &mut self,
        index: usize,
        access: &Access,
        stored: Option<Value>,
        loaded: Option<Loaded>,
    ) {
        let site = Site { block: self.facts.id.0, index: index as u32 };
        let number = self.sites.access(AccessSite { site, keeps_least: false, run: None }).0;
        for piece in self.group.clone() {
            let (slow, done) = (self.body.cold_block(), self.body.cold_block());
            let host = self.spaced(access, stored.is_some(), piece..piece + 1, slow);
            if let Some(value) = stored {
                self.store_piece(access, value, (host, piece), piece);
            }
            if let Some(how) = loaded {
                for (part, vector) in
                    self.load_piece(access, how, (host, piece), piece).into_iter().enumerate()
                {
                    let at = COLLECTED + (64 * (piece * (1 + usize::from(how.1)) + part)) as i32;
                    self.store_vector(opcode::VMOVDQU64_STORE, vector, context(at), None);
                }
            }
            self.body.jump(done, Vec::new());
            self.in_cold_code(slow, |selector| {
                selector.by_helper(number, access, (stored, loaded), piece);
                selector.body.jump(done, Vec::new());
            });
            self.body.switch_to(done);
        }
    }

    /// Performs an access of a piece by a helper, eight lanes at a time.
    fn by_helper(
        &mut self,
        number: u32,
        access: &Access,
        (stored, loaded): (Option<Value>, Option<Loaded>),
        piece: usize,
    ) {
        let guard = self.guard(access, piece);
        let guard = self.general_of(opcode::KMOVW_TO, Rm::Reg(guard));
        let returns = self.returning(ExitCode::Fault as u32);
        for half in 0..PIECE / CHUNK {
            let chunk = piece * (PIECE / CHUNK) + half;
            let addresses = self.lanes(access.address, piece)[half];
            self.store_vector(opcode::VMOVDQU64_STORE, addresses, scratch(0), None);
            if let Some(value) = stored {
                let lanes = self.lanes(value, piece);
                if access.ty.bits() == 64 {
                    self.store_vector(
                        opcode::VMOVDQU64_STORE,
                        lanes[half],
                        scratch(STAGED_VALUES),
                        None,
                    );
                } else {
                    let op = MachineOp::new(
                        opcode::VEXTRACTI64X4,
                        None,
                        Some(lanes[0]),
                        scratch(STAGED_VALUES),
                    );
                    self.body.op(MachineOp { imm: half as i64, ..op });
                }
            }
            let shifted = self.general_imm(opcode::SHR_IMM, guard, (half * CHUNK) as i64);
            let bits = self.general_imm(opcode::AND_IMM, shifted, 0xff);
            let args = vec![
                Arg::Number(number as i32),
                Arg::Reg(bits),
                Arg::Number((chunk * CHUNK) as i32),
            ];
            self.body.push(Inst::Call { helper: Helper::Access as u32, args });
            let fault = self.general_of(opcode::MOV_32, context(abi::FAULT_KIND));
            let go = self.body.cold_block();
            self.test(fault);
            self.body.branch(Condition::Equal, (go, Vec::new()), (returns, Vec::new()));
            self.body.switch_to(go);
            if let Some((_, wide)) = loaded {
                // This may store more than the chunk's lanes; the next chunk's lanes overwrite the
                // rest.
                let results = self.vector_of(opcode::VMOVDQU64, scratch(STAGED_VALUES));
                let bytes = CHUNK * if wide { 8 } else { 4 };
                self.store_vector(
                    opcode::VMOVDQU64_STORE,
                    results,
                    context(COLLECTED + (chunk * bytes) as i32),
                    None,
                );
            }
        }
    }
}

/// A word of the context's area for helpers.
fn scratch(word: usize) -> Rm {
    context(abi::SCRATCH + 8 * word as i32)
}

fn load_opcode(access: &Access, extend: Extend) -> Opcode {
    match (access.ty.bits(), extend) {
        (64, _) => opcode::VMOVDQU64,
        (32, _) => opcode::VMOVDQU32,
        (16, Extend::Signed) => opcode::VPMOVSXWD,
        (16, _) => opcode::VPMOVZXWD,
        (_, Extend::Signed) => opcode::VPMOVSXBD,
        _ => opcode::VPMOVZXBD,
    }
}
