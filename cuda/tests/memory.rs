//! Virtual memory, and copies in batches.

mod support;

use std::sync::Mutex;

use support::{Driver, call, ok, param};

const INVALID_VALUE: u32 = 1;
const NOT_SUPPORTED: u32 = 801;
const PIECE: u64 = 2 << 20;

/// A kernel that adds 1 to the element of each lane.
const ADD: &str = "
.version 6.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 at) {
    .reg .u64 %a, %o;
    .reg .u32 %i, %v, %m;
    ld.param.u64 %a, [at];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4;
    add.u64 %a, %a, %o;
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    exit;
}
";

/// `CUmemAllocationProp` of pinned memory of device 0.
const PROPERTIES: [u64; 4] = [1, 1, 0, 0];

/// Tests run one at a time: they share the process's memory.
static ONE: Mutex<()> = Mutex::new(());

fn driver() -> (&'static Driver, std::sync::MutexGuard<'static, ()>) {
    (Driver::get("sm_52"), ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn create(driver: &Driver) -> u64 {
    let mut handle = 0;
    let properties = PROPERTIES.as_ptr();
    ok!(driver, cuMemCreate(&mut handle => *mut u64, PIECE as usize => usize, properties => *const u64, 0 => u64));
    handle
}

fn reserve(driver: &Driver, pieces: u64) -> u64 {
    let mut address = 0;
    ok!(driver, cuMemAddressReserve(&mut address => *mut u64, (pieces * PIECE) as usize => usize, 0 => usize, 0 => u64, 0 => u64));
    assert!(address.is_multiple_of(PIECE));
    address
}

fn access(driver: &Driver, address: u64, pieces: u64, flags: u32) -> u32 {
    let description = [1_u32, 0, flags];
    call!(driver, cuMemSetAccess(address => u64, (pieces * PIECE) as usize => usize, description.as_ptr() => *const u32, 1 => usize))
}

fn free_bytes(driver: &Driver) -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(driver, cuMemGetInfo_v2(&mut free => *mut usize, &mut total => *mut usize));
    free
}

#[test]
fn memory_is_mapped_where_the_program_says() {
    let (driver, _one) = driver();
    let before = free_bytes(driver);
    let at = reserve(driver, 3);
    let (first, second) = (create(driver), create(driver));
    assert!(free_bytes(driver) <= before - 2 * PIECE as usize);
    for (piece, handle) in [(0, first), (1, second), (2, first)] {
        ok!(driver, cuMemMap(at + piece * PIECE => u64, PIECE as usize => usize, 0 => usize, handle => u64, 0 => u64));
    }
    // Map at an address twice, and access memory before access is set.
    assert_eq!(
        call!(driver, cuMemMap(at => u64, PIECE as usize => usize, 0 => usize, second => u64, 0 => u64)),
        INVALID_VALUE
    );
    assert_eq!(call!(driver, cuMemsetD8_v2(at => u64, 1 => u8, 16 => usize)), INVALID_VALUE);
    let in_host = |address: u64, bytes: u64| {
        let mut host = 0_u64;
        let answer = call!(driver, warploomHostAddress(&mut host => *mut u64, address => u64, bytes as usize => usize));
        (answer, host)
    };
    assert_eq!(in_host(at, 16).0, INVALID_VALUE);
    assert_eq!(access(driver, at, 3, 3), 0);
    // Libraries that compute on the CPU find the memory elsewhere in the host, where it is whole.
    let (answer, host) = in_host(at + 64, PIECE - 64);
    assert_eq!(answer, 0);
    assert_ne!(host, at + 64);
    assert_eq!(in_host(at + 2 * PIECE + 64, 16), (0, host));
    assert_eq!(in_host(at + 64, PIECE).0, INVALID_VALUE);
    let mut flags = 0_u64;
    ok!(driver, cuMemGetAccess(&mut flags => *mut u64, [1_u32, 0].as_ptr() => *const u32, at + PIECE => u64));
    assert_eq!(flags, 3);

    // A kernel accesses memory across the border of two mappings. The first memory shows the result
    // at its second address.
    let border = at + PIECE - 64;
    ok!(driver, cuMemsetD32_v2(at => u64, 7 => u32, 2 * PIECE as usize / 4 => usize));
    let (module, function) = driver.load(ADD.as_bytes(), "add");
    assert_eq!(driver.launch(function, 1, 32, 0, &[param(&border)]), 0);
    let expected: Vec<u32> = (0..48).map(|i| if (8..40).contains(&i) { 8 } else { 7 }).collect();
    assert_eq!(driver.words(border - 32, 48), expected);
    assert_eq!(driver.words(at + 3 * PIECE - 96, 24), expected[..24]);
    ok!(driver, cuModuleUnload(module => u64));

    // The mapped memory still has its old handle.
    let mut again = 0;
    ok!(driver, cuMemRetainAllocationHandle(&mut again => *mut u64, at + 5 => u64));
    assert_eq!(again, first);
    for handle in [first, first, second] {
        ok!(driver, cuMemRelease(handle => u64));
    }
    assert_eq!(call!(driver, cuMemRelease(first => u64)), INVALID_VALUE);
    // The memory lasts as long as it is mapped.
    assert_eq!(driver.words(at, 1), [7]);
    let half = PIECE as usize / 2;
    assert_eq!(call!(driver, cuMemUnmap(at => u64, half => usize)), INVALID_VALUE);
    assert_eq!(
        call!(driver, cuMemAddressFree(at => u64, 3 * PIECE as usize => usize)),
        INVALID_VALUE
    );
    ok!(driver, cuMemUnmap(at => u64, 3 * PIECE as usize => usize));
    assert_eq!(call!(driver, cuMemsetD8_v2(at => u64, 1 => u8, 16 => usize)), INVALID_VALUE);
    ok!(driver, cuMemAddressFree(at => u64, 3 * PIECE as usize => usize));
    assert_eq!(free_bytes(driver), before);
}

#[test]
fn what_is_only_read_cannot_be_written_by_kernels() {
    let (driver, _one) = driver();
    let at = reserve(driver, 1);
    let handle = create(driver);
    ok!(driver, cuMemMap(at => u64, PIECE as usize => usize, 0 => usize, handle => u64, 0 => u64));
    assert_eq!(access(driver, at, 1, 3), 0);
    ok!(driver, cuMemsetD32_v2(at => u64, 5 => u32, 32 => usize));
    assert_eq!(access(driver, at, 1, 1), 0);
    assert_eq!(access(driver, at, 1, 2), INVALID_VALUE);
    let mut context = 0_u64;
    ok!(driver, cuCtxCreate_v2(&mut context => *mut u64, 0 => u32, 0 => i32));
    let (_, function) = driver.load(ADD.as_bytes(), "add");
    assert_eq!(driver.launch(function, 1, 32, 0, &[param(&at)]), 0);
    const ILLEGAL_ADDRESS: u32 = 700;
    assert_eq!(call!(driver, cuCtxSynchronize()), ILLEGAL_ADDRESS);
    ok!(driver, cuCtxDestroy_v2(context => u64));
    assert_eq!(driver.words(at, 32), [5; 32]);
    ok!(driver, cuMemUnmap(at => u64, PIECE as usize => usize));
    ok!(driver, cuMemRelease(handle => u64));
    ok!(driver, cuMemAddressFree(at => u64, PIECE as usize => usize));
}

#[test]
fn what_cannot_be_is_refused() {
    let (driver, _one) = driver();
    let (mut out, mut size) = (0_u64, 0_usize);
    let (to, properties) = (&raw mut out, PROPERTIES.as_ptr());
    assert_eq!(
        call!(driver, cuMemAddressReserve(to => *mut u64, 4096 => usize, 0 => usize, 0 => u64, 0 => u64)),
        INVALID_VALUE
    );
    assert_eq!(
        call!(driver, cuMemCreate(to => *mut u64, 4096 => usize, properties => *const u64, 0 => u64)),
        INVALID_VALUE
    );
    // Memory with handles for other processes.
    let shared = [1 | 1 << 32, 1, 0, 0_u64];
    let piece = PIECE as usize;
    assert_eq!(
        call!(driver, cuMemCreate(to => *mut u64, piece => usize, shared.as_ptr() => *const u64, 0 => u64)),
        NOT_SUPPORTED
    );
    assert_eq!(
        call!(driver, cuMemMap(0 => u64, piece => usize, 0 => usize, 77 => u64, 0 => u64)),
        INVALID_VALUE
    );
    ok!(driver, cuMemGetAllocationGranularity(&mut size => *mut usize, properties => *const u64, 0 => u32));
    assert_eq!(size, piece);
}

#[test]
fn what_the_host_sees_is_filled_when_the_call_returns() {
    let (driver, _one) = driver();
    let mut at = 0_u64;
    ok!(driver, cuMemHostAlloc(&mut at => *mut u64, 64 => usize, 2 => u32));
    for value in 0..50_u8 {
        ok!(driver, cuMemsetD8_v2(at => u64, value => u8, 64 => usize));
        let seen: *const u8 = std::ptr::with_exposed_provenance(at as usize);
        // SAFETY: this is pinned memory of the host.
        assert_eq!(unsafe { seen.add(63).read_volatile() }, value);
    }
    ok!(driver, cuMemFreeHost(at => u64));
}

#[test]
fn batches_copy_each() {
    let (driver, _one) = driver();
    let mut stream = 0_u64;
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    let from: Vec<u8> = (0..64).collect();
    let (a, b) = (driver.alloc(64), driver.alloc(64));
    let sources = [from.as_ptr() as u64, a + 32];
    let (targets, sizes) = ([a, b], [64_usize, 16]);
    let (attributes, starts) = ([1_u32, 0, 0, 0, 0, 0], [0_usize]);
    let batch = |stream: u64| {
        call!(driver, cuMemcpyBatchAsync_v2(targets.as_ptr() => *const u64, sources.as_ptr() => *const u64, sizes.as_ptr() => *const usize,
            2 => usize, attributes.as_ptr() => *const u32, starts.as_ptr() => *const usize, 1 => usize, stream => u64))
    };
    assert_eq!(batch(0), INVALID_VALUE);
    assert_eq!(batch(stream), 0);
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.download(b, 16), from[32..48]);

    // Two rows of 8 bytes out of rows of 16 bytes, in slices of 3 rows, to contiguous bytes.
    let mut block = [0_u64; 14];
    (block[0], block[1], block[2], block[3]) = (1, a, 16, 3);
    (block[5], block[6]) = (1, b);
    (block[10], block[11], block[12], block[13]) = (8, 2, 1, 1);
    ok!(driver, cuMemcpy3DBatchAsync_v2(1 => usize, block.as_ptr() => *const u64, 0 => u64, stream => u64));
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.download(b, 16), [&from[..8], &from[16..24]].concat());
    ok!(driver, cuStreamDestroy_v2(stream => u64));
}
