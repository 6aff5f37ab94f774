//! Merges halves of instructions before lifting.
//!
//! Where registers have 32 bytes, compilers write an operation of 32 lanes as two instructions of
//! 16, `M1` and `M5`, or as four of 8, each with its own variables. Lifting each half would double
//! the work. So pairs that follow each other closely become one instruction, and their variables
//! become parts of one variable.
//!
//! If a message has several components, `RG`, each half has all of them, but the whole message has
//! both halves of a component before the next component. So `split` takes the variables apart, into
//! parts that are placed separately.
//!
//! Merging changes one thing only: a fault in a lane of the second half names the first half's
//! instruction. The second instruction stays, and does nothing.

mod accesses;
mod detours;
mod rewrite;
mod split;
mod webs;

use std::borrow::Cow;
use std::collections::BTreeSet;

use accesses::{Accesses, raw_operands};
use rewrite::Plan;
use rustc_hash::FxHashMap;
use split::Splits;

use super::variables::{ADDRESS_BYTES, MAX_BYTES, RootId, Roots};
use crate::instruction::{Combine, General, Indirect, Instruction, Operand, Raw};
use crate::module::{AddressId, Module, VariableId};
use crate::predefined::FIRST_VARIABLE;
use crate::table::Field;
use crate::types::{Exec, Region, Ty};

/// The most instructions from a first half to its second half.
const DISTANCE: usize = 8;
/// The number of rounds: quarters become halves, then halves become whole.
const ROUNDS: usize = 2;
/// The most elements of an address variable, because operands name elements by a byte.
const MAX_ADDRESSES: u32 = 1 << 8;
/// The number of attempts with different variables split. After them, no variable is split.
const SPLITS: usize = 4;

/// Returns a module whose routines have merged pairs of instructions.
pub fn joined(module: &Module) -> Cow<'_, Module> {
    let mut module = webs::apart(detours::without(module));
    for _ in 0..ROUNDS {
        for number in 0..module.routines.len() {
            let roots = Roots::new(&module, &[number]);
            let plan = Joining::new(&module, number, &roots).plan();
            if !plan.pairs.is_empty() {
                plan.apply(module.to_mut(), number, &roots);
            }
        }
    }
    module
}

/// A row of bytes that is placed as a whole: a root, or the part of a root from a byte on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Unit {
    root: RootId,
    start: u32,
}

/// The place of a unit, in bytes from the first unit of its group.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Placed {
    first: Unit,
    at: u32,
}

/// A condition for two operands to be halves of one: `high` begins `distance` bytes behind `low`.
struct Condition {
    low: Unit,
    high: Unit,
    distance: u32,
}

/// The search for the pairs of a routine.
struct Joining<'a> {
    module: &'a Module,
    register_bytes: u32,
    number: usize,
    roots: &'a Roots,
    placed: FxHashMap<Unit, Placed>,
    splits: Splits,
    /// Roots whose addresses are taken.
    addressed: BTreeSet<RootId>,
}

/// Elements of an operand: the place of the first, and the bytes from one element to the next.
struct Elements {
    root: RootId,
    at: u32,
    step: u32,
}

/// Returns the distance of a region's elements; None if they are not evenly spaced.
fn stride(region: Region) -> Option<u32> {
    let horizontal = u32::from(region.horizontal?);
    match (region.vertical, region.width) {
        (None, None) => Some(horizontal),
        (Some(vertical), Some(1)) => Some(vertical.into()),
        (Some(vertical), Some(width)) => {
            (u32::from(vertical) == u32::from(width) * horizontal).then_some(horizontal)
        }
        _ => None,
    }
}

