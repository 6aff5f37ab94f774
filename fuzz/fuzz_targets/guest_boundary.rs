#![no_main]

warploom_fuzz::target!(guest_boundary);
