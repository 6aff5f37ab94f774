#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warploom_fuzz::decode_gfx9(bytes));
