//! Compares operations whose meaning C++ or PTX fixes, compiled by NVIDIA's compiler, with the same
//! operations in Rust, over edge cases and random inputs, on both engines. The kernels are in
//! `tests/fixtures/maxwell/semantics`.
//!
//! `integer` and `float` are C++, with one operation per kernel; `ptx` has every PTX instruction
//! form.

mod calls;
mod float;
mod integer;
mod ptx;
#[path = "../support/random.rs"]
mod random;

use warploom::{Arg, EngineKind, LaunchOptions, Program};

pub use random::Random;

/// The function that computes a kernel's expected result from its three inputs.
pub type Expected = fn(u64, u64, u64) -> u64;

/// The three inputs of a lane.
pub type Input = [u64; 3];

const LANES: u32 = 32;
const BLOCKS: u32 = 64;
const COUNT: usize = (LANES * BLOCKS) as usize;

/// The function that tells whether a result (first) is as good as the expected result.
pub type Same = fn(u64, u64) -> bool;

fn fixture(file: &str) -> String {
    format!("{}/tests/fixtures/maxwell/semantics/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// A program with inputs in its memory.
struct Bench {
    program: Program,
    inputs: Vec<Input>,
    /// The addresses of the results and of the three arrays of inputs.
    buffers: [u64; 4],
}

impl Bench {
    /// Loads a file with random operands from `operand` and all pairs of `edges`. Each kernel has
    /// up to `results` results per lane.
    fn new(file: &str, operand: fn(&mut Random) -> u64, edges: &[u64], results: usize) -> Bench {
        let path = fixture(file);
        let binary = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let program =
            Program::load(&binary, None).unwrap_or_else(|error| panic!("{path}: {error}"));
        Bench::of(program, operand, edges, results)
    }

    fn of(
        program: Program,
        operand: fn(&mut Random) -> u64,
        edges: &[u64],
        results: usize,
    ) -> Bench {
        let mut random = Random(1);
        let mut inputs: Vec<Input> = (0..COUNT)
            .map(|_| [operand(&mut random), operand(&mut random), operand(&mut random)])
            .collect();
        for (i, input) in inputs.iter_mut().enumerate().take(edges.len() * edges.len()) {
            (input[0], input[1]) = (edges[i % edges.len()], edges[i / edges.len()]);
        }
        let alloc =
            |arrays: usize| program.memory().alloc((COUNT * 8 * arrays) as u64, 1).expect("memory");
        let buffers = [alloc(results), alloc(1), alloc(1), alloc(1)];
        for (n, &buffer) in buffers[1..].iter().enumerate() {
            let bytes: Vec<u8> = inputs.iter().flat_map(|input| input[n].to_le_bytes()).collect();
            program.memory().write(buffer, &bytes).expect("input");
        }
        Bench { program, inputs, buffers }
    }

    /// Returns `results` consecutive arrays of results of a kernel on an engine.
    fn run(&self, kernel: &str, engine: EngineKind, results: usize) -> Result<Vec<u64>, String> {
        let kernel = self.program.kernel(kernel).unwrap_or_else(|error| panic!("{error}"));
        let mut options = LaunchOptions::new([BLOCKS, 1, 1], [LANES, 1, 1]);
        options.engine = engine;
        // Results of an earlier run must not pass for new ones.
        self.program
            .memory()
            .write(self.buffers[0], &vec![0xa5; COUNT * 8 * results])
            .expect("output");
        let outcome = kernel
            .launch(&self.buffers.map(Arg::pointer), &options)
            .map_err(|error| error.to_string())?;
        if let Some(fault) = outcome.fault {
            return Err(fault.to_string());
        }
        let mut bytes = vec![0; COUNT * 8 * results];
        self.program.memory().read(self.buffers[0], &mut bytes).expect("output");
        Ok(bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")))
            .collect())
    }
}

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

/// Runs every kernel of a file on both engines and checks the results.
pub fn check(
    file: &str,
    operand: fn(&mut Random) -> u64,
    edges: &[u64],
    kernels: &[(&str, Same, Expected)],
) {
    let bench = Bench::new(file, operand, edges, 1);
    let mut failures = Vec::new();
    for &(name, same, expected) in kernels {
        for engine in ENGINES {
            let results = match bench.run(name, engine, 1) {
                Ok(results) => results,
                Err(error) => {
                    failures.push(format!("{name} ({engine}): {error}"));
                    continue;
                }
            };
            let wrong = results
                .iter()
                .zip(&bench.inputs)
                .find(|&(&found, &[x, y, z])| !same(found, expected(x, y, z)));
            if let Some((found, &[x, y, z])) = wrong {
                let wanted = expected(x, y, z);
                failures.push(format!(
                    "{name} ({engine}): of {x:#x}, {y:#x}, {z:#x} expected {wanted:#x}, found {found:#x}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
