//! Loads and stores of lanes that are apart: inline and one by one, after one check of all lanes.

mod global;
mod lanes;
mod local;
mod local_lanes;
mod offsets;
mod shared;
mod windows;

use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif};
pub use global::Elements;
pub(super) use offsets::required_alignment;
use warploom_analysis::{Class, visit};
use warploom_engine::descriptions::AccessId;
use warploom_engine::helpers::STAGED_VALUES;
use warploom_ir::{Access, BinaryOp, Extend, Inst, Op, Space, Type, Value};
pub(super) use windows::Window;

use super::block::BlockLowerer;
use super::chunk::flags;
use super::staging::Unreached;
use crate::CHUNK;
use crate::forms::Lanes;
use crate::tuning;

const LANES: i64 = CHUNK as i64;

impl BlockLowerer<'_, '_, '_> {
    /// Loads lanes that are not adjacent, inline if there is inline code for the access. Goes to
    /// `slow` when a check fails, or at once if there is no inline code.
    pub(super) fn gather_access(
        &mut self,
        access: &Access,
        extend: Extend,
        run: Option<usize>,
        slow: ClifBlock,
        result_ty: Type,
    ) -> Option<Vec<Lanes>> {
        if let Some(run) = run {
            return Some(self.gather_global(access, extend, (run, None), slow, result_ty));
        }
        let class = self.scope.classes.get(access.address);
        match access.space {
            Space::Shared | Space::Const(_) if class == Class::Varying => {
                Some(self.gather_checked(access, extend, slow, result_ty))
            }
            Space::Local => self.load_local(access, extend, slow, result_ty),
            _ => {
                self.b.ins().jump(slow, &[]);
                None
            }
        }
    }

    /// Stores lanes that are not adjacent. Returns whether there is inline code for the access.
    pub(super) fn scatter_access(
        &mut self,
        (desc, run): (AccessId, Option<usize>),
        access: &Access,
        (values, lanes): (&[Value], &[Lanes]),
        bits: Clif,
        slow: ClifBlock,
    ) -> bool {
        if let Some(run) = run {
            self.scatter_global(access, lanes, run, slow);
        } else if self.scatters_shared(access) {
            self.scatter_shared(access, lanes, bits, slow);
        } else if access.space == Space::Shared {
            self.stage(access, values);
            self.lane_loop(access, bits, Unreached::CallsHelper(desc), |lowerer, host, lane| {
                for e in 0..usize::from(access.count) {
                    let v =
                        lowerer.staged_scalar(STAGED_VALUES + e * LANES as usize, lane, access.ty);
                    lowerer.store_element(
                        access.ty,
                        v,
                        host,
                        (e as u32 * access.ty.bytes()) as i32,
                    );
                }
            });
        } else if access.space == Space::Local {
            return self.store_local(access, lanes, bits, slow);
        } else {
            self.b.ins().jump(slow, &[]);
            return false;
        }
        true
    }

    /// Continues if a lane is active in an access. Otherwise goes to `done` with the arguments that
    /// `nothing` returns.
    ///
    /// The mask of the block's entry is not tested, as it mostly has lanes.
    pub(super) fn unless_empty(
        &mut self,
        guard: Value,
        done: ClifBlock,
        nothing: impl FnOnce(&mut Self) -> Vec<BlockArg>,
    ) {
        if self.settled_mask(guard).is_some() || self.facts.entry_mask() == Some(guard) {
            return;
        }
        let bits = self.mask_bits(guard);
        let nothing = nothing(self);
        let some = self.b.create_block();
        self.b.ins().brif(bits, some, &[], done, &nothing);
        self.b.switch_to_block(some);
    }

    /// Continues unless an access's lanes seem to be in a window. Lanes in a window go to `beyond`,
    /// if this is another block than `slow`.
    pub(super) fn unless_in_a_window(
        &mut self,
        access: &Access,
        beyond: ClifBlock,
        slow: ClifBlock,
    ) {
        if beyond != slow {
            let window = self.looks_in_a_window(access);
            let global = self.b.create_block();
            self.b.ins().brif(window, beyond, &[], global, &[]);
            self.b.switch_to_block(global);
        }
    }

    /// Returns whether stores to shared memory have code for lanes at any addresses, which only
    /// pays in fast code.
    pub(super) fn scatters_shared(&self, access: &Access) -> bool {
        access.space == Space::Shared && self.region.effort.is_fast()
    }

    /// Returns whether a load of evenly spaced lanes from shared memory has code for lanes that are
    /// out of range because they are inactive.
    pub(super) fn may_reach_beyond(&self, access: &Access) -> bool {
        access.space == Space::Shared
            && self.region.effort.is_fast()
            && self.scope.classes.get(access.address) != Class::Varying
            && access.guard.is_some_and(|guard| self.settled_mask(guard) != Some(true))
    }

    /// Returns whether a load from shared or constant memory has short code for lanes at any
    /// addresses.
    pub(super) fn loads_in_turn(&self, access: &Access) -> bool {
        let varying = self.scope.classes.get(access.address) == Class::Varying;
        matches!(access.space, Space::Shared | Space::Const(_))
            && varying
            && !self.region.effort.is_fast()
    }

    /// Loads lanes at any addresses in shared or constant memory one after the other. Inactive
    /// lanes give 0. If a lane is out of range, the helper loads all lanes.
    pub(super) fn load_in_turn(
        &mut self,
        inst: &Inst,
        desc: AccessId,
        access: &Access,
        extend: Extend,
    ) {
        let result_ty = self.facts.ty(inst.results[0]);
        let word = |element: usize| STAGED_VALUES + element * LANES as usize;
        let elements = 0..usize::from(access.count);
        self.stage(access, &[]);
        let zeros = self.zero_lanes(result_ty);
        for element in elements.clone() {
            self.stage_lanes(word(element), &zeros);
        }
        let bits = self.mask_bits(access.guard.expect("analysis makes masks explicit"));
        let (slow, done) = (self.cold_block(), self.b.create_block());
        self.lane_loop(access, bits, Unreached::Leaves(slow), |lowerer, host, lane| {
            for element in elements.clone() {
                let v = lowerer.load_element(
                    access.ty,
                    extend,
                    host,
                    (element as u32 * access.ty.bytes()) as i32,
                );
                let (at, offset) = lowerer.staged_address(word(element), lane, result_ty);
                lowerer.b.ins().store(flags(), v, at, offset);
            }
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(slow);
        self.call_access(desc, bits, true);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        for (element, &value) in inst.results.iter().enumerate().take(elements.end) {
            let lanes = self.staged_lanes(word(element), result_ty);
            self.chunk().lanes.insert(value, lanes);
        }
    }

    /// Returns whether lanes in global memory get code for addresses that are apart: if they look
    /// scattered, or if code is hot.
    pub(super) fn may_scatter(&self, access: &Access) -> bool {
        self.can_scatter(access) && (self.region.effort.is_fast() || self.looks_scattered(access))
    }

    /// Returns whether lanes of an address in global memory are unlikely to be consecutive: the
    /// address is made from memory or from single bits.
    pub(super) fn looks_scattered(&self, access: &Access) -> bool {
        self.can_scatter(access) && self.comes_from_memory(access.address)
    }

    /// Returns whether a value is made from memory or from single bits.
    pub(super) fn comes_from_memory(&self, v: Value) -> bool {
        self.is_of_bits(v, &mut { tuning::MOST_ADDRESS_VALUES })
    }

    fn can_scatter(&self, access: &Access) -> bool {
        matches!(access.space, Space::Global | Space::Generic)
            && self.scope.classes.get(access.address) == Class::Varying
    }

    fn is_of_bits(&self, v: Value, left: &mut u32) -> bool {
        visit();
        if *left == 0 || self.scope.classes.get(v) != Class::Varying {
            return false;
        }
        *left -= 1;
        let mut of = |v: Value| self.is_of_bits(v, left);
        match *self.facts.def_op(v) {
            Op::Load { .. } | Op::Binary { op: BinaryOp::Xor | BinaryOp::ShrU, .. } => true,
            // An index that is reduced to a table's size stays as consecutive as before.
            Op::Binary { op: BinaryOp::And, a, b } => match *self.facts.def_op(b) {
                Op::Const { bits, .. } if bits.wrapping_add(1).is_power_of_two() => of(a),
                _ => true,
            },
            Op::Binary { a, b, .. } => of(a) || of(b),
            Op::Concat { lo: a, .. } | Op::Convert { a, .. } | Op::Select { a, .. } => of(a),
            _ => false,
        }
    }
}
