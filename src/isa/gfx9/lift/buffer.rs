//! MUBUF: buffers by descriptor, without conversion of formats.
//!
//! Sources: "Vega" Instruction Set Architecture, "Buffer addressing" and "Range checking"; CLRX,
//! "GCN Memory instructions"; the buffer descriptors that Mesa and LLVM make. Decisions on open
//! questions are in `docs/fidelity.md`.

use warploom_ir::{Access, AtomicOp, IntCc, Space, Type, Value};

use super::context::Cx;
use super::lds::{self, Share};
use super::scalars::M0;
use super::vector_memory::{Item, lifts, operand_of, register, within, write_back};
use super::{Flow, Lifted, Unsupported};
use crate::{Buffer, Encoding, Instruction, Operand};

/// Returns the instruction's fields if its data are in registers and it returns no status.
pub(super) fn fields(i: &Instruction) -> Result<Buffer, Unsupported> {
    let buffer = i.buffer();
    if buffer.lds || buffer.tfe { Err(Unsupported) } else { Ok(buffer) }
}

/// Where an instruction's lanes access a buffer. No field depends on the kind of access.
///
/// A linear buffer counts as a buffer whose records are interleaved in groups of 1. So all buffers
/// share one address computation, whose numbers depend on the descriptor.
pub(super) struct BufferAddress {
    /// The guest address of the first byte.
    pub address: Value,
    /// The distance in bytes from one word of a record to the next: uniform `i64`.
    apart: Value,
    /// The offset in the record, and the limit that guards compare it with: `i32`.
    offset: Value,
    limit: Value,
    /// The lanes whose record exists. `None` if the instruction has no record index.
    record: Option<Value>,
    /// A mask of all lanes if the offset is not checked.
    unchecked: Option<Value>,
    /// The word of the descriptor that holds the format.
    pub format: Value,
}

impl BufferAddress {
    /// Returns the address of the data of an instruction of this encoding.
    ///
    /// MTBUF holds the format in the instruction; MUBUF takes it from the descriptor.
    pub fn new(cx: &mut Cx<'_>, buffer: &Buffer, encoding: Encoding) -> BufferAddress {
        let first = if let Operand::Scalar(number) = buffer.srsrc { number } else { 0 };
        let number = |word: u8| first.wrapping_add(word);
        let [w0, w1, records, w3] =
            [0, 1, 2, 3].map(|word| cx.scalar(Operand::Scalar(number(word))));
        let soffset = cx.scalar(buffer.soffset);
        let zero = cx.int(0);
        let [swizzled, by_lane] = [(number(1), 31), (number(3), 23)].map(|(word, bit)| {
            let bit = cx.field(word, bit, 1);
            cx.b.icmp(IntCc::Ne, bit, zero)
        });

        // If lanes are records, bits 14 to 17 of the stride replace the data format.
        let stride = cx.field(number(1), 16, 14);
        let data_format = cx.field(number(3), 15, 4);
        let more = cx.shl(data_format, 14);
        let more = cx.b.uniform_select(by_lane, more, zero);
        // Otherwise a data format of 0, "invalid", means that no buffer is bound: it has no
        // records.
        let records = if encoding == Encoding::Mtbuf {
            records
        } else {
            let valid = cx.b.icmp(IntCc::Ne, data_format, zero);
            let bound = cx.b.or(valid, by_lane);
            cx.b.uniform_select(bound, records, zero)
        };
        let stride = cx.b.or(stride, more);

        // Groups have 8 to 64 records, or one record.
        let group = cx.field(number(3), 21, 2);
        let three = cx.int(3);
        let group = cx.b.add(group, three);
        let shift = cx.b.uniform_select(swizzled, group, zero);
        let lanes_are_one_group = cx.known_field(number(1), 31, 1) == Some(1)
            && cx.known_field(number(3), 21, 2) == Some(3);

        let mut registers =
            register(buffer.vaddr).into_iter().flat_map(|first| [first, first.wrapping_add(1)]);
        let lane = cx.b.lane_id();
        let by_lane_bits = cx.b.from_mask(by_lane);
        let by_lane_bits = cx.b.trunc(Type::I32, by_lane_bits);
        let lane = cx.b.and(lane, by_lane_bits);
        let explicit =
            if buffer.idxen { registers.next().map(|number| cx.vector(number)) } else { None };
        let index = explicit.map_or(lane, |index| cx.b.add(index, lane));
        let immediate = cx.int(buffer.offset.into());
        let offset = match registers.next().filter(|_| buffer.offen) {
            Some(number) => {
                let offset = cx.vector(number);
                cx.b.add(offset, immediate)
            }
            None => immediate,
        };

        let word = cx.and_bits(offset, 0xffff_fffc);
        let (row, column) = if explicit.is_none() && lanes_are_one_group {
            (word, lane)
        } else {
            let group_index = cx.b.shr_u(index, shift);
            let rows = cx.b.mul(group_index, stride);
            let one = cx.int(1);
            let count = cx.b.shl(one, shift);
            let last = cx.b.sub(count, one);
            (cx.b.add(rows, word), cx.b.and(index, last))
        };
        let row = cx.b.shl(row, shift);
        let column = cx.shl(column, 2);
        let byte = cx.and_bits(offset, 3);
        let column = cx.b.or(column, byte);
        let total = cx.b.add(row, column);
        let total = cx.b.zero_extend(Type::I64, total);

        // Addresses have 48 bits. The bits above repeat bit 47.
        let high = cx.low_bits(w1, 16, true);
        let base = cx.b.concat(w0, high);
        let wide = cx.b.zero_extend(Type::I64, soffset);
        let base = cx.b.add(base, wide);
        let address = cx.b.add(base, total);
        let four = cx.int(4);
        let apart = cx.b.shl(four, shift);
        let apart = cx.b.zero_extend(Type::I64, apart);

        // The number of bytes that remain after `soffset` skips some.
        let skipped = cx.b.min_u(soffset, records);
        let bytes = cx.b.sub(records, skipped);
        let mut place = BufferAddress {
            address,
            apart,
            offset,
            limit: bytes,
            record: None,
            unchecked: None,
            format: w3,
        };
        if explicit.is_some() {
            let structured = cx.b.icmp(IntCc::Ne, stride, zero);
            let raw = cx.b.not(structured);
            let exists = cx.b.icmp(IntCc::LtU, index, records);
            place.record = Some(cx.b.or(exists, raw));
            // The offset in a record is checked if the record does not lie in one piece.
            place.limit = cx.b.uniform_select(structured, stride, bytes);
            let linear = cx.b.not(swizzled);
            place.unchecked = Some(cx.b.and(structured, linear));
        } else {
            // This is the scratch memory of a wave.
            place.unchecked = Some(by_lane);
        }
        place
    }

