#![no_main]

warploom_fuzz::target!(diff_dumb_gfx9);
