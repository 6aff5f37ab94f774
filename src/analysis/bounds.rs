//! Bounds of integers, proven from their definitions. An index from a small table or a byte then
//! needs no check of its own.

use warploom_ir::{BinaryOp, ConvertOp, Extend, Op, Special, Type, Value};
use warploom_runtime::launch::MAX_GRID;

use super::class::GridClass;
use super::visits::visit;

/// The most definitions that are followed in a row.
const MAX_DEPTH: u32 = 8;

/// A bound of an integer: every lane is at most `max` (unsigned), and a multiple of `1 << zeros`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub max: u64,
    pub zeros: u32,
}

impl Bound {
    fn of_type(ty: Type) -> Bound {
        Bound { max: ty.bit_mask(), zeros: 0 }
    }
}

/// Returns the bound of an integer value in launches of any size.
///
/// `ty` and `def` return the types and definitions of values.
pub fn bound<'a>(ty: impl Fn(Value) -> Type, def: impl Fn(Value) -> &'a Op, v: Value) -> Bound {
    follow(&ty, &def, GridClass::Any, v, MAX_DEPTH)
}

/// Returns the bound of an integer value in launches of the class `grid`.
pub fn bound_in<'a>(
    grid: GridClass,
    ty: impl Fn(Value) -> Type,
    def: impl Fn(Value) -> &'a Op,
    v: Value,
) -> Bound {
    follow(&ty, &def, grid, v, MAX_DEPTH)
}

fn follow<'a>(
    type_of: &impl Fn(Value) -> Type,
    def: &impl Fn(Value) -> &'a Op,
    grid: GridClass,
    v: Value,
    depth: u32,
) -> Bound {
    visit();
    let ty = type_of(v);
    let any = Bound::of_type(ty);
    if depth == 0 {
        return any;
    }
    let of = |v: Value| follow(type_of, def, grid, v, depth - 1);
    // The bound of a result that may have wrapped: only its low bits are known.
    let multiple = |zeros: u32| Bound { zeros: zeros.min(63), ..any };
    let below = |limit: u64| Bound { max: limit - 1, zeros: 0 };
    match *def(v) {
        Op::Const { bits, .. } => Bound { max: bits, zeros: bits.trailing_zeros().min(63) },
        Op::Splat { a } => of(a),
        Op::LaneId => below(64),
        // The last warp's lanes may be past the block.
        Op::Special(Special::Tid(_)) => below(2 * grid.lanes()),
        Op::Special(Special::Ctaid(0)) => below(grid.blocks()),
        Op::Special(Special::Ctaid(axis)) => below(MAX_GRID[usize::from(axis)].into()),
        Op::Special(Special::Ntid(_)) => below(grid.lanes() + 1),
        Op::Load { access, extend: Extend::Unsigned, sparse: false }
            if access.ty.bits() < ty.bits() =>
        {
            Bound::of_type(access.ty)
        }
        Op::Convert { op: ConvertOp::ZeroExtend | ConvertOp::FromMask, a, .. } => of(a),
        Op::Convert { op: ConvertOp::SignExtend, a, .. } => match of(a) {
            bound if bound.max <= type_of(a).bit_mask() >> 1 => bound,
            _ => any,
        },
        Op::Convert { op: ConvertOp::HighHalf, a, .. } => Bound { max: of(a).max >> 32, zeros: 0 },
        Op::Binary { op: BinaryOp::And, a, b } => {
            let (a, b) = (of(a), of(b));
            Bound { max: a.max.min(b.max), zeros: a.zeros.max(b.zeros) }
        }
        Op::Binary { op: BinaryOp::Add, a, b } => {
            let (a, b) = (of(a), of(b));
            match a.max.checked_add(b.max) {
                Some(max) if max <= any.max => Bound { max, zeros: a.zeros.min(b.zeros) },
                _ => multiple(a.zeros.min(b.zeros)),
            }
        }
        Op::Binary { op: BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor, a, b } => {
            multiple(of(a).zeros.min(of(b).zeros))
        }
        Op::Select { a, b, .. } | Op::UniformSelect { a, b, .. } => {
            let (a, b) = (of(a), of(b));
            Bound { max: a.max.max(b.max), zeros: a.zeros.min(b.zeros) }
        }
        Op::Binary { op: BinaryOp::Mul, a, b } => {
            let (a, b) = (of(a), of(b));
            let max = a.max.checked_mul(b.max).filter(|&max| max <= any.max).unwrap_or(any.max);
            Bound { max, ..multiple(a.zeros + b.zeros) }
        }
        Op::Binary { op: op @ (BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS), a, b } => {
            let (a, mut count) = (of(a), def(b));
            if let Op::Splat { a } = *count {
                count = def(a);
            }
            // If the sign bit is 0, both shifts to the right are equal.
            let down = op == BinaryOp::ShrU || op == BinaryOp::ShrS && a.max <= any.max >> 1;
            match *count {
                Op::Const { bits, .. } if bits < u64::from(ty.bits()) && down => {
                    Bound { max: a.max >> bits, zeros: a.zeros.saturating_sub(bits as u32) }
                }
                Op::Const { .. } if op == BinaryOp::ShrS => any,
                Op::Const { bits, .. }
                    if bits < u64::from(ty.bits()) && a.max <= any.max >> bits =>
                {
                    Bound { max: a.max << bits, zeros: (a.zeros + bits as u32).min(63) }
                }
                Op::Const { bits, .. } if bits < u64::from(ty.bits()) && op == BinaryOp::Shl => {
                    multiple(a.zeros + bits as u32)
                }
                _ => any,
            }
        }
        _ => any,
    }
}
