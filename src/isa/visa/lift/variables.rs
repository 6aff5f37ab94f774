//! The bytes that operands name. Variables are parts of *roots*, which are not aliases.

use std::ops::Range;

use rustc_hash::FxHashMap;
use warploom_guest::platform::Platform;

use super::known::Payload;
use crate::module::{Module, Routine, VariableId};
use crate::predefined::{FIRST_VARIABLE, VARIABLES};

/// A kernel to lift.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    pub module: &'a Module,
    /// Index into the routines of the module.
    pub routine: usize,
    pub platform: Platform,
    /// The contents of the kernel's registers at its start.
    pub payload: &'a Payload,
    /// Surfaces that are known at lift time, by [`Named`](super::surface::Named).
    pub images: &'a [(u32, warploom_ir::image::Shape)],
    /// The addresses of functions and data by name, for `faddr`.
    pub symbols: &'a FxHashMap<String, u64>,
}

/// The number of a root: a variable that is not an alias, or an address variable.
///
/// A root is a row of bytes. Elements of address variables have 4 bytes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RootId(pub u32);

/// A root: a variable of a routine, or a predefined variable, which all routines share.
#[derive(Clone, Debug)]
pub struct Root {
    /// The bytes of the variable, and any bytes that aliases add.
    pub bytes: u32,
    /// Index of the routine in [`Roots::routines`].
    pub routine: Option<usize>,
}

/// The bytes of an element of an address variable.
pub const ADDRESS_BYTES: u32 = 4;

/// The most bytes of a root: more than all registers have.
pub const MAX_BYTES: u32 = 1 << 16;

/// The most aliases in a chain. Longer chains and circles name no bytes.
const MAX_ALIASES: usize = 64;

/// The roots of a kernel and of the routines that it calls.
pub struct Roots {
    pub all: Vec<Root>,
    routines: Vec<OfRoutine>,
}

/// The places of a routine's variables.
struct OfRoutine {
    variables: Vec<(RootId, u32)>,
    /// The roots of address variables.
    addresses: Range<u32>,
}

impl Roots {
    /// Finds the roots of routines, which are indices into the module.
    pub fn new(module: &Module, routines: &[usize]) -> Roots {
        let wide = module.register_bytes() / 32;
        let predefined = |one: &crate::predefined::Predefined| Root {
            bytes: one.elements * one.ty.size() * wide,
            routine: None,
        };
        let mut roots = Roots { all: VARIABLES.iter().map(predefined).collect(), routines: vec![] };
        for &index in routines {
            let of = roots.routine(&module.routines[index]);
            roots.routines.push(of);
        }
        roots
    }

    fn routine(&mut self, routine: &Routine) -> OfRoutine {
        let number = self.routines.len();
        let mut own = vec![RootId(0); routine.variables.len()];
        for (index, _) in
            routine.variables.iter().enumerate().filter(|(_, one)| one.alias.is_none())
        {
            own[index] = RootId(self.all.len() as u32);
            self.all.push(Root { bytes: 0, routine: Some(number) });
        }
        let place = |index: usize| {
            let (mut at, mut offset) = (index, 0_u32);
            for _ in 0..MAX_ALIASES {
                let Some((of, more)) = routine.variables.get(at)?.alias else {
                    return Some((own[at], offset));
                };
                offset = offset.saturating_add(more);
                match of.0.checked_sub(FIRST_VARIABLE) {
                    Some(next) => at = next as usize,
                    None => return Some((RootId(of.0), offset)),
                }
            }
            None
        };
        let places =
            (0..routine.variables.len()).map(|index| place(index).unwrap_or((RootId(0), 0)));
        let variables: Vec<(RootId, u32)> = places.collect();
        for (variable, &(root, offset)) in routine.variables.iter().zip(&variables) {
            let end = u64::from(offset) + variable.bytes();
            let root = &mut self.all[root.0 as usize];
            root.bytes = root.bytes.max(end.min(MAX_BYTES.into()) as u32);
        }
        let addresses = self.all.len() as u32;
        let address = |elements: u32| Root {
            bytes: elements.saturating_mul(ADDRESS_BYTES).min(MAX_BYTES),
            routine: Some(number),
        };
        self.all.extend(routine.addresses.iter().map(|one| address(one.elements)));
        let addresses = addresses..self.all.len() as u32;
        OfRoutine { variables, addresses }
    }

    /// Returns the root of a routine's variable, and the variable's offset in it.
    pub fn variable(&self, routine: usize, id: VariableId) -> (RootId, u32) {
        match id.0.checked_sub(FIRST_VARIABLE) {
            None => (RootId(id.0), 0),
            Some(index) => self.routines[routine]
                .variables
                .get(index as usize)
                .copied()
                .unwrap_or((RootId(0), 0)),
        }
    }

    /// Returns the root of an address variable.
    pub fn address(&self, routine: usize, id: crate::module::AddressId) -> RootId {
        RootId(self.routines[routine].addresses.start + u32::from(id.0))
    }

    pub fn is_address(&self, id: RootId) -> bool {
        self.routines.iter().any(|of| of.addresses.contains(&id.0))
    }

    pub fn get(&self, id: RootId) -> &Root {
        &self.all[id.0 as usize]
    }
}
