//! The operations that this back end supports.

use cranelift_entity::EntitySet;
use warploom_engine::Prepared;
use warploom_ir::{
    Access, BinaryOp, Block, BlockId, ConvertOp, Extend, FloatAttrs, FloatUnaryOp, Inst, Op, Part,
    Round, Space, Special, Terminator, Type, UnaryOp, Value,
};
use warploom_runtime::warp::CONST_BANK_BYTES;

use super::PIECE;

/// Returns the reason why this back end does not compile a region: its first block and operation
/// without code.
pub fn unsupported(prepared: &Prepared, blocks: &[BlockId]) -> Option<String> {
    let function = prepared.function();
    if ![PIECE, 2 * PIECE, 4 * PIECE].contains(&usize::from(function.lanes)) {
        return Some(format!("warps of {} lanes", function.lanes));
    }
    let of_block = |&id: &BlockId| {
        let block = function.block(id);
        let support = Support { prepared, block, defs: block.defs(), loaded: loaded(block) };
        let inst = block.insts.iter().find(|inst| !support.has(inst));
        let inst = inst.map(|inst| format!("{:?}", inst.op));
        inst.or_else(|| (!has_end(&block.term)).then(|| format!("{:?}", block.term)))
            .map(|what| format!("b{}: {what}", id.0))
    };
    blocks.iter().find_map(of_block)
}

fn has_end(term: &Terminator) -> bool {
    match term {
        Terminator::Jump(_)
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::Dispatch { from: None, .. }
        | Terminator::Exit
        | Terminator::Trap { .. } => true,
        Terminator::Dispatch { from: Some(_), .. }
        | Terminator::Indirect { .. }
        | Terminator::Barrier { .. }
        | Terminator::Lanes { .. }
        | Terminator::Service { .. }
        | Terminator::Deadlock { .. } => false,
    }
}

struct Support<'p> {
    prepared: &'p Prepared,
    block: &'p Block,
    defs: warploom_ir::Defs,
    /// Values computed from data that lanes have loaded. As addresses they are not expected to be
    /// consecutive.
    loaded: EntitySet<Value>,
}

fn loaded(block: &Block) -> EntitySet<Value> {
    let mut loaded = EntitySet::new();
    for inst in &block.insts {
        let loads =
            matches!(inst.op, Op::Load { access, .. } if !block.ty(access.address).is_uniform());
        if loads || inst.op.operands().iter().any(|&v| loaded.contains(v)) {
            inst.results.iter().for_each(|&v| {
                loaded.insert(v);
            });
        }
    }
    loaded
}

