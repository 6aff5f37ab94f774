//! The order of accesses, from the names of instructions: `.acquire`, `.volatile`, scopes, fences.
//!
//! Source: PTX ISA, "Memory Consistency Model"; LLVM, "User Guide for AMDGPU Backend", "Memory Model
//! GFX6-GFX9"; `docs/facts/sass.md` for the modifiers of machine code.

use warploom_container::Isa;

/// The threads that take part in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Block,
    Device,
}

/// How an access takes part in the order of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Whether the access is atomic, relaxed or volatile: two such accesses are no race.
    pub strong: bool,
    /// Whether the name does not tell if the access is strong.
    pub unknown: bool,
    /// Whether the access is an arrival at a barrier in memory. Any access may test the barrier.
    pub arrives: bool,
    pub acquires: bool,
    pub releases: bool,
    /// Whether the access restores a register, perhaps one that nothing has written.
    pub restores: bool,
    pub scope: Scope,
}

impl Order {
    pub const PLAIN: Order = Order {
        strong: false,
        unknown: false,
        arrives: false,
        acquires: false,
        releases: false,
        restores: false,
        scope: Scope::Device,
    };

    /// An atomic whose name says nothing else.
    pub const RELAXED: Order = Order { strong: true, ..Order::PLAIN };

    /// An atomic that orders all that is before it and after it.
    pub const BOTH: Order = Order { acquires: true, releases: true, ..Order::RELAXED };
}

/// Returns the order of an instruction's accesses, by its name and its text.
pub fn of(isa: Isa, mnemonic: &str, text: &str) -> Order {
    match isa {
        Isa::Ptx { .. } => of_ptx(mnemonic),
        Isa::Turing { .. } | Isa::Maxwell { .. } => of_sass(isa, mnemonic),
        Isa::Gfx9 { .. } => of_gfx9(mnemonic, text),
        Isa::Visa { .. } | Isa::Ir => of_visa(mnemonic, text),
    }
}

fn of_ptx(mnemonic: &str) -> Order {
    let mut words = mnemonic.split('.');
    let first = words.next().unwrap_or_default();
    let has = |word: &str| mnemonic.split('.').any(|other| other == word);
    let is_of_block = has("cta") || has("cluster");
    let scope = if is_of_block { Scope::Block } else { Scope::Device };
    let strong = matches!(first, "atom" | "red" | "mbarrier")
        || ["volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"].into_iter().any(has);
    // Arrivals and tests of a barrier in memory release and acquire, unless they are relaxed.
    let is_barrier = first == "mbarrier" && !has("relaxed") && !has("init") && !has("inval");
    let (acquires, releases) = (
        has("acquire") || has("acq_rel") || is_barrier,
        has("release") || has("acq_rel") || is_barrier,
    );
    let restores = has("lu");
    Order { strong, acquires, releases, restores, scope, ..Order::PLAIN }
}

fn of_sass(isa: Isa, mnemonic: &str) -> Order {
    let mut words = mnemonic.split('.');
    let first = words.next().unwrap_or_default();
    let has = |word: &str| mnemonic.split('.').any(|other| other == word);
    let is_of_block = has("CTA") || has("SM");
    let scope = if is_of_block { Scope::Block } else { Scope::Device };
    let is_atomic = ["ATOM", "ATOMG", "ATOMS", "RED", "SUATOM", "SURED", "SYNCS"].contains(&first);
    let strong = is_atomic || has("STRONG") || has("CV") || has("MMIO");
    // A volatile store of Maxwell has the name of a plain store. (So do all volatile accesses to
    // shared memory.)
    let unknown = matches!(isa, Isa::Maxwell { .. }) && matches!(first, "ST" | "STG");
    // From Turing on, an acquire for the device has an instruction on the cache behind it.
    let acquires = match isa {
        Isa::Maxwell { .. } => strong && !is_atomic || first == "LDS",
        _ => strong && is_of_block || first == "LDS",
    };
    let restores = has("LU");
    Order { strong, unknown, acquires, restores, scope, ..Order::PLAIN }
}

fn of_gfx9(mnemonic: &str, text: &str) -> Order {
    if is_lds_atomic(mnemonic) {
        // Code waits before or after an atomic that orders other accesses.
        return Order { scope: Scope::Block, ..Order::RELAXED };
    }
    if mnemonic.contains("_atomic_") {
        // An atomic that acquires has a fence behind it.
        return Order { releases: true, ..Order::RELAXED };
    }
    let coherent = text.split([' ', ',']).any(|word| word == "glc");
    let is_store = mnemonic.contains("store");
    Order { strong: coherent, unknown: is_store, ..Order::PLAIN }
}

/// Returns whether an instruction is an atomic on shared memory.
fn is_lds_atomic(mnemonic: &str) -> bool {
    let name = mnemonic.strip_prefix("ds_").unwrap_or_default();
    let plain = ["read", "write", "swizzle", "permute", "bpermute", "nop", "consume", "append"];
    !name.is_empty() && !plain.into_iter().any(|start| name.starts_with(start))
}

fn of_visa(mnemonic: &str, text: &str) -> Order {
    if mnemonic.contains("atomic") {
        // Fences around it order other accesses.
        return Order::RELAXED;
    }
    let is_store = mnemonic.contains("store") || mnemonic.contains("scatter");
    let unknown = is_store && !text.contains("slm");
    Order { unknown, ..Order::PLAIN }
}
