#![no_main]

warploom_fuzz::target!(cache);
