//! `.npy` files: what can be read can be written, and reads the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warploom::capture::npy;

fuzz_target!(|bytes: &[u8]| {
    let Ok(array) = npy::read(bytes) else { return };
    let mut written = Vec::new();
    npy::write(&array, &mut written).expect("memory takes every write");
    assert_eq!(npy::read(&written).expect("what was written can be read"), array);
});
