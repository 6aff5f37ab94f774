//! FLAT, GLOBAL and SCRATCH: memory by address.
//!
//! Sources: "Vega" Instruction Set Architecture, "Flat memory instructions"; LLVM, "User Guide for
//! AMDGPU Backend", "Address spaces" and "Private segment".
//!
//! The upper half of a flat address selects global memory, shared memory or the lane's scratch
//! memory ([`apertures`]). One access serves global and shared memory: the runtime has a window for
//! shared memory. Scratch memory is global memory that the lanes of a wave share word by word, from
//! the address in flat_scratch on. So scratch memory takes one access per word, by the lanes with a
//! scratch address. Usually no lane has a scratch address, and an access of no lane costs little.

use warploom_ir::{Access, AtomicOp, IntCc, Space, Type, Value};

use super::context::Cx;
use super::scratch::Scratch;
use super::vector_memory::{Item, lifts, operand_of, register, write_back};
use super::{Flow, Lifted, Unsupported, apertures};
use crate::{Flat, Instruction, Operand, Segment};

/// Where an instruction's lanes access memory.
enum FlatTarget {
    /// Space, address and offset. No address is in scratch memory.
    Memory(Space, Value, i32),
    Scratch(Scratch),
    /// Generic address and offset; the lanes with a scratch address, and their place in scratch
    /// memory.
    Either {
        address: Value,
        offset: i32,
        private: Value,
        scratch: Scratch,
    },
}

/// Returns the instruction's fields if its data are in registers.
fn fields(i: &Instruction) -> Result<Flat, Unsupported> {
    let flat = i.flat();
    if flat.lds { Err(Unsupported) } else { Ok(flat) }
}

fn place(cx: &mut Cx<'_>, flat: &Flat) -> FlatTarget {
    match flat.segment {
        Segment::Global => FlatTarget::Memory(Space::Global, global_address(cx, flat), flat.offset),
        Segment::Scratch => {
            let offset = match (flat.saddr, flat.addr) {
                (Some(saddr), _) => cx.scalar(saddr),
                (None, Operand::Vector(number)) => cx.vector(number),
                _ => cx.int(0),
            };
            FlatTarget::Scratch(Scratch::new(cx, offset, flat.offset))
        }
        Segment::Flat => {
            let address = global_address(cx, flat);
            let (low, high) = (cx.b.trunc(Type::I32, address), cx.b.high_half(address));
            let aperture = cx.int((apertures::PRIVATE >> 32) as u32);
            let private = cx.b.icmp(IntCc::Eq, high, aperture);
            let scratch = Scratch::new(cx, low, flat.offset);
            FlatTarget::Either { address, offset: flat.offset, private, scratch }
        }
    }
}

/// Returns the address: a vector pair, or a scalar pair plus a vector register of unsigned offsets.
fn global_address(cx: &mut Cx<'_>, flat: &Flat) -> Value {
    let Operand::Vector(number) = flat.addr else { return cx.long(0) };
    let Some(saddr) = flat.saddr else { return cx.vector_pair(number) };
    let (base, offset) = (cx.scalar_pair(saddr), cx.vector(number));
    let offset = cx.b.zero_extend(Type::I64, offset);
    cx.b.add(base, offset)
}

fn load(cx: &mut Cx<'_>, i: &Instruction, item: Item) -> Lifted {
    let flat = fields(i)?;
    let dst = register(flat.dst)?;
    let values = match place(cx, &flat) {
        FlatTarget::Memory(space, address, offset) => {
            cx.b.load_access(item.access(space, address, offset, None), item.extend()).to_vec()
        }
        FlatTarget::Scratch(scratch) => scratch.load(cx, item, None),
        FlatTarget::Either { address, offset, private, scratch } => {
            let others = cx.b.not(private);
            let access = item.access(Space::Generic, address, offset, Some(others));
            let values = cx.b.load_access(access, item.extend());
            // Each load reads 0 in the lanes of the other load.
            let own = scratch.load(cx, item, Some(private));
            values.into_iter().zip(own).map(|(a, b)| cx.b.or(a, b)).collect()
        }
    };
    item.write(cx, dst, &values);
    Ok(Flow::Next)
}

