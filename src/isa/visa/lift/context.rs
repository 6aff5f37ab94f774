//! [`Cx`], the state that lift functions work with.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use warploom_guest::bits::Emit;
use warploom_guest::images::Records;
use warploom_ir::{BlockBuilder, Reg, Type, Value};

use super::emit::Shape;
use super::pieces::Piece;
use super::survey::Survey;
use super::write::Write;
use super::{Kernel, Mode};
use crate::instruction::{Instruction, PredicateUse, State};
use crate::module::{Routine, SamplerId, SurfaceId};
use crate::predefined::BINDLESS_SAMPLER;
use crate::types::Exec;

/// The state of a block while its instructions are lifted.
///
/// A lift function is called for each piece of an instruction. It reads operands as values, with
/// one element for each lane of the piece (a uniform value if the piece has one element). It then
/// names the values to write; masks apply automatically. Only later instructions see the written
/// values.
pub struct Cx<'a> {
    pub b: BlockBuilder<'a>,
    pub kernel: &'a Kernel<'a>,
    pub(super) shape: &'a Shape<'a>,
    pub(super) survey: Option<&'a RefCell<Survey>>,
    /// The index of the routine among the kernel's routines.
    pub(super) routine: usize,
    /// The node of the plan, and the block's place in its row.
    pub(super) node: u32,
    pub mode: Mode,
    pub(super) exec: Exec,
    pub(super) piece: Piece,
    pub(super) predicate: Option<PredicateUse>,
    pub(super) active_lanes: Option<Value>,
    /// In a block that runs on, whether any lane is left: all lanes or none. None if some lane is
    /// left.
    pub(super) running: Option<Value>,
    /// The lanes for which the predicate holds, once they are computed.
    pub(super) holds: Option<Option<Value>>,
    constants: FxHashMap<(Type, u64), Value>,
    /// Values of the cells that only this block uses.
    pub(super) cells: FxHashMap<u32, Value>,
    /// Values of the predicates that only this block uses.
    pub(super) predicates: FxHashMap<Reg, Value>,
    /// Words that were cut from wider values, with the wider values that they extend to.
    pub(super) cut: FxHashMap<Value, Value>,
    pub(super) pending: Vec<Write>,
    /// The values of state variables that this block has set.
    pub(super) states: FxHashMap<Reg, Value>,
    /// Dwords of the payload, by their place in it.
    pub(super) from_payload: FxHashMap<Value, u32>,
    /// Words of surfaces' records.
    pub(super) records: Records,
}

impl<'a> Emit<'a> for Cx<'a> {
    fn builder(&mut self) -> &mut BlockBuilder<'a> {
        &mut self.b
    }

    fn constant_of(&mut self, ty: Type, bits: u64) -> Value {
        self.constant(ty, bits)
    }

    fn one_of(&mut self, mask: Value, a: Value, b: Value) -> Value {
        if self.piece.is_scalar() {
            self.b.uniform_select(mask, a, b)
        } else {
            self.b.select(mask, a, b)
        }
    }
}

