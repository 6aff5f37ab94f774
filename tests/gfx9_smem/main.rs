//! GFX9's scalar memory instructions on both engines: all 84 opcodes in every form of address,
//! against a model written from the seed on Vega scalar memory.

mod model;
#[path = "../support/random.rs"]
mod random;
mod wave;

use model::{Base, Fields, M0, VCC, What, execute, meaning};
use random::Random;
use warploom_gfx9::{Format, table};
use warploom_runtime::launch::{LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement};
use wave::{BYTES, MEMORY, State, Wave};

const EXEC: u8 = 126;

impl Random {
    /// Returns an arbitrary word, or one of a few at which atomics turn.
    fn word(&mut self, few: usize) -> u32 {
        const WORDS: [u32; 7] = [0, 1, 2, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x1_0000];
        match few {
            0 => self.bits() as u32,
            few => WORDS[(self.bits() % few as u64) as usize],
        }
    }
}

/// A register whose offset wraps in 32 bits but not in 64, and its value.
const FAR: u8 = 18;
const FAR_OFFSET: u32 = 0xffff_f203;

/// Returns a state: addresses in s[0:1], for [`FAR`] in s[2:3], and in vcc; buffers in s[4:15];
/// offsets in s16, s17, [`FAR`] and m0. Data are in s20 and up.
fn state(seed: u64, few: usize) -> State {
    let mut random = Random(seed);
    let mut scalars: [u32; 128] = std::array::from_fn(|_| random.word(few));
    let mut set = |first: u8, words: &[u32]| {
        scalars[usize::from(first)..][..words.len()].copy_from_slice(words)
    };
    let pair = |address: u64| [address as u32, (address >> 32) as u32];
    set(0, &pair(MEMORY + 0x803));
    set(2, &pair(MEMORY + 0x401 - u64::from(FAR_OFFSET & !3)));
    set(VCC, &pair(MEMORY + 0x1002));
    let buffer = |at: u64, stride: u32, records: u32| {
        let [low, high] = pair(MEMORY + at);
        [low, high | stride << 16, records, 0xdead_beef]
    };
    set(4, &buffer(0x402, 0, 0x10e));
    set(8, &buffer(0x600, 12, 22));
    set(12, &buffer(0x200, 0xffff, u32::MAX));
    set(16, &[0x43, 0x109, FAR_OFFSET]);
    set(M0, &[0x8a, 0, u32::MAX, u32::MAX]);
    let memory = (0..BYTES / 4).flat_map(|_| random.word(few).to_le_bytes()).collect();
    State { scalars, memory: model::Memory { begin: MEMORY, bytes: memory } }
}

/// Returns every form of address, each with bits that must not matter.
fn forms(base: Base) -> Vec<Fields> {
    // An offset field without meaning, and a register field that counts.
    const JUNK: u32 = 0x1f_f07f;
    let mut forms = Vec::new();
    let mut add = |sbase: u8, imm: bool, soe: bool, offset: u32, soffset: u8| {
        forms.push(Fields { sbase, imm, soe, offset, soffset, ..Fields::default() });
    };
    let bases: &[u8] = if base == Base::Buffer { &[4, 8, 12] } else { &[0, VCC, EXEC] };
    for &sbase in bases {
        for register in [16, 17, M0] {
            add(sbase, false, false, register.into(), 0x7f);
            add(sbase, false, true, JUNK, register);
        }
        for offset in [0, 0x83, 0x101, 0x10a] {
            add(sbase, true, false, offset, 0x7f);
            add(sbase, true, true, offset, 16);
            add(sbase, true, true, offset, M0);
        }
        // The top bit is the sign; in buffers, it is ignored.
        for offset in [0x1f_ffc1, 0x10_0012] {
            let far = offset == 0x10_0012 && base != Base::Buffer;
            if !far {
                add(sbase, true, false, offset, 0);
                add(sbase, true, true, offset, 17);
            }
        }
    }
    if base == Base::Address {
        add(2, false, false, FAR.into(), 0);
        add(2, false, true, 0, FAR);
        add(2, true, true, 0x1f_ffc1, FAR);
        add(2, true, true, 0x1f_f001, FAR);
    }
    forms
}

