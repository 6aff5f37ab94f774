//! Scalar memory: all of SMEM.
//!
//! Source: "Vega" Instruction Set Architecture, section 7, as the project's seed has it. Decisions
//! on open questions are in `docs/fidelity.md`.

use warploom_ir::{Access, AtomicOp, Extend, IntCc, Space, Special, Type, Value};

use super::context::Cx;
use super::entry::BANK;
use super::known::Known;
use super::{Flow, Lifted};
use crate::{Instruction, Operand, Smem};

/// The number of scalar registers that memory may be loaded to and stored from: s0 to s101. Pairs
/// and quads that stand alone follow.
const SCALARS: u8 = 102;
const TRAP_HANDLER: std::ops::Range<u8> = 108..124;

/// Returns the first register of the data, or `None` if the registers are out of range.
///
/// Data out of range mean that nothing is executed. A number that is not aligned is rounded down
/// ("may return invalid data").
fn data_registers(smem: &Smem, words: u8) -> Option<u8> {
    let Operand::Scalar(number) = smem.data else { return None };
    let number = number & !(words.min(4) - 1);
    let end = u16::from(number) + u16::from(words);
    let within = |first: u8, last: u8| first <= number && end <= u16::from(last);
    let valid = within(0, SCALARS)
        // flat_scratch, xnack_mask, vcc
        || [102, 104, 106].iter().any(|&pair| within(pair, pair + 2))
        || within(TRAP_HANDLER.start, TRAP_HANDLER.end);
    valid.then_some(number)
}

/// Returns the first register of the base; s0 if the base is out of range.
fn base_register(smem: &Smem, buffer: bool) -> u8 {
    match smem.base {
        Operand::Scalar(number) if number < TRAP_HANDLER.end => {
            number & if buffer { !3 } else { !1 }
        }
        _ => 0,
    }
}

/// The base of an access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// A 64-bit address.
    Address,
    /// A 64-bit address. A register's offset counts units of 64 bytes.
    Scratch,
    /// A buffer constant.
    Buffer,
}

/// The start of an access, and its limit.
struct ScalarRange {
    /// The address: `i64`.
    address: Value,
    /// For a buffer: the offset in it, and its size, in bytes: `i64`.
    range: Option<(Value, Value)>,
}

/// Returns the address: base plus offsets. The two lowest bits of each are ignored.
fn place(cx: &mut Cx<'_>, smem: &Smem, base: Base) -> ScalarRange {
    let first = base_register(smem, base == Base::Buffer);
    let mut offset = match smem.soffset {
        Some(register) => {
            let offset = cx.scalar(register);
            let offset = cx.and_bits(offset, 0xffff_fffc);
            let offset = cx.b.zero_extend(Type::I64, offset);
            if base == Base::Scratch { cx.shl(offset, 6) } else { offset }
        }
        None => cx.long(0),
    };
    // The immediate offset of the buffer forms has 20 bits.
    let immediate = if base == Base::Buffer { smem.offset & 0xf_ffff } else { smem.offset } & !3;
    if immediate != 0 {
        let immediate = cx.long(i64::from(immediate) as u64);
        offset = cx.b.add(offset, immediate);
    }
    let low = cx.scalar_pair(Operand::Scalar(first));
    // A descriptor's address has 48 bits. The bits above repeat bit 47.
    let start = if base == Base::Buffer {
        let high = cx.shl(low, 16);
        cx.sar(high, 16)
    } else {
        low
    };
    let start = cx.and_bits(start, !3);
    let address = cx.b.add(start, offset);
    let range = (base == Base::Buffer).then(|| {
        let stride = cx.shr(low, 48);
        let records = cx.scalar(Operand::Scalar(first.wrapping_add(2)));
        let records = cx.b.zero_extend(Type::I64, records);
        let (one, none) = (cx.long(1), cx.is_zero(stride));
        let unit = cx.b.uniform_select(none, one, stride);
        (offset, cx.b.mul(unit, records))
    });
    ScalarRange { address, range }
}

