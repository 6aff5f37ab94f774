//! Operations whose meaning C++ or PTX fixes, compiled by NVIDIA's compiler one to a kernel, against the same operation of Rust:
//! over edge cases and random inputs, on both engines. The kernels are in `tests/fixtures/maxwell/semantics`.

mod calls;
mod float;
mod integer;

use warploom::exec::{Arg, EngineKind, LaunchOptions, Program};

/// What a kernel must give for its three inputs.
pub type Expected = fn(u64, u64, u64) -> u64;

/// Splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

const LANES: u32 = 32;
const BLOCKS: u32 = 64;

/// Whether a result (first) is as good as the expected one.
pub type Same = fn(u64, u64) -> bool;

/// Runs every kernel on operands of this kind, and all pairs of `edges`.
pub fn check(file: &str, operand: fn(&mut Random) -> u64, edges: &[u64], kernels: &[(&str, Same, Expected)]) {
    let path = format!("{}/tests/fixtures/maxwell/semantics/{file}", env!("CARGO_MANIFEST_DIR"));
    let binary = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let program = Program::load(&binary, None).unwrap_or_else(|error| panic!("{path}: {error}"));
    let count = u64::from(LANES * BLOCKS);
    let mut random = Random(1);
    let mut inputs: Vec<[u64; 3]> =
        (0..count).map(|_| [operand(&mut random), operand(&mut random), operand(&mut random)]).collect();
    for (i, input) in inputs.iter_mut().enumerate().take(edges.len() * edges.len()) {
        (input[0], input[1]) = (edges[i % edges.len()], edges[i / edges.len()]);
    }
    let buffers: [u64; 4] = std::array::from_fn(|_| program.memory().alloc(count * 8, 1).expect("memory"));
    for (n, &buffer) in buffers[1..].iter().enumerate() {
        let bytes: Vec<u8> = inputs.iter().flat_map(|input| input[n].to_le_bytes()).collect();
        program.memory().write(buffer, &bytes).expect("input");
    }
    let mut failures = Vec::new();
    for &(name, same, expected) in kernels {
        let kernel = program.kernel(name).unwrap_or_else(|error| panic!("{error}"));
        for engine in [EngineKind::Interp, EngineKind::Jit] {
            let mut options = LaunchOptions::new([BLOCKS, 1, 1], [LANES, 1, 1]);
            options.engine = engine;
            let outcome = match kernel.launch(&buffers.map(Arg::pointer), &options) {
                Ok(outcome) => outcome,
                Err(error) => {
                    failures.push(format!("{name} ({engine}): {error}"));
                    continue;
                }
            };
            if let Some(fault) = outcome.fault {
                failures.push(format!("{name} ({engine}): {fault}"));
                continue;
            }
            let mut bytes = vec![0; count as usize * 8];
            program.memory().read(buffers[0], &mut bytes).expect("output");
            let results = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
            let wrong = results.zip(&inputs).find(|(found, [x, y, z])| !same(*found, expected(*x, *y, *z)));
            if let Some((found, [x, y, z])) = wrong {
                let wanted = expected(*x, *y, *z);
                failures.push(format!(
                    "{name} ({engine}): of {x:#x}, {y:#x}, {z:#x} expected {wanted:#x}, found {found:#x}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
