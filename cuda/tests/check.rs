//! `WARPLOOM_CHECK=memory,init`: stores past the end of an allocation, and loads of memory that nobody
//! has written, are in the summary, once.

mod support;

use std::time::{Duration, Instant};

use support::{Driver, call, ok, param};
use warploom_replay::summary::{self, Summary};

const KERNEL: &str = "
.version 6.0
.target sm_50
.address_size 64
.visible .entry put(.param .u64 to, .param .u32 n) {
    .reg .u64 %t, %o;
    .reg .u32 %x, %n;
    .reg .pred %p;
    ld.param.u64 %t, [to];
    ld.param.u32 %n, [n];
    mov.u32 %x, %tid.x;
    setp.ge.u32 %p, %x, %n;
    @%p exit;
    mul.wide.u32 %o, %x, 4;
    add.u64 %t, %t, %o;
    st.global.u32 [%t], %x;
    exit;
}
.visible .entry sum(.param .u64 to, .param .u64 from, .param .u64 copy) {
    .reg .u64 %t, %f, %c, %o;
    .reg .u32 %x, %a, %b;
    ld.param.u64 %t, [to];
    ld.param.u64 %f, [from];
    ld.param.u64 %c, [copy];
    mov.u32 %x, %tid.x;
    mul.wide.u32 %o, %x, 4;
    add.u64 %t, %t, %o;
    add.u64 %f, %f, %o;
    add.u64 %c, %c, %o;
    ld.global.u32 %a, [%f];
    ld.global.u32 %b, [%c];
    add.u32 %a, %a, %b;
    st.global.u32 [%t], %a;
    exit;
}
";

/// Allocates memory, in a function that stacks name.
#[inline(never)]
fn allocates_here(driver: &Driver, bytes: u64) -> u64 {
    std::hint::black_box(driver.alloc(bytes as usize))
}

/// Frees memory, in a function that stacks name.
#[inline(never)]
fn frees_here(driver: &Driver, address: u64) -> u32 {
    std::hint::black_box(call!(driver, cuMemFree_v2(address => u64)))
}

#[test]
fn mistakes_are_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    let values =
        [("WARPLOOM_CHECK", "memory,init"), (summary::VARIABLE, folder.path().to_str().unwrap())];
    for (name, value) in values {
        // SAFETY: this is the only test of the process, and the library reads the environment
        // later, at its start.
        unsafe { std::env::set_var(name, value) };
    }
    let driver = Driver::get("sm_52");
    let (_, function) = driver.load(KERNEL.as_bytes(), "put");
    let (to, other) = (allocates_here(driver, 80), driver.alloc(128));
    let launch = |to: u64, n: u32| {
        assert_eq!(driver.launch(function, 1, 32, 0, &[param(&to), param(&n)]), 0);
        ok!(driver, cuCtxSynchronize());
    };
    launch(to, 20);
    launch(other, 32);
    // Results are those of a launch without checks.
    assert_eq!(driver.words(to, 20), (0..20).collect::<Vec<u32>>());
    for _ in 0..2 {
        launch(to, 23);
    }
    let file = folder.path().join(format!("{}.json", std::process::id()));
    let findings = |count: usize| {
        let start = Instant::now();
        loop {
            let text = std::fs::read(&file).ok();
            let found: Option<Summary> = text.and_then(|text| serde_json::from_slice(&text).ok());
            let findings = found.map(|summary| summary.findings).unwrap_or_default();
            if findings.len() >= count || start.elapsed() > Duration::from_secs(20) {
                break findings;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let first = findings(1);
    let [finding] = &first[..] else { panic!("{first:?}") };
    assert!(finding.contains("store of 4 bytes at offset 80 of `the allocation at"), "{finding}");
    assert!(finding.contains("which has 80 bytes"), "{finding}");
    assert!(finding.contains("st.global.u32 [%t], %x (3 accesses)"), "{finding}");
    let (_, allocated) = finding.split_once("allocated by ").unwrap();
    assert!(allocated.contains("allocates_here"), "{finding}");

    // Of 32 words, the host has written the first 16, and copies all of them. Then all are filled.
    let (_, sum) = driver.load(KERNEL.as_bytes(), "sum");
    let (from, copy) = (driver.alloc(128), driver.alloc(128));
    let words = [1_u32; 16];
    ok!(driver, cuMemcpyHtoD_v2(from => u64, words.as_ptr() => *const u32, 64 => usize));
    ok!(driver, cuMemcpyDtoD_v2(copy => u64, from => u64, 128 => usize));
    for fill in [true, false] {
        assert_eq!(driver.launch(sum, 1, 32, 0, &[param(&other), param(&from), param(&copy)]), 0);
        ok!(driver, cuCtxSynchronize());
        if fill {
            ok!(driver, cuMemsetD8_v2(from => u64, 0 => u8, 128 => usize));
            ok!(driver, cuMemsetD32_v2(copy => u64, 3 => u32, 32 => usize));
        }
    }
    let told = findings(3);
    let of = |load: &str| told.iter().filter(|one| one.contains(load)).collect::<Vec<_>>();
    for load in ["ld.global.u32 %a, [%f]", "ld.global.u32 %b, [%c]"] {
        let [one] = of(load)[..] else { panic!("{told:?}") };
        assert!(one.contains("of global memory, which nothing has written"), "{one}");
        assert!(one.contains("lane 16,") && one.contains("(16 accesses)"), "{one}");
    }
    assert_eq!(told.len(), 3);

    // Memory that has been freed: the driver refuses to free it again, and a launch faults.
    assert_eq!(frees_here(driver, to), 0);
    assert_ne!(frees_here(driver, to), 0);
    assert_eq!(driver.launch(function, 1, 32, 0, &[param(&to), param(&4)]), 0);
    let findings = findings(5);
    let twice = findings.iter().find(|one| one.contains("is freed twice")).unwrap();
    let freed = findings.iter().find(|one| one.contains("which has been freed")).unwrap();
    for one in [twice, freed] {
        let (_, stack) = one.split_once("freed by ").unwrap();
        assert!(stack.contains("frees_here"), "{one}");
    }
    assert!(freed.contains("store of 4 bytes at offset 0 of `the allocation at"), "{freed}");
}
