//! The operands of a form: `d*v^_, address, policy`.
//!
//! Operands are separated by commas. Each is the name of a [`Kind`], then, in this order:
//! - `:1`, `:u32`, `:double`, `:byte`, `:address`: its type; by default the form's first type,
//! - `*4`, `*v`, `*x`, `*f`: the number of its elements in braces,
//! - `^`: registers may be wider,
//! - `_`: it may be a sink,
//! - `|p`: it has a second destination; `|p?` if it may have one,
//! - `@90/7.8`: it needs this target and version,
//! - `?`: it may be missing.

use crate::types::Ty;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `d`
    Destination,
    /// `s`: a register or a constant.
    Source,
    /// `r`: a register alone.
    Register,
    /// `p`
    PredicateDestination,
    /// `q`: `p`, `!p` or a constant.
    PredicateSource,
    /// `i:0..15`: a constant. Without an end the largest is that of 32 bits; `i:..` is any
    /// constant.
    Immediate(u64, u64),
    /// An address in the space that the form names, or a generic one.
    Address,
    /// `a:shared`, `a:global`: an address in a space that the opcode names.
    AddressIn(Space),
    /// A cache policy; only with `.L2::cache_hint`.
    Policy,
    /// The blocks of a cluster; only with `.multicast::cluster`.
    ClusterMask,
    /// A mask of bytes; only with `.cp_mask`.
    ByteMask,
    /// Offsets of an im2col copy; only with `.im2col` and similar words.
    Offsets,
    /// `[map, {x, y}]`
    Tensor,
    /// A combining predicate; only with `.and`, `.or`, `.xor`.
    Combined,
    /// A combining predicate that is not a constant.
    CombinedRegister,
    /// The number of a barrier.
    Barrier,
    /// The number of threads of a barrier.
    Threads,
    /// A count of registers: 24 to 256, in steps of 8.
    Registers,
    /// `[texture]`, `[surface]`, or a handle in a register.
    Handle,
    /// `[surface, {x, y}]`
    Texel,
    Label,
    BranchTargets,
    /// `_` and nothing else.
    Sink,
    /// A register, a constant or a special register.
    Converted,
    /// A register, a constant or the address of a name in the form's space.
    Named,
    /// Registers of a `tcgen05` load or store.
    TensorRegisters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Shared,
    Global,
}

/// The type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// The form's type with this number.
    Of(usize),
    /// A type twice as wide as the form's first type.
    Double,
    Fixed(Ty),
    /// 32 bits; a constant is at most 255.
    Byte,
    /// 32 or 64 bits.
    Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Fixed(usize),
    /// `.v2`, `.v4`, `.v8`
    Vector,
    /// Matrices: `.x1`, `.x2`, `.x4`
    Matrices,
    /// The registers of a `wmma` fragment.
    Fragment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    No,
    Optional,
    Required,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    pub kind: Kind,
    pub ty: Type,
    pub count: Count,
    pub wide: bool,
    pub sink: bool,
    pub second: Second,
    /// The target and version that the operand needs.
    pub needs: Option<(u32, (u8, u8))>,
    pub optional: bool,
}

/// Rules for operands that a list of [`Spec`]s cannot describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Mov,
    Call,
    Texture,
    Mma,
    SparseMma,
    ScaledMma,
    Wmma,
    Wgmma,
    Video,
    VideoMad,
    VideoSimd,
    Copy,
    Tcgen05,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Signature {
    List(Vec<Spec>),
    Rule(Rule),
}

impl Signature {
    pub fn parse(text: &str) -> Signature {
        let rule = match text {
            "mov" => Rule::Mov,
            "call" => Rule::Call,
            "texture" => Rule::Texture,
            "mma" => Rule::Mma,
            "sparse" => Rule::SparseMma,
            "scaled" => Rule::ScaledMma,
            "wmma" => Rule::Wmma,
            "wgmma" => Rule::Wgmma,
            "video" => Rule::Video,
            "vmad" => Rule::VideoMad,
            "simd" => Rule::VideoSimd,
            "copy" => Rule::Copy,
            "tcgen05" => Rule::Tcgen05,
            "" => return Signature::List(Vec::new()),
            _ => return Signature::List(text.split(", ").map(spec).collect()),
        };
        Signature::Rule(rule)
    }
}

