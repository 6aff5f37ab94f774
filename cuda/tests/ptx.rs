//! PTX through the driver API, as on a GPU of sm_90.

mod support;

use support::Driver;

#[test]
fn examples_give_what_is_expected() {
    let driver = Driver::get("sm_90");
    let all = support::examples("ptx");
    let compared = all.iter().filter(|(file, launch)| {
        eprintln!("{}", file.display());
        support::run(driver, launch)
    });
    assert!(compared.count() > 30);
}

#[test]
fn modules_with_addresses_of_32_bits_are_refused() {
    let driver = Driver::get("sm_90");
    let load = |size: &str| {
        let text = format!(
            ".version 8.0\n.target sm_50\n{size}\n.visible .entry k(.param .u32 p) {{ ret; }}\0"
        );
        let mut module = 0_u64;
        support::call!(driver, cuModuleLoadData(&mut module => *mut u64, text.as_ptr() => *const u8))
    };
    assert_eq!(load(".address_size 32"), 200, "CUDA_ERROR_INVALID_IMAGE");
    assert_eq!(load(".address_size 64"), 0);
}
