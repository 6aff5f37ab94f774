//! ATOM, RED and ATOMS: every operation, type and addressing form against a table that follows the
//! seed `nvidia-atom.txt`.

use warploom_maxwell as maxwell;

use crate::support::probe::{Probe, assemble};
use crate::support::state::{GLOBAL, Item, LANES, LOW, Place, State};

/// Computes the stored value from the memory's value, B and C, as the seed's table defines it.
type Update = fn(u64, u64, u64) -> u64;

/// An operation with a type: its suffix, and the bytes of its memory operand.
struct Row {
    name: &'static str,
    bytes: u64,
    update: Update,
}

const fn row(name: &'static str, bytes: u64, update: Update) -> Row {
    Row { name, bytes, update }
}

const TABLE: &[Row] = &[
    row(".ADD", 4, |m, b, _| m + b),
    row(".ADD.S32", 4, |m, b, _| m + b),
    row(".ADD.U64", 8, |m, b, _| m.wrapping_add(b)),
    row(".ADD.F32.FTZ.RN", 4, |m, b, _| add_flushed(m, b)),
    row(".MIN", 4, |m, b, _| m.min(b)),
    row(".MIN.S32", 4, |m, b, _| if (b as i32) < m as i32 { b } else { m }),
    row(".MIN.U64", 8, |m, b, _| m.min(b)),
    row(".MIN.S64", 8, |m, b, _| (m as i64).min(b as i64) as u64),
    row(".MAX", 4, |m, b, _| m.max(b)),
    row(".MAX.S32", 4, |m, b, _| if b as i32 > m as i32 { b } else { m }),
    row(".MAX.U64", 8, |m, b, _| m.max(b)),
    row(".MAX.S64", 8, |m, b, _| (m as i64).max(b as i64) as u64),
    row(".INC", 4, |m, b, _| if m >= b { 0 } else { m + 1 }),
    row(".DEC", 4, |m, b, _| if m == 0 || m > b { b } else { m - 1 }),
    row(".AND", 4, |m, b, _| m & b),
    row(".AND.S32", 4, |m, b, _| m & b),
    row(".AND.U64", 8, |m, b, _| m & b),
    row(".OR", 4, |m, b, _| m | b),
    row(".OR.S32", 4, |m, b, _| m | b),
    row(".OR.U64", 8, |m, b, _| m | b),
    row(".XOR", 4, |m, b, _| m ^ b),
    row(".XOR.S32", 4, |m, b, _| m ^ b),
    row(".XOR.U64", 8, |m, b, _| m ^ b),
];
/// The operations that RED lacks.
const NO_REDUCTION: &[Row] = &[
    row(".EXCH", 4, |_, b, _| b),
    row(".EXCH.S32", 4, |_, b, _| b),
    row(".EXCH.U64", 8, |_, b, _| b),
    row(".CAS", 4, |m, b, c| if m == b { c } else { m }),
    row(".CAS.64", 8, |m, b, c| if m == b { c } else { m }),
];
/// Our reading of "increment put pointer in a circular queue": see `docs/fidelity.md`.
const SAFE_ADD: Row = row(".SAFEADD.U64", 8, |m, b, _| {
    let ([put, get], [count, capacity]) =
        ([m as u32, (m >> 32) as u32], [b as u32, (b >> 32) as u32]);
    let room = u64::from(put.wrapping_sub(get)) + u64::from(count) <= u64::from(capacity);
    if room { u64::from(put.wrapping_add(count)) | u64::from(get) << 32 } else { m }
});
/// Pairs that the seed's table does not list.
const UNLISTED: &[&str] = &[
    ".ADD.S64",
    ".MIN.F32.FTZ.RN",
    ".MAX.F32.FTZ.RN",
    ".INC.S32",
    ".INC.U64",
    ".DEC.S64",
    ".AND.F32.FTZ.RN",
    ".AND.S64",
    ".OR.S64",
    ".XOR.S64",
    ".INC.F16x2.FTZ.RN",
];

fn add_flushed(m: u64, b: u64) -> u64 {
    let flush = |x: f32| if x.is_subnormal() { 0.0_f32.copysign(x) } else { x };
    let sum = flush(flush(f32::from_bits(m as u32)) + flush(f32::from_bits(b as u32)));
    u64::from(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() })
}