fn spec(text: &str) -> Spec {
    let (rest, second) = match text.split_once('|') {
        Some((first, "p?")) => (first, Second::Optional),
        Some((first, _)) => (first, Second::Required),
        None => (text, Second::No),
    };
    let (rest, optional) = cut(rest, '?');
    let (rest, needs) =
        rest.split_once('@').map_or((rest, None), |(rest, needs)| (rest, place(needs)));
    let (rest, sink) = cut(rest, '_');
    let (rest, wide) = cut(rest, '^');
    let (rest, count) = rest.split_once('*').unwrap_or((rest, "1"));
    let (name, ty) = rest.split_once(':').unwrap_or((rest, "0"));
    let count = match count {
        "v" => Count::Vector,
        "x" => Count::Matrices,
        "f" => Count::Fragment,
        number => Count::Fixed(number.parse().unwrap_or_else(|_| panic!("operand `{text}`"))),
    };
    let kind = kind(name, ty).unwrap_or_else(|| panic!("operand `{text}`"));
    let ty = match (kind, ty) {
        (Kind::Immediate(..) | Kind::AddressIn(_), _) => Type::Of(0),
        (_, "double") => Type::Double,
        (_, "byte") => Type::Byte,
        (_, "address") => Type::Address,
        (_, ty) => match ty.parse() {
            Ok(number) => Type::Of(number),
            Err(_) => Type::Fixed(Ty::from_name(ty).unwrap_or_else(|| panic!("operand `{text}`"))),
        },
    };
    Spec { kind, ty, count, wide, sink, second, needs, optional }
}

/// Parses `90/7.8`.
fn place(text: &str) -> Option<(u32, (u8, u8))> {
    let (sm, version) = text.split_once('/')?;
    let (major, minor) = version.split_once('.')?;
    Some((sm.parse().ok()?, (major.parse().ok()?, minor.parse().ok()?)))
}

fn cut(text: &str, end: char) -> (&str, bool) {
    match text.strip_suffix(end) {
        Some(rest) => (rest, true),
        None => (text, false),
    }
}

fn kind(name: &str, ty: &str) -> Option<Kind> {
    Some(match name {
        "d" => Kind::Destination,
        "s" => Kind::Source,
        "r" => Kind::Register,
        "p" => Kind::PredicateDestination,
        "q" => Kind::PredicateSource,
        "i" => {
            if ty == ".." {
                return Some(Kind::Immediate(0, u64::MAX));
            }
            let (low, high) = ty.split_once("..").unwrap_or((ty, ty));
            Kind::Immediate(
                low.parse().ok()?,
                if high.is_empty() { u32::MAX.into() } else { high.parse().ok()? },
            )
        }
        "a" if ty == "shared" => Kind::AddressIn(Space::Shared),
        "a" if ty == "global" => Kind::AddressIn(Space::Global),
        "a" | "address" => Kind::Address,
        "policy" => Kind::Policy,
        "cluster_mask" => Kind::ClusterMask,
        "byte_mask" => Kind::ByteMask,
        "offsets" => Kind::Offsets,
        "tensor" => Kind::Tensor,
        "combined" => Kind::Combined,
        "combined_register" => Kind::CombinedRegister,
        "barrier" => Kind::Barrier,
        "threads" => Kind::Threads,
        "registers" => Kind::Registers,
        "handle" => Kind::Handle,
        "texel" => Kind::Texel,
        "label" => Kind::Label,
        "targets" => Kind::BranchTargets,
        "sink" => Kind::Sink,
        "converted" => Kind::Converted,
        "named" => Kind::Named,
        "tensor_registers" => Kind::TensorRegisters,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_read() {
        let Signature::List(list) = Signature::parse("d:1*v^_|p?, i:0..15, s:byte?") else {
            panic!()
        };
        assert_eq!(
            list[0],
            Spec {
                kind: Kind::Destination,
                ty: Type::Of(1),
                count: Count::Vector,
                wide: true,
                sink: true,
                second: Second::Optional,
                needs: None,
                optional: false
            }
        );
        assert_eq!(list[1].kind, Kind::Immediate(0, 15));
        assert!(list[2].optional && list[2].ty == Type::Byte);
    }
}
