//! `--check memory`: accesses past the ends of buffers, on each guest, with the right place,
//! kind and count. `--check race`: races on shared memory, where barriers are taken out of
//! kernels. Nothing is found where there is nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::sample::select;
use warploom::{
    Action, Allocation, Allocations, Arg, Checks, EngineKind, Finding, Kernel, LaunchOptions,
    Mistake, Program,
};
use warploom_replay::{Launch, Manifest, Session};

const NONE: Checks = Checks { memory: false, race: false, init: false, sync: false };
const MEMORY: Checks = Checks { memory: true, ..NONE };
const RACE: Checks = Checks { race: true, ..NONE };
const ENGINES: [EngineKind; 2] = [EngineKind::Jit, EngineKind::Interp];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Returns the allocation that an access passes.
fn allocation(finding: &Finding) -> &Allocation {
    match &finding.mistake {
        Mistake::PastEnd(allocation) => allocation,
        other => panic!("{other:?}"),
    }
}

/// Runs the checks of a launch on both engines, which must find the same.
fn findings(launch: &Launch) -> Vec<Finding> {
    let on = |engine| {
        let session = Session::new(launch).unwrap();
        session.checked(&session.options(engine, 1), MEMORY).unwrap().findings
    };
    let [jit, interp] = ENGINES.map(on);
    assert_eq!(jit, interp);
    jit
}

/// Returns the launch of an example whose buffer has only so many bytes of zeros.
fn shortened(manifest: &str, buffer: &str, bytes: u64) -> Launch {
    let path = examples().join(manifest);
    let mut manifest = Manifest::read(&path).unwrap();
    let short = manifest.buffers.get_mut(buffer).unwrap();
    (short.file, short.values, short.expect) = (None, None, None);
    (short.zeros, short.rtol, short.atol) = (Some(bytes), None, None);
    Launch::resolve(manifest, &path).unwrap()
}

#[test]
fn a_guarded_buffer_ends_where_its_page_ends() {
    // Of 10,007 numbers, those from 10,000 on lie behind the end.
    for folder in ["saxpy", "ptx/saxpy", "turing/saxpy", "gfx9/saxpy"] {
        let manifest = format!("{folder}/saxpy.toml");
        let launch = Launch { guard: true, ..shortened(&manifest, "y", 40_000) };
        for engine in ENGINES {
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, 1), None).unwrap();
            let fault = outcome.fault.unwrap().to_string();
            assert!(fault.contains("; offset 40000 of `y`, which has 40000 bytes"), "{fault}");
        }
        let whole = Launch { guard: true, ..Launch::read(&examples().join(&manifest)).unwrap() };
        let session = Session::new(&whole).unwrap();
        let outcome = session.launch(&session.options(EngineKind::Jit, 1), None).unwrap();
        assert_eq!(outcome.fault, None, "{folder}");
    }
}

#[test]
fn a_short_buffer_is_found_on_each_guest() {
    // y has 10,007 numbers, of which seven lie behind the end.
    let saxpy = ["saxpy", "ptx/saxpy", "turing/saxpy", "gfx9/saxpy"];
    let of = ["LDG.E", "ld.global.f32", "LDG.E", "global_load_dword"];
    for (folder, instruction) in saxpy.into_iter().zip(of) {
        let found = findings(&shortened(&format!("{folder}/saxpy.toml"), "y", 40_000));
        let [load, store] = &found[..] else { panic!("{folder}: {found:?}") };
        assert_eq!(
            (load.place.action, store.place.action),
            (Action::Load, Action::Store),
            "{folder}"
        );
        for one in [load, store] {
            let end = allocation(one);
            assert_eq!((end.name.as_str(), one.place.bytes, one.count), ("y", 4, 7), "{folder}");
            assert_eq!(one.address - end.address, 40_000, "{folder}");
            assert_eq!(one.block, [39, 0, 0]);
            // 16 of the block's lanes are within the buffer.
            assert_eq!((one.warp, one.lane), (0, 16), "{folder}");
        }
        let text = load.place.instruction.as_deref().unwrap_or_default();
        assert!(text.contains(instruction), "{folder}: {text}");
    }
    let found = findings(&shortened("visa/atomics/atomics.toml", "wide", 160));
    let [atomic] = &found[..] else { panic!("{found:?}") };
    assert_eq!((atomic.place.action, atomic.place.bytes), (Action::Atomic, 8));
    assert_eq!(atomic.address - allocation(atomic).address, 160);
    assert!(
        atomic.place.instruction.as_deref().is_some_and(|text| text.contains("svm_atomic.xor.64"))
    );
}

