//! vISA's messages to memory on both engines, each against a model of bytes that follows the
//! documents (facts, `visa-semantics.md` 7).

#[path = "../support/visa_launch.rs"]
mod visa_launch;

mod atomics;
mod blocks;
mod handles;
mod lanes;
mod layers;
mod typed;

use visa_launch::{ENGINES, Files};
use warploom_replay::Session;

/// The bytes of the buffer that messages access, and its address.
const MEMORY: usize = 4096;
const BASE: u64 = 0x1000_0000;
/// The bytes of the operands: of the addresses; and of the stored data (or the first source), the
/// second source, and the initial destination.
const ADDRESSES: usize = 256;
const DATA: usize = 1024;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// The content of registers and memory: the addresses `A`, the sources `S` and `B`, the destination
/// `D`, the buffer, and local memory.
#[derive(Clone)]
struct State {
    addresses: Vec<u8>,
    first: Vec<u8>,
    second: Vec<u8>,
    dst: Vec<u8>,
    memory: Vec<u8>,
    local: Vec<u8>,
}

impl State {
    fn random(seed: u64) -> State {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed << 20);
        State {
            addresses: random.bytes(ADDRESSES),
            first: random.bytes(DATA),
            second: random.bytes(DATA),
            dst: random.bytes(DATA),
            memory: random.bytes(MEMORY),
            local: random.bytes(MEMORY),
        }
    }

    /// Sets the addresses, each of `bytes` bytes.
    fn set_addresses(&mut self, bytes: usize, addresses: &[u64]) {
        for (place, address) in self.addresses.chunks_exact_mut(bytes).zip(addresses) {
            place.copy_from_slice(&address.to_le_bytes()[..bytes]);
        }
    }
}

/// A kernel that executes a message, and the lanes that execute it.
struct Message<'a> {
    platform: &'static str,
    simd: u32,
    text: &'a str,
    /// The active lanes, and the bits of `P1`.
    active: u32,
    predicate: u32,
}

impl Message<'_> {
    const fn new(text: &str) -> Message<'_> {
        Message { platform: "dg2", simd: 16, text, active: u32::MAX, predicate: u32::MAX }
    }
}

const VARIABLES: &str = "\
.decl MEM v_type=G type=uq num_elts=1 align=qword
.decl HANDLE v_type=G type=ud num_elts=1 align=dword
.decl POOL v_type=G type=uq num_elts=1 align=qword
.decl OUT v_type=G type=uq num_elts=1 align=qword
.decl P1 v_type=P num_elts=32
.decl P2 v_type=P num_elts=32
.decl T6 v_type=T num_elts=1
.decl A v_type=G type=ud num_elts=64 align=GRF
.decl S v_type=G type=ud num_elts=256 align=GRF
.decl B v_type=G type=ud num_elts=256 align=GRF
.decl D v_type=G type=ud num_elts=256 align=GRF
.decl L v_type=G type=ud num_elts=64 align=GRF
.decl AT v_type=G type=ud num_elts=1 align=dword
";

/// Returns code that moves a variable from or to memory in pieces of 256 bytes.
fn moved(variable: &str, bytes: usize, at: usize, stores: bool) -> String {
    let piece = |offset: usize| {
        let (flat, offset) = (if stores { "OUT" } else { "POOL" }, (at + offset, offset));
        let place = format!("flat[{flat}+{:#x}]:a64", offset.0);
        match stores {
            true => format!("lsc_store.ugm (M1_NM, 1) {place} {variable}.{}:d32x64t\n", offset.1),
            false => format!("lsc_load.ugm (M1_NM, 1) {variable}.{}:d32x64t {place}\n", offset.1),
        }
    };
    (0..bytes).step_by(256).map(piece).collect()
}

/// Returns code that moves local memory in pieces of 256 bytes, through a variable.
fn local(at: usize, stores: bool) -> String {
    let piece = |offset: usize| {
        let address = format!("mov (M1_NM, 1) AT(0,0)<1> {offset:#x}:ud\n");
        match stores {
            true => format!(
                "{address}lsc_load.slm (M1_NM, 1) L:d32x64t flat[AT]:a32\n{}",
                moved("L", 256, at + offset, true)
            ),
            false => format!(
                "{}{address}lsc_store.slm (M1_NM, 1) flat[AT]:a32 L:d32x64t\n",
                moved("L", 256, at + offset, false)
            ),
        }
    };
    (0..MEMORY).step_by(256).map(piece).collect()
}

