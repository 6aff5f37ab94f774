#![no_main]

warploom_fuzzing::target!(diff_dumb_gfx9);
