#![no_main]

warploom_fuzz::target!(ir_text);
