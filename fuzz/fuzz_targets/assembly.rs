#![no_main]

warploom_fuzzing::target!(assembly);