/// Examples that guess, by a plain load, the value of a compare and swap: a race by the rules of
/// OpenCL, too.
const GUESSES: &str = "atomics";

#[test]
fn the_examples_are_clean() {
    let mut folders = vec![examples()];
    let (mut checked, mut wrong) = (0, String::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                let launch = Launch::read(&path).unwrap();
                let session = Session::new(&launch).unwrap();
                let options = session.options(EngineKind::Jit, 1);
                let found = session.checked(&options, Checks::ALL).unwrap().findings;
                let guesses = session.kernel().unwrap().name() == GUESSES;
                let is_right = match guesses {
                    true => found.len() < 4 && found.iter().all(|one| one.check() == "race"),
                    false => found.is_empty(),
                };
                if !is_right {
                    wrong += &format!("{}: {}\n", path.display(), found[0]);
                }
                checked += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked > 80, "{checked}");
}

/// Takes the barriers of whole blocks out of machine code or PTX.
fn without_barriers(code: &[u8]) -> Vec<u8> {
    if let Ok(text) = std::str::from_utf8(code) {
        return text.replace("bar.sync", "// bar.sync").into_bytes();
    }
    let mut code = code.to_vec();
    // GFX9: s_barrier becomes s_nop.
    for word in code.as_chunks_mut::<4>().0 {
        if *word == 0xbf8a_0000_u32.to_le_bytes() {
            *word = 0xbf80_0000_u32.to_le_bytes();
        }
    }
    // Maxwell: BAR.SYNC 0x0 becomes NOP.
    for word in code.as_chunks_mut::<8>().0 {
        if *word == 0xf0a8_1b80_0007_0000_u64.to_le_bytes() {
            *word = 0x50b0_0000_0007_0f00_u64.to_le_bytes();
        }
    }
    // Turing: the operation changes, the predicate and the control bits stay.
    for word in code.as_chunks_mut::<16>().0 {
        let old = u128::from_le_bytes(*word);
        if old & 0xfff == 0xb1d && old >> 105 & 0x1f_ffff != 0 {
            let kept = old & (0xf000 | 0x1f_ffff << 105);
            *word = (kept | 0x918).to_le_bytes();
        }
    }
    code
}

#[test]
fn missing_barriers_are_found_on_each_guest() {
    let mut count = 0;
    for guest in ["", "ptx/", "turing/", "gfx9/"] {
        for kernel in ["fft/fft", "bitonic/bitonic", "reduce/reduce", "matmul/matmul"] {
            let path = examples().join(format!("{guest}{kernel}.toml"));
            let mut launch = Launch::read(&path).unwrap();
            let patched = without_barriers(&launch.binary);
            assert_ne!(patched, launch.binary, "{guest}{kernel}");
            launch.binary = patched;
            let on = |engine| {
                let session = Session::new(&launch).unwrap();
                session.checked(&session.options(engine, 1), RACE).unwrap().findings
            };
            let [found, interp] = ENGINES.map(on);
            assert_eq!(found, interp, "{guest}{kernel}");
            assert!(!found.is_empty(), "{guest}{kernel}");
            for one in &found {
                let Mistake::Race { other, .. } = &one.mistake else { panic!("{one}") };
                let kinds = [one.place.action, other.action];
                assert!(kinds.contains(&Action::Store), "{guest}{kernel}: {one}");
                assert!(other.instruction.is_some() && one.place.instruction.is_some());
            }
            count += found.len();
        }
    }
    assert!(count > 30, "{count}");
}

