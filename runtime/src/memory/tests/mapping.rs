use std::sync::Arc;

use super::*;
use crate::rounds;
use crate::window::Windows;

#[test]
fn allocations_are_apart_aligned_zeroed_and_above_4_gib() {
    let memory = Memory::default();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for (bytes, align) in
        [(1, 1), (PAGE, 1 << 20), (PAGE + 1, 256), (1 << 20, 1 << 30), (5, 1 << 32)]
    {
        let at = memory.alloc(bytes, align).unwrap();
        assert!(at.is_multiple_of(align.max(PAGE)) && at >= 1 << 32);
        assert_eq!(memory.load(at + bytes - 1, 1), Ok((0, Resident)));
        assert_eq!(memory.range_of(at + bytes - 1), Some((at, bytes.next_multiple_of(PAGE))));
        // A page between any two stays unmapped.
        assert_eq!(memory.page(at - 1), Page::Unmapped);
        assert_eq!(memory.page(at + bytes.next_multiple_of(PAGE)), Page::Unmapped);
        assert!(ranges.iter().all(|&(other, end)| at >= end || at + bytes <= other));
        ranges.push((at, at + bytes));
    }
}

#[test]
fn the_cap_counts_what_is_bound_and_errors_change_nothing() {
    let mut memory = capped(4 * PAGE);
    let first = memory.alloc(1, 1).unwrap();
    let second = memory.alloc(2 * PAGE, 1).unwrap();
    let refused = MapError::CapExceeded { requested: 2 * PAGE, in_use: 3 * PAGE, cap: 4 * PAGE };
    assert_eq!(memory.alloc(PAGE + 1, 1), Err(refused));
    assert!(refused.to_string().contains("the limit is 262144"));
    let sparse = memory.reserve(Placement::ANYWHERE, 1 << 40, Unbound::Sparse);
    assert_eq!(sparse, Err(MapError::NoSpace { bytes: 1 << 40, align: PAGE }));
    let sparse = memory.reserve(Placement::ANYWHERE, 1 << 36, Unbound::Sparse).unwrap();
    memory.bind(sparse, PAGE, Access::READ_WRITE).unwrap();
    assert!(matches!(
        memory.bind(sparse + PAGE, PAGE, Access::READ),
        Err(MapError::CapExceeded { .. })
    ));
    assert_eq!(memory.bytes_in_use(), 4 * PAGE);
    memory.release(second).unwrap();
    assert_eq!(memory.bytes_in_use(), 2 * PAGE);
    memory.release(sparse).unwrap();
    memory.release(first).unwrap();
    assert_eq!(memory.release(first), Err(MapError::NoRange { address: first }));
    assert_eq!((memory.bytes_in_use(), memory.table.nodes()), (0, 1));
    assert!(memory.alloc(u64::MAX, 1).is_err() && memory.alloc(0, 1) == Err(MapError::ZeroSize));
    assert_eq!(memory.alloc(1, 3), Err(MapError::BadAlignment { align: 3 }));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory for it")]
fn huge_requests_are_refused_without_a_cap() {
    let memory = capped(u64::MAX);
    for bytes in [u64::MAX - PAGE, 1 << 62, 1 << 56] {
        assert!(
            matches!(memory.alloc(bytes, 1), Err(MapError::HostOutOfMemory { .. })),
            "{bytes:#x}"
        );
    }
    assert_eq!(memory.bytes_in_use(), 0);
}

#[test]
fn places_are_checked() {
    let windows = Windows { shared: 0x0300_0000, local: 0xfe00_0000 };
    let memory = Memory::new(MemoryConfig { windows, ..MemoryConfig::default() }).unwrap();
    let at = |address, bytes| memory.alloc_at(Placement::At(address), bytes, Access::READ_WRITE);
    assert!(matches!(at(0, PAGE), Err(MapError::Forbidden { .. })));
    assert!(matches!(at(0x0300_0000, PAGE), Err(MapError::Forbidden { .. })));
    assert!(matches!(at(0x02ff_0000, 2 * PAGE), Err(MapError::Forbidden { .. })));
    assert!(matches!(at(0xfeff_0000, PAGE), Err(MapError::Forbidden { .. })));
    assert_eq!(at(0x02ff_0000, PAGE), Ok(0x02ff_0000));
    assert_eq!(at(0xff00_0000, PAGE), Ok(0xff00_0000));
    assert_eq!(at(PAGE + 8, 1), Err(MapError::NotPageAligned { value: PAGE + 8 }));
    assert_eq!(at(PAGE, 2 * PAGE), Ok(PAGE));
    let overlap = |address, bytes| MapError::Overlap { address, bytes, other: PAGE };
    assert_eq!(at(2 * PAGE, PAGE), Err(overlap(2 * PAGE, PAGE)));
    assert_eq!(at(3 * PAGE, PAGE), Ok(3 * PAGE));
    let last = 0u64.wrapping_sub(PAGE);
    assert!(matches!(at(last, 2 * PAGE), Err(MapError::TooLong { .. })));
    assert!(matches!(at(last, PAGE), Err(MapError::Forbidden { .. })));
    assert_eq!(at(last - PAGE, PAGE), Ok(last - PAGE));
    for windows in [Windows { shared: 0, local: 0 }, Windows { shared: 0x1000, local: 0 }] {
        let config = MemoryConfig { windows, ..MemoryConfig::default() };
        assert_eq!(Memory::new(config).err(), Some(MapError::BadWindows));
    }
}

#[test]
fn bind_unbind_and_release_pages_of_a_reservation() {
    for (unbound, state) in [(Unbound::Faults, Page::Unmapped), (Unbound::Sparse, Page::Sparse)] {
        let mut memory = Memory::default();
        // Across a boundary of the tree's nodes.
        let base = (1 << 33) - 4 * PAGE;
        memory.reserve(Placement::At(base), 10 * PAGE, unbound).unwrap();
        let resident = |memory: &Memory| {
            let is = |page: &u64| memory.page(base + page * PAGE) != state;
            (0..10).filter(is).collect::<Vec<u64>>()
        };
        memory.bind(base + PAGE, 6 * PAGE, Access::READ_WRITE).unwrap();
        assert_eq!(resident(&memory), [1, 2, 3, 4, 5, 6]);
        for page in 1..7 {
            memory.store(base + page * PAGE, 4, u128::from(page)).unwrap();
        }
        let bound = MapError::AlreadyBound { address: base + 6 * PAGE };
        assert_eq!(memory.bind(base + 6 * PAGE, 2 * PAGE, Access::READ), Err(bound));
        let bound = MapError::AlreadyBound { address: base + PAGE };
        assert_eq!(memory.bind(base, 10 * PAGE, Access::READ), Err(bound));
        let outside = MapError::NotReserved { address: base + 9 * PAGE, bytes: 2 * PAGE };
        assert_eq!(memory.bind(base + 9 * PAGE, 2 * PAGE, Access::READ), Err(outside));
        // A hole in the middle splits the binding, whose host memory stays until its last page
        // goes.
        memory.unbind(base + 3 * PAGE, 2 * PAGE).unwrap();
        assert_eq!(resident(&memory), [1, 2, 5, 6]);
        assert_eq!(memory.bytes_in_use(), 6 * PAGE);
        memory.bind(base + 3 * PAGE, PAGE, Access::READ_WRITE).unwrap();
        let content = [1, 2, 3, 5, 6].map(|page| memory.load(base + page * PAGE, 4).unwrap().0);
        assert_eq!(content, [1, 2, 0, 5, 6], "fresh pages are zero, others keep their content");
        memory.unbind(base, 3 * PAGE).unwrap();
        assert_eq!((resident(&memory), memory.bytes_in_use()), (vec![3, 5, 6], 7 * PAGE));
        memory.unbind(base + 5 * PAGE, 5 * PAGE).unwrap();
        assert_eq!((resident(&memory), memory.bytes_in_use()), (vec![3], PAGE));
        memory.unbind(base, 10 * PAGE).unwrap();
        assert_eq!(memory.page(base), state);
        memory.release(base).unwrap();
        assert_eq!((memory.page(base), memory.table.nodes()), (Page::Unmapped, 1));
        assert!(memory.bind(base, PAGE, Access::READ).is_err());
    }
}

#[test]
fn host_memory_in_place() {
    let mut memory = capped(0);
    let buffer = Arc::new(HostBuffer::from_bytes(b"hello").unwrap());
    let at = memory.map_host(Placement::ANYWHERE, buffer.clone(), Access::READ_WRITE).unwrap();
    let mut text = [0; 6];
    memory.read(at, &mut text).unwrap();
    assert_eq!(&text, b"hello\0");
    memory.write(at + 5, b"!").unwrap();
    buffer.read(0, &mut text).unwrap();
    assert_eq!(&text, b"hello!");
    // The same buffer again, as two pages of a sparse range that alias.
    let sparse = memory.reserve(Placement::ANYWHERE, 4 * PAGE, Unbound::Sparse).unwrap();
    memory.bind_host(sparse, PAGE, buffer.clone(), 0, Access::READ_WRITE).unwrap();
    memory.bind_host(sparse + 2 * PAGE, PAGE, buffer.clone(), 0, Access::READ).unwrap();
    memory.write(sparse, b"J").unwrap();
    assert_eq!(memory.load(sparse + 2 * PAGE, 1), Ok((u128::from(b'J'), Resident)));
    let outside = MapError::HostRange { offset: 16, end: PAGE + 16, length: PAGE };
    assert_eq!(
        memory.bind_host(sparse + PAGE, PAGE, buffer.clone(), 16, Access::READ),
        Err(outside)
    );
    assert!(buffer.write(PAGE - 1, b"no").is_err());
    assert_eq!(Arc::strong_count(&buffer), 4);
    memory.unbind(sparse, PAGE).unwrap();
    memory.release(at).unwrap();
    assert_eq!(Arc::strong_count(&buffer), 2);
    drop(memory);
    assert_eq!(Arc::strong_count(&buffer), 1);
}

#[test]
fn the_callers_memory_in_place() {
    let mut memory = capped(0);
    let mut host = vec![0u128; 3 * PAGE as usize / 16];
    let start = NonNull::new(host.as_mut_ptr().cast::<u8>()).unwrap();
    // SAFETY: `host` lives to the end, and is read below only, when nothing else touches it.
    let map = |place, at, bytes| unsafe { memory.map_raw(place, at, bytes, Access::READ_WRITE) };
    let at = map(Placement::At(PAGE), start, 2 * PAGE).unwrap();
    assert_eq!(
        map(Placement::ANYWHERE, start, PAGE - 1),
        Err(MapError::NotPageAligned { value: PAGE - 1 })
    );
    // SAFETY: within `host`.
    let odd = unsafe { start.add(8) };
    assert_eq!(map(Placement::ANYWHERE, odd, PAGE), Err(MapError::HostMisaligned));
    memory.store(at + PAGE, 16, 42).unwrap();
    memory.release(at).unwrap();
    assert_eq!(host[PAGE as usize / 16], 42u128.to_le());
}

#[test]
fn freed_addresses_are_not_soon_reused_but_at_last() {
    let mut memory = Memory::default();
    let first = memory.reserve(Placement::ANYWHERE, 1 << 38, Unbound::Faults).unwrap();
    memory.release(first).unwrap();
    let second = memory.reserve(Placement::ANYWHERE, 1 << 38, Unbound::Faults).unwrap();
    assert!(second >= first + (1 << 38));
    // Only the freed range has room for this.
    let third = memory.reserve(Placement::ANYWHERE, 1 << 38, Unbound::Faults).unwrap();
    let fourth = memory.reserve(Placement::ANYWHERE, 1 << 38, Unbound::Faults);
    assert!(third > second && fourth == Ok(first), "{fourth:x?}");
}

/// The table against a plain map, over random operations.
#[test]
fn random_operations_against_a_model() {
    let mut memory = Memory::default();
    let base = (1 << 40) - 40 * PAGE;
    let mut model = [None::<Page>; 80]; // by page; `None` is outside of all ranges
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let address = |page: usize| base + page as u64 * PAGE;
    for step in 0..rounds(3000) {
        let (first, count) = (random(80), 1 + random(12));
        let last = (first + count).min(80);
        let (at, bytes) = (address(first), (last - first) as u64 * PAGE);
        let one_range = ranges.iter().any(|&(from, to)| from <= first && last <= to);
        match random(5) {
            0 => {
                let unbound = [Unbound::Faults, Unbound::Sparse][random(2)];
                let free = model[first..last].iter().all(Option::is_none);
                assert_eq!(
                    memory.reserve(Placement::At(at), bytes, unbound).is_ok(),
                    free,
                    "step {step}"
                );
                if free {
                    model[first..last].fill(Some(unbound.page()));
                    ranges.push((first, last));
                }
            }
            1 | 2 => {
                let open = model[first..last]
                    .iter()
                    .all(|page| !matches!(page, Some(Page::Resident { .. })));
                let result = memory.bind(at, bytes, Access::READ_WRITE);
                assert_eq!(result.is_ok(), one_range && open, "step {step}");
                if result.is_ok() {
                    for (page, model) in model.iter_mut().enumerate().take(last).skip(first) {
                        *model = Some(memory.page(address(page)));
                        assert!(matches!(model, Some(Page::Resident { .. })));
                        memory.store(address(page), 8, page as u128).unwrap();
                    }
                }
            }
            3 => {
                assert_eq!(memory.unbind(at, bytes).is_ok(), one_range, "step {step}");
                if one_range {
                    // Only the memory's region knows the state of unbound pages. The model learns
                    // it from a page that was unbound.
                    for (page, model) in model.iter_mut().enumerate().take(last).skip(first) {
                        *model = Some(memory.page(address(page)));
                        assert!(!matches!(model, Some(Page::Resident { .. })));
                    }
                }
            }
            _ => {
                let range = ranges.iter().position(|&(from, _)| from == first);
                assert_eq!(memory.release(at).is_ok(), range.is_some(), "step {step}");
                if let Some((from, to)) = range.map(|index| ranges.swap_remove(index)) {
                    model[from..to].fill(None);
                }
            }
        }
        for (page, model) in model.iter().enumerate() {
            assert_eq!(
                memory.page(address(page)),
                model.unwrap_or(Page::Unmapped),
                "step {step}, page {page}"
            );
            if matches!(model, Some(Page::Resident { .. })) {
                assert_eq!(memory.load(address(page), 8), Ok((page as u128, Resident)));
            }
        }
    }
    for (first, _) in ranges {
        memory.release(address(first)).unwrap();
    }
    assert_eq!((memory.bytes_in_use(), memory.table.nodes()), (0, 1));
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn what_is_allocated_in_place_is_at_the_hosts_address() {
    let memory = in_place();
    let address = memory.alloc(3 * PAGE, 1).unwrap();
    memory.write(address + PAGE - 2, &[1, 2, 3, 4]).unwrap();
    let host: *const u8 = std::ptr::with_exposed_provenance(address as usize);
    // SAFETY: the memory is there, and nobody writes it now.
    assert_eq!(unsafe { std::slice::from_raw_parts(host.add(PAGE as usize - 2), 4) }, [1, 2, 3, 4]);
    assert_eq!(memory.bytes_in_use(), 3 * PAGE);
    // The memory is not in use after its release, and the next allocation there is zero.
    memory.release_later(address).unwrap();
    assert_eq!(memory.bytes_in_use(), 0);
    assert_eq!(memory.page(address), Page::Unmapped);
    let rounds = (0..rounds(5000)).map(|_| memory.alloc(3 * PAGE, 1).unwrap());
    let again = rounds.inspect(|&at| memory.release_later(at).unwrap()).any(|at| at == address);
    assert!(again, "addresses are used again");
    let address = memory.alloc(3 * PAGE, 1).unwrap();
    let mut content = [1; 8];
    memory.read(address + PAGE - 2, &mut content).unwrap();
    assert_eq!(content, [0; 8]);
    assert!(matches!(memory.alloc(64 << 20, 1), Err(MapError::CapExceeded { .. })));
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn memory_in_place_that_a_launch_uses_is_released_behind_it() {
    let memory = in_place();
    let address = memory.alloc(PAGE, 1).unwrap();
    let launch = memory.begin_launch();
    memory.release_later(address).unwrap();
    assert_eq!(
        (memory.load(address, 4).map(|(value, _)| value), memory.bytes_in_use()),
        (Ok(0), PAGE)
    );
    drop(launch);
    assert_eq!((memory.load(address, 4), memory.bytes_in_use()), (Err(AddressOutOfRange), 0));
}
