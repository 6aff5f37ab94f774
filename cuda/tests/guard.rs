//! `WARPLOOM_GUARD=1`: an access past the end of an allocation is a fault, to 16 bytes.

mod support;

use support::{Driver, call, ok, param};

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
";

/// `CUDA_ERROR_ILLEGAL_ADDRESS`
const ILLEGAL_ADDRESS: u32 = 700;

#[test]
fn an_access_past_an_allocation_is_a_fault() {
    // SAFETY: this is the only test of the process, and the library reads the environment later, at
    // its start.
    unsafe { std::env::set_var("WARPLOOM_GUARD", "1") };
    let driver = Driver::get("sm_52");
    let (_, function) = driver.load(KERNEL.as_bytes(), "put");
    let launch = |to: u64, n: u32| {
        assert_eq!(driver.launch(function, 1, 32, 0, &[param(&to), param(&n)]), 0);
        call!(driver, cuCtxSynchronize())
    };
    for bytes in [80, 128, 1 << 16] {
        let to = driver.alloc(bytes);
        assert_eq!(to % 16, 0);
        assert_eq!(launch(to, 20), 0);
        assert_eq!(driver.words(to, 20), (0..20).collect::<Vec<u32>>());
        ok!(driver, cuMemFree_v2(to => u64));
        // The memory is free again.
        assert_ne!(call!(driver, cuMemFree_v2(to => u64)), 0);
    }
    // 4 bytes and 12 more that lie before the end of the page.
    let to = driver.alloc(68);
    assert_eq!(launch(to, 20), 0);
    assert_eq!(launch(to, 21), ILLEGAL_ADDRESS);
}
