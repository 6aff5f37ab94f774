use Residency::{Resident, Sparse};

use super::*;
use crate::atomics::{AtomicKind, AtomicType};
use crate::fault::FaultKind::{AddressOutOfRange, MisalignedAddress};
use crate::warp::{Run, TLB_ENTRIES, Tlb, Ways, no_page, tlb_slot};

const PAGE: u64 = PAGE_BYTES;

fn capped(cap_bytes: u64) -> Memory {
    Memory::new(MemoryConfig { cap_bytes, ..MemoryConfig::default() }).unwrap()
}

/// 64 MiB whose guest addresses are host addresses.
fn in_place() -> Memory {
    Memory::new(MemoryConfig { cap_bytes: 64 << 20, in_place: true, ..MemoryConfig::default() })
        .unwrap()
}

mod access;
mod alias;
mod bytes;
mod low;
mod mapping;
mod owners;
