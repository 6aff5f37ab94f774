//! Runs a few GFX9 instructions from one state of a wave to another, on every engine.
//!
//! Instructions are text. `words.txt` has the words of each text that a test uses;
//! `tools/gfx9_words.sh` adds the words of lines that have only a text.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use warploom_engine::Effort;
use warploom_gfx9::lift::{Kernel, Mode, lift_kernel};
use warploom_guest::chip::Chip;
use warploom_interp::Interpreter;
use warploom_ir::{
    BankId, BlockBuilder, BlockId, Extend, Function, FunctionBuilder, Space, Terminator, Type,
    Value,
};
use warploom_runtime::launch::{Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement};

pub const LANES: usize = 64;
/// The number of vector registers of the wave.
pub const VECTORS: usize = 32;
/// The numbers of special registers among the scalar registers.
pub const VCC: usize = 106;
pub const M0: usize = 124;
pub const EXEC: usize = 126;

/// The pairs of scalar registers that are compared besides EXEC: s0 to s31, VCC and m0.
const PAIRS: [u32; 18] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, VCC as u32 / 2, M0 as u32 / 2];
/// The number of vector registers that are compared, unless the instructions name more.
const FEW: usize = 12;

/// The guest address of the state: scalar pairs, SCC and a row for each vector register.
pub const STATE: u64 = 0x2_0000_0000;
const SCC_AT: u64 = STATE + 512;
const VECTORS_AT: u64 = STATE + 1024;
const ROW: u64 = 4 * LANES as u64;
const BYTES: usize = 1024 + VECTORS * ROW as usize;

/// The registers of a wave.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The scalar registers by number; the last two are EXEC.
    pub scalars: [u32; 128],
    pub scc: bool,
    pub vectors: [[u32; LANES]; VECTORS],
}

impl State {
    /// Returns a state with all lanes active, where each register holds a pattern that names it.
    pub fn new() -> State {
        let mut scalars = std::array::from_fn(|n| 0x5ca1_0000 + n as u32);
        scalars[EXEC..].fill(u32::MAX);
        let vectors = std::array::from_fn(|n| {
            std::array::from_fn(|lane| 0xec00_0000 + (n << 8 | lane) as u32)
        });
        State { scalars, scc: false, vectors }
    }

    /// Returns two scalar registers.
    pub fn pair(&self, number: usize) -> u64 {
        u64::from(self.scalars[number]) | u64::from(self.scalars[number + 1]) << 32
    }

    pub fn set_pair(&mut self, number: usize, bits: u64) {
        (self.scalars[number], self.scalars[number + 1]) = (bits as u32, (bits >> 32) as u32);
    }

    /// Returns two vector registers of a lane.
    pub fn long(&self, number: usize, lane: usize) -> u64 {
        u64::from(self.vectors[number][lane]) | u64::from(self.vectors[number + 1][lane]) << 32
    }

    pub fn set_long(&mut self, number: usize, lane: usize, bits: u64) {
        (self.vectors[number][lane], self.vectors[number + 1][lane]) =
            (bits as u32, (bits >> 32) as u32);
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.scalars.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend((if self.scc { u64::MAX } else { 0 }).to_le_bytes());
        bytes.resize((VECTORS_AT - STATE) as usize, 0);
        bytes.extend(self.vectors.iter().flatten().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> State {
        let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("a word"));
        let row = |n: usize| (VECTORS_AT - STATE + n as u64 * ROW) as usize;
        State {
            scalars: std::array::from_fn(|n| word(4 * n)),
            scc: word((SCC_AT - STATE) as usize) != 0,
            vectors: std::array::from_fn(|n| std::array::from_fn(|lane| word(row(n) + 4 * lane))),
        }
    }
}

/// Returns the words of instructions.
pub fn assemble(texts: &[&str]) -> Vec<u32> {
    static WORDS: OnceLock<HashMap<String, Vec<u32>>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let line = |line: &str| {
            let (text, words) = line.split_once('\t')?;
            let words =
                words.split(' ').map(|word| u32::from_str_radix(word, 16).expect("a word in hex"));
            Some((text.to_owned(), words.collect()))
        };
        include_str!("words.txt").lines().filter_map(line).collect()
    });
    let of = |text: &&str| {
        words.get(*text).unwrap_or_else(|| {
            panic!("words.txt has no words for `{text}`: add the text, run gfx9_words.sh")
        })
    };
    texts.iter().flat_map(of).copied().collect()
}

