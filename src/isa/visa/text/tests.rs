//! Texts of single instructions.