impl ScalarRange {
    /// Returns whether the bytes from `at` on lie in the buffer: all lanes or none; `None` if there
    /// is no buffer.
    fn guard(&self, cx: &mut Cx<'_>, at: u32, bytes: u32) -> Option<Value> {
        let (offset, size) = self.range?;
        let end = cx.long(u64::from(at + bytes));
        let end = cx.b.add(offset, end);
        Some(cx.b.icmp(IntCc::LeU, end, size))
    }

    fn access(&self, ty: Type, count: u8, at: u32, guard: Option<Value>) -> Access {
        let align = ty.bytes() as u8;
        Access {
            space: Space::Global,
            ty,
            count,
            align,
            address: self.address,
            offset: at as i32,
            guard,
            nomask: false,
        }
    }
}

fn load(cx: &mut Cx<'_>, i: &Instruction, base: Base, words: u8) -> Lifted {
    let smem = i.smem();
    let Some(first) = data_registers(&smem, words) else { return Ok(Flow::Next) };
    if base == Base::Address
        && let Some(offset) = constant_offset(cx, &smem, words)
    {
        load_constants(cx, first, offset, words);
        return Ok(Flow::Next);
    }
    let place = place(cx, &smem, base);
    let values = if place.range.is_some() {
        load_in_range(cx, &place, words)
    } else {
        cx.b.load_access(place.access(Type::I32, words, 0, None), Extend::None).to_vec()
    };
    write(cx, first, &values);
    Ok(Flow::Next)
}

/// Loads the words of a buffer. Each word out of range gives 0.
///
/// If all words are in range, one access loads them all.
fn load_in_range(cx: &mut Cx<'_>, place: &ScalarRange, words: u8) -> Vec<Value> {
    let all = place.guard(cx, 0, 4 * u32::from(words));
    let values = cx.b.load_access(place.access(Type::I32, words, 0, all), Extend::None).to_vec();
    let Some(all) = all.filter(|_| words > 1) else { return values };
    let some = cx.b.not(all);
    // The last word is out of range if any word is.
    let (last, others) = values.split_last().expect("a load has words");
    let word = |(&whole, at): (&Value, u32)| {
        let within = place.guard(cx, at, 4).map(|within| cx.b.and(within, some));
        let single = cx.b.load_access(place.access(Type::I32, 1, at, within), Extend::None)[0];
        cx.b.or(whole, single)
    };
    let mut result: Vec<Value> = others.iter().zip((0..).step_by(4)).map(word).collect();
    result.push(*last);
    result
}

/// Returns the offset in constant bank 0 of a load's words, if the bank has a copy of their memory.
fn constant_offset(cx: &Cx<'_>, smem: &Smem, words: u8) -> Option<u32> {
    let pointer = cx.known.long(base_register(smem, false))?;
    let memory = cx.constants.iter().find(|memory| memory.pointer == pointer)?;
    let offset = u32::try_from(smem.offset & !3).ok().filter(|_| smem.soffset.is_none())?;
    let end = offset + 4 * u32::from(words);
    (end <= memory.bytes).then_some(memory.offset + offset)
}

fn load_constants(cx: &mut Cx<'_>, first: u8, offset: u32, words: u8) {
    write_constants(cx, first, offset, words);
    for word in 0..words {
        cx.known.set(first + word, Some(Known::Word(offset + 4 * u32::from(word))));
    }
}

fn write_constants(cx: &mut Cx<'_>, first: u8, offset: u32, words: u8) {
    if offset.is_multiple_of(8) && words > 1 {
        for pair in 0..words / 2 {
            let whole = cx.b.load_const(BANK, offset + 8 * u32::from(pair), Type::I64);
            cx.set_scalar_pair(Operand::Scalar(first + 2 * pair), whole);
        }
        return;
    }
    let words: Vec<Value> = (0..words.into())
        .map(|word: u32| cx.b.load_const(BANK, offset + 4 * word, Type::I32))
        .collect();
    write(cx, first, &words);
}