const EDGES: [u64; 16] = [
    0,
    1,
    2,
    5,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbfc0_0000,
    0x0000_0001_8000_0001,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0001,
    0x8000_0000_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ self.0 >> 32
    }

    fn value(&mut self) -> u64 {
        let any = self.next();
        match self.next() % 4 {
            0 => any,
            1 => any % 8,
            _ => EDGES[any as usize % EDGES.len()],
        }
    }
}

/// The place of an access, and the instruction's way to name it.
#[derive(Clone, Copy)]
struct Form {
    /// `ATOM.E`, ...
    mnemonic: &'static str,
    /// The memory operand.
    operand: &'static str,
    /// The number that the operand adds to R2 (or to nothing).
    offset: i64,
    base: Base,
    /// Address of the cells, and place of its words.
    cells: u64,
    place: fn(u64) -> Place,
}

#[derive(Clone, Copy, PartialEq)]
enum Base {
    Pair,
    Word,
    None,
}

const fn global(at: u64) -> Place {
    Place::Global(at.wrapping_sub(GLOBAL))
}

const FORMS: &[Form] = &[
    Form {
        mnemonic: "ATOM.E",
        operand: "[R2]",
        offset: 0,
        base: Base::Pair,
        cells: GLOBAL + 0x40,
        place: global,
    },
    Form {
        mnemonic: "ATOM.E",
        operand: "[R2+0x7fff8]",
        offset: 0x7_fff8,
        base: Base::Pair,
        cells: GLOBAL,
        place: global,
    },
    Form {
        mnemonic: "ATOM.E",
        operand: "[R2+-0x80000]",
        offset: -0x8_0000,
        base: Base::Pair,
        cells: GLOBAL,
        place: global,
    },
    Form {
        mnemonic: "ATOM.E",
        operand: "[0xf0010]",
        offset: 0xf_0010,
        base: Base::None,
        cells: LOW + 0x10,
        place: global,
    },
    Form {
        mnemonic: "ATOM",
        operand: "[R2]",
        offset: 0,
        base: Base::Word,
        cells: LOW,
        place: global,
    },
    Form {
        mnemonic: "ATOM",
        operand: "[R2+-0x10]",
        offset: -0x10,
        base: Base::Word,
        cells: LOW,
        place: global,
    },
    Form {
        mnemonic: "ATOM",
        operand: "[0xf0020]",
        offset: 0xf_0020,
        base: Base::None,
        cells: LOW + 0x20,
        place: global,
    },
    Form {
        mnemonic: "RED.E",
        operand: "[R2]",
        offset: 0,
        base: Base::Pair,
        cells: GLOBAL + 0x40,
        place: global,
    },
    Form {
        mnemonic: "RED.E",
        operand: "[R2+0x10]",
        offset: 0x10,
        base: Base::Pair,
        cells: GLOBAL,
        place: global,
    },
    Form {
        mnemonic: "RED",
        operand: "[R2+-0x8]",
        offset: -8,
        base: Base::Word,
        cells: LOW,
        place: global,
    },
    Form {
        mnemonic: "RED",
        operand: "[0xf0008]",
        offset: 0xf_0008,
        base: Base::None,
        cells: LOW + 8,
        place: global,
    },
    Form {
        mnemonic: "ATOMS",
        operand: "[R2]",
        offset: 0,
        base: Base::Word,
        cells: 0x20,
        place: Place::Shared,
    },
    Form {
        mnemonic: "ATOMS",
        operand: "[R2+0x40]",
        offset: 0x40,
        base: Base::Word,
        cells: 0x80,
        place: Place::Shared,
    },
    Form {
        mnemonic: "ATOMS",
        operand: "[0x60]",
        offset: 0x60,
        base: Base::None,
        cells: 0x60,
        place: Place::Shared,
    },
];

impl Form {
    fn has(&self, row: &Row) -> bool {
        match self.mnemonic {
            "ATOM" | "ATOM.E" => true,
            "RED" | "RED.E" => {
                !NO_REDUCTION.iter().any(|other| other.name == row.name)
                    && row.name != SAFE_ADD.name
            }
            // In shared memory, compilers use loops of CAS for these operations.
            _ => row.name != ".ADD.F32.FTZ.RN" && row.name != SAFE_ADD.name,
        }
    }

    fn text(&self, row: &str, [b, c]: [&str; 2], d: &str) -> String {
        let c = if row.starts_with(".CAS") { format!(", {c}") } else { String::new() };
        if self.mnemonic.starts_with("RED") {
            return format!("{}{row} {}, {b}", self.mnemonic, self.operand);
        }
        format!("{}{row} {d}, {}, {b}{c}", self.mnemonic, self.operand)
    }
}

