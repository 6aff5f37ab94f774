//! [`Case`]: one launch with its expected memory, run on both engines with one and with two
//! threads.

use std::path::PathBuf;

use warploom::{Effort, EngineKind, Fault, LaunchOptions, Program};
use warploom_runtime::launch;

use crate::reference::Shape;

/// Block sizes for kernels that accept any size.
pub const BLOCKS: [usize; 11] = [1, 7, 31, 32, 33, 64, 100, 255, 256, 1000, 1024];

/// A number in its guest-memory form.
pub trait Scalar: Copy {
    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! scalars {
    ($($t:ty)*) => { $(impl Scalar for $t {
        fn put(self, bytes: &mut Vec<u8>) {
            bytes.extend(self.to_le_bytes());
        }
    })* };
}
scalars!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

pub fn bytes_of<T: Scalar>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![];
    values.iter().for_each(|v| v.put(&mut bytes));
    bytes
}

#[derive(Clone, Debug)]
enum Arg {
    Number(Vec<u8>),
    /// Dynamic shared memory, in bytes.
    Local(u32),
    /// Memory before the launch, and after it unless `after` is None, which accepts anything.
    Buffer {
        before: Vec<u8>,
        after: Option<Vec<u8>>,
    },
}

/// One launch with its expected memory. Arguments are added in the kernel's order.
#[derive(Clone, Debug)]
pub struct Case {
    binary: PathBuf,
    entry: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stack_bytes: Option<u32>,
    cooperative: bool,
    spins: bool,
    instruction_limit: Option<u64>,
    symbols: Vec<(&'static str, Vec<u8>)>,
    args: Vec<Arg>,
}

fn cubin(name: &str) -> String {
    format!("{name}.sm_50.cubin")
}

impl Case {
    fn new(folder: &str, file: &str, entry: &'static str) -> Case {
        Case {
            binary: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join(file),
            entry,
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            stack_bytes: None,
            cooperative: false,
            spins: false,
            instruction_limit: None,
            symbols: vec![],
            args: vec![],
        }
    }

    /// Returns a case for a kernel of the corpus.
    pub fn kernel(file: &str, entry: &'static str) -> Case {
        Case::new("tests/fixtures/maxwell/kernels", &cubin(file), entry)
    }

    /// Returns a case for a kernel of the corpus of GFX9.
    pub fn gfx9(file: &str, entry: &'static str) -> Case {
        Case::new("tests/fixtures/gfx9/corpus", &format!("{file}.hsaco"), entry)
    }

    /// Returns a case for a kernel of Intel's compiler.
    pub fn visa(file: &str, entry: &'static str) -> Case {
        Case::new("tests/fixtures/visa", file, entry)
    }

    pub fn example(name: &str, entry: &'static str) -> Case {
        Case::new(&format!("examples/{name}"), &cubin(name), entry)
    }

    pub fn bench(file: &str, entry: &'static str) -> Case {
        Case::new("benches/fixtures", &cubin(file), entry)
    }

    pub fn bench_gfx9(file: &str, entry: &'static str) -> Case {
        Case::new("benches/fixtures", &format!("{file}.gfx900.hsaco"), entry)
    }

    /// Returns a case for a kernel written for one rule of the design.
    pub fn behaviour(file: &str, entry: &'static str) -> Case {
        Case::new("tests/fixtures/maxwell/behaviour", &cubin(file), entry)
    }

    pub fn grid(self, grid: [u32; 3]) -> Case {
        Case { grid, ..self }
    }

    pub fn block(self, block: [u32; 3]) -> Case {
        Case { block, ..self }
    }

    pub fn shape(self, shape: Shape) -> Case {
        self.grid([shape.grid as u32, 1, 1]).block([shape.block as u32, 1, 1])
    }

    /// Sets the bytes of dynamic shared memory.
    pub fn shared_bytes(self, shared_bytes: u32) -> Case {
        Case { shared_bytes, ..self }
    }

    /// Sets the stack bytes of a lane, for calls whose depth the compiler could not know.
    pub fn stack_bytes(self, stack_bytes: u32) -> Case {
        Case { stack_bytes: Some(stack_bytes), ..self }
    }

