use super::*;
use crate::rounds;

const VALUE: u128 = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100;

#[test]
fn loads_what_was_stored_at_any_alignment() {
    let memory = Memory::default();
    let at = memory.alloc(2 * PAGE, 1).unwrap();
    for bytes in [1, 2, 4, 8, 16] {
        for offset in (0..17).chain(PAGE - 17..PAGE + 1) {
            memory.fill(at + offset.saturating_sub(8), 64, 0xee).unwrap();
            let value = VALUE & u128::MAX >> (128 - 8 * bytes);
            assert_eq!(memory.store(at + offset, bytes, VALUE), Ok(Resident));
            assert_eq!(memory.load(at + offset, bytes), Ok((value, Resident)));
            let mut around = [0; 18];
            if offset > 0 {
                memory.read(at + offset - 1, &mut around).unwrap();
                assert_eq!(around[..1], [0xee]);
                assert_eq!(around[1..][..bytes as usize], value.to_le_bytes()[..bytes as usize]);
                assert!(around[1 + bytes as usize..].iter().all(|&byte| byte == 0xee));
            }
        }
    }
}

#[test]
fn unmapped_and_unpermitted_pages_fault() {
    let mut memory = Memory::default();
    let at = memory.alloc(PAGE, 1).unwrap();
    for address in [0, 8, at - 1, at + PAGE, 0x0100_0000, u64::MAX, u64::MAX - 15, 1 << 48, 1 << 63]
    {
        assert_eq!(memory.load(address, 1), Err(AddressOutOfRange), "{address:#x}");
        assert_eq!(memory.store(address, 4, 0), Err(AddressOutOfRange), "{address:#x}");
        assert_eq!(memory.load(address & !15, 16).is_err(), address != at - 1 || at & 15 == 0);
    }
    memory.store(at, 4, 77).unwrap();
    memory.protect(at, PAGE, Access::READ).unwrap();
    assert_eq!(memory.load(at, 4), Ok((77, Resident)));
    assert_eq!(memory.store(at, 4, 1), Err(AddressOutOfRange));
    assert_eq!(memory.atomic(at, AtomicType::I32, AtomicKind::Add, 1, 0), Err(AddressOutOfRange));
    assert_eq!(memory.write(at, &[1]).unwrap_err(), CopyError { address: at, write: true });
    memory.protect(at, PAGE, Access::NONE).unwrap();
    assert_eq!(memory.load(at, 4), Err(AddressOutOfRange));
    memory.protect(at, PAGE, Access::READ_WRITE).unwrap();
    assert_eq!(memory.atomic(at, AtomicType::I32, AtomicKind::Add, 1, 0), Ok((77, Resident)));
    assert_eq!(memory.load(at, 4), Ok((78, Resident)));
    assert_eq!(
        memory.atomic(at + 2, AtomicType::I32, AtomicKind::Add, 1, 0),
        Err(MisalignedAddress)
    );
}

#[test]
fn a_store_across_pages_is_all_or_nothing() {
    let memory = Memory::default();
    let base = 1 << 32;
    memory.reserve(Placement::At(base), 3 * PAGE, Unbound::Sparse).unwrap();
    memory.bind(base, PAGE, Access::READ_WRITE).unwrap();
    // The second page is sparse: its half reads zero and is dropped.
    let across = base + PAGE - 4;
    assert_eq!(memory.store(across, 8, 0x1122_3344_5566_7788), Ok(Sparse));
    assert_eq!(memory.load(across, 8), Ok((0x5566_7788, Sparse)));
    assert_eq!(memory.load(across, 4), Ok((0x5566_7788, Resident)));
    memory.bind(base + PAGE, PAGE, Access::READ).unwrap();
    assert_eq!(memory.store(across, 8, 1), Err(AddressOutOfRange));
    assert_eq!(memory.load(across, 8), Ok((0x5566_7788, Resident)));
    // The end of the range, and of the address space.
    assert_eq!(memory.load(base + 3 * PAGE - 4, 8), Err(AddressOutOfRange));
    assert_eq!(memory.load(u64::MAX - 6, 8), Err(AddressOutOfRange));
    assert_eq!(memory.store(u64::MAX - 7, 8, 1), Err(AddressOutOfRange));
    assert_eq!(memory.read(u64::MAX - 6, &mut [0; 8]).unwrap_err().address, u64::MAX - 6);
}

