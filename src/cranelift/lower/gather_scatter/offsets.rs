//! Offsets of a chunk's lanes in one memory, 32 bits each. One check tests that all are in range
//! and aligned.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use smallvec::SmallVec;
use warploom_analysis::{Bound, bound};
use warploom_engine::abi;
use warploom_ir::{Access, BinaryOp, IntCc, Op, Space, Special, Type, Value};
use warploom_runtime::warp::CONST_BANK_BYTES;

use super::super::block::BlockLowerer;
use super::super::int::constant;
use crate::tuning;

/// The limits of offsets, and facts known about the offsets.
pub(super) struct Limits {
    /// The bytes of the memory, `i64`.
    pub bytes: Clif,
    /// The bytes of the memory, if known at compile time.
    pub fixed: Option<i64>,
    /// Every offset must be a multiple of this number.
    pub align: u8,
    pub known: Bound,
    /// Whether active lanes are known to be in range.
    pub inside: bool,
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns the lanes of a 32-bit address, with the access's offset added.
    pub(super) fn words(&mut self, access: &Access) -> [Clif; 2] {
        let lanes = self.lanes(access.address);
        if access.offset == 0 {
            return [lanes[0], lanes[1]];
        }
        let offset = constant(self.b, Type::I32, access.offset as u32 as u64, true);
        [0, 1].map(|part| self.b.ins().iadd(lanes[part], offset))
    }

    /// Returns the lanes' offsets in shared, local or constant memory. Goes to `slow` unless all
    /// are in range and aligned. Offsets of lanes outside the mask are 0.
    pub(in super::super) fn offsets(
        &mut self,
        access: &Access,
        mask: Option<[Clif; 2]>,
        slow: ClifBlock,
    ) -> [Clif; 2] {
        let offsets = self.words(access);
        let (bytes, fixed) = match access.space {
            Space::Const(_) => {
                let bytes = CONST_BANK_BYTES as i64;
                (self.b.ins().iconst(types::I64, bytes), Some(bytes))
            }
            Space::Local => (self.ctx_load(types::I64, abi::LOCAL_BYTES), None),
            _ => (self.ctx_load(types::I64, abi::SHARED_BYTES), None),
        };
        let (known, inside) = (self.known_offset(access), self.guard_keeps_in_shared(access));
        let limits =
            Limits { bytes, fixed, align: required_alignment(access, access.space), known, inside };
        self.checked_offsets(access, offsets, &limits, mask, None, slow)
    }

