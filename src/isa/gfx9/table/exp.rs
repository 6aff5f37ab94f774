//! Exports.

family! { ($) exp {
    /// Exports to the next stage.
    Exp unimplemented "exp target, export" { exp 0x00 }
} }