/// Writes registers from `first` on, in pairs where possible.
fn write(cx: &mut Cx<'_>, first: u8, values: &[Value]) {
    for (pair, number) in values.chunks(2).zip((first..).step_by(2)) {
        match *pair {
            [low, high] => {
                let whole = cx.b.concat(low, high);
                cx.set_scalar_pair(Operand::Scalar(number), whole);
            }
            _ => cx.set_scalar(Operand::Scalar(number), pair[0]),
        }
    }
}

fn store(cx: &mut Cx<'_>, i: &Instruction, base: Base, words: u8) -> Lifted {
    let smem = i.smem();
    let Some(first) = data_registers(&smem, words) else { return Ok(Flow::Next) };
    let place = place(cx, &smem, base);
    let values: Vec<Value> =
        (first..first + words).map(|number| cx.scalar(Operand::Scalar(number))).collect();
    if place.range.is_none() {
        cx.b.store_access(place.access(Type::I32, words, 0, None), &values);
        return Ok(Flow::Next);
    }
    for (value, at) in values.into_iter().zip((0..).step_by(4)) {
        let guard = place.guard(cx, at, 4);
        cx.b.store_access(place.access(Type::I32, 1, at, guard), &[value]);
    }
    Ok(Flow::Next)
}

fn atomic(cx: &mut Cx<'_>, i: &Instruction, base: Base, ty: Type, op: AtomicOp) -> Lifted {
    let smem = i.smem();
    let exchanges = op == AtomicOp::CompareExchange;
    let words = (ty.bytes() / 4) as u8 * if exchanges { 2 } else { 1 };
    let Some(first) = data_registers(&smem, words) else { return Ok(Flow::Next) };
    let place = place(cx, &smem, base);
    let operand = |cx: &mut Cx<'_>, number: u8| match ty {
        Type::I64 => cx.scalar_pair(Operand::Scalar(number)),
        _ => cx.scalar(Operand::Scalar(number)),
    };
    let value = operand(cx, first);
    let compare = exchanges.then(|| operand(cx, first + words / 2));
    let guard = place.guard(cx, 0, ty.bytes());
    let old = cx.b.atomic(place.access(ty, 1, 0, guard), op, value, compare);
    if smem.glc {
        match ty {
            Type::I64 => cx.set_scalar_pair(Operand::Scalar(first), old),
            _ => cx.set_scalar(Operand::Scalar(first), old),
        }
    }
    Ok(Flow::Next)
}

macro_rules! transfers {
    ($($name:ident: $how:ident $base:ident $words:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            $how(cx, i, Base::$base, $words)
        }
    )*};
}

transfers! {
    s_load_dword: load Address 1;
    s_load_dwordx2: load Address 2;
    s_load_dwordx4: load Address 4;
    s_load_dwordx8: load Address 8;
    s_load_dwordx16: load Address 16;
    s_buffer_load_dword: load Buffer 1;
    s_buffer_load_dwordx2: load Buffer 2;
    s_buffer_load_dwordx4: load Buffer 4;
    s_buffer_load_dwordx8: load Buffer 8;
    s_buffer_load_dwordx16: load Buffer 16;
    s_scratch_load_dword: load Scratch 1;
    s_scratch_load_dwordx2: load Scratch 2;
    s_scratch_load_dwordx4: load Scratch 4;
    s_store_dword: store Address 1;
    s_store_dwordx2: store Address 2;
    s_store_dwordx4: store Address 4;
    s_buffer_store_dword: store Buffer 1;
    s_buffer_store_dwordx2: store Buffer 2;
    s_buffer_store_dwordx4: store Buffer 4;
    s_scratch_store_dword: store Scratch 1;
    s_scratch_store_dwordx2: store Scratch 2;
    s_scratch_store_dwordx4: store Scratch 4;
}