fn store(cx: &mut Cx<'_>, i: &Instruction, item: Item) -> Lifted {
    let flat = fields(i)?;
    let data = register(flat.data)?;
    let place = place(cx, &flat);
    let values = item.read(cx, data);
    match place {
        FlatTarget::Memory(space, address, offset) => {
            cx.b.store_access(item.access(space, address, offset, None), &values);
        }
        FlatTarget::Scratch(scratch) => scratch.store(cx, item, None, &values),
        FlatTarget::Either { address, offset, private, scratch } => {
            let others = cx.b.not(private);
            cx.b.store_access(item.access(Space::Generic, address, offset, Some(others)), &values);
            scratch.store(cx, item, Some(private), &values);
        }
    }
    Ok(Flow::Next)
}

/// Emits an atomic.
///
/// Scratch memory has no atomics: a flat address of it faults like an address of an unmapped page.
fn atomic(cx: &mut Cx<'_>, i: &Instruction, ty: Type, op: AtomicOp) -> Lifted {
    let flat = fields(i)?;
    let data = register(flat.data)?;
    let dst = if flat.glc { Some(register(flat.dst)?) } else { None };
    let address = global_address(cx, &flat);
    let value = operand_of(cx, ty, data);
    let compare =
        op.has_compare().then(|| operand_of(cx, ty, data.wrapping_add((ty.bytes() / 4) as u8)));
    let space = if flat.segment == Segment::Flat { Space::Generic } else { Space::Global };
    let access: Access = cx.b.access(space, ty, 1, address, flat.offset);
    let old = cx.b.atomic(access, op, value, compare);
    if let Some(dst) = dst {
        write_back(cx, dst, old);
    }
    Ok(Flow::Next)
}

lifts! {
    flat_load_ubyte: load(Item::UBYTE);
    flat_load_sbyte: load(Item::SBYTE);
    flat_load_ushort: load(Item::USHORT);
    flat_load_sshort: load(Item::SSHORT);
    flat_load_dword: load(Item::Words(1));
    flat_load_dwordx2: load(Item::Words(2));
    flat_load_dwordx3: load(Item::Words(3));
    flat_load_dwordx4: load(Item::Words(4));
    flat_load_ubyte_d16: load(Item::UBYTE_D16);
    flat_load_ubyte_d16_hi: load(Item::UBYTE_D16_HI);
    flat_load_sbyte_d16: load(Item::SBYTE_D16);
    flat_load_sbyte_d16_hi: load(Item::SBYTE_D16_HI);
    flat_load_short_d16: load(Item::SHORT_D16);
    flat_load_short_d16_hi: load(Item::SHORT_D16_HI);
    flat_store_byte: store(Item::UBYTE);
    flat_store_byte_d16_hi: store(Item::UBYTE_D16_HI);
    flat_store_short: store(Item::USHORT);
    flat_store_short_d16_hi: store(Item::SHORT_D16_HI);
    flat_store_dword: store(Item::Words(1));
    flat_store_dwordx2: store(Item::Words(2));
    flat_store_dwordx3: store(Item::Words(3));
    flat_store_dwordx4: store(Item::Words(4));

    global_load_ubyte: load(Item::UBYTE);
    global_load_sbyte: load(Item::SBYTE);
    global_load_ushort: load(Item::USHORT);
    global_load_sshort: load(Item::SSHORT);
    global_load_dword: load(Item::Words(1));
    global_load_dwordx2: load(Item::Words(2));
    global_load_dwordx3: load(Item::Words(3));
    global_load_dwordx4: load(Item::Words(4));
    global_load_ubyte_d16: load(Item::UBYTE_D16);
    global_load_ubyte_d16_hi: load(Item::UBYTE_D16_HI);
    global_load_sbyte_d16: load(Item::SBYTE_D16);
    global_load_sbyte_d16_hi: load(Item::SBYTE_D16_HI);
    global_load_short_d16: load(Item::SHORT_D16);
    global_load_short_d16_hi: load(Item::SHORT_D16_HI);
    global_store_byte: store(Item::UBYTE);
    global_store_byte_d16_hi: store(Item::UBYTE_D16_HI);
    global_store_short: store(Item::USHORT);
    global_store_short_d16_hi: store(Item::SHORT_D16_HI);
    global_store_dword: store(Item::Words(1));
    global_store_dwordx2: store(Item::Words(2));
    global_store_dwordx3: store(Item::Words(3));
    global_store_dwordx4: store(Item::Words(4));

    scratch_load_ubyte: load(Item::UBYTE);
    scratch_load_sbyte: load(Item::SBYTE);
    scratch_load_ushort: load(Item::USHORT);
    scratch_load_sshort: load(Item::SSHORT);
    scratch_load_dword: load(Item::Words(1));
    scratch_load_dwordx2: load(Item::Words(2));
    scratch_load_dwordx3: load(Item::Words(3));
    scratch_load_dwordx4: load(Item::Words(4));
    scratch_load_ubyte_d16: load(Item::UBYTE_D16);
    scratch_load_ubyte_d16_hi: load(Item::UBYTE_D16_HI);
    scratch_load_sbyte_d16: load(Item::SBYTE_D16);
    scratch_load_sbyte_d16_hi: load(Item::SBYTE_D16_HI);
    scratch_load_short_d16: load(Item::SHORT_D16);
    scratch_load_short_d16_hi: load(Item::SHORT_D16_HI);
    scratch_store_byte: store(Item::UBYTE);
    scratch_store_byte_d16_hi: store(Item::UBYTE_D16_HI);
    scratch_store_short: store(Item::USHORT);
    scratch_store_short_d16_hi: store(Item::SHORT_D16_HI);
    scratch_store_dword: store(Item::Words(1));
    scratch_store_dwordx2: store(Item::Words(2));
    scratch_store_dwordx3: store(Item::Words(3));
    scratch_store_dwordx4: store(Item::Words(4));
}