#[test]
fn sparse_pages_read_zero_and_drop() {
    let memory = Memory::default();
    let at = memory.reserve(Placement::ANYWHERE, 1 << 36, Unbound::Sparse).unwrap();
    for address in [at, at + 12345, at + (1 << 35), at + (1 << 36) - 16] {
        assert_eq!(memory.store(address, 4, 1), Ok(Sparse));
        assert_eq!(memory.load(address, 16), Ok((0, Sparse)));
    }
    assert_eq!(memory.atomic(at + 8, AtomicType::I64, AtomicKind::Add, 1, 0), Ok((0, Sparse)));
    let mut bytes = [1; 20];
    memory.write(at, &bytes).unwrap();
    memory.read(at, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 20]);
    // A copy may begin resident and end sparse.
    memory.bind(at + PAGE, PAGE, Access::READ_WRITE).unwrap();
    memory.write(at + 2 * PAGE - 2, &[1, 2, 3, 4]).unwrap();
    let mut bytes = [9; 6];
    memory.read(at + 2 * PAGE - 3, &mut bytes).unwrap();
    assert_eq!(bytes, [0, 1, 2, 0, 0, 0]);
}

#[test]
fn copies_of_any_length_and_alignment() {
    let memory = Memory::default();
    let at = memory.alloc(3 * PAGE, 1).unwrap();
    let content: Vec<u8> = (0..2 * PAGE + 100).map(|i| (i * 31 + 7) as u8).collect();
    for (offset, length) in
        [(0, 0), (0, 1), (3, 2), (5, 8), (7, 30), (PAGE - 3, 9), (1, 2 * PAGE as usize + 99)]
    {
        memory.fill(at, 3 * PAGE, 0).unwrap();
        memory.write(at + offset, &content[..length]).unwrap();
        let mut back = vec![1; length + 2];
        memory.read(at + offset, &mut back).unwrap();
        assert_eq!(back[..length], content[..length]);
        assert_eq!(back[length..], [0, 0]);
    }
    let before = content[5];
    memory.write(at, &content[5..6]).unwrap();
    let error = memory.write(at, &vec![0xff; 3 * PAGE as usize + 1]).unwrap_err();
    assert_eq!(error, CopyError { address: at + 3 * PAGE, write: true });
    assert_eq!(
        memory.load(at, 1),
        Ok((u128::from(before), Resident)),
        "nothing is written on an error"
    );
    assert_eq!(
        error.to_string(),
        format!("guest address {:#x} is not mapped for writing", at + 3 * PAGE)
    );
}

#[test]
fn the_tlb_holds_only_what_is_permitted() {
    let mut memory = Memory::default();
    let mut tlb = Box::new(Tlb::EMPTY);
    let base = memory.reserve(Placement::ANYWHERE, 4 * PAGE, Unbound::Sparse).unwrap();
    memory.bind(base, PAGE, Access::READ_WRITE).unwrap();
    memory.bind(base + PAGE, PAGE, Access::READ).unwrap();
    memory.bind(base + 2 * PAGE, PAGE, Access { read: false, write: true }).unwrap();
    for (index, (read, write)) in
        [(true, true), (true, false), (false, true), (false, false)].into_iter().enumerate()
    {
        let address = base + index as u64 * PAGE + 0x123;
        let page = base + index as u64 * PAGE;
        memory.tlb_fill(&mut tlb, address);
        let entry = tlb.entries[tlb_slot(page >> PAGE_BITS)];
        assert_eq!(
            (entry.read_tag == page, entry.write_tag == page),
            (read, write),
            "page {index}"
        );
        if read || write {
            let Page::Resident { host, .. } = memory.page(address) else { panic!("resident") };
            assert_eq!(address.wrapping_add(entry.addend), host.addr().get() as u64 + 0x123);
        }
    }
    assert!(matches!(memory.tlb_fill(&mut tlb, 4), Page::Unmapped));
    assert_ne!(tlb.entries[tlb_slot(0)].read_tag, 0);
    // A page that is bound later is seen: it was never cached.
    memory.bind(base + 3 * PAGE, PAGE, Access::READ_WRITE).unwrap();
    assert!(matches!(memory.tlb_fill(&mut tlb, base + 3 * PAGE), Page::Resident { .. }));
    let entry = tlb.entries[tlb_slot((base + 3 * PAGE) >> PAGE_BITS)];
    assert_eq!((entry.read_tag, entry.write_tag), (base + 3 * PAGE, base + 3 * PAGE));
    memory.release(base).unwrap();
}

