#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warploom_fuzz::assembly(bytes));