    pub fn cooperative(self) -> Case {
        Case { cooperative: true, ..self }
    }

    /// Marks a kernel that waits in loops: its instruction count depends on how long lanes wait.
    pub fn spins(self) -> Case {
        Case { spins: true, ..self }
    }

    pub fn instruction_limit(self, limit: u64) -> Case {
        Case { instruction_limit: Some(limit), ..self }
    }

    /// Sets a variable of the module.
    pub fn symbol<T: Scalar>(mut self, name: &'static str, values: &[T]) -> Case {
        self.symbols.push((name, bytes_of(values)));
        self
    }

    pub fn value<T: Scalar>(mut self, value: T) -> Case {
        self.args.push(Arg::Number(bytes_of(&[value])));
        self
    }

    /// Adds a pointer to `bytes` bytes of dynamic shared memory.
    pub fn local(mut self, bytes: usize) -> Case {
        self.args.push(Arg::Local(bytes as u32));
        self
    }

    fn buffer(mut self, before: Vec<u8>, after: Option<Vec<u8>>) -> Case {
        self.args.push(Arg::Buffer { before, after });
        self
    }

    /// Adds a buffer that the launch must leave unchanged.
    pub fn input<T: Scalar>(self, values: &[T]) -> Case {
        let bytes = bytes_of(values);
        self.buffer(bytes.clone(), Some(bytes))
    }

    /// Adds a buffer of zeros that must end as `after`.
    pub fn output<T: Scalar>(self, after: &[T]) -> Case {
        let after = bytes_of(after);
        self.buffer(vec![0; after.len()], Some(after))
    }

    /// Adds a buffer of `bytes` zero bytes that must begin with `after` at the end. The bytes
    /// behind `after` may be anything.
    pub fn output_and_more<T: Scalar>(self, after: &[T], bytes: usize) -> Case {
        self.buffer(vec![0; bytes], Some(bytes_of(after)))
    }

    pub fn inout<T: Scalar>(self, before: &[T], after: &[T]) -> Case {
        self.buffer(bytes_of(before), Some(bytes_of(after)))
    }

    /// Adds a buffer of zeros that may end as anything.
    pub fn any(self, bytes: usize) -> Case {
        self.buffer(vec![0; bytes], None)
    }
}

/// The result of a launch.
struct Run {
    /// The buffers in the order of the arguments.
    buffers: Vec<Vec<u8>>,
    fault: Option<Fault>,
    /// The counts of guest instructions and of lane instructions (instructions times active lanes).
    instructions: (u64, u64),
}

/// The fastest effort comes last, because a launch runs the fastest code that exists.
const ENGINES: [(EngineKind, Effort); 4] = [
    (EngineKind::Interp, Effort::Quick),
    (EngineKind::Jit, Effort::Quick),
    (EngineKind::Jit, Effort::Likely),
    (EngineKind::Jit, Effort::Full),
];

impl Case {
    /// Runs on all engines and compares memory. On one thread all engines count equal instructions.
    #[track_caller]
    pub fn check(self) {
        self.run_all(|fault, label| {
            if let Some(fault) = fault {
                panic!("{label}: {fault}");
            }
        });
    }

    /// Runs like `Case::check` a launch that must end in a fault, and passes the fault to `check`.
    #[track_caller]
    pub fn check_fault(self, check: impl Fn(&Fault)) {
        self.run_all(|fault, label| check(fault.unwrap_or_else(|| panic!("{label}: no fault"))));
    }