#[test]
fn runs_end_where_host_memory_or_rights_do() {
    let memory = Memory::default();
    let base = memory.reserve(Placement::ANYWHERE, 8 * PAGE, Unbound::Sparse).unwrap();
    let buffer = Arc::new(HostBuffer::new(6 * PAGE).unwrap());
    let bind = |page: u64, pages, host_page: u64, access| {
        memory
            .bind_host(base + page * PAGE, pages * PAGE, buffer.clone(), host_page * PAGE, access)
            .unwrap();
    };
    bind(0, 2, 0, Access::READ_WRITE);
    // Page 2 is next in host memory too, but read only. Page 3 does not follow there.
    bind(2, 1, 2, Access::READ);
    bind(3, 1, 5, Access::READ_WRITE);
    let run = |address, write| {
        let mut ways = Ways::EMPTY;
        memory.run_fill(&mut ways, address, write);
        let [run, _] = ways.runs;
        (run.bytes > 0).then(|| ((run.first - base) / PAGE, run.bytes / PAGE, run.addend))
    };
    let addend = |page: u64| buffer.pointer().addr().get() as u64 + page * PAGE - base;
    assert_eq!(run(base + PAGE + 8, false), Some((0, 3, addend(0))));
    assert_eq!(run(base + PAGE + 8, true), Some((0, 2, addend(0))));
    assert_eq!(run(base + 2 * PAGE, true), None);
    assert_eq!(run(base + 4 * PAGE - 1, false), Some((3, 1, addend(2))));
    assert_eq!(run(base + 4 * PAGE, false), None);
}

#[test]
fn ranges_are_reached_on_pages_that_follow_each_other() {
    let memory = Memory::default();
    let base = memory.reserve(Placement::ANYWHERE, 8 * PAGE, Unbound::Sparse).unwrap();
    let buffer = Arc::new(HostBuffer::new(6 * PAGE).unwrap());
    let write_only = Access { read: false, write: true };
    let pages = [
        (0, 0, Access::READ_WRITE),
        (1, 1, Access::READ_WRITE),
        (2, 2, Access::READ),
        (3, 5, Access::READ_WRITE),
    ];
    for (page, host_page, access) in pages.into_iter().chain([(4, 4, write_only)]) {
        memory
            .bind_host(base + page * PAGE, PAGE, buffer.clone(), host_page * PAGE, access)
            .unwrap();
    }
    let addend = |page: u64| Some(buffer.pointer().addr().get() as u64 + page * PAGE - base);
    let reach =
        |tlb: &mut Tlb, low, last, write| memory.reach(tlb, 0, (base + low, base + last), write);
    let first = |low, last, write| reach(&mut { Tlb::EMPTY }, low, last, write);
    assert_eq!(first(PAGE - 4, 3 * PAGE - 1, false), addend(0));
    assert_eq!(first(PAGE - 4, 3 * PAGE - 1, true), None);
    assert_eq!(first(PAGE - 4, 2 * PAGE - 1, true), addend(0));
    assert_eq!(first(3 * PAGE - 1, 3 * PAGE, false), None);
    // The addresses lie on one page, whether the run is found again or not.
    let mut tlb = Tlb::EMPTY;
    let mut reach = |low, last, write| reach(&mut tlb, low, last, write);
    for _ in 0..20 {
        assert_eq!(reach(0, PAGE - 1, true), addend(0));
        assert_eq!(reach(3 * PAGE, 4 * PAGE - 1, true), addend(2));
        assert_eq!(reach(3 * PAGE + 8, 3 * PAGE + 4, true), None);
        assert_eq!(reach(4 * PAGE, 4 * PAGE, true), None);
        assert_eq!(reach(6 * PAGE, 6 * PAGE, false), None);
    }
}

#[test]
fn two_runs_are_kept_and_many_are_found_seldom() {
    let memory = Memory::default();
    let buffers: [u64; 3] = std::array::from_fn(|_| memory.alloc(PAGE, 1).unwrap());
    let [a, b, c] = buffers;
    let mut ways = Ways::EMPTY;
    for address in [a, b, a, b + 8, b, a] {
        memory.run_fill(&mut ways, address, true);
        assert!(ways.runs[0].holds(address));
    }
    assert_eq!(ways.misses, 2);
    let mut changes = 0;
    for access in 0..1 << 15 {
        let known = ways.runs[0].first + ways.runs[1].first;
        memory.run_fill(&mut ways, buffers[access % 3], true);
        changes += u32::from(ways.runs[0].first + ways.runs[1].first != known);
    }
    assert!((1 << 12..5 << 10).contains(&changes), "{changes}");
    memory.run_fill(&mut ways, c + PAGE, true);
    assert!(!ways.runs[0].holds(c + PAGE));
}

