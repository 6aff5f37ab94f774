//! How exactly warploom executes an instruction.

/// The level of exactness; `docs/fidelity.md` lists the deviations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// Every result bit is as documented.
    Exact,
    /// Results may differ from the hardware's results; the text says by how much.
    Approximate(&'static str),
    /// The instruction is decoded and printed, but traps when it is executed.
    Unimplemented,
}
