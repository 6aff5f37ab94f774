#![no_main]

warploom_fuzzing::target!(cuda_api);
