//! Where the bytes of roots live. Bytes that are accessed together are a *component*: registers of lanes if each lane always accesses its own
//! element, scalars if single elements are accessed, and else a part of an array of bytes.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use warploom_ir::{CellKind, FunctionBuilder, Reg, Type};

use super::known::{self, Payload};
use super::survey::{Access, PredicateAccess, Survey, What};
use super::variables::{RootId, Roots};

/// Bytes of a root that live together.
#[derive(Clone, Debug)]
pub struct Component {
    pub start: u32,
    pub end: u32,
    pub place: RootStorage,
}

#[derive(Clone, Debug)]
pub enum RootStorage {
    /// In an array; `base` is where the root begins there.
    Bytes { reg: Reg, base: u32 },
    /// One after the other.
    Scalars(Cells),
    /// Lane `l` has the cells from byte `zero + l * pitch` of the root on.
    Lanes { zero: i64, pitch: u32, cells: Cells },
    /// Bytes of the payload, which nothing writes; byte 0 of the root is at `at` there.
    Payload { at: i64 },
    /// What hardware says.
    Hardware,
    /// Each lane's local id of an axis, words.
    LocalIds { axis: u8, zero: i64 },
}

/// Cells of so many bytes each, one behind the other.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Where the first begins: a byte of the root, or 0 of what a lane has.
    pub first: u32,
    pub size: u32,
    pub regs: SmallVec<[Cell; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    File(Reg),
    /// A value of one block.
    Block(u32),
}

/// An integer type of so many bytes.
pub fn int_type(bytes: u32) -> Type {
    match bytes {
        1 => Type::I8,
        2 => Type::I16,
        4 => Type::I32,
        _ => Type::I64,
    }
}

/// What the payload has of a root: `size` bytes from `start` on, which are at `at` in the payload.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    pub root: RootId,
    pub start: u32,
    pub at: u32,
    pub size: u32,
}

/// How all is accessed.
pub struct Accessed<'a> {
    pub roots: &'a Roots,
    pub survey: &'a Survey,
    /// Roots that addresses are taken of.
    pub addressed: &'a BTreeSet<RootId>,
    pub lanes: u32,
}

impl Accessed<'_> {
    /// Whether a root has an element for each lane, of which lanes pick those of others: it is a register of lanes then.
    fn is_row(&self, root: RootId, inputs: &[Input]) -> bool {
        let (Some(&Some(size)), Some(accesses)) =
            (self.survey.rows.get(&root), self.survey.roots.get(&root))
        else {
            return false;
        };
        let end = self.lanes * size;
        let of: Vec<&Access> = accesses.iter().collect();
        let is_row = |found: Shape| matches!(found, Shape::Lanes { zero: 0, pitch, size: cell } if (pitch, cell) == (size, size));
        let within = of.iter().all(|access| access.end <= end);
        within && !is_given(root, inputs, 0, end) && shape(0, end, &of).is_some_and(is_row)
    }
}

/// Where all roots live.
pub struct Storage {
    roots: FxHashMap<RootId, Vec<Component>>,
    /// All that addresses are taken of is in one array: where each root begins.
    pub arena: FxHashMap<RootId, u32>,
    pub arena_reg: Reg,
    /// Of components that begin as the payload, or as hardware has them.
    pub initial: Vec<(RootId, Component)>,
    /// Predicates of which no other block sees what one leaves there, nor lanes that are not active, by number.
    pub local_predicates: FxHashSet<u32>,
    /// If nothing is known of the accesses yet.
    everything: Option<Component>,
}

impl Storage {
    /// All in an array, before accesses are known.
    pub fn general(function: &mut FunctionBuilder) -> Storage {
        let reg = function.bank("all", CellKind::Bytes(super::variables::MAX_BYTES), 1).reg(0);
        let everything =
            Component { start: 0, end: u32::MAX, place: RootStorage::Bytes { reg, base: 0 } };
        let (roots, arena) = (FxHashMap::default(), FxHashMap::default());
        let local_predicates = FxHashSet::default();
        Storage {
            roots,
            arena,
            arena_reg: reg,
            initial: vec![],
            local_predicates,
            everything: Some(everything),
        }
    }

