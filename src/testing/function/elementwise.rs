//! Kernels as programmers write them: each lane loads, computes and stores the elements of its
//! thread index. The JIT runs many lanes of these kernels at once after a few tests.

use arbitrary::{Result, Unstructured};
use warploom_ir::*;

use super::super::bare::{BUFFERS, SHARED_BYTES, pointer_offset, word_offset};
use super::{NAN, Pool, arithmetic, named};

/// The words in registers: an index, a word, and the halves of an address.
const WORDS: u32 = 4;

/// A function, for [`bare::compare`](super::super::bare::compare).
pub struct Elementwise {
    pub function: Function,
    /// Whether no block accesses memory that another block writes through the same buffer.
    pub independent: bool,
}

/// Returns a kernel of one to three blocks, with lanes that leave at a bound.
pub fn elementwise(u: &mut Unstructured<'_>) -> Result<Elementwise> {
    let lanes = *u.choose(&[32, 32, 32, 8, 64])?;
    let mut f = FunctionBuilder::new("elementwise", lanes, NAN);
    let active = f.bank("active", CellKind::Mask, 1).reg(0);
    f.set_active(active);
    let words = f.bank("r", CellKind::Lane(Type::I32), WORDS);
    let [entry, body, tail, last] = [0, 8, 16, 24].map(|pc| f.new_block(pc));
    for block in [entry, body, tail] {
        f.set_cost(block, u.int_in_range(0..=20)?);
    }
    f.at(last).exit();

    let mut b = f.at(entry);
    let mut body_of = Body::new(&mut b, u)?;
    if u.arbitrary()? {
        body_of.leave(&mut b, u)?;
    }
    body_of.operations(&mut b, u)?;
    let mut second = false;
    match u.int_in_range(0..=9)? {
        0..=4 => b.exit(),
        5 => b.jump(last),
        6 => {
            let [id, threads] = [b.iconst(Type::I32, 0), b.iconst(Type::I32, 0)];
            let barrier = Barrier {
                kind: BarrierKind::Sync,
                counts: BarrierCounts::Warps,
                id,
                threads: Some(threads),
                predicate: None,
            };
            b.barrier(barrier, body);
            second = true;
        }
        _ => {
            // The block ends like a loop.
            if u.arbitrary()? {
                body_of.leave(&mut b, u)?;
            }
            let active = b.read_active();
            let [low, high] = body_of.halves(&mut b, u)?;
            for (index, &word) in
                (0..WORDS).zip([body_of.index, *u.choose(&body_of.pool.words)?, low, high].iter())
            {
                b.rf_write(words.reg(index), word);
            }
            b.branch(active, body, last);
            second = true;
        }
    }
    let mut b = f.at(body);
    let mut third = false;
    if second {
        body_of = body_of.follow(&mut b, words, u)?;
        third = u.ratio(1, 3)?;
    }
    if third {
        body_of.pass_on(&mut b, words, u)?;
        let active = b.read_active();
        b.branch(active, tail, last);
    } else {
        b.exit();
    }
    let mut b = f.at(tail);
    if third {
        body_of = body_of.follow(&mut b, words, u)?;
    }
    b.exit();
    let independent = body_of.independent && body_of.places.iter().all(BufferUse::are_own);
    Ok(Elementwise {
        function: f.finish().expect("generated operations are well-typed"),
        independent,
    })
}

/// The accesses to a buffer.
#[derive(Clone, Copy, Default)]
struct BufferUse {
    /// The distance between lanes, the offset and the size of the first access.
    first: Option<(i64, i32, u32)>,
    others: bool,
    written: bool,
}

impl BufferUse {
    fn add(&mut self, step: i64, offset: i32, bytes: u32, writes: bool) {
        let place = (step, offset, bytes);
        self.others |= *self.first.get_or_insert(place) != place;
        self.written |= writes;
    }

    /// Whether no lane accesses memory that another lane writes, if indices are unique.
    fn are_own(&self) -> bool {
        let apart = self.first.is_none_or(|(step, _, bytes)| step.unsigned_abs() >= bytes.into());
        !self.written || apart && !self.others
    }
}

