#![no_main]

warploom_fuzzing::target!(guest_boundary);
