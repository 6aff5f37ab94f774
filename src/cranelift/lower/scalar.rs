//! Memory accesses of the whole warp at a uniform address.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use warploom_engine::helpers::Helper;
use warploom_ir::{Access, Extend, Op, Space, Type, Value};
use warploom_runtime::warp::PAGE_BYTES;

use super::address::{Rights, Spaced};
use super::block::BlockLowerer;
use super::chunk::flags;
use crate::forms::clif_type;

/// An access that is done inline if its page is in the TLB.
enum Scalar<'i> {
    Load(Extend),
    Store(&'i [Value]),
}

impl BlockLowerer<'_, '_, '_> {
    /// Lowers a load or store at a uniform address in global memory, or a load from a constant
    /// bank, inline. The interpreter does accesses that fail inline. Returns false for other
    /// instructions.
    pub(super) fn scalar_access(&mut self, index: usize) -> bool {
        let inst = &self.facts.block.insts[index];
        let (access, scalar) = match &inst.op {
            Op::Load { access, extend, sparse: false } => (*access, Scalar::Load(*extend)),
            Op::Store { access, values, sparse: false } => (*access, Scalar::Store(values)),
            _ => return false,
        };
        let has_code = matches!(access.space, Space::Global | Space::Const(_));
        if !has_code || !self.facts.block.ty(access.address).is_uniform() {
            return false;
        }
        let base = self.scalar(access.address);
        let address = self.first_address(&access, base);
        // All values that the interpreter may need are made before the ways part.
        for v in inst.op.operands() {
            self.scalar(v);
        }
        let done = self.b.create_block();
        let results: Vec<_> =
            inst.results.iter().map(|&v| clif_type(self.facts.ty(v), false)).collect();
        for &ty in &results {
            self.b.append_block_param(done, ty);
        }
        if let Some(guard) = access.guard {
            let guard = self.scalar(guard);
            let zeros: Vec<BlockArg> = inst
                .results
                .iter()
                .map(|&v| super::int::constant(self.b, self.facts.ty(v), 0, false).into())
                .collect();
            let go = self.b.create_block();
            self.b.ins().brif(guard, go, &[], done, &zeros);
            self.b.switch_to_block(go);
        }
        let slow = self.cold_block();
        let rights = if matches!(scalar, Scalar::Load(_)) { Rights::READ } else { Rights::WRITE };
        let found = self.b.create_block();
        let host = self.b.append_block_param(found, types::I64);
        let place = self.scalar_place(&access, address, rights, slow);
        self.b.ins().jump(found, &[BlockArg::Value(place)]);

        self.b.switch_to_block(slow);
        if access.space == Space::Global {
            // After the call, a page that is accessed for the first time is in the TLB.
            let slower = self.cold_block();
            self.region.call(self.b, Helper::Fill, &[self.ctx, address]);
            let place = self.on_one_scalar_way(|lowerer| {
                lowerer.scalar_place(&access, address, rights, slower)
            });
            self.b.ins().jump(found, &[BlockArg::Value(place)]);
            self.b.switch_to_block(slower);
        }
        self.on_one_scalar_way(|lowerer| lowerer.interpret(index));
        let interpreted: Vec<BlockArg> = (inst.results.iter().zip(&results))
            .map(|(&v, &ty)| {
                let offset = self.facts.planned.slots.row(v) as i32;
                self.b.ins().load(ty, flags(), self.registers, offset).into()
            })
            .collect();
        self.b.ins().jump(done, &interpreted);

        self.b.switch_to_block(found);
        let size = access.ty.bytes() as i32;
        let offsets = (0..).step_by(size as usize);
        let loaded: Vec<BlockArg> = match scalar {
            Scalar::Load(extend) => {
                let load = |offset| self.load_element(access.ty, extend, host, offset).into();
                offsets.take(usize::from(access.count)).map(load).collect()
            }
            Scalar::Store(values) => {
                for (&value, offset) in values.iter().zip(offsets) {
                    let v = self.narrowed(value, access.ty);
                    self.store_element(access.ty, v, host, offset);
                }
                vec![]
            }
        };
        self.b.ins().jump(done, &loaded);

        self.b.switch_to_block(done);
        let params = self.b.block_params(done).to_vec();
        for (&result, param) in inst.results.iter().zip(params) {
            self.set_scalar(result, param);
        }
        true
    }

    /// Leaves with a fault if a mask has lanes.
    pub(super) fn raise(&mut self, index: usize, mask: Value) {
        let lanes = self.scalar(mask);
        let (done, slow) = (self.b.create_block(), self.cold_block());
        self.b.ins().brif(lanes, slow, &[], done, &[]);
        self.b.switch_to_block(slow);
        self.on_one_scalar_way(|lowerer| lowerer.interpret(index));
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Returns the host address of an access that lies aligned in one page that the TLB knows, or
    /// in a constant bank. Goes to `slow` otherwise.
    fn scalar_place(
        &mut self,
        access: &Access,
        address: Clif,
        rights: Rights,
        slow: cranelift_codegen::ir::Block,
    ) -> Clif {
        if let Space::Const(_) = access.space {
            let (start, bytes) = self.memory_at_offsets(access.space);
            let inside =
                self.is_inside(access, &Spaced { first: address, last: address, step: 0 }, bytes);
            self.require(inside, slow);
            return self.b.ins().iadd(start, address);
        }
        if let Some(aligned) = self.is_aligned(access.align, address) {
            self.require(aligned, slow);
        }
        let (tags, addend) = self.tlb_entry(address, rights);
        let in_page = self.b.ins().isub(address, tags[0]);
        let last = PAGE_BYTES as i64 - i64::from(access.bytes());
        let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, in_page, last);
        self.require(inside, slow);
        self.b.ins().iadd(address, addend)
    }

    /// Returns a scalar as an element to be stored: the low bits of an integer.
    fn narrowed(&mut self, value: Value, ty: Type) -> Clif {
        let (v, from) = (self.scalar(value), self.facts.ty(value));
        if ty.bits() <= 32 && from == Type::I64 { self.b.ins().ireduce(types::I32, v) } else { v }
    }
}
