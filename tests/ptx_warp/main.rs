//! PTX of warps on halves, small floats, lanes and matrices: both engines against references in
//! Rust.

mod conversions;
mod halves;
mod lanes;
mod matrices;
mod warpgroups;

use std::fmt::Write;

use warploom::{Arg, EngineKind, LaunchOptions, Program};
use warploom_container::ptx;
use warploom_runtime::memory::MemoryConfig;

pub const LANES: usize = 32;

/// A kernel of one warp. Each lane has words of input in `%i0` and up, and leaves words in `%o0`
/// and up.
pub struct Kernel<'a> {
    pub target: &'a str,
    pub inputs: usize,
    pub outputs: usize,
    /// The body has registers `%a` to `%d` (32 bits), `%h` (16), `%l` (64), `%f` (f32), `%p`
    /// (predicates), each with numbers below 64, and `%lane`, `%in`, `%out`.
    pub body: &'a str,
}

pub type Words = Vec<Vec<u32>>;

impl Kernel<'_> {
    fn text(&self) -> String {
        let Kernel { target, inputs, outputs, body } = self;
        let mut text = format!(
            ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 pout) {{\n\
             .reg .b32 %i<64>, %o<64>, %a<64>, %b<64>, %c<64>, %d<64>, %lane;\n.reg .b16 %h<64>;\n.reg .b64 %l<64>, %in, %out, %at;\n\
             .reg .b8 %y<16>;\n.reg .f32 %f<64>;\n.reg .pred %p<64>;\n.shared .align 1024 .b8 tile[8192];\n\
             ld.param.u64 %in, [pin];\nld.param.u64 %out, [pout];\nmov.u32 %lane, %tid.x;\n\
             mul.wide.u32 %at, %lane, {};\nadd.s64 %at, %at, %in;\n",
            4 * inputs
        );
        for n in 0..*inputs {
            writeln!(text, "ld.global.b32 %i{n}, [%at+{}];", 4 * n).unwrap();
        }
        for n in 0..*outputs {
            writeln!(text, "mov.b32 %o{n}, 0;").unwrap();
        }
        writeln!(
            text,
            "{body}\nmul.wide.u32 %at, %lane, {};\nadd.s64 %at, %at, %out;",
            4 * outputs
        )
        .unwrap();
        for n in 0..*outputs {
            writeln!(text, "st.global.b32 [%at+{}], %o{n};", 4 * n).unwrap();
        }
        text + "ret;\n}\n"
    }

    /// Runs the kernel with these words of each lane; both engines must agree.
    pub fn run(&self, input: &Words) -> Words {
        let bytes: Vec<u8> = input.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        let out = self.run_bytes(&bytes, 4 * self.outputs * LANES);
        out.chunks(4 * self.outputs)
            .map(|lane| {
                lane.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
            })
            .collect()
    }

    /// Runs the kernel with these bytes of input, and returns `output` bytes; both engines must
    /// agree.
    pub fn run_bytes(&self, input: &[u8], output: usize) -> Vec<u8> {
        let text = self.text();
        let read =
            warploom_ptx::read(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let program = Program::new(ptx::module(read).unwrap(), MemoryConfig::default()).unwrap();
        let results = [EngineKind::Interp, EngineKind::Jit].map(|engine| {
            let [from, to] = [input.len(), output]
                .map(|bytes| program.memory().alloc(bytes as u64, 256).unwrap());
            program.memory().write(from, input).unwrap();
            program.memory().write(to, &vec![0; output]).unwrap();
            let options =
                LaunchOptions { engine, ..LaunchOptions::new([1; 3], [LANES as u32, 1, 1]) };
            let args = [Arg::pointer(from), Arg::pointer(to)];
            let outcome = program.kernel("k").unwrap().launch(&args, &options).unwrap();
            assert!(outcome.fault.is_none(), "{}\n{text}", outcome.fault.unwrap());
            let mut bytes = vec![0; output];
            program.memory().read(to, &mut bytes).unwrap();
            bytes
        });
        assert_eq!(results[0], results[1], "the engines differ\n{text}");
        results.into_iter().next().unwrap()
    }
}

/// Runs a body of `N` input words on all sets of operands, one set in each lane.
pub fn each<const N: usize>(
    target: &str,
    body: &str,
    sets: &[[u32; N]],
    check: impl Fn([u32; N], u32),
) {
    for sets in sets.chunks(LANES) {
        let mut input: Words = sets.iter().map(|set| set.to_vec()).collect();
        input.resize(LANES, vec![0; N]);
        let out = Kernel { target, inputs: N, outputs: 1, body }.run(&input);
        for (set, out) in sets.iter().zip(out) {
            check(*set, out[0]);
        }
    }
}

/// Deterministic pseudo-random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as u32
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        self.word() % bound
    }
}