    /// By how roots are accessed.
    pub fn new(
        of: &Accessed<'_>,
        payload: (&Payload, &[Input]),
        function: &mut FunctionBuilder,
    ) -> Storage {
        let Accessed { roots, survey, .. } = *of;
        let mut arena = FxHashMap::default();
        let mut bytes = 0_u32;
        for &root in of.addressed.iter().filter(|&&root| !of.is_row(root, payload.1)) {
            arena.insert(root, bytes);
            bytes = (bytes + roots.get(root).bytes).next_multiple_of(64);
        }
        let arena_reg = function.bank("indirect", CellKind::Bytes(bytes.max(1)), 1).reg(0);
        let (payload, inputs) = payload;
        let mut maker =
            Maker { function, made: FxHashMap::default(), arrays: FxHashMap::default(), blocks: 0 };
        let predicates =
            survey.predicates.iter().filter(|(_, accesses)| is_local_predicate(accesses));
        let local_predicates = predicates.map(|(&number, _)| number).collect();
        let (roots_of, initial) = (FxHashMap::default(), vec![]);
        let mut storage = Storage {
            roots: roots_of,
            arena,
            arena_reg,
            initial,
            local_predicates,
            everything: None,
        };
        let mut all: Vec<(&RootId, &Vec<Access>)> = survey.roots.iter().collect();
        all.sort_by_key(|(root, _)| **root);
        for (&root, accesses) in all {
            let input: Vec<Input> =
                inputs.iter().copied().filter(|input| input.root == root).collect();
            let place =
                storage.arena.get(&root).map(|&base| RootStorage::Bytes { reg: arena_reg, base });
            let of = OfRoot {
                root,
                bytes: roots.get(root).bytes,
                input: &input,
                payload,
                indirect: place,
            };
            let components = of.components(accesses, &mut maker, &mut storage.initial);
            storage.roots.insert(root, components);
        }
        // Through an address all of it may be read.
        for (&root, &base) in &storage.arena {
            let (start, end, place) =
                (0, roots.get(root).bytes, RootStorage::Bytes { reg: arena_reg, base });
            if is_given(root, inputs, start, end) {
                storage.initial.push((root, Component { start, end, place }));
            }
        }
        storage.initial.sort_by_key(|(root, component)| (*root, component.start));
        maker.declare();
        storage
    }

    /// All components, root by root.
    pub fn components(&self) -> Vec<(RootId, &[Component])> {
        let mut all: Vec<_> =
            self.roots.iter().map(|(&root, components)| (root, components.as_slice())).collect();
        all.sort_by_key(|&(root, _)| root);
        all
    }

    /// The component that has a byte of a root; none if nothing accesses it.
    pub fn find(&self, root: RootId, at: u32) -> Option<&Component> {
        if let Some(all) = &self.everything {
            return Some(all);
        }
        let components = self.roots.get(&root)?;
        let after = components.partition_point(|component| component.start <= at);
        let found = components.get(after.checked_sub(1)?)?;
        (at < found.end).then_some(found)
    }
}

/// Makes registers: banks are by what they hold.
struct Maker<'f> {
    function: &'f mut FunctionBuilder,
    made: FxHashMap<(bool, Type), (warploom_ir::BankId, u32)>,
    /// Likewise of arrays, by their bytes.
    arrays: FxHashMap<u32, (warploom_ir::BankId, u32)>,
    blocks: u32,
}

impl Maker<'_> {
    fn cell(&mut self, lanes: bool, bytes: u32) -> Cell {
        let ty = int_type(bytes);
        let kind = if lanes { CellKind::Lane(ty) } else { CellKind::Uniform(ty) };
        let name = format!("{}{}", if lanes { "v" } else { "s" }, ty.bits());
        let function = &mut *self.function;
        let (bank, count) =
            self.made.entry((lanes, ty)).or_insert_with(|| (function.bank(name, kind, 0), 0));
        *count += 1;
        Cell::File(bank.reg(*count - 1))
    }

    fn block(&mut self) -> Cell {
        self.blocks += 1;
        Cell::Block(self.blocks)
    }

    fn array(&mut self, bytes: u32) -> Reg {
        // Few banks, as there may be many roots.
        let bytes = bytes.max(1).next_multiple_of(64);
        let function = &mut *self.function;
        let new = || (function.bank(format!("bytes{bytes}"), CellKind::Bytes(bytes), 0), 0);
        let (bank, count) = self.arrays.entry(bytes).or_insert_with(new);
        *count += 1;
        bank.reg(*count - 1)
    }

    /// Banks have as many registers as were made.
    fn declare(self) {
        for (bank, count) in self.made.into_values().chain(self.arrays.into_values()) {
            self.function.set_count(bank, count);
        }
    }
}

