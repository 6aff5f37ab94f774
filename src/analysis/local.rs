//! Forwards words of local memory that a block has stored or loaded before to later loads.
//!
//! Only a lane itself sees its local memory, so nothing else can have changed it. (PTX's calls
//! store arguments for the callee, and the arguments are copied to its frame from there.)

use warploom_ir::{Access, BinaryOp, Extend, Op, Space, Type, Value, ValueType};

use super::editor::Editor;

/// The most words that are tracked.
const MOST: usize = 64;

/// The elements of local memory that a block knows.
#[derive(Default)]
pub struct LocalMemory(Vec<Known>);

/// A known element.
struct Known {
    place: LocalAddress,
    ty: Type,
    value: Value,
    /// The lanes that the value is known in.
    mask: Value,
    /// A number that the element's address is a multiple of.
    align: u8,
}

/// An address: a value plus a constant, or a constant alone.
#[derive(Clone, Copy, PartialEq)]
struct LocalAddress {
    base: Option<Value>,
    offset: u32,
}

impl LocalAddress {
    fn of(editor: &Editor, access: &Access) -> LocalAddress {
        let offset = access.offset as u32;
        let more = |by: u64| offset.wrapping_add(by as u32);
        if let Some(address) = editor.constant(access.address) {
            return LocalAddress { base: None, offset: more(address) };
        }
        match *editor.def(access.address) {
            Op::Binary { op: BinaryOp::Add, a, b } => {
                match (editor.constant(a), editor.constant(b)) {
                    (_, Some(by)) => LocalAddress { base: Some(a), offset: more(by) },
                    (Some(by), _) => LocalAddress { base: Some(b), offset: more(by) },
                    _ => LocalAddress { base: Some(access.address), offset },
                }
            }
            _ => LocalAddress { base: Some(access.address), offset },
        }
    }

    fn element(self, access: &Access, number: usize) -> LocalAddress {
        LocalAddress { offset: self.offset.wrapping_add(number as u32 * access.ty.bytes()), ..self }
    }

    /// Whether `bytes` bytes from here on overlap none of the `others` bytes from `other` on.
    fn is_apart(self, bytes: u32, other: LocalAddress, others: u32) -> bool {
        let distance = other.offset.wrapping_sub(self.offset);
        self.base == other.base && distance >= bytes && distance.wrapping_neg() >= others
    }
}

impl LocalMemory {
    /// Returns the values of a load whose mask is its guard, if all its elements are known.
    pub fn loaded(&self, editor: &mut Editor, op: &Op) -> Option<Vec<Value>> {
        let Op::Load { ref access, extend: Extend::None, sparse: false } = *op else { return None };
        let mask = guard_of(editor, access)?;
        let place = LocalAddress::of(editor, access);
        let find = |number: usize| {
            let place = place.element(access, number);
            let known =
                self.0.iter().rev().find(|known| known.place == place && known.ty == access.ty)?;
            (editor.is_subset(mask, known.mask) && (number > 0 || access.align <= known.align))
                .then(|| editor.current(known.value))
        };
        let values: Vec<Value> = (0..usize::from(access.count)).map(find).collect::<Option<_>>()?;
        // Other lanes get zeros.
        let window = editor.window();
        let zero = editor.iconst(access.ty, 0);
        let zero = editor.shaped(zero, ValueType::varying(access.ty), window);
        Some(values.into_iter().map(|value| editor.select(mask, value, zero, window)).collect())
    }

    /// Notes an operation that has been done, with the values that it loaded.
    pub fn note(&mut self, editor: &Editor, op: &Op, results: &[Value]) {
        let (access, values, stores) = match op {
            Op::Store { access, values, .. } => (access, &values[..], true),
            Op::Load { access, extend: Extend::None, sparse: false } => (access, results, false),
            Op::Atomic { .. } | Op::Wide { .. } => return self.0.clear(),
            _ => return,
        };
        if stores && access.space == Space::Generic {
            self.0.clear();
        }
        if access.space != Space::Local {
            return;
        }
        let place = LocalAddress::of(editor, access);
        if stores {
            self.0.retain(|known| known.place.is_apart(known.ty.bytes(), place, access.bytes()));
        }
        let Some(mask) = guard_of(editor, access).filter(|_| access.ty.bytes() >= 4) else {
            return;
        };
        for (number, &value) in values.iter().enumerate() {
            let skipped = number as u32 * access.ty.bytes();
            let align = if skipped == 0 {
                access.align
            } else {
                access.align.min(1 << skipped.trailing_zeros().min(7))
            };
            if self.0.len() < MOST && editor.ty(value) == ValueType::varying(access.ty) {
                self.0.push(Known {
                    place: place.element(access, number),
                    ty: access.ty,
                    value,
                    mask,
                    align,
                });
            }
        }
    }
}

/// Returns the mask of a varying access to local memory.
fn guard_of(editor: &Editor, access: &Access) -> Option<Value> {
    let of_lanes = access.space == Space::Local && !editor.ty(access.address).is_uniform();
    access.guard.filter(|_| of_lanes && access.nomask)
}