/// Returns a kernel in which each lane accesses an element of a buffer, whose offset a table has,
/// by a type and a number of elements: `ld`, `st`, `red`, or `ld` through a generic pointer.
fn kernel(access: &str, ty: &str, vector: &str) -> String {
    let width = match ty {
        "f64" => "f64",
        "b64" => "b64",
        _ => "b32",
    };
    let registers = match vector {
        "v2" => "{%v0, %v1}",
        "v4" => "{%v0, %v1, %v2, %v3}",
        _ => "%v0",
    };
    let dot = if vector.is_empty() { String::new() } else { format!(".{vector}") };
    let operation = match access {
        "load" => format!("ld.global{dot}.{ty} {registers}, [%d2+8]"),
        "generic" => format!("ld{dot}.{ty} {registers}, [%d2+8]"),
        "store" => format!("st.global{dot}.{ty} [%d2+8], {registers}"),
        _ => "red.global.add.u32 [%d2+8], 1".to_owned(),
    };
    format!(
        "
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 offsets, .param .u64 data)
{{
    .reg .b32 %r<2>; .reg .b64 %d<4>; .reg .{width} %v<4>; .reg .pred %p;
    ld.param.u64 %d0, [offsets];
    ld.param.u64 %d1, [data];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, 4;
    add.u64 %d0, %d0, %d2;
    ld.global.u32 %r1, [%d0];
    setp.lt.s32 %p, %r1, 0;
    @%p bra DONE;
    cvt.u64.u32 %d2, %r1;
    add.u64 %d2, %d1, %d2;
    {operation};
DONE:
    ret;
}}
"
    )
}

const LANES: usize = 96;

