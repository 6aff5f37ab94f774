//! Gives each value of an address variable a variable of its own.
//!
//! Compilers have few address variables, so both halves of the lanes use one in turn. Without new
//! variables, halves would not be found.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::accesses::raw_operands;
use super::is_of_lanes;
use crate::instruction::{Indirect, Instruction, Operand};
use crate::module::{AddressId, Module, Routine};
use crate::table::Field;
use crate::types::Exec;

/// The most address variables of a routine.
const MAX_ADDRESSES: usize = 1 << 12;

/// Returns a module with an address variable for each value.
pub fn apart(mut module: Cow<'_, Module>) -> Cow<'_, Module> {
    for number in 0..module.routines.len() {
        let webs = Webs::of(&module.routines[number]);
        if !webs.is_empty() {
            webs.rename(&mut module.to_mut().routines[number]);
        }
    }
    module
}

/// Returns the number of address elements that an indirect operand uses, from its own element on.
pub fn elements_of(indirect: &Indirect, exec: Exec) -> u32 {
    match (indirect.region.vertical, indirect.region.width) {
        (None, Some(width)) => u32::from(exec.size).div_ceil(u32::from(width.max(1))),
        _ => 1,
    }
}

/// A write of all elements that later reads use, up to the next write.
#[derive(Clone, Copy)]
struct Web {
    number: usize,
    exec: Exec,
    element: u32,
}

#[derive(Default)]
struct Webs {
    /// The operands of each variable, with the number of the write that they are or read.
    operands: FxHashMap<AddressId, Vec<(usize, usize, usize)>>,
}

impl Webs {
    fn of(routine: &Routine) -> Webs {
        let mut webs = Webs::default();
        let mut count: FxHashMap<AddressId, usize> = FxHashMap::default();
        let mut current: FxHashMap<AddressId, Web> = FxHashMap::default();
        let mut others: BTreeSet<AddressId> = BTreeSet::new();
        for (at, insn) in routine.code.iter().enumerate() {
            if !goes_on(insn) {
                current.clear();
            }
            let exec = insn.exec.unwrap_or(Exec { size: 1, offset: 0, no_mask: true });
            let mut written = None;
            for ((n, operand), field) in insn.operands.iter().enumerate().zip(insn.row.operands()) {
                let (address, element, count) = match *operand {
                    Operand::Address { address, element, .. } if field == Field::Destination => {
                        written = Some((address, element, n));
                        continue;
                    }
                    Operand::Address { address, element, width, .. } => {
                        (address, element, if width > 1 { exec.size.into() } else { 1 })
                    }
                    Operand::Indirect(ref indirect) => {
                        (indirect.address, indirect.element, elements_of(indirect, exec))
                    }
                    _ => continue,
                };
                match current.get(&address) {
                    Some(web) if web.has(exec, element.into(), count) => {
                        webs.operands.entry(address).or_default().push((at, n, web.number));
                    }
                    _ => drop(others.insert(address)),
                }
            }
            if let Some((address, element, n)) = written {
                let number = count.entry(address).or_insert(0);
                current.insert(address, Web { number: *number, exec, element: element.into() });
                webs.operands.entry(address).or_default().push((at, n, *number));
                *number += 1;
                if insn.predicate.is_some() {
                    others.insert(address);
                }
            }
        }
        webs.operands.retain(|address, _| {
            !others.contains(address) && count.get(address).is_some_and(|&count| count > 1)
        });
        webs
    }

    fn is_empty(&self) -> bool {
        self.operands.is_empty()
    }

    fn rename(self, routine: &mut Routine) {
        let mut all: Vec<_> = self.operands.into_iter().collect();
        all.sort_unstable_by_key(|(address, _)| *address);
        for (address, operands) in all {
            let first = routine.addresses.len();
            let more = operands.iter().map(|&(.., number)| number).max().unwrap_or(0);
            let Some(variable) = routine.addresses.get(usize::from(address.0)).cloned() else {
                continue;
            };
            if first + more > MAX_ADDRESSES {
                return;
            }
            routine.addresses.extend(std::iter::repeat_n(variable, more));
            for (at, n, number) in operands {
                let Some(number) = number.checked_sub(1) else { continue };
                let (Operand::Address { address, .. }
                | Operand::Indirect(Indirect { address, .. })) = &mut routine.code[at].operands[n]
                else {
                    continue;
                };
                *address = AddressId((first + number) as u16);
            }
        }
    }
}

impl Web {
    /// Returns whether the web wrote the elements that an instruction with these lanes reads.
    fn has(&self, exec: Exec, element: u32, count: u32) -> bool {
        let within =
            element >= self.element && element + count <= self.element + u32::from(self.exec.size);
        let own = exec == self.exec && element == self.element && count == u32::from(exec.size);
        within && (self.exec.no_mask || own)
    }
}

/// Returns whether control reaches an instruction only from the previous one, with equal lanes.
fn goes_on(insn: &Instruction) -> bool {
    is_of_lanes(insn)
        || raw_operands(insn).is_some()
        || matches!(insn.row.name, "movs" | "lifetime" | "FILE" | "LOC" | "yield")
}

#[cfg(test)]
mod tests {
    use super::super::tests::left;

    #[test]
    fn shuffles_of_halves_become_one() {
        let half = |exec: &str, to: char, by: char| {
            format!(
                "addr_add ({exec}, 16) A0(0)<1> &W {by}(0,0)<1;1,0>\nmov ({exec}, 16) {to}(0,0)<1> r[A0(0),0]<1,0>:d\n"
            )
        };
        let both = format!("{}{}", half("M1", 'A', 'C'), half("M5", 'B', 'D'));
        let expected = [
            "addr_add (M1, 32) A2(0)<1> &W[0] C(0,0)<1;1,0>",
            "mov (M1, 32) A(0,0)<1> r[A2(0),0]<1,0>:d",
        ];
        let found = left(&both);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found.iter().zip(expected).all(|(found, expected)| found.contains(&expected[..16])),
            "{found:?}"
        );
        // The second half reads through the first half's addresses.
        let again = format!("{}mov (M5, 16) B(0,0)<1> r[A0(0),0]<1,0>:d\n", half("M1", 'A', 'C'));
        assert_eq!(left(&again).len(), 3);
        // An instruction in between writes the source.
        let between = format!(
            "{}mov (M1_NM, 1) W(0,3)<1> 0x1:d\n{}",
            half("M1", 'A', 'C'),
            half("M5", 'B', 'D')
        );
        assert_eq!(
            left(&between).iter().filter(|line| line.starts_with("mov (M1, 16)")).count(),
            1
        );
    }
}
