#![no_main]

warploom_fuzz::target!(diff_smarter_visa);