/// The findings of one launch of [`kernel`], and its fault as text.
fn run(
    kernel: Kernel<'_>,
    args: &[Arg],
    allocations: &[Allocation],
    engine: EngineKind,
) -> (Vec<Finding>, Option<String>) {
    let options = LaunchOptions { engine, ..LaunchOptions::new([1, 1, 1], [LANES as u32, 1, 1]) };
    let allocations = Allocations { live: allocations.to_vec(), ..Allocations::default() };
    let checked = kernel.launch_checked(args, &options, MEMORY, &allocations).unwrap();
    (checked.findings, checked.outcome.fault.map(|fault| fault.to_string()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn injected_accesses_are_counted(
        (access, ty, vector, bytes) in select(vec![
            ("load", "u8", "", 1), ("load", "u16", "", 2), ("load", "u32", "", 4),
            ("load", "b64", "", 8), ("load", "b32", "v2", 8), ("load", "b32", "v4", 16),
            ("load", "b64", "v2", 16), ("generic", "u32", "", 4), ("generic", "b32", "v4", 16),
            ("store", "u8", "", 1), ("store", "u16", "", 2), ("store", "u32", "", 4),
            ("store", "b64", "", 8), ("store", "b32", "v4", 16), ("atomic", "u32", "", 4),
        ]),
        size in 1_u64..300,
        places in prop::collection::vec((any::<bool>(), 0_u64..40), LANES),
    ) {
        let program = Program::load(kernel(access, ty, vector).as_bytes(), None).unwrap();
        let memory = program.memory();
        let [offsets, data] = [4 * LANES as u64, size].map(|bytes| memory.alloc(bytes, 1).unwrap());
        // Some lanes access nothing.
        let place =
            |&(is_active, place): &_| if is_active { place * bytes } else { u64::MAX };
        let at: Vec<u64> = places.iter().map(place).collect();
        let table: Vec<u8> = at.iter().flat_map(|&at| (at as u32).to_le_bytes()).collect();
        memory.write(offsets, &table).unwrap();
        let is_past = |&&at: &&u64| at != u64::MAX && at + 8 + bytes > size;
        let misaligned = bytes == 16 && at.iter().any(|&at| at != u64::MAX);
        let allocations = [
            Allocation { name: "offsets".into(), address: offsets, bytes: 4 * LANES as u64 },
            Allocation { name: "data".into(), address: data, bytes: size },
        ];
        let args = [Arg::pointer(offsets), Arg::pointer(data)];
        let on = |engine| run(program.only_kernel().unwrap(), &args, &allocations, engine);
        let [(found, fault), interp] = ENGINES.map(on);
        prop_assert_eq!(&(found.clone(), fault.clone()), &interp);
        prop_assert_eq!(fault.is_some(), misaligned, "{:?}", fault);
        // A launch with a fault ends before later warps.
        if !misaligned {
            let expected = at.iter().filter(is_past).count() as u64;
            prop_assert_eq!(found.iter().map(|one| one.count).sum::<u64>(), expected);
            prop_assert_eq!(found.len(), usize::from(expected > 0));
            if let Some(one) = found.first() {
                let lane = at.iter().position(|at| is_past(&at)).unwrap();
                prop_assert_eq!((one.warp, one.lane), (lane as u32 / 32, lane as u32 % 32));
                prop_assert_eq!(one.address, data + at[lane] + 8);
                prop_assert_eq!(u64::from(one.place.bytes), bytes);
                prop_assert_eq!(allocation(one), &allocations[1]);
            }
        }
    }
}

/// Returns a kernel that accesses shared memory twice, at offsets from a table, with a barrier
/// between the accesses or none. A negative offset stands for no access. Loads and stores may be by
/// generic pointers.
fn shared_kernel(accesses: [&str; 2], ty: &str, barrier: bool, generic: bool) -> String {
    let access = |access: &str, n: usize| match access {
        "load" if generic => format!("@!%p ld.{ty} %r2, [%d3+4]"),
        "store" if generic => format!("@!%p st.{ty} [%d3+4], %r0"),
        "load" => format!("@!%p ld.shared.{ty} %r2, [%r1+4]"),
        "store" => format!("@!%p st.shared.{ty} [%r1+4], %r0"),
        _ => format!("@!%p red.shared.add.u32 [%r1+4], {n}"),
    };
    let [first, second] = [access(accesses[0], 1), access(accesses[1], 2)];
    let barrier = if barrier { "bar.sync 0;" } else { "" };
    format!(
        "
.version 7.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 offsets)
{{
    .shared .align 4 .b8 room[64];
    .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
    ld.param.u64 %d0, [offsets];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, 8;
    add.u64 %d0, %d0, %d2;
    mov.u32 %r3, room;
    ld.global.u32 %r1, [%d0];
    setp.lt.s32 %p, %r1, 0;
    add.u32 %r1, %r1, %r3;
    cvt.u64.u32 %d3, %r1;
    cvta.shared.u64 %d3, %d3;
    {first};
    {barrier}
    ld.global.u32 %r1, [%d0+4];
    setp.lt.s32 %p, %r1, 0;
    add.u32 %r1, %r1, %r3;
    cvt.u64.u32 %d3, %r1;
    cvta.shared.u64 %d3, %d3;
    {second};
    ret;
}}
"
    )
}

/// Runs a [`shared_kernel`] in three blocks, with the offsets of each lane's two accesses, on both
/// engines, which must find the same.
fn shared_findings(text: &str, table: &[[i32; 2]], checks: Checks) -> Vec<Finding> {
    let program = Program::load(text.as_bytes(), None).unwrap();
    let offsets = program.memory().alloc(8 * LANES as u64, 1).unwrap();
    let words: Vec<u8> = table.iter().flatten().flat_map(|at| at.to_le_bytes()).collect();
    program.memory().write(offsets, &words).unwrap();
    let on = |engine| {
        let shape = LaunchOptions::new([3, 1, 1], [LANES as u32, 1, 1]);
        let options = LaunchOptions { engine, ..shape };
        let kernel = program.only_kernel().unwrap();
        let none = Allocations::default();
        kernel.launch_checked(&[Arg::pointer(offsets)], &options, checks, &none).unwrap().findings
    };
    let [found, interp] = ENGINES.map(on);
    assert_eq!(found, interp);
    found
}

/// Tells whether accesses of an epoch race: (kind, warp, first byte, bytes).
fn race(epoch: &[(&str, usize, i32, i32)]) -> bool {
    epoch.iter().enumerate().any(|(i, a)| {
        epoch[..i].iter().any(|b| {
            let overlap = a.2 < b.2 + b.3 && b.2 < a.2 + a.3;
            let both = |kind: &str| a.0 == kind && b.0 == kind;
            overlap && a.1 != b.1 && !both("load") && !both("atomic")
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn races_are_found_where_there_are_some(
        kinds in prop::array::uniform2(select(vec!["load", "store", "atomic"])),
        barrier in any::<bool>(),
        narrow in any::<bool>(),
        generic in any::<bool>(),
        // Few lanes, so that there often is no race.
        active in prop::collection::vec((0..LANES, 0..2_usize, 0_i32..14), 0..5),
    ) {
        let bytes = if narrow && !kinds.contains(&"atomic") { 1 } else { 4 };
        let ty = if bytes == 1 { "u8" } else { "u32" };
        let text = shared_kernel(kinds, ty, barrier, generic);
        let mut table = [[-1_i32; 2]; LANES];
        for &(lane, which, place) in &active {
            table[lane][which] = place * bytes;
        }
        let accesses = |which: usize| {
            let of = table.iter().enumerate().filter(move |(_, at)| at[which] >= 0);
            of.map(move |(lane, at)| (kinds[which], lane / 32, at[which] + 4, bytes))
        };
        let [first, second] = [0, 1].map(|which| accesses(which).collect::<Vec<_>>());
        let expected = match barrier {
            true => race(&first) || race(&second),
            false => race(&[first, second].concat()),
        };
        let found = shared_findings(&text, &table, RACE);
        prop_assert_eq!(!found.is_empty(), expected, "{:?}", found.first());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn reads_of_unwritten_memory_are_counted(
        second in select(vec!["load", "atomic"]),
        generic in any::<bool>(),
        narrow in any::<bool>(),
        places in prop::collection::vec((0_i32..14, 0_i32..14), LANES),
        few in 1..LANES,
    ) {
        // Bytes are stored, so that a word may be written in part.
        let ty = if narrow { "u8" } else { "u32" };
        let text = shared_kernel(["store", second], ty, true, generic);
        let text = text.replace("ld.shared.u8", "ld.shared.u32").replace("ld.u8", "ld.u32");
        let width = if narrow { 1 } else { 4 };
        let stores = |lane: usize| lane.is_multiple_of(few).then_some(4 * places[lane].0);
        let table = (0..LANES).map(|lane| [stores(lane).unwrap_or(-1), 4 * places[lane].1]);
        let table: Vec<[i32; 2]> = table.collect();
        let writes = |at: &[i32; 2], byte| at[0] >= 0 && (at[0]..at[0] + width).contains(&byte);
        let is_written = |byte| table.iter().any(|at| writes(at, byte));
        let mut unwritten: std::collections::BTreeSet<i32> =
            (0..60).filter(|&byte| !is_written(byte)).collect();
        let found = shared_findings(&text, &table, Checks { init: true, ..NONE });
        let count: u64 = found.iter().map(|one| one.count).sum();
        let mut expected = 0;
        for warp in table.chunks(32) {
            let bytes = |at: &[i32; 2]| at[1]..at[1] + 4;
            let reads = |at: &&[i32; 2]| bytes(at).any(|byte| unwritten.contains(&byte));
            expected += warp.iter().filter(reads).count() as u64;
            // An atomic also writes. Lanes of a warp read before any of them writes.
            if second == "atomic" {
                warp.iter().flat_map(bytes).for_each(|byte| {
                    unwritten.remove(&byte);
                });
            }
        }
        // Each of three blocks.
        prop_assert_eq!(count, 3 * expected);
        prop_assert!(found.iter().all(|one| one.mistake == Mistake::Unwritten));
    }
}

#[test]
fn many_allocations_are_told_apart() {
    let program = Program::load(kernel("load", "u32", "").as_bytes(), None).unwrap();
    let memory = program.memory();
    let offsets = memory.alloc(4 * LANES as u64, 1).unwrap();
    memory.write(offsets, &[0; 4 * LANES]).unwrap();
    let sizes = (0..700_u64).map(|i| 1 + i % 20);
    let mut all: Vec<Allocation> = sizes
        .map(|bytes| {
            let address = memory.alloc(bytes, 1).unwrap();
            Allocation { name: address.to_string(), address, bytes }
        })
        .collect();
    all.push(Allocation { name: "offsets".into(), address: offsets, bytes: 4 * LANES as u64 });
    for data in all.iter().step_by(37) {
        let args = [Arg::pointer(offsets), Arg::pointer(data.address)];
        let (found, fault) = run(program.only_kernel().unwrap(), &args, &all, EngineKind::Jit);
        assert_eq!(fault, None);
        let is_past = data.bytes < 12 && data.name != "offsets";
        assert_eq!(found.len(), usize::from(is_past), "{data:?}: {found:?}");
        assert!(found.iter().all(|one| allocation(one) == data), "{data:?}: {found:?}");
    }
}

#[test]
fn variables_of_a_module_have_ends() {
    let text = "
.version 7.0
.target sm_50
.address_size 64
.global .align 4 .u32 table[5];
.global .align 16 .u32 after[4];
.visible .entry k(.param .u32 n)
{
    .reg .b32 %r<3>; .reg .b64 %d<3>;
    ld.param.u32 %r0, [n];
    mov.u64 %d0, after;
    mov.u64 %d0, table;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d0, %d0, %d1;
    ld.global.u32 %r1, [%d0];
    st.global.u32 [%d0], %r1;
    ret;
}
";
    let program = Program::load(text.as_bytes(), None).unwrap();
    let allocations =
        Allocations { live: program.allocations().collect(), ..Allocations::default() };
    let options = LaunchOptions::new([1, 1, 1], [1, 1, 1]);
    for (n, expected) in [(4, 0), (5, 2)] {
        let kernel = program.only_kernel().unwrap();
        let checked =
            kernel.launch_checked(&[Arg::from(n)], &options, MEMORY, &allocations).unwrap();
        let found = checked.findings;
        assert_eq!(found.len(), expected, "{found:?}");
        let is_right = |one: &Finding| allocation(one).name == "table" && one.place.line.is_some();
        assert!(found.iter().all(is_right), "{found:?}");
    }
}

#[test]
fn memory_of_device_code_has_ends_and_an_owner() {
    let body = |then: &str| {
        format!(
            "
.version 7.0
.target sm_50
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry k()
{{
    .reg .b64 %p, %n;
    .reg .b32 %r;
    mov.u64 %n, 10;
    {{
    .param .b64 n; .param .b64 r;
    st.param.b64 [n], %n;
    call.uni (r), malloc, (n);
    ld.param.b64 %p, [r];
    }}
    {then}
    ret;
}}
"
        )
    };
    let free = "{ .param .b64 p; st.param.b64 [p], %p; call.uni free, (p); }";
    let found = |then: &str| {
        let program = Program::load(body(then).as_bytes(), None).unwrap();
        let options = LaunchOptions::new([1, 1, 1], [3, 1, 1]);
        let kernel = program.only_kernel().unwrap();
        let on = |engine| {
            let options = LaunchOptions { engine, ..options.clone() };
            let none = Allocations::default();
            let checked = kernel.launch_checked(&[], &options, MEMORY, &none).unwrap();
            assert_eq!(checked.outcome.fault, None);
            let find = |one: &Finding| (one.mistake.clone(), one.place.line.clone(), one.count);
            checked.findings.iter().map(find).collect::<Vec<_>>()
        };
        let [jit, interp] = ENGINES.map(on);
        // Each launch has other addresses.
        assert_eq!(jit.len(), interp.len());
        jit
    };
    assert_eq!(found(&format!("st.u16 [%p+8], 1; {free}")), []);
    let past = found(&format!("st.u32 [%p+8], 1; {free}"));
    assert!(matches!(&past[..], [(Mistake::PastEnd(one), Some(_), 3)] if one.bytes == 10));
    let freed = found(&format!("{free} ld.u8 %r, [%p+9];"));
    assert!(matches!(&freed[..], [(Mistake::Freed(one), Some(_), 3)] if one.bytes == 10));
    let leaked = found("st.u8 [%p], 1;");
    assert!(matches!(&leaked[..], [(Mistake::Leaked(one), Some(_), 3)] if one.bytes == 10));
}

#[test]
fn wild_addresses_need_no_memory() {
    let text = |access: &str| {
        format!(
            "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 at)
{{
    .local .align 8 .b8 a[16]; .shared .align 16 .b8 s[16]; .shared .align 8 .b64 bar;
    .reg .b64 %d; .reg .b32 %r, %s;
    ld.param.u64 %d, [at];
    cvt.u32.u64 %r, %d;
    mov.u32 %s, 0;
    {access};
    ret;
}}
"
        )
    };
    let accesses = [
        "st.local.u32 [%r], %s",
        "ld.local.u32 %s, [%r]",
        "st.shared.u32 [%r], %s",
        "atom.shared.add.u32 %s, [%r], 1",
        "st.u32 [%d], %s",
        "st.global.u32 [%d], %s",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d], %r, [bar]",
    ];
    let addresses = [0xffff_fff0, 0x7fff_fff0, 0x0100_0000_u64, 0x02ff_fff0, u64::MAX - 15];
    for access in accesses {
        for (at, engine) in addresses.into_iter().flat_map(|at| ENGINES.map(|on| (at, on))) {
            let program = Program::load(text(access).as_bytes(), None).unwrap();
            let options = LaunchOptions::new([1, 1, 1], [32, 1, 1]);
            let options = LaunchOptions { engine, ..options };
            let kernel = program.only_kernel().unwrap();
            let none = Allocations::default();
            let args = [Arg::from(at)];
            let checked = kernel.launch_checked(&args, &options, Checks::ALL, &none).unwrap();
            let plain = program.only_kernel().unwrap().launch(&args, &options).unwrap();
            assert_eq!(checked.outcome.fault, plain.fault, "{access} at {at:#x}");
        }
    }
}

#[test]
fn the_command_reports_findings() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        let ran = Command::new(env!("CARGO_BIN_EXE_warploom"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (ran.status.code(), text(ran.stdout), text(ran.stderr))
    };
    let binary = examples().join("saxpy/saxpy.sm_50.cubin");
    let launch = |more: &str| {
        let args = "--arg i32=100 --arg f32=2 --arg zeros=f32[100] --arg zeros=f32[99]";
        run(&format!("run {} --grid 1 --block 128 {args} {more}", binary.display()))
    };
    let (code, _, err) = launch("--check memory --engine both --quiet");
    let expected = "store of 4 bytes at offset 396 of `arg4`, which has 396 bytes: pc 0xc8, block \
                    [0, 0, 0], warp 3, lane 3, ";
    assert!(code == Some(2) && err.contains(expected), "{err}");
    assert!(err.contains("STG.E"), "{err}");
    let (code, out, _) = launch("--check memory --json");
    assert_eq!(code, Some(2));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let store = &report["findings"][1];
    assert_eq!((&store["check"], &store["action"]), (&"memory".into(), &"store".into()));
    assert_eq!((&store["offset"], &store["allocation"]), (&396.into(), &"arg4".into()));
    // Findings that are known are not reported.
    let known = |text: &str| {
        std::fs::write(folder.path().join("known"), text).unwrap();
        launch("--check memory --quiet --suppress known")
    };
    assert_eq!(known("# both\nmemory ^sax  # of any line\n").0, Some(0));
    assert_eq!(known("* saxpy pc 0xc8\nmemory other").0, Some(2));
    assert_eq!(known("memory saxpy pc 0xc8\n* saxpy pc 0x").0, Some(0));
    assert_eq!(known("race saxpy\ninit saxpy").0, Some(2));
    for (text, expected) in [
        ("\nmemry x", "known:2: `memry`: expected `*` or one of memory"),
        ("race", "known:1: expected a check"),
        ("race (", "known:1: `(`: "),
    ] {
        let (code, _, err) = known(text);
        assert!(code == Some(3) && err.contains(expected), "{err}");
    }
    // Without the check, the store is a warning.
    assert_eq!(launch("--quiet").0, Some(0));
    let (code, _, err) = launch("--check memmory");
    assert!(code == Some(3) && err.contains("'memory'"), "{err}");
}
