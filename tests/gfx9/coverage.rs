//! A test executes every implemented instruction.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use warploom_gfx9::row::Format;
use warploom_gfx9::table::rows;

/// Instructions that no list of words has: jumps through registers and traps end a probe. Compiled
/// kernels have the first three.
const ELSEWHERE: [&str; 4] = ["s_setpc_b64", "s_swappc_b64", "s_call_b64", "s_trap"];

/// Instructions of fragment and vertex programs, which `tests/graphics` tests.
const GRAPHICS: [&str; 8] = [
    "exp",
    "v_interp_p1_f32",
    "v_interp_p2_f32",
    "v_interp_mov_f32",
    "v_interp_p1ll_f16",
    "v_interp_p1lv_f16",
    "v_interp_p2_f16",
    "v_interp_p2_legacy_f16",
];

/// Tells whether `tests/gfx9_memory` tests the format: it runs every row of the table.
fn is_vector_memory(format: Format) -> bool {
    use Format::{Ds, Flat, Global, Mimg, Mtbuf, Mubuf, Scratch};
    matches!(format, Ds | Flat | Global | Scratch | Mubuf | Mtbuf | Mimg)
}

#[test]
fn every_instruction_is_executed() {
    let mut executed: BTreeSet<String> = BTreeSet::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gfx9/corpus");
    let listings =
        fs::read_dir(corpus).expect("the corpus").map(|entry| entry.expect("entry").path());
    let listings =
        listings.filter(|path| path.extension().is_some_and(|extension| extension == "s"));
    let texts = listings.map(|path| fs::read_to_string(path).expect("a listing"));
    for text in texts.chain([include_str!("words.txt").to_owned()]) {
        for name in text.lines().filter_map(|line| line.split_whitespace().next()) {
            let plain =
                ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|form| name.strip_suffix(form));
            executed.insert(plain.unwrap_or(name).to_owned());
        }
    }
    let forgotten: Vec<&str> = rows()
        .filter(|row| {
            row.lift.is_some() && !row.places.iter().any(|place| is_vector_memory(place.format))
        })
        .map(|row| row.mnemonic)
        .filter(|name| {
            !executed.contains(*name) && !ELSEWHERE.contains(name) && !GRAPHICS.contains(name)
        })
        .collect();
    assert!(forgotten.is_empty(), "no test executes {forgotten:?}");
}
