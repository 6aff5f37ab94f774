#![no_main]

warploom_fuzz::target!(manifest);
