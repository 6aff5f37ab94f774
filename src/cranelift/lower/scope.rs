//! The place where lowering is, and the facts that hold there. A scope is a value that is entered
//! for a part of the code and left after it.
//!
//! A block's outermost scope has its scalars. A group, a sweep's strip or a loop in registers has a
//! scope of its own. So has a chunk ([`Chunk`]), and each way that an access may take through it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use cranelift_codegen::ir::Value as Clif;
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warploom_analysis::Classes;
use warploom_ir::{Value, table};

use super::block::BlockLowerer;
use super::chunk::Chunk;
use super::full_warp::Settled;
use super::spill::Spills;
use super::sweep::Strip;

/// The facts that hold in a part of the code.
pub struct Scope<'r> {
    /// The step being lowered, or several while a group is lowered as a whole.
    pub steps: Range<usize>,
    /// The distribution of values over lanes here.
    pub classes: &'r Classes,
    /// Scalars that every later instruction may use.
    pub scalars: SecondaryMap<Value, Option<Clif>>,
    pub mode: Mode<'r>,
    pub chunk: Option<Chunk>,
    /// The values that rest in memory, if the values of the segment being lowered do not fit into
    /// registers.
    pub spills: Option<Spills>,
    /// Whether a value is being made whose stations are made already.
    pub in_order: bool,
}

/// The mode in which steps are lowered.
pub enum Mode<'r> {
    /// Chunks of lanes under masks, or the lanes of a chunk one by one.
    Masked,
    /// All lanes of a group whose conditions have been tested, without masks.
    Settled(Settled<'r>),
    /// The lanes of several warps for which the conditions have been tested.
    Strip(Settled<'r>, Strip),
    /// The rounds of a loop in registers.
    Carried(Carried),
}

/// A loop in registers.
#[derive(Default)]
pub struct Carried {
    /// Floats whose NaNs are made canonical after the loop.
    pub raw: HashSet<Value>,
    /// Masks of scalar steps that the loop computes in the chunk.
    pub in_chunk: HashSet<Value>,
    /// Masks that equal other masks (see [`super::register_loop`]).
    pub equal_masks: HashMap<Value, Value>,
    /// The offsets in the context of chunk values that rest there during the loop, unchanged.
    pub laid_down: HashMap<Value, SmallVec<[i32; 4]>>,
}

impl<'r> Mode<'r> {
    /// Returns the group or the strip whose conditions have been tested.
    pub fn settled(&self) -> Option<&Settled<'r>> {
        match self {
            Mode::Settled(settled) | Mode::Strip(settled, _) => Some(settled),
            Mode::Masked | Mode::Carried(_) => None,
        }
    }

    pub fn strip(&self) -> Option<&Strip> {
        match self {
            Mode::Strip(_, strip) => Some(strip),
            Mode::Masked | Mode::Settled(_) | Mode::Carried(_) => None,
        }
    }

    /// Returns the loop whose rounds are lowered.
    pub fn carried(&self) -> Option<&Carried> {
        match self {
            Mode::Carried(carried) => Some(carried),
            Mode::Masked | Mode::Settled(_) | Mode::Strip(..) => None,
        }
    }
}

impl<'r> Scope<'r> {
    /// Returns the scope of a block with this number of values.
    pub fn of_block(classes: &'r Classes, values: usize) -> Self {
        Scope {
            steps: 0..0,
            classes,
            scalars: table(values, None),
            mode: Mode::Masked,
            chunk: None,
            spills: None,
            in_order: false,
        }
    }

    /// Returns an inner scope for steps that are lowered in a mode. It has this scope's scalars.
    pub fn inner(&self, steps: Range<usize>, classes: &'r Classes, mode: Mode<'r>) -> Self {
        Scope {
            steps,
            scalars: self.scalars.clone(),
            chunk: mode.settled().is_some().then(Chunk::first_of_group),
            mode,
            ..Scope::of_block(classes, 0)
        }
    }
}

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Lowers a part of the code in a scope of its own.
    pub(super) fn inside<T>(&mut self, scope: Scope<'r>, body: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = body(self);
        self.scope = outer;
        result
    }

    /// Lowers some steps.
    pub(super) fn at_steps<T>(
        &mut self,
        steps: Range<usize>,
        body: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = std::mem::replace(&mut self.scope.steps, steps);
        let result = body(self);
        self.scope.steps = outer;
        result
    }

    /// Lowers one of several ways, of which code takes one. Values of the chunk that it computes
    /// are not known after it.
    pub(super) fn on_one_way<T>(&mut self, way: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.scope.chunk.clone();
        let result = way(self);
        self.scope.chunk = outer;
        result
    }

    /// Lowers one of several ways outside chunks. Scalars that it makes are not known after it.
    pub(super) fn on_one_scalar_way<T>(&mut self, way: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.scope.scalars.clone();
        let result = way(self);
        self.scope.scalars = outer;
        result
    }

    /// Lowers code for a chunk.
    pub(super) fn in_chunk<T>(&mut self, chunk: Chunk, body: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.scope.chunk.replace(chunk);
        let result = body(self);
        self.scope.chunk = outer;
        result
    }

    /// Returns the values of the chunk that is being lowered.
    pub(super) fn chunk(&mut self) -> &mut Chunk {
        self.scope.chunk.as_mut().expect("inside a chunk loop")
    }

    /// Returns the group or the strip whose conditions have been tested.
    pub(super) fn settled(&mut self) -> &mut Settled<'r> {
        match &mut self.scope.mode {
            Mode::Settled(settled) | Mode::Strip(settled, _) => settled,
            Mode::Masked | Mode::Carried(_) => unreachable!("a group is being lowered"),
        }
    }

    pub(super) fn strip_mut(&mut self) -> &mut Strip {
        match &mut self.scope.mode {
            Mode::Strip(_, strip) => strip,
            Mode::Masked | Mode::Settled(_) | Mode::Carried(_) => {
                unreachable!("a strip is being lowered")
            }
        }
    }

    /// Returns the loop in registers whose rounds are lowered.
    pub(super) fn carried_loop(&mut self) -> &mut Carried {
        match &mut self.scope.mode {
            Mode::Carried(carried) => carried,
            Mode::Masked | Mode::Settled(_) | Mode::Strip(..) => {
                unreachable!("a loop in registers is being lowered")
            }
        }
    }
}