/// Declares each atomic in four forms: by address and by buffer constant, of 32 and of 64 bits.
macro_rules! atomics {
    ($($narrow:ident $wide:ident $buffer:ident $wide_buffer:ident: $op:ident;)*) => {$(
        pub fn $narrow(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            atomic(cx, i, Base::Address, Type::I32, AtomicOp::$op)
        }

        pub fn $wide(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            atomic(cx, i, Base::Address, Type::I64, AtomicOp::$op)
        }

        pub fn $buffer(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            atomic(cx, i, Base::Buffer, Type::I32, AtomicOp::$op)
        }

        pub fn $wide_buffer(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            atomic(cx, i, Base::Buffer, Type::I64, AtomicOp::$op)
        }
    )*};
}

atomics! {
    s_atomic_swap s_atomic_swap_x2 s_buffer_atomic_swap s_buffer_atomic_swap_x2: Exchange;
    s_atomic_cmpswap s_atomic_cmpswap_x2 s_buffer_atomic_cmpswap s_buffer_atomic_cmpswap_x2: CompareExchange;
    s_atomic_add s_atomic_add_x2 s_buffer_atomic_add s_buffer_atomic_add_x2: Add;
    s_atomic_sub s_atomic_sub_x2 s_buffer_atomic_sub s_buffer_atomic_sub_x2: Sub;
    s_atomic_smin s_atomic_smin_x2 s_buffer_atomic_smin s_buffer_atomic_smin_x2: MinS;
    s_atomic_umin s_atomic_umin_x2 s_buffer_atomic_umin s_buffer_atomic_umin_x2: MinU;
    s_atomic_smax s_atomic_smax_x2 s_buffer_atomic_smax s_buffer_atomic_smax_x2: MaxS;
    s_atomic_umax s_atomic_umax_x2 s_buffer_atomic_umax s_buffer_atomic_umax_x2: MaxU;
    s_atomic_and s_atomic_and_x2 s_buffer_atomic_and s_buffer_atomic_and_x2: And;
    s_atomic_or s_atomic_or_x2 s_buffer_atomic_or s_buffer_atomic_or_x2: Or;
    s_atomic_xor s_atomic_xor_x2 s_buffer_atomic_xor s_buffer_atomic_xor_x2: Xor;
    s_atomic_inc s_atomic_inc_x2 s_buffer_atomic_inc s_buffer_atomic_inc_x2: Inc;
    s_atomic_dec s_atomic_dec_x2 s_buffer_atomic_dec s_buffer_atomic_dec_x2: Dec;
}

/// Declares operations on caches. Memory is coherent here, so they only order accesses.
macro_rules! cache_control {
    ($($name:ident)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, _: &Instruction) -> Lifted {
            cx.b.fence();
            Ok(Flow::Next)
        }
    )*};
}

cache_control! { s_dcache_inv s_dcache_inv_vol s_dcache_wb s_dcache_wb_vol }

/// Declares hints: prefetches of translations, and hints that a line need not be kept.
///
/// Hints touch no memory and do not fault.
macro_rules! hints {
    ($($name:ident)*) => {$(
        pub fn $name(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
            Ok(Flow::Next)
        }
    )*};
}

hints! { s_atc_probe s_atc_probe_buffer s_dcache_discard s_dcache_discard_x2 }

/// Emits the value of a counter. Both counters count guest instructions: `docs/fidelity.md`.
fn time(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if let Some(first) = data_registers(&i.smem(), 2) {
        let clock = cx.b.special(Special::Clock);
        cx.set_scalar_pair(Operand::Scalar(first), clock);
    }
    Ok(Flow::Next)
}

pub fn s_memtime(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    time(cx, i)
}

pub fn s_memrealtime(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    time(cx, i)
}
