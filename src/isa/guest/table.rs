//! Common macros of the instruction tables. Each table defines its own `family!`, which makes rows
//! of lines.

/// Expands to the fidelity of a line.
#[macro_export]
macro_rules! fidelity {
    ((exact $($lift:ident)::+)) => {
        $crate::fidelity::Fidelity::Exact
    };
    ((approximate $bound:literal $($lift:ident)::+)) => {
        $crate::fidelity::Fidelity::Approximate($bound)
    };
    (unimplemented) => {
        $crate::fidelity::Fidelity::Unimplemented
    };
}

/// Expands to the lift function that a line names, in the crate of the table.
#[macro_export]
#[expect(clippy::crate_in_macro_def, reason = "lift functions are the guest's")]
macro_rules! lift {
    ((exact $($lift:ident)::+)) => { Some(crate::lift::$($lift)::+) };
    ((approximate $bound:literal $($lift:ident)::+)) => { Some(crate::lift::$($lift)::+) };
    (unimplemented) => { None };
}

/// Defines a macro with the family's name that passes its opcodes, after the opcodes seen before,
/// to the next family.
#[macro_export]
macro_rules! hand_on {
    (($d:tt) $family:ident $([$(#[$doc:meta])* $opcode:ident])*) => {
        macro_rules! $family {
            ($d then:ident [$d($d rest:ident)*] $d($d seen:tt)*) => {
                $d then! { [$d($d rest)*] $d($d seen)* $([$(#[$doc])* $opcode])* }
            };
        }
    };
}

/// Walks the families and defines `Opcode` and the rows of all families.
#[macro_export]
macro_rules! gather {
    (families $($family:ident)*) => { $crate::gather! { [&[Row]] families $($family)* } };
    ([$rows:ty] families $($family:ident)*) => {
        /// The rows of all families.
        static FAMILIES: &[$rows] = &[$($family::ROWS),*];
        $crate::gather! { [$($family)*] }
    };
    ([$family:ident $($rest:ident)*] $($seen:tt)*) => { $family! { gather [$($rest)*] $($seen)* } };
    ([] $([$(#[$doc:meta])* $opcode:ident])*) => {
        /// The operation of an instruction, whatever its operands, modifiers and encoding: one
        /// variant per entry of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Opcode { $($(#[$doc])* $opcode,)* }

        impl Opcode {
            pub const ALL: &[Opcode] = &[$(Opcode::$opcode,)*];
        }
    };
}