fn opcodes() -> impl Iterator<Item = (u8, What, Base)> {
    (0..=255).filter_map(|op| meaning(op).map(|(what, base)| (op, what, base)))
}

/// Returns the most registers that the data can take.
fn dwords(what: What) -> u8 {
    match what {
        What::Load(dwords) | What::Store(dwords) => dwords,
        What::Atomic(1, dwords) => 2 * dwords,
        What::Atomic(_, dwords) => dwords,
        What::Time => 2,
        What::Cache { .. } => 0,
    }
}

/// Runs instructions one after the other on the engines, and in the model.
fn check(fields: &[Fields], states: &[State], what: &str) {
    let wave = Wave::new(&fields.iter().map(Fields::word).collect::<Vec<_>>());
    for (n, before) in states.iter().enumerate() {
        let what = format!("{what}, state {n}");
        let mut expected = before.clone();
        let run = |fields: &Fields| execute(fields, &mut expected.scalars, &mut expected.memory);
        let fault = fields.iter().map(run).position(|done| done.is_err());
        let (found, found_fault) = wave.run(before, &what);
        assert_eq!(
            found_fault.as_ref().map(|fault| fault.1),
            fault.map(|at| 8 * at as u64),
            "{what}: {found_fault:?}"
        );
        if fault.is_some() {
            // A fault leaves registers as they were.
            expected.scalars = before.scalars;
        }
        found.check(&expected, &what);
    }
}

#[test]
fn the_model_has_every_opcode_of_the_table() {
    let forms = table::rows().flat_map(|row| row.forms().map(|(_, format, op)| (format, op)));
    let mut table: Vec<u16> =
        forms.filter(|(format, _)| *format == Format::Smem).map(|(_, op)| op).collect();
    table.sort_unstable();
    assert_eq!(table, opcodes().map(|(op, ..)| op.into()).collect::<Vec<u16>>());
    assert_eq!(table.len(), 84);
}

/// Each opcode has a program, and another one whenever it runs out of data registers.
#[test]
fn every_opcode_in_every_form() {
    let states = [state(1, 0), state(2, 2), state(3, 7)];
    for (op, what, base) in opcodes() {
        let room = dwords(what).max(1);
        let (mut batch, mut sdata) = (Vec::new(), 20);
        let name = format!("opcode {op:#x}");
        // Only instructions that transfer data run here: `caches_and_time` runs the rest.
        let transfers = !matches!(what, What::Cache { .. } | What::Time);
        if !transfers {
            continue;
        }
        let align = room.min(4);
        for (n, form) in forms(base).into_iter().enumerate() {
            if sdata + room > 102 {
                check(&batch, &states, &name);
                batch.clear();
                sdata = 20;
            }
            // An unaligned register number is rounded down.
            let odd = n as u8 % align;
            batch.push(Fields { op, sdata: sdata + odd, glc: n % 2 == 0, nv: n % 3 == 0, ..form });
            sdata += room.next_multiple_of(align);
        }
        check(&batch, &states, &name);
    }
}

