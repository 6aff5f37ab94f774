//! Variables of random vISA: their sizes, first values, and stores at the end.

use arbitrary::{Result, Unstructured};
use rustc_hash::FxHashSet;
use warploom_visa::types::Ty;

use crate::case::OUT_BYTES;
use crate::program::{Node, print};

/// The variables of one letter: their number, and their bytes, in all or for each lane.
pub struct Kind {
    pub letter: char,
    pub count: u32,
    bytes: Bytes,
}

enum Bytes {
    Lane(u32),
    All(u32),
}

/// Bytes of the variable whose address is taken, and of variables with several scalars.
pub const INDIRECT_BYTES: u32 = 256;
const VECTOR_BYTES: u32 = 128;

/// Variables that instructions compute with: words, halves and longs of lanes, single values, a few
/// values together, data that messages load, and the target of address variables.
pub const KINDS: [Kind; 7] = [
    Kind { letter: 'V', count: 8, bytes: Bytes::Lane(4) },
    Kind { letter: 'H', count: 4, bytes: Bytes::Lane(2) },
    Kind { letter: 'Q', count: 4, bytes: Bytes::Lane(8) },
    Kind { letter: 'S', count: 6, bytes: Bytes::All(8) },
    Kind { letter: 'X', count: 2, bytes: Bytes::All(VECTOR_BYTES) },
    Kind { letter: 'M', count: 1, bytes: Bytes::Lane(32) },
    Kind { letter: 'I', count: 1, bytes: Bytes::All(INDIRECT_BYTES) },
];

/// Predicates that instructions compute with: `P1` and so on. The next predicates are control
/// flow's.
pub const PREDICATES: u32 = 4;
pub const CONDITION: &str = "P5";
pub const UNIFORM: &str = "P6";

/// Pointers and numbers that nothing else writes, with their bytes: of each lane, and of all lanes.
const LANES: [(&str, u32); 4] = [("OWN", 8), ("OUT", 8), ("NUMBER", 4), ("DEPTH", 4)];
const SINGLE: [(&str, u32); 7] = [
    ("TABLE", 8),
    ("DATA", 8),
    ("HANDLE", 4),
    ("WORD", 4),
    ("IMAGE", 8),
    ("PICTURE", 8),
    ("SAMPLER", 8),
];
/// Variables that a statement uses for itself: offsets, addresses, counters of loops.
const TEMPORARY: [(&str, u32); 9] = [
    ("OFF", 4),
    ("ADDR", 8),
    ("X0", 4),
    ("Y0", 4),
    ("K0", 4),
    ("K1", 4),
    ("K2", 4),
    ("K3", 4),
    ("K4", 4),
];
const TEMPORARY_SINGLE: [(&str, u32); 3] = [("AT", 8), ("FUNCTION", 8), ("CHOSEN", 4)];

/// Types that all variables are accessed with.
pub const TYPES: [Ty; 12] =
    [Ty::Ub, Ty::B, Ty::Uw, Ty::W, Ty::Ud, Ty::D, Ty::Uq, Ty::Q, Ty::Hf, Ty::Bf, Ty::F, Ty::Df];

impl Kind {
    pub fn of(letter: char) -> &'static Kind {
        KINDS.iter().find(|kind| kind.letter == letter).unwrap_or(&KINDS[0])
    }

    pub fn bytes(&self, lanes: u32) -> u32 {
        match self.bytes {
            Bytes::Lane(bytes) => bytes * lanes,
            Bytes::All(bytes) => bytes,
        }
    }
}

/// Declares a variable, and its aliases of all types: `V3`, `V3uw`.
fn variable(name: &str, bytes: u32, lines: &mut Vec<String>) {
    let elements = |ty: Ty| (bytes / ty.size()).max(1);
    lines.push(format!(".decl {name} v_type=G type=ub num_elts={bytes} align=GRF"));
    for ty in TYPES.into_iter().filter(|ty| ty.size() <= bytes) {
        let (ty_name, elements) = (ty.name(), elements(ty));
        lines.push(format!(
            ".decl {name}{ty_name} v_type=G type={ty_name} num_elts={elements} align=GRF alias=<{name}, 0>"
        ));
    }
}

/// Returns the declarations of every routine.
pub fn declarations(lanes: u32) -> Vec<String> {
    let mut lines = vec![];
    for kind in &KINDS {
        (0..kind.count).for_each(|n| {
            variable(&format!("{}{n}", name_of(kind.letter)), kind.bytes(lanes), &mut lines)
        });
    }
    LANES
        .iter()
        .chain(&TEMPORARY)
        .for_each(|&(name, bytes)| variable(name, bytes * lanes, &mut lines));
    SINGLE
        .iter()
        .chain(&TEMPORARY_SINGLE)
        .for_each(|&(name, bytes)| variable(name, bytes, &mut lines));
    lines.extend((1..=PREDICATES + 2).map(|n| format!(".decl P{n} v_type=P num_elts={lanes}")));
    lines.push(format!(".decl A0 v_type=A num_elts={lanes}"));
    lines.push(".decl A1 v_type=A num_elts=1".into());
    lines.push(".decl T6 v_type=T num_elts=1".into());
    lines
}

