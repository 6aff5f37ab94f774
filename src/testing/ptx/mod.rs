//! Random PTX. `statement` makes instructions from the table, with operands as the table has them,
//! in `registers` and at safe `address`es. `rules` and `images` have the operands that no list has.
//! `kernel` makes whole kernels with control flow.

mod address;
mod images;
mod kernel;
mod loops;
mod registers;
mod rules;
mod statement;

pub use kernel::{kernel, straight};
pub use loops::GUEST;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arbitrary::Unstructured;
    use warploom_ptx::read;
    use warploom_ptx::table::resolve;

    use super::statement::ANYWHERE;
    use super::straight;
    use crate::ir::{Random, Source};

    /// An instruction that cannot be written is left out silently, so each opcode has to be written
    /// some time.
    #[test]
    fn all_opcodes_are_written_and_read() {
        let mut seen = BTreeSet::new();
        for seed in 0..600 {
            let mut random = Random::new(seed);
            let bytes: Vec<u8> = (0..1500).map(|_| random.below(256) as u8).collect();
            let case = straight(&mut Unstructured::new(&bytes)).unwrap();
            let text = case.text();
            if let Err(errors) = read(text.as_bytes()) {
                panic!("seed {seed}: {errors}\n{text}");
            }
            for line in text.lines() {
                let mnemonic =
                    line.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
                let words: Vec<&str> = mnemonic.trim_end_matches(';').split('.').collect();
                seen.extend(resolve(&words).ok().map(|form| form.row.opcode));
            }
        }
        let missing: Vec<_> = ANYWHERE.iter().filter(|opcode| !seen.contains(*opcode)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
