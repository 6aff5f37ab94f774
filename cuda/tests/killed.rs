//! A process that is killed while a kernel runs leaves a summary for `warploom cuda`.

mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use support::{Driver, ok, param};
use warploom_replay::summary::{self, Summary};

/// A kernel that waits for a number that nobody writes.
const FOREVER: &str = "
.version 6.0
.target sm_52
.address_size 64
.visible .entry forever(.param .u64 place)
{
    .reg .u64 %place;
    .reg .u32 %number;
    .reg .pred %zero;
    ld.param.u64 %place, [place];
again:
    ld.volatile.global.u32 %number, [%place];
    setp.eq.u32 %zero, %number, 0;
    @%zero bra again;
    ret;
}
";

/// The variable that is set in the process to be killed.
const CHILD: &str = "WARPLOOM_TEST_CHILD";

fn run_forever() {
    let driver = Driver::get("sm_52");
    let place = driver.alloc(4);
    ok!(driver, cuMemsetD32_v2(place => u64, 0 => u32, 1 => usize));
    let (_, function) = driver.load(FOREVER.as_bytes(), "forever");
    let _ = driver.launch(function, 1, 32, 0, &[param(&place)]);
    ok!(driver, cuCtxSynchronize());
}

#[test]
fn a_process_that_is_killed_leaves_a_summary() {
    if std::env::var_os(CHILD).is_some() {
        return run_forever();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .envs([CHILD, summary::VARIABLE].map(|name| (name, folder.path())))
        .spawn()
        .unwrap();
    let path = folder.path().join(format!("{}.json", child.id()));
    let start = Instant::now();
    let found = loop {
        let text = std::fs::read(&path).unwrap_or_default();
        // The summary is written completely or not at all.
        let found = (!text.is_empty()).then(|| serde_json::from_slice::<Summary>(&text).unwrap());
        if let Some(found) = found.filter(|found| !found.running.is_empty()) {
            break found;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "it leaves nothing");
        std::thread::sleep(Duration::from_millis(20));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((found.running.len(), found.running[0].kernel.as_str()), (1, "forever"));
    assert_eq!((found.contexts, found.kernels.len(), found.device.as_str()), (1, 0, "sm_52"));
    assert!(found.busy_ns >= found.running[0].ns, "{found:?}");
}