    /// Returns the offsets, with 0 for lanes outside the mask. Goes to `slow` unless all are in
    /// range and aligned, and no lane is `wrong`.
    pub(super) fn checked_offsets(
        &mut self,
        access: &Access,
        mut offsets: [Clif; 2],
        limits: &Limits,
        mask: Option<[Clif; 2]>,
        mut wrong: Option<Clif>,
        slow: ClifBlock,
    ) -> [Clif; 2] {
        if let Some(mask) = mask {
            offsets = [0, 1].map(|part| self.b.ins().band(offsets[part], mask[part]));
        }
        let either = |lowerer: &mut Self, wrong: Option<Clif>, more: Clif| match wrong {
            Some(wrong) => lowerer.b.ins().bor(wrong, more),
            None => more,
        };
        if let Some(beyond) = self.beyond(access, offsets, limits, slow) {
            wrong = Some(either(self, wrong, beyond));
        }
        let low_bits = i64::from(limits.align.max(1)) - 1;
        if (1i64 << limits.known.zeros.min(32)) <= low_bits {
            let low = constant(self.b, Type::I32, low_bits as u64, true);
            let zero = constant(self.b, Type::I32, 0, true);
            let both = self.b.ins().bor(offsets[0], offsets[1]);
            let low = self.b.ins().band(both, low);
            let misaligned = self.b.ins().icmp(IntCC::NotEqual, low, zero);
            wrong = Some(either(self, wrong, misaligned));
        }
        if let Some(wrong) = wrong {
            let bits = self.b.ins().vhigh_bits(types::I32, wrong);
            let fine = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0);
            self.require(fine, slow);
        }
        offsets
    }

    /// Returns a vector of ones for lanes that end past the memory. Returns `None` if none can, or
    /// if one compare of the memory's size settles that none does.
    fn beyond(
        &mut self,
        access: &Access,
        offsets: [Clif; 2],
        limits: &Limits,
        slow: ClifBlock,
    ) -> Option<Clif> {
        let bytes = i64::from(access.bytes());
        // For small offsets, one compare with the largest possible offset covers all lanes.
        let end = i64::try_from(limits.known.max).unwrap_or(i64::MAX).saturating_add(bytes);
        if limits.inside || limits.fixed.is_some_and(|fixed| end <= fixed) {
            return None;
        }
        if end <= tuning::SMALL_OFFSET {
            // The memory may be smaller than the bound of the offsets.
            let inside =
                self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, limits.bytes, end);
            let (look, go) = (self.cold_block(), self.b.create_block());
            self.b.ins().brif(inside, go, &[], look, &[]);
            self.b.switch_to_block(look);
            let beyond = self.beyond_end(access, offsets, limits, slow);
            let bits = self.b.ins().vhigh_bits(types::I32, beyond);
            self.b.ins().brif(bits, slow, &[], go, &[]);
            self.b.switch_to_block(go);
            return None;
        }
        Some(self.beyond_end(access, offsets, limits, slow))
    }

    /// Returns a vector of ones where either part has a lane that ends past the memory.
    fn beyond_end(
        &mut self,
        access: &Access,
        offsets: [Clif; 2],
        limits: &Limits,
        slow: ClifBlock,
    ) -> Clif {
        let bytes = i64::from(access.bytes());
        let highest = self.b.ins().umax(offsets[0], offsets[1]);
        let whole = i64::from(limits.align) == bytes;
        let limit = if whole {
            // An element that starts in the last whole element's place ends there.
            self.b.ins().band_imm_s(limits.bytes, -bytes)
        } else {
            let room = self.b.ins().iadd_imm_s(limits.bytes, -bytes);
            let enough = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, room, 0);
            self.require(enough, slow);
            room
        };
        let limit = self.b.ins().ireduce(types::I32, limit);
        let limit = self.b.ins().splat(types::I32X4, limit);
        let beyond =
            if whole { IntCC::UnsignedGreaterThanOrEqual } else { IntCC::UnsignedGreaterThan };
        self.b.ins().icmp(beyond, highest, limit)
    }

    /// Returns the known bound of the lanes of an address, with the access's offset added.
    fn known_offset(&self, access: &Access) -> Bound {
        let Bound { max, zeros } =
            bound(|v| self.facts.ty(v), |v| &self.facts.def(v).op, access.address);
        let sum = u64::try_from(access.offset).ok().and_then(|offset| max.checked_add(offset));
        Bound {
            max: sum.unwrap_or(u64::MAX),
            zeros: if access.offset == 0 {
                zeros
            } else {
                zeros.min(access.offset.trailing_zeros())
            },
        }
    }

    /// Returns whether lanes beyond shared memory are inactive, as on GFX9. There the guard
    /// contains `address < max(bytes, last) - last`, where `last` is the size of the access less 1.
    fn guard_keeps_in_shared(&self, access: &Access) -> bool {
        let last = u64::from(access.bytes()) - 1;
        let is_address = |v: Value| match *self.facts.def_op(v) {
            _ if access.offset == 0 => v == access.address,
            Op::Binary { op: BinaryOp::Add, a, b } => {
                a == access.address
                    && self.facts.constant(b) == Some(u64::from(access.offset as u32))
            }
            _ => false,
        };
        let is_room = |v: Value| {
            let Op::Binary { op: BinaryOp::Sub, a, b } = *self.facts.def_op(v) else {
                return false;
            };
            let Op::Binary { op: BinaryOp::MaxU, a: bytes, b: least } = *self.facts.def_op(a)
            else {
                return false;
            };
            let of_last = [b, least].map(|v| self.facts.constant(v)) == [Some(last); 2];
            of_last && matches!(self.facts.def_op(bytes), Op::Special(Special::SharedBytes))
        };
        if access.space != Space::Shared {
            return false;
        }
        let mut masks: SmallVec<[Value; 8]> = access.guard.into_iter().collect();
        for _ in 0..tuning::MOST_GUARD_PARTS {
            match masks.pop().map(|mask| self.facts.def_op(mask)) {
                Some(&Op::Binary { op: BinaryOp::And, a, b }) => masks.extend([a, b]),
                Some(&Op::ICmp { cc: IntCc::LtU, a, b }) if is_address(a) && is_room(b) => {
                    return true;
                }
                Some(_) => {}
                None => return false,
            }
        }
        false
    }
}

/// Returns the number of which addresses in a space must be multiples. In local memory, an element
/// must not continue in the next word, which is far away.
pub(in super::super) fn required_alignment(access: &Access, space: Space) -> u8 {
    match space {
        Space::Local => access.align.max(access.ty.bytes().min(4) as u8),
        _ => access.align,
    }
}
