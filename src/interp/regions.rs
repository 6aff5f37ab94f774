//! Byte regions.

use warploom_ir::{CellKind, Inst, Op, Reg, Region, Type, Value};

use super::exec::{Executor, lanes_of};

impl Executor<'_, '_> {
    pub(super) fn region_read(&mut self, inst: &Inst) {
        let Op::RegionRead { reg, index, region, ty, uniform } = inst.op else { return };
        let result = inst.results[0];
        if uniform {
            let at = self.element_at((index, 0), region, 0, ty);
            let bits = self.read_element(reg, at, index.is_some(), ty);
            return self.values.set_uniform(result, bits);
        }
        self.values.row_mut(result).fill(0);
        for (i, lane) in inst.window.lanes().enumerate() {
            let at = self.element_at((index, lane), region, i, ty);
            let bits = self.read_element(reg, at, index.is_some(), ty);
            self.values.row_mut(result)[lane] = bits;
        }
    }

    pub(super) fn region_write(&mut self, inst: &Inst) {
        let Op::RegionWrite { reg, index, region, value, guard, nomask } = inst.op else { return };
        let ty = self.ty(value).ty;
        for lane in lanes_of(self.execution_mask(inst.window, guard, nomask)) {
            let i = lane - usize::from(inst.window.first);
            let at = self.element_at((index, lane), region, i, ty);
            let bits = self.values.row(value)[lane];
            self.write_element(reg, at, index.is_some(), ty, bits);
        }
    }

    /// Returns the offset of element `i`. In an indirect region, the lane's index is added.
    fn element_at(
        &self,
        (index, lane): (Option<Value>, usize),
        region: Region,
        i: usize,
        ty: Type,
    ) -> u32 {
        match index {
            None => region.element(i as u32, ty.bytes()),
            Some(index) => {
                let from = region.offset.wrapping_add(self.values.row(index)[lane] as u32);
                from.wrapping_add(region.distance(i as u32, ty.bytes()))
            }
        }
    }

    /// Returns the bytes of an element of type `ty` from offset `at` of a byte array on. An element
    /// that does not fit is cut at the end of the array, or is empty if `whole`.
    fn element(&mut self, reg: Reg, at: u32, whole: bool, ty: Type) -> &mut [u8] {
        let offset = self.layout.offset(reg) as usize;
        let length = match self.function.bank(reg.bank).kind {
            CellKind::Bytes(length) => length as usize,
            _ => 0,
        };
        let array = &mut self.context.registers()[offset..][..length];
        let rest = array.get_mut(at as usize..).unwrap_or_default();
        let size = ty.bytes() as usize;
        let taken = if rest.len() >= size || !whole { rest.len().min(size) } else { 0 };
        &mut rest[..taken]
    }

    fn read_element(&mut self, reg: Reg, at: u32, whole: bool, ty: Type) -> u64 {
        let from = self.element(reg, at, whole, ty);
        let mut element = [0; 8];
        element[..from.len()].copy_from_slice(from);
        u64::from_le_bytes(element)
    }

    fn write_element(&mut self, reg: Reg, at: u32, whole: bool, ty: Type, bits: u64) {
        let into = self.element(reg, at, whole, ty);
        let length = into.len();
        into.copy_from_slice(&bits.to_le_bytes()[..length]);
    }
}
