//! Runs words on both engines, from one state of the scalar registers and memory to another.

use std::sync::Arc;

use warploom_gfx9::lift::{self, Kernel};
use warploom_interp::Interpreter;
use warploom_ir::{BankId, Function, verify};
use warploom_runtime::launch::{Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement};
use warploom_testing::instrument::{Buffers, instrument};

use super::model;

/// The address and the size of the test's memory; nothing around it is mapped.
pub const MEMORY: u64 = 0x12_3456_0000;
pub const BYTES: usize = 0x1_0000;
const IN: u64 = 0x20_0000_0000;
const OUT: u64 = 0x21_0000_0000;
/// The number of register pairs that are set; EXEC, the last pair, is only read.
const PAIRS: u32 = 63;

pub struct Wave {
    engines: [(&'static str, Arc<dyn Engine>); 2],
    memory: Memory,
}

/// The registers and memory of a wave.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub scalars: [u32; 128],
    pub memory: model::Memory,
}

/// A fault's kind, pc and address.
pub type Fault = (String, u64, u64);

pub fn lift(words: &[u64]) -> Function {
    const END: u32 = 0xbf81_0000;
    let mut code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    code.extend(END.to_le_bytes());
    let function = lift::lift_kernel(&Kernel { vectors: 4, ..Kernel::new("smem", &code) }).unwrap();
    verify::verify(&function).unwrap();
    function
}

pub fn engines(function: Function, lanes: u32) -> [(&'static str, Arc<dyn Engine>); 2] {
    let function = Arc::new(function);
    let native = warploom_engine::Kernel::new(Arc::clone(&function), warploom_cranelift::backend())
        .program([1; 3], [lanes, 1, 1], 2)
        .unwrap();
    [("interp", Arc::new(Interpreter::new(function).unwrap())), ("jit", native)]
}

impl Wave {
    pub fn new(words: &[u64]) -> Wave {
        let function = lift(words);
        let bank = function.banks.iter().position(|bank| bank.name == "s").unwrap();
        let pairs = |count| (0..count).map(|pair| BankId(bank as u16).reg(pair)).collect();
        let buffers = Buffers { input: IN, set: pairs(PAIRS), output: OUT, read: pairs(PAIRS + 1) };
        let function = instrument(&function, &buffers);
        verify::verify(&function).unwrap();
        let memory = Memory::new(MemoryConfig::default()).unwrap();
        for (address, bytes) in [(IN, 1024), (OUT, 1024), (MEMORY, BYTES as u64)] {
            memory.alloc_at(Placement::At(address), bytes, Access::READ_WRITE).unwrap();
        }
        Wave { engines: engines(function, 64), memory }
    }

    /// Returns the state that both engines leave, and their fault.
    pub fn run(&self, before: &State, what: &str) -> (State, Option<Fault>) {
        let [interp, jit] =
            self.engines.each_ref().map(|(_, engine)| self.run_on(&**engine, before));
        assert_eq!(interp.1, jit.1, "{what}: the engines' faults");
        assert!(interp.0 == jit.0, "{what}: the engines differ");
        interp
    }

    /// Returns the state that each engine leaves.
    pub fn run_each(&self, before: &State) -> [State; 2] {
        self.engines.each_ref().map(|(name, engine)| {
            let (after, fault) = self.run_on(&**engine, before);
            assert_eq!(fault, None, "{name}");
            after
        })
    }

    fn run_on(&self, engine: &dyn Engine, before: &State) -> (State, Option<Fault>) {
        let bytes: Vec<u8> = before.scalars.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.memory.write(IN, &bytes[..8 * PAIRS as usize]).unwrap();
        self.memory.write(MEMORY, &before.memory.bytes).unwrap();
        let outcome =
            launch(&self.memory, engine, &LaunchConfig::new([1; 3], [64, 1, 1]), None).unwrap();
        let mut after = before.clone();
        self.memory.read(MEMORY, &mut after.memory.bytes).unwrap();
        if outcome.fault.is_none() {
            let mut bytes = [0; 512];
            self.memory.read(OUT, &mut bytes).unwrap();
            after.scalars = std::array::from_fn(|n| {
                u32::from_le_bytes(bytes[4 * n..4 * n + 4].try_into().unwrap())
            });
        }
        (after, outcome.fault.map(|fault| (fault.kind.name().to_owned(), fault.pc, fault.address)))
    }
}

impl State {
    /// Panics at the first difference.
    #[track_caller]
    pub fn check(&self, expected: &State, what: &str) {
        for (n, (found, expected)) in self.scalars.iter().zip(&expected.scalars).enumerate() {
            assert_eq!(found, expected, "{what}: s{n}: {found:#x}, not {expected:#x}");
        }
        let (found, expected) = (&self.memory.bytes, &expected.memory.bytes);
        if let Some(at) = (0..found.len()).find(|&at| found[at] != expected[at]) {
            panic!("{what}: byte {at:#x} of memory is {:#x}, not {:#x}", found[at], expected[at]);
        }
    }
}
