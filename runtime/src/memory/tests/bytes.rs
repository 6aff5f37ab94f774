//! Memory of the caller, mapped at its own address.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use memmap2::MmapMut;

use super::*;
use crate::rounds;

#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn memory_of_the_callers_is_mapped_to_the_byte() {
    let mut memory = in_place();
    let mut own = vec![7_u8; 5 * PAGE as usize];
    let start = NonNull::from(&mut own[13..]).cast::<u8>();
    let (address, bytes) = (start.as_ptr().expose_provenance() as u64, 4 * PAGE + 3);
    // SAFETY: `own` stays until it is unmapped, and nobody else touches it.
    unsafe { memory.map_bytes(start, bytes) }.unwrap();
    // SAFETY: as above, and the call is refused.
    assert!(matches!(unsafe { memory.map_bytes(start, 1) }, Err(MapError::Overlap { .. })));
    let end = address + bytes;
    for at in [address, address + 2 * PAGE, end - 1] {
        assert_eq!(memory.load(at, 1), Ok((7, Resident)));
    }
    assert_eq!(memory.load(address - 1, 1), Err(AddressOutOfRange));
    assert_eq!(memory.load(end, 1), Err(AddressOutOfRange));
    // One access begins inside and ends outside. Another lies across the edge of the whole pages.
    assert_eq!(memory.store(end - 2, 4, 0), Err(AddressOutOfRange));
    let edge = address.next_multiple_of(PAGE);
    assert_eq!(memory.store(edge - 2, 4, 0x0403_0201), Ok(Resident));
    assert_eq!(memory.load(edge - 2, 4), Ok((0x0403_0201, Resident)));
    let cell = (address + 7) & !7;
    assert_eq!(memory.read_cell(cell, 8), Ok(0x0707_0707_0707_0707));
    for (at, bytes) in [(cell + 4, 8), (cell, 3), (cell, 16), (end & !3, 4)] {
        assert_eq!(memory.read_cell(at, bytes), Err(CopyError { address: at, write: false }));
    }
    assert_eq!(
        memory.atomic(cell, AtomicType::I32, AtomicKind::Add, 1, 0),
        Ok((0x0707_0707, Resident))
    );
    memory.overwrite(end - 3, &[1, 2, 3]).unwrap();
    assert_eq!(memory.load(end - 1, 1), Ok((3, Resident)));
    // Only `unmap_bytes` ends the mapping.
    assert_eq!(memory.release_later(edge), Err(MapError::NoRange { address: edge }));
    assert_eq!(memory.release(edge), Err(MapError::NoRange { address: edge }));
    assert!(memory.read(address, &mut vec![0; bytes as usize]).is_ok());
    assert!(memory.read(address, &mut vec![0; bytes as usize + 1]).is_err());
    memory.unmap_bytes(address).unwrap();
    assert_eq!(memory.load(address, 1), Err(AddressOutOfRange));
    assert!(memory.unmap_bytes(address).is_err());
}

/// Returns memory of the host that is no longer there once it is dropped.
fn mapped() -> (MmapMut, NonNull<u8>) {
    let mut map = MmapMut::map_anon(3 * PAGE as usize).unwrap();
    let start = NonNull::new(map.as_mut_ptr()).unwrap();
    (map, start)
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn memory_is_unmapped_behind_launches_that_may_use_it() {
    let memory = in_place();
    let (map, start) = mapped();
    let address = start.as_ptr().expose_provenance() as u64;
    // SAFETY: `map` stays until the range is unmapped.
    unsafe { memory.map_bytes(start, 3 * PAGE) }.unwrap();
    let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let launch = memory.begin_launch();
    thread::scope(|scope| {
        let unmapping = scope.spawn(|| {
            begun.store(true, SeqCst);
            memory.unmap_bytes(address).unwrap();
            assert!(ended.load(SeqCst), "the launch may still use the memory");
        });
        while !begun.load(SeqCst) || memory.load(address, 1).is_ok() {
            thread::yield_now();
        }
        // A launch that begins now does not find the memory, and `unmap_bytes` does not wait for
        // it.
        let later = memory.begin_launch();
        thread::sleep(Duration::from_millis(50));
        ended.store(true, SeqCst);
        drop(launch);
        unmapping.join().unwrap();
        drop(later);
    });
    drop(map);
}

/// A copy that touched the memory after it is gone would be a fault of the host.
#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn memory_is_unmapped_behind_copies() {
    let memory = in_place();
    let done = AtomicBool::new(false);
    let target = std::sync::atomic::AtomicU64::new(PAGE);
    thread::scope(|scope| {
        for thread in 0..3 {
            let (memory, done, target) = (&memory, &done, &target);
            scope.spawn(move || {
                let mut content = vec![0; 3 * PAGE as usize];
                while !done.load(SeqCst) {
                    let at = target.load(SeqCst);
                    let _ = match thread {
                        0 => memory.read(at, &mut content),
                        1 => memory.overwrite(at, &content),
                        _ => memory.fill(at, 3 * PAGE, 1),
                    };
                }
            });
        }
        for _ in 0..rounds(100) {
            let (map, start) = mapped();
            let address = start.as_ptr().expose_provenance() as u64;
            target.store(address, SeqCst);
            // SAFETY: `map` stays until the range is unmapped.
            unsafe { memory.map_bytes(start, 3 * PAGE) }.unwrap();
            thread::yield_now();
            memory.unmap_bytes(address).unwrap();
            drop(map);
        }
        done.store(true, SeqCst);
    });
}