impl<'a> Cx<'a> {
    /// Begins a block.
    pub(super) fn new(
        b: BlockBuilder<'a>,
        shape: &'a Shape<'a>,
        survey: Option<&'a RefCell<Survey>>,
        (routine, node): (usize, u32),
        mode: Mode,
    ) -> Cx<'a> {
        Cx {
            b,
            kernel: shape.kernel,
            shape,
            survey,
            routine,
            node,
            mode,
            exec: Exec { size: 1, offset: 0, no_mask: true },
            piece: Piece { element: 0, count: 1, lane: 0 },
            predicate: None,
            active_lanes: None,
            running: None,
            holds: None,
            constants: FxHashMap::default(),
            cells: FxHashMap::default(),
            predicates: FxHashMap::default(),
            cut: FxHashMap::default(),
            pending: vec![],
            states: FxHashMap::default(),
            from_payload: FxHashMap::default(),
            records: Records::default(),
        }
    }

    /// Returns the bytes of a register: 32 or 64.
    pub fn grf(&self) -> u32 {
        self.kernel.platform.register_bytes()
    }

    /// Returns the lanes of a warp: the kernel's `SimdSize`.
    pub fn lanes(&self) -> u8 {
        self.shape.lanes
    }

    /// Returns the size and offset of the whole instruction, not of the current piece.
    pub fn exec(&self) -> Exec {
        self.exec
    }

    /// Returns the elements of the instruction that are being lifted.
    pub fn piece(&self) -> Piece {
        self.piece
    }

    pub fn routine(&self) -> &'a Routine {
        self.shape.routine(self.routine)
    }

    /// Returns a uniform constant, which is emitted once in a block.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & ty.bit_mask();
        if let Some(&value) = self.constants.get(&(ty, bits)) {
            return value;
        }
        let value = self.b.iconst(ty, bits);
        self.constants.insert((ty, bits), value);
        value
    }

    /// Returns a uniform `i32` constant.
    pub fn word(&mut self, bits: u32) -> Value {
        self.constant(Type::I32, bits.into())
    }

    /// Begins an instruction.
    pub(super) fn begin(&mut self, insn: &Instruction, pc: u64) {
        self.b.set_pc(pc);
        self.exec = insn.exec.unwrap_or(Exec { size: 1, offset: 0, no_mask: true });
        self.predicate = insn.predicate;
    }

    pub(super) fn begin_piece(&mut self, piece: Piece) {
        self.piece = piece;
        self.holds = None;
        self.b.set_guard(None);
        self.b.set_nomask(self.exec.no_mask);
        self.b.set_window(if piece.is_scalar() {
            warploom_ir::Window::all(self.lanes())
        } else {
            piece.window()
        });
        if !piece.is_scalar() {
            let guard = self.holds();
            self.b.set_guard(guard);
        }
    }

    /// Returns `a` where a mask's bit is set, else `b`.
    pub fn pick(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.one_of(mask, a, b)
    }

    /// Returns a uniform value as a value of each lane.
    pub fn splat(&mut self, value: Value) -> Value {
        self.b.splat(value)
    }

    /// Returns an integer, extended or truncated to another type.
    pub fn resize(&mut self, value: Value, to: Type, signed: bool) -> Value {
        let from = self.b.ty(value).ty;
        if to.bits() == from.bits() {
            return value;
        }
        if to.bits() < from.bits() {
            return self.b.trunc(to, value);
        }
        if let Some(&wide) = self.cut.get(&value) {
            return self.resize(wide, to, false);
        }
        if signed { self.b.sign_extend(to, value) } else { self.b.zero_extend(to, value) }
    }

    /// Returns the bits of a value as a value of another type.
    pub fn bits_as(&mut self, value: Value, ty: Type) -> Value {
        if self.b.ty(value).ty == ty { value } else { self.b.bitcast(ty, value) }
    }
}

/// State variables.
impl Cx<'_> {
    pub(super) fn state_reg(&self, state: State, element: u8) -> Reg {
        self.shape.state(self.routine, state, element)
    }

    /// Returns the value of a surface variable, a uniform `i32`.
    ///
    /// It is an index into the binding table, or the offset of a bindless surface (`%bss`). The
    /// caller must tell apart the predefined `%slm` and `%scratch`.
    pub fn surface(&mut self, surface: SurfaceId) -> Value {
        self.state(State::Surface(surface))
    }

    /// Returns the value of a sampler variable, a uniform `i32`.
    ///
    /// It is an index, or for the bindless sampler an offset, of which bit 0 means nothing.
    pub fn sampler(&mut self, sampler: SamplerId) -> Value {
        self.state(State::Sampler(sampler))
    }

    fn state(&mut self, state: State) -> Value {
        let reg = self.state_reg(state, 0);
        match self.states.get(&reg) {
            Some(&value) => value,
            None => self.b.rf_read(reg),
        }
    }

    /// Returns the place in the payload that a uniform dword is from, if it is known.
    pub fn payload_of(&self, value: Value) -> Option<u32> {
        self.from_payload.get(&value).copied()
    }

    pub fn is_bindless(sampler: SamplerId) -> bool {
        sampler.0 == BINDLESS_SAMPLER
    }
}
