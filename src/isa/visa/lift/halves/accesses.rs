//! The reads and writes of instructions that restrict their order.

use super::super::memory::Item;
use super::super::mode::Mode;
use super::super::variables::{ADDRESS_BYTES, RootId};
use super::webs::elements_of;
use super::{Joining, is_of_lanes};
use crate::instruction::{Instruction, Lsc, Operand, Raw, State};
use crate::module::AddressId;
use crate::table::Field;
use crate::types::Exec;
use crate::words::{AddressSize, Atomic};

/// A resource that instructions share.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Root(RootId),
    Predicate(u16),
    Surface(u8),
    Sampler(u8),
    Memory,
}

/// A part of a resource: bytes of a root, or lanes of a predicate.
#[derive(Clone, Copy)]
struct Part {
    what: What,
    start: u32,
    end: u32,
}

impl Part {
    fn whole(what: What) -> Part {
        Part { what, start: 0, end: u32::MAX }
    }

    fn meets(&self, other: &Part) -> bool {
        self.what == other.what && self.start < other.end && other.start < self.end
    }
}

/// Returns elements of an address variable as a part.
fn addresses(of: &Joining<'_>, address: AddressId, element: u8, count: u32) -> Part {
    let start = u32::from(element) * ADDRESS_BYTES;
    Part {
        what: What::Root(of.roots.address(0, address)),
        start,
        end: start + count * ADDRESS_BYTES,
    }
}

#[derive(Default)]
pub struct Accesses {
    reads: Vec<Part>,
    writes: Vec<Part>,
}

fn meet(some: &[Part], others: &[Part]) -> bool {
    some.iter().any(|one| others.iter().any(|other| one.meets(other)))
}

impl Accesses {
    /// Returns the accesses of an instruction that the next instruction may move across.
    ///
    /// None: the instruction begins or ends a block, or its accesses are unknown.
    pub fn of(insn: &Instruction, of: &Joining<'_>) -> Option<Accesses> {
        let mut all = Accesses::default();
        if matches!(insn.row.name, "lifetime" | "FILE" | "LOC" | "yield") {
            return Some(all);
        }
        if Mode::is_written(insn) {
            return None;
        }
        let is_movs = insn.row.name == "movs";
        let messages = raw_operands(insn);
        if !is_movs && !is_of_lanes(insn) && messages.is_none() {
            return None;
        }
        let exec = insn.exec?;
        let lanes = |what: What| Part {
            what,
            start: exec.offset.into(),
            end: u32::from(exec.offset + exec.size),
        };
        if let Some(used) = insn.predicate {
            all.reads.push(lanes(What::Predicate(used.predicate.0)));
        }
        for (n, (operand, field)) in insn.operands.iter().zip(insn.row.operands()).enumerate() {
            let mut written = field == Field::Destination;
            let part = match *operand {
                Operand::General(general) => {
                    let elements = of.general(&general);
                    match elements {
                        Some(one) => {
                            let size = of.ty(general.variable).size();
                            let end = one.at + (u32::from(exec.size) - 1) * one.step + size;
                            Part { what: What::Root(one.root), start: one.at, end }
                        }
                        None => Part::whole(What::Root(of.roots.variable(0, general.variable).0)),
                    }
                }
                Operand::Raw(raw) if raw == Raw::NULL => continue,
                Operand::Raw(raw) => {
                    let message = messages.as_ref()?.iter().find(|one| one.operand == n)?;
                    written = message.written;
                    let one = of.raw(raw, message.step)?;
                    let end = one.at + message.bytes(exec, of.register_bytes);
                    Part { what: What::Root(one.root), start: one.at, end }
                }
                Operand::Predicate { predicate, .. } => lanes(What::Predicate(predicate.0)),
                Operand::State { state: State::Surface(id), .. } | Operand::Surface(id) => {
                    Part::whole(What::Surface(id.0))
                }
                Operand::State { state: State::Sampler(id), .. } | Operand::Sampler(id) => {
                    Part::whole(What::Sampler(id.0))
                }
                Operand::Address { address, element, width, .. } => {
                    let count = if written || width > 1 { exec.size.into() } else { 1 };
                    addresses(of, address, element, count)
                }
                Operand::Indirect(ref indirect) => {
                    all.reads.push(addresses(
                        of,
                        indirect.address,
                        indirect.element,
                        elements_of(indirect, exec),
                    ));
                    let anywhere = of.addressed.iter().map(|&root| Part::whole(What::Root(root)));
                    if written {
                        all.writes.extend(anywhere)
                    } else {
                        all.reads.extend(anywhere)
                    }
                    continue;
                }
                Operand::Immediate { .. }
                | Operand::Number(_)
                | Operand::Lsc(_)
                | Operand::AddressOf { .. } => {
                    continue;
                }
                _ => return None,
            };
            if written { all.writes.push(part) } else { all.reads.push(part) }
        }
        if messages.is_some() {
            all.writes.push(Part::whole(What::Memory));
        }
        Some(all)
    }

