#![no_main]

warploom_fuzzing::target!(ir_text);
