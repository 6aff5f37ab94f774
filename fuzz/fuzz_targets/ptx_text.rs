#![no_main]

warploom_fuzz::target!(ptx_text);
