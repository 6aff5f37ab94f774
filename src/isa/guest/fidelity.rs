//! How exactly warploom does what an instruction means.

/// One of the three levels; `docs/fidelity.md` lists what is not exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// Every result bit is as documented.
    Exact,
    /// Results may differ from the hardware's; the text says by how much.
    Approximate(&'static str),
    /// Decoded and printed, but it traps when it is executed.
    Unimplemented,
}
