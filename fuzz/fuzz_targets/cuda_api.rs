#![no_main]

warploom_fuzz::target!(cuda_api);
