//! Operations whose meaning C++ or PTX fixes, compiled by NVIDIA's compiler one to a kernel, against the same operation of Rust:
//! over edge cases and random inputs, on both engines. The kernels are in `tests/fixtures/maxwell/semantics`.

mod integer;

use warploom::exec::{Arg, EngineKind, LaunchOptions, Program};

/// What a kernel must give for its three inputs.
pub type Expected = fn(u64, u64, u64) -> u64;

const EDGES: [u64; 22] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0xffff_ffff_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_8000_0000,
    u64::MAX,
];

/// Splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An edge case, a number with few or many digits, or any.
    pub fn operand(&mut self) -> u64 {
        let (choice, bits) = (self.next() % 4, self.next());
        match choice {
            0 => EDGES[bits as usize % EDGES.len()],
            1 => bits >> (self.next() % 64),
            2 => (bits as i64 >> (self.next() % 64)) as u64,
            _ => bits,
        }
    }
}

const LANES: u32 = 32;
const BLOCKS: u32 = 64;

/// Runs every kernel; `mask` says which bits of its result count.
pub fn check(file: &str, kernels: &[(&str, u64, Expected)]) {
    let path = format!("{}/tests/fixtures/maxwell/semantics/{file}", env!("CARGO_MANIFEST_DIR"));
    let binary = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let program = Program::load(&binary, None).unwrap_or_else(|error| panic!("{path}: {error}"));
    let count = u64::from(LANES * BLOCKS);
    let mut random = Random(1);
    let mut inputs: Vec<[u64; 3]> = (0..count).map(|_| [random.operand(), random.operand(), random.operand()]).collect();
    // All pairs of edge cases.
    for (i, input) in inputs.iter_mut().enumerate().take(EDGES.len() * EDGES.len()) {
        (input[0], input[1]) = (EDGES[i % EDGES.len()], EDGES[i / EDGES.len()]);
    }
    let buffers: [u64; 4] = std::array::from_fn(|_| program.memory().alloc(count * 8, 1).expect("memory"));
    for (n, &buffer) in buffers[1..].iter().enumerate() {
        let bytes: Vec<u8> = inputs.iter().flat_map(|input| input[n].to_le_bytes()).collect();
        program.memory().write(buffer, &bytes).expect("input");
    }
    let mut failures = Vec::new();
    for &(name, mask, expected) in kernels {
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
            let wrong = results.zip(&inputs).find(|(found, [x, y, z])| (found ^ expected(*x, *y, *z)) & mask != 0);
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