    #[track_caller]
    fn run_all(&self, check: impl Fn(Option<&Fault>, &str)) {
        let bytes = std::fs::read(&self.binary)
            .unwrap_or_else(|e| panic!("{}: {e}", self.binary.display()));
        let program = Program::load(&bytes, Some(self.entry)).expect("a module with this kernel");
        for threads in [1, 2] {
            let runs = ENGINES.map(|(engine, effort)| {
                let label = format!(
                    "{} ({engine}, {effort:?}, {threads} threads, grid {:?}, block {:?})",
                    self.entry, self.grid, self.block
                );
                let run = self.run(&program, engine, effort, threads);
                check(run.fault.as_ref(), &label);
                for (index, (got, arg)) in run.buffers.iter().zip(self.buffers()).enumerate() {
                    if let Some(after) = arg {
                        assert_same(
                            &got[..after.len().min(got.len())],
                            after,
                            &format!("{label}: buffer {index}"),
                        );
                    }
                }
                run
            });
            if threads == 1 && !self.spins {
                let [interp, jits @ ..] = &runs;
                // Buffers have other addresses in each run, so a fault's address may differ, too.
                let place = |run: &Run| {
                    run.fault
                        .clone()
                        .map(|f| (f.instruction, launch::Fault { address: 0, ..f.fault }))
                };
                for jit in jits {
                    assert_eq!(
                        interp.instructions, jit.instructions,
                        "{}: instructions of interp and jit",
                        self.entry
                    );
                    assert_eq!(
                        place(interp),
                        place(jit),
                        "{}: faults of interp and jit",
                        self.entry
                    );
                }
            }
        }
    }

    fn buffers(&self) -> impl Iterator<Item = &Option<Vec<u8>>> {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Buffer { after, .. } => Some(after),
            Arg::Number(_) | Arg::Local(_) => None,
        })
    }

    fn run(&self, program: &Program, engine: EngineKind, effort: Effort, threads: usize) -> Run {
        program.reset().expect("the module's variables fit");
        for (name, bytes) in &self.symbols {
            program.write_variable(name, bytes).expect("a variable of the module");
        }
        let memory = program.memory();
        let mut addresses = vec![];
        let args: Vec<warploom::Arg> = self
            .args
            .iter()
            .map(|arg| match arg {
                Arg::Number(bytes) => warploom::Arg::bytes(bytes.clone()),
                Arg::Local(bytes) => warploom::Arg::local(*bytes),
                Arg::Buffer { before, .. } => {
                    let address =
                        memory.alloc(before.len().max(1) as u64, 1).expect("memory for a buffer");
                    memory.write(address, before).expect("the buffer's content");
                    addresses.push((address, before.len()));
                    warploom::Arg::pointer(address)
                }
            })
            .collect();
        let mut options = LaunchOptions::new(self.grid, self.block);
        options.shared_bytes = self.shared_bytes;
        options.stack_bytes = self.stack_bytes;
        options.cooperative = self.cooperative;
        options.instruction_limit = self.instruction_limit;
        (options.engine, options.effort) = (engine, effort);
        options.threads = threads;
        let kernel = program.kernel(self.entry).expect("a kernel of the module");
        let outcome = kernel.launch(&args, &options).expect("a launch");
        let buffers = addresses.into_iter().map(|(address, bytes)| {
            let mut content = vec![0; bytes];
            memory.read(address, &mut content).expect("the buffer is still mapped");
            memory.release_later(address).expect("the buffer is still mapped");
            content
        });
        Run {
            buffers: buffers.collect(),
            fault: outcome.fault,
            instructions: (outcome.counts.instructions, outcome.counts.lane_instructions),
        }
    }
}

/// Compares word by word, so that a failure shows numbers.
#[track_caller]
fn assert_same(got: &[u8], expected: &[u8], label: &str) {
    assert_eq!(got.len(), expected.len(), "{label}: length");
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes
            .chunks(4)
            .map(|c| c.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
            .collect()
    };
    let (got, expected) = (words(got), words(expected));
    let wrong: Vec<usize> = (0..got.len()).filter(|&i| got[i] != expected[i]).collect();
    if let Some(&first) = wrong.first() {
        let float = |word: u32| f32::from_bits(word);
        panic!(
            "{label}: {} of {} words differ, first word {first}: {:#010x} ({}), expected {:#010x} ({}); then words {:?}",
            wrong.len(),
            got.len(),
            got[first],
            float(got[first]),
            expected[first],
            float(expected[first]),
            &wrong[1..wrong.len().min(12)]
        );
    }
}
