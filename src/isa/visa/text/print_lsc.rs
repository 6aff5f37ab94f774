//! Writes LSC messages as Intel's compiler does.

use std::fmt::Write;

use super::print_code::{Printer, put, variable_name};
use super::{lsc, suffix};
use crate::module::*;
use crate::table::Field;
use crate::words::{AddressModel, Cache, LSC_CHANNELS};

impl Printer<'_> {
    pub fn lsc(&mut self, one: &Instruction) {
        let (row, field) = (one.row, lsc::field(one.row));
        let Some(Operand::Lsc(message)) = one.operands.first() else { return };
        put!(self, ".{}", message.sfid.name());
        if message.caches.iter().any(|&cache| cache != Cache::Default) {
            message.caches.iter().for_each(|cache| put!(self, ".{}", cache.name()));
        }
        if let Some(exec) = one.exec.filter(|_| lsc::has_exec(row, field)) {
            put!(self, " {exec}");
        }
        put!(self, "  ");
        let last = one.operands.len() - 1;
        let destination = usize::from(field != Field::LscBlock) + 1;
        match lsc::kind(row) {
            lsc::Kind::Load => {
                self.lsc_data(one, message, destination);
                put!(self, "  ");
                self.lsc_place(one, message);
            }
            lsc::Kind::Store => {
                self.lsc_place(one, message);
                put!(self, "  ");
                // The second source of a store is null.
                let source = if field == Field::LscTyped
                    || field == Field::Lsc && !row.name.contains("strided")
                {
                    last - 1
                } else {
                    last
                };
                self.lsc_data(one, message, source);
            }
            lsc::Kind::Atomic if field == Field::LscCounter => {
                self.lsc_data(one, message, destination);
                put!(self, "  ");
                self.lsc_model(one, message);
                put!(self, "  ");
                self.lsc_data(one, message, last);
            }
            lsc::Kind::Atomic => {
                self.lsc_data(one, message, destination);
                put!(self, "  ");
                self.lsc_place(one, message);
                for slot in [last - 1, last] {
                    put!(self, "  ");
                    self.lsc_operand(one.operands.get(slot));
                }
            }
            lsc::Kind::Info => {
                self.lsc_operand(one.operands.get(destination));
                put!(self, "  ");
                self.lsc_model(one, message);
                put!(self, "[");
                self.lsc_operand(one.operands.get(destination + 1));
                put!(self, "]");
            }
        }
    }

    /// Writes a raw operand, without an offset of 0, or a scalar without type and region.
    fn lsc_operand(&mut self, operand: Option<&Operand>) {
        match operand {
            Some(&Operand::Raw(Raw { variable, offset })) => {
                put!(self, "{}", variable_name(self.routine, variable));
                if offset != 0 {
                    put!(self, ".{offset}");
                }
            }
            Some(Operand::General(one)) => {
                put!(self, "{}", variable_name(self.routine, one.variable));
                if (one.row, one.column) != (0, 0) {
                    put!(self, "({},{})", one.row, one.column);
                }
            }
            Some(Operand::Immediate { bits, .. }) => {
                self.upper = true;
                put!(self, "0x{bits:X}");
            }
            _ => {}
        }
    }

    fn lsc_data(&mut self, one: &Instruction, message: &Lsc, slot: usize) {
        self.lsc_operand(one.operands.get(slot));
        if let (Field::LscTypedBlock, Some(block)) = (lsc::field(one.row), message.block) {
            put!(self, ":{}x{}", block.width, block.height);
            return;
        }
        let is_new = self.routine.version.is_text_only();
        put!(self, ":{}", if is_new { message.data.name() } else { message.data.old_name() });
        if let Some(block) = message.block {
            let count = if block.count == 1 { String::new() } else { format!("{}x", block.count) };
            let flag = |set| if set { 't' } else { 'n' };
            put!(
                self,
                ".{count}{}x{}{}{}",
                block.width,
                block.height,
                flag(message.transposed),
                flag(block.vnni)
            );
            return;
        }
        if lsc::has_channels(one.row) {
            put!(self, ".{}", suffix::channels(message.channels.into(), LSC_CHANNELS));
            return;
        }
        if message.elements > 1 {
            put!(self, "x{}", message.elements);
        }
        if message.transposed {
            put!(self, "t");
        }
    }

    /// Writes an address model: `flat`, `bss(V32)`, `bti(0x4,0x1)`.
    fn lsc_model(&mut self, one: &Instruction, message: &Lsc) {
        put!(self, "{}", message.model.name());
        if lsc::field(one.row) == Field::LscBlock {
            return;
        }
        let surface = one.operands.get(1);
        let is_nothing = matches!(surface, Some(Operand::Immediate { bits: 0, .. }))
            && message.surface_index == 0;
        if is_nothing && matches!(message.model, AddressModel::Flat | AddressModel::Arg) {
            return;
        }
        put!(self, "(");
        self.lsc_operand(surface);
        if message.surface_index != 0 {
            put!(self, ",0x{:X}", message.surface_index);
        }
        put!(self, ")");
    }

    fn lsc_place(&mut self, one: &Instruction, message: &Lsc) {
        self.lsc_model(one, message);
        put!(self, "[");
        let field = lsc::field(one.row);
        match field {
            Field::LscBlock | Field::LscTypedBlock => {
                let (first, count) = if field == Field::LscBlock { (2, 6) } else { (3, 2) };
                for n in 0..count {
                    put!(self, "{}", if n > 0 { "," } else { "" });
                    self.lsc_operand(one.operands.get(first + n));
                    let offset = if n + 2 >= count { message.offsets[n + 2 - count] } else { 0 };
                    self.signed(offset);
                }
                put!(self, "]");
                return;
            }
            Field::LscTyped => {
                for n in 0..4 {
                    let coordinate = one.operands.get(3 + n);
                    if coordinate == Some(&Operand::Raw(Raw::NULL)) {
                        break;
                    }
                    put!(self, "{}", if n > 0 { "," } else { "" });
                    self.lsc_operand(coordinate);
                    self.signed(message.offsets.get(n).copied().unwrap_or(0));
                }
            }
            _ => {
                if message.scale > 1 {
                    put!(self, "{:#x}*", message.scale);
                }
                self.lsc_operand(one.operands.get(3));
                let (sign, offset) =
                    (if message.offset < 0 { '-' } else { '+' }, message.offset.unsigned_abs());
                match (offset, self.upper) {
                    (0, _) => {}
                    (_, false) => put!(self, "{sign}{offset:#x}"),
                    (_, true) => put!(self, "{sign}0x{offset:X}"),
                }
                if one.row.name.contains("strided") {
                    put!(self, ", ");
                    self.lsc_operand(one.operands.get(4));
                }
            }
        }
        put!(self, "]:{}", message.address_size.name());
    }

    fn signed(&mut self, offset: i32) {
        if offset != 0 {
            put!(self, "{offset:+}");
        }
    }
}
