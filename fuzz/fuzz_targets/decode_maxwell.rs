#![no_main]

warploom_fuzzing::target!(decode_maxwell);