/// Returns the lines without the aliases that no other line names.
pub fn with_used(lines: Vec<String>, body: &[Node]) -> Vec<String> {
    let mut text = String::new();
    print(body, &mut text);
    let (declarations, rest): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line| line.starts_with(".decl"));
    rest.iter().for_each(|line| text.push_str(line));
    let names: FxHashSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_used = |line: &String| {
        !line.contains("alias=")
            || line.split_whitespace().nth(1).is_none_or(|name| names.contains(name))
    };
    // The first lines say that it is a routine.
    let at = rest
        .iter()
        .position(|line| !line.starts_with(".version") && !line.contains("\""))
        .unwrap_or(0);
    let used: Vec<String> = declarations.into_iter().filter(is_used).collect();
    [&rest[..at], &used, &rest[at..]].concat()
}

/// Returns the start of the names of a kind's variables. `X0` alone is a coordinate.
pub fn name_of(letter: char) -> &'static str {
    match letter {
        'V' => "V",
        'H' => "H",
        'Q' => "Q",
        'S' => "S",
        'X' => "XV",
        'M' => "M",
        _ => "I",
    }
}

/// Returns lines that set all variables. A value depends on the lane's number if lanes have a
/// share.
pub fn start(u: &mut Unstructured<'_>, lanes: u32, register: u32) -> Result<Vec<String>> {
    let mut lines = vec![];
    for n in 0..8 {
        lines.push(format!(
            "mul (M1, {lanes}) V{n}ud(0,0)<1> NUMBERud(0,0)<1;1,0> {:#x}:ud",
            u.arbitrary::<u32>()?
        ));
        lines.push(format!(
            "xor (M1, {lanes}) V{n}ud(0,0)<1> V{n}ud(0,0)<1;1,0> {:#x}:ud",
            u.arbitrary::<u32>()?
        ));
    }
    for n in 0..4 {
        lines.push(format!("mov (M1, {lanes}) V{n}f(0,0)<1> V{n}w(0,0)<2;1,0>"));
        lines.push(format!(
            "mul (M1, {lanes}) Q{n}q(0,0)<1> V{}d(0,0)<1;1,0> V{n}d(0,0)<1;1,0>",
            n + 4
        ));
        lines.push(format!("mov (M1, {lanes}) H{n}uw(0,0)<1> V{}uw(0,1)<2;1,0>", n + 4));
        lines.push(format!("setp (M1_NM, {lanes}) P{} {:#x}:ud", n + 1, u.arbitrary::<u32>()?));
    }
    for n in 0..Kind::of('S').count {
        lines.push(format!("mov (M1_NM, 1) S{n}uq(0,0)<1> {:#x}:uq", u.arbitrary::<u64>()?));
    }
    for (name, bytes) in
        [("XV0", VECTOR_BYTES), ("XV1", VECTOR_BYTES), ("I0", INDIRECT_BYTES), ("M0", 32 * lanes)]
    {
        for at in (0..bytes).step_by(32) {
            let (row, column) = (at / register, at % register / 4);
            lines.push(format!(
                "mov (M1_NM, 8) {name}ud({row},{column})<1> {:#x}:uv",
                u.arbitrary::<u32>()?
            ));
        }
    }
    Ok(lines)
}

/// Returns the lines that store all variables and predicates.
pub fn end(lanes: u32) -> Vec<String> {
    let mut lines = vec![];
    let mut at = 0;
    let mut store = |lines: &mut Vec<String>, name: &str, bytes: u32| {
        lines.push(format!(
            "lsc_store.ugm (M1, {lanes}) flat[OUT+{at:#x}]:a64 {name}:d{}",
            bytes * 8
        ));
        at += bytes;
    };
    (0..4).for_each(|n| store(&mut lines, &format!("Q{n}"), 8));
    (0..8).for_each(|n| store(&mut lines, &format!("V{n}"), 4));
    let halves = (0..3).map(|n| format!("H{n}uw(0,0)<1;1,0>"));
    let singles = (0..6).map(|n| format!("S{n}ud(0,0)<0;1,0>"));
    let others = ["XV0ud", "M0ud", "I0ud"].map(|name| format!("{name}(0,0)<1;1,0>"));
    for source in halves.chain(singles).chain(others) {
        lines.push(format!("mov (M1, {lanes}) OFFud(0,0)<1> {source}"));
        store(&mut lines, "OFF", 4);
    }
    for n in 1..=PREDICATES {
        lines.push(format!("(P{n}) sel (M1, {lanes}) OFFud(0,0)<1> 0x1:ud 0x0:ud"));
        store(&mut lines, "OFF", 4);
    }
    debug_assert_eq!(at, OUT_BYTES, "all that there is room for");
    lines
}
