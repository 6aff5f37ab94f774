//! Kernels with one fault each, on all guests: the right check finds the fault, at the right line, in
//! the right allocation. Their twins without the fault are clean.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use warploom::{
    Allocation, Allocations, Arg, Checks, EngineKind, Finding, LaunchOptions, Mistake, Program,
    SourcePlace,
};

/// Threads of a block, blocks, and numbers in each buffer.
const THREADS: u32 = 128;
const BLOCKS: u32 = 3;
const NUMBERS: u32 = THREADS * BLOCKS;

/// The files of faults.cl, and of warp.ptx.
const EVERYWHERE: [&str; 6] = [
    "faults.sm_50.ptx",
    "faults.sm_80.ptx",
    "faults.sm_50.cubin",
    "faults.sm_80.cubin",
    "faults.gfx900.hsaco",
    "faults.dg2.zebin.gz",
];
const WARP: [&str; 2] = ["warp.ptx", "warp.sm_80.cubin"];

/// The kinds of faults of faults.cl: the kernel, the mistake, and the buffer or the memory.
const FAULTS: [(&str, &str, &str); 16] = [
    ("past_store", "past end", "out"),
    ("past_load", "past end", "in"),
    ("past_wide", "past end", "out"),
    ("past_atomic", "past end", "out"),
    ("read_after_write", "race", "shared"),
    ("write_after_read", "race", "shared"),
    ("both_write", "race", "shared"),
    ("clear_and_count", "race", "shared"),
    ("blocks_write", "race", "global"),
    ("blocks_read", "race", "global"),
    ("plain_and_atomic", "race", "global"),
    ("no_fence", "race", "global"),
    ("warps_exchange", "race", "global"),
    ("unwritten_shared", "unwritten", "shared"),
    ("unwritten_byte", "unwritten", "shared"),
    ("unwritten_local", "unwritten", "local"),
];

/// The kinds of faults of warp.ptx.
const WARP_FAULTS: [(&str, &str, &str); 6] = [
    ("lanes", "race", "shared"),
    ("narrow_scope", "race", "global"),
    ("thread_counts", "threads", ""),
    ("divergent", "apart", ""),
    ("unnamed", "unnamed", ""),
    ("exited", "exited", ""),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeded")
}

fn load(file: &str) -> Program {
    let mut bytes = std::fs::read(folder().join(file)).unwrap();
    if file.ends_with(".gz") {
        let mut unpacked = vec![];
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).unwrap();
        bytes = unpacked;
    }
    Program::load(&bytes, None).unwrap()
}

/// Returns the findings of checks on a kernel, which both engines must agree on.
fn findings(file: &str, kernel: &str, checks: Checks) -> Vec<Finding> {
    let on = |engine| {
        let program = load(file);
        let memory = program.memory();
        let bytes = u64::from(4 * NUMBERS);
        let buffer = |name: &str, content: u32| {
            let address = memory.alloc(bytes, 1).unwrap();
            memory.write(address, &content.to_le_bytes().repeat(NUMBERS as usize)).unwrap();
            Allocation { name: name.into(), address, bytes }
        };
        let (out, numbers) = (buffer("out", 0), buffer("in", 1));
        // A surface with bounds would drop what is behind its end.
        let args = [Arg::pointer(out.address), Arg::pointer(numbers.address), Arg::from(NUMBERS)];
        let shape = LaunchOptions::new([BLOCKS, 1, 1], [THREADS, 1, 1]);
        let options = LaunchOptions { engine, ..shape };
        let allocations = Allocations { live: vec![out, numbers], ..Allocations::default() };
        let kernel = program.kernel(kernel).unwrap();
        let checked = kernel.launch_checked(&args, &options, checks, &allocations).unwrap();
        assert_eq!(checked.outcome.fault, None, "{file}: {}", kernel.name());
        checked.findings
    };
    let [jit, interp] = [EngineKind::Jit, EngineKind::Interp].map(on);
    let text = |all: &[Finding]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(text(&jit), text(&interp), "{file}: {kernel}");
    jit
}

