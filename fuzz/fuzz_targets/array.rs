#![no_main]

warploom_fuzz::target!(array);
