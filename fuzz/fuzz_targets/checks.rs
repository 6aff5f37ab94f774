#![no_main]

warploom_fuzzing::target!(checks);