/// Returns the lines with a mark in a kernel of a source.
fn marked(source: &str, kernel: &str, marks: &[&str]) -> BTreeSet<u32> {
    let text = std::fs::read_to_string(folder().join(source)).unwrap();
    let named = [format!(" {kernel}(")];
    let lines = (1..).zip(text.lines());
    let body = lines.skip_while(|(_, line)| !line.contains(&named[0]));
    let body = body.take_while(|(_, line)| *line != "}");
    let is_marked = |line: &&str| {
        let comment = line.split("//").nth(1).unwrap_or_default();
        marks.iter().any(|mark| comment.contains(mark))
    };
    body.filter(|(_, line)| is_marked(line)).map(|(number, _)| number).collect()
}

/// Returns the line in the source, if it is known.
fn line(place: &Option<SourcePlace>, is_text: bool) -> Option<u32> {
    let place = place.as_ref()?;
    if is_text { place.line } else { place.source.as_ref().map(|(_, line)| *line) }
}

/// Checks the findings of a kernel with a fault.
fn is_found(file: &str, source: &str, (kernel, mistake, at): (&str, &str, &str)) {
    // A missing barrier may also be an unwritten byte.
    let check = match mistake {
        "past end" => "memory",
        "race" => "race",
        "unwritten" => "init",
        _ => "sync",
    };
    let found = findings(file, kernel, Checks::named(check).unwrap());
    assert!(!found.is_empty(), "{file}: {kernel}: nothing is found");
    let lines = marked(source, kernel, &["FAULT", "OTHER"]);
    let is_text = file == source;
    for one in &found {
        let (kind, place) = match &one.mistake {
            Mistake::PastEnd(allocation) => ("past end", allocation.name.as_str()),
            Mistake::Race { .. } => ("race", one.memory.name()),
            // Some guests have local memory in global memory.
            Mistake::Unwritten if at == "local" => ("unwritten", at),
            Mistake::Unwritten => ("unwritten", one.memory.name()),
            Mistake::Apart { .. } => ("apart", ""),
            Mistake::Threads { .. } => ("threads", ""),
            Mistake::Unnamed => ("unnamed", ""),
            Mistake::Exited { .. } => ("exited", ""),
            other => panic!("{file}: {kernel}: {other:?}"),
        };
        assert_eq!((kind, place), (mistake, at), "{file}: {kernel}: {one}");
        assert!(one.place.instruction.is_some(), "{file}: {kernel}: {one}");
        let mut places = vec![&one.place.line];
        if let Mistake::Race { other, .. } = &one.mistake {
            places.push(&other.line);
        }
        let numbers: Vec<u32> =
            places.into_iter().filter_map(|place| line(place, is_text)).collect();
        // vISA and PTX written by hand have no lines of a source.
        let has_none = file.contains("zebin") || file == "warp.sm_80.cubin";
        assert_eq!(numbers.is_empty(), has_none, "{file}: {kernel}: {one}");
        for number in numbers {
            assert!(lines.contains(&number), "{file}: {kernel}: line {number}: {one}");
        }
    }
}

#[test]
fn faults_are_found_on_each_guest() {
    for file in EVERYWHERE {
        FAULTS.iter().for_each(|&fault| is_found(file, "faults.cl", fault));
    }
}

#[test]
fn twins_without_faults_are_clean() {
    for file in EVERYWHERE {
        for (kernel, ..) in FAULTS {
            let found = findings(file, &format!("{kernel}_clean"), Checks::ALL);
            assert!(found.is_empty(), "{file}: {kernel}_clean: {}", found[0]);
        }
    }
}

#[test]
fn faults_of_warps_are_found() {
    for file in WARP {
        for fault @ (kernel, ..) in WARP_FAULTS {
            // The assembler lets the lanes converge, which orders them, and machine code names no
            // lanes that shuffle.
            if file == "warp.ptx" || !["lanes", "exited"].contains(&kernel) {
                is_found(file, "warp.ptx", fault);
            }
            let found = findings(file, &format!("{kernel}_clean"), Checks::ALL);
            assert!(found.is_empty(), "{file}: {kernel}_clean: {}", found[0]);
        }
    }
}
