//! Small tests of the effects that two blocks on two host threads may see: fences, atomics, locks,
//! barriers.
//!
//! The shapes come from Alglave and others, "Herding Cats" (2014): store buffering, message
//! passing, coherence. The programs are assembly files next to this file.

use std::path::Path;

use warploom::EngineKind;
use warploom_replay::{Launch, Manifest, Session};

/// The number of rounds of a test, in which two blocks wait for each other.
const ROUNDS: usize = 20_000;

/// Runs a program with two workers. Returns the contents of its buffers, by name.
fn run(program: &str, engine: EngineKind, rest: &str) -> Vec<(String, Vec<u32>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus/manifest.toml");
    let manifest = format!("kernel.binary = \"{program}.s\"\n{rest}");
    let manifest = Manifest::parse(&manifest, &path).unwrap_or_else(|error| panic!("{error}"));
    let launch = Launch::resolve(manifest, &path).unwrap_or_else(|error| panic!("{error}"));
    let session = Session::new(&launch).unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        session.launch(&session.options(engine, 2), None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.fault, None, "{program}, {engine}");
    let words = |i| {
        session
            .buffer(i)
            .unwrap()
            .as_chunks()
            .0
            .iter()
            .map(|&word| u32::from_le_bytes(word))
            .collect()
    };
    launch.buffers.iter().zip(0..).map(|(buffer, i)| (buffer.name.clone(), words(i))).collect()
}

fn buffer<'a>(buffers: &'a [(String, Vec<u32>)], name: &str) -> &'a [u32] {
    &buffers.iter().find(|(known, _)| known == name).expect("a buffer of that name").1
}

/// Runs a test on both engines. The interpreter runs fewer rounds, since each takes longer.
fn on_both(test: impl Fn(EngineKind, usize)) {
    test(EngineKind::Jit, ROUNDS);
    test(EngineKind::Interp, ROUNDS / 20);
}

/// Returns the manifest of a launch of two blocks that are resident together.
fn launch(block: usize, args: &[&str]) -> String {
    let args: Vec<String> = args.iter().map(|arg| format!("{{ {arg} }}")).collect();
    let args =
        if args.is_empty() { String::new() } else { format!("arg = [{}]\n", args.join(", ")) };
    format!(
        "{args}launch = {{ grid = [2, 1, 1], block = [{block}, 1, 1], cooperative = true, time_limit = 120.0 }}\n"
    )
}

fn buffers(sizes: &[(&str, usize)]) -> String {
    sizes
        .iter()
        .map(|(name, words)| format!("[buffer.{name}]\nzeros = {}\ndtype = \"u32\"\n", 4 * words))
        .collect()
}

/// Returns the initial state of a plain stream's wave: pointers from s4 on, a number in s10, the
/// workgroup in s11.
fn raw(pointers: &[&str], number: usize) -> String {
    let mut text = "kernel.format = \"gfx9-raw\"\n[raw]\nvgprs = 8\n".to_owned();
    for (pointer, first) in pointers.iter().zip((4..).step_by(2)) {
        text += &format!("[[raw.sgpr]]\nfirst = {first}\nbuffer = \"{pointer}\"\n");
    }
    text + &format!(
        "[[raw.sgpr]]\nfirst = 10\nu32 = {number}\n[[raw.sgpr]]\nfirst = 11\nbuiltin = \"workgroup_id_x\"\n"
    )
}

fn both_read_nothing(read: &[u32]) -> usize {
    read.as_chunks().0.iter().filter(|&&pair| pair == [0, 0]).count()
}

