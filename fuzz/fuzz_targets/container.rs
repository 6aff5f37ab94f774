#![no_main]

warploom_fuzzing::target!(container);

// Even seeds mutate ELF structures if possible. All other mutations are libFuzzer's own.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(2) && warploom_fuzzing::elf::mutate(&mut data[..size], seed / 2) {
        size
    } else {
        libfuzzer_sys::fuzzer_mutate(data, size, max_size)
    }
});
