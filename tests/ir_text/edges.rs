//! Accesses of every size to local memory, generic addresses and constants by register: lanes
//! access one address, an address each, or an edge of the memory.
//!
//! A model with the bytes of each memory gives the expected results.

use warploom_ir::parse::parse_prefix;
use warploom_ir::{BankId, Function, Type};

use super::case::{Case, FaultExpectation, Range, RangeKind, RegisterExpectation};
use super::{engines, run};

const LANES: usize = 32;
const ALL: u64 = 0xffff_ffff;
const SOME: u64 = 0x8421_7ffe;
const SHARED: u64 = 0x100_0000;
const LOCAL: u64 = 0x200_0000;
const GLOBAL: u64 = 0x10_0000_0000;
const SHARED_BYTES: u64 = 104;
const LOCAL_BYTES: u64 = 64;
const PAGE: u64 = 1 << 16;
/// The offset that instructions add to the register.
const OFFSET: u64 = 8;

/// The type, count and alignment of an access's elements.
#[derive(Clone, Copy)]
struct Form {
    ty: Type,
    count: u64,
    align: u64,
    signed: bool,
}

const fn form(ty: Type, count: u64, align: u64, signed: bool) -> Form {
    Form { ty, count, align, signed }
}

const FORMS: [Form; 8] = [
    form(Type::I8, 1, 1, true),
    form(Type::I8, 1, 1, false),
    form(Type::I16, 1, 2, false),
    form(Type::I16, 2, 4, true),
    form(Type::I32, 1, 4, false),
    form(Type::I32, 1, 1, false),
    form(Type::I32, 4, 16, false),
    form(Type::I64, 2, 8, false),
];

#[derive(Clone, Copy, PartialEq)]
enum Space {
    Local,
    Generic,
    Constant,
}

impl Form {
    fn element(&self) -> u64 {
        self.ty.bytes().into()
    }

    fn bytes(&self) -> u64 {
        self.element() * self.count
    }

    /// Returns a function that stores the registers r, unless the space is constant, and then loads
    /// them.
    fn function(&self, space: Space) -> Function {
        let (wide, count) = (if self.ty == Type::I64 { "i64" } else { "i32" }, self.count);
        let (name, address) = match space {
            Space::Local => ("local", "i32"),
            Space::Generic => ("generic", "i64"),
            Space::Constant => ("const1", "i32"),
        };
        let values = |from: u64| {
            (from..from + count).map(|v| format!("v{v}")).collect::<Vec<_>>().join(", ")
        };
        let elements = if count > 1 { format!(".x{count}") } else { String::new() };
        let extend = match (self.ty, self.signed) {
            (Type::I8 | Type::I16, true) => ".signed",
            (Type::I8 | Type::I16, false) => ".unsigned",
            _ => "",
        };
        let (ty, align) = (self.ty.name(), self.align);
        let mut text = format!(
            "function \"{name} {ty}{elements}\" lanes {LANES} nan 0 0 0 {{\nbank a: lane {address} x 1\nbank r: lane {wide} x 4\n\
             bank m: mask x 2\nactive m[0]\nb0 pc 0x8 cost 1:\n v0 = rf.read a[0]\n v1 = rf.read m[1]\n"
        );
        (0..count).for_each(|e| text += &format!(" v{} = rf.read r[{e}]\n", 2 + e));
        let access = format!("[v0+{OFFSET}]");
        if space != Space::Constant {
            text += &format!(
                " store.{name}.{ty}{elements} {access}, {} align {align} guard v1 @0x10\n",
                values(2)
            );
        }
        let loaded = values(2 + count);
        text += &format!(
            " {loaded} = load.{name}.{ty}{elements}{extend} {access} align {align} guard v1 @0x10\n"
        );
        (0..count).for_each(|e| text += &format!(" rf.write r[{e}], v{}\n", 2 + count + e));
        text += " exit\n}\n";
        parse_prefix(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).0
    }