impl<'a> Joining<'a> {
    fn new(module: &'a Module, number: usize, roots: &'a Roots) -> Joining<'a> {
        let operands = module.routines[number].code.iter().flat_map(|insn| &insn.operands);
        let addressed = operands.filter_map(|operand| match *operand {
            Operand::AddressOf { of, .. } => Some(roots.variable(0, of).0),
            _ => None,
        });
        let addressed = addressed.collect();
        let register_bytes = module.register_bytes();
        let (placed, splits) = (FxHashMap::default(), Splits::default());
        Joining { module, register_bytes, number, roots, placed, splits, addressed }
    }

    fn plan(mut self) -> Plan {
        let mut whole = BTreeSet::new();
        let mut attempts = 0..SPLITS;
        let pairs = loop {
            self.splits =
                if attempts.next().is_some() { self.splits(&whole) } else { Splits::default() };
            self.placed.clear();
            let pairs = self.pairs();
            // All messages must find their components in order.
            let torn = self.torn(&pairs);
            if torn.is_empty() {
                break pairs;
            }
            whole.extend(torn);
        };
        let within = self.within_parts();
        Plan { pairs, placed: self.placed, splits: self.splits, within }
    }

    fn code(&self) -> &[Instruction] {
        &self.module.routines[self.number].code
    }

    fn ty(&self, variable: VariableId) -> Ty {
        self.module.routines[self.number].ty(variable)
    }

    fn general(&self, general: &General) -> Option<Elements> {
        let (root, offset) = self.roots.variable(0, general.variable);
        let size = self.ty(general.variable).size();
        let at = u32::from(general.row) * self.register_bytes + u32::from(general.column) * size;
        Some(Elements { root, at: offset.checked_add(at)?, step: stride(general.region)? * size })
    }

    fn raw(&self, raw: Raw, step: u32) -> Option<Elements> {
        let (root, offset) = self.roots.variable(0, raw.variable);
        Some(Elements { root, at: offset.checked_add(raw.offset)?, step })
    }

    /// Returns the elements of an address variable, from `element` on.
    fn addresses(&self, address: AddressId, element: u8) -> Elements {
        let root = self.roots.address(0, address);
        Elements { root, at: u32::from(element) * ADDRESS_BYTES, step: ADDRESS_BYTES }
    }

    /// Returns the first and the second instruction of each pair.
    fn pairs(&mut self) -> Vec<(usize, usize)> {
        let all = Accesses::of_all(self.code(), self);
        let mut pairs = vec![];
        let mut taken = vec![false; all.len()];
        for first in 0..all.len() {
            if taken[first] {
                continue;
            }
            for second in first + 1..all.len().min(first + 1 + DISTANCE) {
                if all[second - 1].is_none() {
                    break;
                }
                // A taken instruction has already moved to its first half, before `first`.
                let between = || {
                    (first + 1..second)
                        .filter(|&one| !taken[one])
                        .filter_map(|one| all[one].as_ref())
                };
                let Some(conditions) = self.are_halves(first, second) else { continue };
                let (Some(a), Some(b)) = (&all[first], &all[second]) else { continue };
                if !taken[second]
                    && a.may_be_one_with(b)
                    && between().all(|one| b.may_pass(one))
                    && self.place(&conditions)
                {
                    taken[second] = true;
                    pairs.push((first, second));
                    break;
                }
            }
        }
        pairs
    }

    /// Returns the conditions on the variables of two instructions; None if they are not halves of
    /// one.
    fn are_halves(&self, first: usize, second: usize) -> Option<Vec<Condition>> {
        let (a, b) = (&self.code()[first], &self.code()[second]);
        let (of_a, of_b) = (a.exec?, b.exec?);
        let whole = of_a.size.checked_mul(2)?;
        let fits = u32::from(of_a.offset + whole) <= self.module.routines[self.number].simd_size();
        let follow = of_b == Exec { offset: of_a.offset + of_a.size, ..of_a };
        if !fits || !follow || of_a.size < 4 || of_a.offset % whole != 0 {
            return None;
        }
        let same = a.row == b.row && a.saturate == b.saturate && a.predicate == b.predicate;
        if !same
            || a.predicate.is_some_and(|used| used.combine != Combine::None)
            || a.operands.len() != b.operands.len()
        {
            return None;
        }
        let raws = if is_of_lanes(a) { vec![] } else { raw_operands(a)? };
        let mut conditions = vec![];
        for (n, (x, y)) in a.operands.iter().zip(&b.operands).enumerate() {
            let mut components = (1, 0);
            let elements = match (x, y) {
                (Operand::General(x), Operand::General(y))
                    if (x.region, x.modifier) == (y.region, y.modifier) =>
                {
                    if self.ty(x.variable) != self.ty(y.variable) {
                        return None;
                    }
                    (self.general(x)?, self.general(y)?)
                }
                (Operand::Raw(x), Operand::Raw(y)) if *x != Raw::NULL && *y != Raw::NULL => {
                    let of = raws.iter().find(|one| one.operand == n)?;
                    components = (of.components, of.pitch(of_a, self.register_bytes));
                    (self.raw(*x, of.step)?, self.raw(*y, of.step)?)
                }
                (
                    &Operand::Address { address, element, width, modifier },
                    &Operand::Address {
                        address: other,
                        element: second,
                        width: same_width,
                        modifier: same,
                    },
                ) if (width, modifier) == (same_width, same) && (width > 1 || n == 0) => {
                    (self.addresses(address, element), self.addresses(other, second))
                }
                // Each lane has an address of its own.
                (Operand::Indirect(x), Operand::Indirect(y))
                    if (x.region.vertical, x.region.width) == (None, Some(1)) =>
                {
                    if *x != (Indirect { address: x.address, element: x.element, ..*y }) {
                        return None;
                    }
                    (self.addresses(x.address, x.element), self.addresses(y.address, y.element))
                }
                (Operand::Indirect(_), _) => return None,
                // A vector of immediates starts over after eight elements.
                (Operand::Immediate { ty: Ty::V | Ty::Uv | Ty::Vf, .. }, _)
                    if of_a.size % 8 != 0 =>
                {
                    return None;
                }
                _ if x == y => continue,
                _ => return None,
            };
            let (x, y) = elements;
            if x.step == 0 {
                if (x.root, x.at) != (y.root, y.at) {
                    return None;
                }
                continue;
            }
            conditions.extend(self.conditions(
                &x,
                &y,
                u32::from(of_a.size) * x.step,
                components,
            )?);
        }
        Some(conditions)
    }

    /// Returns the conditions for halves of `bytes` bytes in each component, `pitch` bytes apart.
    fn conditions(
        &self,
        x: &Elements,
        y: &Elements,
        bytes: u32,
        (components, pitch): (u32, u32),
    ) -> Option<Vec<Condition>> {
        if components > 1 && pitch != bytes {
            return None;
        }
        let (start, from) = self.unit(x.root, x.at);
        let mut conditions = vec![];
        for component in 0..components {
            let [(low, at), (high, behind)] =
                [x, y].map(|one| self.unit(one.root, one.at + component * pitch));
            // In the whole message each component has both halves.
            let distance = (from + component * 2 * pitch).checked_sub(at)?;
            conditions.push(Condition { low: start, high: low, distance });
            conditions.push(Condition { low, high, distance: (at + bytes).checked_sub(behind)? });
        }
        Some(conditions)
    }

    fn bytes(&self, unit: Unit) -> u32 {
        self.splits.get(&unit.root).copied().unwrap_or(self.roots.get(unit.root).bytes)
    }

    fn placed(&self, unit: Unit) -> Placed {
        self.placed.get(&unit).copied().unwrap_or(Placed { first: unit, at: 0 })
    }

    /// Places units as the conditions require, or changes nothing if that is impossible.
    fn place(&mut self, conditions: &[Condition]) -> bool {
        let before = self.placed.clone();
        let fits = conditions.iter().all(|condition| self.put(condition));
        if !fits {
            self.placed = before;
        }
        fits
    }

    fn put(&mut self, condition: &Condition) -> bool {
        let (low, high) = (self.placed(condition.low), self.placed(condition.high));
        if low.first == high.first {
            return low.at + condition.distance == high.at;
        }
        // Predefined variables and variables that all routines share must not move.
        let is_shared = |unit: &Unit| {
            unit.root.0 < FIRST_VARIABLE && self.roots.get(unit.root).routine.is_none()
        };
        if [low.first, high.first].iter().any(is_shared) {
            return false;
        }
        // `high` must begin its group, so that the group can move behind `low`.
        if high.at != 0 {
            return false;
        }
        let start = low.at + condition.distance;
        let members = |of: Unit| -> Vec<(Unit, u32)> {
            let others = self
                .placed
                .iter()
                .filter(|(_, placed)| placed.first == of)
                .map(|(&unit, placed)| (unit, placed.at));
            others.chain((!self.placed.contains_key(&of)).then_some((of, 0))).collect()
        };
        let (lows, highs) = (members(low.first), members(high.first));
        let apart = |&(a, at): &(Unit, u32)| {
            let end = at + self.bytes(a);
            highs
                .iter()
                .all(|&(b, behind)| start + behind >= end || start + behind + self.bytes(b) <= at)
        };
        let end = highs.iter().map(|&(unit, at)| start + at + self.bytes(unit)).max().unwrap_or(0);
        let most = if self.roots.is_address(low.first.root) {
            MAX_ADDRESSES * ADDRESS_BYTES
        } else {
            MAX_BYTES
        };
        if !lows.iter().all(apart) || end > most {
            return false;
        }
        let first = low.first;
        self.placed.entry(first).or_insert(Placed { first, at: 0 });
        for (unit, at) in highs {
            self.placed.insert(unit, Placed { first, at: start + at });
        }
        true
    }
}