/// Data may be in some registers only. The test has words where LLVM and the decoder know the
/// instruction.
#[test]
fn data_registers() {
    let form = Fields { imm: true, offset: 0x40, glc: true, ..Fields::default() };
    let numbers = |op: u8| match op {
        0x00 | 0x10 | 0x82 => &[20, 101, VCC, VCC + 1, 125][..],
        0x01 | 0x11 | 0xa2 => &[20, 100, 101, VCC],
        // s[100:103] do not exist as a whole.
        0x02 | 0x12 => &[96, 99, 100],
        0x03 => &[92, 96],
        _ => &[84, 88],
    };
    for op in [0x00, 0x01, 0x02, 0x03, 0x04, 0x10, 0x11, 0x12, 0x82, 0xa2] {
        for &sdata in numbers(op) {
            check(
                &[Fields { op, sdata, ..form }],
                &[state(5, 0)],
                &format!("opcode {op:#x}, data {sdata}"),
            );
        }
    }
    // LLVM knows no instructions with EXEC or M0 as data, so they are illegal here.
    for sdata in [M0, EXEC, EXEC + 1] {
        let nothing = Fields { op: 0x20, ..Fields::default() };
        let wave = Wave::new(&[nothing.word(), Fields { op: 0, sdata, ..form }.word()]);
        let before = state(5, 0);
        let (after, fault) = wave.run(&before, "EXEC and M0");
        assert_eq!(fault, Some(("illegal instruction".into(), 8, 0)));
        after.check(&before, "EXEC and M0");
    }
}

/// The end of a buffer lies at each dword of an access, and within one.
#[test]
fn ends_of_buffers() {
    let ends: Vec<State> = [0, 1, 4, 7, 8, 15, 16, 17, 28, 36, 60, 63, 64]
        .into_iter()
        .flat_map(|end| {
            let mut states = [state(7, 0), state(8, 2)];
            for state in &mut states {
                (state.scalars[5], state.scalars[6]) = ((MEMORY >> 32) as u32, 0x40 + end);
                // The second buffer has a stride; its sizes are multiples of it.
                (state.scalars[9], state.scalars[10]) =
                    ((MEMORY >> 32) as u32 | 4 << 16, 0x10 + end / 4);
            }
            states
        })
        .collect();
    for (op, what, _) in
        opcodes().filter(|(_, what, base)| *base == Base::Buffer && dwords(*what) > 0)
    {
        let place = Fields { op, glc: true, imm: true, offset: 0x40, ..Fields::default() };
        let second = 20 + dwords(what).next_multiple_of(4);
        let both =
            [Fields { sbase: 4, sdata: 20, ..place }, Fields { sbase: 8, sdata: second, ..place }];
        check(&both, &ends, &format!("opcode {op:#x}"));
    }
}

/// Unmapped memory and unaligned atomics are faults.
#[test]
fn faults() {
    let mut outside = state(9, 0);
    let address = MEMORY + BYTES as u64 - 8;
    (outside.scalars[0], outside.scalars[1]) = (address as u32, (address >> 32) as u32);
    (outside.scalars[4], outside.scalars[5], outside.scalars[6]) =
        (address as u32, (address >> 32) as u32, 0x1000);
    for (op, what, base) in opcodes().filter(|(_, what, _)| !matches!(what, What::Time)) {
        let sbase = if base == Base::Buffer { 4 } else { 0 };
        for offset in [0_u32, 4, 8] {
            // The first instruction does nothing; the second faults.
            let nothing = Fields { op: 0x20, ..Fields::default() };
            let imm = !matches!(what, What::Cache { address: false });
            let access = Fields { op, sdata: 20, sbase, imm, offset, ..Fields::default() };
            check(
                &[nothing, access],
                std::slice::from_ref(&outside),
                &format!("opcode {op:#x} at {offset}"),
            );
        }
    }
}

