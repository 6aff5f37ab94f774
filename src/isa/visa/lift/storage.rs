//! The storage of roots' bytes.
//!
//! Bytes that are accessed together are a *component*. A component is lane registers if each lane
//! always accesses its own element, scalars if single elements are accessed, and otherwise a part
//! of a byte array.

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
    /// Part of a byte array; the root begins at `base`.
    Bytes { reg: Reg, base: u32 },
    /// Consecutive scalars.
    Scalars(Cells),
    /// Lane `l` has the cells from byte `zero + l * pitch` of the root on.
    Lanes { zero: i64, pitch: u32, cells: Cells },
    /// Bytes of the payload, which nothing writes; byte 0 of the root is at `at` of the payload.
    Payload { at: i64 },
    /// Values of the hardware.
    Hardware,
    /// Each lane's local id of an axis, a word.
    LocalIds { axis: u8, zero: i64 },
}

/// Consecutive cells of `size` bytes each.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The first byte: a byte of the root, or 0 for a lane's bytes.
    pub first: u32,
    pub size: u32,
    pub regs: SmallVec<[Cell; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    File(Reg),
    /// A value within one block.
    Block(u32),
}

/// Returns the integer type of `bytes` bytes.
pub fn int_type(bytes: u32) -> Type {
    match bytes {
        1 => Type::I8,
        2 => Type::I16,
        4 => Type::I32,
        _ => Type::I64,
    }
}

/// Bytes of a root that the payload gives: `size` bytes from `start` on, at `at` in the payload.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    pub root: RootId,
    pub start: u32,
    pub at: u32,
    pub size: u32,
}

/// The accesses to all roots.
pub struct Accessed<'a> {
    pub roots: &'a Roots,
    pub survey: &'a Survey,
    /// Roots whose addresses are taken.
    pub addressed: &'a BTreeSet<RootId>,
    pub lanes: u32,
}

impl Accessed<'_> {
    /// Returns whether a root has an element for each lane, and lanes pick elements of other lanes.
    ///
    /// The root is then a lane register.
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

/// The storage of all roots.
pub struct Storage {
    roots: FxHashMap<RootId, Vec<Component>>,
    /// The first byte of each root in the array of roots whose addresses are taken.
    pub arena: FxHashMap<RootId, u32>,
    pub arena_reg: Reg,
    /// Components that begin with values of the payload or the hardware.
    pub initial: Vec<(RootId, Component)>,
    /// The numbers of predicates whose values no other block sees, and no inactive lane.
    pub local_predicates: FxHashSet<u32>,
    /// The component of all bytes, while accesses are unknown.
    everything: Option<Component>,
}

impl Storage {
    /// Returns one array for all roots, before accesses are known.
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

    /// Selects the storage of roots by their accesses.
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
        // An address may read all bytes of a root.
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

    /// Returns all components, root by root.
    pub fn components(&self) -> Vec<(RootId, &[Component])> {
        let mut all: Vec<_> =
            self.roots.iter().map(|(&root, components)| (root, components.as_slice())).collect();
        all.sort_by_key(|&(root, _)| root);
        all
    }

    /// Returns the component that has a byte of a root; None if nothing accesses the byte.
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

/// Makes registers, in a bank for each kind of contents.
struct Maker<'f> {
    function: &'f mut FunctionBuilder,
    made: FxHashMap<(bool, Type), (warploom_ir::BankId, u32)>,
    /// The banks of arrays, by their bytes.
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
        // Rounding keeps the number of banks small, as there may be many roots.
        let bytes = bytes.max(1).next_multiple_of(64);
        let function = &mut *self.function;
        let new = || (function.bank(format!("bytes{bytes}"), CellKind::Bytes(bytes), 0), 0);
        let (bank, count) = self.arrays.entry(bytes).or_insert_with(new);
        *count += 1;
        bank.reg(*count - 1)
    }

    /// Gives each bank the number of registers that were made.
    fn declare(self) {
        for (bank, count) in self.made.into_values().chain(self.arrays.into_values()) {
            self.function.set_count(bank, count);
        }
    }
}

/// A root, with the data for selecting its storage.
struct OfRoot<'a> {
    root: RootId,
    bytes: u32,
    input: &'a [Input],
    payload: &'a Payload,
    /// The root's place in the array of roots whose addresses are taken.
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
            // Accesses in the order in which they were lifted.
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

    /// Returns the storage of a component. None: it must be a byte array.
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

/// Returns whether the payload or hardware gives some of these bytes of a root.
fn is_given(root: RootId, inputs: &[Input], start: u32, end: u32) -> bool {
    let given =
        |input: &Input| input.root == root && start < input.start + input.size && end > input.start;
    known::is_hardware(root) || root == known::R0_ROOT || inputs.iter().any(given)
}

/// The possible shapes of a component.
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
    // The offset in a lane's bytes, and the number of bytes.
    let part = |access: &Access| match access.what {
        What::Lanes { size, first, .. } => {
            (i64::from(access.start) - zero - i64::from(first) * p, i64::from(size))
        }
        _ => ((i64::from(access.start) - zero).rem_euclid(p), i64::from(access.end - access.start)),
    };
    // Eight bytes are two cells if halves are written separately.
    let halves = pitch == 8 && of.iter().any(|access| access.write && part(access).1 < p);
    let size = if halves { 4 } else { pitch };
    let fits = |access: &Access| {
        let (within, bytes) = part(access);
        let crosses = halves && bytes <= 4 && within / 4 != (within + bytes - 1) / 4;
        within >= 0 && within + bytes <= p && i64::from(access.start) >= zero && !crosses
    };
    of.iter().all(|access| fits(access)).then_some(Shape::Lanes { zero, pitch, size })
}

/// Returns whether no other block sees a component's values, because its block writes all of it
/// first.
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
    // A value has the lanes of its window, so all writes must have equal windows.
    let covers = |access: &Access| match access.what {
        What::Lanes { first, count: more, .. } if access.write => (first, more) == (lane, count),
        What::Lanes { first, count: more, .. } => first >= lane && first + more <= lane + count,
        _ => false,
    };
    u64::from(size) == bytes
        && of.iter().all(|access| covers(access))
        && (first.no_mask || of.iter().all(|access| access.write || access.plain))
}

/// Returns whether a single block uses a predicate, and writes it first.
///
/// The first write must set all bits, or the bits of active lanes if no others are read.
fn is_local_predicate(accesses: &[PredicateAccess]) -> bool {
    let Some(first) = accesses.first() else { return false };
    let covers = first.whole || first.plain && accesses.iter().all(|one| one.write || one.plain);
    first.write && covers && accesses.iter().all(|one| one.node == first.node)
}
