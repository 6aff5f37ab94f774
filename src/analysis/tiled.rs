//! Addresses in tiled images: the bits of an evenly spaced value, moved to other positions.
//!
//! A layout of tiles interleaves the bits of a column and a row. Then neighbouring lanes of a row
//! are not evenly spaced. But if the first lane's column has zeros in the bits of the lane numbers,
//! nothing carries, and each lane's distance from the first lane is known beforehand.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use warploom_ir::{Access, BinaryOp, ConvertOp, Op, Type, Value};

use super::class::{Class, Classes};
use super::visits::visit;

/// The most values that are examined for one address.
const MAX_VALUES: usize = 64;

/// The distance of each lane of a chunk from lane 0.
type Distances = SmallVec<[u64; 8]>;

/// An address made of the bits of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiled {
    /// The value whose bits make the address.
    pub root: Value,
    /// The step of `root` from lane to lane. It must be tested unless the class of `root` gives it.
    pub step: i64,
    /// The low bits that must be 0 in lane 0 of `root`.
    pub low: u64,
    /// Values that are extended, with limits: lane 0 must be at most the limit, or a later lane
    /// wraps.
    pub limits: Vec<(Value, u64)>,
    /// Bytes from lane 0 of the address to each lane.
    pub distances: SmallVec<[i64; 8]>,
}

/// The spread of a value over lanes if lane 0 of the root has the required zeros: each lane is lane
/// 0 plus a distance.
#[derive(Clone)]
struct Spread {
    distances: Distances,
    /// The bits that lane 0 may have, if none of them is a bit of a distance: then lane 0 *or* a
    /// distance equals their sum. None: the sum may carry.
    bits: Option<u64>,
}

impl Spread {
    fn of_lane_0(chunk: u32, bits: u64) -> Spread {
        Spread { distances: smallvec![0; chunk as usize], bits: Some(bits) }
    }

    /// Returns the union of the bits of all distances.
    fn taken(&self) -> u64 {
        self.distances.iter().fold(0, |all, distance| all | distance)
    }

    fn is_same(&self) -> bool {
        self.taken() == 0
    }

    /// Applies `of` to the distances and to the bits of lane 0. None if a distance no longer fits.
    fn map(&self, ty: Type, of: impl Fn(u64) -> Option<u64>) -> Option<Spread> {
        let mut distances = self.distances.clone();
        for distance in &mut distances {
            *distance = of(*distance).filter(|&distance| distance <= ty.bit_mask())?;
        }
        // The type cuts off the excess bits of lane 0.
        let bits = self.bits.map(|bits| of(bits).unwrap_or(u64::MAX) & ty.bit_mask());
        Some(Spread { distances, bits })
    }

    fn join(&self, other: &Spread, with: impl Fn(u64, u64) -> u64) -> Distances {
        let pairs = self.distances.iter().zip(&other.distances);
        pairs.map(|(&own, &other)| with(own, other)).collect()
    }
}

/// Returns how the address of an access is made, if it consists of one value's bits and its lanes
/// are aligned where lane 0 is.
///
/// `def` returns the definitions that may be examined.
pub fn tiled<'a>(
    classes: &Classes,
    type_of: impl Fn(Value) -> Type,
    def: impl Fn(Value) -> Option<&'a Op>,
    access: &Access,
) -> Option<Tiled> {
    let mut finder = Finder {
        classes,
        type_of,
        def,
        root: None,
        known: FxHashMap::default(),
        limits: Vec::new(),
    };
    finder.find_root(access.address, &mut 0)?;
    let root = finder.root?;
    let step = match classes.get(root) {
        Class::Varying => i64::from(access.bytes()),
        class => class.stride().filter(|&step| step > 0)?,
    };
    let lanes: Distances = (0..u64::from(classes.chunk())).map(|lane| lane * step as u64).collect();
    let low = (lanes[lanes.len() - 1] + 1).next_power_of_two() - 1;
    let mask = (finder.type_of)(root).bit_mask();
    finder.known.insert(root, Some(Spread { distances: lanes, bits: Some(mask & !low) }));
    let spread = finder.spread(access.address).filter(|_| low < mask)?;
    let distances = spread.distances.iter().map(|&distance| distance as i64).collect();
    let aligned = spread.taken() & u64::from(access.align.max(1) - 1) == 0;
    aligned.then_some(Tiled { root, step, low, limits: finder.limits, distances })
}

struct Finder<'c, T, D> {
    classes: &'c Classes,
    type_of: T,
    def: D,
    root: Option<Value>,
    known: FxHashMap<Value, Option<Spread>>,
    limits: Vec<(Value, u64)>,
}