#[test]
fn store_buffering() {
    on_both(|engine, rounds| {
        let sizes = buffers(&[("words", 2 * rounds), ("arrived", rounds), ("read", 2 * rounds)]);
        let bytes = format!("i32 = {}", 4 * rounds);
        let args =
            launch(1, &["buffer = \"words\"", "buffer = \"arrived\"", "buffer = \"read\"", &bytes]);
        let left = run("store_buffering.sm_50", engine, &(args + &sizes));
        assert_eq!(both_read_nothing(buffer(&left, "read")), 0, "{engine}: sm_50");

        let starts = launch(1, &[]) + &raw(&["words", "arrived", "read"], 4 * rounds);
        let left = run("store_buffering.gfx900", engine, &(starts + &sizes));
        assert_eq!(both_read_nothing(buffer(&left, "read")), 0, "{engine}: gfx900");
    });
}

#[test]
fn message_passing() {
    on_both(|engine, rounds| {
        let rounds = 20 * rounds;
        let (sizes, bytes) =
            (buffers(&[("words", rounds + 1), ("far", 1), ("found", 2)]), 4 * rounds);
        let number = format!("i32 = {bytes}");
        let args =
            launch(1, &["buffer = \"words\"", "buffer = \"far\"", "buffer = \"found\"", &number]);
        let left = run("message_passing.sm_50", engine, &(args + &sizes));
        assert_eq!(buffer(&left, "found"), [0, bytes as u32], "{engine}: sm_50");

        let starts = launch(1, &[]) + &raw(&["words", "far", "found"], bytes);
        let left = run("message_passing.gfx900", engine, &(starts + &sizes));
        assert_eq!(buffer(&left, "found"), [0, bytes as u32], "{engine}: gfx900");
    });
}

#[test]
fn coherence() {
    on_both(|engine, rounds| {
        let (sizes, rounds) = (buffers(&[("word", 1), ("seen", 2)]), 20 * rounds);
        let args =
            launch(1, &["buffer = \"word\"", "buffer = \"seen\"", &format!("i32 = {rounds}")]);
        let left = run("coherence.sm_50", engine, &(args + &sizes));
        assert_eq!(buffer(&left, "seen"), [0, rounds as u32], "{engine}: sm_50");

        let left = run(
            "coherence.gfx900",
            engine,
            &(launch(1, &[]) + &raw(&["word", "seen"], rounds) + &sizes),
        );
        assert_eq!(buffer(&left, "seen"), [0, rounds as u32], "{engine}: gfx900");
    });
}

#[test]
fn locks() {
    on_both(|engine, rounds| {
        let sizes = buffers(&[("lock", 1), ("words", 2)]);
        let args =
            launch(1, &["buffer = \"lock\"", "buffer = \"words\"", &format!("i32 = {rounds}")]);
        let left = run("lock.sm_50", engine, &(args + &sizes));
        assert_eq!(buffer(&left, "words"), [2 * rounds as u32; 2], "{engine}: sm_50");

        let left = run(
            "lock.gfx900",
            engine,
            &(launch(1, &[]) + &raw(&["lock", "words"], rounds) + &sizes),
        );
        assert_eq!(buffer(&left, "words"), [2 * rounds as u32; 2], "{engine}: gfx900");
    });
}

#[test]
fn tickets() {
    on_both(|engine, rounds| {
        // Two warps on Maxwell; two waves on GFX9.
        let (rounds, blocks) = (rounds / 20, [64, 128]);
        let sizes = blocks.map(|block| buffers(&[("next", 1), ("drawn", 2 * block * rounds)]));
        let args = launch(
            blocks[0],
            &["buffer = \"next\"", "buffer = \"drawn\"", &format!("i32 = {rounds}")],
        );
        let starts = launch(blocks[1], &[]) + &raw(&["next", "drawn"], rounds);
        for (program, block, rest) in [
            ("tickets.sm_50", blocks[0], args + &sizes[0]),
            ("tickets.gfx900", blocks[1], starts + &sizes[1]),
        ] {
            let left = run(program, engine, &rest);
            assert!(buffer(&left, "drawn").iter().all(|&times| times == 1), "{engine}: {program}");
            assert_eq!(buffer(&left, "next"), [2 * (block * rounds) as u32], "{engine}: {program}");
        }
    });
}
