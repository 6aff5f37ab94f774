//! Accesses past the ends of allocations.

use warploom_ir::{Access, BinaryOp, Extend, IntCc, Op, Space, Type};
use warploom_runtime::memory::{PAGE_BITS, PAGE_BYTES};

use super::Allocation;
use super::emit::Emitter;

/// The factor of the hash of a page's number.
const HASH: u64 = 0x9e37_79b9_7f4a_7c15;

/// The most bits of a hash.
const MOST_BITS: u32 = 24;

/// A hash table of the last page of each allocation that ends within a page. An entry is the number
/// of the page and the address of the end. No two pages have a hash in common.
pub struct Pages {
    pub bits: u32,
    pub table: Vec<u8>,
}

impl Pages {
    pub fn of(allocations: &[Allocation]) -> Pages {
        let ends = allocations.iter().map(|one| one.address + one.bytes);
        let ends: Vec<u64> = ends.filter(|end| !end.is_multiple_of(PAGE_BYTES)).collect();
        let mut bits = usize::BITS - ends.len().leading_zeros() + 1;
        loop {
            let mut table = vec![[u64::MAX, 0]; 1 << bits];
            let fits = ends.iter().all(|&end| {
                let page = end >> PAGE_BITS;
                let entry = &mut table[(page.wrapping_mul(HASH) >> (64 - bits)) as usize];
                let is_free = entry[0] == u64::MAX;
                *entry = [page, end];
                is_free
            });
            if fits || bits >= MOST_BITS {
                let table = table.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
                return Pages { bits, table };
            }
            bits += 1;
        }
    }
}

/// The hash table in guest memory.
#[derive(Clone, Copy)]
pub struct Table {
    pub address: u64,
    pub bits: u32,
}

/// Appends the check of an access to global memory, which stores to the record at an address.
pub fn check(emit: &mut Emitter<'_>, access: &Access, table: Table, record: u64) {
    let mut address = emit.varying(access.address);
    if access.offset != 0 {
        address = emit.with(BinaryOp::Add, address, i64::from(access.offset) as u64);
    }
    let last = emit.with(BinaryOp::Add, address, u64::from(access.bytes()) - 1);
    let page = emit.with(BinaryOp::ShrU, last, PAGE_BITS.into());
    let hash = emit.with(BinaryOp::Mul, page, HASH);
    let hash = emit.with(BinaryOp::ShrU, hash, u64::from(64 - table.bits));
    let entry = emit.with(BinaryOp::Shl, hash, 4);
    let entry = emit.with(BinaryOp::Add, entry, table.address);
    let found = Access {
        space: Space::Global,
        ty: Type::I64,
        count: 2,
        align: 8,
        address: entry,
        offset: 0,
        guard: access.guard,
        nomask: access.nomask,
    };
    let found = emit.pushed(Op::Load { access: found, extend: Extend::None, sparse: false });
    let known = emit.compare(IntCc::Eq, found[0], page);
    let past = emit.compare(IntCc::GeU, last, found[1]);
    let mut bad = emit.and(known, past);
    if let Some(guard) = access.guard {
        bad = emit.and(bad, guard);
    }
    let none = emit.splat(0);
    emit.report(record, bad, address, none);
}