    /// Returns the lanes whose `bytes` bytes, starting `at` bytes behind the first, are in range.
    ///
    /// A lane whose offset wraps by `at` is out of range.
    pub fn guard(&self, cx: &mut Cx<'_>, at: u32, bytes: u32) -> Value {
        let end = cx.int(at + bytes);
        self.guard_of(cx, end)
    }

    /// Returns the lanes whose first `bytes` bytes (a uniform `i32`) are in range.
    pub fn guard_of(&self, cx: &mut Cx<'_>, bytes: Value) -> Value {
        let mut guard = within(cx, self.offset, bytes, self.limit);
        if let Some(unchecked) = self.unchecked {
            guard = cx.b.or(guard, unchecked);
        }
        if let Some(record) = self.record {
            guard = cx.b.and(guard, record);
        }
        guard
    }

    /// Returns the address of the word that lies `index` words behind the first.
    pub fn word(&self, cx: &mut Cx<'_>, index: u32) -> Value {
        if index == 0 {
            return self.address;
        }
        let index = cx.long(index.into());
        let distance = cx.b.mul(self.apart, index);
        cx.b.add(self.address, distance)
    }

    /// Returns the access of one element to the word that lies `index` words behind the first.
    pub fn access(&self, cx: &mut Cx<'_>, item: Item, index: u32, guard: Value) -> Access {
        let address = self.word(cx, index);
        item.access(Space::Global, address, 0, Some(guard))
    }
}

/// Splits an item into parts: each word is checked alone and lies alone.
fn parts(item: Item) -> (Item, u32) {
    if let Item::Words(count) = item { (Item::Words(1), count.into()) } else { (item, 1) }
}

/// Loads data to LDS, one word for each lane.
///
/// The words start at the lower 16 bits of m0 plus the immediate offset.
fn load_to_lds(cx: &mut Cx<'_>, i: &Instruction, item: Item) -> Lifted {
    let buffer = i.buffer();
    if buffer.tfe || !matches!(item, Item::Words(1) | Item::Narrow { .. }) {
        return Err(Unsupported);
    }
    let place = BufferAddress::new(cx, &buffer, i.encoding());
    let guard = place.guard(cx, 0, item.bytes());
    let access = place.access(cx, item, 0, guard);
    let value = cx.b.load_access(access, item.extend())[0];
    let start = cx.scalar(Operand::Scalar(M0));
    let start = cx.and_bits(start, 0xffff);
    let lane = cx.b.lane_id();
    let lane = cx.shl(lane, 2);
    let address = cx.b.add(start, lane);
    lds::store(cx, Share::Lds, Item::Words(1), address, buffer.offset.into(), &[value]);
    Ok(Flow::Next)
}

