#![no_main]

warploom_fuzz::target!(container);