/// Values in registers, a pair each, and cells of memory, 8 bytes each.
#[derive(Clone, Default)]
struct Warp {
    address: [u64; LANES],
    b: [u64; LANES],
    c: [u64; LANES],
    cells: [u64; 4],
}

const D: u32 = 12;
const B: u32 = 4;

/// Returns the register of C, which is right behind B.
fn c_of(row: &Row) -> u32 {
    B + row.bytes as u32 / 4
}

fn register(number: u32, values: [u64; LANES], wide: bool, into: &mut Vec<Item>) {
    into.push(Item { place: Place::Reg(number), lanes: values.map(|value| value as u32) });
    if wide {
        into.push(Item {
            place: Place::Reg(number + 1),
            lanes: values.map(|value| (value >> 32) as u32),
        });
    }
}

fn memory(form: &Form, cells: &[u64; 4], into: &mut Vec<Item>) {
    for (i, word) in cells.iter().flat_map(|cell| [*cell as u32, (cell >> 32) as u32]).enumerate() {
        into.push(Item { place: (form.place)(form.cells + 4 * i as u64), lanes: [word; LANES] });
    }
}

/// The operands of an instruction that are RZ.
#[derive(Clone, Copy, Default)]
struct Zeros {
    b: bool,
    c: bool,
    d: bool,
}

/// Runs an instruction on warps and compares the results with the table.
fn check(form: &Form, row: &Row, zeros: Zeros, warps: &[Warp], failures: &mut Vec<String>) {
    let name = |zero, number: u32| if zero { "RZ".to_owned() } else { format!("R{number}") };
    // C is the register behind B; if B is RZ, C is in B's place.
    let c = if zeros.b { B } else { c_of(row) };
    let d = name(zeros.d, D);
    let text = form.text(row.name, [&name(zeros.b, B), &name(zeros.c, c)], &d);
    let word = maxwell::assemble(&text, 0).unwrap_or_else(|error| panic!("{error}"));
    let cases: Vec<(State, State)> =
        warps.iter().map(|warp| states(form, row, zeros, warp)).collect();
    let places = cases.iter().flat_map(|(before, after)| before.places().chain(after.places()));
    let probe = Probe::new(&assemble(&[word]), places);
    for (before, after) in &cases {
        for (engine, left) in probe.run(before, LANES as u32) {
            let differences = left.compare(before, after, LANES as u32);
            if !differences.is_empty() {
                let shown = differences[..differences.len().min(4)].join("\n    ");
                failures.push(format!("{text} ({engine}):\n    {shown}"));
            }
        }
    }
}

/// Returns the states before and after. Lanes act in ascending order up to the first that faults.
fn states(form: &Form, row: &Row, zeros: Zeros, warp: &Warp) -> (State, State) {
    let wide = row.bytes == 8;
    let mut before = State::default();
    let base = warp.address.map(|address| address.wrapping_sub(form.offset as u64));
    if form.base != Base::None {
        register(2, base, form.base == Base::Pair, &mut before.items);
    }
    register(B, warp.b, wide, &mut before.items);
    register(c_of(row), warp.c, wide, &mut before.items);
    memory(form, &warp.cells, &mut before.items);

    let mut bytes: Vec<u8> = warp.cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
    let (mut found, mut after) = ([0; LANES], State::default());
    for (lane, found) in found.iter_mut().enumerate() {
        let address = if form.base == Base::None { form.cells } else { warp.address[lane] };
        let fault = match () {
            () if address % row.bytes != 0 => Some("MisalignedAddress"),
            () if form.mnemonic.starts_with("ATOMS") => None,
            () if [1, 2].contains(&(address >> 24)) => Some("InvalidAddressSpace"),
            () => None,
        };
        let at = address.wrapping_sub(form.cells);
        let fault = fault.or((at >= bytes.len() as u64).then_some("AddressOutOfRange"));
        if let Some(kind) = fault {
            after.fault = Some((kind.to_owned(), Some(lane as u32)));
            break;
        }
        let at = at as usize..at as usize + row.bytes as usize;
        let mut m = [0; 8];
        m[..at.len()].copy_from_slice(&bytes[at.clone()]);
        let mask = u64::MAX >> (64 - 8 * row.bytes);
        let c = if zeros.b { warp.b[lane] } else { warp.c[lane] };
        let (b, c) =
            (if zeros.b { 0 } else { warp.b[lane] & mask }, if zeros.c { 0 } else { c & mask });
        let m = u64::from_le_bytes(m);
        *found = m;
        bytes[at.clone()]
            .copy_from_slice(&((row.update)(m, b, c) & mask).to_le_bytes()[..at.len()]);
    }
    if after.fault.is_none() && !zeros.d && !form.mnemonic.starts_with("RED") {
        register(D, found, wide, &mut after.items);
    }
    let cells = std::array::from_fn(|i| {
        u64::from_le_bytes(bytes[8 * i..][..8].try_into().expect("8 bytes"))
    });
    memory(form, &cells, &mut after.items);
    (before, after)
}