/// A root whose accesses are looked at.
struct OfRoot<'a> {
    root: RootId,
    bytes: u32,
    input: &'a [Input],
    payload: &'a Payload,
    /// Where it is in the array of what addresses are taken of.
    indirect: Option<RootStorage>,
}

impl OfRoot<'_> {
    fn components(
        &self,
        accesses: &[Access],
        maker: &mut Maker<'_>,
        initial: &mut Vec<(RootId, Component)>,
    ) -> Vec<Component> {
        let written = accesses.iter().any(|access| access.write) || self.indirect.is_some();
        let mut order: Vec<u32> = (0..accesses.len() as u32).collect();
        order.sort_by_key(|&n| accesses[n as usize].start);
        let mut components = vec![];
        let mut array = None;
        let mut rest = &order[..];
        while let Some(&first) = rest.first() {
            let (start, mut end) = (accesses[first as usize].start, accesses[first as usize].end);
            let mut count = 0;
            for &n in rest {
                let access = &accesses[n as usize];
                if access.start >= end {
                    break;
                }
                end = end.max(access.end);
                count += 1;
            }
            let mut mine = rest[..count].to_vec();
            // As they were lifted.
            mine.sort_unstable();
            let of: Vec<&Access> = mine.iter().map(|&n| &accesses[n as usize]).collect();
            rest = &rest[count..];
            let mut in_array = || {
                let place = || RootStorage::Bytes { reg: maker.array(self.bytes), base: 0 };
                self.indirect.clone().unwrap_or_else(|| array.get_or_insert_with(place).clone())
            };
            let given = is_given(self.root, self.input, start, end);
            let place =
                if self.indirect.is_some() { None } else { self.place(start, end, &of, written) };
            let place = match place {
                None => in_array(),
                Some(Shape::Place(place)) => place,
                Some(Shape::Scalars { first, size, count }) => {
                    let local = !given && is_local(&of, false, u64::from(size * count));
                    let cell = |_| if local { maker.block() } else { maker.cell(false, size) };
                    RootStorage::Scalars(Cells {
                        first,
                        size,
                        regs: (0..count).map(cell).collect(),
                    })
                }
                Some(Shape::Lanes { zero, pitch, size }) => {
                    let local = !given && is_local(&of, true, pitch.into());
                    let cell = |_| if local { maker.block() } else { maker.cell(true, size) };
                    let regs = (0..pitch / size).map(cell).collect();
                    RootStorage::Lanes { zero, pitch, cells: Cells { first: 0, size, regs } }
                }
            };
            let component = Component { start, end, place };
            let fixed = matches!(
                component.place,
                RootStorage::Payload { .. } | RootStorage::Hardware | RootStorage::LocalIds { .. }
            );
            if given && !fixed && self.indirect.is_none() {
                initial.push((self.root, component.clone()));
            }
            components.push(component);
        }
        components
    }

    /// None: only an array will do.
    fn place(&self, start: u32, end: u32, of: &[&Access], written: bool) -> Option<Shape> {
        let hardware = known::is_hardware(self.root) || self.root == known::R0_ROOT;
        let shape = shape(start, end, of)?;
        match shape {
            Shape::Scalars { .. } if hardware && !written => {
                Some(Shape::Place(RootStorage::Hardware))
            }
            Shape::Scalars { .. } if hardware => Some(shape),
            Shape::Lanes { .. } if hardware => None,
            _ if !is_given(self.root, self.input, start, end) => Some(shape),
            _ => {
                let input = self
                    .input
                    .iter()
                    .find(|input| start >= input.start && end <= input.start + input.size)?;
                let at = i64::from(input.at) - i64::from(input.start);
                match shape {
                    Shape::Scalars { .. } => {
                        let first = (i64::from(start) + at) as u32;
                        if self.payload.has_ids(first, first + (end - start)) {
                            return None;
                        }
                        Some(if written {
                            shape
                        } else {
                            Shape::Place(RootStorage::Payload { at })
                        })
                    }
                    Shape::Lanes { zero, pitch, .. } => {
                        let axis = self.payload.local_id(zero + at, pitch)?;
                        let whole = of.iter().all(|access| {
                            matches!(access.what, What::Lanes { size: 2, .. } | What::Scalar)
                        });
                        (whole && !written)
                            .then_some(Shape::Place(RootStorage::LocalIds { axis, zero }))
                    }
                    Shape::Place(_) => None,
                }
            }
        }
    }
}