    /// Returns the bits that a lane stores: any bits.
    fn value(&self, lane: usize, element: u64) -> u64 {
        let bits = (lane as u64 * 4 + element + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.ty == Type::I64 { bits } else { bits >> 32 }
    }
}

/// The memories that a warp accesses.
struct Model {
    shared: Vec<u8>,
    local: Vec<Vec<u8>>,
    global: Vec<u8>,
    constants: Vec<u8>,
}

impl Model {
    /// Returns the bytes of a lane's access, or `None` if the memory lacks some of them.
    fn bytes(&mut self, space: Space, lane: usize, address: u64, bytes: u64) -> Option<&mut [u8]> {
        let within = |base: u64| (address >> 24 == base >> 24).then_some(address & 0xff_ffff);
        let (memory, at) = match space {
            Space::Local => (&mut self.local[lane], address),
            Space::Constant => (&mut self.constants, address.min(2 * PAGE)),
            Space::Generic => match (within(SHARED), within(LOCAL)) {
                (Some(at), _) => (&mut self.shared, at),
                (_, Some(at)) => (&mut self.local[lane], at),
                _ => (&mut self.global, address.checked_sub(GLOBAL)?),
            },
        };
        let at = usize::try_from(at).ok()?;
        memory.get_mut(at..at.checked_add(bytes as usize)?)
    }
}

/// The address of each lane, and the mask of lanes that take part.
struct Pattern {
    name: String,
    addresses: Vec<u64>,
    mask: u64,
}

/// Returns the patterns of accesses to a memory of `bytes` bytes at `base`.
fn patterns(form: &Form, name: &str, base: u64, bytes: u64) -> Vec<Pattern> {
    let unit = form.align.max(if form.align == 1 { 1 } else { form.element() });
    let first = OFFSET.wrapping_neg() % unit;
    let places = (bytes - OFFSET - form.bytes() - first) / unit + 1;
    let last = (bytes - form.bytes()) / unit * unit - OFFSET;
    let at = |offset: u64| base.wrapping_add(offset);
    let alike = |offset: u64| vec![at(offset); LANES];
    let own: Vec<u64> =
        (0..LANES as u64).map(|lane| at(first + lane * 7 % places * unit)).collect();
    let with = |changes: &[(usize, u64)]| {
        let mut own = own.clone();
        changes.iter().for_each(|&(lane, offset)| own[lane] = at(offset));
        own
    };
    let mut list = vec![
        ("own", own.clone(), ALL),
        ("own, some", own.clone(), SOME),
        ("alike", alike(first), ALL),
        ("alike, some", alike(first), SOME),
        (
            "consecutive",
            (0..LANES as u64).map(|lane| at(first + lane % places * unit)).collect(),
            ALL,
        ),
        ("none", alike(1 << 20), 0),
        ("the last", alike(last), ALL),
        ("one past the last", alike(last + unit), ALL),
        ("one past the last, one lane", with(&[(19, last + unit)]), ALL),
        (
            "one past the last, of no part",
            with(&[(19, last + unit), (0, 1 << 30)]),
            !(1 << 19 | 1) & ALL,
        ),
        ("the last, one lane", with(&[(19, last)]), ALL),
        ("all but one alike", [alike(first), vec![]].concat(), ALL),
        ("wraps to the first", alike(OFFSET.wrapping_neg()), ALL),
        ("before the first", alike(OFFSET.wrapping_neg().wrapping_sub(unit)), ALL),
        ("far behind", alike((1 << 24) - OFFSET), ALL),
        ("the end of a window", alike((1 << 24) - OFFSET - unit), ALL),
        ("above 4 GiB", alike(1 << 36), ALL),
    ];
    list[11].1[9] = at(first + unit);
    if unit > 1 {
        list.push((
            "past, then misaligned",
            with(&[(19, last + unit), (21, first + unit / 2)]),
            ALL,
        ));
        list.push((
            "misaligned, then past",
            with(&[(6, first + unit / 2), (21, last + unit)]),
            ALL,
        ));
        list.push(("misaligned alike", alike(first + unit / 2), ALL));
    }
    list.into_iter()
        .map(|(what, addresses, mask)| Pattern { name: format!("{name}: {what}"), addresses, mask })
        .collect()
}

fn case(form: &Form, space: Space, pattern: &Pattern) -> Case {
    let address_bits = if space == Space::Generic { u64::MAX } else { ALL };
    let content: Vec<u8> = (0..200u32).map(|byte| (byte * 37 + 11) as u8).collect();
    let mut model = Model {
        shared: vec![0; SHARED_BYTES as usize],
        local: vec![vec![0; LOCAL_BYTES as usize]; LANES],
        global: vec![0; PAGE as usize],
        constants: content
            .iter()
            .copied()
            .chain(std::iter::repeat(0))
            .take(3 * PAGE as usize)
            .collect(),
    };
    let [a, r, m] = [0, 1, 2].map(BankId);
    let registers = 0..form.count as u32;
    let values = |e: u32| (0..LANES).map(|lane| form.value(lane, e.into())).collect::<Vec<_>>();
    let addresses: Vec<u64> =
        pattern.addresses.iter().map(|address| address & address_bits).collect();
    let mut sets = vec![(a.reg(0), addresses.clone()), (m.reg(1), vec![pattern.mask])];
    sets.extend(registers.clone().map(|e| (r.reg(e), values(e))));
    let mut case = Case {
        name: pattern.name.clone(),
        shared: SHARED_BYTES as u32,
        local: LOCAL_BYTES as u32,
        constants: vec![(1, content)],
        ranges: vec![Range {
            name: "x".into(),
            kind: RangeKind::Buffer { content: vec![0; PAGE as usize], writable: true },
        }],
        sets,
        ..Case::default()
    };
    let active: Vec<usize> = (0..LANES).filter(|lane| pattern.mask >> lane & 1 != 0).collect();
    let target = |lane: usize| addresses[lane].wrapping_add(OFFSET) & address_bits;
    let mut loaded = vec![vec![0; LANES]; form.count as usize];
    for stores in [true, false] {
        for &lane in &active {
            let address = target(lane);
            let bytes = model.bytes(space, lane, address, form.bytes());
            let wrong = match bytes {
                _ if address % form.align != 0 => "misaligned address",
                None => "address out of range",
                Some(bytes) => {
                    for (e, bytes) in bytes.chunks_mut(form.element() as usize).enumerate() {
                        if stores && space != Space::Constant {
                            bytes.copy_from_slice(
                                &form.value(lane, e as u64).to_le_bytes()[..bytes.len()],
                            );
                        }
                        let mut word = [0; 8];
                        word[..bytes.len()].copy_from_slice(bytes);
                        let shift = 64 - 8 * form.element() as u32;
                        let bits = u64::from_le_bytes(word) << shift;
                        let narrow = if form.ty == Type::I64 { u64::MAX } else { ALL };
                        loaded[e][lane] = (if form.signed {
                            ((bits as i64) >> shift) as u64
                        } else {
                            bits >> shift
                        }) & narrow;
                    }
                    continue;
                }
            };
            case.fault = Some(FaultExpectation {
                kind: wrong.into(),
                lane: Some(lane as u32),
                pc: Some(0x10),
                address: Some(address),
                message: None,
            });
            return case;
        }
    }
    let registers = registers.zip(loaded).map(|(e, values)| RegisterExpectation {
        warp: 0,
        reg: r.reg(e),
        values,
    });
    case.registers = registers.collect();
    case
}

fn check(space: Space, patterns: impl Fn(&Form) -> Vec<Pattern>) {
    let mut failures = Vec::new();
    // Local memory has no elements of 8 bytes.
    for form in FORMS.iter().filter(|form| space != Space::Local || form.ty != Type::I64) {
        let function = form.function(space);
        for pattern in patterns(form) {
            let case = case(form, space, &pattern);
            for (engine, make) in engines() {
                if let Err(error) = run::run_case(&function, &case, make) {
                    let Form { ty, count, align, .. } = form;
                    failures.push(format!(
                        "{} x{count} align {align}, {}, {engine}: {error}",
                        ty.name(),
                        case.name
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn local_memory_to_its_edges() {
    check(Space::Local, |form| patterns(form, "local", 0, LOCAL_BYTES));
}

#[test]
fn constants_to_the_end_of_a_bank() {
    check(Space::Constant, |form| {
        let mut list = patterns(form, "content", 0, 128);
        list.extend(patterns(form, "bank", 0, PAGE));
        list
    });
}

#[test]
fn generic_addresses_to_the_edges_of_shared_and_local_memory() {
    check(Space::Generic, |form| {
        let mut list = patterns(form, "shared", SHARED, SHARED_BYTES);
        list.extend(patterns(form, "local", LOCAL, LOCAL_BYTES));
        let unit = form.align.max(8);
        let mixed = |lane: u64| {
            [SHARED, LOCAL, GLOBAL][lane as usize % 3]
                + OFFSET.wrapping_neg() % unit
                + lane % 2 * unit
        };
        let addresses: Vec<u64> = (0..LANES as u64).map(mixed).collect();
        let two = (0..LANES).filter(|lane| lane % 3 < 2).fold(0, |mask, lane| mask | 1 << lane);
        list.push(Pattern {
            name: "in three memories".into(),
            addresses: addresses.clone(),
            mask: ALL,
        });
        list.push(Pattern { name: "in two".into(), addresses, mask: two });
        list
    });
}