fn random_warp(form: &Form, row: &Row, random: &mut Random) -> Warp {
    let mut warp = Warp::default();
    for lane in 0..LANES {
        warp.address[lane] = form.cells + random.next() % (32 / row.bytes) * row.bytes;
        (warp.b[lane], warp.c[lane]) = (random.value(), random.value());
    }
    warp.cells = std::array::from_fn(|_| random.value() | random.value() << 32);
    warp
}

fn all_rows() -> impl Iterator<Item = &'static Row> {
    const SAFE: &[Row] = &[SAFE_ADD];
    TABLE.iter().chain(NO_REDUCTION).chain(SAFE)
}

fn assert_none(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_operation_type_and_addressing_form() {
    let (mut random, mut failures, mut forms) = (Random(1), vec![], 0);
    for form in FORMS {
        for row in all_rows().filter(|row| form.has(row)) {
            forms += 1;
            let warps: Vec<Warp> = (0..3).map(|_| random_warp(form, row, &mut random)).collect();
            check(form, row, Zeros::default(), &warps, &mut failures);
        }
    }
    assert_none(&failures);
    assert!(forms > 300, "{forms}");
}

#[test]
fn operands_that_are_rz() {
    let (mut random, mut failures) = (Random(2), vec![]);
    for form in [&FORMS[0], &FORMS[5], &FORMS[8], &FORMS[12]] {
        for row in all_rows().filter(|row| form.has(row)) {
            let warps = [random_warp(form, row, &mut random)];
            check(form, row, Zeros { d: true, ..Zeros::default() }, &warps, &mut failures);
            check(form, row, Zeros { b: true, ..Zeros::default() }, &warps, &mut failures);
            if row.name.starts_with(".CAS") {
                check(form, row, Zeros { c: true, ..Zeros::default() }, &warps, &mut failures);
            }
        }
    }
    assert_none(&failures);
}

/// Each kind of error occurs in one lane; the lanes below it have acted.
#[test]
fn errors_are_the_documents() {
    let (mut random, mut failures) = (Random(3), vec![]);
    for form in FORMS.iter().filter(|form| form.base != Base::None) {
        for row in all_rows().filter(|row| form.has(row)) {
            let shared = form.mnemonic == "ATOMS";
            let out: &[u64] =
                if shared { &[0x400, 0xff_fff0] } else { &[0x30, 0x100_0010, 0x200_0010] };
            let misaligned = form.cells + row.bytes / 2;
            let warps = out.iter().chain([&misaligned]).enumerate().map(|(n, &address)| {
                let mut warp = random_warp(form, row, &mut random);
                warp.address[(n * 11 + 3) % LANES] = address;
                warp
            });
            let warps: Vec<Warp> = warps.collect();
            check(form, row, Zeros::default(), &warps, &mut failures);
        }
    }
    assert_none(&failures);
}

#[test]
fn pairs_that_the_table_does_not_list_are_illegal() {
    let mut failures = vec![];
    for form in [&FORMS[0], &FORMS[7]] {
        for name in UNLISTED {
            let text = form.text(name, ["R4", "R5"], "R12");
            let word = maxwell::assemble(&text, 0).unwrap_or_else(|error| panic!("{error}"));
            let mut before = State::default();
            register(2, [form.cells; LANES], true, &mut before.items);
            let after =
                State { fault: Some(("IllegalInstruction".into(), Some(0))), ..State::default() };
            let probe = Probe::new(&assemble(&[word]), before.places());
            for (engine, left) in probe.run(&before, LANES as u32) {
                let differences = left.compare(&before, &after, LANES as u32);
                failures.extend(
                    differences.iter().map(|difference| format!("{text} ({engine}): {difference}")),
                );
            }
        }
    }
    assert_none(&failures);
}