struct Body {
    index: Value,
    /// Whether indices differ in all lanes of the grid.
    is_own: bool,
    pool: Pool,
    places: [BufferUse; BUFFERS],
    independent: bool,
    /// An address from an earlier block.
    earlier: Option<Value>,
    /// Column and row in a picture.
    point: Option<[Value; 2]>,
}

impl Body {
    fn new(b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<Body> {
        let tid = b.special(Special::Tid(0));
        let choice = u.int_in_range(0..=13)?;
        let mut is_own = choice <= 4;
        let mut point = None;
        let index = match choice {
            0..=4 => {
                let (ctaid, ntid) = (b.special(Special::Ctaid(0)), b.special(Special::Ntid(0)));
                let first = b.mul(ctaid, ntid);
                b.add(first, tid)
            }
            5 | 6 => tid,
            7 | 8 => {
                let word = b.load_const(0, word_offset(1), Type::I32);
                b.add(tid, word)
            }
            9 => b.lane_id(),
            12.. => {
                // The index of a pixel in a picture that the grid covers, or in one of another
                // width.
                let [x, y] = [0, 1].map(|axis| {
                    let [ctaid, ntid] = [Special::Ctaid(axis), Special::Ntid(axis)]
                        .map(|special| b.special(special));
                    let (first, tid) = (b.mul(ctaid, ntid), b.special(Special::Tid(axis)));
                    b.add(first, tid)
                });
                is_own = u.arbitrary()?;
                let pitch = if is_own {
                    let [count, width] =
                        [Special::Nctaid(0), Special::Ntid(0)].map(|special| b.special(special));
                    b.mul(count, width)
                } else {
                    b.iconst(Type::I32, *u.choose(&[0, 16, 64, 100, 512])?)
                };
                let start = b.mul(y, pitch);
                point = Some([x, y]);
                b.add(start, x)
            }
            _ => {
                // The index of an element in rows of the block's width or of another width.
                let [width, height] = [0, 1].map(|axis| b.special(Special::Ntid(axis)));
                is_own = u.arbitrary()?;
                let pitch = if is_own {
                    width
                } else {
                    b.iconst(Type::I32, *u.choose(&[0, 8, 20, 64, 512])?)
                };
                let (ctaid, y) = (b.special(Special::Ctaid(0)), b.special(Special::Tid(1)));
                let rows = b.mul(ctaid, height);
                let row = b.add(rows, y);
                let start = b.mul(row, pitch);
                b.add(start, tid)
            }
        };
        let mut pool = Pool::with(b, index, u)?;
        pool.words.extend(point.into_iter().flatten());
        if choice > 9 {
            let y = b.special(Special::Tid(1));
            pool.words.push(y);
        }
        let mut independent = is_own;
        match u.int_in_range(0..=19)? {
            0 => {
                let warp = b.special(Special::WarpId);
                pool.words.push(warp);
            }
            1 => {
                let clock = b.special(Special::Clock);
                let word = b.trunc(Type::I32, clock);
                pool.words.push(word);
                independent = false;
            }
            _ => {}
        }
        Ok(Body {
            index,
            is_own,
            pool,
            places: Default::default(),
            independent,
            earlier: None,
            point,
        })
    }

    /// Emits a later block, which reads registers that this block left.
    fn follow(
        self,
        b: &mut BlockBuilder<'_>,
        words: BankId,
        u: &mut Unstructured<'_>,
    ) -> Result<Body> {
        let mut next = Body::new(b, u)?;
        next.places = self.places;
        next.independent = self.independent && next.is_own;
        if u.arbitrary()? {
            next.index = b.rf_read(words.reg(0));
            next.independent = false;
        }
        let word = b.rf_read(words.reg(1));
        next.pool.words.push(word);
        let [low, high] = [2, 3].map(|index| b.rf_read(words.reg(index)));
        next.earlier = Some(b.concat(low, high));
        next.operations(b, u)?;
        Ok(next)
    }

    /// Overwrites registers for a later block, some of them in some lanes only.
    fn pass_on(
        &self,
        b: &mut BlockBuilder<'_>,
        words: BankId,
        u: &mut Unstructured<'_>,
    ) -> Result<()> {
        if let Some(address) = self.earlier.filter(|_| u.arbitrary().unwrap_or(false)) {
            // The address advances as a pointer in a loop.
            let [low, high] = [b.trunc(Type::I32, address), b.high_half(address)];
            let (step, zero) =
                (b.iconst(Type::I32, *u.choose(&[4, 64, 0xffff_fffc])?), b.iconst(Type::I32, 0));
            let (low, carry) = b.add_carry(low, step, None);
            let (high, _) = b.add_carry(high, zero, Some(carry));
            b.rf_write(words.reg(2), low);
            b.rf_write(words.reg(3), high);
        }
        for index in 0..2 {
            if u.ratio(1, 3)? {
                b.set_guard(Some(*u.choose(&self.pool.masks)?));
            }
            let one = b.iconst(Type::I32, 1);
            let next = b.add(self.index, one);
            let word = *u.choose(&self.pool.words)?;
            b.rf_write(words.reg(index), if u.arbitrary()? { next } else { word });
            b.set_guard(None);
        }
        Ok(())
    }

    /// Returns the halves of an element's address. Some lanes may have the high half of another
    /// buffer.
    fn halves(&mut self, b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<[Value; 2]> {
        let four = b.iconst(Type::I32, 4);
        let at = b.mul(self.index, four);
        let address = address(b, u.int_in_range(0..=BUFFERS - 1)?, at, u)?;
        let [low, mut high] = [b.trunc(Type::I32, address), b.high_half(address)];
        if u.ratio(1, 4)? {
            // The distance between buffers is a multiple of the reach of the low half.
            let one = b.iconst(Type::I32, 1);
            let other = b.xor(high, one);
            high = b.select(*u.choose(&self.pool.masks)?, other, high);
        }
        Ok([low, high])
    }

    fn operations(&mut self, b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<()> {
        if u.ratio(1, 12)? {
            // The block is a histogram of loaded values, and nothing else.
            for _ in 0..u.int_in_range(1..=3)? {
                self.load(b, u)?;
            }
            return self.scatter(b, u);
        }
        let atomics = u.ratio(1, 4)?;
        for _ in 0..u.int_in_range(1..=8)? {
            match u.int_in_range(0..=23)? {
                0 => self.leave(b, u)?,
                1..=7 => self.load(b, u)?,
                8..=10 => self.store(b, u)?,
                11 if atomics => self.atomic(b, u)?,
                12 | 13 if atomics => self.scatter(b, u)?,
                11..=14 => arithmetic::wide(b, &mut self.pool, u)?,
                15..=18 => arithmetic::float(b, &mut self.pool, u)?,
                _ => arithmetic::integer(b, &mut self.pool, u)?,
            }
        }
        // A histogram has no store behind it.
        if u.ratio(9, 10)? { self.store(b, u) } else { Ok(()) }
    }

    /// Ends lanes at or past a bound: all or no lanes of a warp, or each lane by its index.
    fn leave(&mut self, b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<()> {
        let bound = b.load_const(0, word_offset(0), Type::I32);
        let what = match u.int_in_range(0..=9)? {
            0 => b.load_const(0, word_offset(1), Type::I32),
            1 | 2 => {
                let step = b.iconst(Type::I32, *u.choose(&[2, 4, 0xffff_ffff, 0xffff_fffc])?);
                b.mul(self.index, step)
            }
            _ => self.index,
        };
        let cc = if u.ratio(2, 3)? { *u.choose(&[IntCc::LtS, IntCc::LtU])? } else { named(u)? };
        let inside = if u.arbitrary()? {
            b.icmp(cc, what, bound)
        } else {
            b.icmp(cc.swapped(), bound, what)
        };
        let active = b.read_active();
        let rest = b.and(active, inside);
        b.write_active(rest);
        self.pool.masks.push(inside);
        Ok(())
    }

    /// Returns an access that is evenly spaced, or in tiles.
    fn access(
        &mut self,
        b: &mut BlockBuilder<'_>,
        writes: bool,
        u: &mut Unstructured<'_>,
    ) -> Result<Access> {
        let (ty, count) = *u.choose(&[
            (Type::I32, 1),
            (Type::I32, 1),
            (Type::I32, 2),
            (Type::I32, 4),
            (Type::I8, 1),
            (Type::I16, 1),
        ])?;
        let bytes = ty.bytes() * u32::from(count);
        let whole = i64::from(bytes);
        let step =
            if u.ratio(5, 6)? { whole } else { *u.choose(&[0, 2 * whole, -whole, 4, 3, 12])? };
        let k = b.iconst(Type::I32, step as u32 as u64);
        let mut at = b.mul(self.index, k);
        if !writes && u.ratio(1, 8)? {
            // The access is to an element by a number of any origin.
            let word = *u.choose(&self.pool.words)?;
            let some = b.iconst(Type::I32, *u.choose(&[0xff, 0x3fff, 0x8000_00ff])?);
            let number = b.and(word, some);
            at = if b.ty(number).is_uniform() { b.splat(number) } else { number };
            self.independent = false;
            let buffer = u.int_in_range(0..=BUFFERS - 1)?;
            let address = by_number(b, buffer, at, bytes, u)?;
            return Ok(b.access(Space::Global, ty, count, address, *u.choose(&[0, 0, 4, -4])?));
        }
        if u.ratio(1, 6)? {
            at = in_tiles(b, at, u)?;
            self.independent = false;
        }
        let offset = if u.ratio(5, 6)? { 0 } else { *u.choose(&[4, -4, 16, 32, 128, 4096])? };
        let (space, address) =
            if let Some(earlier) = self.earlier.filter(|_| u.ratio(1, 4).unwrap_or(false)) {
                self.independent = false;
                (Space::Global, earlier)
            } else if u.ratio(1, 5)? {
                (Space::Shared, at)
            } else {
                let buffer = u.int_in_range(0..=BUFFERS - 1)?;
                self.places[buffer].add(step, offset, bytes, writes);
                (
                    *u.choose(&[Space::Global, Space::Global, Space::Generic])?,
                    address(b, buffer, at, u)?,
                )
            };
        let access = b.access(space, ty, count, address, offset);
        Ok(if u.ratio(1, 8)? { Access { align: 1, ..access } } else { access })
    }

    fn load(&mut self, b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<()> {
        self.guard(b, u)?;
        let access = self.access(b, false, u)?;
        let extend = if access.ty == Type::I32 {
            Extend::None
        } else {
            *u.choose(&[Extend::Signed, Extend::Unsigned])?
        };
        let values = b.load_access(access, extend);
        b.set_guard(None);
        for v in values {
            self.pool.words.push(v);
            let f = b.bitcast(Type::F32, v);
            self.pool.floats.push(f);
        }
        Ok(())
    }

    fn store(&mut self, b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<()> {
        self.guard(b, u)?;
        let access = self.access(b, true, u)?;
        let mut values = Vec::new();
        for _ in 0..access.count {
            // Mostly, the value is the last one computed.
            let words = &self.pool.words;
            let v = if u.ratio(1, 3)? {
                *u.choose(words)?
            } else {
                *words.last().expect("never empty")
            };
            values.push(if access.ty == Type::I32 { v } else { b.trunc(access.ty, v) });
        }
        b.store_access(access, &values);
        b.set_guard(None);
        Ok(())
    }

    /// Sometimes sets a mask for the next access.
    fn guard(&self, b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<()> {
        if let Some(point) = self.point.filter(|_| u.arbitrary().unwrap_or(false)) {
            // The mask has the lanes that are not at an edge.
            let mut inside = b.read_active();
            for _ in 0..u.int_in_range(1..=3)? {
                let bound = b.iconst(Type::I32, *u.choose(&[0, 1, 1, 31, 62, 63])?);
                let inner = b.icmp(named(u)?, *u.choose(&point)?, bound);
                inside = b.and(inside, inner);
            }
            b.set_guard(Some(inside));
        } else if u.ratio(1, 20)? {
            b.set_guard(Some(*u.choose(&self.pool.masks)?));
        }
        Ok(())
    }

    /// Emits an atomic on evenly spaced or equal addresses.
    fn atomic(&mut self, b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<()> {
        let access = self.access(b, true, u)?;
        let access = Access { ty: Type::I32, count: 1, align: 4, ..access };
        self.independent &= access.space == Space::Shared;
        let op = *u.choose(&[AtomicOp::Add, AtomicOp::MaxS, AtomicOp::Exchange, AtomicOp::Inc])?;
        let old = b.atomic(access, op, *u.choose(&self.pool.words)?, None);
        self.pool.words.push(old);
        Ok(())
    }

    /// Emits an atomic or a store on any addresses in shared memory, or past it.
    fn scatter(&mut self, b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<()> {
        let word = *self.pool.words.last().expect("never empty");
        let bound = b.iconst(
            Type::I32,
            if u.ratio(1, 3)? { 0x7fff } else { u64::from(SHARED_BYTES) / 4 - 1 },
        );
        let four = b.iconst(Type::I32, 4);
        let index = b.and(word, bound);
        let at = b.mul(index, four);
        let at = if b.ty(at).is_uniform() { b.splat(at) } else { at };
        let value = *u.choose(&self.pool.words)?;
        let access = b.access(Space::Shared, Type::I32, 1, at, 0);
        if u.arbitrary()? {
            b.atomic(access, AtomicOp::Add, value, None);
        } else {
            b.store_access(access, &[value]);
        }
        Ok(())
    }
}

/// Returns a byte's offset in an image of tiles: the column's bits make room for bits of the row.
fn in_tiles(b: &mut BlockBuilder<'_>, column: Value, u: &mut Unstructured<'_>) -> Result<Value> {
    let begin = b.iconst(Type::I32, *u.choose(&[0, 0, 0, 64, 32, 4])?);
    let column = b.add(column, begin);
    let row = b.load_const(0, word_offset(1), Type::I32);
    let mut offset = b.iconst(Type::I32, *u.choose(&[0, 0, 16, 0x1000])?);
    // Each entry takes bits of the column or of the row: which bits, and how far up they go.
    let layout: &[(bool, u32, u32)] = match u.int_in_range(0..=2)? {
        0 => &[
            (true, 15, 0),
            (false, 1, 4),
            (true, 16, 1),
            (true, 32, 2),
            (false, 2, 5),
            (true, !63, 2),
        ],
        1 => &[(true, 63, 0), (false, 3, 6), (true, !63, 2)],
        _ => &[(true, 3, 0), (false, 1, 2), (true, 4, 1), (false, 2, 3), (true, !7, 2)],
    };
    for &(of_column, mask, left) in layout {
        let mask = b.iconst(Type::I32, mask.into());
        let (mut bits, count) =
            (b.and(if of_column { column } else { row }, mask), b.iconst(Type::I32, left.into()));
        bits = b.shl(bits, count);
        offset = match u.int_in_range(0..=5)? {
            0 => b.xor(offset, bits),
            1 => b.add(offset, bits),
            _ => b.or(offset, bits),
        };
    }
    Ok(offset)
}

/// Returns the address of an element of a buffer by the element's number.
fn by_number(
    b: &mut BlockBuilder<'_>,
    buffer: usize,
    number: Value,
    bytes: u32,
    u: &mut Unstructured<'_>,
) -> Result<Value> {
    let base = b.load_const(0, pointer_offset(buffer), Type::I64);
    let wide = if u.arbitrary()? {
        b.zero_extend(Type::I64, number)
    } else {
        b.sign_extend(Type::I64, number)
    };
    let shift = b.iconst(Type::I64, u64::from(bytes.trailing_zeros()));
    let distance = b.shl(wide, shift);
    Ok(b.add(distance, base))
}

/// Returns the address of a byte in a buffer. The pointer is added as a whole or in halves, as
/// 32-bit machines do.
fn address(
    b: &mut BlockBuilder<'_>,
    buffer: usize,
    at: Value,
    u: &mut Unstructured<'_>,
) -> Result<Value> {
    let offset = pointer_offset(buffer);
    if u.arbitrary()? {
        let base = b.load_const(0, offset, Type::I64);
        let wide = if u.ratio(1, 4)? {
            b.zero_extend(Type::I64, at)
        } else {
            b.sign_extend(Type::I64, at)
        };
        return Ok(b.add(wide, base));
    }
    let (low, high) = (b.load_const(0, offset, Type::I32), b.load_const(0, offset + 4, Type::I32));
    let bits = b.iconst(Type::I32, 31);
    let sign = b.shr_s(at, bits);
    let (low, carry) = b.add_carry(at, low, None);
    let (high, _) = b.add_carry(sign, high, Some(carry));
    Ok(b.concat(low, high))
}
