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