fn kernel(message: &Message<'_>) -> String {
    let grf = if matches!(message.platform, "pvc" | "bmg") { 64 } else { 32 };
    let mut text = format!(".version 4.2\n.kernel \"k\"\n{VARIABLES}");
    for (name, at, size) in [("MEM", 0, 8), ("HANDLE", 8, 4), ("POOL", 16, 8), ("OUT", 24, 8)] {
        text += &format!(".input {name} offset={} size={size}\n", grf + at);
    }
    text += &format!(".kernel_attr SimdSize={}\nmain:\n", message.simd);
    let parts = [("A", ADDRESSES), ("S", DATA), ("B", DATA), ("D", DATA)];
    let mut at = 0;
    for (name, bytes) in parts {
        text += &moved(name, bytes, at, false);
        at += bytes;
    }
    let uses_local = message.text.contains("slm");
    if uses_local {
        text += &local(at, false);
    }
    text += &format!(
        "setp (M1_NM, 32) P1 {:#x}:ud\nsetp (M1_NM, 32) P2 {:#x}:ud\n",
        message.predicate, !message.active
    );
    text += "movs (M1_NM, 1) T6(0) 0x3:ud\n";
    text += &format!("(P2) goto (M1, {}) end\n{}\nend:\n", message.simd, message.text);
    text += &moved("D", DATA, 0, true);
    if uses_local {
        text += &local(DATA, true);
    }
    text + "ret (M1, 1)\n"
}

const ARGUMENTS: &str = "arg_bypointer:0:8:0:stateless:global,arg_bypointer:8:4:0:bindless:global,\
                         arg_bypointer:16:8:1:stateless:global,arg_bypointer:24:8:2:stateless:global,binding:0:3";

/// Executes a message from a state. Registers and memory must then hold the values that the model
/// gives.
#[track_caller]
fn check(message: &Message<'_>, before: &State, model: impl FnOnce(&mut State)) {
    let mut expected = before.clone();
    model(&mut expected);
    let pool = [&before.addresses, &before.first, &before.second, &before.dst, &before.local]
        .map(Vec::as_slice)
        .concat();
    let mut files = Files::new(message.platform, message.simd, ARGUMENTS);
    files.text(&kernel(message));
    files.placed_buffer("mem", &before.memory, BASE);
    files.buffer("pool", &pool, "u8");
    files.buffer("out", &vec![0; DATA + MEMORY], "u8");
    let launch = files.launch([1, 1, 1], [message.simd, 1, 1]);
    let index = |name: &str| launch.buffers.iter().position(|buffer| buffer.name == name).unwrap();
    for engine in ENGINES {
        let session = Session::new(&launch).unwrap();
        let outcome = session.launch(&session.options(engine, 1), None).unwrap();
        let place = format!("{engine}, {}, {}", message.platform, message.text);
        assert!(outcome.fault.is_none(), "{place}: {}", outcome.fault.unwrap());
        let (memory, out) =
            (session.buffer(index("mem")).unwrap(), session.buffer(index("out")).unwrap());
        same(&place, "destination", &out[..DATA], &expected.dst);
        same(&place, "memory", &memory, &expected.memory);
        if message.text.contains("slm") {
            same(&place, "local memory", &out[DATA..], &expected.local);
        }
    }
}

#[track_caller]
fn same(place: &str, what: &str, found: &[u8], expected: &[u8]) {
    if let Some(at) = found.iter().zip(expected).position(|(a, b)| a != b) {
        let some = |bytes: &[u8]| {
            bytes[at / 4 * 4..]
                .iter()
                .take(16)
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        panic!("{place}: {what} at byte {at}: {} instead of {}", some(found), some(expected));
    }
}

/// Returns the bytes of a place in memory, or `None` if a part of it is outside.
fn place(memory: &[u8], at: i64, bytes: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(at).ok()?;
    (start + bytes <= memory.len()).then_some(start..start + bytes)
}

/// Messages of the fixed pipeline, and messages that are not executed, are faults with their text.
#[test]
fn what_is_not_executed_faults_with_its_text() {
    for text in [
        "lsc_load_status.ugm (M1, 16) D:d32 flat[A]:a64 ",
        "load_mcs.RGBA (M1, 16) 0x0:uw T6 D.0 A.0 S.0",
    ] {
        let message = Message::new(text);
        let mut files = Files::new(message.platform, message.simd, ARGUMENTS);
        files.text(&kernel(&message).replace(".version 4.2", ".version 4.1"));
        files.placed_buffer("mem", &[0; MEMORY], BASE);
        files.buffer("pool", &[0; ADDRESSES + 3 * DATA], "u8");
        files.buffer("out", &[0; DATA], "u8");
        let launch = files.launch([1, 1, 1], [16, 1, 1]);
        for engine in ENGINES {
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, 1), None).unwrap();
            let fault =
                outcome.fault.unwrap_or_else(|| panic!("{engine}, {text}: no fault")).to_string();
            assert!(fault.contains(text.trim()), "{engine}: {fault}");
        }
    }
}
