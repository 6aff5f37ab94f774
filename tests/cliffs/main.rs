//! Loops of one kind of access each, which must be native code: in the steady state no helper is
//! called and nothing is interpreted. A model of each loop gives the expected number of every
//! thread.
//!
//! Each form counts its rounds in one fixed register. The first rounds may call any number of
//! helpers. So the test compares two launches: a launch with twice the rounds must call as many
//! helpers.

mod forms;
mod gfx9;
mod maxwell;

use warploom::{Effort, EngineKind, LaunchOptions, LaunchOutcome};
use warploom_replay::{Launch, Manifest, Session};

const ROUNDS: u32 = 60;
/// The threads of a block: a warp and a half of GFX9, three warps of Maxwell.
const THREADS: u32 = 96;
/// Each block has its own words in the buffer, so that blocks do not race.
const BLOCKS: u32 = 2;

/// A loop of one kind of access.
struct Form {
    name: &'static str,
    /// Instructions before the loop, one a line.
    setup: &'static str,
    body: &'static str,
    /// Returns the result of the thread with this index after this number of rounds.
    model: fn(u32, u32) -> u32,
}

/// Runs a program and returns the words that threads store, and the outcome.
fn run(
    manifest: &str,
    program: &str,
    engine: EngineKind,
    threads: usize,
    effort: Effort,
) -> (Vec<u32>, LaunchOutcome) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.toml");
    std::fs::write(folder.path().join("k.s"), program).unwrap();
    let manifest = Manifest::parse(manifest, &path).unwrap_or_else(|error| panic!("{error}"));
    let launch =
        Launch::resolve(manifest, &path).unwrap_or_else(|error| panic!("{error}\n{program}"));
    let session = Session::new(&launch).unwrap_or_else(|error| panic!("{error}\n{program}"));
    let options = LaunchOptions { effort, ..session.options(engine, threads) };
    let outcome =
        session.launch(&options, None).unwrap_or_else(|error| panic!("{error}\n{program}"));
    assert_eq!(outcome.fault, None, "{program}");
    let words = session
        .buffer(0)
        .unwrap()
        .as_chunks()
        .0
        .iter()
        .map(|&word| u32::from_le_bytes(word))
        .collect();
    (words, outcome)
}

/// Checks a loop. `launch` returns the manifest for a number of rounds, and the program.
fn check(form: &Form, launch: impl Fn(u32) -> (String, String)) {
    let name = form.name;
    let of = |rounds, engine, threads, effort| {
        let (manifest, program) = launch(rounds);
        let (words, outcome) = run(&manifest, &program, engine, threads, effort);
        for (thread, &word) in (0..THREADS).cycle().zip(&words) {
            assert_eq!(
                word,
                (form.model)(thread, rounds),
                "{name}, {engine}, {effort:?}, {threads}: thread {thread}"
            );
        }
        outcome.counts
    };
    of(ROUNDS, EngineKind::Interp, 1, Effort::Quick);
    of(ROUNDS, EngineKind::Jit, 1, Effort::Quick);
    for threads in [1, 2] {
        let (once, twice) = (
            of(ROUNDS, EngineKind::Jit, threads, Effort::Full),
            of(2 * ROUNDS, EngineKind::Jit, threads, Effort::Full),
        );
        // Each worker that takes part fills its own TLB; the number of such workers varies from run
        // to run.
        let in_loop = twice.helper_calls.abs_diff(once.helper_calls);
        let allowed = if threads == 1 { 0 } else { u64::from(ROUNDS) / 4 };
        assert!(
            in_loop <= allowed,
            "{name}, {threads} workers: helpers are called in the loop, {in_loop} times"
        );
        assert_eq!(
            twice.interp_instructions, 0,
            "{name}, {threads} workers: instructions are interpreted"
        );
    }
}