/// Instructions for caches and time change no memory.
#[test]
fn caches_and_time() {
    let before = state(11, 0);
    for (op, what, base) in opcodes() {
        match what {
            What::Cache { address: false } => check(
                &[Fields { op, ..Fields::default() }],
                std::slice::from_ref(&before),
                "a cache",
            ),
            What::Cache { address: true } => {
                let fields = forms(base).into_iter().map(|form| Fields { op, sdata: 20, ..form });
                check(
                    &fields.collect::<Vec<_>>(),
                    std::slice::from_ref(&before),
                    "a cache's address",
                );
            }
            What::Time => {
                // An odd number is rounded down, and VCC is a pair as well. The last one is out of
                // range.
                let sdata = [20, 31, VCC, 40, 125];
                let wave =
                    Wave::new(&sdata.map(|sdata| Fields { op, sdata, ..Fields::default() }.word()));
                for after in wave.run_each(&before) {
                    let pair = |n: usize| {
                        u64::from(after.scalars[n]) | u64::from(after.scalars[n + 1]) << 32
                    };
                    let times = [20, 30, VCC.into(), 40].map(pair);
                    // The clock counts instructions block by block, so times may repeat.
                    assert!(times.is_sorted(), "{times:x?}");
                    let mut expected = before.clone();
                    for n in [20, 30, VCC.into(), 40] {
                        expected.scalars[n..n + 2].copy_from_slice(&after.scalars[n..n + 2]);
                    }
                    after.check(&expected, "time");
                }
            }
            _ => {}
        }
    }
}

/// Many blocks on two threads count in the same words: no count is lost, and each value occurs
/// once.
#[test]
fn contention() {
    const BLOCKS: u32 = 48;
    const WAVES: u32 = 4;
    const TIMES: u32 = 6;
    let move_to =
        |number: u32, value: u32| u64::from(0xbe80_00ff | number << 16) | u64::from(value) << 32;
    let at = |op, sdata, offset| {
        Fields { op, sdata, imm: true, offset, glc: true, ..Fields::default() }.word()
    };
    let mut words = vec![move_to(0, MEMORY as u32), move_to(1, (MEMORY >> 32) as u32)];
    for _ in 0..TIMES {
        // s_atomic_add of 3, s_atomic_inc without and with a limit, s_atomic_add_x2, s_atomic_dec
        words.extend([move_to(20, 3), at(0x82, 20, 0)]);
        words.extend([move_to(20, u32::MAX), at(0x8b, 20, 4)]);
        words.extend([move_to(20, 6), at(0x8b, 20, 8)]);
        words.extend([move_to(20, u32::MAX), move_to(21, 1), at(0xa2, 20, 16)]);
        words.extend([move_to(20, u32::MAX), at(0x8c, 20, 12)]);
        // The old value of s_atomic_inc is a place, and the code counts a flag there.
        words.extend([move_to(22, u32::MAX), at(0x8b, 22, 32)]);
        // s_lshl_b32 s22, s22, 2; s_nop 0
        words.push(0xbf80_0000_8e16_8216);
        words.push(move_to(23, 1));
        // s_atomic_add s23, s[0:1], s22 soffset with the immediate 64
        let flag = Fields {
            op: 0x82,
            sdata: 23,
            imm: true,
            soe: true,
            offset: 64,
            soffset: 22,
            ..Fields::default()
        };
        words.push(flag.word());
    }
    let total = BLOCKS * WAVES * TIMES;
    for (name, engine) in wave::engines(wave::lift(&words), 64 * WAVES) {
        let memory = Memory::new(MemoryConfig::default()).unwrap();
        memory.alloc_at(Placement::At(MEMORY), BYTES as u64, Access::READ_WRITE).unwrap();
        memory.write(MEMORY, &[0; BYTES]).unwrap();
        let mut config = LaunchConfig::new([BLOCKS, 1, 1], [64 * WAVES, 1, 1]);
        config.threads = 2;
        let outcome = launch(&memory, &*engine, &config, None).unwrap();
        assert!(outcome.fault.is_none(), "{name}: {:?}", outcome.fault);
        let mut bytes = vec![0; BYTES];
        memory.read(MEMORY, &mut bytes).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!([word(0), word(4), word(8)], [3 * total, total, total % 7], "{name}");
        assert_eq!(word(12), total.wrapping_neg(), "{name}");
        let long = u64::from(word(16)) | u64::from(word(20)) << 32;
        assert_eq!(long, u64::from(total) * 0x1_ffff_ffff, "{name}");
        for place in 0..total + 1 {
            assert_eq!(
                word(64 + 4 * place as usize),
                u32::from(place < total),
                "{name}: place {place}"
            );
        }
    }
}
