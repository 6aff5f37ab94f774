#![no_main]

warploom_fuzzing::target!(ptx_text);