/// Returns the number of vector registers to compare.
fn reach(texts: &[&str]) -> usize {
    let numbers = texts
        .iter()
        .flat_map(|text| text.split(['v', '[', ':', ']', ',', ' ', '|']))
        .filter_map(|number| {
            let number: usize = number.parse().ok()?;
            (number < VECTORS).then_some(number + 1)
        });
    numbers.fold(FEW, usize::max)
}

/// A few lifted instructions that can run from many states.
pub struct Probe {
    engines: Vec<(&'static str, Arc<dyn Engine>)>,
    memory: Memory,
}

impl Probe {
    /// Lifts instructions with `mode` in the MODE register.
    pub fn new(texts: &[&str], mode: u32) -> Probe {
        Probe::of_gpu(texts, mode, false)
    }

    /// Lifts instructions for a GPU that has `v_fma_mix`, or `v_mad_mix`.
    pub fn of_gpu(texts: &[&str], mode: u32, fused_mix: bool) -> Probe {
        let chip = if fused_mix { Chip::Gfx906 } else { Chip::Any };
        Probe::of(&assemble(texts), reach(texts), mode, chip, &texts.join("; "))
    }

    /// Lifts words, and compares all vector registers.
    pub fn of_words(words: &[u32], mode: u32) -> Probe {
        Probe::of(words, VECTORS, mode, Chip::Any, &format!("{words:08x?}"))
    }

    fn of(words: &[u32], vectors: usize, mode: u32, chip: Chip, texts: &str) -> Probe {
        const END: u32 = 0xbf81_0000;
        let code: Vec<u8> =
            words.iter().chain(&[END]).flat_map(|word| word.to_le_bytes()).collect();
        let kernel = Kernel {
            // Registers that no instruction reads are compared too.
            plain: true,
            vectors: VECTORS as u32,
            mode: Mode::from_bits(mode),
            chip,
            ..Kernel::new("probe", &code)
        };
        let lifted = lift_kernel(&kernel).unwrap_or_else(|error| panic!("{texts}: {error}"));
        let traps = lifted.blocks.iter().any(|block| matches!(block.term, Terminator::Trap { .. }));
        assert!(!traps, "unsupported: {texts}");
        let function = Arc::new(wrap(lifted, vectors));
        let interpreter = Interpreter::new(Arc::clone(&function))
            .unwrap_or_else(|error| panic!("interp: {error}\n{function}"));
        let native = |effort| {
            let native =
                warploom_engine::Kernel::new(Arc::clone(&function), warploom_cranelift::backend())
                    .program([1; 3], [LANES as u32, 1, 1], 1);
            let native = native.unwrap_or_else(|error| panic!("jit: {error}\n{function}"));
            native.compile_all(effort).unwrap_or_else(|error| panic!("jit: {error}\n{function}"));
            native
        };
        let (quick, native) = (native(Effort::Quick), native(Effort::Full));
        let memory = Memory::new(MemoryConfig::default()).expect("memory");
        memory.alloc_at(Placement::At(STATE), 1 << 16, Access::READ_WRITE).expect("memory");
        Probe {
            engines: vec![
                ("interp", Arc::new(interpreter)),
                ("jit, made quickly", quick),
                ("jit", native),
            ],
            memory,
        }
    }

