//! The variables that address variables may name.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::variables::{RootId, Roots};
use crate::instruction::{Modifier, Operand};
use crate::module::Module;
use crate::table::Field;

/// The roots that each address variable may name.
pub struct Pointees {
    of: FxHashMap<RootId, BTreeSet<RootId>>,
    /// Roots that are the only root of each address variable that may name them.
    alone: BTreeSet<RootId>,
}

impl Pointees {
    /// Analyses routines, which are indices into the module.
    pub fn new(module: &Module, routines: &[usize], roots: &Roots) -> Pointees {
        let mut of: FxHashMap<RootId, BTreeSet<RootId>> = FxHashMap::default();
        let (mut copies, mut unknown) = (vec![], false);
        for (number, &index) in routines.iter().enumerate() {
            for insn in &module.routines[index].code {
                let written = insn.operands.iter().zip(insn.row.operands());
                for (operand, _) in written.filter(|(_, field)| *field == Field::Destination) {
                    let Operand::Address { address, .. } = *operand else { continue };
                    let to = roots.address(number, address);
                    match insn.operands.get(1).filter(|_| insn.row.name == "addr_add") {
                        Some(&Operand::AddressOf {
                            of: variable,
                            modifier: Modifier::None,
                            ..
                        }) => {
                            of.entry(to).or_default().insert(roots.variable(number, variable).0);
                        }
                        Some(&Operand::Address { address, .. }) => {
                            copies.push((to, roots.address(number, address)))
                        }
                        _ => unknown = true,
                    }
                }
            }
        }
        let mut changes = true;
        while std::mem::take(&mut changes) {
            for &(to, from) in &copies {
                let more = of.get(&from).cloned().unwrap_or_default();
                let known = of.entry(to).or_default();
                let before = known.len();
                known.extend(more);
                changes |= known.len() != before;
            }
        }
        let mut alone: BTreeSet<RootId> =
            of.values().flatten().copied().filter(|_| !unknown).collect();
        for several in of.values().filter(|roots| roots.len() > 1) {
            alone.retain(|root| !several.contains(root));
        }
        Pointees { of, alone }
    }

    /// Returns the root that an address variable names.
    ///
    /// Returns None unless each address variable that may name the root names only this root.
    pub fn only(&self, address: RootId) -> Option<RootId> {
        let root = *self.of.get(&address)?.first()?;
        self.alone.contains(&root).then_some(root)
    }
}
