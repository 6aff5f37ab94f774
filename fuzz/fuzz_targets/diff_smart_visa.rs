#![no_main]

warploom_fuzz::target!(diff_smart_visa);
