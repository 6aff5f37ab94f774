#![no_main]

warploom_fuzz::target!(decode_visa);
