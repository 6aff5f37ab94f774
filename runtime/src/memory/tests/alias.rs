//! Pages that are aliases of other pages.

use super::*;
use crate::rounds;

/// Ranges below the arena, behind its end and in it are aliases of an allocation, and end before it
/// does.
#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn an_alias_that_is_released_gives_back_nothing_of_others() {
    for place in [Placement::At(1 << 33), Placement::At(1 << 55), Placement::ANYWHERE] {
        let mut memory = in_place();
        let source = memory.alloc(2 * PAGE, 1).unwrap();
        memory.fill(source, 2 * PAGE, 7).unwrap();
        let alias = memory.reserve(place, 2 * PAGE, Unbound::Faults).unwrap();
        for released in [false, true] {
            memory.alias(alias, 2 * PAGE, source, Access::READ_WRITE).unwrap();
            if released {
                memory.release(alias).unwrap();
            } else {
                memory.unbind(alias, 2 * PAGE).unwrap();
            }
            let mut content = vec![0; 2 * PAGE as usize];
            memory.read(source, &mut content).unwrap();
            assert!(content.iter().all(|&byte| byte == 7));
        }
    }
}

/// The allocation ends before its alias does.
#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn an_alias_keeps_its_pages_when_the_allocation_is_released() {
    let mut memory = in_place();
    let source = memory.alloc(4 * PAGE, 1).unwrap();
    memory.fill(source, 4 * PAGE, 7).unwrap();
    let alias = memory.reserve(Placement::At(1 << 33), 2 * PAGE, Unbound::Faults).unwrap();
    memory.alias(alias, 2 * PAGE, source + 2 * PAGE, Access::READ_WRITE).unwrap();
    memory.release(source).unwrap();
    assert_eq!(memory.bytes_in_use(), 4 * PAGE);
    // The loop is so long that all other addresses of the arena come to their turn.
    for _ in 0..rounds(5000) {
        let other = memory.alloc(4 * PAGE, 1).unwrap();
        assert!(
            other + 4 * PAGE <= source || source + 4 * PAGE <= other,
            "the addresses are in use"
        );
        memory.release(other).unwrap();
    }
    let mut content = vec![0; 2 * PAGE as usize];
    memory.read(alias, &mut content).unwrap();
    assert!(content.iter().all(|&byte| byte == 7));
    memory.unalias(alias, 2 * PAGE).unwrap();
    assert_eq!(memory.bytes_in_use(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn an_alias_of_an_alias_stands_for_the_allocation() {
    let memory = in_place();
    let source = memory.alloc(3 * PAGE, 1).unwrap();
    for page in 0..3 {
        memory.store(source + page * PAGE, 8, 100 + u128::from(page)).unwrap();
    }
    let first = memory.reserve(Placement::ANYWHERE, 3 * PAGE, Unbound::Faults).unwrap();
    let second = memory.reserve(Placement::ANYWHERE, 2 * PAGE, Unbound::Faults).unwrap();
    memory.alias(first, 2 * PAGE, source + PAGE, Access::READ_WRITE).unwrap();
    memory.alias(second, PAGE, first + PAGE, Access::READ_WRITE).unwrap();
    assert_eq!(memory.load(second, 8), Ok((102, Resident)));
    // The allocation's own pages are no alias, and a source has whole pages.
    assert!(matches!(memory.unalias(source, PAGE), Err(MapError::NotReserved { .. })));
    let odd = memory.alias(second + PAGE, PAGE, source + 16, Access::READ);
    assert_eq!(odd, Err(MapError::NotPageAligned { value: source + 16 }));
}