/// Whether the payload or hardware gives some of these bytes of a root.
fn is_given(root: RootId, inputs: &[Input], start: u32, end: u32) -> bool {
    let given =
        |input: &Input| input.root == root && start < input.start + input.size && end > input.start;
    known::is_hardware(root) || root == known::R0_ROOT || inputs.iter().any(given)
}

/// What a component may be.
enum Shape {
    Place(RootStorage),
    Scalars { first: u32, size: u32, count: u32 },
    Lanes { zero: i64, pitch: u32, size: u32 },
}

fn shape(start: u32, end: u32, of: &[&Access]) -> Option<Shape> {
    let mut pitch = None;
    let mut zero = i64::MAX;
    for access in of {
        match access.what {
            What::Bytes => return None,
            What::Scalar => {}
            What::Lanes { stride, first, .. } => {
                if *pitch.get_or_insert(stride) != stride {
                    return None;
                }
                zero = zero.min(i64::from(access.start) - i64::from(first) * i64::from(stride));
            }
        }
    }
    match pitch {
        None => scalars(start, end, of),
        Some(pitch) => lanes(zero, pitch, of),
    }
}

fn scalars(start: u32, end: u32, of: &[&Access]) -> Option<Shape> {
    if of.iter().all(|access| (access.start, access.end) == (start, end)) {
        return Some(Shape::Scalars { first: start, size: end - start, count: 1 });
    }
    let first = start & !3;
    let fits = |access: &Access| match access.end - access.start {
        8 => access.start.is_multiple_of(4),
        size => access.start / 4 == (access.start + size - 1) / 4,
    };
    let count = (end - first).div_ceil(4);
    of.iter().all(|access| fits(access)).then_some(Shape::Scalars { first, size: 4, count })
}

fn lanes(zero: i64, pitch: u32, of: &[&Access]) -> Option<Shape> {
    let p = i64::from(pitch);
    // Where in a lane's bytes, and how many.
    let part = |access: &Access| match access.what {
        What::Lanes { size, first, .. } => {
            (i64::from(access.start) - zero - i64::from(first) * p, i64::from(size))
        }
        _ => ((i64::from(access.start) - zero).rem_euclid(p), i64::from(access.end - access.start)),
    };
    // Eight bytes are two cells if halves are written by themselves.
    let halves = pitch == 8 && of.iter().any(|access| access.write && part(access).1 < p);
    let size = if halves { 4 } else { pitch };
    let fits = |access: &Access| {
        let (within, bytes) = part(access);
        let crosses = halves && bytes <= 4 && within / 4 != (within + bytes - 1) / 4;
        within >= 0 && within + bytes <= p && i64::from(access.start) >= zero && !crosses
    };
    of.iter().all(|access| fits(access)).then_some(Shape::Lanes { zero, pitch, size })
}

/// Whether no other block sees what one leaves there: it is written first, as a whole.
fn is_local(of: &[&Access], lanes: bool, bytes: u64) -> bool {
    let Some(first) = of.first() else { return false };
    if !first.write || !first.plain || of.iter().any(|access| access.node != first.node) {
        return false;
    }
    if !lanes {
        return first.no_mask
            && u64::from(first.end - first.start) == bytes
            && matches!(first.what, What::Scalar);
    }
    let What::Lanes { size, first: lane, count, .. } = first.what else { return false };
    // A value has the lanes of its window, so that all writes have the same.
    let covers = |access: &Access| match access.what {
        What::Lanes { first, count: more, .. } if access.write => (first, more) == (lane, count),
        What::Lanes { first, count: more, .. } => first >= lane && first + more <= lane + count,
        _ => false,
    };
    u64::from(size) == bytes
        && of.iter().all(|access| covers(access))
        && (first.no_mask || of.iter().all(|access| access.write || access.plain))
}

/// Whether a predicate is written first, in one block that alone has it: all of its bits, or those of active lanes if others are not read.
fn is_local_predicate(accesses: &[PredicateAccess]) -> bool {
    let Some(first) = accesses.first() else { return false };
    let covers = first.whole || first.plain && accesses.iter().all(|one| one.write || one.plain);
    first.write && covers && accesses.iter().all(|one| one.node == first.node)
}