/// A run covers a caller's memory at its own address, except up to 15 bytes at either end.
#[test]
fn ranges_of_bytes_are_runs() {
    let memory = Memory::default();
    let buffer = HostBuffer::new(3 * PAGE).unwrap();
    let start = buffer.pointer().addr().get() as u64 + 8;
    // SAFETY: the buffer outlives the memory's use.
    let host = unsafe { buffer.pointer().add(8) };
    // SAFETY: likewise.
    unsafe { memory.map_bytes(host, 2 * PAGE + 3) }.unwrap();
    let mut ways = Ways::EMPTY;
    memory.run_fill(&mut ways, start, true);
    assert_eq!(ways.runs[0], Run::EMPTY);
    memory.run_fill(&mut ways, start + 8, true);
    assert_eq!(ways.runs[0], Run { first: start + 8, bytes: 2 * PAGE - 16, addend: 0 });
    memory.unmap_bytes(start).unwrap();
}

/// A run ends at pages of the allocation that do not permit the access.
#[test]
fn runs_end_where_access_was_changed() {
    let mut memory = Memory::default();
    let base = memory.alloc(5 * PAGE, 1).unwrap();
    memory.protect(base + 2 * PAGE, PAGE, Access::READ).unwrap();
    let run = |memory: &Memory, page: u64, write| {
        let mut ways = Ways::EMPTY;
        memory.run_fill(&mut ways, base + page * PAGE, write);
        ((ways.runs[0].first - base) / PAGE, ways.runs[0].bytes / PAGE)
    };
    assert_eq!(run(&memory, 1, false), (0, 5));
    assert_eq!(run(&memory, 1, true), (0, 2));
    assert_eq!(run(&memory, 3, true), (3, 2));
    memory.protect(base + 2 * PAGE, PAGE, Access::READ_WRITE).unwrap();
    assert_eq!(run(&memory, 1, true), (0, 5));
}

/// The tag that stands for no page in a slot is never looked up there, nor are its neighbours.
#[test]
fn no_page_is_far_from_those_of_its_slot() {
    for slot in 0..TLB_ENTRIES {
        let page = no_page(slot) >> PAGE_BITS;
        for near in [page.wrapping_sub(1) & (u64::MAX >> PAGE_BITS), page, page + 1] {
            assert_ne!(tlb_slot(near), slot);
        }
    }
}

/// Consecutive pages and pages at power-of-two strides spread over the slots.
#[test]
fn tlb_slots_spread() {
    for shift in [0, 8] {
        let mut slots = [false; TLB_ENTRIES];
        (0..TLB_ENTRIES as u64).for_each(|i| slots[tlb_slot(0x20_0000 + (i << shift))] = true);
        assert!(slots.iter().all(|&slot| slot), "stride 1 << {shift}");
    }
}

#[test]
fn racing_accesses_are_whole() {
    let memory = Memory::default();
    let at = memory.alloc(64, 1).unwrap();
    let patterns = [0u64, u64::MAX, 0x1234_5678_1234_5678];
    std::thread::scope(|scope| {
        for pattern in patterns {
            let memory = &memory;
            scope.spawn(move || {
                for _ in 0..rounds(50_000) {
                    memory.store(at, 8, u128::from(pattern)).unwrap();
                    let (seen, _) = memory.load(at, 8).unwrap();
                    assert!(patterns.contains(&(seen as u64)), "{seen:#x}");
                    memory.atomic(at + 8, AtomicType::I32, AtomicKind::Add, 1, 0).unwrap();
                }
            });
        }
    });
    assert_eq!(memory.load(at + 8, 4), Ok((u128::from(3 * rounds(50_000)), Resident)));
}

/// Readers look pages up while another thread binds them: each page reads as sparse, then as bound.
#[test]
fn lookups_race_with_growth() {
    let memory = Memory::default();
    let pages = 300;
    let at = memory
        .reserve(Placement::Anywhere { align: 1 << 28 }, pages * PAGE, Unbound::Sparse)
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut resident = 0;
                while resident < pages {
                    let state = memory.load(at + resident * PAGE, 4).unwrap();
                    assert!(matches!(state, (0, Sparse | Resident)));
                    resident += u64::from(state.1 == Resident);
                }
            });
        }
        scope.spawn(|| {
            for page in 0..pages {
                memory.bind(at + page * PAGE, PAGE, Access::READ_WRITE).unwrap();
                memory.alloc(1, 1).unwrap();
            }
        });
    });
    assert_eq!(memory.bytes_in_use(), 2 * pages * PAGE);
}