impl Support<'_> {
    fn ty(&self, v: Value) -> Type {
        self.block.ty(v).ty
    }

    fn is_uniform(&self, v: Value) -> bool {
        self.block.ty(v).is_uniform()
    }

    fn constant(&self, v: Value) -> Option<u64> {
        match self.block.insts[self.defs[v].0].op {
            Op::Const { bits, .. } => Some(bits),
            Op::Splat { a } => self.constant(a),
            _ => None,
        }
    }

    fn has(&self, inst: &Inst) -> bool {
        let halves =
            inst.op.operands().iter().chain(&inst.results).any(|&v| self.ty(v) == Type::F16);
        !halves && self.has_op(inst)
    }

    fn has_op(&self, inst: &Inst) -> bool {
        match &inst.op {
            Op::Const { .. }
            | Op::Splat { .. }
            | Op::LaneId
            | Op::AddCarry { .. }
            | Op::ICmp { .. }
            | Op::FCmp { .. }
            | Op::Select { .. }
            | Op::UniformSelect { .. }
            | Op::Concat { .. } => true,
            Op::Special(special) => match special {
                Special::Tid(_)
                | Special::Ctaid(_)
                | Special::Ntid(_)
                | Special::Nctaid(_)
                | Special::WarpId
                | Special::WarpSlot
                | Special::LaunchMask
                | Special::Clock
                | Special::BarrierResult
                | Special::BarrierReleased
                | Special::SharedBytes => true,
            },
            Op::Unary { op, .. } => *op != UnaryOp::BitReverse,
            Op::Binary { op, a, b } => self.has_binary(*op, *a, *b),
            Op::Convert { op, a, .. } => {
                !matches!(op, ConvertOp::Bitcast) || self.ty(*a) != Type::Mask
            }
            Op::FUnary { op, attrs, .. } => {
                attrs.round == Round::Nearest || *op != FloatUnaryOp::Sqrt
            }
            Op::FBinary { attrs, .. } | Op::Fma { attrs, .. } => attrs.round == Round::Nearest,
            Op::FConvert { attrs, to, a } => *attrs == FloatAttrs::IEEE && self.ty(*a) != *to,
            Op::IntToFloat { to, round, a, .. } => {
                *to == Type::F32 && self.ty(*a).bits() <= 32 && *round == Round::Nearest
            }
            Op::FloatToInt { to, a, .. } => *to == Type::I32 && self.ty(*a) == Type::F32,
            Op::RfRead { part, .. } | Op::RfWrite { part, .. } => *part == Part::Whole,
            Op::RfGather { bank, first, index, .. } | Op::RfScatter { bank, first, index, .. } => {
                !self.prepared.function().is_lane(bank.reg(*first)) && self.is_uniform(*index)
            }
            Op::Load { access, extend, sparse } => !sparse && self.has_load(access, *extend),
            Op::Store { access, values, sparse } => {
                !sparse
                    && values.len() == 1
                    && self.has_lanes(access)
                    && self.fits(values[0], access)
            }
            Op::Fence => self.prepared.one_worker(),
            Op::Shared { .. }
            | Op::LaneGather { .. }
            | Op::LaneRead { .. }
            | Op::LaneScatter { .. }
            | Op::Product { .. }
            | Op::Unpack { .. }
            | Op::Pack { .. }
            | Op::RegionRead { .. }
            | Op::RegionWrite { .. }
            | Op::Atomic { .. }
            | Op::Wide { .. }
            | Op::Observe { .. }
            | Op::Sample { .. }
            | Op::Raise { .. } => false,
        }
    }

    fn has_binary(&self, op: BinaryOp, a: Value, b: Value) -> bool {
        match op {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::ShrU
            | BinaryOp::ShrS
            | BinaryOp::MinS
            | BinaryOp::MinU
            | BinaryOp::MaxS
            | BinaryOp::MaxU => true,
            BinaryOp::RotL => {
                self.ty(a).bits() >= 32 && !(self.is_uniform(a) && self.is_uniform(b))
            }
            // Vectors of narrower values would have the high bits elsewhere.
            BinaryOp::MulHiS | BinaryOp::MulHiU => self.ty(a) == Type::I32,
            BinaryOp::DivS | BinaryOp::DivU | BinaryOp::RemS | BinaryOp::RemU => false,
        }
    }

    fn has_load(&self, access: &Access, extend: Extend) -> bool {
        if !self.is_uniform(access.address) {
            return self.has_lanes(access) && (extend == Extend::None || access.ty.bits() < 64);
        }
        let known =
            self.constant(access.address).map(|at| (at as u32).wrapping_add(access.offset as u32));
        let inside =
            |at: u32| u64::from(at) + u64::from(access.ty.bytes()) <= CONST_BANK_BYTES as u64;
        let aligned = |at: u32| at.is_multiple_of(access.align.max(1).into());
        matches!(access.space, Space::Const(_))
            && access.guard.is_none()
            && access.count == 1
            && known.is_some_and(|at| inside(at) && aligned(at))
    }

    /// Returns whether an access of lanes has code: one element in global memory.
    fn has_lanes(&self, access: &Access) -> bool {
        access.space == Space::Global
            && access.count == 1
            && !self.is_uniform(access.address)
            && !self.loaded.contains(access.address)
            && access.guard.is_some()
            && access.ty != Type::F16
            && u32::from(access.align) <= access.ty.bytes()
    }

    /// Returns whether a stored value takes as much space in a register as the element.
    fn fits(&self, value: Value, access: &Access) -> bool {
        self.ty(value).cell_bytes() == access.ty.cell_bytes()
    }
}