fn load(cx: &mut Cx<'_>, i: &Instruction, item: Item) -> Lifted {
    if i.buffer().lds {
        return load_to_lds(cx, i, item);
    }
    let buffer = fields(i)?;
    let dst = register(buffer.vdata)?;
    let place = BufferAddress::new(cx, &buffer, i.encoding());
    let (part, count) = parts(item);
    let mut values = Vec::new();
    for index in 0..count {
        let guard = place.guard(cx, index * 4, part.bytes());
        let access = place.access(cx, part, index, guard);
        values.push(cx.b.load_access(access, part.extend())[0]);
    }
    item.write(cx, dst, &values);
    Ok(Flow::Next)
}

fn store(cx: &mut Cx<'_>, i: &Instruction, item: Item) -> Lifted {
    let buffer = fields(i)?;
    let data = register(buffer.vdata)?;
    let place = BufferAddress::new(cx, &buffer, i.encoding());
    let values = item.read(cx, data);
    let part = parts(item).0;
    for (index, value) in (0..).zip(values) {
        let guard = place.guard(cx, index * 4, part.bytes());
        let access = place.access(cx, part, index, guard);
        cx.b.store_access(access, &[value]);
    }
    Ok(Flow::Next)
}

fn atomic(cx: &mut Cx<'_>, i: &Instruction, ty: Type, op: AtomicOp) -> Lifted {
    let buffer = fields(i)?;
    let data = register(buffer.vdata)?;
    let place = BufferAddress::new(cx, &buffer, i.encoding());
    let value = operand_of(cx, ty, data);
    let compare =
        op.has_compare().then(|| operand_of(cx, ty, data.wrapping_add((ty.bytes() / 4) as u8)));
    let guard = place.guard(cx, 0, ty.bytes());
    let access =
        Access { guard: Some(guard), ..cx.b.access(Space::Global, ty, 1, place.address, 0) };
    let old = cx.b.atomic(access, op, value, compare);
    if buffer.glc {
        write_back(cx, data, old);
    }
    Ok(Flow::Next)
}

lifts! {
    buffer_load_ubyte: load(Item::UBYTE);
    buffer_load_sbyte: load(Item::SBYTE);
    buffer_load_ushort: load(Item::USHORT);
    buffer_load_sshort: load(Item::SSHORT);
    buffer_load_dword: load(Item::Words(1));
    buffer_load_dwordx2: load(Item::Words(2));
    buffer_load_dwordx3: load(Item::Words(3));
    buffer_load_dwordx4: load(Item::Words(4));
    buffer_load_ubyte_d16: load(Item::UBYTE_D16);
    buffer_load_ubyte_d16_hi: load(Item::UBYTE_D16_HI);
    buffer_load_sbyte_d16: load(Item::SBYTE_D16);
    buffer_load_sbyte_d16_hi: load(Item::SBYTE_D16_HI);
    buffer_load_short_d16: load(Item::SHORT_D16);
    buffer_load_short_d16_hi: load(Item::SHORT_D16_HI);
    buffer_store_byte: store(Item::UBYTE);
    buffer_store_byte_d16_hi: store(Item::UBYTE_D16_HI);
    buffer_store_short: store(Item::USHORT);
    buffer_store_short_d16_hi: store(Item::SHORT_D16_HI);
    buffer_store_dword: store(Item::Words(1));
    buffer_store_dwordx2: store(Item::Words(2));
    buffer_store_dwordx3: store(Item::Words(3));
    buffer_store_dwordx4: store(Item::Words(4));
}

/// Declares the lift functions of atomics of 32 and of 64 bits.
macro_rules! atomics {
    ($($narrow:ident $wide:ident: $op:ident;)*) => {
        lifts! {$(
            $narrow: atomic(Type::I32, AtomicOp::$op);
            $wide: atomic(Type::I64, AtomicOp::$op);
        )*}
    };
}

atomics! {
    buffer_atomic_swap buffer_atomic_swap_x2: Exchange;
    buffer_atomic_cmpswap buffer_atomic_cmpswap_x2: CompareExchange;
    buffer_atomic_add buffer_atomic_add_x2: Add;
    buffer_atomic_sub buffer_atomic_sub_x2: Sub;
    buffer_atomic_smin buffer_atomic_smin_x2: MinS;
    buffer_atomic_umin buffer_atomic_umin_x2: MinU;
    buffer_atomic_smax buffer_atomic_smax_x2: MaxS;
    buffer_atomic_umax buffer_atomic_umax_x2: MaxU;
    buffer_atomic_and buffer_atomic_and_x2: And;
    buffer_atomic_or buffer_atomic_or_x2: Or;
    buffer_atomic_xor buffer_atomic_xor_x2: Xor;
    buffer_atomic_inc buffer_atomic_inc_x2: Inc;
    buffer_atomic_dec buffer_atomic_dec_x2: Dec;
}

/// Emits a fence. Memory is coherent here, so an operation on a cache only orders accesses.
fn fence(cx: &mut Cx<'_>, _: &Instruction) -> Lifted {
    cx.b.fence();
    Ok(Flow::Next)
}

lifts! {
    buffer_wbinvl1: fence();
    buffer_wbinvl1_vol: fence();
}
