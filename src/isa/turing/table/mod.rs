//! The instruction table: one file per family, one line per encoding or per set of encodings, in
//! the notation of [`warploom_sass::notation`].
//!
//! The low nine bits of a word are the operation, the next three say where the last source comes
//! from. A line names a set of these forms (`forms!`) with the operation, and the attributes of the
//! sources by place: source B in bits 32 to 63, or source C when these bits hold it.

use std::sync::LazyLock;

use warploom_sass::Table;

use super::Turing;

pub type Row = warploom_sass::Row<Turing>;

/// Defines a family: `static ROWS` and a macro with the family's name that passes its opcodes on.
macro_rules! family {
    (($d:tt) $family:ident { $(
        $(#[$doc:meta])* $opcode:ident $fidelity:tt { $(
            $format:literal { $($set:ident $($part:literal)+;)+ }
        )+ }
    )* }) => {
        pub static ROWS: &[&[$crate::table::Row]] =
            &[$($($(forms! { $set [$opcode $fidelity $format] $($part)+ },)+)+)*];

        hand_on! { ($d) $family $([$(#[$doc])* $opcode])* }
    };
}

/// Expands to the rows of a set of encodings.
macro_rules! forms {
    // The encoding itself.
    (one $line:tt $encoding:literal) => { &[row!($line $encoding)] };
    // B is a register, an immediate, a constant or a uniform register.
    (b $line:tt $op:literal $imm:literal $b:literal) => { &[
        row!($line "o" $op " @9=001 @91=0 b=r32" $b),
        row!($line "o" $op " @9=100 @91=0 b=" $imm),
        row!($line "o" $op " @9=101 @91=0 b=c" $b),
        row!($line "o" $op " @9=101 @91=1 b=cx" $b),
        row!($line "o" $op " @9=110 @91=1 b=ur32" $b),
    ] };
    // As `b` without the immediate.
    (noimm $line:tt $op:literal $b:literal) => { &[
        row!($line "o" $op " @9=001 @91=0 b=r32" $b),
        row!($line "o" $op " @9=101 @91=0 b=c" $b),
        row!($line "o" $op " @9=101 @91=1 b=cx" $b),
        row!($line "o" $op " @9=110 @91=1 b=ur32" $b),
    ] };
    // As `b`, with C in a register.
    (b3 $line:tt $op:literal $imm:literal $b:literal $c:literal) => { &[
        row!($line "o" $op " @9=001 @91=0 b=r32" $b " c=r64" $c),
        row!($line "o" $op " @9=100 @91=0 b=" $imm " c=r64" $c),
        row!($line "o" $op " @9=101 @91=0 b=c" $b " c=r64" $c),
        row!($line "o" $op " @9=101 @91=1 b=cx" $b " c=r64" $c),
        row!($line "o" $op " @9=110 @91=1 b=ur32" $b " c=r64" $c),
    ] };
    // B is a register where C is in `b3`, and C is an immediate, a constant or a uniform register.
    (c $line:tt $op:literal $imm:literal $b:literal $c:literal) => { &[
        row!($line "o" $op " @9=010 @91=0 b=r64" $b " c=" $imm),
        row!($line "o" $op " @9=011 @91=0 b=r64" $b " c=c" $c),
        row!($line "o" $op " @9=011 @91=1 b=r64" $b " c=cx" $c),
        row!($line "o" $op " @9=111 @91=1 b=r64" $b " c=ur32" $c),
    ] };
    // B is a register at a place of its own, or at the place of C in the forms of `c`.
    (s $line:tt $op:literal $imm:literal $register:literal $b:literal) => { &[
        row!($line "o" $op " @9=001 @91=0 b=" $register),
        row!($line "o" $op " @9=010 @91=0 b=" $imm),
        row!($line "o" $op " @9=011 @91=0 b=c" $b),
        row!($line "o" $op " @9=011 @91=1 b=cx" $b),
        row!($line "o" $op " @9=111 @91=1 b=ur32" $b),
    ] };
    // Textures: the handle is in a register, in a constant, in two constants, or in a descriptor's
    // bank. The format has two parts more: between the handle's kind and the handle, and the rest.
    (tex [$opcode:ident $fidelity:tt $format:literal]
        $r:literal $c:literal $two:literal $described:literal $middle:literal $rest:literal) => { &[
        row!([$opcode $fidelity concat!($format, "{bindless@59}", $middle, $rest)]
            "o" $r " @9=001 @91=0"),
        row!([$opcode $fidelity
            concat!($format, "{maybe_bindless@59}", $middle,
                "{bank@54:5}, {handle@40:14}, ", $rest)]
            "o" $c " @9=101 @91=0"),
        row!([$opcode $fidelity
            concat!($format, "{bindless@59}", $middle,
                "{bank@54:5}, {sampler_index@40:6}, {header_index@46:8}, ", $rest)]
            "o" $two " @9=101 @91=0"),
        row!([$opcode $fidelity
            concat!($format, $middle, "{h=ur40}, {header_index@46:8}, ", $rest)]
            "o" $described " @9=111 @91=1"),
    ] };
    // The encoding with order and scope of an access, as sm_75 has them and later models. The first
    // two literals are the scope of later models and the order of sm_75, perhaps with fields before
    // them; the third is the rest of the format.
    (scoped [$opcode:ident $fidelity:tt $format:literal]
        $scope:literal $order:literal $rest:literal $encoding:literal) => { &[
        row!([$opcode $fidelity concat!($format, "{", $scope, "@77}", $rest)] $encoding " >=80"),
        row!([$opcode $fidelity
            concat!($format, "{", $order, "@79}{old_scope@77}{private@76}", $rest)]
            $encoding " <=75"),
    ] };
    // As `scoped`, with a uniform register in the address. From sm_80 on, a bit turns it into the
    // descriptor of the memory.
    (scoped_global [$opcode:ident $fidelity:tt $format:literal]
        $scope:literal $order:literal $rest:literal
        $encoding:literal $flag:literal $uniform:literal $described:literal) => { &[
        row!([$opcode $fidelity concat!($format, "{", $scope, "@77}", $rest)]
            $encoding $flag "=0" $uniform " >=80"),
        row!([$opcode $fidelity concat!($format, "{", $scope, "@77}", $rest)]
            $encoding $flag "=1" $described " >=80"),
        row!([$opcode $fidelity
            concat!($format, "{", $order, "@79}{old_scope@77}{private@76}", $rest)]
            $encoding $uniform " <=75"),
    ] };
    // Surfaces: the handle is in a register, in a constant, in two constants, or in a descriptor's
    // bank. The literals are the forms of the first two, the operations of the first and the
    // others, and the models.
    (surface [$opcode:ident $fidelity:tt $format:literal]
        $form:literal $constant:literal $r:literal $c:literal $models:literal) => { &[
        row!([$opcode $fidelity concat!($format, "{c}")] "o" $r " @9=" $form " @91=0" $models),
        row!([$opcode $fidelity concat!($format, "{bank@54:5}, {handle@40:14}")]
            "o" $c " @9=" $constant " @91=0" $models),
        row!([$opcode $fidelity
            concat!($format, "{bank@54:5}, {sampler_index@40:6}, {header_index@46:8}")]
            "o" $c " @9=011 @91=0" $models),
        row!([$opcode $fidelity concat!($format, "{h=ur40}, {header_index@46:8}")]
            "o" $c " @9=111 @91=1" $models),
    ] };
    // Products of warp groups. The first factor is in shared memory or in registers, the product is
    // dense or sparse, and it has a scoreboard or none. The literals are the shapes of dense and
    // sparse products, the types, the modifiers of factors in shared memory and of the second
    // factor beside registers, and the metadata.
    (gmma [$opcode:ident $fidelity:tt $format:literal]
        $op:literal $shape:literal $sparse:literal $types:literal
        $both:literal $second:literal $metadata:literal) => { &[
        row!([$opcode $fidelity concat!($format, $shape, $types,
            "gdesc[{a=ur24}]", $both, ", {c}, {ps=uq87 !90 ?}")]
            "o" $op " @9=100 @73=0 @84=111 @91=1 >=90"),
        row!([$opcode $fidelity concat!($format, $shape, $types,
            "{a -72}, gdesc[{b=ur32}]", $second, ", {c}, {ps=uq87 !90 ?}")]
            "o" $op " @9=110 @73=0 @84=111 @91=1 >=90"),
        row!([$opcode $fidelity concat!($format, $shape, $types,
            "gdesc[{a=ur24}]", $both, ", {c}, {ps=uq87 !90 ?}, gsb0")]
            "o" $op " @9=100 @73=0 @84=000 @91=1 >=90"),
        row!([$opcode $fidelity concat!($format, $shape, $types,
            "{a -72}, gdesc[{b=ur32}]", $second, ", {c}, {ps=uq87 !90 ?}, gsb0")]
            "o" $op " @9=110 @73=0 @84=000 @91=1 >=90"),
        row!([$opcode $fidelity concat!($format, ".SP", $sparse, $types,
            "gdesc[{a=ur24}]", $both, ", {c}, {ps=uq87 !90 ?}", $metadata)]
            "o" $op " @9=100 @73=1 @84=111 @91=1 >=90"),
        row!([$opcode $fidelity concat!($format, ".SP", $sparse, $types,
            "{a -72}, gdesc[{b=ur32}]", $second, ", {c}, {ps=uq87 !90 ?}", $metadata)]
            "o" $op " @9=110 @73=1 @84=111 @91=1 >=90"),
        row!([$opcode $fidelity concat!($format, ".SP", $sparse, $types,
            "gdesc[{a=ur24}]", $both, ", {c}, {ps=uq87 !90 ?}", $metadata, ", gsb0")]
            "o" $op " @9=100 @73=1 @84=000 @91=1 >=90"),
        row!([$opcode $fidelity concat!($format, ".SP", $sparse, $types,
            "{a -72}, gdesc[{b=ur32}]", $second, ", {c}, {ps=uq87 !90 ?}", $metadata, ", gsb0")]
            "o" $op " @9=110 @73=1 @84=000 @91=1 >=90"),
    ] };
    // Uniform: B is a register or an immediate.
    (u $line:tt $op:literal $imm:literal $b:literal) => { &[
        row!($line "o" $op " @9=001 @91=1 b=ur32" $b),
        row!($line "o" $op " @9=100 @91=1 b=" $imm),
    ] };
    // Uniform: as `u`, with C in a register, or B in a register and C an immediate.
    (uc $line:tt $op:literal $imm:literal $c:literal) => { &[
        row!($line "o" $op " @9=001 @91=1 b=ur32 c=ur64" $c),
        row!($line "o" $op " @9=100 @91=1 b=" $imm " c=ur64" $c),
        row!($line "o" $op " @9=010 @91=1 b=ur64 c=" $imm),
    ] };
}

#[macro_use]
mod control;
#[macro_use]
mod float;
#[macro_use]
mod graphics;
#[macro_use]
mod half;
#[macro_use]
mod hopper;
#[macro_use]
mod integer;
#[macro_use]
mod logic;
#[macro_use]
mod matrix;
#[macro_use]
mod memory;
#[macro_use]
mod surface;
#[macro_use]
mod texture;
#[macro_use]
mod uniform;

gather! {
    [&[&[Row]]] families
    control float graphics half hopper integer logic matrix memory surface texture uniform
}

/// The rows of all families, ordered for the search.
pub static TABLE: LazyLock<Table<Turing>> =
    LazyLock::new(|| Table::new(FAMILIES.iter().copied().flatten().copied().flatten(), 0, 12));