/// Returns whether an instruction treats each lane alike, and all its operands are regions.
fn is_of_lanes(insn: &Instruction) -> bool {
    let plain = [
        Field::Exec,
        Field::Predicate,
        Field::Destination,
        Field::Source,
        Field::AddressOf,
        Field::Byte,
        Field::Sub,
    ];
    let others = [
        "setp", "madw", "dp2", "dp3", "dp4", "dph", "line", "plane", "sad2", "sad2add", "movs",
        "add3.o", "ifcall",
    ];
    insn.row.has(Field::Destination)
        && insn.row.fields.iter().all(|field| plain.contains(field))
        && !others.contains(&insn.row.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    /// Returns the instructions of a body that are left.
    pub(super) fn left(body: &str) -> Vec<String> {
        let mut text = String::from(".version 4.2\n.kernel \"k\"\n");
        for name in ["A", "B", "C", "D", "E", "F"] {
            text += &format!(".decl {name} v_type=G type=d num_elts=16 align=GRF\n");
        }
        text += ".decl Q v_type=G type=q num_elts=16 align=GRF\n.decl R v_type=G type=q num_elts=16 align=GRF\n.decl S v_type=G type=d num_elts=1 align=dword\n";
        text += ".decl W v_type=G type=d num_elts=32 align=GRF\n.decl X v_type=G type=d num_elts=32 align=GRF\n.decl P1 v_type=P num_elts=32\n.decl A0 v_type=A num_elts=16\n.decl T6 v_type=T num_elts=1\n.kernel_attr SimdSize=32\nmain:\n";
        let module = text::read(format!("{text}{body}\nret (M1, 1)\n").as_bytes())
            .unwrap_or_else(|errors| panic!("{errors}"));
        let joined = joined(&module);
        let routine = &joined.routines[0];
        let kept =
            routine.code.iter().filter(|insn| !matches!(insn.row.name, "yield" | "label" | "ret"));
        kept.map(|insn| text::instruction_text(routine, insn)).collect()
    }

    #[test]
    fn pairs_become_one() {
        let body = "add (M1, 16) A(0,0)<1> C(0,0)<1;1,0> S(0,0)<0;1,0>\nadd (M5, 16) B(0,0)<1> D(0,0)<1;1,0> S(0,0)<0;1,0>\n\
                    cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 0x5:d\ncmp.lt (M5, 16) P1 B(0,0)<1;1,0> 0x5:d\n\
                    (P1) mov (M1, 16) W(0,0)<1> A(0,0)<1;1,0>\n(P1) mov (M5, 16) W(2,0)<1> B(0,0)<1;1,0>\n\
                    movs (M1_NM, 1) T6(0) 0x1:ud\ngather_scaled.4 (M1, 16) T6 0x0:ud A.0 E.0\nmovs (M1_NM, 1) T6(0) 0x1:ud\ngather_scaled.4 (M5, 16) T6 0x0:ud B.0 F.0";
        let expected = [
            "add (M1, 32) A(0,0)<1> C(0,0)<1;1,0> S(0,0)<0;1,0>",
            "cmp.lt (M1, 32) P1 A(0,0)<1;1,0> 0x5:d",
            "(P1) mov (M1, 32) W(0,0)<1> A(0,0)<1;1,0>",
            "movs (M1_NM, 1) T6(0) 0x1:ud",
            "gather_scaled.4 (M1, 32) T6 0x0:ud A.0 E.0",
            "movs (M1_NM, 1) T6(0) 0x1:ud",
        ];
        assert_eq!(left(body), expected);
    }

    #[test]
    fn quarters_become_halves_and_those_whole() {
        let body = "mov (M1, 8) Q(0,0)<1> A(0,0)<1;1,0>\nmov (M3, 8) Q(2,0)<1> A(1,0)<1;1,0>\nmov (M5, 8) R(0,0)<1> B(0,0)<1;1,0>\nmov (M7, 8) R(2,0)<1> B(1,0)<1;1,0>";
        assert_eq!(left(body), ["mov (M1, 32) Q(0,0)<1> A(0,0)<1;1,0>"]);
    }

    #[test]
    fn components_are_put_together() {
        let loads = "gather4_scaled.RG (M1, 16) T6 0x0:ud A.0 W.0\ngather4_scaled.RG (M5, 16) T6 0x0:ud B.0 X.0\n";
        let moves = "mov (M1, 16) Q(0,0)<1> W(2,0)<1;1,0>\nmov (M5, 16) R(0,0)<1> X(2,0)<1;1,0>";
        let expected = [
            "gather4_scaled.RG (M1, 32) T6 0x0:ud A.0 W.0",
            "mov (M1, 32) Q(0,0)<1> W(0,0)<1;1,0>",
        ];
        assert_eq!(left(&format!("{loads}{moves}")), expected);
        // Another instruction reads both components at once, or has other halves.
        let across = "mov (M1, 16) Q(0,0)<1> W(1,0)<1;1,0>\nmov (M5, 16) R(0,0)<1> X(1,0)<1;1,0>";
        assert_eq!(left(&format!("{loads}{across}")).len(), 4);
        let other = "scatter4_scaled.RG (M5, 16) T6 0x0:ud A.0 W.0";
        assert_eq!(left(&format!("{loads}{other}")).len(), 3);
    }

    #[test]
    fn what_depends_on_order_stays() {
        let two = |body: &str| {
            let left = left(body);
            assert!(left.iter().filter(|line| line.contains(", 16)")).count() >= 2, "{left:?}");
        };
        // The second instruction reads the first one's result.
        two(
            "add (M1, 16) A(0,0)<1> C(0,0)<1;1,0> 0x1:d\nadd (M5, 16) B(0,0)<1> A(0,0)<1;1,0> 0x1:d",
        );
        // An instruction in between writes the second half's source, or reads its destination.
        two(
            "mov (M1, 16) A(0,0)<1> C(0,0)<1;1,0>\nmov (M1_NM, 1) D(0,3)<1> 0x1:d\nmov (M5, 16) B(0,0)<1> D(0,0)<1;1,0>",
        );
        two(
            "mov (M1, 16) A(0,0)<1> C(0,0)<1;1,0>\nmov (M1_NM, 1) S(0,0)<1> B(0,0)<0;1,0>\nmov (M5, 16) B(0,0)<1> D(0,0)<1;1,0>",
        );
        // Another scalar, another operation, another state, another partner.
        two(
            "add (M1, 16) A(0,0)<1> C(0,0)<1;1,0> S(0,0)<0;1,0>\nadd (M5, 16) B(0,0)<1> D(0,0)<1;1,0> E(0,0)<0;1,0>",
        );
        two("mov (M1, 16) A(0,0)<1> C(0,0)<1;1,0>\nnot (M5, 16) B(0,0)<1> D(0,0)<1;1,0>");
        two(
            "movs (M1_NM, 1) T6(0) 0x1:ud\ngather_scaled.4 (M1, 16) T6 0x0:ud A.0 E.0\nmovs (M1_NM, 1) T6(0) 0x2:ud\ngather_scaled.4 (M5, 16) T6 0x0:ud B.0 F.0",
        );
        two(
            "mov (M1, 16) A(0,0)<1> C(0,0)<1;1,0>\nmov (M5, 16) B(0,0)<1> D(0,0)<1;1,0>\nmov (M1, 16) E(0,0)<1> A(0,0)<1;1,0>\nmov (M5, 16) F(0,0)<1> D(0,0)<1;1,0>",
        );
        // Other memory, and the end of a block.
        two(
            "lsc_load.ugm (M1, 16) A:d32 flat[Q]:a64\nlsc_store.ugm (M1, 16) flat[Q]:a64 C:d32\nlsc_load.ugm (M5, 16) B:d32 flat[R]:a64",
        );
        two("mov (M1, 16) A(0,0)<1> C(0,0)<1;1,0>\nhere:\nmov (M5, 16) B(0,0)<1> D(0,0)<1;1,0>");
    }
}
