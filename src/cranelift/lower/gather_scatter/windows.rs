//! Generic addresses of shared and local memory. One test tells in which window a chunk's lanes
//! lie, and bounds them to the byte. The test is exact because neither memory is ever in the TLB,
//! whose pages are longer than the memory.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use warploom_analysis::Bound;
use warploom_engine::abi;
use warploom_ir::{Access, Extend, Space, Type};
use warploom_runtime::window::WINDOW_BYTES;

use super::super::block::BlockLowerer;
use super::super::int::constant;
use super::super::vector;
use super::offsets::{Limits, required_alignment};
use crate::forms::Lanes;

/// The memory that a window of the generic address space shows.
#[derive(Clone, Copy, PartialEq)]
pub(in super::super) enum Window {
    Shared,
    Local,
}

impl Window {
    const ALL: [Window; 2] = [Window::Shared, Window::Local];

    fn space(self) -> Space {
        match self {
            Window::Shared => Space::Shared,
            Window::Local => Space::Local,
        }
    }

    /// Returns the context's fields for the window's lowest address and the memory's size.
    fn fields(self) -> (i32, i32) {
        match self {
            Window::Shared => (abi::SHARED_WINDOW, abi::SHARED_BYTES),
            Window::Local => (abi::LOCAL_WINDOW, abi::LOCAL_BYTES),
        }
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns whether an access has code for shared and local memory besides its code for global
    /// memory.
    pub(in super::super) fn has_windows(&self, access: &Access) -> bool {
        access.space == Space::Generic && self.region.effort.is_fast()
    }

    /// Returns whether an address, `i64`, is in the window of shared or of local memory.
    pub(in super::super) fn is_in_a_window(&mut self, address: Clif) -> Clif {
        let [shared, local] = Window::ALL.map(|window| self.is_in_window(window, address));
        self.b.ins().bor(shared, local)
    }

    fn is_in_window(&mut self, window: Window, address: Clif) -> Clif {
        let first = self.ctx_load(types::I64, window.fields().0);
        let offset = self.b.ins().bxor(address, first);
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, offset, WINDOW_BYTES as i64)
    }

    /// Emits the choice of a window in `beyond`, and continues in the first window's code.
    ///
    /// Returns the windows in the order in which code tries them, each with the block for lanes
    /// outside the window. The last of these blocks is `slow`.
    pub(in super::super) fn windows(
        &mut self,
        access: &Access,
        beyond: ClifBlock,
        slow: ClifBlock,
    ) -> [(Window, ClifBlock); 2] {
        let (shared, local) = (self.cold_block(), self.cold_block());
        self.b.switch_to_block(beyond);
        let first = self.first_lane_address(access);
        let looks = self.is_in_window(Window::Local, first);
        self.b.ins().brif(looks, local, &[], shared, &[]);
        self.b.switch_to_block(shared);
        [(Window::Shared, local), (Window::Local, slow)]
    }

    /// Returns whether lane 0 of an access is in a window. Mostly the other lanes are then in it,
    /// too.
    pub(in super::super) fn looks_in_a_window(&mut self, access: &Access) -> Clif {
        let first = self.first_lane_address(access);
        self.is_in_a_window(first)
    }

    fn first_lane_address(&mut self, access: &Access) -> Clif {
        let base = match self.scope.classes.get(access.address).stride() {
            Some(_) => self.base(access.address).0,
            None => {
                let lanes = self.lanes(access.address);
                self.b.ins().extractlane(lanes[0], 0)
            }
        };
        self.first_address(access, base)
    }

    /// Loads from the memory in a window if all active lanes are there. Otherwise goes to `other`.
    pub(in super::super) fn load_in_window(
        &mut self,
        window: Window,
        access: &Access,
        extend: Extend,
        other: ClifBlock,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let offsets = self.offsets_in_window(window, access, other);
        match window {
            Window::Shared => {
                let shared = self.ctx_load(types::I64, abi::SHARED);
                self.gather_near(access, extend, shared, offsets, result_ty)
            }
            Window::Local => self.load_local_at(access, extend, offsets, result_ty),
        }
    }

    /// Stores to the memory in a window if all active lanes are there. Otherwise goes to `other`.
    /// `bits` is the mask of active lanes.
    pub(in super::super) fn store_in_window(
        &mut self,
        window: Window,
        access: &Access,
        values: &[Lanes],
        bits: Clif,
        other: ClifBlock,
    ) {
        let offsets = self.offsets_in_window(window, access, other);
        match window {
            Window::Shared => self.scatter_near(access, values, offsets),
            Window::Local => self.store_local_at(access, values, bits, offsets),
        }
    }

    /// Returns offsets in the memory of a window, with 0 for inactive lanes. Goes to `other` unless
    /// all active lanes are in range and aligned.
    pub(in super::super) fn offsets_in_window(
        &mut self,
        window: Window,
        access: &Access,
        other: ClifBlock,
    ) -> [Clif; 2] {
        let guard = access.guard.expect("analysis makes masks explicit");
        let (first, bytes) = window.fields();
        let mut lanes = self.lanes(access.address);
        if access.offset != 0 {
            let offset = constant(self.b, Type::I64, i64::from(access.offset) as u64, true);
            lanes.iter_mut().for_each(|lane| *lane = self.b.ins().iadd(*lane, offset));
        }
        let first = self.ctx_load(types::I64, first);
        let first = self.b.ins().splat(types::I64X2, first);
        lanes.iter_mut().for_each(|lane| *lane = self.b.ins().bxor(*lane, first));
        let mask = if self.settled_mask(guard) == Some(true) {
            None
        } else {
            Some(self.mask_words(guard))
        };
        let mut high = vector::halves(self.b, &lanes, true);
        if let Some(mask) = mask {
            high = [0, 1].map(|part| self.b.ins().band(high[part], mask[part]));
        }
        let high = self.b.ins().bor(high[0], high[1]);
        let zero = constant(self.b, Type::I32, 0, true);
        let outside = self.b.ins().icmp(IntCC::NotEqual, high, zero);
        // An offset past the window is also past the memory, which is no longer than the window.
        let offsets = vector::halves(self.b, &lanes, false);
        let bytes = self.ctx_load(types::I64, bytes);
        let known = Bound { max: u64::MAX, zeros: 0 };
        let limits = Limits {
            bytes,
            fixed: None,
            align: required_alignment(access, window.space()),
            known,
            inside: false,
        };
        self.checked_offsets(access, offsets, &limits, mask, Some(outside), other)
    }
}
