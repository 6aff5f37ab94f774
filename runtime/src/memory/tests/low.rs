//! Ranges below 4 GiB.

use super::*;

#[test]
fn low_ranges_lie_below_4_gib_and_apart() {
    let memory = Memory::new(MemoryConfig::default()).unwrap();
    let taken = memory.alloc_at(Placement::At(1 << 28), PAGE_BYTES, Access::READ_WRITE).unwrap();
    let low: Vec<u64> = (0..3)
        .map(|_| {
            memory
                .alloc_at(Placement::Low { align: 1 << 20 }, 3 * PAGE_BYTES, Access::READ_WRITE)
                .unwrap()
        })
        .collect();
    for (n, &address) in low.iter().enumerate() {
        assert!(
            address.is_multiple_of(1 << 20) && address + 3 * PAGE_BYTES <= 1 << 32,
            "{address:#x}"
        );
        assert!(
            address > taken && low[..n].iter().all(|&other| other + 3 * PAGE_BYTES < address),
            "{low:x?}"
        );
        memory.write(address + 2 * PAGE_BYTES, &[n as u8; 4]).unwrap();
    }
    // Other ranges lie above.
    assert!(memory.alloc(PAGE_BYTES, 1).unwrap() >= 1 << 32);
    // There is no more than 4 GiB.
    assert!(memory.reserve(Placement::Low { align: 1 }, 4 << 30, Unbound::Faults).is_err());
}