impl<'a, T: Fn(Value) -> Type, D: Fn(Value) -> Option<&'a Op>> Finder<'_, T, D> {
    fn constant(&self, v: Value) -> Option<u64> {
        match *(self.def)(v)? {
            Op::Const { bits, .. } => Some(bits),
            Op::Splat { a } => self.constant(a),
            _ => None,
        }
    }

    /// Looks for the value whose bits are taken. None: there are several values, too many
    /// operations, or unsupported operations.
    fn find_root(&mut self, v: Value, seen: &mut usize) -> Option<()> {
        visit();
        *seen += 1;
        if *seen > MAX_VALUES {
            return None;
        }
        if self.classes.get(v).stride() == Some(0) {
            return Some(());
        }
        match *(self.def)(v)? {
            Op::Binary { op: BinaryOp::And | BinaryOp::ShrU, a, b }
                if self.constant(b).is_some() && !self.is_of_bits(a) =>
            {
                (*self.root.get_or_insert(a) == a).then_some(())
            }
            Op::Binary {
                op: BinaryOp::And | BinaryOp::ShrU | BinaryOp::Shl | BinaryOp::Mul,
                a,
                b,
            } if self.constant(b).is_some() => self.find_root(a, seen),
            Op::Binary { op: BinaryOp::Or | BinaryOp::Xor | BinaryOp::Add, a, b } => {
                self.find_root(a, seen)?;
                self.find_root(b, seen)
            }
            Op::Convert { op: ConvertOp::ZeroExtend, a, .. } | Op::Splat { a } => {
                self.find_root(a, seen)
            }
            _ => None,
        }
    }

    fn of_lane_0(&self, bits: u64) -> Spread {
        Spread::of_lane_0(self.classes.chunk(), bits)
    }

    fn is_of_bits(&self, v: Value) -> bool {
        self.classes.get(v) == Class::Varying
            && matches!(
                (self.def)(v),
                Some(Op::Binary {
                    op: BinaryOp::And | BinaryOp::ShrU | BinaryOp::Or | BinaryOp::Xor,
                    ..
                })
            )
    }

    fn spread(&mut self, v: Value) -> Option<Spread> {
        if let Some(known) = self.known.get(&v) {
            return known.clone();
        }
        let same = self.classes.get(v).stride() == Some(0);
        // A value that does not vary may have all bits if nothing more is known.
        let any = same.then(|| self.of_lane_0((self.type_of)(v).bit_mask()));
        let spread = if self.known.len() < MAX_VALUES { self.made(v).or(any) } else { any };
        self.known.insert(v, spread.clone());
        spread
    }

    fn made(&mut self, v: Value) -> Option<Spread> {
        let ty = (self.type_of)(v);
        match *(self.def)(v)? {
            Op::Const { bits, .. } => Some(self.of_lane_0(bits)),
            Op::Splat { a } => self.spread(a),
            Op::Convert { op: ConvertOp::ZeroExtend, a, .. } => {
                let (spread, mask) = (self.spread(a)?, (self.type_of)(a).bit_mask());
                if spread.bits.is_none() {
                    let farthest = spread.distances.iter().max().expect("a chunk has lanes");
                    self.limits.push((a, mask - farthest));
                }
                Some(spread)
            }
            Op::Binary { op: BinaryOp::And, a, b } => {
                let (of, with) = (self.spread(a)?, self.spread(b)?);
                match self.constant(b) {
                    Some(mask) if of.bits.is_some() => of.map(ty, |bits| Some(bits & mask)),
                    _ if of.is_same() && with.is_same() => {
                        Some(self.of_lane_0(of.bits? & with.bits?))
                    }
                    _ => None,
                }
            }
            Op::Binary { op: BinaryOp::ShrU, a, b } => {
                let count = self.constant(b).filter(|&count| count < u64::from(ty.bits()))?;
                let of = self.spread(a)?;
                of.bits.and_then(|_| of.map(ty, |bits| Some(bits >> count)))
            }
            Op::Binary { op: BinaryOp::Shl, a, b } => {
                let count = self.constant(b).filter(|&count| count < u64::from(ty.bits()))?;
                self.spread(a)?.map(ty, |bits| bits.checked_mul(1 << count))
            }
            Op::Binary { op: BinaryOp::Mul, a, b } => {
                let factor = self.constant(b)?;
                let of = self.spread(a)?.map(ty, |bits| bits.checked_mul(factor))?;
                Some(Spread { bits: of.is_same().then_some(ty.bit_mask()), ..of })
            }
            Op::Binary { op: BinaryOp::Or | BinaryOp::Xor, a, b } => {
                let (a, b) = (self.spread(a)?, self.spread(b)?);
                let bits = a.bits? | b.bits?;
                let apart = (a.taken() | b.taken()) & bits == 0 && a.taken() & b.taken() == 0;
                apart.then(|| Spread { distances: a.join(&b, |x, y| x | y), bits: Some(bits) })
            }
            Op::Binary { op: BinaryOp::Add, a, b } => {
                let (a, b) = (self.spread(a)?, self.spread(b)?);
                let distances = a.join(&b, u64::wrapping_add);
                let sum = Spread { distances, bits: None };
                let fits = sum.distances.iter().all(|&distance| distance <= ty.bit_mask() / 2);
                // A sum of multiples of a power of two is a multiple of it.
                let zeros = a.bits.zip(b.bits).map_or(0, |(a, b)| (a | b).trailing_zeros().min(63));
                let below = |bits: u64| bits < 1 << zeros;
                let bits = below(sum.taken()).then(|| ty.bit_mask() & !((1 << zeros) - 1));
                fits.then_some(Spread { bits, ..sum })
            }
            _ => None,
        }
    }
}