    /// Returns the accesses of all instructions of a routine.
    ///
    /// A `movs` that sets a state variable to its present value has no accesses.
    pub fn of_all(code: &[Instruction], of: &Joining<'_>) -> Vec<Option<Accesses>> {
        let mut known: Vec<(&Operand, &Operand)> = vec![];
        code.iter()
            .map(|insn| {
                let accesses = Accesses::of(insn, of);
                match (&accesses, insn.row.name, &insn.operands[..]) {
                    (None, ..) => known.clear(),
                    (_, "movs", [to, from @ Operand::Immediate { .. }])
                        if insn.predicate.is_none() =>
                    {
                        if known.contains(&(to, from)) {
                            return Some(Accesses::default());
                        }
                        known.retain(|(one, _)| *one != to);
                        known.push((to, from));
                    }
                    (_, "movs", [to, ..]) => known.retain(|(one, _)| *one != to),
                    _ => {}
                }
                accesses
            })
            .collect()
    }

    /// Returns whether the second of two instructions may read before the first writes.
    ///
    /// It must neither read nor write registers that the first writes.
    pub fn may_be_one_with(&self, second: &Accesses) -> bool {
        let registers = |parts: &[Part]| {
            parts.iter().filter(|part| part.what != What::Memory).copied().collect::<Vec<_>>()
        };
        let (mine, others) = (registers(&self.writes), registers(&second.writes));
        !meet(&mine, &second.reads) && !meet(&mine, &others)
    }

    /// Returns whether an instruction may move before an earlier instruction.
    pub fn may_pass(&self, earlier: &Accesses) -> bool {
        !meet(&self.reads, &earlier.writes)
            && !meet(&self.writes, &earlier.writes)
            && !meet(&self.writes, &earlier.reads)
    }
}

/// A raw operand of a message.
#[derive(Clone, Copy)]
pub struct Elements {
    /// The operand's number.
    pub operand: usize,
    /// The bytes of an element. Each lane has one element in each component.
    pub step: u32,
    pub written: bool,
    pub components: u32,
}

impl Elements {
    /// Returns the bytes from one component to the next.
    pub fn pitch(&self, exec: Exec, register_bytes: u32) -> u32 {
        (u32::from(exec.size) * self.step).next_multiple_of(register_bytes)
    }

    /// Returns the bytes of the operand.
    pub fn bytes(&self, exec: Exec, register_bytes: u32) -> u32 {
        (self.components - 1) * self.pitch(exec, register_bytes) + u32::from(exec.size) * self.step
    }
}

/// Returns the raw operands of a message in which each lane has an address of its own.
pub fn raw_operands(insn: &Instruction) -> Option<Vec<Elements>> {
    let number = |n: usize| match insn.operands.get(n) {
        Some(Operand::Number(number)) => Some(*number),
        _ => None,
    };
    let one = |operand, step, written| Elements { operand, step, written, components: 1 };
    let atomic = |code: u32| Some(if Atomic::from_code(code)?.bits == 64 { 8 } else { 4 });
    Some(match insn.row.name {
        "gather_scaled" => vec![one(5, 4, false), one(6, 4, true)],
        "scatter_scaled" => vec![one(5, 4, false), one(6, 4, false)],
        name @ ("gather4_scaled" | "scatter4_scaled") => {
            let components = number(0)?.count_ones();
            if components == 0 {
                return None;
            }
            vec![one(4, 4, false), Elements { components, ..one(5, 4, name == "gather4_scaled") }]
        }
        name @ ("svm_gather" | "svm_scatter") => {
            let data = match (number(0)?, number(1)?) {
                (0, 0..=2) | (1, 0) => 4,
                (0, 3) | (2, 0) => 8,
                _ => return None,
            };
            vec![one(2, 8, false), one(3, data, name == "svm_gather")]
        }
        "svm_atomic" => {
            let data = atomic(number(0)?)?;
            vec![one(1, 8, false), one(2, data, false), one(3, data, false), one(4, data, true)]
        }
        "dword_atomic" => {
            let data = atomic(number(0)?)?;
            vec![one(2, 4, false), one(3, data, false), one(4, data, false), one(5, data, true)]
        }
        "typed_atomic" => {
            let data = atomic(number(0)?)?;
            let coordinates = (2..6).map(|n| one(n, 4, false));
            coordinates
                .chain([one(6, data, false), one(7, data, false), one(8, data, true)])
                .collect()
        }
        name if insn.row.has(Field::Lsc) && is_single(name) => {
            let Some(Operand::Lsc(lsc)) = insn.operands.first() else { return None };
            lsc_operands(lsc)?
        }
        _ => return None,
    })
}

/// Returns whether an untyped LSC message has one address for each lane.
fn is_single(name: &str) -> bool {
    matches!(name, "lsc_load" | "lsc_store") || name.starts_with("lsc_atomic_")
}

fn lsc_operands(lsc: &Lsc) -> Option<Vec<Elements>> {
    if lsc.transposed {
        return None;
    }
    let address = match lsc.address_size {
        AddressSize::A16 => 2,
        AddressSize::A64 => 8,
        _ => 4,
    };
    let data = Item::of(lsc.data).register;
    let components = lsc.elements.into();
    let of = |operand, step, written, components| Elements { operand, step, written, components };
    Some(vec![
        of(2, data, true, components),
        of(3, address, false, 1),
        of(4, data, false, components),
        of(5, data, false, components),
    ])
}