    /// Returns the state that each engine leaves.
    pub fn run(&self, before: &State) -> Vec<(&'static str, State)> {
        let run = |(name, engine): &(&'static str, Arc<dyn Engine>)| {
            self.memory.write(STATE, &before.bytes()).expect("state");
            let mut config = LaunchConfig::new([1; 3], [LANES as u32, 1, 1]);
            config.instruction_limit = Some(1 << 20);
            let outcome = launch(&self.memory, &**engine, &config, None).expect("launch");
            assert!(outcome.fault.is_none(), "{name}: {:?}", outcome.fault);
            let mut bytes = vec![0; BYTES];
            self.memory.read(STATE, &mut bytes).expect("state");
            (*name, State::of_bytes(&bytes))
        };
        self.engines.iter().map(run).collect()
    }
}

/// Wraps the function between a block that loads the state and a block that stores it.
fn wrap(mut function: Function, vectors: usize) -> Function {
    let mut builder = FunctionBuilder::new(function.name.clone(), function.lanes, function.nan);
    let mut banks = HashMap::new();
    for bank in &function.banks {
        banks.insert(bank.name.clone(), builder.bank(bank.name.clone(), bank.kind, bank.count));
    }
    builder.set_active(function.active);
    let (load, store, old_entry) =
        (builder.new_block(0), builder.new_block(0), builder.new_block(0));
    transfer(&mut builder.at(load), &banks, vectors, true);
    builder.at(load).jump(old_entry);
    transfer(&mut builder.at(store), &banks, vectors, false);
    builder.at(store).exit();
    builder.at(old_entry).exit();
    let wrapper = builder.finish().expect("the wrapper");

    // Blocks 0 and 1 belong to the wrapper; the function's blocks follow.
    let moved = |id: &mut BlockId| id.0 += 2;
    for block in &mut function.blocks {
        match &mut block.term {
            Terminator::Jump(target) => moved(target),
            Terminator::Branch { then, otherwise, .. } => {
                [then, otherwise].into_iter().for_each(moved)
            }
            Terminator::Exit => block.term = Terminator::Jump(BlockId(1)),
            Terminator::Barrier { resume, .. } => moved(resume),
            Terminator::Trap { .. } => {}
            other => panic!("a probe has no {other:?}"),
        }
    }
    function.blocks.splice(0..0, wrapper.blocks.into_iter().take(2));
    function
}

/// Loads the registers, with EXEC last, or stores them, with EXEC first.
fn transfer(b: &mut BlockBuilder<'_>, banks: &HashMap<String, BankId>, vectors: usize, load: bool) {
    let (scalars, scc) = (banks["s"], banks["scc"].reg(0));
    let exec = scalars.reg(EXEC as u32 / 2);
    let at = |b: &mut BlockBuilder<'_>, address: u64| b.iconst(Type::I64, address);
    let uniform = |b: &mut BlockBuilder<'_>, reg, address| {
        let address = at(b, address);
        if load {
            let bits = b.load(Space::Global, Type::I64, Extend::None, address, 0);
            let value = b.to_mask(bits);
            b.rf_write(reg, value);
        } else {
            let value = b.rf_read(reg);
            let value = b.from_mask(value);
            b.store(Space::Global, Type::I64, address, 0, value);
        }
    };
    let exec_at = STATE + 4 * EXEC as u64;
    if !load {
        uniform(b, exec, exec_at);
        let all = b.lanes_of(u64::MAX);
        b.write_active(all);
    }
    for pair in PAIRS {
        uniform(b, scalars.reg(pair), STATE + 8 * u64::from(pair));
    }
    uniform(b, scc, SCC_AT);
    for n in 0..vectors as u64 {
        let (reg, address) = (banks["v"].reg(n as u32), row(b, VECTORS_AT + n * ROW));
        if load {
            let value = b.load(Space::Global, Type::I32, Extend::None, address, 0);
            b.rf_write(reg, value);
        } else {
            let value = b.rf_read(reg);
            b.store(Space::Global, Type::I32, address, 0, value);
        }
    }
    if load {
        uniform(b, exec, exec_at);
    }
}

/// Returns the address of the lane's word in a row.
fn row(b: &mut BlockBuilder<'_>, begin: u64) -> Value {
    let (lane, four, begin) = (b.lane_id(), b.iconst(Type::I64, 4), b.iconst(Type::I64, begin));
    let lane = b.zero_extend(Type::I64, lane);
    let offset = b.mul(lane, four);
    b.add(begin, offset)
}
