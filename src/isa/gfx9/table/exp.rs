//! Exports.

family! { ($) exp {
    /// Exports to the next stage.
    Exp unimplemented "exp export" { exp 0x00 }
} }
