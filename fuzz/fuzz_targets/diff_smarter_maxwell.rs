#![no_main]

warploom_fuzzing::target!(diff_smarter_maxwell);
