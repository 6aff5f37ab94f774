//! Rewrites a routine: each pair becomes one instruction, and merged variables become parts of new
//! variables.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::super::variables::{ADDRESS_BYTES, Roots};
use super::split::{Splits, Within};
use super::{Placed, Unit};
use crate::instruction::{Indirect, Instruction, Operand};
use crate::module::{AddressId, Module, Named, Routine, VariableId};
use crate::predefined::FIRST_VARIABLE;
use crate::table;
use crate::types::{Align, Ty};

/// The alignment of merged variables, in bytes.
const ALIGN: u32 = 64;

/// The planned changes of a routine.
pub struct Plan {
    /// The first and the second instruction of each pair.
    pub pairs: Vec<(usize, usize)>,
    pub placed: FxHashMap<Unit, Placed>,
    pub splits: Splits,
    /// Operands that name parts of split roots.
    pub within: Vec<Within>,
}

impl Plan {
    /// Applies the plan to a routine.
    pub fn apply(&self, module: &mut Module, number: usize, roots: &Roots) {
        let register_bytes = module.register_bytes();
        let routine = &mut module.routines[number];
        for &(first, second) in &self.pairs {
            if let Some(exec) = &mut routine.code[first].exec {
                exec.size *= 2;
            }
            nothing(&mut routine.code[second]);
        }
        self.addresses(routine, roots);
        let made = self.variables(routine, roots);
        let own = |index: usize| roots.variable(0, VariableId(FIRST_VARIABLE + index as u32)).0;
        for (index, variable) in
            routine.variables.iter_mut().enumerate().filter(|(_, one)| one.alias.is_none())
        {
            // New variables come last.
            let unit = Unit { root: own(index), start: 0 };
            if let Some(placed) = self.placed.get(&unit)
                && !self.splits.contains_key(&unit.root)
            {
                variable.alias = made.get(&placed.first).map(|&whole| (whole, placed.at));
            }
        }
        self.operands(routine, &made, register_bytes);
    }

    /// Makes the merged address variables, and renames operands.
    fn addresses(&self, routine: &mut Routine, roots: &Roots) {
        let mut made: BTreeMap<Unit, AddressId> = BTreeMap::new();
        let mut renamed: FxHashMap<AddressId, (AddressId, u32)> = FxHashMap::default();
        for id in (0..routine.addresses.len() as u16).map(AddressId) {
            let unit = Unit { root: roots.address(0, id), start: 0 };
            let Some(placed) = self.placed.get(&unit) else { continue };
            let whole = *made.entry(placed.first).or_insert_with(|| {
                routine
                    .addresses
                    .push(Named { elements: 0, ..routine.addresses[usize::from(id.0)].clone() });
                AddressId(routine.addresses.len() as u16 - 1)
            });
            let before = placed.at / ADDRESS_BYTES;
            let end = before + routine.addresses[usize::from(id.0)].elements;
            let elements = &mut routine.addresses[usize::from(whole.0)].elements;
            *elements = end.max(*elements);
            renamed.insert(id, (whole, before));
        }
        for operand in routine.code.iter_mut().flat_map(|insn| &mut insn.operands) {
            let (address, element) = match operand {
                Operand::Address { address, element, .. }
                | Operand::Indirect(Indirect { address, element, .. }) => (address, element),
                _ => continue,
            };
            if let Some(&(whole, before)) = renamed.get(address) {
                (*address, *element) = (whole, (u32::from(*element) + before) as u8);
            }
        }
    }

    /// Makes the merged variables.
    fn variables(&self, routine: &mut Routine, roots: &Roots) -> FxHashMap<Unit, VariableId> {
        let mut ends: FxHashMap<Unit, u32> = FxHashMap::default();
        let is_address = |unit: &Unit| roots.is_address(unit.root);
        for (unit, &Placed { first, at }) in
            self.placed.iter().filter(|(unit, _)| !is_address(unit))
        {
            let bytes = self.splits.get(&unit.root).copied().unwrap_or(roots.get(unit.root).bytes);
            let end = ends.entry(first).or_insert(0);
            *end = (*end).max(at + bytes);
        }
        let mut ends: Vec<(Unit, u32)> = ends.into_iter().collect();
        ends.sort_unstable();
        let own = routine.variables.iter().position(|one| one.alias.is_none());
        let Some(mut variable) = own.map(|index| routine.variables[index].clone()) else {
            return FxHashMap::default();
        };
        let mut made = FxHashMap::default();
        for (first, end) in ends {
            let elements = end.next_multiple_of(ALIGN);
            (variable.ty, variable.elements, variable.align, variable.alias) =
                (Ty::Ub, elements, Align::Grf2, None);
            made.insert(first, VariableId(FIRST_VARIABLE + routine.variables.len() as u32));
            routine.variables.push(variable.clone());
        }
        made
    }

    /// Renames operands whose parts are in new variables.
    fn operands(
        &self,
        routine: &mut Routine,
        made: &FxHashMap<Unit, VariableId>,
        register_bytes: u32,
    ) {
        let mut aliases: FxHashMap<(Unit, Ty), VariableId> = FxHashMap::default();
        for &Within { insn, operand, unit, at } in &self.within {
            let Some(&placed) = self.placed.get(&unit) else { continue };
            let Some(&whole) = made.get(&placed.first) else { continue };
            // The second instruction of a pair has no operands any more.
            let Some(operand) = routine.code[insn].operands.get_mut(operand) else { continue };
            let named = match operand {
                Operand::General(general) => &mut general.variable,
                Operand::Raw(raw) => &mut raw.variable,
                _ => continue,
            };
            let Some(index) = named.0.checked_sub(FIRST_VARIABLE) else { continue };
            let Some(variable) = routine.variables.get(index as usize) else { continue };
            let (ty, size) = (variable.ty, variable.ty.size());
            let part = self.splits.get(&unit.root).copied().unwrap_or(0);
            let mut alias = variable.clone();
            (alias.elements, alias.alias) = (part / size, Some((whole, placed.at)));
            *named = *aliases.entry((unit, ty)).or_insert_with(|| {
                routine.variables.push(alias);
                VariableId(FIRST_VARIABLE + routine.variables.len() as u32 - 1)
            });
            match operand {
                Operand::General(general) => {
                    general.row = (at / register_bytes) as u8;
                    general.column = (at % register_bytes / size) as u8;
                }
                Operand::Raw(raw) => raw.offset = at,
                _ => {}
            }
        }
    }
}

/// Replaces the second instruction of a pair. It keeps its place, and still counts.
pub fn nothing(insn: &mut Instruction) {
    const YIELD: u8 = 0x5f;
    if let Some(row) = table::find(YIELD, None) {
        *insn = Instruction {
            row,
            exec: None,
            predicate: None,
            saturate: false,
            operands: Default::default(),
            ..*insn
        };
    }
}
