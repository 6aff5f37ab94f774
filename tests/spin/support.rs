//! Runs PTX programs whose blocks wait for each other, on both engines and with several numbers of
//! workers.

use std::time::{Duration, Instant};

use warploom::{Arg, EngineKind, Fault, LaunchOptions, LaunchOutcome, Program};

pub const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];
pub const WORKERS: [usize; 3] = [1, 2, 3];

/// Returns a module with one kernel `k`. `%a` is a buffer, `%n` the number of blocks, `%c` the
/// block, `%t` the thread, `%m` the number of threads.
pub fn module(target: &str, body: &str) -> String {
    format!(
        ".version 8.3\n.target {target}\n.address_size 64\n\
         .visible .entry k(.param .u64 pa)\n{{\n\
         .reg .b64 %a, %d<8>;\n.reg .b32 %c, %n, %t, %m, %r<8>;\n.reg .pred %p<4>;\n.shared .align 4 .b32 word;\n\
         .local .align 4 .b32 slot[4];\n\
         ld.param.u64 %a, [pa];\nmov.u32 %c, %ctaid.x;\nmov.u32 %n, %nctaid.x;\nmov.u32 %t, %tid.x;\n\
         mov.u32 %m, %ntid.x;\n{body}\nret;\n}}\n"
    )
}

/// A launch of a kernel `k`.
pub struct Case {
    pub text: String,
    pub blocks: u32,
    pub lanes: u32,
    pub cooperative: bool,
}

impl Case {
    pub fn new(body: &str, blocks: u32, lanes: u32) -> Case {
        Case { text: module("sm_80", body), blocks, lanes, cooperative: false }
    }

    /// Runs the launch on a buffer of `words` zeros. Returns the outcome and the buffer's words.
    pub fn run(
        &self,
        engine: EngineKind,
        threads: usize,
        words: usize,
    ) -> (LaunchOutcome, Vec<u32>) {
        let text = &self.text;
        let program =
            Program::load(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let buffer = program.memory().alloc(4 * words as u64, 256).unwrap();
        let options = LaunchOptions {
            engine,
            threads,
            cooperative: self.cooperative,
            time_limit: Some(Duration::from_secs(120)),
            ..LaunchOptions::new([self.blocks, 1, 1], [self.lanes, 1, 1])
        };
        let outcome =
            program.kernel("k").unwrap().launch(&[Arg::pointer(buffer)], &options).unwrap();
        let mut bytes = vec![0; 4 * words];
        program.memory().read(buffer, &mut bytes).unwrap();
        (outcome, bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
    }

    /// Checks that every run ends and leaves these words. If no block waits, the engines with one
    /// worker must count equal numbers of instructions.
    pub fn check(&self, expected: &[u32]) {
        let mut counts = Vec::new();
        for engine in ENGINES {
            for workers in WORKERS {
                let began = Instant::now();
                let (outcome, found) = self.run(engine, workers, expected.len());
                let how = format!("{engine}, {workers} workers, {:?}", began.elapsed());
                assert!(outcome.fault.is_none(), "{how}: {}", outcome.fault.unwrap());
                assert_eq!(found, expected, "{how}");
                if workers == 1 && !outcome.spun {
                    counts.push((outcome.counts.instructions, outcome.counts.lane_instructions));
                }
            }
        }
        assert!(
            counts.len() < 2 || counts[0] == counts[1],
            "the engines count differently: {counts:?}"
        );
    }

    /// Checks the fault that ends every run.
    pub fn check_fault(&self, check: impl Fn(&Fault)) {
        for engine in ENGINES {
            for workers in WORKERS {
                let (outcome, _) = self.run(engine, workers, 4096);
                check(
                    &outcome
                        .fault
                        .unwrap_or_else(|| panic!("{engine}, {workers} workers: no fault")),
                );
            }
        }
    }
}
