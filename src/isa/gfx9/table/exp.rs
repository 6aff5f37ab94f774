//! Exports.

family! { ($) exp {
    /// Exports to the next stage.
    Exp (exact graphics::exp) "exp export" { exp 0x00 }
} }
