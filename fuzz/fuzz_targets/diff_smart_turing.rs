#![no_main]

warploom_fuzzing::target!(diff_smart_turing);