/// Declares each atomic in four forms: flat and global, of 32 and of 64 bits.
macro_rules! atomics {
    ($($flat:ident $flat_wide:ident $global:ident $global_wide:ident: $op:ident;)*) => {
        lifts! {$(
            $flat: atomic(Type::I32, AtomicOp::$op);
            $flat_wide: atomic(Type::I64, AtomicOp::$op);
            $global: atomic(Type::I32, AtomicOp::$op);
            $global_wide: atomic(Type::I64, AtomicOp::$op);
        )*}
    };
}

atomics! {
    flat_atomic_swap flat_atomic_swap_x2 global_atomic_swap global_atomic_swap_x2: Exchange;
    flat_atomic_cmpswap flat_atomic_cmpswap_x2 global_atomic_cmpswap global_atomic_cmpswap_x2: CompareExchange;
    flat_atomic_add flat_atomic_add_x2 global_atomic_add global_atomic_add_x2: Add;
    flat_atomic_sub flat_atomic_sub_x2 global_atomic_sub global_atomic_sub_x2: Sub;
    flat_atomic_smin flat_atomic_smin_x2 global_atomic_smin global_atomic_smin_x2: MinS;
    flat_atomic_umin flat_atomic_umin_x2 global_atomic_umin global_atomic_umin_x2: MinU;
    flat_atomic_smax flat_atomic_smax_x2 global_atomic_smax global_atomic_smax_x2: MaxS;
    flat_atomic_umax flat_atomic_umax_x2 global_atomic_umax global_atomic_umax_x2: MaxU;
    flat_atomic_and flat_atomic_and_x2 global_atomic_and global_atomic_and_x2: And;
    flat_atomic_or flat_atomic_or_x2 global_atomic_or global_atomic_or_x2: Or;
    flat_atomic_xor flat_atomic_xor_x2 global_atomic_xor global_atomic_xor_x2: Xor;
    flat_atomic_inc flat_atomic_inc_x2 global_atomic_inc global_atomic_inc_x2: Inc;
    flat_atomic_dec flat_atomic_dec_x2 global_atomic_dec global_atomic_dec_x2: Dec;
}
