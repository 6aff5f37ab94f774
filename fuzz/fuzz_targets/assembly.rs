#![no_main]

warploom_fuzz::target!(assembly);
